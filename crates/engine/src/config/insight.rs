//! Thresholds of real work, and signals of the user's own.

use retro_insight::{OwnSignal, Thresholds};
use std::path::Path;
use toml::{Table, Value};

use super::{ConfigError, wrong};

/// Reads `[detect.quality]`.
pub(super) fn thresholds(path: &Path, section: &Table) -> Result<Thresholds, ConfigError> {
    let mut thresholds = Thresholds::default();
    for (name, value) in section {
        let key = format!("detect.quality.{name}");
        let count = || {
            let count = value.as_integer().and_then(|count| u64::try_from(count).ok());
            count.ok_or_else(|| wrong(path, &key, "a number from 0 on"))
        };
        match name.as_str() {
            "min_events" => thresholds.min_events = count()?,
            "min_substantive_calls" => thresholds.min_substantive_calls = count()?,
            "min_prompt_chars" => {
                thresholds.min_prompt_chars = usize::try_from(count()?).unwrap_or(usize::MAX);
            }
            "require_repo" => {
                thresholds.require_repo =
                    value.as_bool().ok_or_else(|| wrong(path, &key, "true or false"))?;
            }
            "trivial_prompts" => {
                let texts = super::texts(path, &key, value)?;
                thresholds.trivial_prompts = texts.iter().map(|text| text.to_lowercase()).collect();
            }
            _ => return Err(super::keys::unknown_threshold(path, &key)),
        }
    }
    Ok(thresholds)
}

/// Reads `[[signals]]`.
pub(super) fn signals(path: &Path, value: &Value) -> Result<Vec<OwnSignal>, ConfigError> {
    let entries = value.as_array().ok_or_else(|| wrong(path, "signals", "a list of [[signals]] entries"))?;
    let mut signals: Vec<OwnSignal> = Vec::new();
    for entry in entries {
        let table =
            entry.as_table().ok_or_else(|| wrong(path, "signals", "a list of [[signals]] entries"))?;
        let mut fields = Vec::new();
        for (key, value) in table {
            let text = value.as_str().ok_or_else(|| wrong(path, &format!("signals.{key}"), "a text"))?;
            fields.push((key.as_str(), text));
        }
        let own = OwnSignal::parse(fields)
            .map_err(|bad| ConfigError::Signal { path: path.to_owned(), problem: bad.to_string() })?;
        if signals.iter().any(|other| other.name == own.name) {
            return Err(wrong(
                path,
                "signals.name",
                &format!("different in every entry; {:?} is there twice", own.name),
            ));
        }
        signals.push(own);
    }
    Ok(signals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_entry_names_its_key() {
        let table: Table = "signals = [{ name = 'x', clas = 'shell' }]".parse().unwrap();
        let error = signals(Path::new("c.toml"), &table["signals"]).unwrap_err().to_string();
        assert!(error.starts_with("c.toml: signals.clas: no such key"), "{error}");
        let table: Table = "min_event = 3".parse().unwrap();
        let error = thresholds(Path::new("c.toml"), &table).unwrap_err().to_string();
        assert!(error.contains("detect.quality.min_events"), "{error}");
    }
}
