//! Groups the calls of a turn or session into repeatable steps.

use retro_insight::{Beat, Call};
use retro_model::ToolClass;
use retro_text::calls::{Purpose, Verdict};

use super::evidence::Evidence;

/// The phase of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Looking at files or for something.
    Look,
    /// Changing files or settings.
    Edit,
    /// Checking the work.
    Check,
    /// Running anything else.
    Run,
    /// Committing the work.
    Keep,
}

/// The phase of a call. `None` for a call without effect.
pub(super) fn phase(call: &Call) -> Option<Phase> {
    if call.changed_files() {
        return Some(Phase::Edit);
    }
    match call.class {
        ToolClass::Read | ToolClass::Search => Some(Phase::Look),
        ToolClass::Shell if call.commits => Some(Phase::Keep),
        ToolClass::Shell if call.is_validation() => Some(Phase::Check),
        ToolClass::Shell => match call.purpose {
            Purpose::Read | Purpose::Search => Some(Phase::Look),
            Purpose::Run | Purpose::Install | Purpose::Format => Some(Phase::Run),
            _ => None,
        },
        _ => None,
    }
}

/// A repeatable step of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub phase: Phase,
    /// In words: "edit `a.rs`".
    pub text: String,
}

/// Groups calls into steps: consecutive calls of the same phase form one step.
pub(super) fn steps<'a>(calls: &[(&'a Beat, &'a Call)], evidence: &mut Evidence<'a>) -> Vec<Step> {
    let mut runs: Vec<(Phase, Vec<(&'a Beat, &'a Call)>)> = Vec::new();
    for (beat, call) in calls {
        let Some(phase) = phase(call) else { continue };
        match runs.last_mut() {
            Some((last, run)) if *last == phase => run.push((beat, call)),
            _ => runs.push((phase, vec![(beat, call)])),
        }
    }
    let mut steps: Vec<Step> = Vec::new();
    for (phase, run) in runs {
        for text in described(phase, &run, evidence) {
            let step = Step { phase, text };
            if steps.last() != Some(&step) {
                steps.push(step);
            }
        }
    }
    steps
}

fn described<'a>(phase: Phase, run: &[(&'a Beat, &'a Call)], evidence: &mut Evidence<'a>) -> Vec<String> {
    match phase {
        Phase::Look => evidence.read(run).map(|files| format!("read {files}")).into_iter().collect(),
        Phase::Edit => evidence.edited(run).map(|files| format!("edit {files}")).into_iter().collect(),
        Phase::Check | Phase::Run | Phase::Keep => {
            let mut steps: Vec<String> = Vec::new();
            for (beat, call) in run {
                let command = match phase {
                    Phase::Keep => evidence.commit(beat, call),
                    _ => evidence.command(beat, call),
                };
                let Some(command) = command else { continue };
                let step = match call.verdict {
                    Verdict::Failed => format!("run {command} (failed)"),
                    Verdict::Passed if phase == Phase::Check => format!("run {command} (passed)"),
                    _ => format!("run {command}"),
                };
                if !steps.contains(&step) {
                    steps.push(step);
                }
            }
            steps
        }
    }
}

/// At most `max` steps: the first and the last, and a note on those in between.
pub(super) fn bounded(steps: Vec<Step>, max: usize) -> Vec<String> {
    let mut steps: Vec<String> = steps.into_iter().map(|step| step.text).collect();
    if steps.len() <= max {
        return steps;
    }
    let head = max / 3;
    let tail = max - head - 1;
    let left_out = steps.len() - head - tail;
    let end = steps.split_off(steps.len() - tail);
    steps.truncate(head);
    steps.push(format!("({left_out} more steps)"));
    steps.extend(end);
    steps
}

/// Notable commands besides the checks: installs, formatters, the user's own programs.
pub(super) fn also_run<'a>(calls: &[(&'a Beat, &'a Call)], evidence: &mut Evidence<'a>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (beat, call) in calls {
        let ran = phase(call) == Some(Phase::Run) && call.verdict == Verdict::Passed && !is_look(call);
        if ran
            && found.len() < 2
            && let Some(command) = evidence.command(beat, call)
            && !found.contains(&command)
        {
            found.push(command);
        }
    }
    found
}

/// True if anything ran besides editors, checks and formatters.
pub(super) fn has_own_commands(calls: &[(&Beat, &Call)]) -> bool {
    calls.iter().any(|(_, call)| {
        phase(call) == Some(Phase::Run)
            && call.purpose != Purpose::Format
            && call.verdict == Verdict::Passed
            && !is_look(call)
    })
}

/// True for read-only programs and inline code.
fn is_look(call: &Call) -> bool {
    let line = call.command.as_deref().unwrap_or_default();
    [" -c ", " -e ", "--version", "--help", "/tmp/"].iter().any(|part| line.contains(part))
}
