//! Which model turns text into vectors: the table inside the program, or a GGUF file.

use retro_search::embed::gguf::Options;
use std::path::{Path, PathBuf};
use toml::Table;

use super::prices::document;
use super::{ConfigError, put, wrong};
use crate::World;
use crate::platform::expand_home;

/// The model, and how it is run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Embedding {
    /// A GGUF file. `None` uses the built-in table.
    pub model: Option<PathBuf>,
    /// Layers that a graphics processor computes.
    pub gpu_layers: Option<u32>,
    /// Threads for one text.
    pub threads: Option<usize>,
    /// Threads for many texts at once.
    pub threads_batch: Option<usize>,
}

impl Embedding {
    /// Options for running the model. `None` for the built-in table.
    pub fn options(&self) -> Option<Options> {
        Some(Options {
            model: self.model.clone()?,
            gpu_layers: self.gpu_layers.unwrap_or(0),
            threads: self.threads,
            threads_batch: self.threads_batch,
        })
    }
}

pub(super) fn read(path: &Path, table: &Table, world: &World) -> Result<Embedding, ConfigError> {
    let number = |name: &str| -> Result<Option<u32>, ConfigError> {
        let Some(value) = table.get(name) else { return Ok(None) };
        let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
        number.map(Some).ok_or_else(|| wrong(path, &format!("embedding.{name}"), "a whole number"))
    };
    let model = match table.get("model") {
        Some(value) => {
            let text =
                value.as_str().ok_or_else(|| wrong(path, "embedding.model", "the path of a GGUF file"))?;
            Some(expand_home(text, &world.own_home))
        }
        None => None,
    };
    Ok(Embedding {
        model,
        gpu_layers: number("gpu_layers")?,
        threads: number("threads")?.map(|threads| threads as usize),
        threads_batch: number("threads_batch")?.map(|threads| threads as usize),
    })
}

/// Writes the model to a configuration file and creates the file if necessary. Unset values are
/// removed. Everything else in the file is left alone.
pub fn set_embedding(path: &Path, embedding: &Embedding) -> Result<(), ConfigError> {
    let mut document = document(path)?;
    let table = document.entry("embedding").or_insert(toml_edit::Item::Table(toml_edit::Table::new()));
    let number = |number: Option<usize>| number.map(|number| toml_edit::value(number as i64));
    let values = [
        ("model", embedding.model.as_ref().map(|model| toml_edit::value(model.display().to_string()))),
        ("gpu_layers", number(embedding.gpu_layers.map(|layers| layers as usize))),
        ("threads", number(embedding.threads)),
        ("threads_batch", number(embedding.threads_batch)),
    ];
    if let Some(table) = table.as_table_like_mut() {
        for (name, value) in values {
            match value {
                Some(value) => drop(table.insert(name, value)),
                None => drop(table.remove(name)),
            }
        }
        if table.is_empty() {
            document.remove("embedding");
        }
    }
    put(path, document.to_string().as_bytes())
        .map_err(|source| ConfigError::Write { path: path.to_owned(), source })
}
