//! Messages of the user, of the model and of other agents, and texts that the program adds in the
//! user's role.
//!
//! Every message is logged twice, as an item of the conversation and as an event. The text of a
//! user's message is taken from the event, on the next line, and the text of a model's message from
//! the item. The other copy is held back (`fold_only`) with a hash of its text, and `pairs` drops
//! it or restores it when the session is settled.

use retro_model::{Kind, Link, LinkKind, Origin, Part as Piece};
use retro_text::{Redacted, redact, redact_json, redact_owned};
use serde_json::{Value, json};

use super::line::Line;
use super::rule::Rule;
use super::state::{Asker, Held, State};
use super::words::{self as spoken, Said};
use crate::identity::print_of;
use crate::words::{clean, id, words};
use crate::{Draft, Json, Out, field};

const USER: &str = "response_item/message/user";

/// Reads an item `message`.
pub(super) fn read(line: &Line<'_>, state: &mut State, out: &mut Out) {
    match field::text(line.payload, "role") {
        Some("user") => user(line, state, out),
        Some("assistant") => assistant(line, state, out),
        Some("developer" | "system") => developer(line, out),
        _ => line.unknown(out),
    }
}

/// One part of a message's content.
struct Piecemeal<'r> {
    at: usize,
    said: Option<Said>,
    json: &'r Json<'r>,
    text: &'r str,
}

/// The parts of a message in the user role.
fn parts<'r>(payload: &'r Json<'r>) -> Vec<Piecemeal<'r>> {
    let provenance = payload.get("internal_chat_message_metadata_passthrough");
    let provenance = provenance.map(|data| field::list(data, "content_item_metadata")).unwrap_or_default();
    let content = payload.get("content").unwrap_or(&Json::Null);
    let items: &'r [Json<'r>] = match content {
        Json::Array(items) => items,
        Json::String(_) => std::slice::from_ref(content),
        _ => &[],
    };
    let part = |(at, json): (usize, &'r Json<'r>)| {
        let text = json.as_str().or_else(|| field::text(json, "text")).unwrap_or_default();
        let from = provenance
            .get(at)
            .and_then(|data| data.get("provenance"))
            .and_then(|from| field::text(from, "type"));
        let said = match (spoken::said(text), from) {
            _ if field::text(json, "type") == Some("input_image") => None,
            // Unmarked text that the program attributes to others is not the user's (0.166).
            (Said::Words, Some(from)) if from != "user" => Some(Said::Harness),
            (said, _) => Some(said),
        };
        Piecemeal { at, said, json, text }
    };
    items.iter().enumerate().map(part).collect()
}

fn user(line: &Line<'_>, state: &mut State, out: &mut Out) {
    let parts = parts(line.payload);
    let before = out.drafts.len();
    let piece = |at: usize| match parts.len() {
        1 => Piece::Whole,
        _ => Piece::Block(u32::try_from(at).unwrap_or(u32::MAX)),
    };
    let typed: Vec<&Piecemeal<'_>> = parts.iter().filter(|part| part.said == Some(Said::Words)).collect();
    for part in &parts {
        let draft = match part.said {
            None => image(line, piece(part.at), part.json),
            Some(Said::Context) => context(line, piece(part.at), part.text, state),
            Some(Said::Harness) => {
                let mut draft = line.draft(USER, piece(part.at), Kind::Note, Origin::Harness);
                draft.event.text = words(part.text);
                draft
            }
            Some(Said::Subagent) => report(line, piece(part.at), part.text, out),
            Some(Said::Shell) => {
                let mut draft = line.draft(USER, piece(part.at), Kind::User, Origin::User);
                draft.event.text = words(spoken::shell_command(part.text));
                draft.event.data = Some(redact_json(json!({ "shell": true })));
                draft.hint.opens_turn = true;
                draft.hint.look_for(Rule::Shell);
                draft
            }
            Some(Said::Words | Said::Aborted | Said::ImageMark) => continue,
        };
        out.push(draft);
    }
    if let Some(first) = typed.first() {
        let text = typed.iter().map(|part| part.text).collect::<Vec<_>>().join("\n");
        hold(line, piece(first.at), &text, state, out);
    } else if out.drafts.len() == before {
        out.fold(USER);
    }
}

/// Holds a text that is the user's if the event of the next line confirms it. A bare item has no
/// event, and needs none.
fn hold(line: &Line<'_>, piece: Piece, text: &str, state: &mut State, out: &mut Out) {
    if line.bare {
        let mut draft = line.draft(USER, piece, Kind::User, Origin::User);
        draft.event.text = words(spoken::unwrapped(text).unwrap_or(text));
        draft.event.data = marks(text, state);
        draft.hint.opens_turn = true;
        state.turns += 1;
        return out.push(draft);
    }
    // If the log has the provenance, the text is a person's even without the event.
    let is_proven = line.payload.get("internal_chat_message_metadata_passthrough").is_some_and(|data| {
        let parts = field::list(data, "content_item_metadata");
        let from = |part: &Json<'_>| {
            part.get("provenance").is_some_and(|from| field::text(from, "type") == Some("user"))
        };
        parts.iter().any(from)
    });
    let (kind, origin) = match is_proven {
        true => (Kind::User, asker(line, None, state)),
        false => (Kind::Note, Origin::Harness),
    };
    let mut draft = line.draft(USER, piece, kind, origin);
    draft.event.text = words(spoken::unwrapped(text).unwrap_or(text));
    draft.event.data = marks(text, state);
    draft.hint.fold_only = true;
    draft.hint.look_for(Rule::Held);
    state.held = Some(Held { record: line.record.address.record, words: print_of(text) });
    out.push(draft);
}

/// Facts about a message beside its text: an application put context before it, a program composed
/// it.
fn marks(text: &str, state: &State) -> Option<Redacted<Value>> {
    match (spoken::unwrapped(text).is_some(), state.composed) {
        (false, false) => None,
        (true, false) => Some(redact_json(json!({ "wrapped": true }))),
        (false, true) => Some(redact_json(json!({ "composed": true }))),
        (true, true) => Some(redact_json(json!({ "wrapped": true, "composed": true }))),
    }
}

fn image(line: &Line<'_>, piece: Piece, part: &Json<'_>) -> Draft {
    let mut draft = line.draft(USER, piece, Kind::Attachment, asker_of_image(line));
    let url = field::text(part, "image_url").unwrap_or_default();
    // The bytes of an image stay in the raw record.
    let what = if url.starts_with("data:") { url.split(';').next().unwrap_or("data:") } else { url };
    draft.event.data = Some(redact_json(json!({ "image": what, "bytes": url.len() })));
    draft.hint.look_for(Rule::Image);
    draft
}

fn asker_of_image(line: &Line<'_>) -> Origin {
    if line.copy_of.is_some() { Origin::Harness } else { Origin::User }
}

fn context(line: &Line<'_>, piece: Piece, text: &str, state: &mut State) -> Draft {
    let mut draft = line.draft(USER, piece, Kind::Attachment, Origin::Harness);
    draft.event.text = words(text);
    // In 0.29 the working directory is only here.
    if let Some(cwd) = spoken::cwd(text).filter(|_| line.bare) {
        state.cwd = Some(redact(cwd));
        draft.event.cwd = state.cwd.clone();
    }
    draft
}

/// `<subagent_notification>` (0.130 on): how a child thread ended.
fn report(line: &Line<'_>, piece: Piece, text: &str, out: &mut Out) -> Draft {
    let mut draft = line.draft(USER, piece, Kind::Subagent, Origin::Model);
    let inner = spoken::between(text, "<subagent_notification>", "</subagent_notification>").unwrap_or(text);
    let told: Json<'_> = serde_json::from_str(inner.trim()).unwrap_or_default();
    draft.event.child = field::some(&told, "agent_path").map(id);
    if let Some(child) = draft.event.child.clone().filter(|child| super::names::is_uuid(child)) {
        out.facts.links.insert(Link { kind: LinkKind::Child, session_id: child });
    }
    draft.event.text = told.get("status").and_then(|status| field::some(status, "completed")).and_then(words);
    draft.event.data = told.get("status").map(|status| redact_json(json!({ "status": status })));
    draft
}

fn developer(line: &Line<'_>, out: &mut Out) {
    const APPROVED: &str = "Approved command prefix saved:";
    let mut draft = line.draft("response_item/message/developer", Piece::Whole, Kind::Note, Origin::Harness);
    let heads: Vec<String> = parts(line.payload)
        .iter()
        .map(|part| part.text.chars().take_while(|c| *c != '\n').take(80).collect::<String>())
        .collect();
    let approved = parts(line.payload)
        .iter()
        .find_map(|part| part.text.trim_start().strip_prefix(APPROVED).map(|rest| rest.trim().to_owned()));
    draft.event.data = Some(redact_json(match approved {
        Some(approved) => json!({ "heads": heads, "approved": approved }),
        None => json!({ "heads": heads }),
    }));
    out.push(draft);
}

/// Text parts of an answer, joined.
fn answer(payload: &Json<'_>) -> String {
    match payload.get("content") {
        Some(Json::String(text)) => text.to_string(),
        _ => field::list(payload, "content")
            .iter()
            .filter_map(|part| field::text(part, "text"))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn assistant(line: &Line<'_>, state: &mut State, out: &mut Out) {
    let text = answer(line.payload);
    let is_summary = line.is_marked("compaction_output");
    let kind = if is_summary { Kind::Compaction } else { Kind::Assistant };
    let mut draft = line.draft("response_item/message/assistant", Piece::Whole, kind, Origin::Model);
    draft.hint.look_for(if is_summary { Rule::Summary } else { Rule::Words(print_of(&text)) });
    draft.event.data = field::some(line.payload, "phase").map(|phase| redact_json(json!({ "phase": phase })));
    state.summarized |= is_summary;
    draft.event.text = (!text.is_empty()).then(|| redact_owned(text));
    out.push(draft);
}

/// An item `reasoning`, with the model's thoughts if they are readable.
pub(super) fn reasoning(line: &Line<'_>, out: &mut Out) {
    let texts: Vec<&str> = ["summary", "content"]
        .iter()
        .flat_map(|name| field::list(line.payload, name))
        .filter_map(|part| field::text(part, "text"))
        .collect();
    let mut draft = line.draft("response_item/reasoning", Piece::Whole, Kind::Reasoning, Origin::Model);
    draft.hint.look_for(Rule::Thought(prints(&texts)));
    draft.event.text = words(&texts.join("\n"));
    out.push(draft);
}

fn prints(texts: &[&str]) -> Vec<u64> {
    texts.iter().map(|text| print_of(text)).collect()
}

/// An event with the model's thoughts: one for each part up to 0.146, one with all parts after.
pub(super) fn thought(line: &Line<'_>, kind: &str, out: &mut Out) {
    let (row, texts): (_, Vec<&str>) = match kind {
        "Reasoning" => {
            let item = &line.payload["item"];
            let lists = ["summary_text", "raw_content"];
            (
                "item/Reasoning",
                lists.iter().flat_map(|name| field::list(item, name)).filter_map(Json::as_str).collect(),
            )
        }
        "agent_reasoning" => {
            ("event_msg/agent_reasoning", field::some(line.payload, "text").into_iter().collect())
        }
        _ => {
            ("event_msg/agent_reasoning_raw_content", field::some(line.payload, "text").into_iter().collect())
        }
    };
    if texts.is_empty() {
        return out.fold(row);
    }
    let mut draft = line.nameless(row, Piece::Whole, Kind::Reasoning, Origin::Model);
    let prints = prints(&texts);
    line.identify(&mut draft, "thought", &format!("{prints:x?}"));
    draft.event.text = words(&texts.join("\n"));
    draft.hint.fold_only = true;
    draft.hint.look_for(Rule::ThoughtAgain(prints));
    out.push(draft);
}

/// An event with the user's message. `foreign` is the thread that received it, if it is not this
/// one.
pub(super) fn said(
    line: &Line<'_>,
    row: &'static str,
    foreign: Option<&str>,
    state: &mut State,
    out: &mut Out,
) {
    let item = line.payload.get("item").unwrap_or(line.payload);
    let texts = field::list(item, "content").iter().filter_map(|part| field::text(part, "text"));
    let text = match field::text(line.payload, "message") {
        Some(message) => message.to_owned(),
        None => texts.collect::<Vec<_>>().join("\n"),
    };
    let here = Held { record: line.record.address.record, words: print_of(&text) };
    let held = state.held.take().filter(|held| {
        let after = here.record.saturating_sub(held.record);
        after == 1 || (after <= 4 && held.words == here.words)
    });
    // A review's prompt is logged twice in its parent, without an item (0.80, 0.130).
    let again = held.is_none()
        && state.said.as_ref().is_some_and(|said| said.words == here.words && said.record + 1 == here.record);
    state.said = Some(here.clone());
    if again {
        return out.fold(row);
    }
    let mut draft = line.nameless(row, Piece::Whole, Kind::User, asker(line, foreign, state));
    line.identify(&mut draft, "said", &format!("{:x}", here.words));
    draft.event.native.message_id = None;
    draft.event.text = words(spoken::unwrapped(&text).unwrap_or(&text));
    draft.event.data = marks(&text, state);
    draft.hint.opens_turn = true;
    draft.hint.look_for(Rule::Said(held.map(|held| held.record)));
    state.turns += 1;
    if state.turn.is_none() {
        state.responses = 0;
    }
    out.push(draft);
}

/// The author of messages in the user role.
fn asker(line: &Line<'_>, foreign: Option<&str>, state: &State) -> Origin {
    match state.asker {
        _ if foreign.is_some() || state.in_review => Origin::Harness,
        _ if line.copy_of.is_some() => Origin::User,
        Asker::Person => Origin::User,
        Asker::Agent => Origin::Agent,
        Asker::Harness => Origin::Harness,
    }
}

/// An event with the model's message.
pub(super) fn echo(line: &Line<'_>, row: &'static str, state: &mut State, out: &mut Out) {
    let text = match field::text(line.payload, "message") {
        Some(message) => message.to_owned(),
        None => line.payload.get("item").map(answer).unwrap_or_default(),
    };
    // In 0.42 this text, in the model's name, reports it.
    if text == "Compact task completed" {
        state.summarized = false;
        let mut draft = line.nameless(row, Piece::Whole, Kind::Note, Origin::Harness);
        line.identify(&mut draft, "echo", &format!("{:x}", print_of(&text)));
        draft.event.text = words(&text);
        return out.push(draft);
    }
    let print = print_of(&text);
    let mut draft = line.nameless(row, Piece::Whole, Kind::Assistant, Origin::Model);
    line.identify(&mut draft, "echo", &format!("{print:x}"));
    draft.event.native.message_id = None;
    draft.event.text = words(&text);
    draft.hint.fold_only = true;
    draft.hint.look_for(Rule::WordsAgain(print));
    out.push(draft);
}

/// `agent_message` (0.166): a message from one agent of a tree to another.
pub(super) fn of_agent(line: &Line<'_>, state: &mut State, out: &mut Out) {
    let mut draft = line.draft("response_item/agent_message", Piece::Whole, Kind::Subagent, Origin::Model);
    let text = answer(line.payload);
    draft.event.text = words(text.split_once("Payload:\n").map_or(text.as_str(), |(_, payload)| payload));
    draft.event.data = Some(redact_json(json!({
        "author": field::text(line.payload, "author").map(clean),
        "recipient": field::text(line.payload, "recipient").map(clean),
        "type": text.strip_prefix("Message Type: ").and_then(|rest| rest.lines().next()),
    })));
    draft.hint.opens_turn = std::mem::take(&mut state.triggered);
    out.push(draft);
}
