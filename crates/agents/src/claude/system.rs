//! `system` records: compactions, errors, commands, and many notices.

use retro_model::Part as Piece;
use retro_model::{Kind, Origin};
use retro_text::{Redacted, redact_json};
use serde_json::json;

use super::line::{Chain, row_name};
use super::rule::Rule;
use super::state::{Boundary, State};
use super::words::tag;
use crate::json::pick;
use crate::words::{clean, id, words};
use crate::{Draft, Json, Out, field};

pub(super) fn read(chain: &Chain<'_>, state: &mut State, out: &mut Out) {
    let subtype = field::some(chain.json, "subtype");
    let row = match subtype {
        Some(subtype) => row_name("system/", subtype),
        None => Some("system"),
    };
    let Some(row) = row else { return chain.unknown(out) };
    let draft = match subtype.unwrap_or_default() {
        "compact_boundary" | "microcompact_boundary" => boundary(chain, row, state),
        "api_error" | "error" => error(chain, row),
        "api_refusal" => {
            let mut draft = chain.draft(row, Piece::Whole, Kind::Error, Origin::Model);
            draft.event.text = field::some(chain.json, "apiRefusalExplanation").and_then(words);
            draft.event.data =
                pick(chain.json, &["apiRefusalCategory", "direction", "trigger", "retractedMessageUuids"]);
            draft
        }
        "model_fallback" | "model_refusal_fallback" | "model_consent_fallback" => {
            let mut draft = chain.draft(row, Piece::Whole, Kind::Model, Origin::Harness);
            draft.event.model = field::some(chain.json, "fallbackModel").map(clean);
            draft.event.text = content(chain);
            draft.event.data = pick(chain.json, &["originalModel", "fallbackModel", "scope", "trigger"]);
            draft
        }
        "local_command" => local_command(chain, row),
        _ => note(chain, row),
    };
    out.push(draft);
}

fn content(chain: &Chain<'_>) -> Option<Redacted<String>> {
    field::text(chain.json, "content").and_then(words)
}

/// The cut of a compaction. Its facts are saved for the summary. If there is one, its event
/// replaces this one.
fn boundary(chain: &Chain<'_>, row: &'static str, state: &mut State) -> Draft {
    let mut draft = chain.draft(row, Piece::Whole, Kind::Compaction, Origin::Harness);
    let facts = chain.json.get("compactMetadata").or_else(|| chain.json.get("microcompactMetadata"));
    draft.event.data = pick(
        facts.unwrap_or(&Json::Null),
        &["trigger", "preTokens", "postTokens", "durationMs", "cumulativeDroppedTokens"],
    );
    if row == "system/compact_boundary"
        && let Some(uuid) = chain.uuid
    {
        let facts = draft.event.data.clone().map(Redacted::into_inner).unwrap_or_default();
        state.boundary = Some(Boundary { uuid: uuid.to_owned(), facts });
        draft.hint.look_for(Rule::Boundary(uuid.to_owned()));
    }
    draft
}

fn error(chain: &Chain<'_>, row: &'static str) -> Draft {
    let error = chain.json.get("error").unwrap_or(&Json::Null);
    let text = field::some(error, "formatted")
        .or_else(|| field::some(error, "message"))
        .or_else(|| error.as_str())
        .or_else(|| field::some(chain.json, "content"));
    let mut draft = chain.draft(row, Piece::Whole, Kind::Error, Origin::Harness);
    draft.event.text = text.and_then(words);
    draft.event.native.request_id = field::some(error, "requestId").map(id);
    draft.event.data = pick(chain.json, &["retryAttempt", "maxRetries", "retryInMs", "source"]).map(|data| {
        let mut data = data.into_inner();
        if let (Some(fields), Some(status)) = (data.as_object_mut(), error.get("status")) {
            fields.insert("status".to_owned(), json!(status));
        }
        redact_json(data)
    });
    draft
}

/// A slash command that the program ran itself, or its output.
fn local_command(chain: &Chain<'_>, row: &'static str) -> Draft {
    let text = field::text(chain.json, "content").unwrap_or_default();
    let run = chain.json.get("commandRun").unwrap_or(&Json::Null);
    let printed = tag(text, "local-command-stdout");
    let is_model = field::text(run, "command") == Some("model")
        && printed.is_some_and(|printed| printed.starts_with("Set model to"));
    let kind = if is_model { Kind::Model } else { Kind::Note };
    let mut draft = chain.draft(row, Piece::Whole, kind, Origin::User);
    if is_model {
        // Only the argument has the model's id. The printed name is for people.
        draft.event.model = field::some(run, "args").map(clean);
    }
    draft.event.text = words(text);
    draft.event.data = pick(chain.json, &["commandRun"]);
    draft
}

fn note(chain: &Chain<'_>, row: &'static str) -> Draft {
    let mut draft = chain.draft(row, Piece::Whole, Kind::Note, Origin::Harness);
    draft.event.text = content(chain);
    draft.event.data = pick(
        chain.json,
        &[
            "durationMs",
            "messageCount",
            "hookCount",
            "hookErrors",
            "preventedContinuation",
            "stopReason",
            "url",
        ],
    );
    draft
}
