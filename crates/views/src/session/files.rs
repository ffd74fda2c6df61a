//! The files that a session changed, and how.

use retro_model::Outcome;
use serde::Serialize;
use std::collections::HashMap;

use super::item::{Call, Item};
use crate::readable::plain;

/// Maximum files on the page.
const FILES_MAX: usize = 500;

/// A file and all its edits.
#[derive(Debug, Clone, Serialize)]
pub struct FileRow {
    /// The path, relative to the working directory if inside it.
    pub path: String,
    /// Lines added, if the log says.
    pub added: u64,
    /// Lines removed, if the log says.
    pub removed: u64,
    /// The calls that changed it, in order.
    pub edits: Vec<String>,
    /// How often it was read.
    pub reads: u64,
}

/// Collects files over the turns of a family.
#[derive(Default)]
pub struct Files {
    rows: Vec<FileRow>,
    places: HashMap<String, usize>,
}

impl Files {
    /// Adds the items of a turn.
    pub fn take(&mut self, items: &[Item], cwd: Option<&str>) {
        for item in items {
            match item {
                Item::Call(call) => self.call(call, cwd),
                Item::Run { items, .. } => self.take(items, cwd),
                _ => {}
            }
        }
    }

    fn call(&mut self, call: &Call, cwd: Option<&str>) {
        for edit in &call.edits {
            let row = self.row(&edit.path, cwd);
            row.added += edit.added.unwrap_or(0);
            row.removed += edit.removed.unwrap_or(0);
            row.edits.push(call.id.clone());
        }
        if call.class == retro_model::ToolClass::Read
            && call.outcome == Some(Outcome::Ok)
            && call.full.is_none()
        {
            let path = call.what.clone();
            self.row(&path, cwd).reads += 1;
        }
    }

    fn row(&mut self, path: &str, cwd: Option<&str>) -> &mut FileRow {
        let inside =
            cwd.and_then(|cwd| path.strip_prefix(cwd)).and_then(|rest| rest.strip_prefix(['/', '\\']));
        let path = plain(inside.unwrap_or(path));
        let at = *self.places.entry(path.clone()).or_insert_with(|| {
            self.rows.push(FileRow { path, added: 0, removed: 0, edits: Vec::new(), reads: 0 });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    /// Changed files first, those with most changes at the top.
    pub fn rows(mut self) -> Vec<FileRow> {
        self.rows.sort_by(|a, b| {
            let size = |row: &FileRow| (row.edits.len(), row.added + row.removed, row.reads);
            size(b).cmp(&size(a)).then_with(|| a.path.cmp(&b.path))
        });
        self.rows.truncate(FILES_MAX);
        self.rows
    }
}
