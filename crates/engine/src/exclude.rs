//! Which sessions the user does not want captured.

use regex::RegexSet;

use crate::Config;
use crate::discover::SessionFiles;
use crate::platform::{is_below, project_name};
use crate::read::peek;

/// The rules of `[capture]`.
pub struct Excluder {
    projects: Vec<String>,
    paths: Vec<String>,
    /// None if there are none: even an empty set takes time to make.
    patterns: Option<RegexSet>,
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

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.projects.is_empty() && self.paths.is_empty() && self.patterns.is_none()
    }

    /// Whether this session stays out. Looks into its head only if there are rules.
    pub fn excludes(&self, session: &SessionFiles) -> bool {
        if self.is_empty() {
            return false;
        }
        let places = session.files.iter().map(|file| file.path.display().to_string());
        let cwd = peek(session).cwd.map(|(_, cwd)| cwd.into_inner());
        let mut named: Vec<String> = places.collect();
        let project = cwd.as_deref().and_then(project_name);
        named.extend(cwd);
        project.is_some_and(|project| self.projects.contains(&project))
            || named.iter().any(|path| {
                self.paths.iter().any(|folder| is_below(path, folder))
                    || self.patterns.as_ref().is_some_and(|patterns| patterns.is_match(path))
            })
    }
}
