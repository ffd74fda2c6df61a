//! The query language: words, "phrases", -not, and filters such as `agent:` and `file:`.
//!
//! Whatever is not understood is literal text, so no query is a syntax error.

mod dates;

use jiff::civil::Date;
use retro_model::Days;

use crate::passages::path_labels;
use crate::words::Words;

pub use dates::Named;

/// More different terms than this are not looked for: the rarest are.
pub(crate) const TERMS_MAX: usize = 24;

/// More different terms than this are not even counted.
const WANTED_MAX: usize = 256;

/// What names, paths and codes weigh against ordinary words.
const NAME_WEIGHT: f32 = 2.0;

/// One term of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// As it is kept in the index.
    pub term: String,
    /// As it stands in the query.
    pub word: String,
    /// What it counts beside the others.
    pub weight: f32,
}

/// Words that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// Terms with their places, the first at 0.
    pub terms: Vec<(u32, String)>,
    /// As it stands in the query.
    pub text: String,
    /// Whether it has to be in a command.
    pub only_commands: bool,
}

/// A query, understood.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Words to look for, any of them.
    pub wanted: Vec<Wanted>,
    /// What a turn must have.
    pub phrases: Vec<Phrase>,
    /// What a turn must not have.
    pub without: Vec<Phrase>,
    /// Labels that a turn must have: one of each list.
    pub labels: Vec<Vec<String>>,
    /// Agents to look in; all of them if none is named.
    pub agents: Vec<String>,
    /// Projects to look in.
    pub projects: Vec<String>,
    /// From this day on.
    pub since: Option<Date>,
    /// Up to and including this day.
    pub until: Option<Date>,
    /// The words that named those days, if they were part of the text.
    pub date_words: Option<String>,
    /// The text without operators: what its meaning is taken from.
    pub text: String,
    /// Names, paths and codes that count more where they stand exactly so.
    pub literals: Vec<String>,
}

impl Query {
    /// Understands a query, as of `today`.
    pub fn parse(text: &str, today: Date) -> Query {
        let mut query = Query::default();
        let mut plain: Vec<&str> = Vec::new();
        for token in tokens(text) {
            if !query.operator(&token, today) {
                plain.push(token.raw);
            }
        }
        let mut plain = plain.join(" ");
        if query.since.is_none()
            && query.until.is_none()
            && let Some(Named { days, words, rest }) = dates::find(&plain, today)
        {
            (query.since, query.until) = (Some(days.first), Some(days.last));
            query.date_words = Some(words);
            plain = rest;
        }
        query.want(&plain);
        query
    }

    /// Looks for every word of a text, whatever operators it seems to hold.
    pub fn literal(text: &str) -> Query {
        let mut query = Query::default();
        query.want(text);
        query
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.phrases.is_empty() && self.labels.is_empty() && self.text.is_empty()
    }

    /// The same query without the days that its words named.
    pub fn without_dates(&self, text: &str) -> Query {
        let mut query = Query { since: None, until: None, date_words: None, ..self.clone() };
        query.wanted.clear();
        query.literals.clear();
        query.text.clear();
        query.want(text);
        query
    }

    /// Whether every word is a name, a path or a code: then meaning says little.
    pub(crate) fn is_all_names(&self) -> bool {
        !self.wanted.is_empty() && self.wanted.iter().all(|wanted| wanted.weight > 1.0)
    }

    /// Takes a token that is an operator; false if it is plain text.
    fn operator(&mut self, token: &Token<'_>, today: Date) -> bool {
        if let Some(name) = token.key {
            return self.filter(name, &token.text, today);
        }
        if token.is_not {
            return phrase(&token.text).map(|phrase| self.without.push(phrase)).is_some();
        }
        if token.is_quoted {
            let Some(phrase) = phrase(&token.text) else { return false };
            self.phrases.push(phrase);
            self.want(&token.text);
            return true;
        }
        false
    }

    fn filter(&mut self, name: &str, value: &str, today: Date) -> bool {
        let value = value.trim();
        if value.is_empty() {
            return false;
        }
        let lower = value.to_lowercase();
        match name {
            "agent" => self.agents.push(lower),
            "project" => self.projects.push(lower),
            "tool" | "model" => self.labels.push(vec![format!("{name}:{lower}")]),
            "file" => self.labels.push(path_labels(value).last().into_iter().collect()),
            "is" if lower == "failed" => self.labels.push(vec!["is:failed".to_owned()]),
            "cmd" => match phrase(value) {
                Some(phrase) => self.phrases.push(Phrase { only_commands: true, ..phrase }),
                None => return false,
            },
            "after" | "before" => match Days::parse(value, today) {
                Ok(days) if name == "after" => self.since = Some(days.first),
                Ok(days) => self.until = days.first.yesterday().ok().or(Some(days.first)),
                Err(_) => return false,
            },
            _ => return false,
        }
        true
    }

    /// Adds the words of a text.
    fn want(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(text);
        let mut words = Words::default();
        for word in text.split_whitespace() {
            let is_name = is_name(word);
            if is_name {
                self.literals.push(word.trim_matches(|c: char| ",;!?()[]{}\"'`".contains(c)).to_owned());
            }
            words.each(word, |term| {
                let is_known = self.wanted.iter().any(|wanted| wanted.term == term.text);
                if !is_known && self.wanted.len() < WANTED_MAX {
                    let weight = if is_name { NAME_WEIGHT } else { 1.0 };
                    let word = word.get(term.start..term.end).unwrap_or(term.text).to_owned();
                    self.wanted.push(Wanted { term: term.text.to_owned(), word, weight });
                }
            });
        }
    }
}

/// Whether a word is a name from code, a path or an error code.
fn is_name(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '/');
    let mut chars = word.chars().peekable();
    let mut has_joint = false;
    let (mut has_letter, mut has_digit, mut has_hump) = (false, false, false);
    let mut before = ' ';
    while let Some(c) = chars.next() {
        has_joint |= matches!(c, '_' | '/' | '\\') || (matches!(c, '.' | ':') && chars.peek().is_some());
        has_letter |= c.is_alphabetic();
        has_digit |= c.is_ascii_digit();
        has_hump |= before.is_lowercase() && c.is_uppercase();
        before = c;
    }
    (has_letter || has_digit) && (has_joint || has_hump || (has_letter && has_digit))
}

impl Phrase {
    /// The words of a text as they follow each other; nothing if it has none.
    pub fn of(text: &str) -> Option<Phrase> {
        phrase(text)
    }
}

/// Terms of a phrase with their places; nothing if the text has none.
fn phrase(text: &str) -> Option<Phrase> {
    let mut terms: Vec<(u32, String)> = Vec::new();
    Words::default().each(text, |term| {
        // A name of several words is found by its words, wherever they stand together.
        if !term.is_compound {
            terms.push((term.position, term.text.to_owned()));
        }
    });
    if terms.is_empty() {
        Words::default().each(text, |term| terms.push((term.position, term.text.to_owned())));
    }
    let first = terms.first()?.0;
    terms.iter_mut().for_each(|(position, _)| *position -= first);
    Some(Phrase { terms, text: text.to_owned(), only_commands: false })
}

/// One token of a query.
struct Token<'a> {
    /// All of it.
    raw: &'a str,
    key: Option<&'a str>,
    text: String,
    is_not: bool,
    is_quoted: bool,
}

/// Names of filters.
const KEYS: &[&str] = &["after", "agent", "before", "cmd", "file", "is", "model", "project", "tool"];

/// Cuts a query at white space, but not inside quotation marks that are closed.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let mut body = rest;
        let is_not =
            body.starts_with('-') && body[1..].starts_with(|c: char| c == '"' || c.is_alphanumeric());
        if is_not {
            body = &body[1..];
        }
        let key = KEYS.iter().copied().find(|key| {
            body.strip_prefix(key)
                .and_then(|rest| rest.strip_prefix(':'))
                .is_some_and(|rest| !rest.is_empty())
        });
        let key = key.filter(|_| !is_not);
        if let Some(key) = key {
            body = &body[key.len() + 1..];
        }
        let quoted = body.strip_prefix('"').and_then(|inside| inside.split_once('"'));
        let (inside, after) = match quoted {
            Some((inside, after)) => (inside, after),
            None => body.split_at(body.find(char::is_whitespace).unwrap_or(body.len())),
        };
        let raw = &rest[..rest.len() - after.len()];
        tokens.push(Token { raw, key, text: inside.to_owned(), is_not, is_quoted: quoted.is_some() });
        rest = after.trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn parse(text: &str) -> Query {
        Query::parse(text, date(2026, 11, 17))
    }

    fn terms(query: &Query) -> Vec<&str> {
        query.wanted.iter().map(|wanted| wanted.term.as_str()).collect()
    }

    #[test]
    fn words_are_looked_for_by_their_stems() {
        let query = parse("why did the tests fail in CartTotal");
        assert_eq!(terms(&query), ["test", "fail", "carttotal", "cart", "total"]);
        assert_eq!(query.wanted[0].weight, 1.0);
        assert_eq!(query.wanted[2].weight, NAME_WEIGHT);
        assert_eq!(query.literals, ["CartTotal"]);
    }

    #[test]
    fn filters_and_phrases_are_taken_out() {
        let query = parse(
            r#"rounding "off by one" -draft agent:codex project:shop file:src/cart.rs cmd:"cargo test" tool:Bash is:failed"#,
        );
        assert_eq!(terms(&query), ["off", "one", "round"]);
        assert_eq!(query.phrases.len(), 2);
        assert_eq!(query.without[0].text, "draft");
        assert_eq!(
            (query.agents.as_slice(), query.projects.as_slice()),
            (["codex".to_owned()].as_slice(), ["shop".to_owned()].as_slice())
        );
        assert_eq!(query.labels, [vec!["file:src/cart.rs"], vec!["tool:bash"], vec!["is:failed"]]);
        assert!(query.phrases[1].only_commands);
    }

    #[test]
    fn what_is_no_operator_is_text() {
        for text in [
            "std::vec",
            "a:b",
            "file:",
            "-",
            "\"",
            "\"open",
            "is:strange",
            "before:whenever",
            "--flag",
            "-> x",
            "(",
            "AND OR",
        ] {
            let query = parse(text);
            assert!(query.labels.is_empty() && query.phrases.is_empty() && query.since.is_none(), "{text}");
        }
        assert_eq!(terms(&parse("--no-sync")), ["sync"]);
    }

    #[test]
    fn days_narrow_the_search() {
        let query = parse("flaky test last week");
        assert_eq!((query.since, query.until), (Some(date(2026, 11, 9)), Some(date(2026, 11, 15))));
        assert_eq!(query.date_words.as_deref(), Some("last week"));
        assert_eq!(terms(&query), ["flaki", "test"]);
        let query = parse("x after:2026-03 before:2026-05-02");
        assert_eq!((query.since, query.until), (Some(date(2026, 3, 1)), Some(date(2026, 5, 1))));
    }

    proptest::proptest! {
        #[test]
        fn no_query_is_an_error(text in "\\PC*") {
            let query = parse(&text);
            assert!(query.wanted.len() <= WANTED_MAX);
        }
    }
}
