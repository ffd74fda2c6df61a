//! Quotations for the texts of candidates: every quoted piece is a span of an event.
//!
//! Texts are assembled from pieces made here. A piece is only made if its event contains it
//! verbatim.

use retro_insight::{Beat, Call};
use retro_text::calls::understand;

use super::commands::{below, commit_in, essence, is_document};
use crate::candidate::{Candidate, Span, Voice};
use crate::episode::Episode;

/// Maximum characters of a quoted command. A longer one is a program.
const COMMAND_CHARS_MAX: usize = 160;
/// Maximum characters of a quoted line of output.
const OUTPUT_CHARS_MAX: usize = 140;
/// Maximum files named in a text. The others are counted.
const FILES_MAX: usize = 3;
/// A change of more files has no pattern.
const FOCUS_FILES_MAX: usize = 8;
/// The prefix of a placeholder for a secret.
const SECRET: &str = "[redacted:";

/// The quotations of one candidate, in order of use.
pub(super) struct Evidence<'a> {
    episode: &'a Episode,
    spans: Vec<Span>,
    files: Vec<String>,
}

impl<'a> Evidence<'a> {
    /// Starts without any quotation.
    pub(super) fn new(episode: &'a Episode) -> Evidence<'a> {
        Evidence { episode, spans: Vec::new(), files: Vec::new() }
    }

    /// Quotes words of an event, without marks.
    fn take(&mut self, event_id: &str, words: &str) -> Option<String> {
        if words.contains(SECRET) {
            return None;
        }
        let span = self.episode.span(event_id, words)?;
        let text = span.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !self.spans.contains(&span) {
            self.spans.push(span);
        }
        Some(text)
    }

    /// A command or a name, in backticks.
    pub(super) fn code(&mut self, event_id: &str, words: &str) -> Option<String> {
        if words.contains('`') {
            return None;
        }
        self.take(event_id, words).map(|text| format!("`{text}`"))
    }

    /// A message, in quotation marks.
    pub(super) fn said(&mut self, event_id: &str, words: &str) -> Option<String> {
        self.take(event_id, words).map(|text| format!("\"{text}\""))
    }

    /// The command of a shell call, and its folder relative to the session's.
    pub(super) fn command(&mut self, beat: &Beat, call: &Call) -> Option<String> {
        let line = call.command.as_deref()?;
        let part = essence(line).filter(|part| part.chars().count() <= COMMAND_CHARS_MAX)?;
        let quoted = self.code(&beat.id, part)?;
        let understood = understand(line);
        let folder = understood.main_step().and_then(|step| step.folder.as_deref());
        let folder = folder.map(|folder| below(self.episode, folder)).filter(|folder| !folder.is_empty());
        match folder.and_then(|folder| self.code(&beat.id, folder)) {
            Some(folder) => Some(format!("{quoted} in {folder}")),
            None => Some(quoted),
        }
    }

    /// The commit that a shell call made. Omits a long message.
    pub(super) fn commit(&mut self, beat: &Beat, call: &Call) -> Option<String> {
        let whole =
            commit_in(call.command.as_deref()?).filter(|part| part.chars().count() <= COMMAND_CHARS_MAX);
        whole.and_then(|part| self.code(&beat.id, part)).or_else(|| self.code(&beat.id, "git commit"))
    }

    /// The files that calls changed, the first few by name: `a`, `b` and 2 other files.
    pub(super) fn edited(&mut self, calls: &[(&'a Beat, &'a Call)]) -> Option<String> {
        let mut named: Vec<String> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (beat, call) in calls.iter().filter(|(_, call)| call.changed_files()) {
            for edit in &call.edits {
                let path = below(self.episode, &edit.path);
                if seen.contains(&path) || is_outside(self.episode, &edit.path) {
                    continue;
                }
                seen.push(path);
                if named.len() < FILES_MAX {
                    named.extend(self.path(beat, call, path));
                }
            }
        }
        self.files.extend(
            seen.iter()
                .filter(|path| !self.files.iter().any(|file| file == *path))
                .map(|path| (*path).to_owned())
                .collect::<Vec<_>>(),
        );
        listed(&named, seen.len(), "file")
    }

    /// The files that calls read, the first few by name.
    pub(super) fn read(&mut self, calls: &[(&'a Beat, &'a Call)]) -> Option<String> {
        let mut named: Vec<String> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (beat, call) in calls.iter().filter(|(_, call)| !call.is_failed()) {
            for read in &call.reads {
                let path = below(self.episode, read);
                if seen.contains(&path) || path.is_empty() || is_outside(self.episode, read) {
                    continue;
                }
                seen.push(path);
                if named.len() < FILES_MAX {
                    named.extend(self.path(beat, call, path));
                }
            }
        }
        listed(&named, seen.len(), "file")
    }

    /// A path, from the call or from its result.
    fn path(&mut self, beat: &Beat, call: &Call, path: &str) -> Option<String> {
        self.code(&beat.id, path).or_else(|| {
            let result = call.result_id.as_deref()?;
            self.code(result, path)
        })
    }

    /// The output of a failed call: `output said: "…"`.
    pub(super) fn error(&mut self, call: &Call) -> Option<String> {
        let line = call.sample.as_deref()?.trim_end_matches('…').trim();
        if !says_error(line) {
            return None;
        }
        let words = clipped(line, OUTPUT_CHARS_MAX);
        self.said(call.result_id.as_deref()?, words).map(|said| format!("output said: {said}"))
    }

    /// True if the edits could be repeated by a later session: some are not documents, and they do
    /// not cover half the repository.
    pub(super) fn is_focused(&self) -> bool {
        self.files.len() <= FOCUS_FILES_MAX && !self.files.iter().all(|file| is_document(file))
    }

    /// Adds the quotations to a candidate, with their events.
    pub(super) fn fill(self, candidate: &mut Candidate) {
        candidate.origin = self.spans.iter().map(|span| span.voice).max().unwrap_or(Voice::Model);
        let mut refs: Vec<String> = Vec::new();
        for span in &self.spans {
            if !refs.contains(&span.event_id) {
                refs.push(span.event_id.clone());
            }
        }
        candidate.created_at = refs.last().and_then(|id| self.episode.time_of(id)).or(candidate.created_at);
        candidate.evidence_refs = refs;
        candidate.spans = self.spans;
        candidate.files = self.files;
    }
}

/// True if a line gives a reason: some of its words are not paths, numbers or times, and it is not
/// a warning.
fn says_error(line: &str) -> bool {
    let is_word = |word: &&str| {
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        letters >= 3 && !word.contains('/')
    };
    let lower = line.to_lowercase();
    !lower.starts_with("warn")
        && !lower.contains("warnings were")
        && line.split_whitespace().filter(is_word).count() >= 2
}

/// True if a file does not concern other sessions: it is outside the folder and the repository.
fn is_outside(episode: &Episode, path: &str) -> bool {
    let is_absolute = path.starts_with(['/', '~']) || path.get(1..3) == Some(":\\");
    is_absolute && below(episode, path) == path && episode.cwd.is_some()
}

/// `a`, `b` and 2 other files.
fn listed(named: &[String], count: usize, noun: &str) -> Option<String> {
    let rest = count.saturating_sub(named.len());
    let (last, head) = named.split_last()?;
    Some(match (head, rest) {
        ([], 0) => last.clone(),
        (_, 0) => format!("{} and {last}", head.join(", ")),
        (_, 1) => format!("{} and 1 other {noun}", named.join(", ")),
        _ => format!("{} and {rest} other {noun}s", named.join(", ")),
    })
}

/// A text between marks that it does not contain.
pub(super) fn quoted(text: &str) -> String {
    if text.contains('"') { format!("“{text}”") } else { format!("\"{text}\"") }
}

/// The beginning of a text with at most `chars_max` characters, cut between words.
pub(super) fn clipped(text: &str, chars_max: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(chars_max) else { return text.trim() };
    let head = text.get(..end).unwrap_or(text);
    let cut = head.rfind(char::is_whitespace).filter(|at| *at > end / 2).unwrap_or(end);
    head.get(..cut).unwrap_or(head).trim_end_matches([',', ';', ':', '(', ' ']).trim()
}
