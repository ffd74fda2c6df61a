mod stories;

use retro::agents::by_name;
use retro::agents::script::{Script, Step};
use retro::engine::ask::Ledgers;
use retro::engine::{Config, SyncOptions, sync};
use retro::model::Timestamp;
use retro::store::{RealDisk, Store};
use retro::usage::{Billing, By, Prices, Query};
use retro::views::answers::{Answer, Demo};
use retro::views::{ListOptions, list};
use std::path::Path;
use std::sync::Arc;

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::count;
use stories::Story;

/// See everything retro does, on bundled sample sessions
///
/// Writes sixty small sessions of three agents into a temporary home, as the agents would
/// have logged them, and runs the commands on them. Reads and writes nothing of yours.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro demo
  retro demo --keep        leave the folder, to look around in it")]
pub struct Args {
    /// Leave the folder and say where it is
    #[arg(long)]
    keep: bool,
}

/// Maximum rows of the list.
const ROWS: usize = 12;

/// An hour later, so that the sessions count as quiet.
const LATER_MS: i64 = 3_600_000;

pub fn run(args: &Args, context: &Context) -> Outcome {
    let trouble = |error: std::io::Error| Failure::Message(format!("cannot write the demo: {error}"));
    let dir = tempfile::Builder::new().prefix("retro-demo-").tempdir().map_err(trouble)?;
    let home = dir.path().join("home");
    let stories = stories::stories();
    let files = write_sessions(&home, &stories)?;

    let mut world = context.world.clone();
    world.home = home.clone();
    world.env = Arc::new(|_| None);
    if let Some(later) = Timestamp::from_millis(world.now().as_millis() + LATER_MS) {
        world = world.with_clock(later);
    }
    let config = Config::for_root(dir.path().join("store"));
    let report = sync(&world, &config, &SyncOptions::default(), &|_| {})?;
    let again = sync(&world, &config, &SyncOptions::default(), &|_| {})?;
    let store = Store::open(&config.root.value, Arc::new(RealDisk))?;
    let limit = if context.global.json { None } else { Some(ROWS) };
    let view = list(&world, &config, &ListOptions { limit, ..ListOptions::default() })?;
    let newest = view.sessions.first().ok_or_else(|| Failure::Message("the demo is empty".to_owned()))?;
    let key = retro::views::session(&store, &[&newest.agent, &newest.session_id], world.now())?;
    let index = store.index()?;
    let prices = Prices::embedded().map_err(|error| Failure::Message(error.to_string()))?;
    let ask = |by: By| {
        let query = Query { by, now: Some(world.now()), ..Query::default() };
        retro::views::usage(&Ledgers::of(&index, &prices), Billing::default(), query)
    };
    let (usage, weekly) = (ask(By::Model)?, ask(By::Weekly)?);
    let verified = store.verify(true, &mut |_| {})?;

    if context.global.json {
        context.print_json(&Answer::of(Demo {
            files,
            sync: &report,
            second_sync: &again,
            list: &view,
            usage: &usage,
            verify_ok: verified.problems.is_empty(),
        }))?;
    } else {
        let step = |command: &str, what: &str| {
            let bold = anstyle::AnsiColor::Green.on_default().bold();
            context.print(&format!("\n{bold}$ {command}{bold:#}   # {what}\n"))
        };
        context.print(&format!(
            "{} in {}, in a temporary home. Some have sub-agents that are sessions of their own.",
            count(stories.len() as u64, "made-up session"),
            count(files as u64, "log file")
        ))?;
        step("retro sync", "capture everything, byte for byte")?;
        super::sync::tell(context, &report, false)?;
        step("retro sync", "again: nothing is new")?;
        super::sync::tell(context, &again, false)?;
        step("retro list", "what is here, what is in the store")?;
        super::list::tell(context, &view, false)?;
        step(&format!("retro show {}", newest.short_id), "read one")?;
        let shown = retro::views::show_priced(&config, &store, &key, Some(&prices))?;
        super::show::tell(context, &shown)?;
        step(&format!("retro events {} | head -3", newest.short_id), "the same, for programs")?;
        for event in retro::views::events(&store, &key)?.iter().take(3) {
            let line = serde_json::to_string(event).unwrap_or_default();
            context.print(&retro::text::terminal::one_line(&line, context.room().unwrap_or(120)))?;
        }
        step("retro usage model", "what it cost, each answer counted once")?;
        super::usage::tell(context, &usage, true)?;
        step("retro usage weekly", "the same by week")?;
        super::usage::tell(context, &weekly, false)?;
        step("retro verify --deep", "every byte is still what it was")?;
        context.print(&format!(
            "{} checked, {}.",
            count(verified.checked, "file"),
            count(verified.problems.len() as u64, "problem")
        ))?;
        context.print("\nNow yours: `retro sync`, then `retro list`.")?;
    }
    if args.keep {
        let kept = dir.keep();
        context.say(&format!(
            "Kept in {}. Try: retro --home {} --root {} list",
            kept.display(),
            kept.join("home").display(),
            kept.join("store").display()
        ));
    }
    Ok(Exit::Done)
}

/// Writes every story as its agent would have logged it.
fn write_sessions(home: &Path, stories: &[Story]) -> Result<usize, Failure> {
    let mut files = 0;
    for story in stories {
        let mut script = Script::parse(&story.script).map_err(|error| Failure::Message(error.to_string()))?;
        // Session-wide records of an agent carry the start time of the session.
        if let Some(Step::Time(start_ms)) = script.steps.first() {
            script.start_ms = *start_ms;
        }
        let Some(agent) = by_name(story.agent) else { continue };
        for (path, bytes) in agent.write(&script) {
            let path = home.join(path);
            let write = || -> std::io::Result<()> {
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                std::fs::write(&path, bytes)
            };
            write().map_err(|e| Failure::Message(format!("cannot write {}: {e}", path.display())))?;
            files += 1;
        }
    }
    Ok(files)
}
