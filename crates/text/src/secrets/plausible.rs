//! Decides if a match is a secret, or only a placeholder in its position.
//!
//! Documentation, tests and templates are full of `changeme`, `<token>` and `${TOKEN}`; code is
//! full of `token = next_token`. Both must pass. `made_up` recognizes the first, `shape`
//! distinguishes words from random text.

mod made_up;
mod shape;

use super::named::Form;
use super::rule::{Judge, Rule};
use super::{encoded, random};
use made_up::{
    PATTERNS, counts_up, is_constant, is_made_up, is_mask, is_member, is_reference, is_weak, is_wrapped,
    without_templates,
};
use shape::{Kinds, entropy, has_any, is_path, is_token, is_uuid, longest_base64, reads_as_words};

/// Bytes of a value whose entropy is measured.
const ENTROPY_BYTES: usize = 4096;

/// True if `value`, matched by `rule`, must be hidden. `bare` means that it has no delimiters, so
/// it may be the rest of some code.
pub(super) fn is_secret(rule: &Rule, value: &[u8], bare: bool) -> bool {
    if rule.is_marked() {
        return !is_mask(value) && !is_made_up(value);
    }
    let head = value.get(..ENTROPY_BYTES).unwrap_or(value);
    if rule.entropy_min.is_some_and(|least| entropy(head) < least) {
        return false;
    }
    if bare && is_constant(value) {
        return false;
    }
    match rule.judge {
        Judge::KeyBody => longest_base64(value) >= 32 && !has_any(value, &["..."]),
        Judge::Shape => !is_made_up(value) && !counts_up(value),
        Judge::BasicAuth => decodes_to_credentials(value),
        Judge::Password => is_password(value, bare),
        Judge::UrlPassword => is_password(value, false) || is_unwritten(value),
        Judge::Named => is_random(value) && (Kinds::of(value).digits > 2 || !reads_as_words(value)),
        Judge::Value => (is_random(value) && !reads_as_words(value)) || is_drawn(value, 16),
    }
}

/// Only this many bytes at the beginning of a longer value are judged.
const HEAD_BYTES: usize = 256;

/// True if `value`, beside `name`, must be hidden.
pub(super) fn is_value(rule: &Rule, name: &[u8], value: &[u8], form: Form) -> bool {
    let is_long = value.len() > HEAD_BYTES;
    let head = value.get(..HEAD_BYTES).unwrap_or(value);
    let is_one = match rule.judge {
        Judge::Password => !is_long && is_password_value(value, form),
        // Only a token can be this long.
        _ if is_long && form != Form::Short && !value.iter().all(|&byte| is_token(byte)) => false,
        _ => is_secret_value(rule, name, head, form),
    };
    is_one && !is_made_up(head) && !is_weak(head) && !is_wrapped(head)
}

/// A value beside the name of a password.
fn is_password_value(value: &[u8], form: Form) -> bool {
    /// Shorter ones cannot be distinguished from a number or a word.
    const BYTES_MIN: usize = 8;
    let blanks = value.iter().filter(|byte| byte.is_ascii_whitespace()).count();
    if blanks > 0 {
        return is_app_password(value) || (form == Form::Quoted && is_drawn(value, 12) && blanks <= 2);
    }
    match form {
        _ if is_number(value) => form != Form::Run,
        Form::Run => is_drawn(value, BYTES_MIN),
        Form::Quoted => {
            is_drawn(value, BYTES_MIN)
                || (value.len() >= BYTES_MIN && entropy(value) >= 2.5 && is_password(value, false))
        }
        Form::Short => {
            value.len() >= BYTES_MIN
                && entropy(value) >= 2.5
                && !is_constant(value)
                && is_password(value, true)
        }
    }
}

/// A value beside the name of a key or a token.
fn is_secret_value(rule: &Rule, name: &[u8], value: &[u8], form: Form) -> bool {
    /// The shortest random-looking value, and the shortest other values in quotes and bare.
    const DRAWN_BYTES_MIN: usize = 12;
    const QUOTED_BYTES_MIN: usize = 16;
    const BARE_BYTES_MIN: usize = 20;
    if is_uuid(value) {
        return is_credential_name(name);
    }
    let is_mixed = || {
        is_random(value)
            && !reads_as_words(value)
            && rule.entropy_min.is_none_or(|least| entropy(value) >= least)
    };
    let has_blank = value.iter().any(u8::is_ascii_whitespace);
    !has_blank
        && match form {
            Form::Run => is_drawn(value, DRAWN_BYTES_MIN),
            Form::Quoted => {
                is_drawn(value, DRAWN_BYTES_MIN) || (value.len() >= QUOTED_BYTES_MIN && is_mixed())
            }
            Form::Short => value.len() >= BARE_BYTES_MIN && !is_constant(value) && is_mixed(),
        }
}

/// True if the value is not a plain word. Used where only a password can appear.
fn is_unwritten(value: &[u8]) -> bool {
    const BYTES_MIN: usize = 8;
    let pairs = i32::try_from(value.len()).unwrap_or(i32::MAX);
    (BYTES_MIN..=HEAD_BYTES).contains(&value.len())
        && random::written_bits(value) * 2 < pairs
        && !is_wrapped(value)
        && !is_made_up(value)
        && !is_weak(value)
}

/// True if a value looks random, and not like one of the known exceptions.
fn is_drawn(value: &[u8], bytes_min: usize) -> bool {
    if value.len() < bytes_min || !random::is_random(value) {
        return false;
    }
    let value = &without_templates(value)[..];
    value.len() >= bytes_min
        && random::is_random(value)
        && !value.iter().all(u8::is_ascii_digit)
        && entropy(value) >= 2.5
        && !is_member(value)
        && !(is_path(value) && value.iter().all(|&byte| is_token(byte) || matches!(byte, b'@' | b'\\')))
        && !is_uuid(value)
        && !counts_up(value)
        && !has_any(value, PATTERNS)
        && !(has_any(value, &["[^"]) && has_any(value, &["]+", "]*"]))
}

/// True for a password of digits alone.
fn is_number(value: &[u8]) -> bool {
    let is_used = |digit: &u8| value.contains(digit);
    (6..=20).contains(&value.len())
        && value.iter().all(u8::is_ascii_digit)
        && (b'0'..=b'9').filter(is_used).count() >= 3
        && !value.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
        && !counts_up(value)
}

/// True for sixteen letters in groups of four, as Google issues for programs.
fn is_app_password(value: &[u8]) -> bool {
    /// Four words have more than this.
    const WRITTEN_BITS_MAX: i32 = 14;
    let groups: Vec<&[u8]> = value.split(|&byte| byte == b' ').collect();
    groups.len() == 4
        && groups.iter().all(|group| group.len() == 4 && group.iter().all(u8::is_ascii_lowercase))
        && random::written_bits(&groups.concat()) <= WRITTEN_BITS_MAX
        && entropy(value) >= 2.5
}

/// True if a name has two parts about access: only then is a UUID beside it a secret and not an
/// identifier.
fn is_credential_name(name: &[u8]) -> bool {
    let has = |words: &[&str]| has_any(name, words);
    has(&["token", "secret", "key"])
        && has(&["api", "access", "auth", "client", "bearer", "deploy", "refresh", "personal"])
}

/// True for a password. The check is looser than for a token, since people make passwords up, but
/// excludes references and code.
fn is_password(value: &[u8], bare: bool) -> bool {
    let kinds = Kinds::of(value);
    let mixed = kinds.digits > 0 || (kinds.symbols > 0 && !reads_as_words(value));
    value.len() <= 200
        && !is_weak(value)
        && !is_made_up(value)
        && !is_wrapped(value)
        && (is_drawn(value, 8)
            || (kinds.letters > 0
                && mixed
                && (!bare || kinds.symbols > 0 || !reads_as_words(value))
                && !is_reference(value)
                && !is_path(value)))
}

/// True for a value that does not look typed. The caller must check if it is made of words.
fn is_random(value: &[u8]) -> bool {
    let kinds = Kinds::of(value);
    let mixed_case = value.iter().any(u8::is_ascii_lowercase) && value.iter().any(u8::is_ascii_uppercase);
    value.len() <= 4096
        && kinds.letters >= 2
        && (kinds.digits >= 2 || (kinds.digits == 1 && mixed_case))
        && !is_reference(value)
        && !is_weak(value)
        && !is_uuid(value)
        && !is_path(value)
        && !counts_up(value)
        && !is_made_up(value)
}

/// True if a value is base64 of printable text with a colon and something after it.
fn decodes_to_credentials(value: &[u8]) -> bool {
    let Some(text) = encoded::decode(value) else { return false };
    let Some(colon) = text.iter().position(|&byte| byte == b':') else { return false };
    let password = text.get(colon + 1..).unwrap_or_default();
    text.iter().all(|byte| matches!(byte, b' '..=b'~'))
        && !password.is_empty()
        && !is_weak(password)
        && !is_reference(password)
        && !is_made_up(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_base64_of_user_and_password_is_basic_auth() {
        assert!(decodes_to_credentials(b"YTpiYzEyMw=="));
        assert!(!decodes_to_credentials(b"YTpwYXNzd29yZA=="));
        assert!(!decodes_to_credentials(b"authentication"));
    }
}
