//! A digest as a page of text: sections with a name in the margin, shortened so that all of them
//! fit.

use anstyle::Style;
use retro::insight::Digest;
use retro::text::calls::Verdict;
use retro::text::terminal::{one_line, safe_line};
use retro::views::{Cure, DigestPage};

use crate::format;
use crate::prose::{cut_end, cut_middle, shown_width, wrap};

/// Width of the names in the margin.
const MARGIN: usize = 11;
/// Width if the terminal does not report one.
const COLUMNS: usize = 80;
/// Minimum width of words.
const COLUMNS_MIN: usize = 20;
/// Maximum width of prose: longer lines are hard to read.
const PROSE_COLUMNS_MAX: usize = 100;
/// Lines around the parts: the head, a blank line, and the prompt of the shell.
const LINES_AROUND: usize = 4;
/// Maximum lines of a message or an answer.
const WORDS_LINES_MAX: usize = 4;

/// Characters of a commit's hash.
const HASH_CHARS: usize = 7;
/// Width of a file's counts of added and removed lines.
const COUNTS_COLUMNS: usize = 10;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// A section of the page.
struct Part {
    name: &'static str,
    lines: Vec<String>,
    /// The noun for its lines, if the number of omitted ones is shown.
    counts: Option<&'static str>,
    /// Items that the digest omits as well.
    more: u64,
}

/// The page as lines, with as many items of each list as fit into `rows`.
pub fn lines(page: &DigestPage, room: Option<usize>, rows: usize) -> Vec<String> {
    let room = room.unwrap_or(COLUMNS);
    let width = room.saturating_sub(MARGIN).clamp(COLUMNS_MIN, PROSE_COLUMNS_MAX);
    let digest = &page.digest;
    let mut lines = head(digest, room);
    lines.push(String::new());
    let parts = parts(page, width);
    let shown = shares(&parts, rows.saturating_sub(LINES_AROUND));
    for (part, shown) in parts.iter().zip(shown) {
        part.write(shown, width, &mut lines);
    }
    lines
}

/// The number of lines of each section: one each, then one more in turn while there is room.
fn shares(parts: &[Part], rows: usize) -> Vec<usize> {
    let mut shares: Vec<usize> = parts.iter().map(|part| part.lines.len().min(1)).collect();
    let mut left = rows.saturating_sub(shares.iter().sum());
    loop {
        let mut grew = false;
        for (part, share) in parts.iter().zip(&mut shares) {
            if left > 0 && *share < part.lines.len() {
                (*share, left, grew) = (*share + 1, left - 1, true);
            }
        }
        if !grew {
            return shares;
        }
    }
}

impl Part {
    fn words(name: &'static str, text: &str, width: usize) -> Part {
        let mut lines = wrap(&safe_line(text), width);
        if lines.len() > WORDS_LINES_MAX {
            lines.truncate(WORDS_LINES_MAX);
            if let Some(last) = lines.last_mut() {
                last.push('…');
            }
        }
        Part { name, lines, counts: None, more: 0 }
    }

    fn list(name: &'static str, counts: &'static str, lines: Vec<String>, digest: &Digest) -> Part {
        let more = digest.left_out.get(counts).copied().unwrap_or(0);
        Part { name, lines, counts: Some(counts), more }
    }

    fn write(&self, shown: usize, width: usize, out: &mut Vec<String>) {
        let hidden = (self.lines.len() - shown) as u64 + self.more;
        for (at, line) in self.lines.iter().take(shown).enumerate() {
            let name = if at == 0 { self.name } else { "" };
            let mut line = line.clone();
            if at + 1 == shown && hidden > 0 {
                line = match self.counts {
                    Some(counts) => {
                        let more = format!("  (and {hidden} more {counts})");
                        let room = width.saturating_sub(more.chars().count());
                        format!("{}{DIM}{more}{DIM:#}", cut_end(&line, room))
                    }
                    None => format!("{}…", line.trim_end_matches('…')),
                };
            }
            out.push(format!("{DIM}{name:MARGIN$}{DIM:#}{line}").trim_end().to_owned());
        }
    }
}

/// The title, and the session's name.
fn head(digest: &Digest, room: usize) -> Vec<String> {
    let identity = &digest.identity;
    let title = identity.title.as_deref().filter(|title| !title.trim().is_empty());
    let title =
        title.unwrap_or(if digest.first_prompt.is_empty() { "(no prompt)" } else { &digest.first_prompt });
    let mut facts = vec![format!("{} {}", identity.agent, safe_line(&identity.session_id))];
    facts.extend(identity.cwd.as_deref().map(|cwd| cwd.rsplit(['/', '\\']).next().unwrap_or(cwd).to_owned()));
    facts.extend(identity.branch.clone().filter(|branch| !branch.is_empty()));
    vec![
        format!("{BOLD}{}{BOLD:#}", one_line(title, room)),
        format!("{DIM}{}{DIM:#}", one_line(&facts.join(" · "), room)),
    ]
}

fn parts(page: &DigestPage, width: usize) -> Vec<Part> {
    let digest = &page.digest;
    let mut parts = vec![Part::words("asked", &digest.first_prompt, width)];
    if digest.last_prompt != digest.first_prompt {
        parts.push(Part::words("then", &digest.last_prompt, width));
    }
    parts.push(Part::words("done", &done(digest), width));
    parts.push(Part::words("answer", &digest.last_answer, width));
    parts.push(Part::words("outcome", &outcome(digest), width));
    let commits = digest.commits.iter().map(|commit| {
        let hash: String = commit.hash.chars().take(HASH_CHARS).collect();
        one_line(&format!("{hash} {}", commit.subject), width)
    });
    parts.push(Part::list("commits", "commits", commits.collect(), digest));
    let is_check = |purpose: &str| matches!(purpose, "test" | "build" | "typecheck" | "lint");
    let checks = digest.commands.iter().filter(|command| is_check(&command.purpose)).map(|command| {
        let failed = if command.failed > 0 { format!(", {} failed", command.failed) } else { String::new() };
        let runs = if command.count > 1 || command.failed > 0 {
            format!(" ({} {}{failed})", command.count, if command.count == 1 { "run" } else { "runs" })
        } else {
            String::new()
        };
        let line = one_line(&command.command, width.saturating_sub(2 + runs.len()).max(COLUMNS_MIN));
        format!("{} {line}{runs}", mark(command.last))
    });
    parts.push(Part { more: 0, ..Part::list("checks", "checks", checks.collect(), digest) });
    let errors = digest.errors.iter().map(|error| {
        let cure = page.cures.iter().find(|cure| cure.fingerprint == error.fingerprint);
        let fate = match cure {
            Some(cure) => cured(cure),
            None if error.fixed => "passed later".to_owned(),
            None => "not seen to pass".to_owned(),
        };
        // The error comes first. Its cure gets the remaining width, at least half.
        let count = if error.count > 1 { format!("{} x ", error.count) } else { String::new() };
        let fate = one_line(&format!("· {fate}"), width / 2);
        let room = width.saturating_sub(shown_width(&fate) + 1);
        format!("{} {fate}", one_line(&format!("{count}{}", error.sample), room))
    });
    parts.push(Part::list("errors", "errors", errors.collect(), digest));
    let corrections = digest
        .corrections
        .iter()
        .map(|correction| one_line(&format!("{} ({})", correction.text, correction.event_id), width));
    parts.push(Part::list("corrected", "corrections", corrections.collect(), digest));
    let files = digest.files.iter().map(|file| {
        let counts = format!("+{} −{}", file.added, file.removed);
        let room = width.saturating_sub(COUNTS_COLUMNS + 1);
        let path = cut_middle(&safe_line(below(&file.path, digest.identity.cwd.as_deref())), room);
        format!("{counts:COUNTS_COLUMNS$} {path}")
    });
    parts.push(Part::list("files", "files", files.collect(), digest));
    parts.push(Part::words("cost", &cost(page), width));
    parts.push(Part::words("time", &time(digest), width));
    parts.retain(|part| part.lines.iter().any(|line| !line.is_empty()));
    parts
}

/// The work done, in figures.
fn done(digest: &Digest) -> String {
    let left_out = |list: &str| digest.left_out.get(list).copied().unwrap_or(0);
    let mut done = Vec::new();
    let files = digest.files.len() as u64 + left_out("files");
    if files > 0 {
        let lines = format!(
            "+{} −{} lines",
            format::thousands(digest.lines.added),
            format::thousands(digest.lines.removed)
        );
        done.push(format!("{} changed, {lines}", format::count(files, "file")));
    }
    let commits = digest.commits.len() as u64 + left_out("commits");
    if commits > 0 {
        done.push(format::count(commits, "commit"));
    }
    for (purpose, noun) in
        [("test", "test run"), ("build", "build"), ("typecheck", "type check"), ("lint", "lint run")]
    {
        let (mut runs, mut failed) = (0, 0);
        for command in digest.commands.iter().filter(|command| command.purpose == purpose) {
            (runs, failed) = (runs + command.count, failed + command.failed);
        }
        if runs > 0 {
            let failed = if failed > 0 { format!(" ({failed} failed)") } else { String::new() };
            done.push(format!("{}{failed}", format::count(runs, noun)));
        }
    }
    let calls: u64 = digest.tools.values().sum();
    if calls > 0 {
        let failed = number(digest, "failed_command_count").filter(|failed| *failed > 0);
        let failed = failed.map_or(String::new(), |failed| format!(" ({failed} failed)"));
        done.push(format!("{}{failed}", format::count(calls, "call")));
    }
    let children = digest.children.len() as u64 + left_out("children");
    if children > 0 {
        done.push(format::count(children, "sub-agent"));
    }
    if done.is_empty() { "nothing but words".to_owned() } else { done.join(" · ") }
}

fn outcome(digest: &Digest) -> String {
    let outcome = &digest.outcome;
    let evidence = match outcome.evidence_refs.as_slice() {
        [] => String::new(),
        some => format!(" ({})", some.join(", ")),
    };
    let real = if digest.quality.real {
        String::new()
    } else {
        format!(" · not counted as real work: {}", digest.quality.rule.replace('_', " "))
    };
    format!("{}: {}{evidence}{real}", outcome.value.as_str(), outcome.reason)
}

fn cured(cure: &Cure) -> String {
    let mut steps = cure.steps.clone();
    steps.push(format!("{} passed", cure.passed));
    format!("cured: {}", steps.join(", then "))
}

fn cost(page: &DigestPage) -> String {
    let digest = &page.digest;
    let mut facts = vec![match page.cost_usd {
        Some(usd) => format::money(Some(usd), page.cost_complete),
        None => "no known price".to_owned(),
    }];
    facts.push(format!("{} tokens", format::tokens(digest.tokens.total())));
    facts.extend(digest.identity.models.iter().cloned());
    facts.join(" · ")
}

fn time(digest: &Digest) -> String {
    let mut facts = Vec::new();
    if let (Some(from), Some(to)) = (digest.started_at, digest.ended_at) {
        let from_day = format::day(from);
        let to = if from_day == format::day(to) { format::clock(to) } else { format::time(Some(to)) };
        facts.push(format!("{} – {to}", format::time(Some(from))));
    }
    let active = number(digest, "active_seconds");
    facts.extend(active.map(|seconds| format!("active {}", format::took(seconds * 1000))));
    facts.extend(number(digest, "user_message_count").map(|count| format::count(count, "message")));
    facts.join(" · ")
}

fn number(digest: &Digest, signal: &str) -> Option<u64> {
    digest.readings.get(signal)?.value.as_u64()
}

fn below<'p>(path: &'p str, cwd: Option<&str>) -> &'p str {
    cwd.and_then(|cwd| path.strip_prefix(cwd)?.strip_prefix(['/', '\\'])).unwrap_or(path)
}

fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "✓",
        Verdict::Failed => "✗",
        Verdict::NothingFound | Verdict::Unknown => "·",
    }
}
