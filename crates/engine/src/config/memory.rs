//! Settings of automatic mining and of memories.

use retro_memory::methods::METHODS;
use std::path::Path;
use toml::{Table, Value};

use super::{ConfigError, texts, wrong};

/// Settings of mining and memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mining {
    /// Methods that sync mines with.
    pub methods: Vec<String>,
    /// Whether sync retires memories that have never been useful.
    pub retire: bool,
    /// Tokens a day for methods that ask a model.
    pub budget_tokens: u64,
}

impl Default for Mining {
    fn default() -> Self {
        let methods = METHODS.iter().map(|method| method.name.to_owned()).collect();
        Mining { methods, retire: false, budget_tokens: 200_000 }
    }
}

pub(super) fn read(path: &Path, table: &Table) -> Result<Mining, ConfigError> {
    let mut mining = Mining::default();
    let value = |section: &str, name: &str| table.get(section).and_then(|section| section.get(name));
    if let Some(methods) = value("mine", "methods") {
        mining.methods = texts(path, "mine.methods", methods)?;
        for name in &mining.methods {
            if !METHODS.iter().any(|method| method.name == *name) {
                let names: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
                return Err(wrong(
                    path,
                    "mine.methods",
                    &format!("a list of {}; {name:?} is none", names.join(", ")),
                ));
            }
        }
        mining.methods.sort();
        mining.methods.dedup();
    }
    if let Some(retire) = value("memory", "retire") {
        mining.retire = retire.as_bool().ok_or_else(|| wrong(path, "memory.retire", "true or false"))?;
    }
    if let Some(budget) = value("mine", "budget_tokens") {
        let budget = Value::as_integer(budget).and_then(|budget| u64::try_from(budget).ok());
        mining.budget_tokens =
            budget.ok_or_else(|| wrong(path, "mine.budget_tokens", "a number from 0 on"))?;
    }
    Ok(mining)
}
