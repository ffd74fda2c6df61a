//! Frontmatter: `key: value` lines between two `---` lines at the beginning of a file.
//!
//! Values are texts, quoted or not, booleans, numbers, and lists as `[a, b]` or as `- a` lines
//! under the key. Nested values are not supported.

use serde_json::Value;

/// One key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: Value,
    /// Its line in the file, from 1.
    pub(super) line: usize,
}

impl Entry {
    /// The error for a value of the wrong type.
    pub(super) fn bad(&self, wanted: &str) -> String {
        format!("line {}: `{}` must be {wanted}, not {}", self.line, self.key, self.value)
    }
}

/// The entries of the frontmatter, and the rest of the file.
pub(super) fn split(text: &str) -> Result<(Vec<Entry>, &str), String> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Ok((Vec::new(), text));
    }
    let mut entries: Vec<Entry> = Vec::new();
    let mut read = first.len();
    for (number, line) in lines.enumerate().map(|(n, line)| (n + 2, line)) {
        read += line.len();
        if line.trim_end() == "---" {
            return Ok((entries, text.get(read..).unwrap_or_default()));
        }
        take(line.trim_end(), number, &mut entries)?;
    }
    Err("line 1: the frontmatter has no end: a second `---` line is missing".to_owned())
}

fn take(line: &str, number: usize, entries: &mut Vec<Entry>) -> Result<(), String> {
    let bare = line.trim();
    if bare.is_empty() || bare.starts_with('#') {
        return Ok(());
    }
    if let Some(item) = bare.strip_prefix("- ").or((bare == "-").then_some("")) {
        let Some(entry) = entries.last_mut() else {
            return Err(format!("line {number}: an item of a list, but no key before it"));
        };
        let item = value(item.trim()).map_err(|why| format!("line {number}: `{}`: {why}", entry.key))?;
        match &mut entry.value {
            Value::Array(items) => items.push(item),
            Value::String(text) if text.is_empty() => entry.value = Value::Array(vec![item]),
            _ => return Err(format!("line {number}: `{}` has a value and a list", entry.key)),
        }
        return Ok(());
    }
    let Some((key, rest)) = line.split_once(':').filter(|(key, _)| is_key(key)) else {
        return Err(format!("line {number}: expected `key: value`"));
    };
    if entries.iter().any(|entry| entry.key == key) {
        return Err(format!("line {number}: `{key}` is given twice"));
    }
    let value = value(rest.trim()).map_err(|why| format!("line {number}: `{key}`: {why}"))?;
    entries.push(Entry { key: key.to_owned(), value, line: number });
    Ok(())
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

fn value(text: &str) -> Result<Value, String> {
    if let Some(rest) = text.strip_prefix('[') {
        let inner = rest.strip_suffix(']').ok_or("the list has no end")?;
        return Ok(Value::Array(items(inner)?));
    }
    scalar(text)
}

/// The items of a list, separated by commas outside quotation marks.
fn items(text: &str) -> Result<Vec<Value>, String> {
    let mut items = Vec::new();
    let (mut start, mut quote) = (0, None);
    let mut fresh = true;
    for (at, character) in text.char_indices() {
        match character {
            '"' | '\'' if quote == Some(character) => quote = None,
            '"' | '\'' if quote.is_none() && fresh => quote = Some(character),
            ',' if quote.is_none() => {
                items.push(scalar(text.get(start..at).unwrap_or_default().trim())?);
                start = at + 1;
                fresh = true;
                continue;
            }
            _ => {}
        }
        fresh = fresh && character.is_whitespace();
    }
    let last = text.get(start..).unwrap_or_default().trim();
    if !last.is_empty() {
        items.push(scalar(last)?);
    }
    Ok(items)
}

fn scalar(text: &str) -> Result<Value, String> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let inner = rest.strip_suffix(quote).ok_or("the quotation has no end")?;
            let plain = match quote {
                '"' => inner.replace("\\\"", "\"").replace("\\n", "\n").replace("\\\\", "\\"),
                _ => inner.replace("''", "'"),
            };
            return Ok(Value::String(plain));
        }
    }
    Ok(match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::String(text.to_owned())),
    })
}

/// A number, if it can be written back unchanged: `1.` and `inf` are texts.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let begins = digits.starts_with(|c: char| c.is_ascii_digit());
    let value: Value = serde_json::from_str(text).ok().filter(|_| begins)?;
    value.is_number().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn values_are_read_as_they_are_meant() {
        for (text, meant) in [
            ("plain words: and more", json!("plain words: and more")),
            ("\"a \\\"quoted\\\" one\"", json!("a \"quoted\" one")),
            ("'it''s'", json!("it's")),
            ("true", json!(true)),
            ("007", json!("007")),
            ("42", json!(42)),
            ("0.5", json!(0.5)),
            ("1.2.3", json!("1.2.3")),
            ("[]", json!([])),
            ("[a, 2, \"b, c\", it's]", json!(["a", 2, "b, c", "it's"])),
            ("", json!("")),
        ] {
            assert_eq!(value(text), Ok(meant), "{text}");
        }
        assert_eq!(value("[a, b"), Err("the list has no end".to_owned()));
        assert_eq!(value("\"a"), Err("the quotation has no end".to_owned()));
    }

    #[test]
    fn a_rule_further_down_is_no_frontmatter() {
        assert_eq!(split("text\n---\na: b\n---\n"), Ok((Vec::new(), "text\n---\na: b\n---\n")));
        assert_eq!(split("----\na"), Ok((Vec::new(), "----\na")));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(---\n)?([a-z\\[\\]\"':, -]{0,12}\n){0,6}(---)?.{0,20}") {
            let _ = split(&text);
        }
    }
}
