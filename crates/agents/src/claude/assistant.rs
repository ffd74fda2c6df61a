//! `assistant` records: one line for each content block of a response.

use retro_model::Part as Piece;
use retro_model::{Kind, Origin, ToolClass};
use retro_text::redact_json;
use serde_json::json;

use super::line::{Block, Chain, blocks};
use super::rule::Rule;
use super::state::{OpenCall, State};
use super::{tools, usage};
use crate::identity::print_of;
use crate::json::pick;
use crate::words::{clean, words};
use crate::{Draft, Json, Out, field};

/// The model name of answers that the program made up itself.
const SYNTHETIC: &str = "<synthetic>";

pub(super) fn read(chain: &Chain<'_>, state: &mut State, out: &mut Out) {
    let message = chain.json.get("message").unwrap_or(&Json::Null);
    let Some(blocks) = message.get("content").and_then(blocks) else {
        return chain.unknown(out);
    };
    let model = field::some(message, "model");
    if model == Some(SYNTHETIC) {
        return synthetic(chain, &blocks, out);
    }
    if let Some(model) = model {
        see_model(chain, model, state, out);
    }
    let response = usage::response(chain);
    for block in &blocks {
        let mut draft = block_event(chain, block, state);
        draft.event.response = response.clone();
        out.push(draft);
    }
    if let Some(draft) = usage::of_line(chain, response, state, out) {
        out.push(draft);
    } else if blocks.is_empty() {
        out.push(chain.draft("assistant/synthetic", Piece::Whole, Kind::Note, Origin::Harness));
    }
}

/// Adds a model event if another model answered on this thread before. A side chain inside the main
/// log (1.0.x) has its own model, and the session's stays.
fn see_model(chain: &Chain<'_>, model: &str, state: &mut State, out: &mut Out) {
    let home = chain.row.is_none() && (chain.record.address.source.is_main() != chain.is_side());
    if home && state.model.as_deref() != Some(model) && state.model != Some(clean(model)) {
        state.model = Some(clean(model));
        let mut draft = chain.draft("assistant/model", Piece::Tag("model"), Kind::Model, Origin::Harness);
        draft.event.model = Some(clean(model));
        out.push(draft);
    }
}

fn block_event(chain: &Chain<'_>, block: &Block<'_>, state: &mut State) -> Draft {
    let draft = |row, kind, origin| chain.draft(row, block.piece.clone(), kind, origin);
    match block.kind {
        "text" => {
            let mut draft = draft("assistant/text", Kind::Assistant, Origin::Model);
            draft.event.text = words(block.text());
            draft.event.data = pick(chain.json, &["isAbortedMidStream"]);
            draft
        }
        "thinking" => {
            let mut draft = draft("assistant/thinking", Kind::Reasoning, Origin::Model);
            draft.event.text = field::text(block.json, "thinking").and_then(words);
            draft
        }
        "redacted_thinking" => draft("assistant/redacted_thinking", Kind::Reasoning, Origin::Model),
        "tool_use" => {
            let mut draft = draft("assistant/tool_use", Kind::ToolCall, Origin::Model);
            let cwd =
                field::some(chain.json, "cwd").or(state.ground.as_ref().and_then(|at| at.cwd.as_deref()));
            let call = tools::call(block.json, cwd);
            if call.class == ToolClass::Subagent
                && let Some(task) = block.json.get("input").and_then(|input| field::text(input, "prompt"))
            {
                draft.hint.look_for(Rule::Starts(print_of(task)));
            }
            state.open(OpenCall {
                id: call.call_id.clone(),
                name: call.name.clone(),
                edits: call.edits.clone(),
            });
            draft.event.tool = Some(Box::new(call));
            draft.event.data = pick(
                chain.json,
                &["attributionAgent", "attributionMcpServer", "attributionPlugin", "attributionSkill"],
            );
            draft
        }
        "fallback" => {
            let mut draft = draft("assistant/fallback", Kind::Model, Origin::Harness);
            let to = block.json.get("to").unwrap_or(&Json::Null);
            draft.event.model = to.as_str().or_else(|| field::text(to, "model")).map(clean);
            draft.event.data = pick(block.json, &["from", "to"]);
            draft
        }
        _ => {
            let mut draft = draft("unknown", Kind::Unknown, Origin::Model);
            draft.event.data = Some(block.json.redacted());
            draft
        }
    }
}

/// An answer the program made up: an API error, a limit, "No response requested."
fn synthetic(chain: &Chain<'_>, blocks: &[Block<'_>], out: &mut Out) {
    let is_error = field::is(chain.json, "isApiErrorMessage");
    let (row, kind) = match is_error {
        true => ("assistant/error", Kind::Error),
        false => ("assistant/synthetic", Kind::Note),
    };
    let mut draft = chain.draft(row, Piece::Whole, kind, Origin::Harness);
    let said: Vec<&str> = blocks.iter().map(Block::text).filter(|text| !text.is_empty()).collect();
    draft.event.text = words(&said.join("\n"));
    draft.event.data = is_error.then(|| {
        redact_json(json!({
            "error": chain.json.get("error"),
            "status": chain.json.get("apiErrorStatus"),
            "type": chain.json.get("apiErrorType"),
        }))
    });
    out.push(draft);
}
