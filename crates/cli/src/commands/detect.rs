use jiff::tz::TimeZone;
use retro::engine::consumers;
use retro::patterns::DETECTORS;
use retro::views::answers::Answer;
use retro::views::nearest;
use retro::views::patterns::{CandidateView, DetectQuestion, DetectView, detect, detector, detectors};

use super::agent_name;
use crate::args::AgentWord;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;
use crate::when::{Between, end, start};

/// Show what goes wrong, or well, again and again
///
/// Looks at every quiet session that was real work, in all agents. What was seen in several
/// agents comes first, then what cost most. `retro curate` decides what is written down.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro detect
  retro detect --since 30d --project shop
  retro detect --explain retry_storm")]
pub struct Args {
    /// Only patterns seen at least this often [default: 2]
    #[arg(long, value_name = "N")]
    min_frequency: Option<u32>,

    #[command(flatten)]
    between: Between,

    /// Only sessions of this agent
    #[arg(long, alias = "host", value_name = "AGENT", value_parser = AgentWord, hide_possible_values = true)]
    agent: Option<String>,

    /// Only sessions of this project: its name or a part of it
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Only what this detector saw
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,

    /// At most so many; 0 for all [default: 20; all with --json]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Explain a detector: what it finds, why, how, its limits; `all` lists them
    #[arg(long, value_name = "TYPE")]
    explain: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    if let Some(name) = &args.explain {
        return explain(name, context);
    }
    if let Some(name) = args.kind.as_deref().filter(|name| detector(name).is_none()) {
        return Err(unknown(name));
    }
    let mut view = answer(args, context)?;
    let found = view.candidates.len();
    view.candidates.truncate(super::rows_max(args.limit, context).unwrap_or(found));
    let exit = if view.candidates.is_empty() { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(&Answer::of(view))?;
        return Ok(exit);
    }
    for (at, candidate) in view.candidates.iter().enumerate() {
        print(at + 1, candidate, context)?;
    }
    let looked = format::count(view.sessions as u64, "session");
    context.say(&match (found, view.candidates.len()) {
        (0, _) => format!("Nothing recurs in {looked} of real work that went quiet."),
        (all, shown) if shown < all => {
            format!(
                "\n{shown} of {} in {looked} (--limit 0 shows all).",
                format::count(all as u64, "candidate")
            )
        }
        (all, _) => format!(
            "\n{} in {looked}. `retro curate` decides about them.",
            format::count(all as u64, "candidate")
        ),
    });
    Ok(exit)
}

fn answer(args: &Args, context: &Context) -> Result<DetectView, Failure> {
    let config = context.config()?;
    let store = context.store(&config)?;
    let tz = TimeZone::system();
    let (since, until) = args.between.days(context, &tz)?;
    // The file may have been deleted, or never created.
    if store.candidates()?.is_none() && !context.global.no_sync {
        consumers::catch_up(&context.world, &config)?;
    }
    let question = DetectQuestion {
        min_frequency: args.min_frequency,
        since: since.and_then(|day| start(day, &tz)),
        before: until.and_then(|day| end(day, &tz)),
        agent: agent_name(&args.agent)?,
        project: args.project.clone(),
        kind: args.kind.clone(),
    };
    Ok(detect(&context.world, &config, &store, &question)?)
}

fn explain(name: &str, context: &Context) -> Outcome {
    if name == "all" {
        let view = detectors();
        if context.global.json {
            context.print_json(&Answer::of(view))?;
            return Ok(Exit::Done);
        }
        for one in &view.detectors {
            context.print_hanging(&format!("{:20}  {}", one.name, one.title), 22)?;
        }
        return Ok(Exit::Done);
    }
    let view = detector(name).ok_or_else(|| unknown(name))?;
    if context.global.json {
        context.print_json(&Answer::of(view))?;
        return Ok(Exit::Done);
    }
    let bold = anstyle::Style::new().bold();
    context.print(&format!("{bold}{}{bold:#}: {}", view.name, view.title))?;
    context.print_explanation(&view.text)?;
    Ok(Exit::Done)
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = DETECTORS.iter().map(|detector| detector.name).collect();
    let near = nearest(name, names);
    let hint = near.map_or("`retro detect --explain all` lists them".to_owned(), |near| {
        format!("did you mean {near:?}?")
    });
    Failure::missing(format_args!("there is no detector {name:?}"), hint)
}

/// Maximum sessions named per candidate.
const SESSIONS_MAX: usize = 4;

/// A candidate in a few lines.
pub(super) fn print(number: usize, candidate: &CandidateView, context: &Context) -> Result<(), Failure> {
    let bold = anstyle::Style::new().bold();
    let line = |text: &str| context.print_hanging(&format!("   {}", context.shown(text)), 5);
    let cross = if candidate.cross_agent { "[CROSS-AGENT] " } else { "" };
    let new = if candidate.new { "" } else { " (decided)" };
    context.print("")?;
    let title = context.shown(&candidate.title).into_owned();
    context.print_hanging(&format!("{number}. {cross}{bold}{title}{bold:#}{new}"), 3)?;
    let since = candidate.first_seen.map_or(String::new(), |first| format!(", since {}", format::day(first)));
    let places = match candidate.repos.as_slice() {
        [] => String::new(),
        [one] => format!(" of {one}"),
        many => format!(" of {} projects", many.len()),
    };
    line(&format!(
        "{}: {} in {}{places}, {}{since}",
        candidate.types.join(", "),
        format::count(u64::from(candidate.frequency), "time"),
        format::count(candidate.sessions.len() as u64, "session"),
        candidate.agents.join(" and "),
    ))?;
    let impact = &candidate.impact;
    if impact.tokens > 0 || impact.minutes > 0.0 {
        let usd = impact
            .usd
            .filter(|usd| *usd > 0.0)
            .map_or(String::new(), |usd| format!(", {}", format::money(Some(usd), true)));
        let minutes = match impact.minutes.round() {
            minutes if minutes >= 1.0 => format!(", {}", format::count(minutes as u64, "minute")),
            _ => String::new(),
        };
        line(&format!("cost {} tokens{usd}{minutes}", format::tokens(impact.tokens)))?;
    }
    match candidate.resolutions.first() {
        Some(known) => line(&format!(
            "{}, in {}: {}",
            if candidate.kind == "correction_repeated" { "asked for" } else { "what helped" },
            format::count(u64::from(known.times), "session"),
            known.text
        ))?,
        None => line("nothing is known to solve it")?,
    }
    let named = candidate.sessions.iter().take(SESSIONS_MAX).map(|session| {
        format!("{}/{}", session.agent, session.session_id.chars().take(8).collect::<String>())
    });
    let named: Vec<String> = named.collect();
    let more = candidate.sessions.len().saturating_sub(SESSIONS_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    line(&format!("{}  {}{more}", candidate.key, named.join(", ")))?;
    if context.global.verbose {
        line(&format!("score {:.2}: {}", candidate.score, candidate.why))?;
    }
    Ok(())
}
