//! Which of the sessions that were found are read.

use super::SyncOptions;
use crate::Config;
use crate::discover::{Discovery, SessionFiles};
use crate::exclude::Excluder;
use crate::report::{Failure, SyncReport};

/// Keeps sessions that are wanted and have news, and counts the others.
pub(super) struct Sieve<'a> {
    options: &'a SyncOptions,
    excluder: Excluder,
    report: SyncReport,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(config: &Config, options: &'a SyncOptions) -> Self {
        Sieve { options, excluder: Excluder::new(config), report: SyncReport::default() }
    }

    /// Whether sessions without news need only be counted: no rule looks at them.
    pub(super) fn counts_quiet(&self) -> bool {
        self.excluder.is_empty() && self.options.sessions.is_none() && !self.options.force
    }

    /// Whether a session is to be read. Asked of every one that was found and not only counted.
    pub(super) fn keeps(&mut self, session: &SessionFiles) -> bool {
        self.report.discovered += 1;
        self.report.source_bytes += session.bytes();
        if self.excluder.excludes(session) {
            self.report.excluded += 1;
            return false;
        }
        if self.options.sessions.as_ref().is_some_and(|keys| !keys.contains(&session.key)) {
            return false;
        }
        let kept = session.news || self.options.force;
        self.report.skipped_unchanged += u64::from(!kept);
        kept
    }

    /// The report of a sync that has read nothing yet.
    pub(super) fn report(self, found: &Discovery) -> SyncReport {
        let quiet = &found.quiet;
        SyncReport {
            discovered: self.report.discovered + quiet.sessions,
            source_bytes: self.report.source_bytes + quiet.bytes,
            skipped_unchanged: self.report.skipped_unchanged + quiet.sessions,
            skipped_files: found.skipped.iter().map(Failure::from).collect(),
            notes: found.notes.clone(),
            ..self.report
        }
    }
}
