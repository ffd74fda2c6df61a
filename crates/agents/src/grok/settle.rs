//! How the drafts of a session become its stream.
//!
//! Settling looks at ids, kinds and hints alone, never at texts, arguments or
//! data. The updates are put in order first; then calls find their results,
//! utterances their pieces and final words, turns their ends; what the other
//! files have and the updates have not is placed among them; turns are counted
//! last.

use retro_model::{Kind, Origin};

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
    if drafts.iter().any(|draft| draft.hint.rule() == Some(&Rule::Session { is_subagent: true })) {
        say_parent(drafts);
    }
    number_turns(drafts);
    drafts.extend(repeats);
}

/// What a sub-agent is asked is its parent's words.
fn say_parent(drafts: &mut [Draft]) {
    for draft in drafts.iter_mut().filter(|draft| draft.event.origin == Origin::User) {
        if matches!(draft.event.kind, Kind::User | Kind::Attachment) {
            draft.event.origin = Origin::Agent;
        }
    }
}
