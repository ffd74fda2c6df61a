//! How the drafts of a session become its stream.
//!
//! Settling reads only ids, kinds and hints, never texts, arguments or data. The updates are put in
//! order first; then calls are joined with their results, messages with their pieces and final
//! text, turns with their ends. Drafts that only the other files have are placed among them. Turns
//! are counted last.

use retro_model::{Kind, Origin};
use retro_text::redact_json;
use serde_json::json;

use super::rule::Rule;
use super::{align, join, order, turns};
use crate::Draft;
use crate::fold::number_turns;

pub(super) fn settle(drafts: &mut Vec<Draft>) {
    let repeats = order::set_aside_repeats(drafts);
    let spine = order::arrange(drafts);
    let mut places = vec![None; drafts.len()];
    join::utterances(drafts, &spine);
    join::tasks(drafts, &spine);
    join::calls(drafts, &spine, &mut places);
    join::subagents(drafts, &spine);
    join::denials(drafts);
    align::chat(drafts, &spine, &mut places);
    join::summaries(drafts);
    join::interjections(drafts);
    turns::end(drafts, &spine, &mut places);
    order::place(drafts, &spine, &places);
    turns::name_models(drafts);
    turns::bury(drafts);
    let is = |wanted: fn(&Rule) -> bool| drafts.iter().filter_map(|draft| draft.hint.rule()).any(wanted);
    let is_subagent = is(|rule| matches!(rule, Rule::Session { is_subagent: true, .. }));
    let is_headless = is(|rule| matches!(rule, Rule::Session { is_headless: true, .. }));
    if is_subagent {
        say_parent(drafts);
    } else if is_headless {
        say_composed(drafts);
    }
    number_turns(drafts);
    drafts.extend(repeats);
}

/// Marks the prompts of a run without a terminal (`grok -p`) as composed by a program: a person
/// cannot type into it.
fn say_composed(drafts: &mut [Draft]) {
    let asked = drafts.iter_mut().filter(|draft| {
        draft.event.kind == Kind::User && draft.event.origin == Origin::User && draft.event.data.is_none()
    });
    for draft in asked {
        draft.event.data = Some(redact_json(json!({ "composed": true })));
    }
}

/// Attributes the prompts of a sub-agent to its parent.
fn say_parent(drafts: &mut [Draft]) {
    for draft in drafts.iter_mut().filter(|draft| draft.event.origin == Origin::User) {
        if matches!(draft.event.kind, Kind::User | Kind::Attachment) {
            draft.event.origin = Origin::Agent;
        }
    }
}
