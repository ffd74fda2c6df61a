//! The `--json` output of commands that change or check something.
//!
//! The output of a query is defined beside the query. These commands have no query: the engine does
//! the work, and these types report the result.

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

/// A result that is printed under the name of its schema.
pub trait Schema: Serialize {
    /// The schema's name and version.
    const NAME: &'static str;
}

impl<T: Schema> Schema for &T {
    const NAME: &'static str = T::NAME;
}

/// A result with its schema.
#[derive(Debug, Clone, Serialize)]
pub struct Answer<T> {
    schema: &'static str,
    #[serde(flatten)]
    body: T,
}

impl<T: Schema> Answer<T> {
    /// Wraps a result for printing.
    pub fn of(body: T) -> Answer<T> {
        Answer { schema: T::NAME, body }
    }
}

/// Why a command failed.
#[derive(Debug, Clone, Serialize)]
pub struct CommandError {
    /// What failed, and where.
    pub message: String,
    /// The command to try next.
    pub hint: Option<String>,
}

impl CommandError {
    /// The error as one line of JSON.
    pub fn line(self) -> String {
        serde_json::to_string(&Answer::of(self)).unwrap_or_default()
    }
}

impl Schema for CommandError {
    const NAME: &'static str = "retro.error/1";
}
