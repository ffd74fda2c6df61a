//! Command lines: as one line for readers, and words that are safe to type.

/// A command on one line: continued lines are joined, others become `; `.
pub(crate) fn one_line(command: &str) -> String {
    let mut line = String::with_capacity(command.len());
    let mut joined = true;
    for part in command.lines() {
        let (text, continues) = match part.trim_end().strip_suffix('\\') {
            Some(text) => (text.trim(), true),
            None => (part.trim(), false),
        };
        if !text.is_empty() {
            if !line.is_empty() {
                line.push_str(if joined { " " } else { "; " });
            }
            line.push_str(text);
            joined = continues;
        }
    }
    line
}

/// `command` behind a `cd` to the folder, for a POSIX shell. None where the
/// folder cannot be typed on one line.
pub(crate) fn in_folder(command: &str, cwd: Option<&str>) -> Option<String> {
    Some(match cwd {
        Some(cwd) if !typable(cwd) => return None,
        Some(cwd) if cwd.starts_with('-') => format!("cd -- {} && {command}", quoted(cwd)),
        Some(cwd) => format!("cd {} && {command}", quoted(cwd)),
        None => command.to_owned(),
    })
}

/// Whether a word can be typed at all: not empty, no control characters.
pub(crate) fn typable(word: &str) -> bool {
    !word.is_empty() && !word.chars().any(char::is_control)
}

/// A word for a POSIX shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+' | b'@' | b':');
    if word.bytes().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_line() {
        assert_eq!(one_line("make \\\n  -j2\n\n  echo done\n"), "make -j2; echo done");
        assert_eq!(one_line(" ls "), "ls");
        assert_eq!(one_line(""), "");
    }

    #[test]
    fn words_cannot_break_out_of_their_quotes() {
        assert_eq!(quoted("a1-b2"), "a1-b2");
        assert_eq!(quoted("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(in_folder("go", Some("-x")).as_deref(), Some("cd -- -x && go"));
        assert_eq!(in_folder("go", Some("/a b")).as_deref(), Some("cd '/a b' && go"));
        assert_eq!(in_folder("go", Some("a\nb")), None);
    }
}
