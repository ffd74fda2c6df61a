//! Sessions and turns that read or changed a file.

use retro_model::Timestamp;
use retro_store::{Index, TouchRow};
use serde::Serialize;

use crate::Error;

/// The result of `retro files`.
#[derive(Debug, Clone, Serialize)]
pub struct FilesView {
    /// `retro.files/1`.
    pub schema: &'static str,
    /// The path that was asked for.
    pub path: String,
    /// The calls, newest first.
    pub touches: Vec<TouchView>,
    /// Number of calls before the limit is applied.
    pub total: usize,
}

/// A call that touched the file.
#[derive(Debug, Clone, Serialize)]
pub struct TouchView {
    /// retro's name for the agent.
    pub agent: String,
    /// The session's id.
    pub session_id: String,
    /// The session's title.
    pub title: Option<String>,
    /// The turn's number on its thread.
    pub turn: u32,
    /// The thread's name.
    pub thread: String,
    /// The call's event.
    pub event_id: String,
    /// The path as the log writes it.
    pub path: String,
    /// `read` or `write`.
    pub access: &'static str,
    /// Lines added, if the log says.
    pub added: Option<u64>,
    /// Lines removed, if the log says.
    pub removed: Option<u64>,
    /// When the call was made.
    pub timestamp: Option<Timestamp>,
    /// True if the call failed.
    pub failed: bool,
}

/// Calls that touched a file, or any file below a folder.
pub fn files(index: Option<&Index>, path: &str, limit: Option<usize>) -> Result<FilesView, Error> {
    let mut view =
        FilesView { schema: "retro.files/1", path: path.to_owned(), touches: Vec::new(), total: 0 };
    let Some(index) = index else { return Ok(view) };
    let mut rows: Vec<TouchRow> = index.touches_named(path).map_err(retro_engine::Error::from)?;
    rows.retain(|row| is_same_file(&row.path, path));
    if rows.is_empty() {
        rows = index.touches_below(path).map_err(retro_engine::Error::from)?;
    }
    view.total = rows.len();
    rows.truncate(limit.unwrap_or(usize::MAX));
    for row in rows {
        let title = index.session_row(&row.key).map_err(retro_engine::Error::from)?.and_then(|row| row.title);
        view.touches.push(TouchView {
            agent: row.key.agent,
            session_id: row.key.id,
            title,
            turn: row.turn,
            thread: row.thread,
            event_id: row.event,
            path: row.path,
            access: if row.writes { "write" } else { "read" },
            added: row.added,
            removed: row.removed,
            timestamp: row.at,
            failed: row.failed,
        });
    }
    Ok(view)
}

/// True if one path ends with the other: logs write a path from the root or from the folder that
/// the agent worked in, and a user may type either.
fn is_same_file(logged: &str, asked: &str) -> bool {
    let parts = |path: &str| -> Vec<String> {
        path.split(['/', '\\'])
            .filter(|part| !part.is_empty() && *part != ".")
            .map(str::to_lowercase)
            .collect()
    };
    let (logged, asked) = (parts(logged), parts(asked));
    logged.ends_with(&asked) || asked.ends_with(&logged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_same_from_any_folder() {
        assert!(is_same_file("/home/me/shop/src/cart.rs", "src/cart.rs"));
        assert!(is_same_file("src/cart.rs", "/home/me/shop/src/cart.rs"));
        assert!(is_same_file("C:\\shop\\src\\cart.rs", "./src/cart.rs"));
        assert!(!is_same_file("src/cart.rs", "lib/cart.rs"));
        assert!(!is_same_file("src/smart_cart.rs", "cart.rs"));
    }
}
