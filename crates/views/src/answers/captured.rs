//! Answers about captured sessions and what is derived from them.

use retro_engine::{Failure, SyncReport};
use retro_insight::{Group, Method, Signal, Sort};
use retro_store::Report;
use serde::Serialize;

use super::Schema;
use crate::{ListView, UsageView};

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
