//! Text that is not an operator is searched as words, and no query is a syntax error.

mod dates;
mod plain;
mod tokens;

use jiff::civil::Date;
use retro_model::Days;

use crate::passages::path_labels;
use crate::words::{Words, is_one_sign};
use plain::plain;
use tokens::{Form, tokens};

pub use dates::Named;

/// Search at most this many different terms, the rarest ones.
pub(crate) const TERMS_MAX: usize = 24;

/// Count at most this many different terms.
const WANTED_MAX: usize = 256;

/// One term of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The term, as indexed.
    pub term: String,
    /// The word, as written in the query.
    pub word: String,
    /// True for part of a name, a path or a code.
    pub is_name: bool,
}

/// Consecutive words, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// Terms with their places, the first at 0.
    pub terms: Vec<(u32, String)>,
    /// The phrase, as written in the query.
    pub text: String,
    /// True if it must be in a command.
    pub only_commands: bool,
}

/// How to treat an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// As an operator.
    Operator,
    /// As text to search for.
    Text,
    /// Leave it out, but still search for the words of a quotation or a date.
    Nothing,
}

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// Words to search for, any of them.
    pub wanted: Vec<Wanted>,
    /// Phrases that a turn must contain.
    pub phrases: Vec<Phrase>,
    /// Phrases that a turn must not contain.
    pub without: Vec<Phrase>,
    /// Labels that a turn must have: at least one of each list.
    pub labels: Vec<Vec<String>>,
    /// Agents to search. Empty: all.
    pub agents: Vec<String>,
    /// Projects to search. Empty: all.
    pub projects: Vec<String>,
    /// From this day on.
    pub since: Option<Date>,
    /// Up to and including this day.
    pub until: Option<Date>,
    /// The words that named those days, if they were part of the text.
    pub date_words: Option<String>,
    /// The operators in effect, as written. Words that name days count as one.
    pub operators: Vec<String>,
    /// The text without operators, which is embedded.
    pub text: String,
    /// Names, paths and codes that count more in their exact spelling.
    pub literals: Vec<String>,
    /// True if the text is itself part of the store. Words found nowhere else then carry no
    /// information.
    pub is_kept: bool,
}

impl Query {
    /// Parses a query. `today` is the base of relative days.
    pub fn parse(text: &str, today: Date) -> Query {
        Query::parse_with(text, today, &|_| Use::Operator)
    }

    /// Parses a query with only some operators in effect.
    pub fn parse_with(text: &str, today: Date, of: &dyn Fn(&str) -> Use) -> Query {
        let mut query = Query::default();
        let mut words: Vec<String> = Vec::new();
        for token in tokens(text) {
            let wanted = of(token.raw);
            if wanted == Use::Operator && query.operator(token.form, today) {
                query.operators.push(token.raw.to_owned());
                continue;
            }
            words.push(match (wanted, token.form) {
                (Use::Operator, _) | (_, Form::Plain | Form::Quotation(_)) => plain(token.raw),
                (Use::Text, Form::Filter(_, text) | Form::Without(text)) => plain(text),
                (Use::Nothing, _) => continue,
            });
        }
        words.retain(|word| !word.is_empty());
        let mut words = words.join(" ");
        if query.since.is_none()
            && query.until.is_none()
            && let Some(Named { days, words: named, rest }) = dates::find(&words, today)
            && of(&named) == Use::Operator
        {
            (query.since, query.until) = (Some(days.first), Some(days.last));
            query.operators.push(named.clone());
            query.date_words = Some(named);
            words = rest;
        }
        query.want(&words);
        query
    }

    /// Searches every word of a text, and treats operators as text.
    pub fn literal(text: &str) -> Query {
        let mut query = Query::default();
        query.want(&plain(text));
        query
    }

    /// True if there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.phrases.is_empty() && self.labels.is_empty() && self.text.is_empty()
    }

    /// True if every word is a name, a path or a code. Meaning is then unreliable.
    pub(crate) fn is_all_names(&self) -> bool {
        !self.wanted.is_empty() && self.wanted.iter().all(|wanted| wanted.is_name)
    }

    /// Applies an operator. False if it is plain text after all.
    fn operator(&mut self, form: Form<'_>, today: Date) -> bool {
        match form {
            Form::Plain => false,
            Form::Filter(name, value) => self.filter(name, value, today),
            Form::Without(text) => phrase(text).map(|phrase| self.without.push(phrase)).is_some(),
            Form::Quotation(text) => {
                let Some(phrase) = phrase(text) else { return false };
                self.phrases.push(phrase);
                self.want(text);
                true
            }
        }
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
                self.literals.extend(literal(word));
            }
            words.each(word, |term| {
                // In a script without spaces, pairs of characters say more than single ones and
                // include them.
                let as_written = word.get(term.start..term.end).unwrap_or_default();
                if is_one_sign(as_written) && has_neighbour(word, term.start, term.end) {
                    return;
                }
                let is_known = self.wanted.iter().any(|wanted| wanted.term == term.text);
                if !is_known && self.wanted.len() < WANTED_MAX {
                    let word = word.get(term.start..term.end).unwrap_or(term.text).to_owned();
                    self.wanted.push(Wanted { term: term.text.to_owned(), word, is_name });
                }
            });
        }
    }
}

/// True if an adjacent character of a word is significant too.
fn has_neighbour(word: &str, start: usize, end: usize) -> bool {
    let before = word.get(..start).and_then(|text| text.chars().next_back());
    let after = word.get(end..).and_then(|text| text.chars().next());
    before.into_iter().chain(after).any(|sign| is_one_sign(sign.encode_utf8(&mut [0; 4])))
}

/// A name in the form in which other texts are likely to have it: without surrounding punctuation,
/// and for a URL without the scheme.
fn literal(word: &str) -> Option<String> {
    let word = word.split_once("//").map_or(word, |(_, behind)| behind);
    let is_around = |c: char| ",;!?()[]{}<>\"'`".contains(c);
    let word = word.trim_start_matches(is_around).trim_end_matches(|c| is_around(c) || c == '.' || c == ':');
    (!word.is_empty()).then(|| word.to_owned())
}

/// True for a name from code, a path or an error code.
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
    /// The words of a text in order. `None` if it has none.
    pub fn of(text: &str) -> Option<Phrase> {
        phrase(text)
    }
}

/// Terms of a phrase with their places. `None` if the text has none.
fn phrase(text: &str) -> Option<Phrase> {
    let mut terms: Vec<(u32, String)> = Vec::new();
    Words::default().each(text, |term| {
        // A compound name matches by its words, in any spelling.
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
        let names: Vec<bool> = query.wanted.iter().map(|wanted| wanted.is_name).collect();
        assert_eq!(names, [false, false, true, true, true]);
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
        assert_eq!(query.operators.len(), 8);
    }

    #[test]
    fn what_is_no_operator_is_text() {
        for text in
            ["file:", "is:strange", "before:whenever", "it -n \"held\" the lock twice", "AND OR", "\""]
        {
            assert!(parse(text).operators.is_empty(), "{text}");
            assert_eq!(parse(text), Query::literal(text), "{text}");
        }
        assert_eq!(terms(&parse("--no-sync")), ["sync"]);
    }

    #[test]
    fn an_operator_that_does_not_count_is_text() {
        let text = "\"off by one\" file:src/cart.rs last week";
        let parsed = |others: Use| {
            let of = |operator: &str| if operator.starts_with('"') { Use::Operator } else { others };
            Query::parse_with(text, date(2026, 11, 17), &of)
        };
        let query = parsed(Use::Text);
        assert_eq!(query.operators, ["\"off by one\""]);
        assert_eq!(query.text, "off by one src/cart.rs last week");
        assert_eq!((query.labels.len(), query.since), (0, None));
        assert_eq!(parsed(Use::Nothing).text, "off by one last week");
    }

    #[test]
    fn a_name_is_looked_for_without_the_signs_around_it() {
        for (text, literal) in [
            ("(src/cart.rs).", "src/cart.rs"),
            ("E0308:", "E0308"),
            ("https://example.org/a", "example.org/a"),
            ("<Cart::total>", "Cart::total"),
        ] {
            assert_eq!(parse(text).literals, [literal], "{text}");
        }
    }

    #[test]
    fn signs_without_spaces_are_looked_for_in_pairs() {
        let words = |text: &str| parse(text).wanted.into_iter().map(|wanted| wanted.word).collect::<Vec<_>>();
        assert_eq!(words("索引の作成"), ["索引", "引の", "の作", "作成"]);
        assert_eq!(words("鍵 を API鍵"), ["鍵", "を", "API"]);
        assert_eq!(words("연결 실패"), ["연결", "실패"]);
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

        /// Without an operator, operator characters change nothing.
        #[test]
        fn prose_means_the_same_without_the_signs_of_operators(
            words in proptest::collection::vec(SIGNED, 1..12)
        ) {
            let text = words.join(" ");
            let query = parse(&text);
            if query.operators.is_empty() {
                proptest::prop_assert_eq!(query, parse(&without_signs(&text)), "{:?}", text);
            }
        }
    }

    /// Words of prose, error lines and code.
    const SIGNED: &str = "(-{0,2}|\"|\\()(lock|total|x|src/a\\.rs|with|CartTotal|file|is|v1\\.2)(\"|:|::|\\)|\\?)?\
        |(file|model|is|before)(:|::|://)(lock|tmp/a\\.rs)|-[a-z]{1,5}|\"|last week";

    /// The same law as the parser's, implemented differently.
    fn without_signs(text: &str) -> String {
        let text = text.replace('"', "");
        let words = text.split_whitespace().map(|word| {
            let word = word.trim_start_matches('-');
            let keyed =
                ["file:", "model:", "is:", "before:"].into_iter().find_map(|key| word.strip_prefix(key));
            match keyed {
                Some(value) if value.starts_with(':') => word.to_owned(),
                Some(value) => {
                    let key = word.trim_end_matches(value).trim_end_matches(':');
                    let gap = if value.starts_with(char::is_alphanumeric) { " " } else { "" };
                    format!("{key}{gap}{value}")
                }
                None => word.to_owned(),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }
}
