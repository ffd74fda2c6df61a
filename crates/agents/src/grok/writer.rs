//! Writes a script as Grok Build 1.0.41 would have logged it.
//!
//! All values follow from the script: ids are derived from the session's id and a counter, times
//! from the script's clock, tokens from the number of answers. The same script gives the same
//! bytes. A sub-agent is a session of its own in a folder beside its parent's; a compaction removes
//! the earlier items from the chat.

use std::path::PathBuf;

use super::pages::Desk;
use super::story::Session;
use crate::script::Script;

/// `--fork-session` and `/fork`: the lines are copied, and their event ids keep the id of the
/// session that wrote them.
pub(super) const WAYS: &[&str] = &["copy"];

/// The longest group name that is not shortened, in bytes.
const GROUP_BYTES_MAX: usize = 255;

pub(super) fn write(script: &Script) -> Vec<(PathBuf, Vec<u8>)> {
    let group = PathBuf::from(".grok").join("sessions").join(group(&script.cwd));
    let mut desk = Desk::new(&script.session, script.start_ms);
    let mut files = Vec::new();
    let mut session = Session::new(script, &script.session, None, &mut desk);
    for (fork, steps) in script.sessions() {
        if let Some(fork) = fork {
            let history = session.history();
            session.finish(&mut files);
            session = Session::forked(script, &fork.session, history, &mut desk);
        }
        session.steps(steps);
    }
    session.finish(&mut files);
    let mut all: Vec<(PathBuf, Vec<u8>)> =
        files.into_iter().map(|(path, bytes)| (group.join(path), bytes)).collect();
    if encoded(&script.cwd).len() > GROUP_BYTES_MAX {
        all.push((group.join(".cwd"), script.cwd.clone().into_bytes()));
    }
    all
}

/// The folder name of a working directory.
fn group(cwd: &str) -> String {
    let name = encoded(cwd);
    if name.len() <= GROUP_BYTES_MAX {
        return name;
    }
    let last = cwd.rsplit('/').next().unwrap_or_default();
    let slug: String = last.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    format!("{slug}-{:016x}", xxhash_rust::xxh3::xxh3_64(cwd.as_bytes()))
}

fn encoded(cwd: &str) -> String {
    let mut name = String::new();
    for byte in cwd.bytes() {
        match byte {
            b'-' | b'_' | b'.' | b'~' => name.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => name.push(char::from(byte)),
            byte => name.push_str(&format!("%{byte:02X}")),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_like_the_programs() {
        assert_eq!(group("/home/dev/my é"), "%2Fhome%2Fdev%2Fmy%20%C3%A9");
        let long = format!("/{}/last one", "x".repeat(300));
        assert!(group(&long).starts_with("lastone-") && group(&long).len() < 40);
        let script = Script { cwd: long.clone(), ..Script::parse("> hi").unwrap() };
        assert!(
            write(&script).iter().any(|(path, bytes)| path.ends_with(".cwd") && bytes == long.as_bytes())
        );
    }

    #[test]
    fn the_same_script_gives_the_same_bytes() {
        let script = Script::parse("> a\n? hm\n$ ls\n| x\n& look\n. < found\n= so far\n< done\n^").unwrap();
        assert_eq!(write(&script), write(&script));
    }
}
