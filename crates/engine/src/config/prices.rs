//! `[[prices]]`: the user's own model prices. Reads the entries, and changes one without touching
//! the rest of the file.

use jiff::civil::Date;
use retro_usage::{OwnPrice, PriceRow};
use std::path::Path;
use toml::{Table, Value};
use toml_edit::{ArrayOfTables, DocumentMut, Item};

use super::{ConfigError, put};

/// Every key of an entry.
const FIELDS: &[&str] =
    &["cache_read", "cache_write_1h", "cache_write_5m", "from", "input", "model", "output", "provider"];

/// The rows of a file's `prices`.
pub(super) fn read(path: &Path, value: &Value) -> Result<Vec<PriceRow>, ConfigError> {
    let entries = value.as_array().ok_or_else(|| bad(path, None, "", "is a list, written [[prices]]"))?;
    let mut rows: Vec<PriceRow> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let model = entry.get("model").and_then(Value::as_str).unwrap_or_default();
        let wrong = |problem: &str| bad(path, Some(at), model, problem);
        let table = entry.as_table().ok_or_else(|| wrong("is no table, written [[prices]]"))?;
        let row = own(table).and_then(|own| own.row()).map_err(|problem| wrong(&problem))?;
        let same = |known: &PriceRow| {
            (&known.model, &known.provider, known.from) == (&row.model, &row.provider, row.from)
        };
        if rows.iter().any(same) {
            return Err(wrong("is there twice for the same day"));
        }
        rows.push(row);
    }
    Ok(rows)
}

fn own(table: &Table) -> Result<OwnPrice, String> {
    if let Some(unknown) = table.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        let near = super::keys::nearest(unknown, FIELDS.iter().copied());
        let hint = near.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        return Err(format!("has an unknown key `{unknown}`{hint}"));
    }
    let text =
        |name: &str| table.get(name).map(|value| value.as_str().ok_or(format!("`{name}` must be a text")));
    let number = |name: &str| match table.get(name) {
        None => Ok(None),
        Some(Value::Integer(whole)) => Ok(Some(*whole as f64)),
        Some(Value::Float(number)) => Ok(Some(*number)),
        Some(_) => Err(format!("`{name}` must be a number of dollars a million tokens")),
    };
    let needed = |name: &str| number(name)?.ok_or(format!("has no `{name}`, in dollars a million tokens"));
    let from = match table.get("from") {
        None => None,
        Some(day) => Some(date(day).ok_or("`from` must be a day such as 2026-03-01")?),
    };
    Ok(OwnPrice {
        model: text("model").transpose()?.ok_or("has no `model`")?.to_owned(),
        provider: text("provider").transpose()?.map(str::to_owned),
        from,
        input: needed("input")?,
        output: needed("output")?,
        cache_read: number("cache_read")?,
        cache_write_5m: number("cache_write_5m")?,
        cache_write_1h: number("cache_write_1h")?,
    })
}

/// A day, as a string or as a TOML date.
fn date(value: &Value) -> Option<Date> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Datetime(day) => day.to_string().parse().ok(),
        _ => None,
    }
}

fn bad(path: &Path, entry: Option<usize>, model: &str, problem: &str) -> ConfigError {
    let line = entry.and_then(|entry| line_of(path, entry));
    ConfigError::Price {
        place: line.map_or(path.display().to_string(), |line| format!("{}:{line}", path.display())),
        model: model.to_owned(),
        problem: problem.to_owned(),
    }
}

/// The number of the line that begins an entry.
fn line_of(path: &Path, entry: usize) -> Option<usize> {
    let text = super::file::written(path).ok()?;
    let parsed = toml_edit::Document::parse(text.as_str()).ok()?;
    let span = parsed.get("prices")?.as_array_of_tables()?.get(entry)?.span()?;
    Some(text.get(..span.start)?.matches('\n').count() + 1)
}

/// Changes to a price, in dollars per million tokens. `None` keeps the old value.
#[derive(Debug, Clone, Default)]
pub struct PriceChange {
    /// The model, as logs write it.
    pub model: String,
    /// First day of the price.
    pub from: Option<Date>,
    /// Price of uncached input.
    pub input: Option<f64>,
    /// Price of output tokens.
    pub output: Option<f64>,
    /// Read from a cache.
    pub cache_read: Option<f64>,
    /// Written to a cache of five minutes.
    pub cache_write_5m: Option<f64>,
    /// Written to a cache of one hour.
    pub cache_write_1h: Option<f64>,
}

/// Sets a price in a configuration file and creates the file if necessary. Returns whether the
/// model already had a price for that day.
pub fn set_price(path: &Path, change: &PriceChange) -> Result<bool, ConfigError> {
    let mut document = document(path)?;
    let entries = entries(path, &mut document)?;
    let found = entries.iter().position(|entry| is_of(entry, &change.model, change.from));
    let at = match found {
        Some(at) => at,
        None => {
            let mut table = toml_edit::Table::new();
            table.insert("model", toml_edit::value(&change.model));
            if let Some(from) = change.from {
                table.insert("from", toml_edit::value(from.to_string()));
            }
            entries.push(table);
            entries.len() - 1
        }
    };
    if let Some(entry) = entries.get_mut(at) {
        for (name, dollars) in [
            ("input", change.input),
            ("output", change.output),
            ("cache_read", change.cache_read),
            ("cache_write_5m", change.cache_write_5m),
            ("cache_write_1h", change.cache_write_1h),
        ] {
            if let Some(dollars) = dollars {
                set(entry, name, dollars);
            }
        }
    }
    save(path, &document, &change.model)?;
    Ok(found.is_some())
}

/// Removes the prices of a model from a configuration file: all of them, or that of one day.
/// Returns how many there were.
pub fn remove_price(path: &Path, model: &str, from: Option<Date>) -> Result<usize, ConfigError> {
    let mut document = document(path)?;
    let entries = entries(path, &mut document)?;
    let before = entries.len();
    entries.retain(|entry| !(is_of(entry, model, from) || (from.is_none() && is_model(entry, model))));
    let removed = before - entries.len();
    if entries.is_empty() {
        document.remove("prices");
    }
    if removed > 0 {
        save(path, &document, model)?;
    }
    Ok(removed)
}

/// Replaces a number and keeps the spaces and comments around it.
fn set(entry: &mut toml_edit::Table, name: &str, dollars: f64) {
    let mut number = toml_edit::Value::from(dollars);
    if let Some(old) = entry.get(name).and_then(Item::as_value) {
        *number.decor_mut() = old.decor().clone();
    }
    entry.insert(name, Item::Value(number));
}

fn is_model(entry: &toml_edit::Table, model: &str) -> bool {
    entry
        .get("model")
        .and_then(Item::as_str)
        .is_some_and(|name| name.trim().eq_ignore_ascii_case(model.trim()))
}

fn is_of(entry: &toml_edit::Table, model: &str, from: Option<Date>) -> bool {
    let day = entry.get("from").map(|item| item.as_str().map_or(item.to_string(), str::to_owned));
    let same_day = day.and_then(|day| day.trim().parse::<Date>().ok()) == from;
    same_day && is_model(entry, model) && entry.get("provider").is_none()
}

pub(super) fn document(path: &Path) -> Result<DocumentMut, ConfigError> {
    let text = match super::file::written(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(ConfigError::Read { path: path.to_owned(), source }),
    };
    text.parse::<DocumentMut>()
        .map_err(|error| ConfigError::Syntax { path: path.to_owned(), what: error.to_string() })
}

fn entries<'d>(path: &Path, document: &'d mut DocumentMut) -> Result<&'d mut ArrayOfTables, ConfigError> {
    let item = document.entry("prices").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    if !item.is_array_of_tables() {
        // `prices = [{ … }]` means the same. Entries on separate lines are easier to read.
        let tables = std::mem::take(item).into_array_of_tables();
        *item = Item::ArrayOfTables(
            tables.map_err(|_| bad(path, None, "", "is a list of entries, written [[prices]]"))?,
        );
    }
    item.as_array_of_tables_mut().ok_or_else(|| bad(path, None, "", "is a list, written [[prices]]"))
}

/// Writes the file, provided that the changed text can be parsed.
fn save(path: &Path, document: &DocumentMut, model: &str) -> Result<(), ConfigError> {
    let text = document.to_string();
    let table: Table =
        text.parse().map_err(|error: toml::de::Error| bad(path, None, model, &error.to_string()))?;
    if let Some(value) = table.get("prices") {
        read(path, value)?;
    }
    put(path, text.as_bytes()).map_err(|source| ConfigError::Write { path: path.to_owned(), source })
}
