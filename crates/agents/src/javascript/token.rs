//! The tokens of a script.

/// The greatest nesting of templates.
const DEPTH_MAX: usize = 16;

/// A word, a string, a number or a sign.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name or a keyword.
    Word(String),
    Text(String),
    /// Literal parts, each also in its raw form, with a value between each two.
    Template(Vec<(String, String)>, Vec<Vec<Placed>>),
    Number(f64),
    Regex,
    Sign(&'static str),
}

/// A token. The flag is set for the first token of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub token: Token,
    pub first: bool,
}

/// Operators and punctuation, longest first.
const SIGNS: &[&str] = &[
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=",
    ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "**", "<<",
    ">>", "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~",
    "?", ":", "=", ".", "#", "@",
];

/// The tokens of a script. `None` if a string or a comment in it is not closed.
pub(super) fn tokens(script: &str) -> Option<Vec<Placed>> {
    let mut reader = Reader { rest: script, depth: 0 };
    let tokens = reader.until_closed(false)?;
    reader.rest.is_empty().then_some(tokens)
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = self.rest.get(next.len_utf8()..)?;
        Some(next)
    }

    /// Reads tokens to the end, or in a template to the bracket that closes the value.
    fn until_closed(&mut self, in_template: bool) -> Option<Vec<Placed>> {
        let mut tokens: Vec<Placed> = Vec::new();
        let mut open = 0_usize;
        let mut first = true;
        loop {
            first |= self.blank()?;
            let Some(next) = self.rest.chars().next() else {
                return (!in_template).then_some(tokens);
            };
            if in_template && open == 0 && next == '}' {
                self.next();
                return Some(tokens);
            }
            let token = match next {
                '"' | '\'' => self.text()?,
                '`' => self.template()?,
                '0'..='9' => self.number()?,
                '.' if self.rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => self.number()?,
                '/' if begins_value(tokens.last()) => self.regex()?,
                c if c.is_alphabetic() || matches!(c, '_' | '$') => self.word(),
                _ => {
                    let sign = SIGNS.iter().find(|sign| self.rest.starts_with(**sign))?;
                    self.rest = self.rest.get(sign.len()..)?;
                    Token::Sign(sign)
                }
            };
            match token {
                Token::Sign("{") => open += 1,
                Token::Sign("}") => open = open.saturating_sub(1),
                _ => {}
            }
            tokens.push(Placed { token, first });
            first = false;
        }
    }

    /// Skips white space and comments. True if there was a line break among them.
    fn blank(&mut self) -> Option<bool> {
        let mut ended = false;
        loop {
            let text = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let passed = self.rest.len() - text.len();
            ended |= self.rest.get(..passed)?.contains('\n');
            self.rest = text;
            if let Some(comment) = text.strip_prefix("//") {
                self.rest = comment.find('\n').and_then(|at| comment.get(at..)).unwrap_or_default();
            } else if let Some(comment) = text.strip_prefix("/*") {
                let (passed, after) = comment.split_once("*/")?;
                ended |= passed.contains('\n');
                self.rest = after;
            } else {
                return Some(ended);
            }
        }
    }

    fn word(&mut self) -> Token {
        let end = self
            .rest
            .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Token::Word(word.to_owned())
    }

    fn number(&mut self) -> Option<Token> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.'))
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let digits = digits.replace('_', "");
        self.rest = rest;
        let value = match digits.get(..2) {
            Some("0x" | "0X") => i64::from_str_radix(digits.get(2..)?, 16).ok()? as f64,
            _ => digits.trim_end_matches('n').parse().ok()?,
        };
        Some(Token::Number(value))
    }

    fn regex(&mut self) -> Option<Token> {
        self.next();
        let mut in_class = false;
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => break,
                '\n' => return None,
                _ => {}
            }
        }
        self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        Some(Token::Regex)
    }

    fn text(&mut self) -> Option<Token> {
        let quote = self.next()?;
        let mut text = String::new();
        loop {
            match self.next()? {
                '\\' => self.escape(&mut text)?,
                '\n' => return None,
                c if c == quote => return Some(Token::Text(text)),
                c => text.push(c),
            }
        }
    }

    fn template(&mut self) -> Option<Token> {
        if self.depth >= DEPTH_MAX {
            return None;
        }
        self.next();
        let (mut texts, mut values) = (Vec::new(), Vec::new());
        let mut text = String::new();
        let mut from = self.rest;
        loop {
            let here = self.rest;
            let written = |from: &str| from.get(..from.len() - here.len()).unwrap_or_default().to_owned();
            match self.next()? {
                '\\' => {
                    let behind = self.rest;
                    // `String.raw` may contain an invalid escape.
                    if self.escape(&mut text).is_none() {
                        self.rest = behind;
                        text.push(self.next()?);
                    }
                }
                '`' => {
                    texts.push((text, written(from)));
                    return Some(Token::Template(texts, values));
                }
                '$' if self.rest.starts_with('{') => {
                    self.next();
                    texts.push((std::mem::take(&mut text), written(from)));
                    self.depth += 1;
                    values.push(self.until_closed(true)?);
                    self.depth -= 1;
                    from = self.rest;
                }
                c => text.push(c),
            }
        }
    }

    /// Reads the rest of an escape after its backslash.
    fn escape(&mut self, text: &mut String) -> Option<()> {
        let code = |digits: &str| u32::from_str_radix(digits, 16).ok();
        match self.next()? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            '0' => text.push('\0'),
            '\n' => {}
            '\r' => self.rest = self.rest.strip_prefix('\n').unwrap_or(self.rest),
            'x' => {
                text.push(char::from_u32(code(self.rest.get(..2)?)?)?);
                self.rest = self.rest.get(2..)?;
            }
            'u' if self.rest.starts_with('{') => {
                let (digits, rest) = self.rest.get(1..)?.split_once('}')?;
                text.push(char::from_u32(code(digits)?)?);
                self.rest = rest;
            }
            'u' => {
                let mut unit = code(self.rest.get(..4)?)?;
                self.rest = self.rest.get(4..)?;
                // A surrogate pair encodes one character.
                if (0xd800..0xdc00).contains(&unit)
                    && let Some(low) = self.rest.strip_prefix("\\u").and_then(|rest| code(rest.get(..4)?))
                    && (0xdc00..0xe000).contains(&low)
                {
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    self.rest = self.rest.get(6..)?;
                }
                text.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => text.push(other),
        }
        Some(())
    }
}

/// True if a value begins after this token, which means that a slash is not a division.
fn begins_value(before: Option<&Placed>) -> bool {
    match before.map(|placed| &placed.token) {
        None => true,
        Some(Token::Sign(sign)) => !matches!(*sign, ")" | "]" | "}" | "++" | "--"),
        Some(Token::Word(word)) => matches!(word.as_str(), "return" | "typeof" | "await" | "of" | "in"),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(script: &str) -> Vec<String> {
        let told = |placed: Placed| match placed.token {
            Token::Text(text) => Some(text),
            _ => None,
        };
        tokens(script).unwrap().into_iter().filter_map(told).collect()
    }

    #[test]
    fn texts_are_unescaped() {
        assert_eq!(
            texts(r#"'it\'s' "a\n\u00e9\x41" "\u{1f600}" "\ud83d\ude00""#),
            ["it's", "a\né\u{41}", "😀", "😀"]
        );
        assert_eq!(texts("'a\\\nb' // 'no'\n/* 'no' */ + /'no'/g"), ["ab"]);
        assert_eq!(tokens("'open"), None);
        assert_eq!(tokens("/* open"), None);
        assert_eq!(tokens("`a ${b"), None);
    }

    #[test]
    fn templates_hold_values() {
        let script = tokens("`a ${x + `b ${ {c: 1}.c }`} d`").unwrap();
        let [Placed { token: Token::Template(texts, values), .. }] = script.as_slice() else { panic!() };
        let texts: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!((texts.as_slice(), values.len()), (["a ", " d"].as_slice(), 1));
        assert_eq!(values[0].len(), 3);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "([`'\"/\\\\${}a-z0-9=>. \n]|\\PC){0,60}") {
            let _ = tokens(&text);
        }
    }
}
