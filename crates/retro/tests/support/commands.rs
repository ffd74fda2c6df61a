//! Every command that writes to a store, with the machine it is run on.

use retro::engine::ask::{self, Patience};
use retro::engine::import::{Choice, ImportOptions};
use retro::engine::rebuild::{mend, rebuild};
use retro::engine::{SyncOptions, World, hook, import, memory, patterns, stages, sync};
use retro::memory::Decision;
use retro::store::Store;
use retro::views;
use serde_json::json;

use super::machine::Machine;
use super::scene;

/// A command that writes.
pub struct Command {
    pub name: &'static str,
    /// Makes the machine as it is before the command.
    pub prepare: fn() -> Machine,
    pub run: fn(&Machine, &World) -> Result<(), retro::Error>,
}

impl Command {
    pub fn run_on(&self, machine: &Machine) {
        (self.run)(machine, &machine.world).unwrap();
    }

    /// Whether the store it starts from is one that verifies.
    pub fn is_sound_before(&self) -> bool {
        self.name != MEND
    }
}

const MEND: &str = "doctor --fix";

/// All of them.
pub const COMMANDS: &[Command] = &[
    Command { name: "first sync", prepare: scene::empty, run: synced },
    Command { name: "sync of grown logs", prepare: scene::grown, run: synced },
    Command { name: "sync of growing logs", prepare: scene::grown, run: synced_now },
    Command { name: "sync that settles and packs", prepare: scene::fresh, run: synced },
    Command { name: "sync --from a store of the Python program", prepare: scene::seed, run: synced_from },
    Command { name: "import", prepare: scene::grown, run: imported },
    Command { name: "sync --hook", prepare: scene::grown, run: hooked },
    Command { name: "sync --enqueue", prepare: scene::grown, run: enqueued },
    Command { name: "usage", prepare: scene::grown, run: asked_for_costs },
    Command { name: "render", prepare: scene::whole, run: rendered },
    Command { name: "rebuild", prepare: scene::whole, run: rebuilt },
    Command { name: "rebuild ledger", prepare: scene::whole, run: rebuilt_ledger },
    Command { name: MEND, prepare: scene::damaged, run: mended },
    Command { name: "memory add and accept", prepare: scene::whole, run: remembered },
    Command { name: "memory forget", prepare: has_remembered, run: forgotten },
    Command { name: "curate --auto-approve", prepare: scene::recurring, run: curated },
    Command { name: "curate of changed evidence", prepare: scene::recurring_more, run: curated },
    Command { name: "curate by hand", prepare: scene::recurring, run: decided },
    Command { name: "decisions flush", prepare: scene::waiting, run: flushed },
];

fn synced(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    sync(world, &machine.config, &SyncOptions::default(), &|_| {})?;
    Ok(())
}

fn synced_now(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    synced(machine, &world.clone().with_clock(jiff::Timestamp::now().into()))
}

fn synced_from(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    let options = SyncOptions { from: Some(scene::seed_path(machine)), ..SyncOptions::default() };
    sync(world, &machine.config, &options, &|_| {})?;
    Ok(())
}

fn imported(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    for agent in ["claude", "codex", "grok"] {
        let options =
            ImportOptions { agent: agent.to_owned(), choice: Choice::All(None), force: false, from: None };
        import::import(world, &machine.config, &options, &|_| {})?;
    }
    Ok(())
}

fn hooked(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    hook::capture(world, &machine.config, &call(machine, world))?;
    Ok(())
}

fn enqueued(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    hook::enqueue(world, &machine.config, &call(machine, world))?;
    Ok(())
}

fn call(machine: &Machine, world: &World) -> hook::Call {
    let is_claude = |path: &&std::path::PathBuf| path.starts_with(machine.home().join(".claude"));
    let logs = machine.logs();
    let transcript = logs.iter().find(is_claude).unwrap();
    let input = json!({"transcript_path": transcript, "session_id": "any"}).to_string();
    hook::read_call(world, &machine.config, &input).unwrap()
}

fn asked_for_costs(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    ask::read(world, &machine.config, Patience::All, &|_| {})?.keep(world, &machine.config, &|_| {})?;
    Ok(())
}

fn rendered(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    let store = Store::open(&machine.config.root.value, world.disk.clone())?;
    for key in store.session_keys()? {
        let shown = views::show(&machine.config, &store, &key)?;
        store.put_rendered(&key, &views::markdown(&shown.view, &shown.transcript()))?;
    }
    Ok(())
}

fn rebuilt(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    rebuild(world, &machine.config, None, &|_| {})?;
    Ok(())
}

fn rebuilt_ledger(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    rebuild(world, &machine.config, stages::by_name("ledger"), &|_| {})?;
    Ok(())
}

/// A note that somebody adds, and two decisions about it.
fn remembered(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    let note = json!({"id": "nightly", "source": "added", "kind": "case", "scope": "user", "status": "needs_review",
        "text": "The nightly import of parcels needs the tariff table.", "when_to_use": "the import fails",
        "confidence": 0.8, "priority": 3, "risk": "medium", "origin": "user",
        "created_at": "2026-01-01T00:00:00.000Z"});
    let store = Store::open(&machine.config.root.value, world.disk.clone())?;
    memory::add(world, &machine.config, &store, &[serde_json::from_value(note).unwrap()])?;
    for (event, text) in [("memory_edited", Some("It needs the tariff table.")), ("memory_accepted", None)] {
        let decision = Decision {
            memory_id: "nightly".to_owned(),
            event: event.to_owned(),
            text: text.map(str::to_owned),
            created_at: Some(world.now()),
            ..Decision::default()
        };
        memory::decide(world, &machine.config, &store, &[decision])?;
    }
    Ok(())
}

fn has_remembered() -> Machine {
    let machine = scene::whole();
    remembered(&machine, &machine.world).unwrap();
    machine
}

fn forgotten(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    let store = Store::open(&machine.config.root.value, world.disk.clone())?;
    for known in views::memory::all(world, &machine.config, &store)? {
        if known.id == "nightly" {
            memory::forget(world, &machine.config, &store, &known)?;
        }
    }
    Ok(())
}

/// Lets the gate decide about everything that recurs.
pub fn curated(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    let config = &machine.config;
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let corpus = patterns::recurring(&store)?.corpus;
    let found = views::patterns::detect(world, config, &store, &Default::default())?;
    let mut curator = patterns::Curator::open(world, config, &store, corpus)?;
    for one in &found.candidates {
        curator.auto(&one.candidate, one.impact.usd)?;
    }
    Ok(())
}

/// A person approves one in other words, and rejects the others.
fn decided(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    let config = &machine.config;
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let found = views::patterns::detect(world, config, &store, &Default::default())?;
    let mut curator = patterns::Curator::open(world, config, &store, Default::default())?;
    let words = patterns::Words { title: Some("The port is taken".to_owned()), ..Default::default() };
    for (at, one) in found.candidates.iter().enumerate().filter(|(_, one)| one.new) {
        match at {
            0 => drop(curator.approve(&one.candidate, one.impact.usd, &words)?),
            _ => drop(curator.reject(&one.candidate)?),
        }
    }
    Ok(())
}

fn flushed(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    let store = Store::open(&machine.config.root.value, world.disk.clone())?;
    patterns::flush(world, &scene::with_sink(machine), &store)?;
    Ok(())
}

/// Where sources lay is known again once all of them were looked at.
fn mended(machine: &Machine, world: &World) -> Result<(), retro::Error> {
    mend(world, &machine.config, &|_| {})?;
    sync(world, &machine.config, &SyncOptions { force: true, ..SyncOptions::default() }, &|_| {})?;
    Ok(())
}
