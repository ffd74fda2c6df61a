//! Errors that were fixed: the failure, the next steps, and the later success of the same command.
//!
//! Only failures that later passed count. Failures of the agent's own tools (a text to replace that
//! was not found) teach a person nothing and are left out, and so is a repair without any known
//! step.

use hashbrown::HashMap;
use retro_insight::{Beat, Call};
use retro_model::ToolClass;
use retro_search::Repair;
use retro_text::calls::{Purpose, Verdict, understand};
use serde_json::json;

use super::commands::{answers, below, is_misuse};
use super::evidence::quoted;
use super::repeatable::{is_configuration, is_look, is_of_session, names_source_line};
use super::repo_commands::is_unable;
use super::{Method, shell};
use crate::candidate::{Candidate, Kind, Span, THIN, Voice};
use crate::episode::{Change, Episode, shortened};

pub(super) const METHOD: Method =
    Method { name: "error_fix", title: "errors that came up, and what made the same command pass", mine };

/// Maximum steps in the text.
const STEPS_MAX: usize = 3;
/// Maximum characters of all steps.
const STEPS_CHARS_MAX: usize = 260;
/// Maximum candidates of one session.
const CANDIDATES_MAX: usize = 3;
/// Maximum error lines that searches match.
const LINES_MAX: usize = 4;
/// Maximum characters of an error line, in the text and in the search key.
const ERROR_CHARS: usize = 160;
const KEY_CHARS: usize = 100;

fn mine(episode: &Episode) -> Vec<Candidate> {
    let mut by_error: HashMap<String, Vec<&Repair>> = HashMap::new();
    for repair in &episode.repairs {
        if let Some(subject) = subject(episode, repair) {
            by_error.entry(subject).or_default().push(repair);
        }
    }
    let mut found: Vec<Candidate> =
        by_error.iter().filter_map(|(subject, repairs)| fix(episode, subject, repairs)).collect();
    found.sort_by(|a, b| {
        (b.priority, b.seen, b.created_at)
            .cmp(&(a.priority, a.seen, a.created_at))
            .then(a.subject.cmp(&b.subject))
    });
    // A test that failed while its code was being written is no lesson.
    found.retain(|candidate| {
        let is_by_commands = candidate.files.is_empty() && !candidate.stance.is_empty();
        candidate.priority > ASSERTION || is_by_commands
    });
    // Errors with the same cause become one memory.
    let mut told: Vec<Candidate> = Vec::new();
    for candidate in found {
        let is_same = |known: &&mut Candidate| known.stance == candidate.stance && !known.stance.is_empty();
        match told.iter_mut().find(is_same) {
            Some(known) => {
                for said in candidate.spans.into_iter().skip(1).take(1) {
                    if !known.evidence_refs.contains(&said.event_id) {
                        known.evidence_refs.push(said.event_id.clone());
                    }
                    known.spans.push(said);
                }
            }
            None => told.push(candidate),
        }
    }
    told.truncate(CANDIDATES_MAX);
    told
}

/// Identifies an error: by its fingerprint, else by a line that the passing run lacks.
fn subject(episode: &Episode, repair: &Repair) -> Option<String> {
    if !repair.fingerprint.is_empty() {
        return Some(repair.fingerprint.clone());
    }
    let passing = repair.passing.as_ref()?;
    let line = distinctive(episode, &repair.failing.event_id, &passing.event_id)?;
    let is_fixed = |c: &char| c.is_alphabetic() || c.is_whitespace();
    let words: String = line.to_lowercase().chars().filter(is_fixed).collect();
    Some(format!("line:{}", words.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// The priority of a test that failed and then passed.
const ASSERTION: u8 = 3;

/// The last repair of one error, in words, with its evidence.
fn fix(episode: &Episode, subject: &str, repairs: &[&Repair]) -> Option<Candidate> {
    let repair = repairs.iter().rev().find(|repair| repair.passing.is_some())?;
    let passing = repair.passing.as_ref()?;
    let (failed_beat, failed) = episode.call(&repair.failing.event_id)?;
    let is_read = matches!(failed.purpose, Purpose::Read | Purpose::Search);
    if failed.class != ToolClass::Shell || failed.verdict != Verdict::Failed || is_read {
        return None;
    }
    let lines = distinctive_lines(episode, &repair.failing.event_id, &passing.event_id);
    let snippet = repair.failing.snippet.as_deref().filter(|_| !repair.fingerprint.is_empty());
    let error = match snippet.and_then(cause) {
        Some(error) => error,
        // A summary only shows the failure. The reason is in a line that the passing run lacks.
        None => telling(&lines)?,
    };
    let ran = episode.span(&failed_beat.id, &shell::core(failed.command.as_deref()?)?)?;
    let said = episode.span(&repair.failing.event_id, error)?;
    let (passed_beat, passed) = episode.call(&passing.event_id)?;
    let again = episode.span(&passed_beat.id, &shell::core(passed.command.as_deref()?)?)?;
    let steps = steps(episode, repair, passed);
    let is_other_command = again.text != ran.text;
    // Of a look that failed and passed later, time is what helped; so it is of what a command
    // says that has to do with this session alone.
    let is_of_time = is_look(failed.command.as_deref()?) && !(is_other_command && is_unable(failed));
    if is_of_time || is_of_session(&ran.text) || is_of_session(&again.text) {
        return None;
    }
    if !steps.is_empty() && steps.iter().all(|step| step.is_discard) {
        return None;
    }
    // What was run in a way that could not work is mended by another way, not by what was
    // edited meanwhile.
    let is_misused = is_unable(failed) || is_misuse(failed);
    let steps: Vec<Done> = match is_other_command && is_misused {
        true => steps.into_iter().filter(|step| step.file.is_none()).collect(),
        false => steps,
    };
    if is_being_written(&said.text, is_misused, &steps) || is_everyday(failed.purpose, &steps) {
        return None;
    }
    let program = |line: &str| line.split_whitespace().next().map(str::to_owned);
    if steps.is_empty() && !is_misused && program(&ran.text) == program(&again.text) {
        // Other arguments passed: nothing was mended.
        return None;
    }
    if !is_other_command
        && steps.iter().all(|step| step.file.is_some())
        && !can_be_edited(failed.purpose, &said.text)
    {
        return None;
    }
    if steps.is_empty() && !is_other_command || is_plain(failed.purpose, &said.text, &steps, repairs.len()) {
        return None;
    }
    let told: Vec<String> = steps.iter().map(|step| step.told.clone()).collect();
    let done = match (told.is_empty(), is_other_command) {
        (false, false) => format!("It passed after this: {}.", told.join("; ")),
        (false, true) => format!("`{}` passed after this: {}.", again.text, told.join("; ")),
        (true, _) => format!("This passed instead: `{}`.", again.text),
    };
    let mut candidate = episode.candidate("error_fix", Kind::FailureTrigger, subject.to_owned());
    candidate.text = format!("`{}` failed, output said: {}. {done}", ran.text, quoted(&said.text));
    let key = said.text.get(..said.text.floor_char_boundary(KEY_CHARS)).unwrap_or_default();
    candidate.when_to_use = format!("`{}` fails, output said: {}", runner(&ran.text), quoted(key.trim()));
    candidate.seen = count(repairs.len());
    candidate.worked = count(repairs.iter().filter(|repair| repair.passing.is_some()).count());
    let is_assertion = failed.purpose == Purpose::Test
        && (failed.failed.is_some_and(|failed| failed > 0) || is_assertion(&said.text));
    let is_thin = !is_other_command && !steps.iter().any(|step| step.is_telling) && candidate.worked < 2;
    candidate.priority = match is_assertion {
        _ if is_thin => THIN,
        true => ASSERTION,
        false => 4 + u8::from(candidate.worked > 1),
    };
    candidate.confidence = if is_assertion { 0.65 } else { 0.8 };
    candidate.scope_reason = "the files and commands are of this repository".to_owned();
    candidate.files = steps.iter().filter_map(|step| step.file.clone()).collect();
    candidate.stance = told.join("; ");
    candidate.created_at = passed_beat.ts.or(candidate.created_at);
    candidate.origin = Voice::Model;
    candidate.structured = Some(json!({
        "error": quoted(&said.text), "command": ran.text, "steps": told, "passing": again.text,
    }));
    candidate.evidence_refs = [&failed_beat.id, &repair.failing.event_id]
        .into_iter()
        .chain(steps.iter().flat_map(|step| &step.spans).map(|span| &span.event_id))
        .chain([&passed_beat.id, &passing.event_id])
        .cloned()
        .collect();
    candidate.evidence_refs.dedup();
    let more = lines.iter().filter(|line| **line != said.text).take(LINES_MAX - 1);
    let more: Vec<Span> = more.filter_map(|line| episode.span(&repair.failing.event_id, line)).collect();
    candidate.spans = [ran, said]
        .into_iter()
        .chain(steps.into_iter().flat_map(|step| step.spans))
        .chain([again])
        .chain(more)
        .collect();
    Some(candidate)
}

/// True if the fix is obvious: a checker names a file, and that file is edited.
fn is_plain(purpose: Purpose, error: &str, steps: &[Done], seen: usize) -> bool {
    let names = |step: &Done| {
        let name = step.file.as_deref().and_then(|file| file.rsplit(['/', '\\']).next());
        name.is_some_and(|name| error.contains(name))
    };
    let checks = matches!(purpose, Purpose::Lint | Purpose::Typecheck | Purpose::Build | Purpose::Format);
    checks
        && seen < 2
        && !steps.is_empty()
        && steps.iter().all(|step| step.file.is_some())
        && steps.iter().any(names)
}

/// Whether the code was being written: sources were edited until it passed, and are mended now.
/// It is no such thing where something is missing on the machine, and the error names no line
/// of source; what was run beside the edits does not count if it does.
fn is_being_written(error: &str, is_misused: bool, steps: &[Done]) -> bool {
    let is_source = |step: &Done| step.file.as_deref().is_some_and(|file| !is_configuration(file));
    let has_source = steps.iter().any(is_source);
    match names_source_line(error) {
        true => has_source,
        false => !is_misused && has_source && steps.iter().all(is_source),
    }
}

/// Whether version control refused, and a command of version control mended it, as everywhere.
fn is_everyday(purpose: Purpose, steps: &[Done]) -> bool {
    purpose == Purpose::Vcs
        && !steps.is_empty()
        && steps.iter().all(|step| step.is_vcs || step.file.is_some())
}

/// True if editing files can make the command pass. An edit cannot fix errors from git and its
/// servers, nor errors of the command line itself.
fn can_be_edited(purpose: Purpose, error: &str) -> bool {
    let is_of_shell = ["(eval):", "bash: line", "zsh:", "sh: "].iter().any(|start| error.starts_with(start));
    purpose != Purpose::Vcs && !is_of_shell
}

/// A step between a failure and the success.
struct Done {
    told: String,
    spans: Vec<Span>,
    file: Option<String>,
    /// True if it describes a change, not only its place.
    is_telling: bool,
    /// True if it discards earlier work.
    is_discard: bool,
    /// It is a command of version control.
    is_vcs: bool,
}

impl Done {
    /// An edit of a file, with its change if that is small. A file name and the previous line are
    /// not the model's words.
    fn edit(episode: &Episode, beat: &Beat, path: &str, place: Span) -> Done {
        let place = Span { voice: place.voice.max(Voice::Tool), ..place };
        let named = edited(below(episode, path));
        let mut done = Done {
            told: named.clone(),
            spans: vec![place],
            file: Some(path.to_owned()),
            is_telling: false,
            is_discard: false,
            is_vcs: false,
        };
        let Some(change) = episode.quotes.change(&beat.id) else { return done };
        let held = |line: &String| episode.span(&beat.id, line);
        let removed: Option<Vec<Span>> = change.removed.iter().map(held).collect();
        let added: Option<Vec<Span>> = change.added.iter().map(held).collect();
        if let (Some(removed), Some(added), Some(what)) = (removed, added, what(change)) {
            done.told = format!("{named}: {what}");
            let foreign = |span: Span| Span { voice: span.voice.max(Voice::Tool), ..span };
            done.spans.extend(removed.into_iter().map(foreign).chain(added));
            done.is_telling = true;
        }
        done
    }

    /// Shortens the text to the file name, without the change.
    fn briefly(&mut self, episode: &Episode) {
        if let Some(file) = &self.file {
            self.told = edited(below(episode, file));
            self.spans.truncate(1);
            self.is_telling = false;
        }
    }
}

/// States that a file was edited. Names it unless its name would end a quotation.
fn edited(name: &str) -> String {
    match marked(name) {
        Some(name) => format!("edited {name}"),
        None => "edited a file".to_owned(),
    }
}

/// Words between marks that they do not contain. `None` if they contain every mark.
fn marked(words: &str) -> Option<String> {
    match (words.contains(['`', '\n', '\r']), words.contains(['"', '“', '”', '\n', '\r'])) {
        (false, _) => Some(format!("`{words}`")),
        (true, false) => Some(format!("\"{words}\"")),
        (true, true) => None,
    }
}

/// The change in words, if it can be quoted.
fn what(change: &Change) -> Option<String> {
    let lines = |lines: &[String]| {
        let marked: Option<Vec<String>> = lines.iter().map(|line| marked(line)).collect();
        marked.map(|lines| lines.join(" and "))
    };
    Some(match (change.removed.as_slice(), change.added.as_slice()) {
        ([], added) => format!("added {}", lines(added)?),
        (removed, []) => format!("removed {}", lines(removed)?),
        (removed, added) => format!("{} became {}", lines(removed)?, lines(added)?),
    })
}

/// The last changes before the success: edits, and commands that change something. Excludes
/// anything before the last failing run, since it did not help.
fn steps(episode: &Episode, repair: &Repair, passed: &Call) -> Vec<Done> {
    let mut done: Vec<Done> = Vec::new();
    for step in repair.steps.iter().rev() {
        let Some((beat, call)) = episode.call(&step.event_id) else { continue };
        if call.is_failed() && answers(passed, call) {
            break;
        }
        let is_shell = call.class == ToolClass::Shell;
        let is_moved = is_shell && call.command.as_deref().is_some_and(shell::puts_in_place);
        let next = if call.changed_files() && !is_moved {
            call.edits.first().and_then(|edit| {
                let span = episode
                    .span(&beat.id, &edit.path)
                    .or_else(|| episode.span(&step.event_id, &edit.path))?;
                Some(Done::edit(episode, beat, &edit.path, span))
            })
        } else if !call.is_failed()
            && is_shell
            && call.command.as_deref().is_some_and(|line| shell::changes_something(line) && !is_look(line))
        {
            call.command.as_deref().and_then(|command| {
                let ran = shell::whole(command).map(str::to_owned).or_else(|| shell::core(command))?;
                let span = episode.span(&beat.id, &ran)?;
                let told = format!("ran `{}`", span.text);
                let is_discard = shell::is_discard(command);
                let is_vcs = call.purpose == Purpose::Vcs;
                Some(Done { told, spans: vec![span], file: None, is_telling: true, is_discard, is_vcs })
            })
        } else {
            None
        };
        if let Some(next) = next.filter(|next| !done.iter().any(|known| known.told == next.told)) {
            done.push(next);
        }
        if done.len() == STEPS_MAX {
            break;
        }
    }
    done.reverse();
    // The last change is the effective one.
    for at in 0..done.len() {
        let chars: usize = done.iter().map(|step| step.told.chars().count()).sum();
        if let Some(step) = done.get_mut(at).filter(|_| chars > STEPS_CHARS_MAX) {
            step.briefly(episode);
        }
    }
    done.dedup_by(|next, before| next.told == before.told);
    done
}

/// The quotable part of an error line, if it gives a reason and not only the fact of a failure.
fn cause(line: &str) -> Option<&str> {
    let line = line.trim().trim_end_matches('…').lines().next()?.trim();
    let end = line.char_indices().nth(ERROR_CHARS).map_or(line.len(), |(end, _)| end);
    let line = line.get(..end)?.trim();
    let is_warning = line.to_lowercase().starts_with("warn");
    let says = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.chars().filter(|c| c.is_alphabetic()).count() >= 3
            && !word.contains('/')
            && !EMPTY_WORDS.contains(&word.to_lowercase().as_str())
    };
    (!is_warning && line.split_whitespace().filter(says).count() >= 2).then_some(line)
}

/// The line of a failing run that gives the reason and is not in the output of the passing run.
fn distinctive<'e>(episode: &'e Episode, failing: &str, passing: &str) -> Option<&'e str> {
    telling(&distinctive_lines(episode, failing, passing))
}

/// Every such line.
fn distinctive_lines<'e>(episode: &'e Episode, failing: &str, passing: &str) -> Vec<&'e str> {
    let passed = episode.quotes.text(passing).unwrap_or_default();
    let lines = episode.quotes.text(failing).unwrap_or_default().lines();
    lines.filter(|line| !passed.contains(line.trim())).filter_map(cause).collect()
}

/// The most informative line. A line with a word of refusal comes first.
fn telling<'e>(told: &[&'e str]) -> Option<&'e str> {
    let refuses = |line: &&&str| {
        let lower = line.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
        REFUSALS.iter().any(|word| words.contains(word))
    };
    told.iter().find(refuses).or(told.first()).copied()
}

/// Words with which programs refuse an action.
const REFUSALS: &[&str] = &[
    "already",
    "busy",
    "cannot",
    "can't",
    "corrupt",
    "could",
    "denied",
    "dropped",
    "error",
    "exceeded",
    "expected",
    "forbidden",
    "invalid",
    "locked",
    "mismatch",
    "missing",
    "must",
    "no",
    "not",
    "refused",
    "required",
    "timeout",
    "unable",
    "undefined",
    "unexpected",
    "unknown",
    "unsupported",
];

/// Words that report a failure without a reason.
const EMPTY_WORDS: &[&str] = &[
    "error", "errors", "fail", "failed", "failure", "failures", "failing", "build", "job", "test", "tests",
    "exit", "code", "status", "with", "the", "and", "command", "process", "exited", "some", "suite",
    "suites", "files", "file", "passed", "found", "problems", "warnings", "warning", "were", "emitted",
    "while", "running", "checks",
];

/// True if a line reports a test's expectation.
fn is_assertion(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["assert", "expected", "want", "--- fail", "fail:", "to equal", "to be "]
        .iter()
        .any(|word| lower.contains(word))
}

fn runner(command: &str) -> String {
    let call = understand(command);
    let runner = call.runner();
    // A script of the repository is identified by the command that runs it.
    let is_named = !runner.is_empty() && !runner.starts_with("script ");
    if is_named { runner.to_owned() } else { shortened(command, 60) }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
