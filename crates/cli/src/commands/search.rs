use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use jiff::tz::TimeZone;
use retro::model::PieceKind;
use retro::search::Mode;
use retro::text::terminal::safe_line;
use retro::views::{HitView, SearchQuestion, SearchView, open_search};

use super::agent_name;
use crate::args::AgentWord;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{self, count};
use crate::pager;
use crate::patience::{self, Waiting};
use crate::progress::Bar;
use crate::prose::{cut_end, wrap};
use crate::when::Between;

/// Find past turns by words and by meaning
///
/// A question in plain English works, and so does an exact name, path, error line or flag.
/// Quotation marks around words keep their order, where at most two words are beside them. A
/// minus in front of the last words leaves out turns with them. Write such a query inside shell
/// quotes, or `-word` is taken for an option. Days in the question, such as `last week` or
/// `in March`, narrow the search. The answer names the operators that it used. One with which
/// nothing is found is looked for as text.
///
/// Filters: agent: project: file: cmd: tool: model: before: after: is:failed
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro search why did the checkout test fail
  retro search '\"off by one\" project:shop after:2026-03'
  retro search 'checkout timeout -flaky'
  retro search E0308 file:src/cart.rs
  retro search -- cargo test --no-run fails
  retro search 'cmd:\"cargo test\" is:failed last week'
  retro search --session latest --in output timeout
  retro search deploy --budget 800 --json")]
pub struct Args {
    /// What to look for
    #[arg(value_name = "QUERY", required_unless_present = "text")]
    query: Vec<String>,

    /// Look for all words as text: nothing is an operator or an option
    #[arg(value_name = "TEXT", last = true)]
    text: Vec<String>,

    #[command(flatten)]
    filters: Filters,

    /// Only this session and its sub-agents
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,

    /// Only text of these kinds: user, assistant, command, output, file
    #[arg(long = "in", value_name = "KINDS", value_delimiter = ',')]
    kinds: Vec<Place>,

    /// By words, by meaning, or both
    #[arg(long, value_enum, default_value = "hybrid")]
    mode: How,

    /// Sessions to show [default: as many as fit on one screen, 8 at most]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Cut the answer to about so many tokens, to hand it to an agent
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,

    /// Only exact matches of the text
    #[arg(long)]
    exact: bool,

    /// Look for all signs as text: nothing is an operator
    #[arg(long)]
    literal: bool,

    /// Also look on branches that were rewound
    #[arg(long)]
    rewound: bool,
}

/// Default maximum of sessions.
pub const SESSIONS: usize = 8;

/// Lines of the screen reserved for the summary and the prompt.
const ROWS_BELOW: usize = 4;

/// Which sessions, and when.
#[derive(Debug, Clone, clap::Args)]
pub struct Filters {
    /// Only this agent
    #[arg(long, alias = "host", value_name = "AGENT", value_parser = AgentWord, hide_possible_values = true)]
    pub agent: Option<String>,

    /// Only this project: its name, a part of it, or a folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,

    #[command(flatten)]
    pub between: Between,

    #[command(flatten)]
    pub waiting: Waiting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Place {
    User,
    Assistant,
    Command,
    Output,
    File,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum How {
    Words,
    Meaning,
    Hybrid,
}

impl How {
    pub fn mode(self) -> Mode {
        match self {
            How::Words => Mode::Words,
            How::Meaning => Mode::Meaning,
            How::Hybrid => Mode::Hybrid,
        }
    }
}

impl Filters {
    /// A question with these filters.
    pub fn question(&self, text: String, context: &Context) -> Result<SearchQuestion, Failure> {
        let tz = TimeZone::system();
        let (since, until) = self.between.days(context, &tz)?;
        Ok(SearchQuestion {
            agent: agent_name(&self.agent)?,
            project: self.project.clone(),
            since,
            until,
            limit: 8,
            cwd: std::env::current_dir().ok().map(|folder| folder.display().to_string()),
            tz,
            ..SearchQuestion::new(text)
        })
    }
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let bar = Bar::new(context);
    let patience = args.filters.waiting.patience(context)?;
    let searching = open_search(&context.world, &config, patience, &|step| bar.step(step))?;
    bar.done();
    let session = match &args.session {
        Some(words) => {
            Some(searching.session(&words.split_whitespace().collect::<Vec<_>>(), context.world.now())?)
        }
        None => None,
    };
    let question = SearchQuestion {
        session,
        kinds: kinds(&args.kinds),
        mode: args.mode.mode(),
        limit: args.limit.unwrap_or(SESSIONS).max(1),
        budget_tokens: args.budget,
        exact: args.exact,
        literal: args.literal || !args.text.is_empty(),
        rewound: args.rewound,
        with_sessions: context.global.json && args.budget.is_none(),
        ..args.filters.question([args.query.as_slice(), &args.text].concat().join(" "), context)?
    };
    let view = searching.search(&context.world, &config, &question)?;
    let exit = tell(context, &view, &question.text, args.limit)?;
    // The reader has the complete answer. The rest concerns only the store.
    context.hang_up();
    patience::keeping(context, |step| searching.keep(&context.world, &config, step));
    Ok(exit)
}

fn kinds(places: &[Place]) -> Option<Vec<PieceKind>> {
    let is_in = |kind: &PieceKind| {
        places.iter().any(|place| match place {
            Place::User => *kind == PieceKind::User,
            Place::Assistant => matches!(kind, PieceKind::Assistant | PieceKind::Reasoning),
            Place::Command => *kind == PieceKind::Command,
            Place::Output => matches!(kind, PieceKind::Output | PieceKind::Error),
            Place::File => *kind == PieceKind::File,
        })
    };
    (!places.is_empty()).then(|| PieceKind::ALL.into_iter().filter(is_in).collect())
}

/// Prints an answer: sessions with their turns, or that there is none. Without a limit, prints as
/// many as fit on one screen.
pub fn tell(context: &Context, view: &SearchView, asked: &str, limit: Option<usize>) -> Outcome {
    let exit = if view.hits.is_empty() { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(view)?;
        return Ok(exit);
    }
    let bold = Style::new().bold();
    view.warnings.iter().for_each(|warning| context.say(&format!("warning: {warning}")));
    if let Some(narrowed) = &view.narrowed {
        let days = match (&narrowed.since, &narrowed.until) {
            (Some(since), Some(until)) if since != until => format!("{since} to {until}"),
            (Some(day), _) | (_, Some(day)) => day.clone(),
            _ => String::new(),
        };
        context.say(&format!("Only {days}, because of {:?}.", narrowed.words));
    }
    let is_sign = |operator: &&String| view.narrowed.as_ref().is_none_or(|days| days.words != **operator);
    let signs: Vec<&str> = view.operators.iter().filter(is_sign).map(String::as_str).collect();
    if !signs.is_empty() {
        context.say(&format!("Operators: {} (--literal takes them for text).", safe_line(&signs.join(", "))));
    }
    if !view.dropped.is_empty() {
        context.say(&format!(
            "Nothing fits {}, so this was taken for text.",
            safe_line(&view.dropped.join(", "))
        ));
    }
    if view.unsure {
        context.say(&format!("{bold}Unsure:{bold:#} these may not be about it."));
    }
    let is_cut = tell_sessions(context, view, limit)?;
    if view.hits.is_empty() {
        context.say(&format!("Nothing found for {:?}.", safe_line(asked)));
    }
    if !view.suggestions.is_empty() {
        context.say(&format!("Words that exist: {}.", view.suggestions.join(", ")));
    }
    context.say(&summary(view, is_cut));
    Ok(exit)
}

/// Prints the sessions. True if some did not fit.
fn tell_sessions(context: &Context, view: &SearchView, limit: Option<usize>) -> Result<bool, Failure> {
    let sessions: Vec<&[HitView]> =
        view.hits.chunk_by(|a, b| (&a.agent, &a.session_id) == (&b.agent, &b.session_id)).collect();
    let mut lines: Vec<String> = Vec::new();
    let room = if limit.is_some() { usize::MAX } else { context.rows().saturating_sub(ROWS_BELOW) };
    let mut is_cut = false;
    for (at, hits) in sessions.iter().enumerate() {
        // If there are several sessions, each shows only its best turn.
        let is_short = limit.is_none() && sessions.len() > 1;
        let session = session_lines(context, if is_short { hits.get(..1).unwrap_or_default() } else { hits });
        if at > 0 && lines.len() + 1 + session.len() > room {
            is_cut = true;
            break;
        }
        if at > 0 {
            lines.push(String::new());
        }
        lines.extend(session);
    }
    match limit {
        Some(_) => pager::print(context, &lines)?,
        None => lines.iter().try_for_each(|line| context.print(line))?,
    }
    Ok(is_cut)
}

fn session_lines(context: &Context, hits: &[HitView]) -> Vec<String> {
    let Some(first) = hits.first() else { return Vec::new() };
    let mut lines = Vec::new();
    let (bold, dim, yellow) = (Style::new().bold(), Style::new().dimmed(), AnsiColor::Yellow.on_default());
    let title = first.title.clone().unwrap_or_else(|| "(no prompt)".to_owned());
    let title = cut_end(&title, context.room().unwrap_or(TITLE_COLUMNS).min(TITLE_COLUMNS));
    let newest = hits.iter().filter_map(|hit| hit.timestamp).max();
    let mut about = vec![format::time(newest)];
    about.extend(first.project.clone());
    lines.push(format!("{bold}{}{bold:#}", safe_line(&title)));
    lines.push(format!(
        "{} {yellow}{}{yellow:#} {dim}{}{dim:#}",
        first.agent,
        safe_line(&first.session_id),
        safe_line(&about.join(" · ")),
    ));
    for hit in hits {
        let place = match (hit.turn, hit.thread.as_str()) {
            (0, _) => hit.kind.to_owned(),
            (turn, "main") => format!("#{turn} {}", hit.kind),
            (turn, thread) => format!("{thread} #{turn} {}", hit.kind),
        };
        let rewound = if hit.live { "" } else { " (rewound)" };
        let room = context.room().unwrap_or(100).clamp(40, 120) - 4;
        lines.push(format!("  {dim}{}{rewound}{dim:#}", safe_line(&place)));
        lines.extend(wrap(&marked(hit), room).into_iter().map(|line| format!("    {line}")));
    }
    lines.push(format!("  {dim}matched: {}{dim:#}", safe_line(&reasons(hits))));
    if first.evicted {
        let digest = format!("evicted, its digest is kept: retro digest {}", safe_line(&first.session_id));
        lines.push(format!("  {dim}{digest}{dim:#}"));
    }
    if let Some(resume) = &first.resume {
        lines.push(format!("  {dim}resume: {}{dim:#}", safe_line(resume)));
    }
    lines
}

/// Why these matched: each word once, and the highest similarity.
fn reasons(hits: &[HitView]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for reason in hits.iter().flat_map(|hit| &hit.why) {
        let is_known =
            |known: &&str| *known == reason || (reason.starts_with(MEANING) && known.starts_with(MEANING));
        if !reasons.iter().any(is_known) {
            reasons.push(reason);
        }
    }
    reasons.join(", ")
}

/// The prefix of a reason that is not a word.
const MEANING: &str = "meaning ";

/// Maximum width of a title.
const TITLE_COLUMNS: usize = 100;

/// The snippet with the matching words in colour.
fn marked(hit: &HitView) -> String {
    let style = AnsiColor::Green.on_default().bold();
    let mut text = String::new();
    let mut at = 0;
    for (start, end) in &hit.marks {
        let (Some(before), Some(word)) = (hit.snippet.get(at..*start), hit.snippet.get(*start..*end)) else {
            continue;
        };
        text.push_str(&safe_line(before));
        text.push_str(&format!("{style}{}{style:#}", safe_line(word)));
        at = *end;
    }
    text.push_str(&safe_line(hit.snippet.get(at..).unwrap_or_default()));
    text
}

fn summary(view: &SearchView, is_cut: bool) -> String {
    let since = view.searched.since.map(|since| format!(" since {}", format::day(since)));
    let mut parts = vec![format!(
        "Searched {} and {}{} in {}",
        count(view.searched.sessions, "session"),
        count(view.searched.turns, "turn"),
        since.unwrap_or_default(),
        format::took(view.elapsed_ms.ceil() as u64)
    )];
    if view.unread_sessions > 0 {
        parts
            .push(format!("{} not read yet, `retro sync` reads all", count(view.unread_sessions, "session")));
    }
    if view.truncated || is_cut {
        parts.push("there is more: --limit shows it".to_owned());
    }
    if view.searched.sessions == 0 {
        parts.push("`retro agents` says where sessions are looked for".to_owned());
    }
    format!("{}.", parts.join("; "))
}
