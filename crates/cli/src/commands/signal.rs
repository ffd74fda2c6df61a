use clap::Subcommand;
use retro::engine::signals::{Row, Wanted, is_known, names, run as export};
use retro::insight::{Group, by_id};
use serde_json::Value;

use super::{WhichSession, agent_name};
use crate::args::AgentWord;
use retro::views::answers::{Answer, SignalExplained, SignalsRun};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;
use crate::table::{Column, Table};

/// List, compute, show and explain signals, the measures of a session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro signal list --group risk
  retro signal show latest
  retro signal explain masked_failures
  retro signal run --agent codex")]
pub struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(Debug, Subcommand)]
enum What {
    List(List),
    Run(Run),
    Show(Show),
    Explain(Explain),
}

/// List every signal
#[derive(Debug, clap::Args)]
struct List {
    /// Only this group: activity, cost, outcome, risk
    #[arg(long, value_enum)]
    group: Option<GroupName>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum GroupName {
    /// What was done
    Activity,
    /// What it cost, in money, time and attention
    Cost,
    /// How it went
    Outcome,
    /// What could go wrong
    Risk,
}

/// Write the readings of all sessions to signals/ in the store
///
/// Three files: readings.jsonl, one row for each session and signal; aggregates.json;
/// summary.md. A run that is narrowed leaves all other rows as they are.
#[derive(Debug, clap::Args)]
struct Run {
    /// Only this agent
    #[arg(long, alias = "host", value_name = "AGENT", value_parser = AgentWord, hide_possible_values = true)]
    agent: Option<String>,

    /// Only these sessions, by any unique beginning of their ids
    #[arg(long, value_name = "ID,ID", value_delimiter = ',')]
    session_id: Vec<String>,

    /// Only these signals
    #[arg(long, value_name = "SIGNAL,SIGNAL", value_delimiter = ',')]
    signal: Vec<String>,

    /// Rewrite the files from all current digests
    #[arg(long, conflicts_with_all = ["agent", "session_id", "signal"])]
    clean: bool,
}

/// Show the readings of a session
#[derive(Debug, clap::Args)]
struct Show {
    #[command(flatten)]
    session: WhichSession,
}

/// Explain a signal: its meaning, purpose, method and limits
#[derive(Debug, clap::Args)]
struct Explain {
    /// The signal's name
    #[arg(value_name = "SIGNAL")]
    signal: String,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    match &args.command {
        What::List(args) => list(args, context),
        What::Run(args) => compute(args, context),
        What::Show(args) => show(args, context),
        What::Explain(args) => explain(args, context),
    }
}

/// Writes the readings again that were there before sessions or a text were forgotten.
pub(super) fn again(
    context: &Context,
    config: &retro::engine::Config,
    earlier: Option<Wanted>,
) -> Result<(), Failure> {
    let Some(wanted) = earlier else { return Ok(()) };
    let store = context.store(config)?;
    let costs = retro::views::Costs::of(&context.world, config, &store);
    export(&store, config, &wanted, &|key, _| costs.as_ref()?.of_session(key))?;
    Ok(())
}

fn list(args: &List, context: &Context) -> Outcome {
    let group = args.group.map(|group| match group {
        GroupName::Activity => Group::Activity,
        GroupName::Cost => Group::Cost,
        GroupName::Outcome => Group::Outcome,
        GroupName::Risk => Group::Risk,
    });
    let view = retro::views::signals(&context.config()?, group);
    if context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    let columns = [
        Column::left("signal"),
        Column::left("group"),
        Column::left("kind").spare(2),
        Column::left("unit").spare(1),
        Column::left("what it says").wraps(20),
    ];
    let rows = view.signals.iter().map(|signal| {
        let word = |value: Value| value.as_str().unwrap_or_default().to_owned();
        let json = |value| serde_json::to_value(value).map(word).unwrap_or_default();
        let kind = serde_json::to_value(signal.kind).map(word).unwrap_or_default();
        vec![signal.id.clone(), json(signal.group), kind, signal.unit.to_owned(), signal.title.clone()]
    });
    context.table(&Table::new(columns).rows(rows))?;
    Ok(Exit::Done)
}

fn compute(args: &Run, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    if let Some(unknown) = args.signal.iter().find(|name| !is_known(&config, name)) {
        return Err(unknown_signal(unknown, &names(&config)));
    }
    let mut sessions = Vec::new();
    for id in &args.session_id {
        sessions.push(retro::views::session(&store, &[id], context.world.now())?.id);
    }
    let wanted =
        Wanted { agent: agent_name(&args.agent)?, sessions, signals: args.signal.clone(), clean: args.clean };
    let costs = retro::views::Costs::of(&context.world, &config, &store);
    let ran = export(&store, &config, &wanted, &|key, _| costs.as_ref()?.of_session(key))?;
    if context.global.json {
        let run = SignalsRun { sessions: ran.sessions, readings: ran.readings, total: ran.total };
        context.print_json(&Answer::of(run))?;
    } else {
        context.say(&format!(
            "{} of {} written; {} in {}.",
            format::count(ran.readings, "reading"),
            format::count(ran.sessions, "session"),
            format::count(ran.total, "row"),
            store.signals_path("readings.jsonl").display()
        ));
    }
    Ok(Exit::Done)
}

fn show(args: &Show, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let key = args.session.find(&store, context)?;
    let view = retro::views::readings(&context.world, &config, &store, &key)?;
    if context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    let columns = [
        Column::left("signal"),
        Column::left("value").shrinks(12),
        Column::left("unit").spare(1),
        Column::right("sure").spare(2),
        Column::left("evidence").wraps(12).spare(3),
    ];
    let rows = view.readings.iter().map(|row| {
        vec![
            row.signal.clone(),
            value(row),
            row.unit.clone(),
            format!("{:.2}", row.confidence),
            row.evidence_refs.join(" "),
        ]
    });
    context.table(&Table::new(columns).rows(rows))?;
    Ok(Exit::Done)
}

/// A value for people. A missing value shows its reason.
fn value(row: &Row) -> String {
    match (&row.value, &row.reason) {
        (Value::Null, Some(reason)) => format!("- ({reason})"),
        (Value::String(text), _) => text.clone(),
        (value, _) => value.to_string(),
    }
}

fn explain(args: &Explain, context: &Context) -> Outcome {
    let config = context.config()?;
    let Some(signal) = by_id(&args.signal) else {
        if is_known(&config, &args.signal) {
            context.print(&format!("{}: a signal of your own, defined in [[signals]].", args.signal))?;
            return Ok(Exit::Done);
        }
        return Err(unknown_signal(&args.signal, &names(&config)));
    };
    if context.global.json {
        context.print_json(&Answer::of(SignalExplained::from(signal)))?;
        return Ok(Exit::Done);
    }
    let bold = anstyle::Style::new().bold();
    context.print(&format!("{bold}{}{bold:#}: {}", signal.id, signal.title))?;
    context.print_explanation(&signal.explanation())?;
    Ok(Exit::Done)
}

fn unknown_signal(name: &str, names: &[String]) -> Failure {
    let near = retro::views::nearest(name, names.iter().map(String::as_str));
    let hint =
        near.map_or("`retro signal list` shows all".to_owned(), |near| format!("did you mean {near:?}?"));
    Failure::missing(format_args!("there is no signal {name:?}"), hint)
}
