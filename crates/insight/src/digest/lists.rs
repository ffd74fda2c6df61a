//! The lists of a digest, made from a trace.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use retro_text::calls::Purpose::{Read, Search};
use retro_text::calls::Verdict;

use super::{CommandDigest, CommitDigest, ErrorDigest, FileDigest, Lines, Runs};
use crate::trace::{Trace, cut};

/// The most programs that are counted by name.
const RUNNERS_MAX: usize = 12;
/// The most characters of a command and of a commit's subject.
const COMMAND_CHARS: usize = 120;
const SUBJECT_CHARS: usize = 80;

pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn capped<T>(
    mut list: Vec<T>,
    max: usize,
    name: &str,
    left_out: &mut BTreeMap<String, u64>,
) -> Vec<T> {
    if list.len() > max {
        left_out.insert(name.to_owned(), (list.len() - max) as u64);
        list.truncate(max);
    }
    list
}

pub(super) fn tools(trace: &Trace) -> BTreeMap<String, u64> {
    let mut tools = BTreeMap::new();
    for (_, call) in trace.calls() {
        *tools.entry(call.name.to_string()).or_default() += 1;
    }
    tools
}

pub(super) fn commits(trace: &Trace) -> Vec<CommitDigest> {
    let of = |commit: &crate::trace::CommitSeen| CommitDigest {
        hash: commit.hash.clone(),
        subject: cut(&commit.subject, SUBJECT_CHARS),
    };
    trace.commits.iter().map(of).collect()
}

/// Errors by fingerprint. An error is fixed if the same runner, or the same tool, passed later.
pub(super) fn errors(trace: &Trace) -> Vec<ErrorDigest> {
    // Each error, with the index of the last call that showed it.
    let mut errors: Vec<(ErrorDigest, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut passed: HashMap<String, usize> = HashMap::new();
    let name = |call: &crate::trace::Call| {
        if call.runner.is_empty() { call.name.to_string() } else { call.runner.clone() }
    };
    for (number, (beat, call)) in trace.calls().enumerate() {
        if call.verdict == Verdict::Passed {
            passed.insert(name(call), number);
        }
        let Some((fingerprint, line)) = call.error.as_ref().filter(|_| call.is_failed()) else { continue };
        let place = *places.entry(fingerprint).or_insert(errors.len());
        match errors.get_mut(place) {
            Some((error, last)) => {
                error.count += 1;
                *last = number;
            }
            None => {
                let error = ErrorDigest {
                    fingerprint: fingerprint.clone(),
                    sample: call.sample.clone().unwrap_or_else(|| line.clone()),
                    count: 1,
                    tool: name(call),
                    fixed: false,
                    event_id: beat.id.clone(),
                };
                errors.push((error, number));
            }
        }
    }
    for (error, last) in &mut errors {
        error.fixed = passed.get(&error.tool).is_some_and(|number| number > last);
    }
    errors.sort_by_key(|(error, _)| std::cmp::Reverse(error.count));
    errors.into_iter().map(|(error, _)| error).collect()
}

/// Commands by their line: checks first, then by number of runs. Commands that only read files are
/// left out.
pub(super) fn commands(trace: &Trace) -> Vec<CommandDigest> {
    let mut commands: Vec<(bool, CommandDigest)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (_, call) in trace.calls() {
        let Some(line) = call.command.as_deref().filter(|_| !matches!(call.purpose, Read | Search)) else {
            continue;
        };
        let line = cut(&one_line(line), COMMAND_CHARS);
        let place = *places.entry_ref(&line).or_insert(commands.len());
        match commands.get_mut(place) {
            Some((_, command)) => {
                command.count += 1;
                command.failed += u64::from(call.is_failed());
                command.last = call.verdict;
            }
            None => commands.push((
                call.is_validation(),
                CommandDigest {
                    command: line,
                    purpose: call.purpose.as_str().to_owned(),
                    count: 1,
                    failed: u64::from(call.is_failed()),
                    last: call.verdict,
                },
            )),
        }
    }
    commands.sort_by_key(|(is_check, command)| (!is_check, u64::MAX - command.count));
    commands.into_iter().map(|(_, command)| command).collect()
}

/// The number of runs of the most frequent programs.
pub(super) fn runs(trace: &Trace, left_out: &mut BTreeMap<String, u64>) -> BTreeMap<String, Runs> {
    let mut runs: BTreeMap<&str, Runs> = BTreeMap::new();
    for (_, call) in trace.calls() {
        if call.command.is_none() || call.runner.is_empty() || matches!(call.purpose, Read | Search) {
            continue;
        }
        let entry = runs.entry(call.runner.as_str()).or_default();
        entry.count += 1;
        entry.failed += u64::from(call.is_failed());
    }
    let mut runs: Vec<(&str, Runs)> = runs.into_iter().collect();
    runs.sort_by_key(|(name, runs)| (std::cmp::Reverse(runs.count), *name));
    let runs = capped(runs, RUNNERS_MAX, "runs", left_out);
    runs.into_iter().map(|(name, runs)| (cut(name, COMMAND_CHARS), runs)).collect()
}

pub(super) fn lines(trace: &Trace) -> Lines {
    let mut lines = Lines::default();
    for (_, call) in trace.calls().filter(|(_, call)| call.changed_files()) {
        for edit in &call.edits {
            lines.added += edit.added;
            lines.removed += edit.removed;
        }
    }
    lines
}

/// Changed files, the most edited first.
pub(super) fn files(trace: &Trace) -> Vec<FileDigest> {
    let mut files: BTreeMap<&str, FileDigest> = BTreeMap::new();
    for (_, call) in trace.calls().filter(|(_, call)| call.changed_files()) {
        for edit in &call.edits {
            let path = edit.path.as_str();
            let file = files.entry(path).or_insert_with(|| FileDigest {
                path: path.to_owned(),
                edits: 0,
                added: 0,
                removed: 0,
            });
            file.edits += 1;
            file.added += edit.added;
            file.removed += edit.removed;
        }
    }
    let mut files: Vec<FileDigest> = files.into_values().collect();
    files.sort_by(|a, b| b.edits.cmp(&a.edits).then_with(|| a.path.cmp(&b.path)));
    files
}
