use clap::ArgGroup;
use retro::engine::import::{Choice, ImportOptions, Imported, import};
use retro::engine::{Config, SyncReport};
use retro::model::SessionKey;
use std::path::PathBuf;

use super::render::render;
use retro::views::answers::{Answer, ImportedSessions};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::count;
use crate::progress::Bar;

/// Capture chosen sessions by hand, and render them as markdown
///
/// A session that is captured and unchanged is refused; with `--all` it is
/// skipped. `--force` reads it again and makes a revision only if bytes differ:
/// nothing is ever overwritten.
#[derive(Debug, clap::Args)]
#[command(
    group(ArgGroup::new("which").args(["session_id", "latest", "all"])),
    after_help = "Examples:
  retro import claude --latest
  retro import claude --session-id 3f2a
  retro import claude --all --limit 20
  retro import all --limit-per-agent 5
  retro import claude --all --from /mnt/backup/.claude"
)]
pub struct Args {
    /// The agent, or `all`
    agent: String,

    /// The session whose id begins so
    #[arg(long, alias = "thread-id", value_name = "ID")]
    session_id: Option<String>,

    /// The newest session
    #[arg(long)]
    latest: bool,

    /// Every session
    #[arg(long)]
    all: bool,

    /// With --all: at most so many, newest first
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// With the agent `all`: at most so many of each
    #[arg(long, alias = "limit-per-host", value_name = "N")]
    limit_per_agent: Option<usize>,

    /// Read captured files again even if they are unchanged
    #[arg(long)]
    force: bool,

    /// Write no markdown
    #[arg(long)]
    no_render: bool,

    /// Look in this file or folder instead of in the agent's own
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let agents = retro::views::agent(&args.agent)?;
    let every = matches!(args.agent.as_str(), "all" | "*");
    let choice = match (&args.session_id, args.latest, args.all || every) {
        (Some(id), _, _) => Choice::Id(id.clone()),
        (None, true, _) => Choice::Latest,
        (None, false, true) => Choice::All(args.limit_per_agent.or(args.limit)),
        (None, false, false) => {
            return Err(Failure::hinted(
                "it is not clear which session to import",
                "say --session-id ID, --latest or --all",
            ));
        }
    };
    let bar = Bar::new(context);
    let mut sessions = Vec::new();
    let mut unchanged = Vec::new();
    let mut excluded = Vec::new();
    let mut reports: Vec<SyncReport> = Vec::new();
    for agent in agents {
        let options = ImportOptions {
            agent: agent.name().to_owned(),
            choice: choice.clone(),
            force: args.force,
            from: args.from.clone(),
        };
        let done: Imported = import(&context.world, &config, &options, &|step| bar.step(step))?;
        sessions.extend(done.sessions);
        unchanged.extend(done.unchanged);
        excluded.extend(done.excluded);
        reports.push(done.report);
    }
    bar.done();
    let rendered = match args.no_render {
        true => Vec::new(),
        false => render_all(context, &config, &sessions)?,
    };
    let failed: u64 = reports.iter().map(|report| report.failed).sum();
    let exit = exit(&choice, &sessions, &unchanged, failed);
    if context.global.json {
        let names = |keys: &[SessionKey]| keys.iter().map(ToString::to_string).collect::<Vec<_>>();
        context.print_json(&Answer::of(ImportedSessions {
            imported: names(&sessions),
            unchanged: names(&unchanged),
            excluded: names(&excluded),
            failed,
            failures: reports.iter().flat_map(|report| &report.failures).collect(),
            rendered: rendered.iter().map(|path| path.display().to_string()).collect(),
        }))?;
        return Ok(exit);
    }
    for failure in reports.iter().flat_map(|report| &report.failures) {
        context.say(&format!("failed: {}: {}", failure.path, failure.reason));
    }
    let not_reached: u64 = reports.iter().map(|report| report.unread).sum();
    if not_reached > 0 {
        context.say(&format!("Stopped: {} not reached.", count(not_reached, "session")));
    }
    match (&choice, sessions.as_slice(), unchanged.as_slice()) {
        (Choice::Id(_) | Choice::Latest, [], []) if not_reached > 0 => {}
        (Choice::All(_), read, same) => {
            let left_out = match excluded.len() {
                0 => String::new(),
                number => format!(", {number} excluded by the configuration"),
            };
            let read = count(read.len() as u64, "session");
            context.say(&format!("Imported {read}, {} unchanged{left_out}.", same.len()));
        }
        (_, [], []) if !excluded.is_empty() => {
            for key in &excluded {
                context.say(&format!(
                    "{key} is excluded by the configuration. `retro config show` lists the rules."
                ));
            }
        }
        (_, [], []) => context.say("No such session. `retro list` shows what there is."),
        (_, [], [same, ..]) => {
            context.say(&format!("{same} is captured and unchanged. --force reads it again."))
        }
        (_, [read, ..], _) => context.say(&format!("Imported {read}.")),
    }
    for path in &rendered {
        context.print(&path.display().to_string())?;
    }
    Ok(exit)
}

fn exit(choice: &Choice, read: &[SessionKey], unchanged: &[SessionKey], failed: u64) -> Exit {
    match (choice, read.is_empty(), unchanged.is_empty()) {
        _ if failed > 0 => Exit::Findings,
        (Choice::All(_), true, true) => Exit::Findings,
        (Choice::All(_), _, _) | (_, false, _) => Exit::Done,
        (_, true, false) => Exit::Error,
        (_, true, true) => Exit::Findings,
    }
}

fn render_all(context: &Context, config: &Config, sessions: &[SessionKey]) -> Result<Vec<PathBuf>, Failure> {
    let store = context.store(config)?;
    let mut paths = Vec::new();
    for key in sessions {
        if store.session(key)?.is_some() {
            paths.push(render(config, &store, key)?);
        }
    }
    Ok(paths)
}
