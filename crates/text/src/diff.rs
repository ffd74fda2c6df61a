//! The changes of an edit, as lines with their signs.
//!
//! Agents log an edit in three ways: as a patch, as an old and a new text, or as the whole new
//! file. All become the same rows: `" "` kept, `"-"` removed, `"+"` added, `"@"` a heading of the
//! patch.

use serde::Serialize;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

/// The most rows of one edit that are kept.
const ROWS_MAX: usize = 2_000;

/// The most bytes that are compared. Longer texts are shown as removed and added.
const COMPARED_BYTES_MAX: usize = 200_000;

/// Unchanged lines shown before and after a changed one.
const AROUND: usize = 3;

/// One file of an edit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileDiff {
    /// The path as logged.
    pub path: String,
    /// The sign and text of each line.
    pub rows: Vec<(char, String)>,
    /// The number of rows that were left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The edits that the arguments of a call request. `path` is the file that the call names.
pub fn diffs(args: &Value, path: Option<&str>) -> Vec<FileDiff> {
    if let Some(patch) = patch_in(args, 4) {
        return from_patch(patch);
    }
    let text = |value: &Value, names: &[&str]| {
        names.iter().find_map(|name| value.get(*name)?.as_str()).map(str::to_owned)
    };
    let named = text(args, &["file_path", "path", "target_file", "filePath", "notebook_path"]);
    let path = path.map(str::to_owned).or(named).unwrap_or_default();
    let one = |value: &Value| {
        let old = text(value, &["old_string", "old_str", "oldText", "old_text"]);
        let new = text(value, &["new_string", "new_str", "newText", "new_text", "new_source"]);
        let whole = text(value, &["content", "contents", "file_text", "file_content"]);
        match (old, new, whole) {
            (None, None, None) => None,
            (old, new, whole) => Some(compared(&old.unwrap_or_default(), &new.or(whole).unwrap_or_default())),
        }
    };
    let mut rows: Vec<(char, String)> = Vec::new();
    match args.get("edits").and_then(Value::as_array) {
        Some(edits) => {
            for edit in edits.iter().filter_map(one) {
                if !rows.is_empty() {
                    rows.push(('@', String::new()));
                }
                rows.extend(edit);
            }
        }
        None => rows.extend(one(args).into_iter().flatten()),
    }
    if rows.is_empty() { Vec::new() } else { vec![bounded(path, rows)] }
}

fn bounded(path: String, mut rows: Vec<(char, String)>) -> FileDiff {
    let left_out = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    FileDiff { path, rows, left_out }
}

/// The first text in the arguments that is a patch.
fn patch_in(value: &Value, depth: usize) -> Option<&str> {
    match value {
        Value::String(text) if text.contains("*** Begin Patch") => Some(text),
        Value::Array(items) if depth > 0 => items.iter().find_map(|item| patch_in(item, depth - 1)),
        Value::Object(fields) if depth > 0 => fields.values().find_map(|field| patch_in(field, depth - 1)),
        _ => None,
    }
}

fn from_patch(patch: &str) -> Vec<FileDiff> {
    let mut files: Vec<(String, Vec<(char, String)>)> = Vec::new();
    let body = patch.split_once("*** Begin Patch").map_or(patch, |(_, body)| body);
    for line in body.lines() {
        if line.starts_with("*** End Patch") {
            break;
        }
        let header = ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
            .iter()
            .find_map(|start| line.strip_prefix(start));
        if let Some(path) = header {
            files.push((path.trim().to_owned(), Vec::new()));
            continue;
        }
        let Some((_, rows)) = files.last_mut() else { continue };
        if let Some(to) = line.strip_prefix("*** Move to: ") {
            rows.push(('@', format!("moved to {}", to)));
            continue;
        }
        if let Some(place) = line.strip_prefix("@@") {
            if !rows.is_empty() || !place.trim().is_empty() {
                rows.push(('@', place.trim().to_owned()));
            }
            continue;
        }
        let mut chars = line.chars();
        match chars.next() {
            Some(sign @ (' ' | '+' | '-')) => rows.push((sign, chars.as_str().to_owned())),
            None => rows.push((' ', String::new())),
            Some(_) => {}
        }
    }
    files.into_iter().map(|(path, rows)| bounded(path, rows)).collect()
}

/// Compares two texts line by line, with a few lines of context.
fn compared(old: &str, new: &str) -> Vec<(char, String)> {
    let signed = |sign: char, text: &str| -> Vec<(char, String)> {
        text.lines().map(|line| (sign, line.to_owned())).collect()
    };
    if old.is_empty() || new.is_empty() || old.len() + new.len() > COMPARED_BYTES_MAX {
        return [signed('-', old), signed('+', new)].concat();
    }
    let diff = TextDiff::from_lines(old, new);
    let mut rows = Vec::new();
    for (number, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if number > 0 {
            rows.push(('@', String::new()));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            rows.push((sign, change.value().trim_end_matches(['\n', '\r']).to_owned()));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(args: Value) -> Vec<String> {
        let files = diffs(&args, None);
        let rows = |file: FileDiff| {
            let rows = file.rows.into_iter().map(|(sign, text)| format!("{sign}{text}"));
            std::iter::once(file.path).chain(rows).collect::<Vec<_>>()
        };
        files.into_iter().flat_map(rows).collect()
    }

    #[test]
    fn every_way_to_log_an_edit_gives_the_same_rows() {
        let asked = json!({"file_path": "a.rs", "old_string": "one\ntwo\n", "new_string": "one\n2\n"});
        assert_eq!(shown(asked), ["a.rs", " one", "-two", "+2"]);
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn main\n one\n-two\n+2\n*** End Patch";
        assert_eq!(shown(json!({"input": patch})), ["a.rs", "@fn main", " one", "-two", "+2"]);
        assert_eq!(shown(json!({"command": ["apply_patch", patch]})).len(), 5);
        assert_eq!(shown(json!({"path": "b", "content": "x\ny"})), ["b", "+x", "+y"]);
        let many = json!({"path": "c", "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "", "new_string": "c"}]});
        assert_eq!(shown(many), ["c", "-a", "+b", "@", "+c"]);
    }

    #[test]
    fn what_is_no_edit_gives_nothing() {
        assert!(shown(json!({"command": "ls"})).is_empty());
        assert!(shown(json!(null)).is_empty());
    }
}
