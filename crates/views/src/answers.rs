//! What commands that change or check something answer with `--json`.
//!
//! Answers to questions are beside the questions that they answer. These have no question of
//! their own: the engine does the work, and this says what came of it.

mod captured;
mod memories;
mod prices;
mod room;
mod setup;

use serde::Serialize;

pub use captured::{
    Demo, ImportedSessions, RawSource, RawSources, Rebuilt, Rendered, SignalExplained, SignalsRun,
    SinglePage, Synced, Verified, VerifyProblem,
};
pub use memories::{
    FilterRow, MemoriesIndexed, MemoriesToReview, MemoryAdded, MemoryForgotten, MemoryUtility, MethodRow,
    Methods, MinedSessions, NotesFolder, NotesImported, Quarantined,
};
pub use prices::{ModelPrice, PriceChanges, PriceSet, PriceTable, PricesImported};
pub use room::{Pinned, Retention, TombstoneRow, Tombstones};
pub use setup::{
    ManualPages, ScheduleChange, ScheduleLines, ScheduleStatus, SchedulerRow, SettingRow, Settings,
    SettingsPath, SettingsWritten,
};

/// Something that is answered, under the name of its schema.
pub trait Schema: Serialize {
    /// The name, with the number of its version.
    const NAME: &'static str;
}

impl<T: Schema> Schema for &T {
    const NAME: &'static str = T::NAME;
}

/// An answer with its schema.
#[derive(Debug, Clone, Serialize)]
pub struct Answer<T> {
    schema: &'static str,
    #[serde(flatten)]
    body: T,
}

impl<T: Schema> Answer<T> {
    /// The answer as it is printed.
    pub fn of(body: T) -> Answer<T> {
        Answer { schema: T::NAME, body }
    }
}

/// Why a command failed.
#[derive(Debug, Clone, Serialize)]
pub struct CommandError {
    /// What happened.
    pub message: String,
    /// The command that helps.
    pub hint: Option<String>,
}

impl CommandError {
    /// As one line of JSON.
    pub fn line(self) -> String {
        serde_json::to_string(&Answer::of(self)).unwrap_or_default()
    }
}

impl Schema for CommandError {
    const NAME: &'static str = "retro.error/1";
}
