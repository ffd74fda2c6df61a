//! `telling`: keeps what the next session could use.
//!
//! # What
//! Drops candidates of priority 1: those that say no more than that files were edited and a
//! check passed, or failed; and those whose commands name what only their session had, such as
//! a temporary file.
//!
//! # Why
//! They are true of most sessions. Among fifty memories they would hide the five that help.

use super::{Filter, Kept, Rule};
use crate::candidate::{Candidate, THIN, Voice};
use crate::methods::is_of_session;

pub(super) const FILTER: Filter = Filter {
    name: "telling",
    title: "drops what only says that files were edited and a check passed or failed",
    rule: Rule::Choice(keep),
};

fn keep(candidates: Vec<Candidate>) -> Kept {
    let before = candidates.len();
    let is_kept = |candidate: &Candidate| candidate.priority > THIN && !is_passing(candidate);
    let kept: Vec<Candidate> = candidates.into_iter().filter(is_kept).collect();
    let dropped = before - kept.len();
    (kept, (dropped > 0).then(|| format!("telling: {dropped} left out that say little")))
}

/// Whether a command of it can be run in no other session.
fn is_passing(candidate: &Candidate) -> bool {
    let is_command = |text: &str| candidate.text.contains(&format!("`{text}`"));
    let mut commands = candidate.spans.iter().filter(|span| span.voice == Voice::Model);
    commands.any(|span| is_command(&span.text) && is_of_session(&span.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::tests::candidate;

    #[test]
    fn what_says_little_is_left_out_and_counted() {
        let mut thin = candidate("a", "Editing `x` and then running `y` worked");
        thin.priority = THIN;
        let mut passing = candidate("c", "`sh /tmp/a.sh` worked");
        passing.spans[0].text = "sh /tmp/a.sh".to_owned();
        let (kept, note) = keep(vec![thin, passing, candidate("b", "run `z` first")]);
        assert_eq!(kept.iter().map(|candidate| candidate.id.as_str()).collect::<Vec<_>>(), ["b"]);
        assert_eq!(note.as_deref(), Some("telling: 2 left out that say little"));
    }
}
