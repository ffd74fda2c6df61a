//! A session as markdown. Transcript text is quoted or fenced, so that nothing
//! in it can pass for a heading, a link or HTML of ours.

use retro_model::{Edit, Gap, Kind, Origin, Outcome};
use std::fmt::Write;

use super::Entry;
use crate::ShowView;

/// The whole document.
pub fn markdown(view: &ShowView, entries: &[Entry]) -> String {
    let mut out = String::new();
    let session = &view.session;
    let title = session.title.as_deref().unwrap_or("Untitled session");
    let _ = writeln!(out, "# {}\n", inline(title));
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = writeln!(out, "- {name}: {}", inline(&value));
        }
    };
    fact("Session", Some(format!("{} {}", session.agent, session.session_id)));
    fact("Project", session.project.clone());
    fact("Folder", session.cwd.clone());
    fact("Branch", session.branch.clone());
    fact("Started", session.started_at.map(|t| t.to_string()));
    fact("Ended", session.ended_at.map(|t| t.to_string()));
    fact("Models", Some(view.models.iter().cloned().collect::<Vec<_>>().join(", ")));
    fact("Versions", Some(view.versions.iter().cloned().collect::<Vec<_>>().join(", ")));
    fact("Resume", session.resume.clone());
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
        Entry::Prompt { turn, ts, origin, text, live } => {
            let time = ts.map_or(String::new(), |ts| format!(" · {ts}"));
            let who = match origin {
                Origin::User => "You",
                Origin::Agent => "Task",
                _ => "Message",
            };
            let dead = if *live { "" } else { " · rewound" };
            match depth {
                0 => {
                    let _ = writeln!(out, "\n## {turn}. {who}{time}{dead}\n");
                }
                _ => {
                    let _ = writeln!(out, "{indent}- **{who}**{time}{dead}");
                }
            }
            quote(out, text, depth);
        }
        Entry::Answer(text) => {
            if depth > 0 {
                let _ = writeln!(out, "{indent}- **Agent**");
            } else {
                let _ = writeln!(out, "\n**Agent**\n");
            }
            quote(out, text, depth);
        }
        Entry::Thought(text) => {
            let first = text.lines().next().unwrap_or_default();
            let _ = writeln!(out, "{indent}- *thinking* {}", inline(&cut(first, 160)));
        }
        Entry::Call { name, what, outcome, exit_code, edits, trouble } => {
            let _ = write!(out, "{indent}- {} `{}`", mark(*outcome), code(name));
            if !what.is_empty() {
                let _ = write!(out, " `{}`", code(&cut(&one_line(what), 160)));
            }
            if let Some(exit_code) = exit_code {
                let _ = write!(out, " (exit {exit_code})");
            }
            for edit in edits {
                let _ = write!(out, " {}", counts(edit));
            }
            out.push('\n');
            if let Some(trouble) = trouble {
                for line in trouble.lines() {
                    let _ = writeln!(out, "{indent}  > `{}`", code(&cut(line, 160)));
                }
            }
        }
        Entry::Subagent { thread, entries } => {
            let _ = writeln!(out, "{indent}- sub-agent `{}`", code(thread));
            write_entries(out, entries, depth + 1);
        }
        Entry::History { session, entries } => {
            let _ = writeln!(out, "*Before the fork, in {}:*\n", inline(session));
            write_entries(out, entries, depth);
            let _ = writeln!(out, "\n*Here the fork begins.*\n");
        }
        Entry::Mark { kind, text } => {
            let name = match kind {
                Kind::Compaction => "context compacted",
                Kind::Interruption => "interrupted",
                Kind::Denial => "refused",
                Kind::Error => "error",
                Kind::Rewind => "went back",
                Kind::Plan => "plan",
                _ => "unknown record",
            };
            let first = cut(text.lines().next().unwrap_or_default(), 160);
            let _ = writeln!(out, "{}", format!("{indent}- *{name}* {}", inline(&first)).trim_end());
        }
    }
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

/// How a gap reads.
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

/// Text inside a paragraph: nothing in it starts HTML, and hidden or control
/// characters are shown.
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
