//! One command under faults: where it starts, what should come of it, and whether a
//! run after a fault came there.

use retro_store::testing::FailingDisk;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Command, Machine, Snapshot, answers, difference, problems};

/// A command, what it is run on, and what should come of it.
pub struct Trial {
    pub command: &'static Command,
    pub machine: Machine,
    pub before: Snapshot,
    /// How many operations it takes undisturbed.
    pub operations: u64,
    pub expected: BTreeMap<String, String>,
}

impl Trial {
    pub fn of(command: &'static Command) -> Trial {
        let machine = (command.prepare)();
        let before = Snapshot::of(&machine.config.root.value);
        let disk = Arc::new(FailingDisk::counting());
        (command.run)(&machine, &machine.world.clone().with_disk(disk.clone())).unwrap();
        machine.sync();
        let expected = answers(&machine);
        assert!(expected.len() > 7, "{} leaves too little to mean anything", command.name);
        Trial { command, machine, before, operations: disk.operations(), expected }
    }

    /// Runs the command again, undisturbed, and says what is not as it should be.
    pub fn complete(&self) -> Result<(), String> {
        let machine = &self.machine;
        (self.command.run)(machine, &machine.world).map_err(|error| format!("the next run: {error}"))?;
        machine.sync();
        none(problems(machine), "after the next run")?;
        difference(machine, &self.expected).map_or(Ok(()), Err)
    }
}

pub fn none(problems: Vec<String>, when: &str) -> Result<(), String> {
    if problems.is_empty() { Ok(()) } else { Err(format!("{when}: {}", problems.join("; "))) }
}

/// In what state the index is found after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexFate {
    Kept,
    /// As it was before the command, which is all that a power cut may leave.
    AsBefore,
    Deleted,
    Garbled,
}

impl IndexFate {
    pub const ALL: [IndexFate; 4] =
        [IndexFate::Kept, IndexFate::AsBefore, IndexFate::Deleted, IndexFate::Garbled];

    pub fn befall(self, machine: &Machine, before: &Snapshot) {
        let root = &machine.config.root.value;
        let index = root.join("index");
        if self == IndexFate::Kept {
            return;
        }
        if !index.exists() {
            return;
        }
        std::fs::remove_dir_all(&index).unwrap();
        match self {
            IndexFate::AsBefore => before.restore_below(&index),
            IndexFate::Garbled => {
                std::fs::create_dir_all(&index).unwrap();
                std::fs::write(index.join("retro.sqlite"), b"garbled").unwrap();
            }
            IndexFate::Kept | IndexFate::Deleted => {}
        }
    }
}
