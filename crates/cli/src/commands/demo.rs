use retro::agents::{AGENTS, script::Script};
use retro::engine::ask::Ledgers;
use retro::engine::{Config, SyncOptions, sync};
use retro::model::Timestamp;
use retro::store::{RealDisk, Store};
use retro::usage::{Billing, By, Prices, Query};
use retro::views::{ListOptions, list};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

use crate::context::{Context, Exit, Failure, Outcome};

/// See everything retro does, on sessions of our own making
///
/// Writes a few small sessions into a temporary home, as the agents would have
/// logged them, and runs the commands on them. Touches nothing of yours.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro demo
  retro demo --keep        leave the folder, to look around in it")]
pub struct Args {
    /// Leave the folder and say where it is
    #[arg(long)]
    keep: bool,
}

/// The sessions, told in our own notation.
const SCRIPTS: &[&str] =
    &[include_str!("../demo/tax.txt"), include_str!("../demo/cart.txt"), include_str!("../demo/search.txt")];

/// An hour later, so that the sessions count as quiet.
const LATER_MS: i64 = 3_600_000;

pub fn run(args: &Args, context: &Context) -> Outcome {
    let trouble = |error: std::io::Error| Failure::Message(format!("cannot write the demo: {error}"));
    let dir = tempfile::Builder::new().prefix("retro-demo-").tempdir().map_err(trouble)?;
    let home = dir.path().join("home");
    let files = write_sessions(&home)?;

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
    let view = list(&world, &config, &ListOptions::default())?;
    let newest = view.sessions.first().ok_or_else(|| Failure::Message("the demo is empty".to_owned()))?;
    let key = retro::views::session(&store, &newest.agent, &newest.session_id)?;
    let index = store.index()?;
    let prices = Prices::embedded().map_err(|error| Failure::Message(error.to_string()))?;
    let query = Query { by: By::Model, ..Query::default() };
    let usage = retro::views::usage(&Ledgers::of(&index, &prices), Billing::default(), query)?;
    let verified = store.verify(true, &mut |_| {})?;

    if context.global.json {
        context.print_json(&json!({
            "schema": "retro.demo/1", "files": files, "sync": report, "second_sync": again,
            "list": view, "usage": usage, "verify_ok": verified.problems.is_empty(),
        }))?;
    } else {
        let step = |command: &str, what: &str| {
            let bold = anstyle::AnsiColor::Green.on_default().bold();
            context.print(&format!("\n{bold}$ {command}{bold:#}   # {what}\n"))
        };
        context.print(&format!(
            "{files} log files of {} made-up sessions, in a temporary home.",
            SCRIPTS.len()
        ))?;
        step("retro sync", "capture everything, byte for byte")?;
        super::sync::tell(context, &report, false)?;
        step("retro sync", "again: nothing is new")?;
        super::sync::tell(context, &again, false)?;
        step("retro list", "what is here, what is in the store")?;
        super::list::tell(context, &view)?;
        step(&format!("retro show {} {}", newest.agent, short(&newest.session_id)), "read one")?;
        let shown = retro::views::show(&config, &store, &key)?;
        super::show::tell(context, &shown, false)?;
        step(
            &format!("retro events {} {} | head -3", newest.agent, short(&newest.session_id)),
            "the same, for programs",
        )?;
        for event in retro::views::events(&store, &key)?.iter().take(3) {
            let line = serde_json::to_string(event).unwrap_or_default();
            context.print(&retro::text::terminal::one_line(&line, context.columns()))?;
        }
        step("retro usage model", "what it cost, each answer counted once")?;
        super::usage::tell(context, &usage, true)?;
        step("retro verify --deep", "every byte is still what it was")?;
        context.print(&format!(
            "{} files checked, {} problems.",
            verified.checked,
            verified.problems.len()
        ))?;
        context.print("\nNow yours: `retro sync`, then `retro list`.")?;
    }
    if args.keep {
        let kept = dir.keep();
        context.say(&format!(
            "Kept in {}; try: retro --home {} --root {} list",
            kept.display(),
            kept.join("home").display(),
            kept.join("store").display()
        ));
    }
    Ok(Exit::Done)
}

fn short(id: &str) -> String {
    id.chars().take(8).collect()
}

/// Writes every script as every agent that can would have logged it.
fn write_sessions(home: &Path) -> Result<usize, Failure> {
    let mut files = 0;
    for (at, text) in SCRIPTS.iter().enumerate() {
        let script = Script::parse(text).map_err(|error| Failure::Message(error.to_string()))?;
        // Each session belongs to one agent, in turn.
        let agent = AGENTS[at % AGENTS.len()];
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
