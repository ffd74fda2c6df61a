//! Strings of a log as an event holds them: redacted texts, names and ids.

use retro_text::{Redacted, redact, redact_id};

/// An id is at most this long; anything longer is a text.
const ID_BYTES_MAX: usize = 128;

/// A redacted text, unless it is empty.
pub(crate) fn words(text: &str) -> Option<Redacted<String>> {
    (!text.is_empty()).then(|| redact(text))
}

/// A name from the log, such as a model's, without anything that looks like a secret.
pub(crate) fn clean(name: &str) -> String {
    redact(name).into_inner()
}

/// An id from the log. A string shaped like an id stays unchanged unless it also looks like a
/// secret, so that equal ids stay equal and different ones stay different.
pub(crate) fn id(text: &str) -> String {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'/' | b'~');
    // No early exit, so that the compiler can compare many bytes at once.
    let is_plain = || text.bytes().fold(true, |all, byte| all & plain(byte));
    if text.len() <= ID_BYTES_MAX && is_plain() { redact_id(text).into_owned() } else { clean(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stay_as_they_are_and_texts_are_redacted() {
        assert_eq!(id("exec~2:item_0/root"), "exec~2:item_0/root");
        assert_eq!(id(""), "");
        let secret = format!("key {}{}", "AKIA", "Q3EGR7DN5XHTPWLB");
        assert!(!id(&secret).contains("Q3EGR7DN"));
        assert!(!clean(&secret).contains("Q3EGR7DN"));
        assert_eq!(words(""), None);
        let token = format!("gh{}_{}", "p", "k7Tq0ZpX4mWvR2sLk7Tq0ZpX4mWvR2sLa8Kd");
        assert!(!id(&token).contains("k7Tq0ZpX"));
    }
}
