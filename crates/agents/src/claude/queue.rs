//! The queue of prompts that the user types while the agent works.
//!
//! A queued prompt appears again as a record of its own: as a `user` record when it became a turn,
//! or as `attachment/queued_command` when it was handed over in the middle of one. Logs before
//! 2.1.96 have no attachments, so a prompt that was handed over in the middle of a turn is only in
//! the queue. Each entry is read as a prompt that is folded, and settling restores those that
//! appear nowhere else.

use hashbrown::HashSet;
use retro_model::{Kind, Origin, Part as Piece, Thread};
use retro_text::redact_json;
use serde_json::json;
use std::collections::VecDeque;

use super::line::blocks;
use super::rule::{Rule, Step};
use super::words::{self as said, Words};
use crate::identity::{fingerprint, print_of};
use crate::words::words;
use crate::{Draft, Json, Out, Record, field};

/// A record's operation on the queue.
pub(super) fn step(json: &Json<'_>) -> Rule {
    Rule::Queue(match field::text(json, "operation").unwrap_or_default() {
        "enqueue" => Step::Enqueue,
        "dequeue" => Step::Dequeue,
        "remove" => Step::Remove(typed(json).map(|text| print_of(&text))),
        "popAll" => Step::Clear,
        _ => Step::Other,
    })
}

/// The prompt that joins the queue, if the user typed one. It is folded at first.
pub(super) fn prompt(row: &'static str, record: &Record<'_>, home: &Thread, out: &mut Out) {
    let json = record.json;
    if field::text(json, "operation") != Some("enqueue") || !home.is_main() {
        return;
    }
    let Some(text) = typed(json) else { return };
    let command = command(&text);
    let kind = if command.is_some() { Kind::Note } else { Kind::User };
    let mut draft = record.draft(row, Piece::Tag("user"), kind, Origin::User);
    draft.event.ts = field::time(json, "timestamp");
    let (data, said) = match command {
        Some((name, args)) => (json!({ "queued": true, "command": name, "asks_model": false }), args),
        None => (json!({ "queued": true }), text.as_str()),
    };
    draft.event.text = words(said);
    draft.event.data = Some(redact_json(data));
    draft.hint.identity = Some(format!("side:{:x}#user", fingerprint(json)));
    draft.hint.opens_turn = kind == Kind::User;
    draft.hint.fold_only = true;
    draft.hint.look_for(Rule::Queued(print_of(&text)));
    out.push(draft);
}

/// The text that the user typed into the queue. Notifications of background tasks wait there too.
fn typed(json: &Json<'_>) -> Option<String> {
    let blocks = blocks(json.get("content")?)?;
    let texts: Vec<&str> = blocks
        .iter()
        .filter(|block| block.kind == "text" && said::of(block.text()) == Words::Person)
        .map(|block| block.text())
        .collect();
    let text = texts.join("\n");
    // 2.1.19 - 2.1.37 queue the background task itself, as JSON.
    (!text.trim().is_empty() && !text.starts_with("{\"task_id\":")).then_some(text)
}

/// Name and arguments of a slash command. A path is not one.
fn command(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let (name, args) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    let bare = name.strip_prefix('/')?;
    (!bare.is_empty() && bare.chars().all(is_name)).then_some((name, args.trim()))
}

/// Restores the prompts that are only in the queue. A prompt that the user took back stays folded.
pub(super) fn deliver(drafts: &mut [Draft]) {
    let mut waiting: VecDeque<Option<usize>> = VecDeque::new();
    let mut unseen = Vec::new();
    // If the log has attachments, a prompt that was only removed was taken back.
    let tells_deliveries = drafts.iter().any(|draft| draft.hint.row.starts_with("attachment/"));
    let mut joined = None;
    for (at, draft) in drafts.iter().enumerate() {
        match draft.hint.rule() {
            // The prompt of the record that has just joined the queue.
            Some(Rule::Queued(_)) if joined == Some(&draft.event.raw) => {
                waiting.pop_back();
                waiting.push_back(Some(at));
            }
            // A repeat of an earlier record.
            Some(Rule::Queue(_)) if draft.hint.fold_only => {}
            Some(Rule::Queue(Step::Enqueue)) => {
                joined = Some(&draft.event.raw);
                waiting.push_back(None);
            }
            Some(Rule::Queue(Step::Dequeue)) => drop(waiting.pop_front()),
            Some(Rule::Queue(Step::Remove(print))) => {
                let taken = take(&mut waiting, *print, drafts);
                unseen.extend(taken.filter(|_| !tells_deliveries));
            }
            Some(Rule::Queue(Step::Clear)) => waiting.clear(),
            _ => {}
        }
    }
    unseen.extend(waiting.into_iter().flatten());
    if unseen.is_empty() {
        return;
    }
    let said: HashSet<u64> = drafts
        .iter()
        .filter_map(|draft| match draft.hint.rule() {
            Some(Rule::Prompt(print) | Rule::Said(print)) => Some(*print),
            _ => None,
        })
        .collect();
    for at in unseen {
        if let Some(draft) = drafts.get_mut(at)
            && let Some(Rule::Queued(print)) = draft.hint.rule()
            && !said.contains(print)
        {
            draft.hint.fold_only = false;
        }
    }
}

/// Takes the entry with this text out of the queue, or its first.
fn take(waiting: &mut VecDeque<Option<usize>>, print: Option<u64>, drafts: &[Draft]) -> Option<usize> {
    let has_words = |at: &Option<usize>| {
        let rule = at.and_then(|at| drafts.get(at)).and_then(|draft| draft.hint.rule());
        matches!((rule, print), (Some(Rule::Queued(words)), Some(print)) if *words == print)
    };
    let at = waiting.iter().position(has_words).unwrap_or(0);
    waiting.remove(at).flatten()
}
