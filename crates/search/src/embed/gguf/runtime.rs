//! A model of a GGUF file, run by llama.cpp.

use super::Options;
use crate::embed::{Embedder, Embedding, Error};
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use xxhash_rust::xxh3::Xxh3;

/// Tokens of a text that count, if the model itself takes more.
const TOKENS_MAX: u32 = 2048;

/// Bytes of a text that are read; no model takes more tokens than this holds.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// A loaded model.
pub(super) struct Model {
    id: String,
    dim: usize,
    model: LlamaModel,
    tokens_max: u32,
    threads: i32,
    threads_batch: i32,
    /// Contexts of one model must not be made at the same time, and one context uses all
    /// threads that the user wants to give.
    one_at_a_time: Mutex<()>,
}

impl Model {
    /// Loads the model that the options name.
    pub(super) fn load(options: &Options) -> Result<Model, Error> {
        let path = &options.model;
        let bad = |what: String| Error::Model { path: path.clone(), what };
        let hash = hash(path).map_err(|error| bad(error.to_string()))?;
        let parameters = LlamaModelParams::default().with_n_gpu_layers(options.gpu_layers);
        let model = LlamaModel::load_from_file(backend()?, path, &parameters)
            .map_err(|_| bad("llama.cpp cannot load it".to_owned()))?;
        let dim = usize::try_from(model.n_embd_out()).unwrap_or(0);
        if dim == 0 {
            return Err(bad("it makes no vectors".to_owned()));
        }
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let threads = options.threads.unwrap_or_else(spare_processors);
        let model = Model {
            id: format!("{name}-{hash:032x}"),
            dim,
            tokens_max: model.n_ctx_train().clamp(1, TOKENS_MAX),
            model,
            threads: count(threads),
            threads_batch: count(options.threads_batch.unwrap_or(threads)),
            one_at_a_time: Mutex::new(()),
        };
        // What cannot make one vector is better refused now.
        model.embed(&["a"]).map_err(|error| bad(error.to_string()))?;
        Ok(model)
    }

    /// What llama.cpp needs for one text after the other: all its tokens at once.
    fn context(&self) -> Result<LlamaContext<'_>, Error> {
        let parameters = LlamaContextParams::default()
            .with_embeddings(true)
            .with_n_ctx(NonZeroU32::new(self.tokens_max))
            .with_n_batch(self.tokens_max)
            .with_n_ubatch(self.tokens_max)
            .with_n_threads(self.threads)
            .with_n_threads_batch(self.threads_batch);
        self.model.new_context(backend()?, parameters).map_err(failed)
    }

    fn embed_one(&self, text: &str, context: &mut LlamaContext<'_>) -> Result<Embedding, Error> {
        let tokens = self.tokens(text);
        if tokens.is_empty() || text.trim().is_empty() {
            return Ok(Embedding::zero(self.dim));
        }
        let mut batch = LlamaBatch::new(tokens.len(), 1);
        batch.add_sequence(&tokens, 0, true).map_err(failed)?;
        context.clear_kv_cache();
        context.decode(&mut batch).map_err(failed)?;
        let values = context.embeddings_seq_ith(0).map_err(failed)?;
        let vector = Embedding::new(values.to_vec());
        if vector.dim() != self.dim {
            return Err(Error::Run(format!("it made {} values, not {}", vector.dim(), self.dim)));
        }
        // All texts weigh the same in a sum, since such a model says nothing by length.
        Ok(Embedding::new(vector.unit()))
    }

    /// The tokens of a text, at most as many as the model takes; the last of them, which
    /// may mark the end, stays. Nothing in the text is taken for a mark.
    fn tokens(&self, text: &str) -> Vec<LlamaToken> {
        let most = text.len().min(TEXT_BYTES_MAX);
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let text = text.get(..end).unwrap_or_default();
        let mut tokens = self.model.vocab().tokenize(text.as_bytes(), true, false);
        let last = tokens.last().copied();
        let most = self.tokens_max as usize;
        if tokens.len() > most {
            tokens.truncate(most - 1);
            tokens.extend(last);
        }
        tokens
    }
}

impl Embedder for Model {
    fn id(&self) -> &str {
        &self.id
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        let _turn = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let mut context = self.context()?;
        texts.iter().map(|text| self.embed_one(text, &mut context)).collect()
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Model").field("id", &self.id).field("dim", &self.dim).finish_non_exhaustive()
    }
}

fn failed(error: impl fmt::Display) -> Error {
    Error::Run(error.to_string())
}

/// llama.cpp itself, started once and told to be silent.
fn backend() -> Result<&'static LlamaBackend, Error> {
    static BACKEND: OnceLock<Option<LlamaBackend>> = OnceLock::new();
    let start = || {
        let mut backend = LlamaBackend::init().ok()?;
        backend.void_logs();
        Some(backend)
    };
    BACKEND.get_or_init(start).as_ref().ok_or_else(|| Error::Run("llama.cpp does not start".to_owned()))
}

/// All processors but one.
fn spare_processors() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get() - 1)
}

fn count(threads: usize) -> i32 {
    i32::try_from(threads).unwrap_or(i32::MAX).max(1)
}

/// The hash of a file's content.
fn hash(path: &Path) -> io::Result<u128> {
    let mut file = File::open(path)?;
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.digest128()),
            length => hasher.update(buffer.get(..length).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests;
