//! Results of commands on captured sessions and on the data derived from them.

use retro_engine::{Failure, SyncReport};
use retro_insight::{Group, Method, Signal, Sort};
use retro_store::Report;
use serde::Serialize;

use super::Schema;
use crate::{ListView, UsageView};

/// The result of `retro sync`.
#[derive(Debug, Serialize)]
pub struct Synced<'a> {
    /// True if nothing was written.
    pub dry_run: bool,
    /// The engine's report.
    #[serde(flatten)]
    pub report: &'a SyncReport,
}

impl Schema for Synced<'_> {
    const NAME: &'static str = "retro.sync/1";
}

/// The result of `retro rebuild`.
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
    /// The sessions that failed, and why.
    pub failures: &'a [Failure],
    /// What the rebuild left out.
    pub notes: &'a [String],
    /// The size of the store.
    pub store_bytes: u64,
    /// Elapsed time in milliseconds.
    pub elapsed_ms: u64,
}

impl Schema for Rebuilt<'_> {
    const NAME: &'static str = "retro.rebuild/1";
}

impl<'a> Rebuilt<'a> {
    /// Builds the result from the engine's report.
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

/// The result of `retro verify`.
#[derive(Debug, Clone, Serialize)]
pub struct Verified {
    /// True if no problem was found.
    pub ok: bool,
    /// Files that were checked.
    pub checked: u64,
    /// Damage that was found.
    pub problems: Vec<VerifyProblem>,
    /// Remarks that need no action.
    pub notes: Vec<String>,
}

/// A problem in the store.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyProblem {
    /// The damaged file.
    pub path: String,
    /// A description of the damage.
    pub what: String,
    /// The command that repairs it.
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

/// The result of `retro import`.
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
    /// The sessions that failed, and why.
    pub failures: Vec<&'a Failure>,
    /// Markdown files that were written.
    pub rendered: Vec<String>,
}

impl Schema for ImportedSessions<'_> {
    const NAME: &'static str = "retro.import/1";
}

/// A session that was written as a Markdown file.
#[derive(Debug, Clone, Serialize)]
pub struct Rendered {
    /// The session's id.
    pub session: String,
    /// The file that was written.
    pub path: String,
}

impl Schema for Rendered {
    const NAME: &'static str = "retro.render/1";
}

/// The raw files of a session.
#[derive(Debug, Clone, Serialize)]
pub struct RawSources {
    /// Every source, with its revisions.
    pub sources: Vec<RawSource>,
}

/// One revision of a source.
#[derive(Debug, Clone, Serialize)]
pub struct RawSource {
    /// The name of the source.
    pub source: String,
    /// The revision's number.
    pub revision: u32,
    /// Its length in bytes.
    pub bytes: u64,
    /// Where it was found.
    pub places: Vec<String>,
    /// The raw file.
    pub path: String,
}

impl Schema for RawSources {
    const NAME: &'static str = "retro.raw/1";
}

/// The result of `retro demo`.
#[derive(Debug, Serialize)]
pub struct Demo<'a> {
    /// Number of generated log files.
    pub files: usize,
    /// The first sync.
    pub sync: &'a SyncReport,
    /// The second sync, which finds nothing new.
    pub second_sync: &'a SyncReport,
    /// The captured sessions.
    pub list: &'a ListView,
    /// The cost of these sessions.
    pub usage: &'a UsageView,
    /// True if `verify` found no problem.
    pub verify_ok: bool,
}

impl Schema for Demo<'_> {
    const NAME: &'static str = "retro.demo/1";
}

/// A dashboard in a single HTML file.
#[derive(Debug, Clone, Serialize)]
pub struct SinglePage {
    /// The file that was written.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Schema for SinglePage {
    const NAME: &'static str = "retro.dashboard.single/1";
}

/// The result of `retro signal run`.
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

/// The description of a signal.
#[derive(Debug, Clone, Serialize)]
pub struct SignalExplained {
    /// The signal's name.
    pub id: &'static str,
    /// The signal's group.
    pub group: Group,
    /// The kind of its value.
    pub kind: Sort,
    /// How it is computed.
    pub method: Method,
    /// The unit of its value.
    pub unit: &'static str,
    /// A short title.
    pub title: &'static str,
    /// Its documentation: what, why, how, limits.
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
