//! `turn_completed`: the cost of a turn, and why it ended.
//!
//! One figure per turn and model, summed over all answers of the turn, including those of
//! sub-agents that ended in it: rows are gross, and `data.includes` names the sub-agents. The
//! logged input includes cache reads and writes.

use retro_model::{Exactness, Kind, Origin, Part as Piece, Tokens, Usage};
use serde_json::{Value, json};

use super::line::{Line, filled};
use super::rule::Rule;
use super::state::State;
use crate::counters::{Counted, Counters};
use crate::words::{clean, id, words};
use crate::{Draft, Json, Out, field};

/// How certain it is that a figure belongs to this file.
mod own {
    /// The line names this session.
    pub(super) const WRITTEN: u8 = 1;
    /// The line was copied from the session this one was forked from.
    pub(super) const COPIED: u8 = 0;
}

pub(super) fn completed(line: &Line<'_>, state: &mut State, out: &mut Out) {
    let turn = field::some(line.update, "prompt_id").unwrap_or_default();
    let stop = field::text(line.update, "stop_reason").unwrap_or_default();
    let mut drafts: Vec<Draft> = match line.update.get("usage").filter(|usage| usage.is_object()) {
        Some(usage) => counted(line, turn, stop, usage, state, out),
        None => Vec::new(),
    };
    let ending = |kind, tag| line.draft("turn_completed", Piece::Tag(tag), kind, Origin::Harness);
    match stop {
        "cancelled" => {
            let mut draft = ending(Kind::Interruption, "interruption");
            draft.event.data =
                filled(json!({ "reason": stop, "category": line.meta.get("cancellationCategory") }));
            drafts.push(draft);
        }
        "error" | "rate_limit" => {
            let mut draft = ending(Kind::Error, "error");
            let said = field::some(line.update, "agent_result").or_else(|| field::some(line.update, "error"));
            draft.event.text = said.and_then(words);
            draft.event.data = filled(json!({ "reason": stop }));
            drafts.push(draft);
        }
        _ => {}
    }
    if drafts.is_empty() {
        // A slash command, which only ends its turn.
        let mut draft = line.draft("turn_completed", Piece::Whole, Kind::Note, Origin::Harness);
        draft.hint.fold_only = true;
        drafts.push(draft);
    }
    for mut draft in drafts {
        draft.event.native.turn_id = Some(id(turn));
        draft.hint.look_for(Rule::Ended);
        out.push(draft);
    }
}

/// Adds one draft for each model of the turn.
fn counted(
    line: &Line<'_>,
    turn: &str,
    stop: &str,
    usage: &Json<'_>,
    state: &mut State,
    out: &mut Out,
) -> Vec<Draft> {
    let includes = state.take_finished();
    let models: Vec<(Option<&str>, &Json<'_>)> = match usage.get("modelUsage").and_then(Json::as_object) {
        Some(models) if !models.is_empty() => {
            models.iter().map(|(model, part)| (Some(model), part)).collect()
        }
        _ => vec![(state.model.as_deref(), usage)],
    };
    let only = models.len() == 1;
    let of_model = |(index, (model, part)): (u32, (Option<&str>, &Json<'_>))| {
        let piece = if only { Piece::Tag("usage") } else { Piece::Block(index) };
        let mut draft = line.draft("turn_completed", piece, Kind::Usage, Origin::Harness);
        // The whole turn has a cost. In newer lines each model has one.
        let ticks = field::count(part, "costUsdTicks")
            .or_else(|| field::count(usage, "costUsdTicks").filter(|_| only));
        let incomplete = field::is(usage, "usage_is_incomplete") || field::is(usage, "usageIsIncomplete");
        let mut counted = counters(part);
        if incomplete {
            counted.usage.exactness = Exactness::LowerBound;
        }
        draft.event.usage = Some(Box::new(Usage {
            own: if line.inherited { own::COPIED } else { own::WRITTEN },
            reported_cost_nano: ticks.and_then(|ticks| i64::try_from(ticks / TICKS_A_NANO).ok()),
            ..counted.of_record(line.record, out)
        }));
        draft.event.model = model.map(clean);
        draft.event.response = Some(line.response(turn, model));
        draft.event.data = filled(json!({
            "calls": part.get("modelCalls"),
            "own_calls": usage.get("numTurns").filter(|_| only),
            "includes": if includes.is_empty() { Value::Null } else { json!(includes) },
            "stop_reason": stop,
            "elapsed_ms": line.update.get("elapsed_ms"),
            "api_duration_ms": part.get("apiDurationMs"),
            "cost_is_partial": usage.get("cost_is_partial"),
        }));
        draft
    };
    (0..).zip(models).map(of_model).collect()
}

/// A dollar is 10^10 ticks and 10^9 nanodollars.
const TICKS_A_NANO: u64 = 10;

fn counters(part: &Json<'_>) -> Counted {
    let mut counters = Counters::of(part);
    let cache_read = counters.maybe("cachedReadTokens");
    // The log does not say how long the cache entry lives.
    let cache_write_unsplit = counters.maybe("cacheCreationTokens");
    let tokens = Tokens {
        input: counters.count("inputTokens").saturating_sub(cache_read).saturating_sub(cache_write_unsplit),
        cache_write_unsplit,
        cache_read,
        output: counters.count("outputTokens"),
        reasoning: counters.maybe("reasoningTokens"),
        ..Tokens::default()
    };
    counters.into_usage(Usage { tokens, ..Usage::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn input_is_what_was_not_cached() {
        let all = counters(&json!({ "inputTokens": 100, "cachedReadTokens": 60, "cacheCreationTokens": 30,
            "outputTokens": 7, "reasoningTokens": 3 }));
        assert!(all.is_whole());
        let Tokens { input, cache_read, cache_write_unsplit, output, reasoning, .. } = all.usage.tokens;
        assert_eq!([input, cache_read, cache_write_unsplit, output, reasoning], [10, 60, 30, 7, 3]);
    }

    #[test]
    fn figures_that_cannot_be_are_not_negative() {
        let odd = counters(&json!({ "inputTokens": 1, "cachedReadTokens": 60, "outputTokens": "7" }));
        assert!(!odd.is_whole());
        assert_eq!(odd.usage.tokens, Tokens { cache_read: 60, ..Tokens::default() });
    }
}
