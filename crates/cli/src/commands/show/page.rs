//! The entries of a session as lines for a terminal.

use anstyle::{AnsiColor, Style};
use retro::model::{Edit, Kind, Origin, Outcome};
use retro::text::diff::FileDiff;
use retro::text::terminal::{one_line, safe};
use retro::views::{Attached, Call, Entry, Prompt, Question, Said, TurnFigures};

use crate::format::{self, count};
use crate::prose::{shown_width, wrap};

/// Maximum width of prose: longer lines are hard to read.
const PROSE_COLUMNS_MAX: usize = 100;

/// Maximum lines of a text before the rest is folded.
const PROMPT_LINES: usize = 40;
const ANSWER_LINES: usize = 60;
const TASK_LINES: usize = 6;
const OUTPUT_LINES: usize = 10;
const DIFF_LINES: usize = 40;

/// The parts of a session to show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parts {
    /// Fold nothing, and show the output of calls.
    pub full: bool,
    /// Only this turn of the main thread.
    pub turn: Option<u32>,
    /// Only this many of the last turns.
    pub last: Option<u32>,
    /// Include the lines that edits changed.
    pub diff: bool,
    /// Include the model's thinking.
    pub thinking: bool,
    /// Only the user's messages.
    pub prompts_only: bool,
    /// Only calls, with their output.
    pub tools_only: bool,
}

/// The page under construction.
pub struct Page {
    pub lines: Vec<String>,
    /// Width of the terminal. `None` if nothing may be cut.
    room: Option<usize>,
    parts: Parts,
    /// The current turn of the main thread.
    turn: u32,
    /// The first turn to show.
    first_turn: u32,
    /// The model of the previous answer.
    model: Option<String>,
}

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();

impl Page {
    pub fn new(room: Option<usize>, parts: Parts) -> Page {
        Page { lines: Vec::new(), room, parts, turn: 0, first_turn: 0, model: None }
    }

    /// Adds all requested entries of a session.
    pub fn session(&mut self, entries: &[Entry]) {
        if let Some(last) = self.parts.last {
            self.first_turn = first_of_last(entries, last);
        }
        self.entries(entries, 0);
    }

    pub fn entries(&mut self, entries: &[Entry], depth: usize) {
        entries.iter().for_each(|entry| self.entry(entry, depth));
    }

    /// Adds a text on one line, or wrapped at words, in one style.
    pub fn styled(&mut self, text: &str, style: Style) {
        let text = one_line(text, usize::MAX);
        let lines = self.room.map_or(vec![text.clone()], |columns| wrap(&text, columns));
        self.lines.extend(lines.iter().map(|line| format!("{style}{line}{style:#}")));
    }

    /// Adds prose by retro.
    pub fn prose(&mut self, text: &str) {
        match self.room {
            Some(columns) => self.lines.extend(wrap(text, columns)),
            None => self.lines.extend(text.split('\n').map(str::to_owned)),
        }
    }

    fn entry(&mut self, entry: &Entry, depth: usize) {
        if let (Entry::Prompt(prompt), 0) = (entry, depth) {
            self.turn = prompt.turn.max(self.turn);
        }
        let is_outside = self.turn < self.first_turn || self.parts.turn.is_some_and(|turn| turn != self.turn);
        if is_outside || !self.is_wanted(entry) {
            return;
        }
        let indent = "  ".repeat(depth);
        match entry {
            Entry::Prompt(prompt) => self.prompt(prompt, &indent),
            Entry::Answer { ts, model, effort, tier, text } => {
                let how: Vec<&str> = [effort, tier].into_iter().flatten().map(String::as_str).collect();
                let model =
                    model.as_ref().map(|model| format!("{model} {}", how.join(" ")).trim_end().to_owned());
                let is_new = model.is_some() && model != self.model;
                let name =
                    model.as_deref().filter(|_| is_new).map_or(String::new(), |model| format!(" {model}"));
                let time = ts.map_or(String::new(), |ts| format!(" {}", format::clock(ts)));
                self.model = model.clone().or(self.model.take());
                self.lines.push(String::new());
                let said = one_line(&format!("{name}{time}"), 80);
                self.lines
                    .push(format!("{indent}{BOLD}agent{BOLD:#} {DIM}{said}{DIM:#}").trim_end().to_owned());
                self.text(text, &indent, ANSWER_LINES);
            }
            Entry::Thought { text } => {
                self.lines.push(format!("{indent}{DIM}thinking{DIM:#}"));
                self.text(text, &format!("{indent}  "), ANSWER_LINES);
            }
            Entry::Call(call) => self.call(call, &indent),
            Entry::Question { questions, reply, outcome } => {
                questions.iter().for_each(|question| self.question(question, *outcome, &indent));
                if let Some(reply) = reply {
                    self.head("you", AnsiColor::Cyan, "answered", &indent);
                    self.text(reply, &format!("{indent}  "), PROMPT_LINES);
                }
            }
            Entry::Plan { text, steps } => {
                self.head("plan", AnsiColor::Yellow, "", &indent);
                self.text(text, &format!("{indent}  "), OUTPUT_LINES);
                for step in steps {
                    let mark = if step.done { "✓" } else { "·" };
                    self.cut(&format!("{indent}  {mark} "), &step.text, "");
                }
            }
            Entry::Attached(attached) => self.attached(attached, &indent),
            Entry::Subagent { thread, entries } => {
                self.lines.push(format!("{indent}  {DIM}┌ sub-agent {}{DIM:#}", one_line(thread, 40)));
                let model = self.model.take();
                self.entries(entries, depth + 2);
                self.model = model;
                self.lines.push(format!("{indent}  {DIM}└{DIM:#}"));
            }
            Entry::Report { text, .. } => {
                self.lines.push(format!("{indent}  {DIM}sub-agent reports{DIM:#}"));
                self.text(text, &format!("{indent}    "), OUTPUT_LINES);
            }
            Entry::History { session, entries } => {
                self.prose(&format!("\n{DIM}before, in {}{DIM:#}", one_line(session, 80)));
                let turn = self.turn;
                self.entries(entries, depth);
                self.turn = turn;
                self.prose(&format!("\n{DIM}here this session begins{DIM:#}"));
            }
            Entry::Mark { kind, text } => {
                let name = match kind {
                    Kind::Compaction => "context compacted",
                    Kind::Interruption => "interrupted",
                    Kind::Denial => "refused",
                    Kind::Error => "error",
                    Kind::Rewind => "went back",
                    _ => "unknown",
                };
                self.head(name, AnsiColor::Yellow, "", &indent);
                self.text(text, &format!("{indent}  "), TASK_LINES);
            }
        }
    }

    /// True if an entry was requested, including prompts and calls inside a history.
    fn is_wanted(&self, entry: &Entry) -> bool {
        let is_wrapper = matches!(entry, Entry::History { .. });
        match entry {
            Entry::Thought { .. } if !self.parts.thinking => false,
            _ if self.parts.prompts_only => {
                let is_said = |prompt: &Prompt| prompt.origin == Origin::User || prompt.said == Said::Plan;
                is_wrapper
                    || matches!(entry, Entry::Question { .. })
                    || matches!(entry, Entry::Prompt(prompt) if is_said(prompt))
            }
            _ if self.parts.tools_only => {
                is_wrapper
                    || matches!(entry, Entry::Call(_) | Entry::Question { .. } | Entry::Subagent { .. })
            }
            _ => true,
        }
    }

    fn prompt(&mut self, prompt: &Prompt, indent: &str) {
        let who = match (prompt.origin, &prompt.said) {
            (_, Said::Plan) => "accepted plan",
            (Origin::User, _) => "you",
            (Origin::Agent, _) => "task",
            _ => "message",
        };
        let number = if prompt.turn == 0 { String::new() } else { format!(" {}", prompt.turn) };
        let mut facts: Vec<String> = prompt.ts.map(|ts| format::time(Some(ts))).into_iter().collect();
        if prompt.said == Said::Queued {
            facts.push("while it worked".to_owned());
        }
        if !prompt.live {
            facts.push("rewound".to_owned());
        }
        facts.extend(prompt.figures.iter().flat_map(figures));
        let bold = AnsiColor::Cyan.on_default().bold();
        self.lines.push(String::new());
        let said = one_line(&facts.join(" · "), usize::MAX);
        let line = format!("{indent}{bold}{who}{number}{bold:#} {DIM}{said}{DIM:#}");
        match self.room {
            Some(columns) => self.lines.extend(wrap(&line, columns)),
            None => self.lines.push(line),
        }
        let text = match &prompt.said {
            Said::Command(name) => format!("{name} {}", prompt.text).trim_end().to_owned(),
            Said::Shell => format!("! {}", prompt.text),
            _ => prompt.text.clone(),
        };
        let lines = match (prompt.origin, &prompt.said) {
            (Origin::User, _) => PROMPT_LINES,
            (_, Said::Plan) => 2 * OUTPUT_LINES,
            _ => TASK_LINES,
        };
        self.text(&text, indent, lines);
        prompt.attached.iter().for_each(|attached| self.attached(attached, indent));
        if let Some(output) = &prompt.output {
            self.text(output, &format!("{indent}    "), OUTPUT_LINES);
        }
    }

    fn attached(&mut self, attached: &Attached, indent: &str) {
        let size = attached.bytes.map_or(String::new(), |bytes| format!(" ({})", format::bytes(bytes)));
        self.cut(&format!("{indent}{DIM}attached{DIM:#} "), &attached.name, &size);
    }

    fn question(&mut self, asked: &Question, outcome: Option<Outcome>, indent: &str) {
        self.head("agent", AnsiColor::White, "asks", indent);
        self.text(&asked.question, &format!("{indent}  "), PROMPT_LINES);
        for option in &asked.options {
            let is_chosen = asked.answer.as_deref().is_some_and(|answer| chose(answer, option));
            self.cut(&format!("{indent}  {} ", if is_chosen { "●" } else { "○" }), option, "");
        }
        let is_option = asked
            .answer
            .as_ref()
            .is_some_and(|answer| asked.options.iter().any(|option| chose(answer, option)));
        match (&asked.answer, outcome) {
            (Some(answer), _) => {
                self.head("you", AnsiColor::Cyan, if is_option { "chose" } else { "answered" }, indent);
                self.text(answer, &format!("{indent}  "), PROMPT_LINES);
            }
            (None, Some(Outcome::Denied | Outcome::Interrupted)) => {
                self.lines.push(format!("{indent}  {DIM}not answered{DIM:#}"));
            }
            (None, _) => {}
        }
    }

    fn call(&mut self, call: &Call, indent: &str) {
        let exit = call.exit_code.map_or(String::new(), |code| format!(" exit {code}"));
        let counts: String = call.edits.iter().map(counts).collect();
        let long = call.duration_ms.filter(|ms| *ms >= LONG_CALL_MS);
        let took = long.map_or(String::new(), |ms| format!(" {DIM}{}{DIM:#}", format::took(ms)));
        let head = format!("{indent}{} {} ", mark(call.outcome), one_line(&call.name, 40));
        self.cut(&head, &call.what, &format!("{exit}{counts}{took}"));
        let inner = format!("{indent}    ");
        if self.parts.diff {
            self.diff(&call.diffs, &inner);
        }
        match &call.output {
            Some(output) if self.parts.full || self.parts.tools_only => {
                self.text(output, &inner, OUTPUT_LINES)
            }
            _ => {
                for line in call.trouble.iter().flat_map(|trouble| trouble.lines()) {
                    let room = self.room.map_or(usize::MAX, |columns| columns.saturating_sub(inner.len()));
                    let text = fitted(&safe(line), room);
                    self.lines.push(format!("{inner}{DIM}{text}{DIM:#}"));
                }
            }
        }
    }

    /// The lines that an edit changed, under the file's name if there are several files.
    fn diff(&mut self, files: &[FileDiff], indent: &str) {
        for file in files {
            if files.len() > 1 {
                self.cut(&format!("{indent}{DIM}"), &file.path, &format!("{DIM:#}"));
            }
            let kept = if self.parts.full { usize::MAX } else { DIFF_LINES };
            for (sign, text) in file.rows.iter().take(kept) {
                let style = match sign {
                    '+' => AnsiColor::Green.on_default(),
                    '-' => AnsiColor::Red.on_default(),
                    _ => DIM,
                };
                let room = self.room.map_or(usize::MAX, |columns| columns.saturating_sub(indent.len() + 2));
                let text = fitted(&safe(text).replace('\t', "    "), room);
                self.lines.push(format!("{indent}{style}{sign} {text}{style:#}"));
            }
            let hidden = file.rows.len().saturating_sub(kept) + file.left_out;
            if hidden > 0 {
                let more = count(hidden as u64, "more line");
                self.lines.push(format!("{indent}{DIM}… {more} (--full shows them){DIM:#}"));
            }
        }
    }

    fn head(&mut self, name: &str, color: AnsiColor, more: &str, indent: &str) {
        let style = color.on_default().bold();
        self.lines.push(format!("{indent}{style}{name}{style:#} {more}").trim_end().to_owned());
    }

    /// A line whose middle part is shortened to fit.
    fn cut(&mut self, before: &str, text: &str, after: &str) {
        let room = self.room.map_or(usize::MAX, |columns| {
            columns.saturating_sub(shown_width(before) + shown_width(after)).max(12)
        });
        self.lines.push(format!("{before}{}{after}", one_line(text, room)).trim_end().to_owned());
    }

    /// A text, wrapped at words, and folded if it is long.
    fn text(&mut self, text: &str, indent: &str, lines_max: usize) {
        let text = safe(text.trim_end());
        let mut lines: Vec<String> = Vec::new();
        for line in text.lines() {
            let line = format!("{indent}{line}").trim_end().to_owned();
            match self.room {
                Some(columns) => lines.extend(wrap(&line, columns.min(PROSE_COLUMNS_MAX))),
                None => lines.push(line),
            }
        }
        // A fold that hides next to nothing does not help.
        let hidden = lines.len().saturating_sub(lines_max);
        if self.parts.full || hidden <= FOLD_LINES_MIN {
            self.lines.extend(lines);
            return;
        }
        lines.truncate(lines_max);
        self.lines.extend(lines);
        let more = count(hidden as u64, "more line");
        self.lines.push(format!("{indent}{DIM}… {more} (--full shows them){DIM:#}"));
    }
}

/// The first of the last `last` turns, from the messages that open them, since numbers may be
/// missing.
fn first_of_last(entries: &[Entry], last: u32) -> u32 {
    let mut turns: Vec<u32> = entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Prompt(prompt) => Some(prompt.turn).filter(|turn| *turn > 0),
            _ => None,
        })
        .collect();
    turns.dedup();
    let at = turns.len().saturating_sub(last as usize);
    turns.get(at).copied().unwrap_or(0)
}

/// Calls that took at least this long show their duration.
const LONG_CALL_MS: u64 = 10_000;

/// Minimum lines worth a fold.
const FOLD_LINES_MIN: usize = 2;

/// A line with its indent, cut at its end.
fn fitted(line: &str, room: usize) -> String {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let indent = indent.min(room.saturating_sub(1));
    format!("{}{}", " ".repeat(indent), one_line(line, room - indent))
}

/// True if an answer names an option. It may be several answers joined by commas.
fn chose(answer: &str, option: &str) -> bool {
    answer == option || answer.split(", ").any(|part| part == option)
}

/// The figures of a turn.
fn figures(figures: &TurnFigures) -> Vec<String> {
    let mut parts = Vec::new();
    parts.extend(figures.duration_ms.filter(|ms| *ms > 0).map(format::took));
    parts.extend(figures.cost_usd.map(|usd| format::money(Some(usd), figures.cost_complete)));
    if figures.failed_calls > 0 {
        parts.push(format!("{} of {} failed", figures.failed_calls, count(figures.calls, "call")));
    } else if figures.calls > 0 {
        parts.push(count(figures.calls, "call"));
    }
    parts
}

fn mark(outcome: Option<Outcome>) -> String {
    let (mark, color) = match outcome {
        Some(Outcome::Ok) => ("✓", AnsiColor::Green),
        Some(Outcome::Failed) => ("✗", AnsiColor::Red),
        Some(Outcome::Denied) => ("⊘", AnsiColor::Yellow),
        Some(Outcome::Interrupted) => ("◼", AnsiColor::Yellow),
        Some(Outcome::Unknown) | None => ("·", AnsiColor::White),
    };
    let style = color.on_default();
    format!("{style}{mark}{style:#}")
}

fn counts(edit: &Edit) -> String {
    match (edit.added, edit.removed) {
        (None, None) => String::new(),
        (added, removed) => format!(" +{} −{}", added.unwrap_or(0), removed.unwrap_or(0)),
    }
}
