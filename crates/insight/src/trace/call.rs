//! A call and its result, as one action.

use retro_model::{Access, Event, Outcome, ToolCall, ToolClass, ToolResult};
use retro_text::calls::{self, Exit, Judged, Purpose, Verdict};
use retro_text::fingerprint;
use smol_str::SmolStr;

/// Characters of a command that are kept.
const COMMAND_CHARS_MAX: usize = 600;
/// Characters of an error's line.
const SAMPLE_CHARS_MAX: usize = 200;
/// Terms of an output that are remembered.
const TERMS_MAX: usize = 20;
/// Characters of an output in which terms are looked for.
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
    /// What the command line is for.
    pub purpose: Purpose,
    /// The usual name of what it runs.
    pub runner: String,
    pub commits: bool,
    /// The subject of a commit that git is told to be quiet about.
    pub quiet_commit: Option<String>,
    /// Why it could destroy work.
    pub danger: Option<&'static str>,
    pub reads: Vec<String>,
    pub edits: Vec<Edited>,
    /// How it ended, as the log says; nothing while no result is there.
    pub outcome: Option<Outcome>,
    /// How it ended, its output considered.
    pub verdict: Verdict,
    /// The exit state hides the failure.
    pub masked: bool,
    /// Tests that passed and failed.
    pub passed: Option<u64>,
    pub failed: Option<u64>,
    /// The error it reports: id, line as compared, line as printed.
    pub error: Option<(String, String)>,
    pub sample: Option<String>,
    /// Words of the output that a later step may take up, one a line.
    pub terms: String,
    /// Event of the result.
    pub result_id: Option<String>,
    pub duration_ms: Option<u64>,
    /// It ran other calls, which count instead.
    pub has_nested: bool,
    /// What the person answered, for questions.
    pub asked: bool,
    /// What a question offers to choose from, until it is answered.
    pub(super) options: Vec<String>,
}

impl Call {
    /// What a call asks for.
    pub(super) fn of(tool: &ToolCall) -> Call {
        let command = tool.command.as_ref().map(|command| cut(command, COMMAND_CHARS_MAX));
        let understood = tool.command.as_ref().map(|command| calls::understand(command)).unwrap_or_default();
        let is_shell = tool.class == ToolClass::Shell;
        Call {
            name: SmolStr::new(&tool.name),
            class: tool.class,
            command,
            purpose: if is_shell { understood.purpose() } else { Purpose::Other },
            runner: if is_shell { understood.runner().to_owned() } else { String::new() },
            commits: is_shell && understood.commits(),
            quiet_commit: super::commits::quiet(&understood).filter(|_| is_shell),
            danger: understood.danger().filter(|_| is_shell),
            reads: paths(tool, Access::Read),
            edits: edited(&tool.edits, &paths(tool, Access::Write)),
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
            asked: tool.class == ToolClass::Ask,
            options: tool
                .args
                .as_ref()
                .filter(|_| tool.class == ToolClass::Ask)
                .map(|args| options(args))
                .unwrap_or_default(),
        }
    }

    /// Takes in the result.
    pub(super) fn end(&mut self, event: &Event, result: &ToolResult) {
        let output = event.text.as_ref().map_or("", |text| text.as_str());
        self.outcome = Some(result.outcome);
        self.result_id = Some(event.id.to_string());
        self.duration_ms = result.duration_ms;
        if !result.edits.is_empty() {
            self.edits = edited(&result.edits, &[]);
        }
        let judged = self.judge(result, output);
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

    /// About how many bytes it takes.
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

    fn judge(&self, result: &ToolResult, output: &str) -> Judged {
        let exit = match result.outcome {
            Outcome::Ok => Exit::Ok,
            Outcome::Failed => Exit::Failed,
            Outcome::Denied | Outcome::Interrupted | Outcome::Unknown => Exit::Unknown,
        };
        if let (ToolClass::Shell, Some(command)) = (self.class, &self.command) {
            return calls::understand(command).judge(exit, result.exit_code, output);
        }
        let verdict = match exit {
            Exit::Ok => Verdict::Passed,
            // A search that finds nothing is no failure.
            Exit::Failed if self.class == ToolClass::Search && output.trim().is_empty() => {
                Verdict::NothingFound
            }
            Exit::Failed => Verdict::Failed,
            Exit::Unknown => Verdict::Unknown,
        };
        Judged { verdict, by_summary: false, masked: false, passed: None, failed: None }
    }

    /// Whether it ran and failed.
    pub fn is_failed(&self) -> bool {
        self.verdict == Verdict::Failed
            && !matches!(self.outcome, Some(Outcome::Denied | Outcome::Interrupted))
    }

    /// Whether it changed files and was not refused, cut off or failed.
    pub fn changed_files(&self) -> bool {
        !self.edits.is_empty()
            && !matches!(self.outcome, Some(Outcome::Denied | Outcome::Failed | Outcome::Interrupted))
    }

    /// Whether its result says if the work is good.
    pub fn is_validation(&self) -> bool {
        self.class == ToolClass::Shell && self.purpose.is_validation()
    }
}

/// `text` with at most so many characters.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The labels of what a question offers to choose from.
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

/// Changed files; those that are only named count without lines.
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

/// Words of an output that look like names: with a dot, a slash, an underscore or a
/// capital inside, or the name of an error.
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
