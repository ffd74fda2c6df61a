//! Solutions: the commands and edits between the last failure and the first run that passed.

use retro_text::calls::{Purpose, Verdict, covers, same_command, understand};

use crate::fault::is_setting;
use crate::session::{Act, Session};
use crate::sign::Remedy;

/// The number of calls after a failure that are searched for its end.
const WITHIN: usize = 60;
/// The most steps that are kept: the last ones before it passed.
const STEPS_MAX: usize = 3;

/// A remedy and its kind.
pub(crate) struct Found {
    /// `None` if the same command passed when it was run again.
    pub remedy: Option<Remedy>,
    /// True if only code was changed.
    pub only_code: bool,
}

/// The steps after the call at `place` until the same command passed, and the index of that call.
pub(crate) fn after(session: &Session<'_>, place: usize) -> Option<(Found, usize)> {
    let failed = session.acts.get(place)?;
    let later = session.acts.iter().enumerate().skip(place + 1).take(WITHIN);
    let mut later = later.take_while(|(_, act)| act.beat.thread == failed.beat.thread);
    let (end, passed) = later.find(|(_, act)| act.call.verdict == Verdict::Passed && ends(act, failed))?;
    let mut steps: Vec<&Act<'_>> = Vec::new();
    let between = session.acts.get(place + 1..end).unwrap_or_default();
    steps.extend(between.iter().filter(|act| helps(act)));
    // The same command with another option, or as another user: this is the solution.
    if !is_same(passed, failed) && passed.call.command.is_some() {
        steps.push(passed);
    }
    let only_code = !steps.is_empty()
        && steps.iter().all(|act| act.changes() && act.call.edits.iter().all(|edit| !is_setting(&edit.path)));
    let skip = steps.len().saturating_sub(STEPS_MAX);
    let mut remedy = Remedy::default();
    for act in steps.into_iter().skip(skip) {
        let step = session.did(act);
        if !remedy.steps.iter().any(|known| known.text == step.text) {
            remedy.steps.push(step);
        }
    }
    let remedy = Some(remedy).filter(|remedy| !remedy.steps.is_empty());
    Some((Found { remedy, only_code }, end))
}

/// True if a call may have fixed something.
fn helps(act: &Act<'_>) -> bool {
    if act.changes() {
        return true;
    }
    let is_run = act.call.command.is_some() && !act.looks && !act.call.is_failed();
    let is_check = act.call.purpose.is_validation() && act.call.purpose != Purpose::Build;
    is_run && !is_check && act.call.purpose != Purpose::Vcs && act.call.verdict != Verdict::Failed
}

/// True if this call's success proves that the other one is fixed.
fn ends(later: &Act<'_>, failed: &Act<'_>) -> bool {
    match (&later.call.command, &failed.call.command) {
        (Some(one), Some(other)) => {
            let (one, other) = (understand(one), understand(other));
            same_command(&one, &other)
                || covers(&one, &other)
                || (!failed.call.runner.is_empty() && later.call.runner == failed.call.runner && !later.looks)
        }
        (None, None) => {
            let paths =
                |act: &Act<'_>| act.call.edits.iter().map(|edit| edit.path.clone()).collect::<Vec<_>>();
            later.call.name == failed.call.name && paths(later) == paths(failed)
        }
        _ => false,
    }
}

fn is_same(one: &Act<'_>, other: &Act<'_>) -> bool {
    match (&one.call.command, &other.call.command) {
        (Some(one), Some(other)) => {
            squeezed(one) == squeezed(other) || same_command(&understand(one), &understand(other))
        }
        _ => true,
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Session<'_> {
    /// The remedy of the last failure at `place`, and the index of the call that passed.
    pub(crate) fn remedy(&self, place: usize) -> Option<(Found, usize)> {
        after(self, place)
    }
}
