//! Chooses which of the found sessions are read.

use super::SyncOptions;
use crate::Config;
use crate::discover::{Discovery, Keep, SessionFiles};
use crate::exclude::{Excluder, Verdict};
use crate::report::{Failure, SyncReport};

/// Keeps wanted sessions with news, and counts the others.
pub(super) struct SessionFilter<'a> {
    options: &'a SyncOptions,
    excluder: Excluder,
    report: SyncReport,
}

impl<'a> SessionFilter<'a> {
    pub(super) fn new(config: &Config, options: &'a SyncOptions) -> Self {
        SessionFilter { options, excluder: Excluder::new(config), report: SyncReport::default() }
    }

    /// Sessions without news are only counted, unless a rule must see them.
    pub(super) fn keep(&self) -> Keep {
        let counts = self.excluder.is_empty() && self.options.sessions.is_none() && !self.options.force;
        if counts { Keep::News } else { Keep::All }
    }

    /// Whether files that serve many sessions are captured. They mention every project, so an
    /// exclusion rule turns this off.
    pub(super) fn keeps_shared(&self) -> bool {
        self.excluder.is_empty()
    }

    /// Whether a session must be read. Called for every found session that is not just counted.
    pub(super) fn keeps(&mut self, session: &SessionFiles) -> bool {
        self.report.discovered += 1;
        self.report.source_bytes += session.bytes();
        let verdict = self.excluder.verdict(session);
        if verdict != Verdict::Wanted {
            self.report.excluded += 1;
            self.report.excluded_unknown += u64::from(verdict == Verdict::Unknown);
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
            unreadable_files: found.unreadable().map(Failure::from).collect(),
            notes: found.notes.clone(),
            forgotten: found.forgotten.len() as u64,
            ..self.report
        }
    }
}
