//! What commands that change or check something answer with `--json`.
//!
//! Answers to questions are beside the questions that they answer. These have no question of
//! their own: the engine does the work, and this says what came of it.

use retro_engine::{Failure, SyncReport};
use retro_insight::{Group, Method, Signal, Sort};
use retro_memory::{Mined, Status};
use retro_model::SessionKey;
use retro_store::Report;
use retro_usage::{Import, Layer, PriceRow, Prices};
use serde::Serialize;
use std::path::Path;

use crate::memory::MemoryView;
use crate::{ListView, UsageView};

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

/// What `retro sync` did.
#[derive(Debug, Serialize)]
pub struct Synced<'a> {
    /// Whether nothing was written.
    pub dry_run: bool,
    /// What the engine reports.
    #[serde(flatten)]
    pub report: &'a SyncReport,
}

impl Schema for Synced<'_> {
    const NAME: &'static str = "retro.sync/1";
}

/// What `retro rebuild` made again.
#[derive(Debug, Clone, Serialize)]
pub struct Rebuilt<'a> {
    /// The stage, or `all`.
    pub stage: &'a str,
    /// Sessions in the store.
    pub sessions: u64,
    /// Sessions whose slow stages ran.
    pub analyzed: u64,
    /// Sessions that failed.
    pub failed: u64,
    /// Which, and why.
    pub failures: &'a [Failure],
    /// What was left out.
    pub notes: &'a [String],
    /// The size of the store.
    pub store_bytes: u64,
    /// How long it took.
    pub elapsed_ms: u64,
}

impl Schema for Rebuilt<'_> {
    const NAME: &'static str = "retro.rebuild/1";
}

impl<'a> Rebuilt<'a> {
    /// From what the engine reports.
    pub fn of(stage: &'a str, report: &'a SyncReport) -> Rebuilt<'a> {
        Rebuilt {
            stage,
            sessions: report.discovered,
            analyzed: report.analyzed,
            failed: report.failed,
            failures: &report.failures,
            notes: &report.notes,
            store_bytes: report.store_bytes,
            elapsed_ms: report.elapsed_ms,
        }
    }
}

/// What `retro verify` found.
#[derive(Debug, Clone, Serialize)]
pub struct Verified {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// Files that were checked.
    pub checked: u64,
    /// What is wrong.
    pub problems: Vec<VerifyProblem>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// Something that is wrong in the store.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyProblem {
    /// The file.
    pub path: String,
    /// What is wrong.
    pub what: String,
    /// What helps.
    pub help: String,
}

impl Schema for Verified {
    const NAME: &'static str = "retro.verify/1";
}

impl From<&Report> for Verified {
    fn from(report: &Report) -> Verified {
        let problem = |problem: &retro_store::Problem| VerifyProblem {
            path: problem.path.display().to_string(),
            what: problem.what.clone(),
            help: problem.help.clone(),
        };
        Verified {
            ok: report.problems.is_empty(),
            checked: report.checked,
            problems: report.problems.iter().map(problem).collect(),
            notes: report.notes.iter().map(ToString::to_string).collect(),
        }
    }
}

/// What `retro import` took in.
#[derive(Debug, Clone, Serialize)]
pub struct ImportedSessions<'a> {
    /// Sessions that are new or have grown.
    pub imported: Vec<String>,
    /// Sessions that were captured already.
    pub unchanged: Vec<String>,
    /// Sessions that the configuration leaves out.
    pub excluded: Vec<String>,
    /// Sessions that failed.
    pub failed: u64,
    /// Which, and why.
    pub failures: Vec<&'a Failure>,
    /// Markdown files that were written.
    pub rendered: Vec<String>,
}

impl Schema for ImportedSessions<'_> {
    const NAME: &'static str = "retro.import/1";
}

/// A session as a Markdown file.
#[derive(Debug, Clone, Serialize)]
pub struct Rendered {
    /// The session.
    pub session: String,
    /// The file.
    pub path: String,
}

impl Schema for Rendered {
    const NAME: &'static str = "retro.render/1";
}

/// The raw files of a session.
#[derive(Debug, Clone, Serialize)]
pub struct RawSources {
    /// Each source and revision.
    pub sources: Vec<RawSource>,
}

/// One revision of a source.
#[derive(Debug, Clone, Serialize)]
pub struct RawSource {
    /// The name of the source.
    pub source: String,
    /// Which revision.
    pub revision: u32,
    /// Its length.
    pub bytes: u64,
    /// Where it was found.
    pub places: Vec<String>,
    /// The raw file.
    pub path: String,
}

impl Schema for RawSources {
    const NAME: &'static str = "retro.raw/1";
}

/// What `retro demo` showed.
#[derive(Debug, Serialize)]
pub struct Demo<'a> {
    /// Log files that were made up.
    pub files: usize,
    /// The first sync.
    pub sync: &'a SyncReport,
    /// The second one, with nothing new.
    pub second_sync: &'a SyncReport,
    /// The sessions.
    pub list: &'a ListView,
    /// What they cost.
    pub usage: &'a UsageView,
    /// Whether `verify` found nothing wrong.
    pub verify_ok: bool,
}

impl Schema for Demo<'_> {
    const NAME: &'static str = "retro.demo/1";
}

/// The folder with the manual pages.
#[derive(Debug, Clone, Serialize)]
pub struct ManualPages {
    /// The folder.
    pub folder: String,
}

impl Schema for ManualPages {
    const NAME: &'static str = "retro.man/1";
}

/// A page with everything inside.
#[derive(Debug, Clone, Serialize)]
pub struct SinglePage {
    /// The file.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

impl Schema for SinglePage {
    const NAME: &'static str = "retro.dashboard.single/1";
}

/// What `retro signal run` wrote.
#[derive(Debug, Clone, Serialize)]
pub struct SignalsRun {
    /// Sessions that were read.
    pub sessions: u64,
    /// Readings that were written.
    pub readings: u64,
    /// Rows in the file now.
    pub total: u64,
}

impl Schema for SignalsRun {
    const NAME: &'static str = "retro.signal.run/1";
}

/// What a signal is.
#[derive(Debug, Clone, Serialize)]
pub struct SignalExplained {
    /// Its name.
    pub id: &'static str,
    /// Its group.
    pub group: Group,
    /// What kind of value it has.
    pub kind: Sort,
    /// How it is found.
    pub method: Method,
    /// The unit of its value.
    pub unit: &'static str,
    /// In a few words.
    pub title: &'static str,
    /// What, why, how, limits.
    pub text: String,
}

impl From<&Signal> for SignalExplained {
    fn from(signal: &Signal) -> SignalExplained {
        SignalExplained {
            id: signal.id,
            group: signal.group,
            kind: signal.kind,
            method: signal.method,
            unit: signal.unit,
            title: signal.title,
            text: signal.explanation(),
        }
    }
}

impl Schema for SignalExplained {
    const NAME: &'static str = "retro.signal.explain/1";
}

/// Methods that find what the next session can reuse, and filters.
#[derive(Debug, Clone, Serialize)]
pub struct Methods {
    /// The methods.
    pub methods: Vec<MethodRow>,
    /// The filters.
    pub filters: Vec<FilterRow>,
}

/// A method.
#[derive(Debug, Clone, Serialize)]
pub struct MethodRow {
    /// Its name.
    pub name: String,
    /// What it finds.
    pub title: String,
    /// Whether it runs on this machine alone.
    pub local: bool,
    /// Whether a sync runs it.
    pub by_sync: bool,
}

/// A filter.
#[derive(Debug, Clone, Serialize)]
pub struct FilterRow {
    /// Its name.
    pub name: &'static str,
    /// What it drops.
    pub title: &'static str,
}

impl Schema for Methods {
    const NAME: &'static str = "retro.methods/1";
}

/// What `retro mine` found.
#[derive(Debug, Serialize)]
pub struct MinedSessions<'a> {
    /// What each method found in each session.
    pub results: Vec<&'a Mined>,
    /// Candidates in all of them.
    pub candidates: usize,
    /// Sessions that were no real work.
    pub passed_over: u64,
    /// Sessions that could not be read.
    pub unread: u64,
}

impl Schema for MinedSessions<'_> {
    const NAME: &'static str = "retro.mine/1";
}

/// Lines for a scheduler or an agent's settings.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleLines {
    /// The lines.
    pub lines: String,
}

impl Schema for ScheduleLines {
    const NAME: &'static str = "retro.schedule/1";
}

/// Which schedulers run `retro sync`.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleStatus {
    /// Each scheduler.
    pub schedulers: Vec<SchedulerRow>,
}

/// A scheduler.
#[derive(Debug, Clone, Serialize)]
pub struct SchedulerRow {
    /// Its name.
    pub scheduler: &'static str,
    /// Whether our lines are there.
    pub installed: bool,
    /// Whether it runs them.
    pub running: bool,
}

impl Schema for ScheduleStatus {
    const NAME: &'static str = "retro.schedule.status/1";
}

/// A scheduler was changed.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleChange {
    /// Whether it was.
    pub done: bool,
}

impl Schema for ScheduleChange {
    const NAME: &'static str = "retro.schedule.change/1";
}

/// The settings in force.
#[derive(Debug, Clone, Serialize)]
pub struct Settings {
    /// The file of settings, if there is one.
    pub file: Option<String>,
    /// Each setting.
    pub values: Vec<SettingRow>,
}

/// A setting.
#[derive(Debug, Clone, Serialize)]
pub struct SettingRow {
    /// Its key.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// Who set it.
    pub from: String,
}

impl Schema for Settings {
    const NAME: &'static str = "retro.config/1";
}

/// Where the file of settings is.
#[derive(Debug, Clone, Serialize)]
pub struct SettingsPath {
    /// The file.
    pub path: String,
    /// Whether it is there.
    pub exists: bool,
}

impl Schema for SettingsPath {
    const NAME: &'static str = "retro.config.path/1";
}

/// A file of settings was written.
#[derive(Debug, Clone, Serialize)]
pub struct SettingsWritten {
    /// The file.
    pub path: String,
}

impl Schema for SettingsWritten {
    const NAME: &'static str = "retro.config.init/1";
}

/// The table of prices.
#[derive(Debug, Serialize)]
pub struct PriceTable<'a> {
    /// The newest day of its figures.
    pub snapshot: String,
    /// What a figure means.
    pub unit: &'a str,
    /// Its rows.
    pub rows: Vec<&'a PriceRow>,
}

impl Schema for PriceTable<'_> {
    const NAME: &'static str = "retro.pricing/1";
}

impl<'a> From<&'a Prices> for PriceTable<'a> {
    fn from(prices: &'a Prices) -> PriceTable<'a> {
        PriceTable {
            snapshot: prices.snapshot.to_string(),
            unit: &prices.unit,
            rows: prices.rows().collect(),
        }
    }
}

/// The price of a model, and why it is that one.
#[derive(Debug, Serialize)]
pub struct ModelPrice<'a> {
    /// What was asked for.
    pub asked: &'a str,
    /// Where the row is from.
    pub layer: Layer,
    /// In a sentence.
    pub why: &'a str,
    /// The row.
    pub row: &'a PriceRow,
    /// The row of the program that it replaces.
    pub instead_of: Option<&'a PriceRow>,
}

impl Schema for ModelPrice<'_> {
    const NAME: &'static str = "retro.price/1";
}

/// A price was set or removed.
#[derive(Debug, Clone, Serialize)]
pub struct PriceSet<'a> {
    /// The model.
    pub model: &'a str,
    /// What was done.
    pub done: &'static str,
    /// The file of settings.
    pub file: String,
}

impl Schema for PriceSet<'_> {
    const NAME: &'static str = "retro.pricing.set/1";
}

/// Prices were taken from a table of another project.
#[derive(Debug, Serialize)]
pub struct PricesImported<'a> {
    /// The day of the figures.
    pub snapshot: String,
    /// Whether they were kept.
    pub written: bool,
    /// The file.
    pub file: String,
    /// What changed, and how many of each.
    #[serde(flatten)]
    pub import: PriceChanges<'a>,
}

/// What an import of prices changes.
#[derive(Debug, Serialize)]
pub struct PriceChanges<'a> {
    changes: &'a [retro_usage::Change],
    tally: &'a retro_usage::Tally,
}

impl<'a> From<&'a Import> for PriceChanges<'a> {
    fn from(import: &'a Import) -> PriceChanges<'a> {
        PriceChanges { changes: &import.changes, tally: &import.tally }
    }
}

impl Schema for PricesImported<'_> {
    const NAME: &'static str = "retro.pricing.import/1";
}

/// The folder of notes.
#[derive(Debug, Clone, Serialize)]
pub struct NotesFolder<'a> {
    /// The folder.
    pub notes: &'a Path,
}

impl Schema for NotesFolder<'_> {
    const NAME: &'static str = "retro.memory.init/1";
}

/// All memories were made again from their files.
#[derive(Debug, Clone, Serialize)]
pub struct MemoriesIndexed {
    /// Memories.
    pub indexed: usize,
    /// Records that people wrote.
    pub source_records: usize,
    /// Records that were mined.
    pub mined_records: usize,
    /// Events that are named as evidence.
    pub evidence_refs: usize,
    /// Links between memories.
    pub links: usize,
    /// Lines and files that cannot be read.
    pub unreadable: usize,
}

impl Schema for MemoriesIndexed {
    const NAME: &'static str = "retro.memory.reindex/1";
}

/// Notes were taken in.
#[derive(Debug, Clone, Serialize)]
pub struct NotesImported<'a> {
    /// Notes that are new.
    pub imported: usize,
    /// Notes that were known.
    pub known: usize,
    /// Notes without words.
    pub empty: usize,
    /// Notes that could not be read, and why.
    pub failed: &'a [String],
}

impl Schema for NotesImported<'_> {
    const NAME: &'static str = "retro.memory.import/1";
}

/// A memory was added.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryAdded<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its status.
    pub status: Status,
    /// Why a person should look at it.
    pub review_reasons: &'a [String],
    /// Rules whose secrets were taken out.
    pub redacted: &'a [&'static str],
}

impl Schema for MemoryAdded<'_> {
    const NAME: &'static str = "retro.memory.add/1";
}

/// The memories of a session were put into quarantine.
#[derive(Debug, Clone, Serialize)]
pub struct Quarantined<'a> {
    session_id: &'a str,
    memories: usize,
}

impl Schema for Quarantined<'_> {
    const NAME: &'static str = "retro.memory.quarantine/1";
}

impl<'a> Quarantined<'a> {
    /// So many memories of a session.
    pub fn of(key: &'a SessionKey, memories: usize) -> Quarantined<'a> {
        Quarantined { session_id: &key.id, memories }
    }
}

/// A memory was forgotten.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryForgotten<'a> {
    /// Its id.
    pub id: &'a str,
}

impl Schema for MemoryForgotten<'_> {
    const NAME: &'static str = "retro.memory.forget/1";
}

/// How useful a memory is now.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryUtility<'a, U> {
    /// Its id.
    pub id: &'a str,
    /// What its rewards came to.
    pub utility: U,
}

impl<U: Serialize> Schema for MemoryUtility<'_, U> {
    const NAME: &'static str = "retro.memory.utility/1";
}

/// Memories that wait for a decision.
#[derive(Debug, Clone, Serialize)]
pub struct MemoriesToReview {
    /// The newest first.
    pub memories: Vec<MemoryView>,
}

impl Schema for MemoriesToReview {
    const NAME: &'static str = "retro.memory.review/1";
}
