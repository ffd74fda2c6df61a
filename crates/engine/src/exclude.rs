//! Rules that keep sessions from being captured.

use regex::RegexSet;
use retro_agents::{Agent, Found, Held, Part, Reader, files_of};
use retro_model::SessionKey;
use std::io::Read;

use crate::Config;
use crate::discover::{Cut, SessionFiles};
use crate::door::Door;
use crate::platform::{is_below, project_name};

/// The rules of `[capture]`.
pub struct Excluder {
    projects: Vec<String>,
    paths: Vec<String>,
    /// `None` if no patterns are set, because even an empty set takes time to build.
    patterns: Option<RegexSet>,
}

/// The verdict of the rules about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may be captured.
    Wanted,
    /// A rule matches it.
    Excluded,
    /// There are rules, and its logs name no project. It is left out, because a rule may apply to
    /// it.
    Unknown,
}

impl Excluder {
    /// The rules of a configuration.
    pub fn new(config: &Config) -> Excluder {
        Excluder {
            projects: config.exclude_projects.value.clone(),
            paths: config.exclude_paths.value.iter().map(|path| path.display().to_string()).collect(),
            patterns: match config.exclude_regex.value.as_slice() {
                [] => None,
                // They were checked when the configuration was read.
                patterns => RegexSet::new(patterns).ok(),
            },
        }
    }

    /// Whether no rule is set.
    pub fn is_empty(&self) -> bool {
        self.projects.is_empty() && self.paths.is_empty() && self.patterns.is_none()
    }

    /// The verdict about this session. If there are rules, each of its logs is read until it names
    /// a working directory.
    pub fn verdict(&self, session: &SessionFiles) -> Verdict {
        if self.is_empty() {
            return Verdict::Wanted;
        }
        if session.files.iter().any(|file| self.fits_file(file)) {
            return Verdict::Excluded;
        }
        let mut is_known = false;
        for file in &session.files {
            let Some(cwd) = working_directory(session.agent, &session.key, file) else { continue };
            is_known = true;
            let is_listed = project_name(&cwd).is_some_and(|project| self.projects.contains(&project));
            if is_listed || self.fits_path(&cwd) {
                return Verdict::Excluded;
            }
        }
        if is_known { Verdict::Wanted } else { Verdict::Unknown }
    }

    /// Whether a rule matches the path of a file, or of a file in a folder.
    fn fits_file(&self, file: &Found) -> bool {
        let mut fits = self.fits_path(&file.path.display().to_string());
        if let (Held::Files { .. }, false) = (&file.held, fits) {
            files_of(&file.path, &mut |inner| {
                fits = fits || inner.is_ok_and(|inner| self.fits_path(&inner.path.display().to_string()));
            });
        }
        fits
    }

    fn fits_path(&self, path: &str) -> bool {
        self.paths.iter().any(|folder| is_below(path, folder))
            || self.patterns.as_ref().is_some_and(|patterns| patterns.is_match(path))
    }
}

/// The first working directory that a source names. `None` if it names none or cannot be read.
fn working_directory(agent: &dyn Agent, session: &SessionKey, file: &Found) -> Option<String> {
    if !file.format.has_records() {
        return None;
    }
    let part =
        Part { session: session.clone(), source: file.source.clone(), revision: 1, format: file.format };
    let mut reader = Reader::new(agent, part, None);
    let mut live = Door::default().open(file, &Cut::default()).ok()?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = live.read(&mut buffer).ok()?;
        if count == 0 {
            break;
        }
        reader.feed(buffer.get(..count)?);
        // Drop the drafts: only the working directory is needed.
        reader.drain();
        if let Some((_, cwd)) = &reader.facts().cwd {
            return Some(cwd.to_string());
        }
    }
    reader.finish().out.facts.cwd.map(|(_, cwd)| cwd.into_inner())
}
