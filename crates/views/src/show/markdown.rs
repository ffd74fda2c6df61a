//! A session as markdown. Transcript text is quoted or fenced, so that nothing in it can pass for a
//! heading, link or HTML of the document.

use retro_model::{Edit, Gap, Kind, Origin, Outcome, Timestamp};
use std::fmt::Write;

use super::ShowView;
use crate::transcript::{Attached, Call, Entry, Prompt, Said, TurnFigures};

/// The whole document.
pub fn markdown(view: &ShowView, entries: &[Entry]) -> String {
    let mut out = String::new();
    let session = &view.session;
    let title = session.title.as_deref().unwrap_or("Untitled session");
    let _ = writeln!(out, "# {}\n", inline(&one_line(title)));
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = writeln!(out, "- {name}: {}", inline(&value));
        }
    };
    fact("Session", Some(format!("{} {}", session.agent, session.session_id)));
    fact("Project", session.project.clone());
    fact("Folder", session.cwd.clone());
    fact("Branch", session.branch.clone());
    fact("Started", session.started_at.map(instant));
    fact("Ended", session.ended_at.map(instant));
    fact("Models", Some(view.models.iter().cloned().collect::<Vec<_>>().join(", ")));
    fact("Versions", Some(view.versions.iter().cloned().collect::<Vec<_>>().join(", ")));
    if let Some(resume) = &session.resume {
        let _ = writeln!(out, "- Resume: `{}`", code(resume));
    }
    let coverage = &view.coverage;
    let _ = writeln!(
        out,
        "- Records: {} ({} mapped, {} folded, {} noted, {} unknown, {} malformed)\n",
        coverage.records,
        coverage.mapped,
        coverage.folded,
        coverage.noted,
        coverage.unknown,
        coverage.malformed
    );
    write_entries(&mut out, entries, 0);
    if !view.gaps.is_empty() {
        let _ = writeln!(out, "\n## Gaps\n");
        for gap in &view.gaps {
            let _ = writeln!(out, "- {}", gap_line(gap));
        }
    }
    out
}

fn write_entries(out: &mut String, entries: &[Entry], depth: usize) {
    for entry in entries {
        write_entry(out, entry, depth);
    }
}

fn write_entry(out: &mut String, entry: &Entry, depth: usize) {
    let indent = "  ".repeat(depth);
    match entry {
        Entry::Prompt(prompt) => write_prompt(out, prompt, depth),
        Entry::Answer { text, .. } => {
            if depth > 0 {
                let _ = writeln!(out, "{indent}- **Agent**");
            } else {
                let _ = writeln!(out, "\n**Agent**\n");
            }
            quote(out, text, depth);
        }
        // `show` also hides it unless asked.
        Entry::Thought { .. } => {}
        Entry::Call(call) => write_call(out, call, &indent),
        Entry::Question { questions, reply, .. } => {
            for asked in questions {
                let _ = writeln!(out, "{indent}- **asked** {}", inline(&one_line(&asked.question)));
                if let Some(answer) = &asked.answer {
                    let _ = writeln!(out, "{indent}  **you** {}", inline(&one_line(answer)));
                }
            }
            if let Some(reply) = reply {
                quote(out, reply, depth);
            }
        }
        Entry::Plan { text, steps } => {
            let _ = writeln!(out, "{indent}- *plan*");
            quote(out, text, depth);
            for step in steps {
                let mark = if step.done { "x" } else { " " };
                let _ = writeln!(out, "{indent}  - [{mark}] {}", inline(&one_line(&step.text)));
            }
        }
        Entry::Attached(attached) => {
            let _ = writeln!(out, "{indent}- *attached* {}", attached_name(attached));
        }
        Entry::Subagent { thread, entries } => {
            let _ = writeln!(out, "{indent}- sub-agent `{}`", code(thread));
            write_entries(out, entries, depth + 1);
        }
        Entry::Report { text, .. } => {
            let _ = writeln!(out, "{indent}- *sub-agent reports*");
            quote(out, text, depth + 1);
        }
        Entry::History { session, entries } => {
            let _ = writeln!(out, "*Before, in {}:*\n", inline(session));
            write_entries(out, entries, depth);
            let _ = writeln!(out, "\n*Here this session begins.*\n");
        }
        Entry::Mark { kind, text } => {
            let name = match kind {
                Kind::Compaction => "context compacted",
                Kind::Interruption => "interrupted",
                Kind::Denial => "refused",
                Kind::Error => "error",
                Kind::Rewind => "went back",
                _ => "unknown record",
            };
            let mut lines = text.lines();
            let first = cut(lines.next().unwrap_or_default(), 160);
            let _ = writeln!(out, "{}", format!("{indent}- *{name}* {}", inline(&first)).trim_end());
            if lines.next().is_some() {
                quote(out, text, depth + 1);
            }
        }
    }
}

fn write_prompt(out: &mut String, prompt: &Prompt, depth: usize) {
    let indent = "  ".repeat(depth);
    let time = prompt.ts.map_or(String::new(), |ts| format!(" · {}", instant(ts)));
    let who = match prompt.origin {
        Origin::User => "You",
        Origin::Agent => "Task",
        _ if prompt.said == Said::Plan => "Accepted plan",
        _ => "Message",
    };
    let how = match &prompt.said {
        Said::Command(name) => format!(" · `{}`", code(name)),
        Said::Shell => " · `!`".to_owned(),
        Said::Queued => " · while it worked".to_owned(),
        Said::Typed | Said::Plan => String::new(),
    };
    let dead = if prompt.live { "" } else { " · rewound" };
    if depth == 0 && prompt.turn > 0 {
        let _ = writeln!(out, "\n## {}. {who}{how}{time}{dead}\n", prompt.turn);
    } else {
        let _ = writeln!(out, "{indent}- **{who}**{how}{time}{dead}");
    }
    quote(out, &prompt.text, depth);
    for attached in &prompt.attached {
        let _ = writeln!(out, "{indent}- *attached* {}", attached_name(attached));
    }
    if let Some(output) = &prompt.output {
        let _ = writeln!(out, "{indent}- *it printed*");
        quote(out, output, depth + 1);
    }
    if let Some(line) = prompt.figures.as_ref().and_then(figures_line) {
        let _ = writeln!(out, "{indent}*{}*\n", inline(&line));
    }
}

/// The figures of a turn, on one line.
fn figures_line(figures: &TurnFigures) -> Option<String> {
    let mut parts = figures.models.clone();
    if let Some(usd) = figures.cost_usd {
        parts.push(format!("{}${usd:.2}", if figures.cost_complete { "" } else { "≥ " }));
    }
    (!parts.is_empty()).then(|| parts.join(" · "))
}

fn write_call(out: &mut String, call: &Call, indent: &str) {
    let _ = write!(out, "{indent}- {} `{}`", mark(call.outcome), code(&call.name));
    if !call.what.is_empty() {
        let _ = write!(out, " `{}`", code(&cut(&one_line(&call.what), 160)));
    }
    if let Some(exit_code) = call.exit_code {
        let _ = write!(out, " (exit {exit_code})");
    }
    for edit in &call.edits {
        let _ = write!(out, " {}", counts(edit));
    }
    out.push('\n');
    for line in call.trouble.iter().flat_map(|trouble| trouble.lines()) {
        let _ = writeln!(out, "{indent}  > `{}`", code(&cut(line, 160)));
    }
}

fn attached_name(attached: &Attached) -> String {
    format!("`{}`", code(&one_line(&attached.name)))
}

/// A time to the second, in UTC, since the file may be read on any machine.
fn instant(ts: Timestamp) -> String {
    let text = ts.to_string();
    let whole = text.split_once('.').map_or(text.as_str(), |(whole, _)| whole);
    format!("{} UTC", whole.trim_end_matches('Z').replace('T', " "))
}

fn mark(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Ok) => "✓",
        Some(Outcome::Failed) => "✗",
        Some(Outcome::Denied) => "⊘",
        Some(Outcome::Interrupted) => "◼",
        Some(Outcome::Unknown) | None => "·",
    }
}

fn counts(edit: &Edit) -> String {
    let file = edit.path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let number = |count: Option<u64>| count.map_or("?".to_owned(), |count| count.to_string());
    format!("`{}` +{} −{}", code(&file), number(edit.added), number(edit.removed))
}

fn quote(out: &mut String, text: &str, depth: usize) {
    let indent = "  ".repeat(depth);
    for line in text.lines() {
        let _ = writeln!(out, "{indent}> {}", inline(line));
    }
    out.push('\n');
}

/// A gap as a sentence.
pub fn gap_line(gap: &Gap) -> String {
    let place = match gap.line {
        Some(line) => format!("{} line {line}", gap.source),
        None => gap.source.to_string(),
    };
    let reason = serde_json::to_value(&gap.reason).ok();
    let reason = reason.as_ref().and_then(|value| value.as_str()).unwrap_or_default().replace('_', " ");
    match &gap.detail {
        Some(detail) => format!("{place}: {reason} ({})", inline(detail)),
        None => format!("{place}: {reason}"),
    }
}

/// Text inside a paragraph. Escapes HTML, and shows hidden and control characters.
fn inline(text: &str) -> String {
    retro_text::terminal::safe_line(text).replace('&', "&amp;").replace('<', "&lt;")
}

/// Text inside a code span.
fn code(text: &str) -> String {
    retro_text::terminal::safe_line(text).replace('`', "ˋ")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
