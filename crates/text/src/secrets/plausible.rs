//! Whether what a pattern matched is a secret, or only stands where one would.
//!
//! Documentation, tests and templates are full of `changeme`, `<token>` and
//! `${TOKEN}`; code is full of `token = next_token`. Both must pass.

use super::named::Form;
use super::rule::{Judge, Rule};
use super::{encoded, random};
use memchr::memmem;
use regex::bytes::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Bytes of a value whose entropy is measured.
const ENTROPY_BYTES: usize = 4096;

/// Whether `value`, matched by `rule`, is worth hiding. `bare` tells that
/// nothing marks its ends, so that it may be the rest of some code.
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

/// Whether the end of a token is one or two characters again and again. Of a
/// token that a service's own mark begins nothing more is asked: a pattern in it
/// does not make it safe to show.
fn is_mask(value: &[u8]) -> bool {
    const END_BYTES: usize = 16;
    let end = value.get(value.len().saturating_sub(END_BYTES)..).unwrap_or(value);
    let others = |first: &u8| end.iter().find(|byte| *byte != first);
    let Some(first) = end.first() else { return true };
    others(first).is_none_or(|second| end.iter().all(|byte| byte == first || byte == second))
}

/// Words inside a value that say that it was made up. None is so short that a
/// random token could hold it by chance.
const MADE_UP: &[&str] = &[
    "****",
    "....",
    "-fake",
    "_fake",
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

/// Whole values that protect nothing: names of the thing, defaults everybody knows.
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

/// Of a longer value only so much at its beginning is judged.
const HEAD_BYTES: usize = 256;

/// Whether `value`, which stands beside `name`, is worth hiding.
pub(super) fn is_value(rule: &Rule, name: &[u8], value: &[u8], form: Form) -> bool {
    let is_long = value.len() > HEAD_BYTES;
    let head = value.get(..HEAD_BYTES).unwrap_or(value);
    let is_one = match rule.judge {
        Judge::Password => !is_long && is_password_value(value, form),
        // Only a token is so long.
        _ if is_long && form != Form::Short && !value.iter().all(|&byte| is_token(byte)) => false,
        _ => is_secret_value(rule, name, head, form),
    };
    is_one && !is_made_up(head) && !is_weak(head) && !is_wrapped(head)
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'%' | b'~' | b':')
}

/// A value beside the name of a password.
fn is_password_value(value: &[u8], form: Form) -> bool {
    /// Shorter ones are not told from a number or a word.
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
    /// Least lengths of a value that looks drawn, and of the others: in quotes and bare.
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

/// Whether nobody would write a value as a word: enough where nothing but a password
/// can stand.
fn is_unwritten(value: &[u8]) -> bool {
    const BYTES_MIN: usize = 8;
    let pairs = i32::try_from(value.len()).unwrap_or(i32::MAX);
    (BYTES_MIN..=HEAD_BYTES).contains(&value.len())
        && random::written_bits(value) * 2 < pairs
        && !is_wrapped(value)
        && !is_made_up(value)
        && !is_weak(value)
}

/// Whether a value looks drawn at random, and like nothing that only looks so.
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

/// Whether a value is a member of something with a one-letter name, as in minified code.
fn is_member(value: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    matches!(value, [first, b'.', second, ..] if first.is_ascii_alphabetic() && is_name(*second))
        && value.iter().all(fits)
}

/// A value without the places where a program fills in something: `{id}`, `{name:4}`.
fn without_templates(value: &[u8]) -> Cow<'_, [u8]> {
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

/// Parts of regular expressions, which look drawn and are not.
const PATTERNS: &[&str] =
    &["[a-z", "[0-9", "a-za-z", "(?:", "(?=", "(?!", "(?i", "(?p<", "\\w+", "\\s*", "\\d+", "{8,}"];

/// A password of digits alone.
fn is_number(value: &[u8]) -> bool {
    let is_used = |digit: &u8| value.contains(digit);
    (6..=20).contains(&value.len())
        && value.iter().all(u8::is_ascii_digit)
        && (b'0'..=b'9').filter(is_used).count() >= 3
        && !value.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
        && !counts_up(value)
}

/// Sixteen letters in groups of four, as Google hands out for programs.
fn is_app_password(value: &[u8]) -> bool {
    /// Four words have more.
    const WRITTEN_BITS_MAX: i32 = 14;
    let groups: Vec<&[u8]> = value.split(|&byte| byte == b' ').collect();
    groups.len() == 4
        && groups.iter().all(|group| group.len() == 4 && group.iter().all(u8::is_ascii_lowercase))
        && random::written_bits(&groups.concat()) <= WRITTEN_BITS_MAX
        && entropy(value) >= 2.5
}

/// Whether a name has two parts that both speak of access: only then is a UUID beside
/// it a secret and not the number of something.
fn is_credential_name(name: &[u8]) -> bool {
    let has = |words: &[&str]| has_any(name, words);
    has(&["token", "secret", "key"])
        && has(&["api", "access", "auth", "client", "bearer", "deploy", "refresh", "personal"])
}

/// Whether a value only names a secret: `$TOKEN`, `${TOKEN}`, `{{ token }}`, `<token>`,
/// `%TOKEN%`, `$(command`. Random values begin like this too, but do not go on so.
fn is_wrapped(value: &[u8]) -> bool {
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

/// Whether a mark stands in a value and a name behind it.
fn fills_in(value: &[u8], mark: &[u8]) -> bool {
    memmem::find_iter(value, mark).any(|at| {
        let rest = value[at + mark.len()..].trim_ascii_start();
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        length == rest.len() || (length >= 2 && random::written_bits(&rest[..length]) >= 0)
    })
}

/// A password: looser than a token, since people make them up, but no
/// reference to one, and nothing that code would say.
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

/// A value that looks like nobody typed it; whether it is made of words is for
/// the caller to say.
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

/// How many bytes of each kind.
struct Kinds {
    letters: usize,
    digits: usize,
    symbols: usize,
}

impl Kinds {
    fn of(value: &[u8]) -> Kinds {
        let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
        let plain = value.iter().filter(|byte| matches!(byte, b'_' | b'-' | b'.' | b'/' | b':')).count();
        Kinds { letters, digits, symbols: value.len() - letters - digits - plain }
    }
}

/// Shannon entropy in bits a byte.
pub(super) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u32; 256];
    for &byte in value {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f32;
    -counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| {
            let share = count as f32 / length;
            share * share.log2()
        })
        .sum::<f32>()
}

fn has_any(value: &[u8], words: &[&str]) -> bool {
    let lower = value.to_ascii_lowercase();
    words.iter().any(|word| lower.windows(word.len()).any(|part| part == word.as_bytes()))
}

/// Whether a value says that it was made up.
fn is_made_up(value: &[u8]) -> bool {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let words: Vec<String> = MADE_UP.iter().map(|word| regex::escape(word)).collect();
        Regex::new(&format!("(?i-u:{})", words.join("|"))).ok()
    });
    WORDS.as_ref().is_some_and(|words| words.is_match(value))
}

fn is_weak(value: &[u8]) -> bool {
    WEAK.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether seven neighbours count up, or eight are the same: `1234567`,
/// `abcdefg`, `00000000`. A random token does so once in a million. A row of
/// `A` says nothing: zero bytes look so in base64.
fn counts_up(value: &[u8]) -> bool {
    let (mut up, mut same) = (1, 1);
    value.windows(2).any(|pair| {
        let (left, right) = (pair[0], pair[1]);
        up = if left.checked_add(1) == Some(right) { up + 1 } else { 1 };
        same = if left == right && left != b'A' { same + 1 } else { 1 };
        up >= 7 || same >= 8
    })
}

/// Whether the value names a secret instead of being one: `$TOKEN`, `${TOKEN}`,
/// `{{ token }}`, `<token>`, `%TOKEN%`, `process.env.TOKEN`, `getToken()`.
fn is_reference(value: &[u8]) -> bool {
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

/// Whether a value is the name of a constant or a type: `WIN32_ERROR`.
fn is_constant(value: &[u8]) -> bool {
    let kinds = Kinds::of(value);
    let fits = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    value.contains(&b'_') && value.iter().all(fits) && kinds.letters >= kinds.digits * 2
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// `8-4-4-4-12` hexadecimal digits.
fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether a value is a path, or a file name.
fn is_path(value: &[u8]) -> bool {
    let rooted = matches!(value, [b'/' | b'~' | b'.' | b'@', ..] | [_, b':', b'\\' | b'/', ..]);
    let slashes = value.iter().filter(|&&byte| byte == b'/').count();
    let extension = value.rsplit(|&byte| byte == b'.').next().filter(|rest| rest.len() < value.len());
    let named = extension
        .is_some_and(|rest| (1..=5).contains(&rest.len()) && rest.iter().all(u8::is_ascii_lowercase));
    let words = |part: &[u8]| {
        let words = Words::of(part);
        part.len() <= 4 || (words.letters >= words.words * 3 && words.sound_like_words())
    };
    rooted || named || (slashes > 0 && value.split(|&byte| byte == b'/').all(words))
}

/// Whether a value is made of words, as identifiers are: `nextPageToken2`,
/// `prod-db-main`. Random text changes its kind of character every two bytes,
/// words every three or more; and a fifth of random letters are vowels, a third
/// of those in words. Both measures together take one random token in 30 for
/// words if it has letters of one case only, one in 200 otherwise.
fn reads_as_words(value: &[u8]) -> bool {
    let words = Words::of(value);
    words.letters * 4 >= (words.words + words.numbers) * 11 && words.sound_like_words()
}

/// A value cut into words as a programmer would.
struct Words {
    letters: usize,
    vowels: usize,
    words: usize,
    numbers: usize,
}

impl Words {
    fn sound_like_words(&self) -> bool {
        self.vowels * 100 >= self.letters * 26
    }

    fn of(value: &[u8]) -> Words {
        let mut all = Words { letters: 0, vowels: 0, words: 0, numbers: 0 };
        let (mut before, mut last) = (b' ', b' ');
        for &byte in value {
            let begins_word = match byte {
                // `HTTPServer` is two words; random text has many such turns.
                b'a'..=b'z' => {
                    !last.is_ascii_alphabetic() || (last.is_ascii_uppercase() && before.is_ascii_uppercase())
                }
                b'A'..=b'Z' => !last.is_ascii_uppercase(),
                _ => false,
            };
            all.letters += usize::from(byte.is_ascii_alphabetic());
            all.vowels += usize::from(matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u'));
            all.words += usize::from(begins_word);
            all.numbers += usize::from(byte.is_ascii_digit() && !last.is_ascii_digit());
            (before, last) = (last, byte);
        }
        all
    }
}

/// The longest run of base64 characters.
fn longest_base64(value: &[u8]) -> usize {
    value
        .split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')))
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0)
}

/// Whether a value is base64 of printable text with a colon and something behind it.
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
    fn entropy_is_zero_for_one_letter_and_four_bits_for_all_hex_digits() {
        assert_eq!(entropy(b"aaaaaaa"), 0.0);
        assert_eq!(entropy(b"0123456789abcdef"), 4.0);
    }

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
    fn identifiers_read_as_words_and_random_text_does_not() {
        for value in
            ["nextPageToken2", "prod-db-main", "oauth2ClientSecretName", "MY_SECRET_KEY_1", "user_token_123"]
        {
            assert!(reads_as_words(value.as_bytes()), "{value}");
        }
        for value in ["k7Tq0ZpX4mWvR2sL", "9f86d081884c7d65", "aB3dE9xKq1"] {
            assert!(!reads_as_words(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn constants_are_no_values() {
        assert!(is_constant(b"WIN32_ERROR"));
        assert!(!is_constant(b"K7_0Z4X91"));
        assert!(!is_constant(b"WIN32ERROR"));
    }

    #[test]
    fn paths_and_file_names_are_paths() {
        for value in ["/etc/app/key1", "./k3y", "src/auth2/token", "id_rsa4096.pub", "C:\\keys"] {
            assert!(is_path(value.as_bytes()), "{value}");
        }
        assert!(!is_path(b"k7Tq/0ZpX4m+WvR2sL="));
    }

    #[test]
    fn only_base64_of_user_and_password_is_basic_auth() {
        assert!(decodes_to_credentials(b"YTpiYzEyMw=="));
        assert!(!decodes_to_credentials(b"YTpwYXNzd29yZA=="));
        assert!(!decodes_to_credentials(b"authentication"));
    }

    #[test]
    fn what_counts_up_was_typed_by_somebody() {
        assert!(counts_up(b"sk-12345678"));
        assert!(counts_up(b"k0000000000"));
        assert!(!counts_up(b"k7Tq0ZpX4mWvR2sL"));
    }
}
