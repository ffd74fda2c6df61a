//! Questions about made turns, one list for each kind of query.

use retro_model::PieceKind;

use super::turns::{Chance, TURNS_A_SESSION, passage, project_of, session_of, starts_at, word};

/// How the words of a question belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    /// Any of them.
    Any,
    /// All of them.
    All,
    /// One after the other.
    Phrase,
}

/// Where it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Where {
    Everywhere,
    Session(usize),
    Project(String),
    /// From and before, in milliseconds.
    Between(i64, i64),
}

/// A question, for us and for others.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// As a person types it.
    pub(super) text: String,
    /// The words in it that say something.
    pub(super) words: Vec<String>,
    pub(super) joined: Joined,
    pub(super) place: Where,
}

/// Every kind of query, with its name.
pub(super) const KINDS: [(&str, Make); 8] = [
    ("rare word", rare),
    ("AND of two", and),
    ("OR of five", or),
    ("question", question),
    ("phrase of three", phrase),
    ("question, one session", in_session),
    ("question, one project", in_project),
    ("question, one month", in_month),
];

type Make = fn(&mut Chance, usize) -> Question;

/// The `count` questions of a kind about `turns` turns.
pub(super) fn list(make: Make, turns: usize, count: usize) -> Vec<Question> {
    let mut chance = Chance::new(0x5EED);
    (0..count).map(|_| make(&mut chance, turns)).collect()
}

/// Words of the prompt of any turn.
fn prompt(chance: &mut Chance, turns: usize) -> Vec<String> {
    let found = (0..100).find_map(|_| {
        let passage = passage(chance.below(turns as u64) as usize, 0);
        let piece = passage.pieces.iter().find(|piece| piece.kind == PieceKind::User)?;
        let is_word = |word: &&str| word.len() > 3 && word.chars().all(|letter| letter.is_ascii_lowercase());
        let words: Vec<String> = piece.text.split([' ', '.']).filter(is_word).map(str::to_owned).collect();
        (words.len() >= 12).then_some(words)
    });
    found.unwrap_or_default()
}

fn some(chance: &mut Chance, turns: usize, count: usize) -> Vec<String> {
    let words = prompt(chance, turns);
    let step = words.len() / count.max(1);
    words.into_iter().step_by(step.max(1)).take(count).collect()
}

fn rare(chance: &mut Chance, turns: usize) -> Question {
    let passage = passage(chance.below(turns as u64) as usize, 0);
    let command = passage.pieces.iter().find(|piece| piece.kind == PieceKind::Command);
    let name = command.and_then(|piece| piece.text.rsplit(' ').next()).unwrap_or("none").to_owned();
    Question { text: name.clone(), words: vec![name], joined: Joined::Phrase, place: Where::Everywhere }
}

fn and(chance: &mut Chance, turns: usize) -> Question {
    let words = some(chance, turns, 2);
    let text = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" ");
    Question { text, words, joined: Joined::All, place: Where::Everywhere }
}

fn or(chance: &mut Chance, _: usize) -> Question {
    let words: Vec<String> = (0..5).map(|_| word(200 + chance.below(20_000) as usize)).collect();
    Question { text: words.join(" "), words, joined: Joined::Any, place: Where::Everywhere }
}

fn question(chance: &mut Chance, turns: usize) -> Question {
    let words = some(chance, turns, 4);
    let get = |at: usize| words.get(at).map_or("", String::as_str);
    let text = format!("why did the {} of {} {} when it was {}", get(0), get(1), get(2), get(3));
    Question { text, words, joined: Joined::Any, place: Where::Everywhere }
}

fn phrase(chance: &mut Chance, turns: usize) -> Question {
    let found = (0..100).find_map(|_| {
        let passage = passage(chance.below(turns as u64) as usize, 0);
        let words: Vec<&str> = passage.pieces.first()?.text.split(' ').collect();
        let three = words.windows(3).find(|three| {
            three.iter().all(|word| word.len() > 3 && word.chars().all(|letter| letter.is_ascii_lowercase()))
        })?;
        Some(three.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    });
    let words = found.unwrap_or_default();
    let text = format!("\"{}\"", words.join(" "));
    Question { text, words, joined: Joined::Phrase, place: Where::Everywhere }
}

fn in_session(chance: &mut Chance, turns: usize) -> Question {
    let session = session_of(chance.below(turns as u64) as usize);
    let (from, to) = (session * TURNS_A_SESSION, ((session + 1) * TURNS_A_SESSION).min(turns));
    let words = (from..to).map(|number| passage(number, 0)).find_map(|passage| {
        let words: Vec<String> = passage.pieces.first()?.text.split([' ', '.']).map(str::to_owned).collect();
        (words.len() > 8).then_some(words)
    });
    let mut words = words.unwrap_or_default();
    words.retain(|word| word.len() > 3);
    words.truncate(4);
    let text = format!("where did we {}", words.join(" "));
    Question { text, words, joined: Joined::Any, place: Where::Session(session) }
}

fn in_project(chance: &mut Chance, turns: usize) -> Question {
    let project = project_of(session_of(chance.below(turns as u64) as usize));
    Question { place: Where::Project(project), ..question(chance, turns) }
}

fn in_month(chance: &mut Chance, turns: usize) -> Question {
    const MONTH_MS: i64 = 30 * 86_400_000;
    let from = starts_at(session_of(chance.below(turns as u64) as usize));
    Question { place: Where::Between(from, from + MONTH_MS), ..question(chance, turns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_words_and_is_the_same_every_time() {
        for (name, make) in KINDS {
            let (first, second) = (list(make, 3_000, 5), list(make, 3_000, 5));
            for (a, b) in first.iter().zip(&second) {
                assert!(!a.words.is_empty() && a.text == b.text && a.place == b.place, "{name}: {a:?}");
            }
        }
    }
}
