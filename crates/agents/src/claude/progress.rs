//! `progress` records (2.1.11 - 2.1.79): events between call and result.
//!
//! All their content is repeated elsewhere, with one exception: if the file of a sub-agent is
//! missing, `agent_progress` is the only trace of its work. Its messages are read like those of the
//! file, and settling drops them if the file exists. Tokens are dropped response by response,
//! because a file may lack some of them.

use retro_model::{Kind, Origin, Part as Piece, Thread};

use super::line::{Chain, row_name};
use super::rule::Rule;
use super::state::State;
use super::{assistant, user};
use crate::{Json, Out, field};

/// The row whose drafts are the messages of a sub-agent.
pub(super) const OF_AGENT: &str = "progress/agent_progress";

pub(super) fn read(chain: &Chain<'_>, state: &mut State, out: &mut Out) {
    let data = chain.json.get("data").unwrap_or(&Json::Null);
    let Some(row) = row_name("progress/", field::text(data, "type").unwrap_or_default()) else {
        return chain.unknown(out);
    };
    // Other records may be its children, so its place in the chain is kept.
    let mut place = chain.draft(row, Piece::Tag("note"), Kind::Note, Origin::Harness);
    place.hint.fold_only = true;
    out.push(place);
    if row == OF_AGENT {
        agent(chain, data, state, out);
    }
}

fn agent(chain: &Chain<'_>, data: &Json<'_>, state: &mut State, out: &mut Out) {
    let (Some(agent), Some(message)) = (field::some(data, "agentId"), data.get("message")) else { return };
    let inner = Chain {
        record: chain.record,
        json: message,
        thread: Thread::sub(agent),
        ts: field::time(message, "timestamp").or(chain.ts),
        uuid: field::some(message, "uuid"),
        hangs_on: None,
        row: Some(OF_AGENT),
    };
    let before = out.drafts.len();
    match field::text(message, "type") {
        Some("user") => user::read(&inner, state, out),
        Some("assistant") => assistant::read(&inner, state, out),
        _ => {}
    }
    let call = field::some(chain.json, "parentToolUseID").unwrap_or_default();
    for draft in out.drafts.iter_mut().skip(before) {
        if draft.event.kind != Kind::Usage {
            draft.hint.look_for(Rule::Progress(call.to_owned()));
        }
        // The agent's file, if it exists, has the same uuids.
        if let Some(identity) = &mut draft.hint.identity {
            identity.insert_str(0, "progress:");
        }
    }
}
