//! A text without the signs of operators, as it is looked for where it has none.

use super::tokens::keyed;

/// The words of a text without quotation marks, minus signs in front and the colon behind a
/// filter's name. A question then means the same with and without those signs.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for word in without_quotes(text).split_whitespace() {
        let word = word.trim_start_matches('-');
        if !plain.is_empty() && !word.is_empty() {
            plain.push(' ');
        }
        push(word, &mut plain);
    }
    plain
}

/// Quotation marks keep words apart that they are between.
fn without_quotes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split('"').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        plain.push_str(part);
        let is_next_word = parts.peek().is_some_and(|next| next.starts_with(char::is_alphanumeric));
        if is_next_word && part.ends_with(char::is_alphanumeric) {
            plain.push(' ');
        }
    }
    plain
}

fn push(word: &str, plain: &mut String) {
    let mut rest = word;
    while let Some((key, value)) = keyed(rest) {
        plain.push_str(key);
        rest = value;
        if !value.starts_with(char::is_alphanumeric) {
            break;
        }
        plain.push(' ');
    }
    plain.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn signs_of_operators_are_left_out() {
        for (text, expected) in [
            ("the \"lock\" is held", "the lock is held"),
            ("say\"hello\"twice", "say hello twice"),
            ("grep -n and --no-sync", "grep n and no-sync"),
            ("model: small, is:odd", "model small, is odd"),
            ("file:///tmp/x.html", "file///tmp/x.html"),
            ("file::open -> std::vec", "file::open > std::vec"),
            ("well-known a:b", "well-known a:b"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_left_to_leave_out(text in "(\\PC|[-\" :/]|file:|is:|-x){0,12}") {
            let once = plain(&text);
            proptest::prop_assert_eq!(&plain(&once), &once, "{:?}", text);
        }
    }
}
