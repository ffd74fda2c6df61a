//! Splits a query into tokens, and recognizes operators.
//!
//! People paste error lines, command lines and code into a query, and those contain the same
//! characters as operators. A character therefore counts only if it is hardly ambiguous.

use crate::words::{is_stop_word, is_unspaced};

/// With more words beside it, a quotation is part of a sentence.
const BESIDE_MAX: usize = 2;

/// Minimum letters of an `-word` operator. Shorter ones are command-line flags.
const LETTERS_MIN: usize = 3;

/// A text with more operators was pasted, and has none.
const OPERATORS_MAX: usize = 8;

/// Characters that end a sentence or clause.
const ENDS: [char; 5] = [',', '.', ';', '?', '!'];

/// Names of filters.
const KEYS: &[&str] = &["after", "agent", "before", "cmd", "file", "is", "model", "project", "tool"];

/// The form of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form<'a> {
    Plain,
    /// `"these words"`
    Quotation(&'a str),
    /// `-word`
    Without(&'a str),
    /// `name:value`
    Filter(&'static str, &'a str),
}

/// One token of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// The token, as written.
    pub raw: &'a str,
    pub form: Form<'a>,
}

/// The tokens of a query. A token has the form of an operator only if it is one.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = cut(text);
    let beside: usize = tokens.iter().map(|token| token.words_beside()).sum();
    let is_code = tokens.iter().any(|token| token.form == Form::Plain && is_code(token.raw));
    let first_without = first_without(&tokens);
    for (at, token) in tokens.iter_mut().enumerate() {
        let is_operator = match token.form {
            Form::Plain => continue,
            Form::Quotation(_) => beside <= BESIDE_MAX && !is_code,
            Form::Without(_) => first_without.is_some_and(|first| at >= first),
            Form::Filter(..) => true,
        };
        if !is_operator {
            token.form = Form::Plain;
        }
    }
    if tokens.iter().filter(|token| token.form != Form::Plain).count() > OPERATORS_MAX {
        tokens.iter_mut().for_each(|token| token.form = Form::Plain);
    }
    tokens
}

/// The index where the excluded words begin. They come last, behind the words to search for. A flag
/// can be anywhere, or behind `with` and the like, or beside other flags.
fn first_without(tokens: &[Token<'_>]) -> Option<usize> {
    let is_last = |token: &&Token<'_>| matches!(token.form, Form::Without(_) | Form::Filter(..));
    let run = tokens.iter().rev().take_while(is_last).count();
    let before = tokens.get(..tokens.len() - run)?;
    let is_sought = match before.last() {
        Some(Token { form: Form::Plain, raw }) => has_letter(raw) && !is_stop_word(raw),
        Some(_) => true,
        None => tokens.iter().any(|token| matches!(token.form, Form::Filter(..))),
    };
    let has_flag = before.iter().any(|token| token.raw.starts_with('-') && has_letter(token.raw));
    (is_sought && !has_flag).then_some(before.len())
}

/// True if a word has characters of code or data, such as `key:` and `x=1;`.
fn is_code(word: &str) -> bool {
    word.ends_with(':') || word.contains(|sign| "\"=;{}[]()<>|$`".contains(sign))
}

fn has_letter(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

impl Token<'_> {
    /// How many words the token puts beside a quotation. In scripts without spaces, two characters
    /// count as one word.
    fn words_beside(&self) -> usize {
        match self.form {
            Form::Plain if has_letter(self.raw) => {
                self.raw.chars().filter(|sign| is_unspaced(*sign)).count().div_ceil(2).max(1)
            }
            _ => 0,
        }
    }
}

/// Splits at white space, but not inside closed quotation marks.
fn cut(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (form, len) = operator(rest).unwrap_or((Form::Plain, word_len(rest)));
        let (raw, after) = rest.split_at(len);
        tokens.push(Token { raw, form });
        let after = if form == Form::Plain { after } else { after.trim_start_matches(ENDS) };
        rest = after.trim_start();
    }
    tokens
}

fn word_len(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// The operator at the start of a text, and its length.
fn operator(text: &str) -> Option<(Form<'_>, usize)> {
    let len_behind = |rest: &str| text.len() - rest.len();
    if let Some((inside, after)) = quoted(text) {
        return Some((Form::Quotation(inside), len_behind(after)));
    }
    if let Some(body) = text.strip_prefix('-') {
        if let Some((inside, after)) = quoted(body) {
            return Some((Form::Without(inside), len_behind(after)));
        }
        let word = &body[..word_len(body)];
        return is_excluded(word).then(|| (Form::Without(word), word.len() + 1));
    }
    let (key, body) = filter(text)?;
    if let Some((inside, after)) = quoted(body) {
        return Some((Form::Filter(key, inside), len_behind(after)));
    }
    let word = &body[..word_len(body)];
    let value = word.trim_end_matches(ENDS);
    let is_value = has_letter(value) && !value.contains('"');
    is_value.then(|| (Form::Filter(key, value), len_behind(body) + value.len()))
}

/// The inside of a quotation at the start of a text, and the rest. White space or punctuation must
/// follow: `"key": 1` is code.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let (inside, after) = text.strip_prefix('"')?.split_once('"')?;
    let rest = after.trim_start_matches(ENDS);
    let is_closed = rest.is_empty() || rest.starts_with(char::is_whitespace);
    (is_closed && has_letter(inside)).then_some((inside, after))
}

/// True if `-word` may mean to exclude a word.
fn is_excluded(word: &str) -> bool {
    let is_word = word.chars().all(|sign| sign.is_alphanumeric() || sign == '_');
    let letters = word.chars().filter(|sign| sign.is_alphabetic()).count();
    is_word && (letters >= LETTERS_MIN || word.chars().any(is_unspaced))
}

/// The filter name at the start of a text, and the text behind its colon.
fn filter(text: &str) -> Option<(&'static str, &str)> {
    let (key, value) = keyed(text)?;
    (!value.starts_with("//")).then_some((key, value))
}

/// The filter name, with a single colon, at the start of a text. `file::open` is a path in code.
pub(super) fn keyed(text: &str) -> Option<(&'static str, &str)> {
    let (name, value) = text.split_once(':')?;
    let key = KEYS.iter().copied().find(|key| *key == name)?;
    (!value.starts_with(':')).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operators of a query, as written.
    fn operators(text: &str) -> Vec<&str> {
        let operators = tokens(text).into_iter().filter(|token| token.form != Form::Plain);
        operators.map(|token| token.raw).collect()
    }

    #[test]
    fn operators_are_what_is_written_as_one() {
        for (text, expected) in [
            (r#""off by one""#, &[r#""off by one""#][..]),
            (r#"rounding "off by one""#, &[r#""off by one""#]),
            (r#"seen "off by one"?"#, &[r#""off by one""#]),
            (r#""索引 作成" 失敗"#, &[r#""索引 作成""#]),
            ("cart -draft", &["-draft"]),
            ("cart -下書", &["-下書"]),
            ("cart -draft -old project:shop", &["-draft", "-old", "project:shop"]),
            (r#"lock -"off by one""#, &[r#"-"off by one""#]),
            ("project:shop -draft", &["project:shop", "-draft"]),
            ("E0308 file:src/cart.rs?", &["file:src/cart.rs"]),
            (r#"cmd:"cargo test" is:failed"#, &[r#"cmd:"cargo test""#, "is:failed"]),
        ] {
            assert_eq!(operators(text), expected, "{text}");
        }
    }

    #[test]
    fn prose_and_pasted_text_have_no_operators() {
        for text in [
            r#"it said "nothing to commit" and then stopped"#,
            "compile with -fsanitize",
            "run cargo -q test -release",
            "why does -n print nothing",
            "what is -verbose for in this program",
            "-draft",
            "--no-sync",
            "cart --draft",
            "cart -n",
            "gcc -march=native",
            "open file:///tmp/page.html",
            "file::open and model::Event",
            "file: not found",
            r#""version": "1.2""#,
            r#"{"model":"small"}"#,
            r#""open"#,
            r#"name: "enabled true","#,
            r#"root = "examples""#,
            r#"cat > "out""#,
            "file:a file:b file:c file:d file:e file:f file:g file:h file:i",
            r#""接続" が拒否されるのはなぜですか"#,
            "a:b std::vec -> x ( - \" :",
        ] {
            assert_eq!(operators(text), Vec::<&str>::new(), "{text}");
        }
    }
}
