//! Tokens, once per response.
//!
//! `token_usage_record` (0.155 on) is one response, with the server's id. `token_count` is a state
//! that is broadcast again at every round, retry and resume. It counts as a response only if its
//! figures are new and not all zero, and if the turn has no earlier usage record. Totals are never
//! used: those of a fork include its parent's, and 0.42 starts them from zero on resume.

use retro_model::{Kind, Origin, Part as Piece, Tokens, Usage};
use retro_text::redact_json;
use serde_json::json;
use xxhash_rust::xxh3::xxh3_64;

use super::limits;
use super::line::Line;
use super::state::State;
use crate::counters::{Counted, Counters};
use crate::words::id;
use crate::{Draft, Json, Out, field};

/// How certain it is that a response belongs to this file and is not a copy from another file.
/// Larger is more certain.
mod own {
    /// The record names this thread.
    pub(super) const NAMED: u8 = 3;
    /// It was counted in this thread's own part.
    pub(super) const COUNTED: u8 = 2;
    /// The record names another thread.
    pub(super) const FOREIGN: u8 = 1;
    /// A copy made by a fork.
    pub(super) const COPIED: u8 = 0;
}

/// The name of the rate limits in the data of an event.
const LIMITS: &str = "rate_limits";

/// Reads a `token_usage_record`.
pub(super) fn record(line: &Line<'_>, state: &mut State, out: &mut Out) {
    const ROW: &str = "token_usage_record";
    state.recorded = true;
    let Some(counters) = line.payload.get("usage").filter(|usage| usage.is_object()) else {
        return out.fold(ROW);
    };
    let figures = counted(counters).of_record(line.record, out);
    let own = match (&line.copy_of, field::some(line.payload, "thread_id")) {
        (Some(_), _) => own::COPIED,
        (None, Some(thread)) if state.chain.first().is_some_and(|own| own != thread) => own::FOREIGN,
        _ => own::NAMED,
    };
    let response_id = field::some(line.payload, "response_id").map(id);
    let key = match &response_id {
        Some(response) => format!("codex:{response}"),
        None => counted_key(state),
    };
    let answered = super::tier::said(counters).or_else(|| super::tier::said(line.payload));
    let tier = answered.unwrap_or_else(|| state.tier.clone());
    let mut draft = usage(line, ROW, key, Usage { own, tier, ..figures }, state);
    draft.event.native.response_id = response_id;
    out.push(draft);
}

/// Reads an `event_msg/token_count`.
pub(super) fn count(line: &Line<'_>, state: &mut State, out: &mut Out) {
    const ROW: &str = "event_msg/token_count";
    if let Some(limits) = line.payload.get("rate_limits").filter(|limits| has_window(limits)) {
        state.limits = Some(redact_json(json!({ LIMITS: limits })));
        // A fork's copies combine its parent's figures with the fork's time.
        if line.copy_of.is_none() {
            limits::read(line, limits, out);
        }
    }
    let Some(info) = line.payload.get("info").filter(|info| info.is_object()) else {
        return out.fold(ROW);
    };
    let figures = |name: &str| counted(&info[name]);
    let total_tokens = info.get("total_token_usage").and_then(|total| field::count(total, "total_tokens"));
    let (total, last) = (figures("total_token_usage"), figures("last_token_usage"));
    let unread = (!last.is_whole()).then_some(u64::MAX);
    let all = counts(&total.usage.tokens).into_iter().chain(counts(&last.usage.tokens));
    let all = all.chain(total_tokens).chain(unread);
    let print = xxh3_64(&all.flat_map(u64::to_le_bytes).collect::<Vec<u8>>());
    let is_new = state.counted != Some(print);
    state.counted = Some(print);
    let is_some = last.usage.tokens.total() > 0 || !last.is_whole();
    if !is_new || !is_some || state.recorded {
        return out.fold(ROW);
    }
    let key = counted_key(state);
    let own = if line.copy_of.is_some() { own::COPIED } else { own::COUNTED };
    let figures = Usage { own, tier: state.tier.clone(), ..last.of_record(line.record, out) };
    out.push(usage(line, ROW, key, figures, state));
}

/// The key of the next response: its turn, and its number in the turn.
fn counted_key(state: &mut State) -> String {
    state.responses += 1;
    let (mut turns, mut responses) = (itoa::Buffer::new(), itoa::Buffer::new());
    let turn = match &state.turn {
        Some(turn) => ["", turn],
        None => ["t", turns.format(state.turns)],
    };
    let owner = state.owner().unwrap_or_default();
    ["codex:", owner, ":", turn[0], turn[1], ":", responses.format(state.responses)].concat()
}

fn usage(line: &Line<'_>, row: &'static str, key: String, usage: Usage, state: &mut State) -> Draft {
    let mut draft = line.nameless(row, Piece::Whole, Kind::Usage, Origin::Harness);
    draft.hint.identity = Some(["usage|", &key].concat());
    draft.event.response = Some(key);
    draft.event.model = state.model.clone();
    draft.event.usage = Some(Box::new(usage));
    draft.event.data = state.limits.take();
    if std::mem::take(&mut state.summarized) {
        let limits = draft.event.data.take().map(|data| data[LIMITS].clone());
        let mut data = json!({ "kind": "compaction" });
        limits.into_iter().for_each(|limits| data[LIMITS] = limits);
        draft.event.data = Some(redact_json(data));
    }
    draft
}

/// Converts the counters to retro's fields: the logged input includes cache reads and writes.
pub(super) fn counted(json: &Json<'_>) -> Counted {
    let mut counters = Counters::of(json);
    let cache_read = counters.maybe("cached_input_tokens");
    let cache_write_unsplit = counters.maybe("cache_write_input_tokens");
    let tokens = Tokens {
        input: counters.count("input_tokens").saturating_sub(cache_read).saturating_sub(cache_write_unsplit),
        cache_write_unsplit,
        cache_read,
        output: counters.count("output_tokens"),
        reasoning: counters.maybe("reasoning_output_tokens"),
        ..Tokens::default()
    };
    counters.into_usage(Usage { tokens, ..Usage::default() })
}

/// The counters that [`counted`] reads.
fn counts(tokens: &Tokens) -> [u64; 5] {
    [tokens.input, tokens.cache_write_unsplit, tokens.cache_read, tokens.output, tokens.reasoning]
}

fn has_window(limits: &Json<'_>) -> bool {
    ["primary", "secondary", "credits"].iter().any(|name| limits.get(name).is_some_and(Json::is_object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn input_is_what_was_not_cached() {
        let all =
            counted(&json!({ "input_tokens": 100, "cached_input_tokens": 60, "cache_write_input_tokens": 30,
            "output_tokens": 20, "reasoning_output_tokens": 5 }));
        assert!(all.is_whole());
        assert_eq!(counts(&all.usage.tokens), [10, 30, 60, 20, 5]);
        let odd = counted(&json!({ "input_tokens": 5, "cached_input_tokens": 60, "output_tokens": "x" }));
        assert!(!odd.is_whole());
        assert_eq!(counts(&odd.usage.tokens), [0, 0, 60, 0, 0]);
    }
}
