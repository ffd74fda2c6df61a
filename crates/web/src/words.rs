//! The words of all turns, in shards that the page can search from disk.
//!
//! A shard maps words to turns. A query loads one shard per word, and never reads the text of
//! transcripts. Shards belong to segments. The changes since the last build form a small new
//! segment, and a turn counts only in the segment to which its session was last written. Too many
//! segments are merged into one.
//!
//! A word is a run of letters and digits, in lower case; `_` joins. The parts of a word with `_`
//! are words too. Ideographs and kana are indexed in pairs. The page splits queries the same way.
//! The examples in `page/tests/words.json` keep both in agreement.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Indexed characters of a word.
const WORD_CHARS_MAX: usize = 40;

/// The words of one turn.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Its line of work.
    pub line: usize,
    /// Its number on that line.
    pub n: u32,
    /// The event that opens it.
    pub id: String,
    /// The number of occurrences of each word.
    pub words: HashMap<String, u32>,
}

/// Cuts a text into words.
pub fn words(text: &str, take: &mut impl FnMut(&str)) {
    let mut word = String::new();
    let mut pair: Option<char> = None;
    for character in text.chars().chain([' ']) {
        if is_ideograph(character) {
            end(&mut word, take);
            word.extend(pair);
            word.push(character);
            take(&word);
            word.clear();
            pair = Some(character);
            continue;
        }
        pair = None;
        if character.is_ascii_alphanumeric() || character == '_' {
            word.push(character.to_ascii_lowercase());
        } else if !character.is_ascii() && character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        } else {
            end(&mut word, take);
        }
    }
}

fn end(word: &mut String, take: &mut impl FnMut(&str)) {
    if word.is_empty() {
        return;
    }
    let whole = word.trim_matches('_');
    if whole.contains('_') {
        whole.split('_').filter(|part| !part.is_empty()).for_each(|part| take(cut(part)));
    }
    if !whole.is_empty() {
        take(cut(whole));
    }
    word.clear();
}

fn cut(word: &str) -> &str {
    if word.len() <= WORD_CHARS_MAX {
        return word;
    }
    let end = word.char_indices().nth(WORD_CHARS_MAX).map_or(word.len(), |(end, _)| end);
    word.get(..end).unwrap_or(word)
}

fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// The shard of a word, out of `shards`.
pub fn shard(word: &str, shards: u32) -> u32 {
    // FNV-1a, because the page needs the same function and it is short.
    let mut hash: u32 = 0x811c_9dc5;
    for byte in word.as_bytes() {
        hash ^= u32::from(*byte);
        hash = hash.wrapping_mul(0x0100_0193);
    }
    hash % shards.max(1)
}

/// The turns of a segment: the session of each, and the event that opens it.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    /// Names of sessions.
    pub sessions: Vec<String>,
    /// For each turn, its session.
    pub session: Vec<u32>,
    /// For each turn, its number in its line.
    pub n: Vec<u32>,
    /// For each turn, its line of work.
    pub line: Vec<u32>,
    /// For each turn, its number of words.
    pub length: Vec<u32>,
    /// For each turn, the event that opens it.
    pub id: Vec<String>,
}

/// A shard: word to `[turn, count, turn, count, …]`, turns as differences.
pub type Shard = BTreeMap<String, Vec<u32>>;

/// A segment under construction.
#[derive(Default)]
pub struct Segment {
    turns: Turns,
    /// For each word, the last turn with it, and its list.
    words: HashMap<String, (u32, Vec<u32>)>,
    postings: usize,
}

impl Segment {
    /// Adds the turns of a session.
    pub fn add(&mut self, name: &str, turns: &[Turn]) {
        for turn in turns {
            let at = self.open_turn(name, turn.n, turn.line as u32, &turn.id);
            for (word, count) in &turn.words {
                self.post(word, at, *count);
            }
            if let Some(length) = self.turns.length.last_mut() {
                *length = turn.words.values().sum();
            }
        }
    }

    /// Adds another segment, except for sessions that are no longer in it.
    pub fn add_segment(&mut self, turns: &Turns, shards: &[Shard], is_current: impl Fn(&str) -> bool) {
        let mut numbers = Vec::with_capacity(turns.session.len());
        for at in 0..turns.session.len() {
            let session = turns.session.get(at).and_then(|number| turns.sessions.get(*number as usize));
            let parts = (turns.n.get(at), turns.line.get(at), turns.id.get(at), turns.length.get(at));
            let (Some(session), (Some(n), Some(line), Some(id), Some(length))) = (session, parts) else {
                continue;
            };
            if !is_current(session) {
                numbers.push(None);
                continue;
            }
            numbers.push(Some(self.open_turn(session, *n, *line, id)));
            if let Some(last) = self.turns.length.last_mut() {
                *last = *length;
            }
        }
        for (word, list) in shards.iter().flatten() {
            let mut at = 0u32;
            for pair in list.chunks_exact(2) {
                let [step, count] = pair else { continue };
                at = at.saturating_add(*step);
                if let Some(Some(number)) = numbers.get(at as usize) {
                    self.post(word, *number, *count);
                }
            }
        }
    }

    fn open_turn(&mut self, session: &str, n: u32, line: u32, id: &str) -> u32 {
        if self.turns.sessions.last().is_none_or(|last| last != session) {
            self.turns.sessions.push(session.to_owned());
        }
        self.turns.session.push(self.turns.sessions.len() as u32 - 1);
        self.turns.n.push(n);
        self.turns.line.push(line);
        self.turns.id.push(id.to_owned());
        self.turns.length.push(0);
        self.turns.session.len() as u32 - 1
    }

    fn post(&mut self, word: &str, at: u32, count: u32) {
        self.postings += 1;
        let step = |last: u32| at.saturating_sub(last);
        match self.words.get_mut(word) {
            Some((last, list)) => {
                list.extend([step(*last), count]);
                *last = at;
            }
            None => {
                self.words.insert(word.to_owned(), (at, vec![at, count]));
            }
        }
    }

    /// True if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.turns.session.is_empty()
    }

    /// Splits the segment into shards.
    pub fn finish(self) -> (Turns, Vec<Shard>) {
        let count = shards_for(self.postings);
        let mut shards: Vec<Shard> = (0..count).map(|_| Shard::new()).collect();
        for (word, (_, list)) in self.words {
            if let Some(shard) = shards.get_mut(shard(&word, count) as usize) {
                shard.insert(word, list);
            }
        }
        (self.turns, shards)
    }
}

/// The number of shards for a segment of this many postings.
pub fn shards_for(postings: usize) -> u32 {
    match postings {
        0..=20_000 => 8,
        20_001..=400_000 => 128,
        400_001..=4_000_000 => 512,
        _ => 4_096,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_up(text: &str) -> Vec<String> {
        let mut list = Vec::new();
        words(text, &mut |word| list.push(word.to_owned()));
        list
    }

    #[test]
    fn the_examples_that_the_page_shares_hold() {
        let examples: Vec<(String, Vec<String>)> =
            serde_json::from_str(include_str!("../page/tests/words.json")).unwrap();
        assert!(examples.len() > 8);
        for (text, expected) in examples {
            assert_eq!(cut_up(&text), expected, "{text}");
        }
    }

    fn turn(n: u32, text: &str) -> Turn {
        let mut found = HashMap::new();
        words(text, &mut |word| *found.entry_ref(word).or_default() += 1);
        Turn { line: 0, n, id: format!("m:{n}"), words: found }
    }

    #[test]
    fn a_word_is_found_in_its_shard() {
        let mut segment = Segment::default();
        segment.add("s/a", &[turn(1, "vat vat"), turn(2, "no"), turn(3, "vat")]);
        let (turns, shards) = segment.finish();
        let found = &shards[shard("vat", shards.len() as u32) as usize]["vat"];
        assert_eq!(found, &[0, 2, 2, 1]);
        assert_eq!((turns.n, turns.length), (vec![1, 2, 3], vec![2, 1, 1]));
    }

    #[test]
    fn segments_become_one_without_what_was_replaced() {
        let made = |sessions: &[(&str, &[Turn])]| {
            let mut segment = Segment::default();
            sessions.iter().for_each(|(name, turns)| segment.add(name, turns));
            segment.finish()
        };
        let old = made(&[("a", &[turn(1, "red")]), ("b", &[turn(1, "blue"), turn(2, "red")])]);
        let new = made(&[("a", &[turn(1, "green red")])]);
        let mut joined = Segment::default();
        joined.add_segment(&old.0, &old.1, |name| name == "b");
        joined.add_segment(&new.0, &new.1, |_| true);
        let expected = made(&[("b", &[turn(1, "blue"), turn(2, "red")]), ("a", &[turn(1, "green red")])]);
        assert_eq!(joined.finish(), expected);
    }
}
