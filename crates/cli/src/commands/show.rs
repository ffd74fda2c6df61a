mod page;

use retro::engine::prices;
use retro::views::{Entry, ShowView, Shown};

use super::WhichSession;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;
use crate::pager;
use page::{Page, Parts};

/// Read a session: prompts, answers, and a line for each thing the agent did
///
/// Long texts are folded, thinking and the output of calls left out; --full shows all of
/// it. On a terminal the answer goes through PAGER. With `--json`: what the session is,
/// its files, events by kind, coverage, gaps, and all entries.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro show latest
  retro show claude 3f2a --turn 3 --full
  retro show 3f2a --prompts
  retro show latest --final
  retro show 3f2a --last 2 --diff
  retro show 3f2a --json | jq .coverage")]
pub struct Args {
    #[command(flatten)]
    session: WhichSession,

    /// Fold nothing, and show the output of every call
    #[arg(long)]
    full: bool,

    /// Only this turn, counted from 1
    #[arg(long, value_name = "N")]
    turn: Option<u32>,

    /// Only the last N turns
    #[arg(long, value_name = "N", conflicts_with = "turn", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,

    /// Only the last answer, whole
    #[arg(long = "final", conflicts_with_all = ["prompts", "tools", "diff", "thinking", "last"])]
    last_answer: bool,

    /// Also the lines that each edit changed; --full shows all of them
    #[arg(long, conflicts_with = "prompts")]
    diff: bool,

    /// Only what you said
    #[arg(long, conflicts_with = "tools")]
    prompts: bool,

    /// Only the actions of the agent, with the output of each call
    #[arg(long)]
    tools: bool,

    /// Also the model's thinking
    #[arg(long)]
    thinking: bool,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let key = args.session.find(&store, context)?;
    let turn = args.turn.or(args.session.turn(&store, &key)?);
    // A session can be read without a price table, but its costs are then unknown.
    let prices = prices::load(&context.world, &config).ok();
    let shown = retro::views::show_priced(&config, &store, &key, prices.as_ref())?;
    if context.global.json {
        context.print_json(&shown.read())?;
        return Ok(Exit::Done);
    }
    let main = shown.settled.events.iter().filter(|event| event.thread.is_main());
    let last = main.map(|event| event.turn).max().unwrap_or(0);
    if let Some(turn) = turn.filter(|turn| *turn > last) {
        let turns = format::count(u64::from(last), "turn");
        return Err(Failure::missing(
            format_args!("there is no turn {turn}"),
            format_args!("the session has {turns}"),
        ));
    }
    if args.last_answer {
        return tell_last_answer(context, &shown, turn);
    }
    let parts = Parts {
        full: args.full,
        turn,
        last: args.last,
        diff: args.diff,
        thinking: args.thinking || args.full,
        prompts_only: args.prompts,
        tools_only: args.tools,
    };
    pager::print(context, &lines(context, &shown, parts))?;
    Ok(Exit::Done)
}

/// Only the last answer, of the session or of one turn.
fn tell_last_answer(context: &Context, shown: &Shown, turn: Option<u32>) -> Outcome {
    let mut at = 0;
    let mut found = None;
    for entry in shown.transcript() {
        match entry {
            Entry::Prompt(prompt) => at = prompt.turn.max(at),
            Entry::Answer { .. } if turn.is_none_or(|turn| turn == at) => found = Some(entry),
            _ => {}
        }
    }
    let Some(answer) = found else {
        context.say("The agent gave no answer.");
        return Ok(Exit::Findings);
    };
    let mut page = Page::new(context.room(), Parts { full: true, ..Parts::default() });
    page.entries(&[answer], 0);
    pager::print(context, page.lines.get(1..).unwrap_or_default())?;
    Ok(Exit::Done)
}

/// The session for reading.
pub fn tell(context: &Context, shown: &Shown) -> Result<(), Failure> {
    lines(context, shown, Parts::default()).iter().try_for_each(|line| context.print(line))
}

fn lines(context: &Context, shown: &Shown, parts: Parts) -> Vec<String> {
    let view = &shown.view;
    let mut page = Page::new(context.room(), parts);
    head(&mut page, view);
    page.session(&shown.transcript());
    if shown.left_out > 0 {
        page.prose(&format!(
            "\n{} in the middle of this very large session are not shown. `retro events` prints all.",
            format::count(shown.left_out, "event")
        ));
    }
    for gap in &view.gaps {
        let yellow = anstyle::AnsiColor::Yellow.on_default();
        page.prose(&format!("{yellow}gap{yellow:#} {}", retro::views::gap_line(gap)));
    }
    page.lines
}

/// The session's description, in a few lines.
fn head(page: &mut Page, view: &ShowView) {
    let session = &view.session;
    let (bold, dim) = (anstyle::Style::new().bold(), anstyle::Style::new().dimmed());
    let title = session.title.as_deref().unwrap_or("(no prompt)");
    page.styled(title, bold);
    let mut facts = vec![format!("{} {}", session.agent, session.session_id)];
    facts.extend(session.cwd.clone());
    facts.extend(session.branch.clone().filter(|branch| !branch.is_empty()));
    page.styled(&facts.join(" · "), dim);
    let mut figures =
        vec![format!("{} – {}", format::time(session.started_at), format::time(session.ended_at))];
    figures.extend(session.duration_ms.map(format::took));
    figures.extend(session.turns.map(|turns| format::count(turns, "turn")));
    figures.extend(session.cost_usd.map(|usd| format::money(Some(usd), session.cost_complete)));
    figures.extend(view.models.iter().cloned());
    figures.extend(session.outcome.as_deref().map(|outcome| match outcome {
        "unknown" => "outcome unknown".to_owned(),
        known => known.to_owned(),
    }));
    page.styled(&figures.join(" · "), dim);
    let coverage = &view.coverage;
    let mut counts = vec![
        format::bytes(session.bytes),
        format::count(coverage.records, "record"),
        format::count(view.event_counts.values().sum(), "event"),
    ];
    if coverage.unknown + coverage.malformed > 0 {
        counts.push(format!("{} unknown, {} malformed", coverage.unknown, coverage.malformed));
    }
    page.styled(&counts.join(" · "), dim);
    match &session.resume {
        Some(resume) => page.styled(&format!("resume: {resume}"), dim),
        None => page.styled("cannot be resumed: its log is only in the store", dim),
    }
}
