//! The facts at the end of a session.

use std::collections::BTreeMap;

use retro_model::{Outcome as Ended, ToolClass};
use retro_text::calls::{Purpose, Verdict};

use super::words;
use crate::signals::satisfaction::{is_pleased, last_words};
use crate::signals::validation::changes_code;
use crate::trace::{Beat, Call, Speaker, Trace, What};

/// The most lines of a change that a person can dictate.
const DICTATED_LINES_MAX: u64 = 6;
/// The most characters of a prompt that dictates.
const DICTATION_CHARS_MAX: usize = 1_200;
/// A shorter prompt without any work after it asks for nothing.
const TRIVIAL_CHARS: usize = 15;

/// The facts that rules use. Ids are those of events.
#[derive(Default)]
pub(super) struct End<'a> {
    pub last_prompt: Option<(&'a str, &'a str)>,
    /// The last message, if nothing followed it.
    pub unanswered: Option<(&'a str, &'a str)>,
    /// The last text of the model, after the last message.
    pub answer: Option<(&'a str, &'a str)>,
    /// True if this text came after its last call.
    pub is_closed: bool,
    pub ends_in_error: Option<&'a str>,
    pub ends_in_interruption: Option<&'a str>,
    pub ends_in_refused_plan: Option<&'a str>,
    /// Set if rules refused all calls.
    pub only_refused: Option<&'a str>,
    /// The open call at the end of the log, and whether it publishes the work.
    pub open_call: Option<(&'a str, bool)>,
    /// The number of answered messages.
    pub finished_turns: usize,
    /// The last change of code that was not undone.
    pub last_edit: Option<&'a str>,
    pub last_document: Option<&'a str>,
    /// Checks after the last edit whose last verdict is a pass.
    pub checks_passed: Vec<&'a str>,
    pub checks_failed: Vec<&'a str>,
    /// Set if tests failed before the last edit and have not run since.
    pub left_red: Option<&'a str>,
    pub commit_after_edit: Option<&'a str>,
    /// True if that commit belongs to the last turn.
    pub commit_in_last_turn: bool,
    /// True if a commit, a check or a run came after the last message.
    pub shown_since: bool,
    /// True if the interruption came after the answer to its message.
    pub answered_before_cut: bool,
    pub run_after_edit: Option<&'a str>,
    pub push_failed: Option<&'a str>,
    pub pleased: Option<&'a str>,
    /// Set if the last message complains, and nothing was changed or checked since.
    pub open_complaint: Option<&'a str>,
    pub says_unrelated: bool,
    /// True if the answer says that a part is not done, or was not tried.
    pub admits_rest: bool,
    pub wants_change: bool,
    /// True if a message asked for a change, and no call of the session made one.
    pub change_not_made: bool,
    /// True if the change was to code, not to a document.
    pub wants_code: bool,
    /// True if an action since the last message left a trace outside.
    pub acted: bool,
    /// A refused call of the last turn, if no later call did the same kind of thing.
    pub left_refused: Option<&'a str>,
    /// A failed call of the last turn that was to fetch or change something, without a replacement.
    pub left_failed: Option<&'a str>,
    /// True if the change is small and was dictated.
    pub dictated: bool,
    pub trivial: bool,
    /// True if the whole session changed, committed and delegated nothing.
    pub made_nothing: bool,
    /// True if the last message is a question without a complaint, and the last turn changed
    /// nothing.
    pub went_on: bool,
}

impl<'a> End<'a> {
    pub(super) fn of(trace: &'a Trace) -> End<'a> {
        let mut end = End::default();
        end.conversation(trace);
        end.last_act(trace);
        end.work(trace);
        end.words(trace);
        end
    }

    /// Finds the last speaker.
    fn conversation(&mut self, trace: &'a Trace) {
        let main = || trace.beats.iter().filter(|beat| beat.thread == 0);
        // A command or a plan of another session can open a session instead of a person.
        let opened = || trace.said(Speaker::Other).find(|(beat, _)| beat.thread == 0);
        let prompt = last_request(trace).or_else(opened);
        self.last_prompt = prompt.map(|(beat, text)| (beat.id.as_str(), text));
        let mut answered = false;
        let mut acted = false;
        let last = self.last_prompt.map(|(id, _)| id);
        let mut is_over = false;
        for beat in main() {
            match &beat.what {
                // A command to the program after the last request asks for nothing.
                What::Said { .. } if beat.is_request() && is_over => {}
                What::Said { text, .. } if beat.is_request() => {
                    is_over = Some(beat.id.as_str()) == last;
                    self.is_closed = false;
                    self.finished_turns += usize::from(answered);
                    (answered, acted) = (false, false);
                    self.answer = None;
                    self.unanswered = Some((&beat.id, text));
                }
                What::Said { by: Speaker::Model, text } if !text.trim().is_empty() => {
                    answered = true;
                    self.is_closed = true;
                    self.answer = Some((&beat.id, text));
                    self.unanswered = None;
                }
                What::Call(_) => {
                    acted = true;
                    self.is_closed = false;
                    self.unanswered = None;
                }
                What::Interruption => {
                    self.answered_before_cut = answered && !acted;
                    self.unanswered = None;
                }
                What::Thought { .. } => self.unanswered = None,
                _ => {}
            }
        }
        self.finished_turns += usize::from(answered && !acted);
    }

    /// Finds the last action.
    fn last_act(&mut self, trace: &'a Trace) {
        let mut main = trace.beats.iter().filter(|beat| beat.thread == 0).rev();
        let Some(last) = main.find(|beat| !matches!(beat.what, What::Thought { .. } | What::Compaction))
        else {
            return;
        };
        match &last.what {
            What::Interruption => self.ends_in_interruption = Some(&last.id),
            What::Error { .. } if self.answer.is_none() => self.ends_in_error = Some(&last.id),
            What::Denial { .. } => {
                let plan = main.find_map(|beat| match &beat.what {
                    What::Call(call) => Some(call.class == ToolClass::Plan || call.class == ToolClass::Ask),
                    _ => None,
                });
                if plan == Some(true) {
                    self.ends_in_refused_plan = Some(&last.id);
                }
            }
            What::Call(call) if call.outcome == Some(Ended::Interrupted) => {
                self.ends_in_interruption = Some(&last.id)
            }
            What::Call(call) if call.outcome.is_none() => self.open_call = Some((&last.id, publishes(call))),
            _ => {}
        }
        let mut calls = trace.calls().peekable();
        let first = calls.peek().map(|(beat, _)| beat.id.as_str());
        let all_refused = calls.all(|(_, call)| call.outcome == Some(Ended::Denied));
        self.only_refused = first.filter(|_| all_refused && self.last_prompt.is_some());
    }

    /// Finds changes, checks and commits.
    fn work(&mut self, trace: &'a Trace) {
        let mut calls: Vec<(&Beat, &Call)> = trace.calls().collect();
        // Child sessions come last. If times are known, calls are sorted by them.
        if calls.iter().all(|(beat, _)| beat.ts.is_some()) {
            calls.sort_by_key(|(beat, _)| beat.ts);
        }
        let last_edit = calls.iter().rposition(|(_, call)| changes_code(call));
        let last_document = calls.iter().rposition(|(_, call)| call.changed_files() && !changes_code(call));
        let id = |at: usize| calls.get(at).map(|(beat, _)| beat.id.as_str());
        self.last_edit = last_edit.and_then(id);
        self.last_document = last_document.and_then(id);
        let after = calls.get(last_edit.map_or(0, |at| at + 1)..).unwrap_or_default();
        self.checks(after);
        self.left_red = last_edit.and_then(|at| left_red(calls.get(..at)?, after));
        let since_any_edit =
            calls.get(last_edit.max(last_document).map_or(0, |at| at + 1)..).unwrap_or_default();
        let kept = |call: &&(&Beat, &Call)| {
            call.1.commits
                && !matches!(call.1.verdict, Verdict::Failed)
                && !matches!(call.1.outcome, Some(Ended::Denied | Ended::Interrupted))
        };
        self.commit_after_edit = since_any_edit.iter().rfind(kept).map(|(beat, _)| beat.id.as_str());
        let ran = |call: &&(&Beat, &Call)| {
            call.1.class == ToolClass::Shell
                && call.1.purpose == Purpose::Run
                && call.1.verdict == Verdict::Passed
                && !is_inline(call.1)
        };
        self.run_after_edit = after.iter().rfind(ran).map(|(beat, _)| beat.id.as_str());
        let last_turn = last_request(trace).map(|(beat, _)| beat.turn);
        self.commit_in_last_turn =
            since_any_edit.iter().rfind(kept).is_some_and(|(beat, _)| Some(beat.turn) >= last_turn);
        let pushes: Vec<_> =
            calls.iter().filter(|(_, call)| call.runner.starts_with("git") && names_push(call)).collect();
        let push_asked = self.last_prompt.is_some_and(|(_, text)| text.to_lowercase().contains("push"));
        self.push_failed = pushes
            .last()
            .filter(|(_, call)| call.is_failed() && push_asked)
            .map(|(beat, _)| beat.id.as_str());
        let since = self.last_turn(trace);
        let shown =
            self.checks_passed.iter().copied().chain(self.commit_after_edit).chain(self.run_after_edit);
        self.shown_since = shown.into_iter().any(|id| since.iter().any(|(beat, _)| beat.id == id));
        self.acted = since.iter().any(|(_, call)| {
            call.changed_files()
                || call.commits
                || call.class == ToolClass::Subagent
                || (call.class == ToolClass::Shell
                    && matches!(
                        call.purpose,
                        Purpose::Run | Purpose::Other | Purpose::Vcs | Purpose::Install
                    ))
        });
        let lines: u64 = calls
            .iter()
            .filter(|(_, call)| changes_code(call))
            .flat_map(|(_, call)| &call.edits)
            .map(|edit| edit.added.max(edit.removed))
            .sum();
        let short = trace.requests().all(|(_, text)| text.chars().count() <= DICTATION_CHARS_MAX);
        self.dictated = lines > 0
            && lines <= DICTATED_LINES_MAX
            && short
            && !calls.iter().any(|(_, call)| call.is_failed() && call.is_validation())
            && trace.requests().count() <= 3
            && trace.requests().any(|(_, text)| is_dictation(text));
    }

    /// The calls since the last message.
    fn last_turn(&mut self, trace: &'a Trace) -> Vec<(&'a Beat, &'a Call)> {
        let asked = last_request(trace).map(|(beat, _)| beat.id.as_str());
        let at = asked.and_then(|id| trace.beats.iter().position(|beat| beat.id == id));
        let after = trace.beats.get(at.map_or(0, |at| at + 1)..).unwrap_or_default();
        let call = |beat: &'a Beat| match &beat.what {
            What::Call(call) if !call.has_nested => Some((beat, &**call)),
            _ => None,
        };
        let calls: Vec<(&Beat, &Call)> = after.iter().filter_map(call).collect();
        let is_denied = |call: &Call| call.outcome == Some(Ended::Denied);
        let denied = calls.iter().rposition(|(beat, call)| beat.thread == 0 && is_denied(call));
        let after = denied.and_then(|at| Some((calls.get(at)?, calls.get(at + 1..)?)));
        self.left_refused = after
            .filter(|((_, call), later)| {
                !later.iter().any(|(_, other)| is_alike(call, other) && !is_denied(other))
            })
            .map(|((beat, _), _)| beat.id.as_str());
        self.left_failed = left_failed(&calls);
        calls
    }

    /// True if the last turn changed a file or committed something.
    fn changed_since(&mut self, trace: &'a Trace) -> bool {
        self.last_turn(trace).iter().any(|(_, call)| call.changed_files() || call.commits)
    }

    /// Takes the last verdict of each runner.
    fn checks(&mut self, calls: &[(&'a Beat, &'a Call)]) {
        let mut last: BTreeMap<&str, (Verdict, &'a str)> = BTreeMap::new();
        for (beat, call) in calls.iter().filter(|(_, call)| call.is_validation() && !could_not_run(call)) {
            if matches!(call.verdict, Verdict::Passed | Verdict::Failed) {
                last.insert(&call.runner, (call.verdict, &beat.id));
            }
        }
        let of = |wanted: Verdict| {
            last.values().filter(move |(verdict, _)| *verdict == wanted).map(|(_, id)| *id).collect()
        };
        self.checks_passed = of(Verdict::Passed);
        self.checks_failed = of(Verdict::Failed);
    }

    /// Reads the texts at the end.
    fn words(&mut self, trace: &'a Trace) {
        if let Some((beat, text)) = last_words(trace) {
            let after = trace.beats.iter().skip_while(|other| other.id != beat.id).skip(1);
            let worked = after.clone().any(|other| matches!(&other.what, What::Call(call) if call.changed_files() || call.is_validation() || call.commits));
            match is_pleased(text) {
                Some(true) if words::is_farewell(text) || is_only_praise(text) => {
                    self.pleased = Some(&beat.id)
                }
                Some(false) if !worked => self.open_complaint = Some(&beat.id),
                _ => {}
            }
        }
        self.says_unrelated = self.answer.is_some_and(|(_, text)| words::is_unrelated(text));
        self.admits_rest = self.answer.is_some_and(|(_, text)| words::admits_rest(text));
        self.wants_code = self.last_prompt.is_some_and(|(_, text)| words::wants_code(text));
        let changes = |call: &Call| call.changed_files() || call.commits || call.class == ToolClass::Subagent;
        self.change_not_made = trace.requests().any(|(_, text)| words::wants_change(text))
            && !trace.calls().any(|(_, call)| changes(call) || writes_by_command(call));
        self.wants_change = self.last_prompt.is_some_and(|(_, text)| words::wants_change(text));
        self.made_nothing = !trace.calls().any(|(_, call)| changes(call));
        self.went_on = self.last_prompt.is_some_and(|(_, text)| words::is_question(text))
            && self.finished_turns > 1
            && self.open_complaint.is_none()
            && !self.changed_since(trace);
        let said: usize = trace.requests().map(|(_, text)| text.trim().chars().count()).max().unwrap_or(0);
        self.trivial = said < TRIVIAL_CHARS && trace.calls().next().is_none();
    }
}

/// The last message with a request. A command to the program, such as `/compact`, does not count if
/// nothing follows it.
fn last_request(trace: &Trace) -> Option<(&Beat, &str)> {
    let (mut last, mut command) = (None, None);
    for beat in trace.beats.iter().filter(|beat| beat.thread == 0) {
        match &beat.what {
            What::Said { text, .. } if beat.is_request() && is_bare_command(text) => {
                command = Some((beat, &**text))
            }
            What::Said { text, .. } if beat.is_request() => (last, command) = (Some((beat, &**text)), None),
            What::Said { by: Speaker::Model, .. } | What::Call(_) => last = command.take().or(last),
            _ => {}
        }
    }
    last
}

fn is_bare_command(text: &str) -> bool {
    let text = text.trim();
    text.strip_prefix('/').is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'))
    })
}

/// True if two calls do the same kind of thing, so that one can replace the other.
fn is_alike(one: &Call, other: &Call) -> bool {
    one.class == other.class
        && (one.class != ToolClass::Shell
            || one.runner == other.runner
            || (one.purpose == other.purpose && one.purpose != Purpose::Other))
}

/// The last failed call that was to fetch something or to change a file, if nothing was fetched at
/// all, or no file was changed after it.
fn left_failed<'a>(calls: &[(&'a Beat, &'a Call)]) -> Option<&'a str> {
    let is_outward = |call: &Call| matches!(call.class, ToolClass::Web | ToolClass::Mcp | ToolClass::Edit);
    let at =
        calls.iter().rposition(|(beat, call)| beat.thread == 0 && is_outward(call) && call.is_failed())?;
    let (beat, failed) = calls.get(at)?;
    let is_made_up = match failed.class {
        ToolClass::Edit => calls.get(at + 1..)?.iter().any(|(_, call)| call.changed_files()),
        class => calls.iter().any(|(_, call)| call.class == class && call.verdict == Verdict::Passed),
    };
    (!is_made_up).then_some(beat.id.as_str())
}

/// The last test before the last edit, if it failed and none ran after it. Without tests, the last
/// check of any kind.
fn left_red<'a>(before: &[(&'a Beat, &'a Call)], after: &[(&'a Beat, &'a Call)]) -> Option<&'a str> {
    let is_known = |call: &Call| {
        call.is_validation()
            && matches!(call.verdict, Verdict::Passed | Verdict::Failed)
            && !could_not_run(call)
    };
    let is_test = |call: &Call| is_known(call) && call.purpose == Purpose::Test;
    let has_tests = before.iter().any(|(_, call)| is_test(call));
    let counts = |call: &Call| if has_tests { is_test(call) } else { is_known(call) };
    let (beat, last) = before.iter().rfind(|(_, call)| counts(call))?;
    let is_red = last.verdict == Verdict::Failed && !after.iter().any(|(_, call)| counts(call));
    is_red.then_some(beat.id.as_str())
}

/// True for a command that can change something without naming it.
fn writes_by_command(call: &Call) -> bool {
    call.class == ToolClass::Shell
        && matches!(call.purpose, Purpose::Run | Purpose::Other | Purpose::Vcs | Purpose::Install)
        && !call.is_failed()
}

/// True for short words of praise without a request.
fn is_only_praise(text: &str) -> bool {
    text.chars().count() < 80 && !text.contains('?') && !words::goes_on(text)
}

/// True for a call that publishes the work. Some logs end with it.
fn publishes(call: &Call) -> bool {
    call.commits
        || names_push(call)
        || call.command.as_deref().is_some_and(|line| line.contains("gh pr create"))
}

fn names_push(call: &Call) -> bool {
    call.class == ToolClass::Shell && call.command.as_deref().is_some_and(|line| line.contains("git push"))
}

/// True for a check that failed because it could not run. It does not test the work.
fn could_not_run(call: &Call) -> bool {
    let sample = call.sample.as_deref().unwrap_or_default();
    call.is_failed() && words::is_about_environment(sample)
}

/// True for code on the command line, a weak form of evidence.
fn is_inline(call: &Call) -> bool {
    call.command.as_deref().is_some_and(|line| {
        [" -c ", " -e ", "<<", "--version", "--help"].iter().any(|flag| line.contains(flag))
    })
}

/// True for a prompt with the text to write: quotes, code or `from … to …`.
fn is_dictation(text: &str) -> bool {
    text.contains(['"', '`', '\'', '“'])
        || (text.contains(" to ") && text.contains("change"))
        || text.contains("replace")
}
