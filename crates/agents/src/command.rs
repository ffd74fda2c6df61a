//! Command lines: as agents log them, an argument list or a script, and as a user can
//! paste them.

/// The script that an argument list runs: the argument of a shell's `-c` or `-lc`, or the words
/// themselves, quoted where they need it.
pub(crate) fn script(argv: &[&str]) -> String {
    match argv {
        [shell, flag, script, ..]
            if is_shell(shell) && matches!(*flag, "-c" | "-lc" | "-ic" | "-Command") =>
        {
            (*script).to_owned()
        }
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "fish" | "ksh" | "pwsh" | "powershell")
}

/// The command that resumes a session from its own folder: `agent` and the session's id. `None` if
/// pasting it would not be safe.
pub(crate) fn resume(agent: &str, session_id: &str, cwd: Option<&str>) -> Option<String> {
    let unfit = |text: &str| text.is_empty() || text.chars().any(char::is_control);
    if unfit(session_id) || session_id.starts_with('-') || cwd.is_some_and(unfit) {
        return None;
    }
    let resume = format!("{agent} {}", quoted(session_id));
    Some(match cwd {
        Some(cwd) if cwd.starts_with('-') => format!("cd -- {} && {resume}", quoted(cwd)),
        Some(cwd) => format!("cd {} && {resume}", quoted(cwd)),
        None => resume,
    })
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+' | b'@' | b':' | b'=' | b',')
    };
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A script on one line. Continued lines are joined; other line ends become `; `.
pub(crate) fn one_line(script: &str) -> String {
    let mut line = String::with_capacity(script.len());
    let mut joined = true;
    for part in script.lines() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_runs_its_script_and_other_programs_their_words() {
        assert_eq!(script(&["bash", "-lc", "ls -l | wc"]), "ls -l | wc");
        assert_eq!(script(&["/usr/bin/zsh", "-c", "x"]), "x");
        assert_eq!(script(&["git", "commit", "-m", "it's"]), r"git commit -m 'it'\''s'");
        assert_eq!(script(&["bash"]), "bash");
        assert_eq!(script(&[]), "");
    }

    #[test]
    fn resuming_goes_to_the_folder_first() {
        let resume = |id, cwd| resume("agent -r", id, cwd);
        assert_eq!(resume("a1-b2", None).unwrap(), "agent -r a1-b2");
        assert_eq!(resume("a1", Some("/w/it's here")).unwrap(), r"cd '/w/it'\''s here' && agent -r a1");
        assert_eq!(resume("a;rm", Some("-x")).unwrap(), "cd -- -x && agent -r 'a;rm'");
        assert_eq!(resume("a\nb", None), None);
        assert_eq!(resume("--last", None), None);
        assert_eq!(resume("a", Some("")), None);
    }

    #[test]
    fn a_script_is_one_line() {
        assert_eq!(one_line("cargo test \\\n  --all\n\n  echo done\n"), "cargo test --all; echo done");
        assert_eq!(one_line(" ls "), "ls");
    }
}
