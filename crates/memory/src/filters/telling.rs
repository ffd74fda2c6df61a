//! `telling`: keeps what the next session could use.
//!
//! # What
//! Drops candidates of priority 1: those that say no more than that files were edited and a
//! check passed, or failed.
//!
//! # Why
//! They are true of most sessions. Among fifty memories they would hide the five that help.

use super::{Filter, Kept, Rule};
use crate::candidate::{Candidate, THIN};

pub(super) const FILTER: Filter = Filter {
    name: "telling",
    title: "drops what only says that files were edited and a check passed or failed",
    rule: Rule::Choice(keep),
};

fn keep(candidates: Vec<Candidate>) -> Kept {
    let before = candidates.len();
    let kept: Vec<Candidate> = candidates.into_iter().filter(|candidate| candidate.priority > THIN).collect();
    let dropped = before - kept.len();
    (kept, (dropped > 0).then(|| format!("telling: {dropped} left out that say little")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::tests::candidate;

    #[test]
    fn what_says_little_is_left_out_and_counted() {
        let mut thin = candidate("a", "Editing `x` and then running `y` worked");
        thin.priority = THIN;
        let (kept, note) = keep(vec![thin, candidate("b", "run `z` first")]);
        assert_eq!(kept.iter().map(|candidate| candidate.id.as_str()).collect::<Vec<_>>(), ["b"]);
        assert_eq!(note.as_deref(), Some("telling: 1 left out that say little"));
    }
}
