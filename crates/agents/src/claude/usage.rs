//! Tokens of one line of a response, and of the session so far.
//!
//! A response is logged as several lines that share its id and repeat its
//! counters; output grows from line to line while the response streams. Every
//! line gives a draft with the same identity, and settling keeps the first of
//! them with the counters of the best.

use retro_model::{Exactness, Kind, Origin, Part as Piece, Thread, Tokens, Usage};
use retro_text::redact_json;
use serde_json::json;

use super::line::Chain;
use super::rule::Rule;
use super::state::State;
use crate::counters::{Counted, Counters};
use crate::identity::fingerprint;
use crate::words::{clean, id};
use crate::{Draft, Json, Out, Record, field};

/// How certain it is that a response belongs to this file and is not a copy from another file.
/// Larger is more certain.
mod own {
    /// This file sent the request (2.1.325: `requestRef` names it).
    pub(super) const REQUESTED: u8 = 4;
    /// It has the server's request id, and the file was in use by then.
    pub(super) const ANSWERED: u8 = 3;
    /// It has the server's request id, but is older than the first prompt of the file: copies made
    /// by `--fork-session` of 2.1.63 look like this.
    pub(super) const OLDER_THAN_FILE: u8 = 2;
    /// No request id: a gateway that sends none, or a copy made by a resume of 1.0.x.
    /// Or the line is in a progress record, and the sub-agent has a log of its own.
    pub(super) const UNPROVEN: u8 = 1;
    /// A copy: it is marked as one (`forkedFrom`), or its request is in another file.
    pub(super) const COPIED: u8 = 0;
}

/// The ledger key of the response that this record is a part of.
pub(super) fn response(chain: &Chain<'_>) -> Option<String> {
    let message = chain.json.get("message")?;
    let key =
        field::some(message, "id").or_else(|| field::some(chain.json, "requestId")).or(chain.uuid).map(id)?;
    Some(["claude:", &key].concat())
}

/// The tokens of one line of a [`response`], if it has any.
pub(super) fn of_line(
    chain: &Chain<'_>,
    response: Option<String>,
    state: &State,
    out: &mut Out,
) -> Option<Draft> {
    let message = chain.json.get("message")?;
    let counters = message.get("usage").filter(|counters| counters.is_object())?;
    let response = response?;
    let mut draft = chain.nameless("assistant/usage", Piece::Tag("usage"), Kind::Usage, Origin::Harness);
    draft.hint.identity = Some(["usage:", &response].concat());
    draft.event.response = Some(response);
    draft.event.model = field::some(message, "model").map(|model| match &state.model {
        // An equal name was cleaned before.
        Some(known) if known == model => known.clone(),
        _ => clean(model),
    });
    let mut counted = counted(counters);
    if !counted.is_whole() {
        draft.hint.look_for(Rule::Unread);
    }
    if field::some(message, "stop_reason").is_none() {
        // No line with a stop reason: the end of the stream was not seen, and the output is from
        // its first event (most responses up to 2.1.5x).
        counted.usage.exactness = Exactness::LowerBound;
    }
    let usage = counted.of_record(chain.record, out);
    draft.event.usage = Some(Box::new(Usage { own: evidence(chain, state), ..usage }));
    Some(draft)
}

fn counted(json: &Json<'_>) -> Counted {
    let mut counters = Counters::of(json);
    let cache_write_5m = counters.within("cache_creation", "ephemeral_5m_input_tokens");
    let cache_write_1h = counters.within("cache_creation", "ephemeral_1h_input_tokens");
    let split = cache_write_5m.saturating_add(cache_write_1h);
    let tier = match (field::text(json, "speed"), field::some(json, "service_tier")) {
        (Some("fast"), _) => Some("fast"),
        (_, Some(tier)) if tier != "standard" => Some(tier),
        _ => None,
    };
    let tokens = Tokens {
        input: counters.count("input_tokens"),
        cache_write_5m,
        cache_write_1h,
        // 1.0.24 - 1.0.56 have only the sum.
        cache_write_unsplit: counters.maybe("cache_creation_input_tokens").saturating_sub(split),
        cache_read: counters.maybe("cache_read_input_tokens"),
        output: counters.count("output_tokens"),
        reasoning: counters.within("output_tokens_details", "thinking_tokens"),
        web_searches: counters.within("server_tool_use", "web_search_requests"),
    };
    counters.into_usage(Usage { tokens, tier: tier.map(clean), ..Usage::default() })
}

fn evidence(chain: &Chain<'_>, state: &State) -> u8 {
    if chain.json.get("forkedFrom").is_some() {
        return own::COPIED;
    }
    if let Some(request) = field::some(chain.json, "requestRef") {
        return if state.requested(request) { own::REQUESTED } else { own::COPIED };
    }
    if chain.row.is_some() || field::some(chain.json, "requestId").is_none() {
        return own::UNPROVEN;
    }
    match (state.first_queued, chain.ts) {
        (Some(queued), Some(ts)) if ts < queued => own::OLDER_THAN_FILE,
        _ => own::ANSWERED,
    }
}

/// Merges two lines of one response. Takes the counters of the line whose counters can all be read,
/// or else of the one with more output, the later on a tie; the strongest proof of both; the
/// earlier time.
pub(super) fn complete(first: &mut Draft, later: &Draft) {
    let is_unread = |draft: &Draft| draft.hint.rule() == Some(&Rule::Unread);
    let unread = (is_unread(first), is_unread(later));
    if let (Some(ours), Some(theirs)) = (&mut first.event.usage, &later.event.usage) {
        let own = ours.own.max(theirs.own);
        // One line that saw the end of the stream proves the output of both.
        let exactness = match unread {
            (false, false) => ours.exactness.min(theirs.exactness),
            (false, true) => ours.exactness,
            (true, false) => theirs.exactness,
            (true, true) => Exactness::LowerBound,
        };
        if unread == (true, false) || unread.0 == unread.1 && theirs.tokens.output >= ours.tokens.output {
            *ours = theirs.clone();
        }
        ours.own = own;
        ours.exactness = exactness;
    }
    if unread == (true, false) {
        first.hint.rule = None;
    }
    first.event.ts = match (first.event.ts, later.event.ts) {
        (Some(ours), Some(theirs)) => Some(ours.min(theirs)),
        (ours, theirs) => ours.or(theirs),
    };
}

/// `cost-state` (2.1.325): the program's own count for the session so far, side calls and
/// compactions included.
pub(super) fn total(record: &Record<'_>, home: &Thread, out: &mut Out) {
    let json = record.json;
    let mut sum = Usage { total: true, ..Usage::default() };
    let mut is_whole = true;
    let mut models = serde_json::Map::new();
    for (model, figures) in json.get("modelUsage").and_then(Json::as_object).into_iter().flatten() {
        let counted = of_model(figures);
        is_whole &= counted.is_whole();
        let usage = counted.of_record(record, out);
        sum.tokens = sum.tokens.plus(&usage.tokens);
        models.insert(model.to_owned(), json!(usage));
    }
    if !is_whole {
        sum.exactness = Exactness::LowerBound;
    }
    sum.reported_cost_nano = json.get("totalCostUSD").and_then(Json::as_f64).and_then(nano_dollars);
    let mut draft = record.draft("cost-state", Piece::Whole, Kind::Usage, Origin::Harness);
    draft.event.thread = home.clone();
    draft.event.usage = Some(Box::new(sum));
    draft.event.data = Some(redact_json(json!({
        "total": true,
        "models": models,
        "lines_added": json.get("totalLinesAdded"),
        "lines_removed": json.get("totalLinesRemoved"),
        "api_duration_ms": json.get("totalAPIDuration"),
        "tool_duration_ms": json.get("totalToolDuration"),
        "has_unknown_model_cost": json.get("hasUnknownModelCost"),
    })));
    draft.hint.identity = Some(format!("side:{:x}", fingerprint(json)));
    out.push(draft);
}

/// The counters of one model, converted to retro's fields.
fn of_model(figures: &Json<'_>) -> Counted {
    let mut counters = Counters::of(figures);
    let cache_write_5m = counters.maybe("cacheCreationEphemeral5mInputTokens");
    let cache_write_1h = counters.maybe("cacheCreationEphemeral1hInputTokens");
    let split = cache_write_5m.saturating_add(cache_write_1h);
    let tokens = Tokens {
        input: counters.count("inputTokens"),
        cache_write_5m,
        cache_write_1h,
        cache_write_unsplit: counters.maybe("cacheCreationInputTokens").saturating_sub(split),
        cache_read: counters.maybe("cacheReadInputTokens"),
        output: counters.count("outputTokens"),
        reasoning: counters.maybe("thinkingTokens"),
        web_searches: counters.maybe("webSearchRequests"),
    };
    let reported_cost_nano = figures.get("costUSD").and_then(Json::as_f64).and_then(nano_dollars);
    counters.into_usage(Usage { total: true, tokens, reported_cost_nano, ..Usage::default() })
}

fn nano_dollars(dollars: f64) -> Option<i64> {
    let nano = (dollars * 1e9).round();
    (0.0..9e18).contains(&nano).then_some(nano as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn what_cannot_be_read_is_noted_and_the_rest_counts() {
        let counted =
            counted(&json!({ "input_tokens": "12", "output_tokens": 5, "cache_creation_input_tokens": 7,
            "cache_read_input_tokens": null, "speed": "fast", "service_tier": "priority" }));
        assert!(!counted.is_whole());
        let tokens = Tokens { output: 5, cache_write_unsplit: 7, ..Tokens::default() };
        assert_eq!((counted.usage.tokens, counted.usage.tier.as_deref()), (tokens, Some("fast")));
    }

    #[test]
    fn written_cache_is_split_where_the_log_splits_it() {
        let usage = counted(&json!({ "cache_creation_input_tokens": 10,
            "cache_creation": { "ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 6 } }))
        .usage;
        let tokens = Tokens { cache_write_5m: 4, cache_write_1h: 6, ..Tokens::default() };
        assert_eq!((usage.tokens, usage.tier), (tokens, None));
    }

    #[test]
    fn dollars_become_billionths_or_nothing() {
        assert_eq!(nano_dollars(1.25), Some(1_250_000_000));
        assert_eq!(nano_dollars(-1.0), None);
        assert_eq!(nano_dollars(f64::INFINITY), None);
    }
}
