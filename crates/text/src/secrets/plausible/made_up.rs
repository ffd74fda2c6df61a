//! Values that only look like secrets: placeholders, names of secrets, constants, rows of digits
//! typed by hand.

use memchr::memmem;
use regex::bytes::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

use super::super::random;
use super::shape::{Kinds, has_any, is_name};

/// True if a token ends with one or two characters repeated. For a token with a service's own
/// prefix this is the only check: a pattern in it does not make it safe to show.
pub(super) fn is_mask(value: &[u8]) -> bool {
    const END_BYTES: usize = 16;
    let end = value.get(value.len().saturating_sub(END_BYTES)..).unwrap_or(value);
    let others = |first: &u8| end.iter().find(|byte| *byte != first);
    let Some(first) = end.first() else { return true };
    others(first).is_none_or(|second| end.iter().all(|byte| byte == first || byte == second))
}

/// Words inside a value that show that it was made up. All are long enough that a random token does
/// not contain them by chance.
const MADE_UP: &[&str] = &[
    "****",
    "....",
    "a1b2c3",
    "changeme",
    "dummy",
    "example",
    "fake-",
    "fake_",
    "placeholder",
    "redacted",
    "replace",
    "sample",
    "xxxxxx",
    "your-",
    "your_",
    "…",
];

/// Whole values that protect nothing: names of the thing, well-known defaults.
const WEAK: &[&str] = &[
    "admin",
    "bearer",
    "default",
    "disabled",
    "enabled",
    "false",
    "guest",
    "hidden",
    "hunter2",
    "letmein",
    "minioadmin",
    "mypassword",
    "mysecretpassword",
    "none",
    "null",
    "optional",
    "pass",
    "passwd",
    "password",
    "password1",
    "password123",
    "postgres",
    "private",
    "public",
    "pwd",
    "required",
    "root",
    "secret",
    "string",
    "test",
    "testpass",
    "testpassword",
    "token",
    "true",
    "undefined",
    "user",
    "username",
];

/// True if a value is a member of an object with a one-letter name, as in minified code.
pub(super) fn is_member(value: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    matches!(value, [first, b'.', second, ..] if first.is_ascii_alphabetic() && is_name(*second))
        && value.iter().all(fits)
}

/// A value without template placeholders: `{id}`, `{name:4}`.
pub(super) fn without_templates(value: &[u8]) -> Cow<'_, [u8]> {
    let is_inside = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'+' | b'-' | b'!' | b'>' | b'<')
    };
    let mut rest = value;
    let mut kept = Vec::new();
    while let Some(open) = rest.iter().position(|&byte| byte == b'{') {
        let (before, from) = rest.split_at(open);
        let inside = from.iter().skip(1).take_while(|byte| is_inside(byte)).count();
        let is_template =
            from.get(inside + 1) == Some(&b'}') && from.get(1).is_some_and(|&byte| is_name(byte));
        let length = if is_template { 0 } else { 1 };
        kept.extend_from_slice(before);
        kept.extend_from_slice(&from[..length]);
        rest = &from[if is_template { inside + 2 } else { 1 }..];
    }
    if kept.is_empty() && rest.len() == value.len() {
        return Cow::Borrowed(value);
    }
    kept.extend_from_slice(rest);
    Cow::Owned(kept)
}

/// Parts of regular expressions, which look random and are not.
pub(super) const PATTERNS: &[&str] =
    &["[a-z", "[0-9", "a-za-z", "(?:", "(?=", "(?!", "(?i", "(?p<", "\\w+", "\\s*", "\\d+", "{8,}"];

/// True if a value only names a secret: `$TOKEN`, `${TOKEN}`, `{{ token }}`, `<token>`, `%TOKEN%`,
/// `$(command`. Random values may begin like this, but do not continue so.
pub(super) fn is_wrapped(value: &[u8]) -> bool {
    let is_name = |rest: &[u8]| {
        !rest.is_empty()
            && rest
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-'))
    };
    match value {
        [b'<', .., b'>'] => true,
        [b'$', rest @ ..] if is_name(rest) => !random::is_random(rest),
        [b'%', rest @ .., b'%'] => is_name(rest),
        _ => {
            ["${", "$(", "{{"].iter().any(|mark| fills_in(value, mark.as_bytes()))
                || has_any(value, &["process.env", "os.environ", "env[", "getenv"])
        }
    }
}

/// True if a value contains a mark followed by a name.
pub(super) fn fills_in(value: &[u8], mark: &[u8]) -> bool {
    memmem::find_iter(value, mark).any(|at| {
        let rest = value[at + mark.len()..].trim_ascii_start();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        length == rest.len() || (length >= 2 && random::written_bits(&rest[..length]) >= 0)
    })
}

/// True if a value shows that it was made up.
pub(super) fn is_made_up(value: &[u8]) -> bool {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words: Vec<String> = MADE_UP.iter().map(|word| regex::escape(word)).collect();
        // After the prefix of a service, a random token may continue with these letters.
        Regex::new(&format!("(?i-u:{}|[-_]fake(?:[^a-z0-9]|$))", words.join("|"))).ok()
    });
    WORDS.as_ref().is_some_and(|words| words.is_match(value))
}

pub(super) fn is_weak(value: &[u8]) -> bool {
    WEAK.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

/// True if seven neighbours count up, or eight are the same: `1234567`, `abcdefg`, `00000000`. A
/// random token does so once in a million. A row of `A` does not count: zero bytes look like that
/// in base64.
pub(super) fn counts_up(value: &[u8]) -> bool {
    let (mut up, mut same) = (1, 1);
    value.windows(2).any(|pair| {
        let (left, right) = (pair[0], pair[1]);
        up = if left.checked_add(1) == Some(right) { up + 1 } else { 1 };
        same = if left == right && left != b'A' { same + 1 } else { 1 };
        up >= 7 || same >= 8
    })
}

/// True if the value names a secret instead of being one: `$TOKEN`, `${TOKEN}`, `{{ token }}`,
/// `<token>`, `%TOKEN%`, `process.env.TOKEN`, `getToken()`.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let wrapped = matches!(
        value,
        [b'$' | b'<' | b'{' | b'(' | b'[' | b'%' | b'&' | b'*' | b',' | b';', ..]
            | [.., b'>' | b'}' | b')' | b']' | b'%']
    );
    let member =
        matches!(value, [first, b'.', second, ..] if first.is_ascii_alphabetic() && is_name(*second));
    wrapped
        || member
        || has_any(
            value,
            &["${", "$(", "{{", "(", "://", "process.env", "os.environ", "env.", "::", "->", "?."],
        )
}

/// True if a value is the name of a constant or a type: `WIN32_ERROR`.
pub(super) fn is_constant(value: &[u8]) -> bool {
    let kinds = Kinds::of(value);
    let fits = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    value.contains(&b'_') && value.iter().all(fits) && kinds.letters >= kinds.digits * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_references() {
        for value in
            ["$TOKEN", "${TOKEN}", "<token>", "process.env.TOKEN", "getToken()", "{{ token }}", "%TOKEN%"]
        {
            assert!(is_reference(value.as_bytes()), "{value}");
        }
        assert!(!is_reference(b"k7Tq0ZpX"));
    }

    #[test]
    fn a_word_for_made_up_things_stands_alone() {
        assert!(is_made_up(b"token_fake") && is_made_up(b"key-FAKE.1") && is_made_up(b"fake_key"));
        assert!(!is_made_up(b"ghp_FAKEp092039H61"));
    }

    #[test]
    fn constants_are_no_values() {
        assert!(is_constant(b"WIN32_ERROR"));
        assert!(!is_constant(b"K7_0Z4X91"));
        assert!(!is_constant(b"WIN32ERROR"));
    }

    #[test]
    fn what_counts_up_was_typed_by_somebody() {
        assert!(counts_up(b"sk-12345678"));
        assert!(counts_up(b"k0000000000"));
        assert!(!counts_up(b"k7Tq0ZpX4mWvR2sL"));
    }
}
