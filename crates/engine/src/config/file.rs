//! The configuration file itself: reads it whole if it is a regular file, and parses the kinds of
//! values in it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

use super::ConfigError;

/// Bytes of the largest configuration file that is read.
const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// Longest message about a configuration file, in characters.
const MESSAGE_CHARS_MAX: usize = 2000;

/// Reads the file. A pipe would block us, and a device would never end.
pub(super) fn written(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    retro_agents::open_regular(path)?.take(CONFIG_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > CONFIG_BYTES_MAX {
        return Err(io::Error::other("it has more than 1 MB, which no configuration has"));
    }
    Ok(text)
}

pub(super) fn read(path: &Path) -> Result<Table, ConfigError> {
    let text = written(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    // The parser quotes the line, and a link may lead to any file, so the quotation is left out.
    text.parse::<Table>().map_err(|error| ConfigError::Syntax {
        path: path.to_owned(),
        what: retro_text::redact(&error.to_string()).chars().take(MESSAGE_CHARS_MAX).collect(),
    })
}

pub(super) fn read_if_there(path: &Path) -> Result<Option<(PathBuf, Table)>, ConfigError> {
    match path.try_exists() {
        Ok(true) => Ok(Some((path.to_owned(), read(path)?))),
        _ => Ok(None),
    }
}

/// Reads a configuration inside a store, which may come from another person: links are not
/// followed.
pub(super) fn read_in_store(path: &Path) -> Result<Option<(PathBuf, Table)>, ConfigError> {
    if std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        let source = io::Error::other("it is a link, and retro follows none inside a store");
        return Err(ConfigError::Read { path: path.to_owned(), source });
    }
    read_if_there(path)
}

pub(super) fn wrong(path: &Path, key: &str, expected: &str) -> ConfigError {
    ConfigError::WrongType {
        path: path.to_owned(),
        key: super::keys::shown(key),
        expected: expected.to_owned(),
    }
}

pub(super) fn text<'a>(path: &Path, table: &'a Table, key: &str) -> Result<&'a str, ConfigError> {
    table.get(key).and_then(Value::as_str).ok_or_else(|| wrong(path, key, "a text"))
}

pub(super) fn texts(path: &Path, key: &str, value: &Value) -> Result<Vec<String>, ConfigError> {
    let list = value.as_array().and_then(|items| {
        items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    });
    list.ok_or_else(|| wrong(path, key, "a list of texts"))
}

/// `15m`, `6h`, `1d` or bare seconds, as minutes.
pub(super) fn minutes(text: &str) -> Option<u32> {
    let text = text.trim();
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let count: u32 = text[..unit].parse().ok()?;
    let minutes = match text[unit..].trim() {
        "" | "s" => count / 60,
        "m" | "min" => count,
        "h" => count.checked_mul(60)?,
        "d" => count.checked_mul(24 * 60)?,
        _ => return None,
    };
    (minutes >= 1).then_some(minutes)
}
