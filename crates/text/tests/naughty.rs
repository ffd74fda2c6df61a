//! Strings that broke other programs, if the folder that holds them is there.

use retro_text::{hidden, redact, terminal};
use std::path::Path;

#[test]
fn naughty_strings_neither_break_a_table_nor_reach_the_terminal_raw() {
    let Some(shared) = std::env::var_os("RETRO_SHARED") else {
        eprintln!("skipped: RETRO_SHARED is not set");
        return;
    };
    let path = Path::new(&shared).join("bad-input/naughty-strings.json");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let strings: Vec<String> = serde_json::from_slice(&bytes).expect("a list of strings");
    assert!(strings.len() > 100, "{} is too short to be it", path.display());
    for text in &strings {
        let line = terminal::safe_line(text);
        assert!(hidden::find(&line).next().is_none(), "{text:?}");
        assert!(!line.chars().any(char::is_control), "{text:?}");
        for columns in [0, 1, 2, 3, 10, 40, 80] {
            let cell = terminal::one_line(text, columns);
            assert!(terminal::width(&cell) <= columns, "{cell:?} is wider than {columns}");
            assert!(!cell.chars().any(char::is_control), "{text:?}");
        }
        let once = redact(text);
        assert_eq!(redact(&once), once);
    }
}
