//! Finds the answers of calls in the output of a script.

use serde_json::Value as Tree;

use super::{Part, Piece, Print, Shape, Told};

/// The parts of a call's answer that the output shows.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub output: Option<String>,
    pub exit_code: Option<i64>,
    /// True if the call was made and did not throw.
    pub answered: bool,
}

/// The answers of the script's calls, as far as the printed `texts` show them.
pub(crate) fn seen(prints: &[Print], texts: &[&str], calls: usize) -> Vec<Seen> {
    let mut seen = vec![Seen::default(); calls];
    for (print, text) in prints.iter().zip(texts) {
        match print {
            Print::Text(pieces) => match_text(pieces, text, &mut seen),
            Print::Json(shape) => match_json(shape, text, &mut seen),
            Print::Any => {}
            // Anything after this may be at any position.
            Print::Maybe => break,
        }
    }
    seen
}

fn note(told: &Told, text: &str, seen: &mut [Seen]) {
    let Some(slot) = seen.get_mut(told.call) else { return };
    slot.answered = true;
    match told.part {
        Some(Part::Output) => slot.output = Some(text.to_owned()),
        Some(Part::Exit) => slot.exit_code = text.trim().parse().ok().or(slot.exit_code),
        Some(Part::Other) => {}
        None => match serde_json::from_str::<Tree>(text) {
            Ok(tree @ Tree::Object(_)) => note_answer(&tree, slot),
            // A tool may answer with a string.
            _ if text != "[object Object]" => slot.output = Some(text.to_owned()),
            _ => {}
        },
    }
}

/// Reads the answer of a command: `{"chunk_id": …, "exit_code": 0, "output": …}`.
fn note_answer(tree: &Tree, slot: &mut Seen) {
    slot.answered = true;
    if let Some(output) = tree.get("output").and_then(Tree::as_str) {
        slot.output = Some(output.to_owned());
    }
    slot.exit_code = tree.get("exit_code").and_then(Tree::as_i64).or(slot.exit_code);
}

/// Matches a text against its pieces. Literal words between two values end the first value. If the
/// same words occur in the value as well, the split is ambiguous and nothing is recorded.
fn match_text(pieces: &[Piece], text: &str, seen: &mut [Seen]) {
    let mut found: Vec<(&Piece, &str)> = Vec::new();
    let mut rest = text;
    let mut open: Option<&Piece> = None;
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Words(words) = piece else {
            if open.replace(piece).is_some() {
                return;
            }
            continue;
        };
        let is_last = at + 1 == pieces.len();
        let place = match (open, is_last) {
            (None, _) => rest.starts_with(words.as_str()).then_some(0),
            (Some(_), true) => rest.len().checked_sub(words.len()).filter(|_| rest.ends_with(words.as_str())),
            (Some(_), false) => {
                rest.find(words.as_str()).filter(|first| rest.rfind(words.as_str()) == Some(*first))
            }
        };
        let Some(place) = place else { return };
        let (value, after) = rest.split_at(place);
        if let Some(open) = open.take() {
            found.push((open, value));
        }
        rest = after.get(words.len()..).unwrap_or_default();
    }
    match open {
        Some(open) => found.push((open, rest)),
        None if !rest.trim().is_empty() => return,
        None => {}
    }
    for (piece, value) in found {
        match piece {
            Piece::Told(told) => note(told, value, seen),
            Piece::Json(shape) => match_json(shape, value, seen),
            Piece::Words(_) | Piece::Any => {}
        }
    }
}

fn match_json(shape: &Shape, text: &str, seen: &mut [Seen]) {
    if let Ok(tree) = serde_json::from_str::<Tree>(text) {
        match_tree(shape, &tree, seen);
    }
}

fn match_tree(shape: &Shape, tree: &Tree, seen: &mut [Seen]) {
    match (shape, tree) {
        (Shape::Told(told), tree) => match (told.part, tree) {
            (None, Tree::Object(fields)) => {
                // `allSettled`: the answer is in `value`.
                let inner = fields.get("value").filter(|_| fields.contains_key("status"));
                if fields.get("status").and_then(Tree::as_str) != Some("rejected")
                    && let Some(slot) = seen.get_mut(told.call)
                {
                    note_answer(inner.unwrap_or(tree), slot);
                }
            }
            (_, Tree::String(text)) => note(told, text, seen),
            (_, Tree::Number(number)) => note(told, &number.to_string(), seen),
            _ => {}
        },
        (Shape::Each(shapes), Tree::Array(trees)) => {
            shapes.iter().zip(trees).for_each(|(shape, tree)| match_tree(shape, tree, seen));
        }
        (Shape::Fields(shapes), Tree::Object(fields)) => {
            for (name, shape) in shapes {
                if let Some(tree) = fields.get(name) {
                    match_tree(shape, tree, seen);
                }
            }
        }
        _ => {}
    }
}
