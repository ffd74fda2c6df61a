//! A call and its result, as one action.

use retro_model::{Access, Event, Outcome, ToolCall, ToolClass, ToolResult};
use retro_text::calls::{self, Exit, Judged, Purpose, Verdict};
use retro_text::fingerprint;
use smol_str::SmolStr;

/// The most characters of a command that are kept.
const COMMAND_CHARS_MAX: usize = 600;
/// The most characters of an error's line.
const SAMPLE_CHARS_MAX: usize = 200;
/// The most terms of an output that are kept.
const TERMS_MAX: usize = 20;
/// The most bytes of an output that are searched for terms.
const TERM_TEXT_BYTES: usize = 8 * 1024;

/// One file that a call changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Edited {
    pub path: String,
    pub added: u64,
    pub removed: u64,
}

/// A call with its result.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Call {
    pub name: SmolStr,
    pub class: ToolClass,
    /// The command line of a shell call.
    pub command: Option<String>,
    /// The purpose of the command line.
    pub purpose: Purpose,
    /// The usual name of its program.
    pub runner: String,
    pub commits: bool,
    /// The subject of a commit with a quiet `git commit`.
    pub quiet_commit: Option<String>,
    /// Why it could destroy work.
    pub danger: Option<&'static str>,
    pub reads: Vec<String>,
    pub edits: Vec<Edited>,
    /// How it ended, according to the log. `None` without a result.
    pub outcome: Option<Outcome>,
    /// How it ended, with its output taken into account.
    pub verdict: Verdict,
    /// True if the exit status hides the failure.
    pub masked: bool,
    /// Numbers of passed and failed tests.
    pub passed: Option<u64>,
    pub failed: Option<u64>,
    /// The error that it reports: id, line for comparison, line as printed.
    pub error: Option<(String, String)>,
    pub sample: Option<String>,
    /// Words of the output that a later step may repeat, one per line.
    pub terms: String,
    /// The event of the result.
    pub result_id: Option<String>,
    pub duration_ms: Option<u64>,
    /// True if it ran other calls, which count instead.
    pub has_nested: bool,
    /// True if it is part of a script that could not be fully read: the command, or whether it ran,
    /// is unknown.
    pub is_unread: bool,
    /// The id of another call that it only polls.
    pub(super) polls: Option<String>,
    /// The parsed command line, until it is judged.
    understood: Option<Box<calls::Call>>,
    /// True if its files were changed even if it failed.
    wrote_anyway: bool,
    /// True for a question to the person.
    pub asked: bool,
    /// The options of a question, until it is answered.
    pub(super) options: Vec<String>,
}

impl Call {
    /// Makes a call from its request.
    pub(super) fn of(tool: &ToolCall) -> Call {
        let line = tool.command.as_ref().map(|command| command.to_string()).or_else(|| served(tool));
        let mut understood = line.as_ref().map(|line| calls::understand(line)).unwrap_or_default();
        let class =
            if line.is_some() && tool.class == ToolClass::Mcp { ToolClass::Shell } else { tool.class };
        let is_shell = class == ToolClass::Shell;
        // On one line, a here-document has lost its empty lines.
        if let Some(script) = tool.script().filter(|_| is_shell) {
            understood.written = calls::understand(&script).written;
        }
        let mut edits = edited(&tool.edits, &paths(tool, Access::Write));
        if is_shell && edits.is_empty() {
            edits = understood.written.iter().map(written).collect();
        }
        let is_poll = is_shell && line.is_none() && matches!(tool.name.as_str(), "write_stdin" | "wait");
        Call {
            name: SmolStr::new(&tool.name),
            class,
            command: line.as_ref().map(|line| cut(line, COMMAND_CHARS_MAX)),
            purpose: if is_shell { understood.purpose() } else { Purpose::Other },
            runner: if is_shell { understood.runner().to_owned() } else { String::new() },
            commits: is_shell && understood.commits(),
            quiet_commit: super::commits::quiet(&understood).filter(|_| is_shell),
            danger: understood.danger().filter(|_| is_shell),
            reads: paths(tool, Access::Read),
            edits,
            outcome: None,
            verdict: Verdict::Unknown,
            masked: false,
            passed: None,
            failed: None,
            error: None,
            sample: None,
            terms: String::new(),
            result_id: None,
            duration_ms: None,
            has_nested: false,
            is_unread: tool.parent_call.is_some()
                && matches!(tool.name.as_str(), "exec_command" | "shell_command" | "apply_patch")
                && line.is_none()
                && tool.edits.is_empty()
                && tool.paths.is_empty(),
            polls: tool.parent_call.clone().filter(|_| is_poll),
            understood: line.is_some().then(|| Box::new(understood)),
            wrote_anyway: false,
            asked: tool.class == ToolClass::Ask,
            options: tool
                .args
                .as_ref()
                .filter(|_| tool.class == ToolClass::Ask)
                .map(|args| options(args))
                .unwrap_or_default(),
        }
    }

    /// Adds the result.
    pub(super) fn end(&mut self, event: &Event, result: &ToolResult) {
        let output = event.text.as_ref().map_or("", |text| text.as_str());
        self.outcome = Some(result.outcome);
        self.result_id = Some(event.id.to_string());
        self.duration_ms = result.duration_ms;
        if !result.edits.is_empty() {
            self.edits = edited(&result.edits, &[]);
        }
        let understood = self.understood.take();
        if result.outcome == Outcome::Failed && self.class == ToolClass::Shell && !self.edits.is_empty() {
            let kept: Vec<Edited> =
                understood.iter().flat_map(|call| call.written_anyway()).map(written).collect();
            self.wrote_anyway = !kept.is_empty();
            if self.wrote_anyway {
                self.edits = kept;
            }
        }
        let judged = self.judge(result, output, understood.as_deref());
        (self.verdict, self.masked) = (judged.verdict, judged.masked);
        (self.passed, self.failed) = (judged.passed, judged.failed);
        if self.verdict == Verdict::Failed
            && let Some(line) = fingerprint::error_line(output)
        {
            self.error = line.fingerprint().map(|found| (found.id, found.line));
            self.sample = Some(cut(&line.text(), SAMPLE_CHARS_MAX));
        }
        self.terms = terms(output).join("\n");
    }

    /// Adds the final output of a command that continued after its call.
    pub(super) fn end_later(&mut self, event: &Event, result: &ToolResult) {
        let output = event.text.as_ref().map_or("", |text| text.as_str());
        let judged = self.judge(result, output, None);
        let says_more = judged.passed.is_some() || judged.failed.is_some() || judged.by_summary;
        if self.verdict == Verdict::Unknown || says_more {
            (self.verdict, self.masked) = (judged.verdict, judged.masked);
            (self.passed, self.failed) = (judged.passed, judged.failed);
            if self.verdict == Verdict::Failed
                && self.error.is_none()
                && let Some(line) = fingerprint::error_line(output)
            {
                self.error = line.fingerprint().map(|found| (found.id, found.line));
                self.sample = Some(cut(&line.text(), SAMPLE_CHARS_MAX));
            }
        }
    }

    /// Approximate size in bytes.
    pub(super) fn weight(&self) -> usize {
        let lengths =
            |texts: [Option<&String>; 5]| texts.into_iter().flatten().map(String::len).sum::<usize>();
        let Call { command, quiet_commit, sample, result_id, error, reads, edits, .. } = self;
        let error_line = error.as_ref().map(|(_, line)| line);
        size_of::<Call>()
            + self.runner.len()
            + self.terms.len()
            + self.options.iter().map(String::len).sum::<usize>()
            + lengths([
                command.as_ref(),
                quiet_commit.as_ref(),
                sample.as_ref(),
                result_id.as_ref(),
                error_line,
            ])
            + reads.iter().map(|path| size_of::<String>() + path.len()).sum::<usize>()
            + edits.iter().map(|edit| size_of::<Edited>() + edit.path.len()).sum::<usize>()
    }

    fn judge(&self, result: &ToolResult, output: &str, understood: Option<&calls::Call>) -> Judged {
        let exit = match result.outcome {
            Outcome::Ok => Exit::Ok,
            Outcome::Failed => Exit::Failed,
            Outcome::Denied | Outcome::Interrupted | Outcome::Unknown => Exit::Unknown,
        };
        if let (ToolClass::Shell, Some(command)) = (self.class, &self.command) {
            let judge = |call: &calls::Call| call.judge(exit, result.exit_code, output);
            return understood.map_or_else(|| judge(&calls::understand(command)), judge);
        }
        let verdict = match exit {
            Exit::Ok => Verdict::Passed,
            // A search without a match is not a failure.
            Exit::Failed if self.class == ToolClass::Search && output.trim().is_empty() => {
                Verdict::NothingFound
            }
            Exit::Failed => Verdict::Failed,
            Exit::Unknown => Verdict::Unknown,
        };
        Judged { verdict, by_summary: false, masked: false, passed: None, failed: None }
    }

    /// True if it ran and failed.
    pub fn is_failed(&self) -> bool {
        self.verdict == Verdict::Failed
            && !matches!(self.outcome, Some(Outcome::Denied | Outcome::Interrupted))
    }

    /// True if it changed files and was not refused, interrupted or failed.
    pub fn changed_files(&self) -> bool {
        !self.edits.is_empty()
            && (self.wrote_anyway
                || !matches!(self.outcome, Some(Outcome::Denied | Outcome::Failed | Outcome::Interrupted)))
    }

    /// True if its result shows whether the work is good.
    pub fn is_validation(&self) -> bool {
        self.class == ToolClass::Shell && self.purpose.is_validation()
    }
}

/// `text` with at most `chars_max` characters.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn written(file: &calls::Written) -> Edited {
    Edited { path: file.path.clone(), added: file.added.unwrap_or(0), removed: file.removed.unwrap_or(0) }
}

/// The command that a server's tool runs, if it runs commands.
fn served(tool: &ToolCall) -> Option<String> {
    const NAMES: &[&str] = &["shell", "bash", "terminal", "exec", "command", "process", "powershell", "cmd"];
    if tool.class != ToolClass::Mcp {
        return None;
    }
    let name = tool.name.rsplit("__").next().unwrap_or(&tool.name).to_ascii_lowercase();
    let runs = name.split(['_', '-']).any(|word| NAMES.contains(&word));
    let args = tool.args.as_ref().filter(|_| runs)?;
    let line = ["command", "cmd", "script"].iter().find_map(|name| args.get(name)?.as_str())?;
    Some(line.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; "))
}

/// The labels of a question's options.
fn options(value: &serde_json::Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            serde_json::Value::Array(values) => open.extend(values),
            serde_json::Value::Object(fields) => {
                found.extend(fields.get("label").and_then(|label| label.as_str()).map(str::to_owned));
                open.extend(fields.values());
            }
            _ => {}
        }
    }
    found
}

fn paths(tool: &ToolCall, access: Access) -> Vec<String> {
    tool.paths.iter().filter(|path| path.access == access).map(|path| path.path.to_string()).collect()
}

/// Changed files. Those that are only named have no line counts.
fn edited(edits: &[retro_model::Edit], written: &[String]) -> Vec<Edited> {
    let of = |edit: &retro_model::Edit| Edited {
        path: edit.path.to_string(),
        added: edit.added.unwrap_or(0),
        removed: edit.removed.unwrap_or(0),
    };
    let mut all: Vec<Edited> = edits.iter().map(of).collect();
    for path in written {
        if !all.iter().any(|edit| edit.path == *path) {
            all.push(Edited { path: path.clone(), added: 0, removed: 0 });
        }
    }
    all
}

/// Words of an output that look like names: with a dot, a slash, an underscore or a capital inside,
/// or the name of an error.
fn terms(output: &str) -> Vec<String> {
    let mut end = output.len().min(TERM_TEXT_BYTES);
    while !output.is_char_boundary(end) {
        end -= 1;
    }
    let mut terms: Vec<String> = Vec::new();
    let words = output
        .get(..end)
        .unwrap_or_default()
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '/' | '_')));
    for word in words {
        let word = word.trim_matches(['.', '/', '_']);
        if !(4..=80).contains(&word.len()) || word.chars().all(|c| c.is_ascii_digit() || c == '.') {
            continue;
        }
        let lower = word.to_ascii_lowercase();
        let is_name = word.contains(['.', '/', '_'])
            || word.chars().skip(1).any(char::is_uppercase)
            || lower.ends_with("error")
            || lower.ends_with("exception");
        if is_name && !terms.contains(&lower) {
            terms.push(lower);
            if terms.len() == TERMS_MAX {
                break;
            }
        }
    }
    terms
}
