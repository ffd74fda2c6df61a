//! The catalog: a folder with one file for each pattern, which people and git may change.

use retro_patterns::Pattern;
use retro_store::{BadLine, Store};
use std::path::{Path, PathBuf};

use crate::{Config, Error};

/// Everything that is in a catalog.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Path of the folder.
    pub folder: PathBuf,
    /// The patterns, by id.
    pub patterns: Vec<Pattern>,
    /// Files that cannot be used, with the reason.
    pub bad: Vec<BadLine>,
}

/// Reads the catalog.
pub fn catalog(store: &Store, config: &Config) -> Result<Catalog, Error> {
    let folder = store.catalog_folder(config.curate.value.catalog_dir.as_deref());
    let mut catalog = Catalog { folder, ..Catalog::default() };
    for (path, bytes) in store.catalog_files(&catalog.folder)? {
        let parsed = bytes.and_then(|bytes| {
            serde_json::from_slice::<Pattern>(&bytes).map_err(|error| {
                match bytes.windows(7).any(|part| part == b"<<<<<<<") {
                    true => "git left both sides of a merge in it".to_owned(),
                    false => error.to_string(),
                }
            })
        });
        let named = parsed.and_then(|pattern| {
            let own = store.catalog_path(&catalog.folder, &pattern.id);
            match own.file_name() == path.file_name() {
                true => Ok(pattern),
                false => Err(format!(
                    "its id is {:?}, so its name should be {}",
                    pattern.id,
                    own.file_name().unwrap_or_default().display()
                )),
            }
        });
        match named {
            Ok(pattern) => catalog.patterns.push(pattern),
            Err(what) => catalog.bad.push(BadLine { path, line: 0, what, is_torn: false }),
        }
    }
    catalog.patterns.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(catalog)
}

impl Catalog {
    /// The pattern with this id, or whose id begins with it.
    pub fn find(&self, id: &str) -> Result<&Pattern, Error> {
        let mut fits = self.patterns.iter().filter(|pattern| pattern.id.starts_with(id));
        match (self.patterns.iter().find(|pattern| pattern.id == id), fits.next(), fits.next()) {
            (Some(pattern), _, _) | (None, Some(pattern), None) => Ok(pattern),
            (None, Some(_), Some(_)) => Err(Error::Pattern {
                what: format!("{id:?} is the beginning of several patterns"),
                hint: "`retro catalog list` shows their whole ids".to_owned(),
            }),
            (None, None, _) => Err(Error::Pattern {
                what: format!("there is no pattern {id:?} in {}", self.folder.display()),
                hint: "`retro catalog list` shows what is there".to_owned(),
            }),
        }
    }
}

/// Encodes a pattern as its file: sorted keys, one on each line.
pub(crate) fn bytes_of(pattern: &Pattern) -> Vec<u8> {
    let value = serde_json::to_value(pattern).unwrap_or_default();
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text.into_bytes()
}

/// Encodes a pattern on one line, for the history.
pub(super) fn line_of(pattern: &Pattern) -> Vec<u8> {
    let value = serde_json::to_value(pattern).unwrap_or_default();
    serde_json::to_vec(&value).unwrap_or_default()
}

/// The earlier versions of a pattern, oldest first. Skips unreadable lines.
pub fn history(store: &Store, config: &Config, id: &str) -> Result<Vec<Pattern>, Error> {
    let folder = store.catalog_folder(config.curate.value.catalog_dir.as_deref());
    let bytes = store.catalog_history(&folder, id)?;
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Writes a Markdown file for each pattern that is ready for distribution, and for each agent one
/// with all of them. Returns the paths.
pub fn export(store: &Store, catalog: &Catalog, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut written = Vec::new();
    let mut by_agent: std::collections::BTreeMap<String, String> = Default::default();
    for pattern in catalog.patterns.iter().filter(|pattern| pattern.distribution_ready) {
        let body = pattern.hints.values().next().map_or(String::new(), |hint| hint.body.clone());
        let name = format!("{}.md", retro_store::names::encode(&pattern.id));
        written.push(store.export_pattern(folder, &name, body.as_bytes())?);
        for (agent, hint) in &pattern.hints {
            let text = by_agent.entry(agent.clone()).or_default();
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&hint.body);
        }
    }
    for (agent, text) in by_agent {
        let name = format!("all-{}.md", retro_store::names::encode(&agent));
        written.push(store.export_pattern(folder, &name, text.as_bytes())?);
    }
    Ok(written)
}
