//! Splits text into the terms of indexes and queries.
//!
//! A word is a run of letters, digits and `_`. A compound one, such as `getUserName` or
//! `snake_case`, produces itself and each of its parts, so that both the exact name and its words
//! match. English words are stemmed, and the most common are left out. Accents are removed, and
//! Han, kana and Hangul produce characters and pairs of them.

use hashbrown::HashMap;
use rust_stemmers::{Algorithm, Stemmer};
use smol_str::SmolStr;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// A longer word is a blob in some encoding, not a word.
const WORD_BYTES_MAX: usize = 128;

/// A word with more parts is a hash or a key. Only the whole word is indexed.
const PARTS_MAX: usize = 8;

/// Maximum cached stems.
const STEMS_MAX: usize = 32 * 1024;

/// Words too common to search for, sorted.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "but", "by", "can", "could", "did", "do", "does", "doing", "for",
    "from", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if",
    "in", "into", "is", "it", "its", "just", "me", "more", "most", "my", "no", "nor", "not", "of", "on",
    "once", "or", "our", "out", "over", "own", "she", "should", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under",
    "until", "up", "very", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom",
    "why", "will", "with", "would", "you", "your",
];

/// One term and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term<'a> {
    /// The term, as indexed.
    pub text: &'a str,
    /// Its position among the words of the text. A whole word and its first part share one.
    pub position: u32,
    /// Byte offset of its source in the text.
    pub start: usize,
    /// The end of its source, exclusive.
    pub end: usize,
    /// True for the whole of a compound word.
    pub is_compound: bool,
}

/// The tokenizer. It caches stems, so reuse it for many texts.
#[derive(Clone)]
pub struct Words {
    stems: HashMap<SmolStr, SmolStr>,
    lower: String,
}

impl Default for Words {
    fn default() -> Self {
        Words { stems: HashMap::new(), lower: String::new() }
    }
}

impl Words {
    /// Passes every term of a text to `take`, in order, and returns their number.
    pub fn each(&mut self, text: &str, mut take: impl FnMut(Term<'_>)) -> u32 {
        let mut count = 0;
        let mut position = 0;
        let mut counted = |term: Term<'_>| {
            count += 1;
            take(term);
        };
        let runs = Runs { text, at: 0 };
        for run in runs {
            match run.script {
                Script::Alphabet => self.word(text, run, &mut position, &mut counted),
                Script::Signs => self.signs(text, run, &mut position, &mut counted),
            }
        }
        count
    }

    /// The distinct terms of a text, in order of first occurrence.
    pub fn distinct(&mut self, text: &str) -> Vec<String> {
        let mut terms: Vec<String> = Vec::new();
        self.each(text, |term| {
            if !terms.iter().any(|known| known == term.text) {
                terms.push(term.text.to_owned());
            }
        });
        terms
    }

    fn word(&mut self, text: &str, run: Run, position: &mut u32, take: &mut impl FnMut(Term<'_>)) {
        let word = &text[run.start..run.end];
        if word.len() > WORD_BYTES_MAX {
            *position += 1;
            return;
        }
        let mut parts = [(0, 0); PARTS_MAX];
        let count = split(word, &mut parts);
        let whole = Place { position: *position, start: run.start, end: run.end };
        if count > PARTS_MAX {
            self.emit_whole(word, whole, true, take);
            *position += 1;
            return;
        }
        let parts = parts.get(..count).unwrap_or_default();
        if let [(from, to)] = *parts {
            let place = Place { position: *position, start: run.start + from, end: run.start + to };
            self.emit(&word[from..to], place, take);
            *position += 1;
            return;
        }
        if count > 1 {
            self.emit_whole(word, whole, true, take);
        }
        for &(from, to) in parts {
            let part = &word[from..to];
            if part.chars().nth(1).is_some() {
                let place = Place { position: *position, start: run.start + from, end: run.start + to };
                self.emit(part, place, take);
            }
            *position += 1;
        }
    }

    /// A word in a script without spaces: emits every character, and every pair.
    fn signs(&mut self, text: &str, run: Run, position: &mut u32, take: &mut impl FnMut(Term<'_>)) {
        let run_text = &text[run.start..run.end];
        let mut before: Option<usize> = None;
        for (at, sign) in run_text.char_indices() {
            let end = at + sign.len_utf8();
            if let Some(start) = before {
                let place = Place {
                    position: position.saturating_sub(1),
                    start: run.start + start,
                    end: run.start + end,
                };
                self.emit_whole(&run_text[start..end], place, false, take);
            }
            let place = Place { position: *position, start: run.start + at, end: run.start + end };
            self.emit_whole(&run_text[at..end], place, false, take);
            before = Some(at);
            *position += 1;
        }
    }

    /// Emits a word in lower case.
    fn emit_whole(&mut self, word: &str, at: Place, is_compound: bool, take: &mut impl FnMut(Term<'_>)) {
        fold(word, &mut self.lower);
        take(Term { text: &self.lower, position: at.position, start: at.start, end: at.end, is_compound });
    }

    /// Emits the stem of a word, unless it is a stop word.
    fn emit(&mut self, word: &str, at: Place, take: &mut impl FnMut(Term<'_>)) {
        fold(word, &mut self.lower);
        if STOP_WORDS.binary_search(&self.lower.as_str()).is_ok() {
            return;
        }
        if self.stems.len() >= STEMS_MAX {
            self.stems.clear();
        }
        let text = match self.stems.get(self.lower.as_str()) {
            Some(stem) => stem,
            None => {
                let stem = Stemmer::create(Algorithm::English).stem(&self.lower).into_owned();
                self.stems.entry(SmolStr::new(&self.lower)).or_insert(stem.into())
            }
        };
        take(Term { text, position: at.position, start: at.start, end: at.end, is_compound: false });
    }
}

#[derive(Clone, Copy)]
struct Place {
    position: u32,
    start: usize,
    end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Alphabet,
    /// Han, kana, Hangul, written without spaces.
    Signs,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
    script: Script,
}

/// Runs of word characters of one script.
struct Runs<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let mut open: Option<Run> = None;
        let rest = self.text.get(self.at..)?;
        for (offset, c) in rest.char_indices() {
            let start = self.at + offset;
            let end = start + c.len_utf8();
            let script = script(c);
            match (&mut open, script) {
                (None, None) => {}
                (None, Some(script)) => open = Some(Run { start, end, script }),
                (Some(run), Some(script)) if run.script == script => run.end = end,
                // A separate combining accent belongs to the letter before it.
                (Some(run), None) if !c.is_ascii() && is_combining_mark(c) => run.end = end,
                (Some(run), _) => {
                    self.at = start;
                    return Some(*run);
                }
            }
        }
        self.at = self.text.len();
        open
    }
}

fn script(c: char) -> Option<Script> {
    if c.is_ascii() {
        return (c.is_ascii_alphanumeric() || c == '_').then_some(Script::Alphabet);
    }
    let is_sign = matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    if is_sign { Some(Script::Signs) } else { c.is_alphanumeric().then_some(Script::Alphabet) }
}

/// True for a word that is too common to search for.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word.to_ascii_lowercase().as_str()).is_ok()
}

/// True for a single Han, kana or Hangul character.
pub(crate) fn is_one_sign(word: &str) -> bool {
    let mut signs = word.chars();
    signs.next().is_some_and(|sign| script(sign) == Some(Script::Signs)) && signs.next().is_none()
}

/// True for Han and kana, scripts without spaces between words.
pub(crate) fn is_unspaced(sign: char) -> bool {
    matches!(sign, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// Writes a word in lower case without accents.
fn fold(word: &str, into: &mut String) {
    into.clear();
    if word.is_ascii() {
        into.push_str(word);
        into.make_ascii_lowercase();
    } else {
        let letters = word.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
        letters.for_each(|letter| match letter {
            'ß' => into.push_str("ss"),
            'æ' => into.push_str("ae"),
            'œ' => into.push_str("oe"),
            'ø' => into.push('o'),
            'ł' => into.push('l'),
            'đ' => into.push('d'),
            'ı' => into.push('i'),
            letter => into.push(letter),
        });
    }
    if into.is_empty() {
        into.push_str(word);
    }
}

/// Splits a word at `_`, between letters and digits, and at capitals that begin a new part. Returns
/// the number of parts. Only the first [`PARTS_MAX`] are written.
fn split(word: &str, parts: &mut [(usize, usize); PARTS_MAX]) -> usize {
    let mut count = 0;
    let mut start = 0;
    let mut before = Class::Gap;
    let mut close = |from: usize, to: usize| {
        if from < to {
            if let Some(part) = parts.get_mut(count) {
                *part = (from, to);
            }
            count += 1;
        }
    };
    let mut chars = word.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let class = Class::of(c);
        let is_new = match (before, class) {
            (Class::Lower | Class::Digit, Class::Upper) => true,
            (Class::Upper, Class::Upper) => {
                chars.peek().is_some_and(|(_, next)| Class::of(*next) == Class::Lower)
            }
            (Class::Digit, Class::Lower) | (Class::Lower | Class::Upper, Class::Digit) => true,
            (Class::Gap, _) | (_, Class::Gap) => true,
            _ => false,
        };
        if is_new {
            close(start, at);
            start = if class == Class::Gap { at + c.len_utf8() } else { at };
        }
        before = class;
    }
    close(start, word.len());
    count
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Gap,
}

impl Class {
    fn of(c: char) -> Class {
        match c {
            '_' => Class::Gap,
            'A'..='Z' => Class::Upper,
            c if c.is_numeric() => Class::Digit,
            c if !c.is_ascii() && c.is_uppercase() => Class::Upper,
            _ => Class::Lower,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> String {
        let mut all = Vec::new();
        Words::default().each(text, |term| all.push(format!("{}@{}", term.text, term.position)));
        all.join(" ")
    }

    #[test]
    fn a_name_of_several_words_gives_itself_and_each_of_them() {
        assert_eq!(terms("getUserName"), "getusername@0 get@0 user@1 name@2");
        assert_eq!(terms("snake_case"), "snake_case@0 snake@0 case@1");
        assert_eq!(terms("parseHTTPRequest x"), "parsehttprequest@0 pars@0 http@1 request@2 x@3");
        assert_eq!(terms("E0308"), "e0308@0 0308@1");
        assert_eq!(terms("__init__"), "init@0");
    }

    #[test]
    fn paths_and_dotted_names_are_words() {
        assert_eq!(terms("src/cart.rs:42"), "src@0 cart@1 rs@2 42@3");
    }

    #[test]
    fn english_is_stemmed_and_common_words_keep_their_place() {
        assert_eq!(terms("Why were the tests failing?"), "test@3 fail@4");
    }

    #[test]
    fn accents_do_not_matter() {
        assert_eq!(terms("Café"), terms("cafe"));
        assert_eq!(terms("Cafe\u{301}s"), terms("cafes"));
        assert_eq!(terms("ﬁle ＡＢＣ"), terms("file ABC"));
        assert_eq!(terms("Straße Cœur ØRE"), terms("strasse coeur ore"));
    }

    #[test]
    fn signs_give_characters_and_pairs() {
        assert_eq!(terms("日本語"), "日@0 日本@0 本@1 本語@1 語@2");
        assert_eq!(terms("テスト fails"), "テ@0 テス@0 ス@1 スト@1 ト@2 fail@3");
    }

    #[test]
    fn a_blob_is_no_word_and_a_hash_is_one() {
        assert_eq!(terms(&"x".repeat(WORD_BYTES_MAX + 1)), "");
        assert_eq!(terms("a1b2c3d4e5f6a7b8"), "a1b2c3d4e5f6a7b8@0");
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_cut_within_its_bounds(text in "\\PC*") {
            Words::default().each(&text, |term| {
                assert!(term.start < term.end && text.get(term.start..term.end).is_some());
                assert!(!term.text.is_empty());
            });
        }
    }
}
