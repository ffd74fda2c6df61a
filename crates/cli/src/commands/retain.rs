use anstyle::{AnsiColor, Style};
use retro::engine::retain::{Explained, Retained, Sweep, explain, retain};
use retro::views::answers::{Answer, Retention};
use std::io::{BufRead, IsTerminal};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{bytes, count};
use crate::progress::Bar;
use crate::table::{Column, Table};

/// Give up old raw bytes, so that the store keeps its size
///
/// Only captured logs go, oldest first, and only after a session was analyzed: its
/// digest, costs, outcome, files, memories and a few words for search stay. The limits
/// are `retention.raw_soft_cap_bytes`, `raw_hard_cap_bytes` and `raw_max_age_days` of the
/// configuration. Once you have set one or have run this with --yes, `retro sync` does it too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro retain --dry-run       what would go
  retro retain --explain       what takes the space, by project and kind
  retro retain --yes           do it, and let `retro sync` do it from now on")]
pub struct Args {
    /// Say what would go, change nothing
    #[arg(long)]
    dry_run: bool,

    /// Say what takes the space, change nothing
    #[arg(long)]
    explain: bool,

    /// Do not ask
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    context.store(&config)?;
    let bar = Bar::new(context);
    let sweep = |how| retain(&context.world, &config, how, &|step| bar.step(step));
    let preview = sweep(Sweep::DryRun)?;
    let explained = args.explain.then(|| explain(&config)).transpose()?;
    let is_look = args.dry_run || (args.explain && !args.yes);
    if is_look || (preview.evicted.is_empty() && !args.yes) {
        return tell(context, &preview, explained);
    }
    if !args.yes {
        say(context, &preview);
        if !confirmed(context, "Give these raw bytes up?")? {
            context.say("Nothing was changed.");
            return Ok(Exit::Findings);
        }
    }
    let done = sweep(Sweep::ByPerson)?;
    bar.done();
    tell(context, &done, explained)
}

/// Asks a person. Where there is none, nothing is done.
pub fn confirmed(context: &Context, question: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::hinted(
            "nobody is here to say yes, so nothing was changed",
            "--yes goes ahead without asking, --dry-run only looks",
        ));
    }
    context.say(&format!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn tell(context: &Context, retained: &Retained, explained: Option<Explained>) -> Outcome {
    let exit = if retained.data_loss.is_empty() { Exit::Done } else { Exit::Findings };
    if context.global.json {
        context.print_json(&Answer::of(Retention { retained, explained }))?;
        return Ok(exit);
    }
    if let Some(explained) = explained {
        tell_room(context, &explained)?;
    }
    say(context, retained);
    Ok(exit)
}

/// How many sessions are named.
const NAMED_MAX: usize = 10;

fn say(context: &Context, retained: &Retained) {
    let caps = &retained.caps;
    let age = caps.raw_max_age_days.map_or(String::new(), |days| format!(", {days} days"));
    context.say(&format!(
        "Raw bytes: {} (soft cap {}, hard cap {}{age}).",
        bytes(retained.usage_before),
        bytes(caps.raw_soft_cap_bytes),
        bytes(caps.raw_hard_cap_bytes)
    ));
    let named_max = if context.global.verbose { usize::MAX } else { NAMED_MAX };
    for one in retained.evicted.iter().take(named_max) {
        let id = retro::text::terminal::safe_line(&one.session_id).into_owned();
        let lost = if one.analyzed { "" } else { ", without a digest" };
        context.say(&format!("  {} {id}  {}{lost}", one.agent, bytes(one.bytes)));
    }
    let more = retained.evicted.len().saturating_sub(named_max);
    if more > 0 {
        context.say(&format!("  and {}; --verbose names them", count(more as u64, "more session")));
    }
    context.say(&summary(retained));
    if !retained.data_loss.is_empty() {
        let red = AnsiColor::Red.on_default();
        let sessions = count(retained.data_loss.len() as u64, "session");
        context.say(&format!("{red}data loss:{red:#} {sessions} had no digest and could not get one."));
    }
    for need in &retained.needs {
        context.say(&format!("Above the soft cap: {need}."));
    }
    if retained.distilled.alert {
        let (size, cap) = (bytes(retained.distilled.bytes), bytes(retained.distilled.cap));
        context.say(&format!("What stays for ever takes {size}, more than {cap}; nothing of it is removed."));
    }
    if !retained.enabled {
        context.say("`retro sync` only reports this until you set a limit or run `retro retain --yes`.");
    }
}

/// What went, in one sentence.
pub fn summary(retained: &Retained) -> String {
    let passes = &retained.passes;
    let by: Vec<String> = [("age", passes.age), ("soft cap", passes.soft), ("hard cap", passes.hard)]
        .into_iter()
        .filter(|(_, sum)| sum.sessions > 0)
        .map(|(name, sum)| format!("{name} {}", sum.sessions))
        .collect();
    let sessions = count(retained.evicted.len() as u64, "session");
    match (retained.evicted.is_empty(), retained.dry_run) {
        (true, _) => "Nothing has to go.".to_owned(),
        (false, true) => format!(
            "Would give up {} of {sessions} ({}), leaving {}.",
            bytes(retained.freed),
            by.join(", "),
            bytes(retained.final_usage)
        ),
        (false, false) => format!(
            "Gave up {} of {sessions} ({}). Raw bytes now: {}.",
            bytes(retained.freed),
            by.join(", "),
            bytes(retained.final_usage)
        ),
    }
}

fn tell_room(context: &Context, explained: &Explained) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    let columns = [
        Column::left("project").shrinks(12),
        Column::right("sessions"),
        Column::right("evicted").style(dim),
        Column::right("pinned").style(dim),
        Column::right("raw"),
    ];
    let rows = explained.projects.iter().map(|room| {
        vec![
            room.project.clone().unwrap_or_else(|| "-".to_owned()),
            room.sessions.to_string(),
            room.evicted.to_string(),
            room.pinned.to_string(),
            bytes(room.raw_bytes),
        ]
    });
    context.table(&Table::new(columns).rows(rows))?;
    context.print("")?;
    let mut kinds: Vec<_> = explained.kinds.iter().filter(|(_, size)| **size > 0).collect();
    kinds.sort_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
    let rows = kinds.into_iter().map(|(kind, size)| vec![(*kind).to_owned(), bytes(*size)]);
    let columns = [Column::left("kind"), Column::right("bytes")];
    context.table(&Table::new(columns).rows(rows))?;
    context.print("")
}
