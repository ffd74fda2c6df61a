//! Tokens: of one line of a response, and of the session so far.
//!
//! A response is logged as several lines that share its id and repeat its
//! counters; output grows from line to line while the response streams. Every
//! line gives a draft with the same identity, and settling keeps the first of
//! them with the counters of the best.

use retro_model::{Exactness, Kind, Origin, Part as Piece, Thread, Usage};
use retro_text::redact_json;
use serde_json::json;

use super::line::Chain;
use super::state::State;
use crate::identity::fingerprint;
use crate::words::{clean, id};
use crate::{Draft, Json, Out, Record, field};

/// How sure a file can be that a response is its own and not a copy of another
/// file's. Larger is surer.
mod own {
    /// The request was sent by this file (2.1.325: `requestRef` names it).
    pub(super) const REQUESTED: u8 = 4;
    /// It has the server's request id, and the file was in use by then.
    pub(super) const ANSWERED: u8 = 3;
    /// It has the server's request id, but is older than the first thing the
    /// file was asked: what `--fork-session` of 2.1.63 copies looks so.
    pub(super) const OLDER_THAN_FILE: u8 = 2;
    /// No request id: a gateway that sends none, or a copy made by a resume of 1.0.x.
    pub(super) const UNPROVEN: u8 = 1;
    /// A copy: it says so (`forkedFrom`), or its request is in another file.
    pub(super) const COPIED: u8 = 0;
}

/// Key of the ledger row of the response that this record is a part of.
pub(super) fn response(chain: &Chain<'_>) -> Option<String> {
    let message = chain.json.get("message")?;
    let key =
        field::some(message, "id").or_else(|| field::some(chain.json, "requestId")).or(chain.uuid).map(id)?;
    Some(["claude:", &key].concat())
}

/// The tokens that one line of a [`response`] tells, if it tells any.
pub(super) fn of_line(chain: &Chain<'_>, response: Option<String>, state: &State) -> Option<Draft> {
    let message = chain.json.get("message")?;
    let counters = message.get("usage").filter(|counters| counters.is_object())?;
    let response = response?;
    let mut draft = chain.nameless("assistant/usage", Piece::Tag("usage"), Kind::Usage, Origin::Harness);
    draft.hint.identity = Some(["usage:", &response].concat());
    draft.event.response = Some(response);
    draft.event.model = field::some(message, "model").map(|model| match &state.model {
        // What was cleaned once stays as it is.
        Some(known) if known == model => known.clone(),
        _ => clean(model),
    });
    draft.event.usage = Some(Box::new(Usage {
        // No line with a stop reason: the stream was never seen to end, and the
        // output is what its first event said (most responses up to 2.1.5x).
        exactness: match field::some(message, "stop_reason") {
            Some(_) => Exactness::Exact,
            None => Exactness::LowerBound,
        },
        own: evidence(chain, state),
        ..counted(counters)
    }));
    Some(draft)
}

fn counted(counters: &Json<'_>) -> Usage {
    let count = |name| field::count(counters, name).unwrap_or(0);
    let nested =
        |outer: &str, name| counters.get(outer).and_then(|inner| field::count(inner, name)).unwrap_or(0);
    let cache_write_5m = nested("cache_creation", "ephemeral_5m_input_tokens");
    let cache_write_1h = nested("cache_creation", "ephemeral_1h_input_tokens");
    let split = cache_write_5m.saturating_add(cache_write_1h);
    let tier = match (field::text(counters, "speed"), field::some(counters, "service_tier")) {
        (Some("fast"), _) => Some("fast"),
        (_, Some(tier)) if tier != "standard" => Some(tier),
        _ => None,
    };
    Usage {
        input: count("input_tokens"),
        cache_write_5m,
        cache_write_1h,
        // 1.0.24 - 1.0.56 tell only the sum.
        cache_write_unsplit: count("cache_creation_input_tokens").saturating_sub(split),
        cache_read: count("cache_read_input_tokens"),
        output: count("output_tokens"),
        reasoning: nested("output_tokens_details", "thinking_tokens"),
        web_searches: nested("server_tool_use", "web_search_requests"),
        tier: tier.map(clean),
        ..Usage::default()
    }
}

fn evidence(chain: &Chain<'_>, state: &State) -> u8 {
    if chain.json.get("forkedFrom").is_some() {
        return own::COPIED;
    }
    if let Some(request) = field::some(chain.json, "requestRef") {
        return if state.requested(request) { own::REQUESTED } else { own::COPIED };
    }
    if field::some(chain.json, "requestId").is_none() {
        return own::UNPROVEN;
    }
    match (state.first_queued, chain.ts) {
        (Some(queued), Some(ts)) if ts < queued => own::OLDER_THAN_FILE,
        _ => own::ANSWERED,
    }
}

/// Of two lines of one response: the counters of the one with more output, the
/// later on a tie; the best of what both prove; the earlier time.
pub(super) fn complete(first: &mut Draft, later: &Draft) {
    if let (Some(ours), Some(theirs)) = (&mut first.event.usage, &later.event.usage) {
        let own = ours.own.max(theirs.own);
        let exactness = ours.exactness.min(theirs.exactness);
        if theirs.output >= ours.output {
            *ours = theirs.clone();
        }
        ours.own = own;
        ours.exactness = exactness;
    }
    first.event.ts = match (first.event.ts, later.event.ts) {
        (Some(ours), Some(theirs)) => Some(ours.min(theirs)),
        (ours, theirs) => ours.or(theirs),
    };
}

/// `cost-state` (2.1.325): what the program itself counted for the session so
/// far, side calls and compactions included.
pub(super) fn total(record: &Record<'_>, home: &Thread, out: &mut Out) {
    let json = record.json;
    let mut sum = Usage { total: true, ..Usage::default() };
    let mut models = serde_json::Map::new();
    for (model, figures) in json.get("modelUsage").and_then(Json::as_object).into_iter().flatten() {
        let usage = of_model(figures);
        sum.input = sum.input.saturating_add(usage.input);
        sum.cache_write_5m = sum.cache_write_5m.saturating_add(usage.cache_write_5m);
        sum.cache_write_1h = sum.cache_write_1h.saturating_add(usage.cache_write_1h);
        sum.cache_write_unsplit = sum.cache_write_unsplit.saturating_add(usage.cache_write_unsplit);
        sum.cache_read = sum.cache_read.saturating_add(usage.cache_read);
        sum.output = sum.output.saturating_add(usage.output);
        sum.reasoning = sum.reasoning.saturating_add(usage.reasoning);
        sum.web_searches = sum.web_searches.saturating_add(usage.web_searches);
        models.insert(model.to_owned(), json!(usage));
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

/// The figures of one model, in our meaning.
fn of_model(figures: &Json<'_>) -> Usage {
    let count = |name| field::count(figures, name).unwrap_or(0);
    let (written_5m, written_1h) =
        (count("cacheCreationEphemeral5mInputTokens"), count("cacheCreationEphemeral1hInputTokens"));
    Usage {
        total: true,
        input: count("inputTokens"),
        cache_write_5m: written_5m,
        cache_write_1h: written_1h,
        cache_write_unsplit: count("cacheCreationInputTokens")
            .saturating_sub(written_5m.saturating_add(written_1h)),
        cache_read: count("cacheReadInputTokens"),
        output: count("outputTokens"),
        reasoning: count("thinkingTokens"),
        web_searches: count("webSearchRequests"),
        reported_cost_nano: figures.get("costUSD").and_then(Json::as_f64).and_then(nano_dollars),
        ..Usage::default()
    }
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
    fn what_cannot_be_read_counts_nothing_and_the_rest_counts() {
        let usage =
            counted(&json!({ "input_tokens": "12", "output_tokens": 5, "cache_creation_input_tokens": 7,
            "cache_read_input_tokens": -3, "speed": "fast", "service_tier": "priority" }));
        assert_eq!((usage.input, usage.output, usage.cache_write_unsplit, usage.cache_read), (0, 5, 7, 0));
        assert_eq!(usage.tier.as_deref(), Some("fast"));
    }

    #[test]
    fn written_cache_is_split_where_the_log_splits_it() {
        let usage = counted(&json!({ "cache_creation_input_tokens": 10,
            "cache_creation": { "ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 6 } }));
        assert_eq!((usage.cache_write_5m, usage.cache_write_1h, usage.cache_write_unsplit), (4, 6, 0));
        assert_eq!(usage.tier, None);
    }

    #[test]
    fn dollars_become_billionths_or_nothing() {
        assert_eq!(nano_dollars(1.25), Some(1_250_000_000));
        assert_eq!(nano_dollars(-1.0), None);
        assert_eq!(nano_dollars(f64::INFINITY), None);
    }
}
