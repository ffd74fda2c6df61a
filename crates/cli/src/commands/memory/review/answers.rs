//! Reads a person's answers: keys on a terminal, else lines.

use std::io::{BufRead, IsTerminal, Read, Write};

/// The source of answers.
pub struct Answers {
    by_key: bool,
}

impl Answers {
    /// Keys if the input is a suitable terminal, else lines.
    pub fn of_input() -> Answers {
        Answers { by_key: cfg!(unix) && std::io::stdin().is_terminal() }
    }

    /// One letter. `None` at the end of input.
    pub fn letter(&self, question: &str) -> Option<char> {
        ask(question);
        if self.by_key
            && let Some(key) = key()
        {
            ask(&format!("{key}\n"));
            return Some(key);
        }
        // An empty line has no letter.
        self.rest().map(|line| line.chars().next().unwrap_or(' '))
    }

    /// One line. `None` at the end of input.
    pub fn line(&self, question: &str) -> Option<String> {
        ask(question);
        self.rest()
    }

    fn rest(&self) -> Option<String> {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim().to_owned())
    }
}

fn ask(question: &str) {
    let mut out = std::io::stderr();
    let _ = write!(out, "{question}");
    let _ = out.flush();
}

/// The next key of the terminal. Restores the terminal before it returns. Keys that would end the
/// program are read as `q`.
#[cfg(unix)]
fn key() -> Option<char> {
    use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
    let input = std::io::stdin();
    let before = tcgetattr(&input).ok()?;
    let mut plain = before.clone();
    plain.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG);
    tcsetattr(&input, SetArg::TCSANOW, &plain).ok()?;
    let mut byte = [0_u8; 1];
    let read = input.lock().read(&mut byte);
    let _ = tcsetattr(&input, SetArg::TCSANOW, &before);
    match (read, byte) {
        (Ok(1), [3 | 4 | 27]) | (Ok(0), _) => Some('q'),
        (Ok(_), [byte]) => Some(char::from(byte)),
        (Err(_), _) => None,
    }
}

#[cfg(not(unix))]
fn key() -> Option<char> {
    None
}
