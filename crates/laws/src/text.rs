//! `text`: secrets are removed from any text, and any text is safe to print on a terminal.

use retro_text::{hidden, redact, secrets, terminal};

use crate::Tried;

pub(crate) fn check(bytes: &[u8]) -> Tried {
    let text = &*String::from_utf8_lossy(bytes);
    let mut end = 0;
    for finding in secrets::find(text) {
        assert!(end <= finding.start && finding.start < finding.end, "{finding:?} overlaps another");
        assert!(text.get(finding.start..finding.end).is_some(), "{finding:?} cuts a character");
        end = finding.end;
    }
    let once = redact(text);
    assert_eq!(redact(&once), once, "redacting twice changes something");
    assert_eq!(end == 0, *once == text, "what was found was replaced");

    let shown = terminal::safe(text);
    assert!(is_harmless(&shown.replace(['\n', '\t'], " ")), "{shown:?}");
    let line = terminal::safe_line(text);
    assert!(is_harmless(&line), "{line:?}");
    for columns in [0, 1, 2, 7, 40] {
        let cell = terminal::one_line(text, columns);
        assert!(is_harmless(&cell), "{cell:?}");
        assert!(terminal::width(&cell) <= columns, "{cell:?} is wider than {columns}");
    }
    Ok(())
}

/// True if nothing moves the cursor, and nothing is hidden from a reader.
fn is_harmless(text: &str) -> bool {
    !text.chars().any(char::is_control) && hidden::find(text).next().is_none()
}
