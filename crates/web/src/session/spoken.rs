//! The words of a turn that a search from disk finds: messages, commands, changes, and the
//! beginnings of outputs.

use hashbrown::HashMap;

use crate::words::{Turn, words};
use retro::views::session::item::Item;
use retro::views::session::turns::TurnHead;

/// Indexed bytes of one output.
const OUTPUT_BYTES: usize = 4_000;

/// Collects the words of a turn.
pub fn of_turn(items: &[Item], head: &TurnHead) -> Turn {
    let mut turn = Turn { line: head.line, n: head.n, id: head.id.clone(), words: HashMap::new() };
    items.iter().for_each(|item| take(item, &mut turn.words));
    turn
}

fn take(item: &Item, into: &mut HashMap<String, u32>) {
    let mut add = |text: &str| words(text, &mut |word| *into.entry_ref(word).or_default() += 1);
    match item {
        Item::Prompt { text, output, .. } => {
            add(text);
            output.iter().flat_map(|output| &output.lines).for_each(|line| add(&line.words()));
        }
        Item::Answer { body, .. } | Item::Plan { body, .. } | Item::Report { body, .. } => {
            body.iter().for_each(|node| leaves(node, &mut add));
        }
        Item::Call(call) => {
            add(&call.name);
            add(call.full.as_deref().unwrap_or(&call.what));
            add(&call.what);
            call.edits.iter().for_each(|edit| add(&edit.path));
            call.trouble.iter().for_each(|text| add(text));
            let shown = call.output.iter().flat_map(|output| &output.lines);
            let text = shown.map(|line| line.words()).collect::<Vec<_>>().join("\n");
            add(text.get(..floor(&text, OUTPUT_BYTES)).unwrap_or_default());
            for (_, row) in call.diffs.iter().flat_map(|file| &file.rows).filter(|(sign, _)| *sign != ' ') {
                add(row);
            }
        }
        Item::Run { items, .. } => items.iter().for_each(|item| take(item, into)),
        Item::Question { questions, reply, .. } => {
            questions.iter().for_each(|asked| {
                add(&asked.question);
                asked.answer.iter().for_each(|text| add(text));
            });
            reply.iter().for_each(|text| add(text));
        }
        Item::Mark { text, .. } => add(text),
        Item::Thought { .. } | Item::Note { .. } => {}
    }
}

fn leaves(node: &serde_json::Value, add: &mut impl FnMut(&str)) {
    match node {
        serde_json::Value::String(text) => add(text),
        serde_json::Value::Array(parts) => parts.iter().skip(1).for_each(|part| leaves(part, add)),
        _ => {}
    }
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
