//! Features of a sentence, independent of project-specific words: pronouns, "all" and "only",
//! negations, words for a moment, a failure or a wish, and common subjects of rules. The classes
//! are the same in every language (`signs.json`), so weights learned in one language apply to the
//! others.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hashbrown::HashMap;
use regex::Regex;
use retro_text::tongue::{is_english, words};

use super::{shape, tongues};

/// Classes of a language, with their words: `word`, `two words`, `stem*`.
type Table = BTreeMap<String, BTreeMap<String, String>>;

/// Words of one language, by class.
struct Language {
    code: String,
    spaced: bool,
    exact: HashMap<String, Vec<&'static str>>,
    stems: Vec<(String, &'static str)>,
    phrases: Vec<(String, &'static str)>,
}

/// The classes, in the order of feature names.
const CLASSES: &[&str] = &[
    "ack", "again", "all", "ask", "be", "ever", "except", "fail", "hold", "i", "lasting", "must", "neg",
    "norm", "now", "only", "order", "past", "task", "things", "this", "ui", "unit", "we", "wish", "you",
];
/// Classes that favour a rule if the sentence mentions no moment, failure or wish.
const CALM: &[&str] = &[
    "we", "all", "only", "ever", "neg", "must", "except", "order", "hold", "norm", "things", "unit", "be",
    "named", "plural", "det",
];
/// Classes that are stronger together.
const PAIRS: &[(&str, &str)] = &[
    ("we", "neg"),
    ("all", "must"),
    ("all", "neg"),
    ("all", "hold"),
    ("things", "hold"),
    ("things", "be"),
    ("only", "hold"),
    ("hold", "unit"),
    ("1:neg", "things"),
    ("1:task", "things"),
    ("1:task", "all"),
    ("must", "things"),
    ("neg", "must"),
    ("i", "must"),
    ("you", "neg"),
    ("we", "be"),
    ("we", "hold"),
];

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    // The file is compiled in, and a test parses it.
    let table: Table = serde_json::from_str(include_str!("signs.json")).unwrap_or_default();
    table.iter().map(|(code, classes)| Language::of(code, classes)).collect()
});

static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?:[\w.~-]+/[\w./~*-]*|`[^`]+`|\b\w+\.(?:md|json|ya?ml|toml|js|tsx?|py|rs|go|sql|sh|txt|csv|lock)\b|@\w+)",
    )
    .ok()
});
static CODE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\d{3,}|0x|\w+Error|Exception|^\s*at |[{};]\s*$|=>|\(\)").ok());
static PLURAL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[a-z-]{3,}[a-rt-z]s$").ok());
/// Words that end like a plural but are not.
const NO_PLURALS: &[&str] = &[
    "across",
    "always",
    "as",
    "besides",
    "does",
    "gets",
    "goes",
    "has",
    "his",
    "is",
    "its",
    "less",
    "lets",
    "looks",
    "makes",
    "needs",
    "perhaps",
    "plus",
    "results",
    "says",
    "seems",
    "sometimes",
    "takes",
    "thanks",
    "these",
    "things",
    "this",
    "those",
    "thus",
    "towards",
    "unless",
    "us",
    "was",
    "works",
    "yes",
];
static PAST: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\b[a-z-]{3,}ed\b").ok());

/// The features of a sentence, with their values.
pub(super) type Features = HashMap<String, f64>;

impl Language {
    fn of(code: &str, classes: &BTreeMap<String, String>) -> Language {
        let spaced = !matches!(code, "ja" | "ko" | "zh");
        let (mut exact, mut stems, mut phrases) =
            (HashMap::<String, Vec<&'static str>>::new(), Vec::new(), Vec::new());
        for (class, list) in classes {
            let Some(class) = CLASSES.iter().find(|known| *known == class) else { continue };
            for sign in list.split(',').map(str::trim).filter(|sign| !sign.is_empty()) {
                let sign = sign.to_lowercase();
                if !spaced {
                    phrases.push((sign, *class));
                } else if let Some(stem) = sign.strip_suffix('*').filter(|stem| !stem.contains(' ')) {
                    stems.push((stem.to_owned(), *class));
                } else {
                    let whole = words(&sign.replace('*', ""));
                    match whole.trim() {
                        "" => {}
                        one if !one.contains(' ') => exact.entry(one.to_owned()).or_default().push(class),
                        _ => phrases.push((whole, *class)),
                    }
                }
            }
        }
        Language { code: code.to_owned(), spaced, exact, stems, phrases }
    }

    /// The classes of a word.
    fn classes_of(&self, word: &str) -> Vec<&'static str> {
        let mut found: Vec<&'static str> = self.exact.get(word).cloned().unwrap_or_default();
        found
            .extend(self.stems.iter().filter(|(stem, _)| word.starts_with(stem.as_str())).map(|(_, of)| *of));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The number of occurrences of each class in a text.
    fn count(&self, text: &str) -> HashMap<&'static str, usize> {
        let mut counts: HashMap<&'static str, usize> = HashMap::new();
        if self.spaced {
            for class in text.split_whitespace().flat_map(|word| self.classes_of(word)) {
                *counts.entry(class).or_default() += 1;
            }
        }
        for (phrase, class) in &self.phrases {
            if text.contains(phrase.as_str()) {
                *counts.entry(class).or_default() += 1;
            }
        }
        counts
    }

    /// The classes of a sentence's beginning.
    fn first(&self, tokens: &[&str]) -> Vec<&'static str> {
        let Some(word) = tokens.first().filter(|_| self.spaced) else { return Vec::new() };
        let mut found = self.classes_of(word);
        let text = format!(" {} ", tokens.join(" "));
        let begins = self.phrases.iter().filter(|(phrase, _)| text.starts_with(phrase.as_str()));
        found.extend(begins.map(|(_, class)| *class));
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The language with most matching words, among those with the script of the sentence.
fn language(sentence: &str) -> Option<&'static Language> {
    let has = |low: char, high: char| sentence.chars().filter(|c| (low..=high).contains(c)).count();
    let letters = sentence.chars().filter(|c| c.is_alphabetic()).count().max(1);
    let codes: &[&str] = if has('\u{3040}', '\u{30ff}') > 0 {
        &["ja"]
    } else if has('\u{ac00}', '\u{d7af}') > 0 {
        &["ko"]
    } else if has('\u{3400}', '\u{9fff}') > 0 {
        &["zh"]
    } else if has('\u{0400}', '\u{052f}') * 3 > letters {
        &["ru", "uk"]
    } else if has('\u{0900}', '\u{097f}') * 3 > letters {
        &["hi"]
    } else if is_english(&words(sentence)) {
        &["en"]
    } else {
        &["en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "tr", "vi", "cs"]
    };
    let of = |code: &&str| LANGUAGES.iter().find(|language| language.code == **code);
    let mut best: Option<(&Language, usize)> = None;
    let text = words(sentence);
    for language in codes.iter().filter_map(of) {
        let hits = if codes.len() > 1 { language.count(&text).values().sum() } else { 0 };
        if best.is_none_or(|(_, most)| hits > most) {
            best = Some((language, hits));
        }
    }
    best.map(|(language, _)| language)
}

/// The features of a sentence in a message of this many characters.
pub(super) fn features(sentence: &str, message_chars: usize) -> Features {
    let mut found = Features::new();
    let Some(language) = language(sentence) else { return found };
    let text = if language.spaced { words(sentence) } else { sentence.to_lowercase() };
    let tokens: Vec<&str> = if language.spaced { text.split_whitespace().collect() } else { Vec::new() };
    let mut set = |name: &str| {
        found.insert(name.to_owned(), 1.0);
    };
    for (class, count) in language.count(&text) {
        set(class);
        if count > 1 {
            set(&format!("{class}+"));
        }
    }
    let mut head = tokens.as_slice();
    while let Some((_, rest)) = head.split_first().filter(|(_, rest)| rest.len() >= 2) {
        if !language.first(head).contains(&"ack") {
            break;
        }
        head = rest;
    }
    for class in language.first(head) {
        set(&format!("1:{class}"));
    }
    if language.code == "en" {
        let is_plural =
            |word: &&str| !NO_PLURALS.contains(word) && PLURAL.as_ref().is_some_and(|set| set.is_match(word));
        let opens = head
            .first()
            .is_some_and(|word| matches!(*word, "the" | "a" | "an" | "i" | "it" | "this" | "that"));
        if head.iter().take(if opens { 1 } else { 2 }).any(is_plural) {
            set("plural");
        }
        if head.first().is_some_and(|word| matches!(*word, "the" | "a" | "an")) {
            set("det");
        }
    }
    let is_match = |set: &LazyLock<Option<Regex>>| set.as_ref().is_some_and(|set| set.is_match(sentence));
    let asks = sentence.trim_end().ends_with(['?', '？', '؟']);
    let length = if language.spaced { tokens.len() } else { (sentence.chars().count() / 3).max(1) };
    let is_english = language.code == "en";
    for (name, holds) in [
        ("?", asks),
        ("!", sentence.trim_end().ends_with('!')),
        ("named", is_match(&NAMED)),
        ("code", is_match(&CODE)),
        ("len<=3", length <= 3),
        ("len<=6", (4..=6).contains(&length)),
        ("len>22", length > 22),
        ("len>35", length > 35),
        ("msg>300", message_chars > 300),
        ("msg>700", message_chars > 700),
        ("foreign", !is_english),
        ("ed", is_english && is_match(&PAST)),
    ] {
        if holds {
            set(name);
        }
    }
    if is_english {
        for (name, count) in shape::counts(sentence) {
            if count > 0 {
                found.insert(name.to_owned(), f64::from(count.min(2)));
            }
        }
    } else if let Some(shape) = tongues::shape(sentence).or_else(|| tongues::weak(sentence)) {
        found.insert("s:T".to_owned(), f64::from(shape.weight.min(4)) / 2.0);
    }
    combine(&mut found, asks);
    found.insert("b".to_owned(), 1.0);
    found
}

/// Whether a sentence says that it was said before.
pub(super) fn says_again(sentence: &str) -> bool {
    language(sentence).is_some_and(|language| {
        let text = if language.spaced { words(sentence) } else { sentence.to_lowercase() };
        language.count(&text).contains_key("again")
    })
}

/// Whether a text begins by ordering one task.
pub(super) fn begins_task(text: &str) -> bool {
    let Some(language) = language(text) else { return false };
    let all = words(text);
    let mut head: Vec<&str> = all.split_whitespace().collect();
    while head.len() > 2 && language.first(&head).contains(&"ack") {
        head.remove(0);
    }
    language.spaced && language.first(&head).contains(&"task")
}

/// Adds combined features of classes.
fn combine(found: &mut Features, asks: bool) {
    let moments = ["now", "past", "fail", "ask", "wish", "1:task", "1:i", "1:this"];
    if !asks && !moments.iter().any(|name| found.contains_key(*name)) {
        found.insert("calm".to_owned(), 1.0);
        for name in CALM.iter().filter(|name| found.contains_key(**name)).collect::<Vec<_>>() {
            found.insert(format!("calm&{name}"), 1.0);
        }
    }
    for (one, other) in PAIRS {
        if found.contains_key(*one) && found.contains_key(*other) {
            found.insert(format!("{one}&{other}"), 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_every_class() {
        let table: Table = serde_json::from_str(include_str!("signs.json")).unwrap();
        assert!(table.len() >= 18);
        for (code, classes) in &table {
            for class in CLASSES {
                assert!(classes.get(*class).is_some_and(|list| !list.is_empty()), "{code} {class}");
            }
            assert_eq!(classes.len(), CLASSES.len(), "{code}");
        }
    }

    #[test]
    fn classes_are_the_same_in_every_language() {
        for sentence in [
            "amounts are stored in cents",
            "Beträge liegen in Cent",
            "суммы хранятся в копейках",
            "金额用分存储",
        ] {
            let found = features(sentence, 30);
            for name in ["hold", "things", "unit", "calm"] {
                assert!(found.contains_key(name), "{sentence}: {name} {found:?}");
            }
        }
    }
}
