//! A model from a GGUF file, run by llama.cpp.

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
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use xxhash_rust::xxh3::Xxh3;

/// Maximum tokens of a text, if the model itself accepts more.
const TOKENS_MAX: u32 = 2048;

/// Maximum bytes read of a text, enough for the tokens of any model.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Texts that one worker embeds before the others start.
const TEXTS_ALONE: usize = 8;

/// A loaded model. Each of its workers runs one text at a time, in a llama.cpp context of its own
/// that it reuses, since creating one costs as much as a short text. Several texts at once are
/// faster than several threads for one text: such threads wait for each other after every
/// operation, and they spin while they wait.
pub(super) struct Model {
    id: String,
    dim: usize,
    jobs: Mutex<mpsc::Sender<Job>>,
}

/// A text to embed, its number among the texts of one call, and the channel for its vector.
struct Job {
    number: usize,
    text: String,
    reply: mpsc::Sender<(usize, Result<Embedding, Error>)>,
}

/// The model inside its threads.
struct Loaded {
    dim: usize,
    model: LlamaModel,
    tokens_max: u32,
    workers: usize,
}

impl Model {
    /// Loads the model that the options name.
    pub(super) fn load(options: &Options) -> Result<Model, Error> {
        let path = &options.model;
        let bad = |what: String| Error::Model { path: path.clone(), what };
        let hash = hash(path).map_err(|error| bad(error.to_string()))?;
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (jobs, asked) = mpsc::channel();
        let (ready, loaded) = mpsc::channel();
        let options = options.clone();
        let run = move || match Loaded::load(&options) {
            Ok(loaded) => loaded.run(&ready, asked),
            Err(error) => drop(ready.send(Err(error))),
        };
        thread::Builder::new()
            .name("embedding".to_owned())
            .spawn(run)
            .map_err(|error| bad(format!("no thread for it: {error}")))?;
        let dim = loaded.recv().map_err(|_| bad("llama.cpp ended".to_owned()))??;
        let model = Model { id: format!("{name}-{hash:032x}"), dim, jobs: Mutex::new(jobs) };
        // Refuse a model early if it cannot embed even one text.
        model.embed(&["a"]).map_err(|error| bad(error.to_string()))?;
        Ok(model)
    }
}

impl Loaded {
    fn load(options: &Options) -> Result<Loaded, Error> {
        let bad = |what: &str| Error::Model { path: options.model.clone(), what: what.to_owned() };
        let parameters = LlamaModelParams::default().with_n_gpu_layers(options.gpu_layers);
        let model = LlamaModel::load_from_file(backend()?, &options.model, &parameters)
            .map_err(|_| bad("llama.cpp cannot load it"))?;
        let dim = usize::try_from(model.n_embd_out()).unwrap_or(0);
        if dim == 0 {
            return Err(bad("it makes no vectors"));
        }
        Ok(Loaded {
            dim,
            tokens_max: model.n_ctx_train().clamp(1, TOKENS_MAX),
            model,
            workers: options.threads_batch.or(options.threads).unwrap_or_else(processors).max(1),
        })
    }

    /// Answers jobs until every sender is gone. This thread is the first worker and does the first
    /// texts alone, so that a question costs one context.
    fn run(&self, ready: &mpsc::Sender<Result<usize, Error>>, asked: mpsc::Receiver<Job>) {
        let mut context = match self.context() {
            Ok(context) => context,
            Err(error) => return drop(ready.send(Err(error))),
        };
        if ready.send(Ok(self.dim)).is_err() {
            return;
        }
        let asked = Mutex::new(asked);
        let next = || asked.lock().unwrap_or_else(PoisonError::into_inner).recv();
        for _ in 0..TEXTS_ALONE {
            let Ok(job) = next() else { return };
            self.answer(job, &mut context);
        }
        thread::scope(|scope| {
            for _ in 1..self.workers {
                scope.spawn(|| {
                    // Without a context of its own a worker leaves its share to the others.
                    let Ok(mut context) = self.context() else { return };
                    while let Ok(job) = next() {
                        self.answer(job, &mut context);
                    }
                });
            }
            while let Ok(job) = next() {
                self.answer(job, &mut context);
            }
        });
    }

    fn answer(&self, job: Job, context: &mut LlamaContext<'_>) {
        let made = self.embed_one(&job.text, context);
        // The caller may be gone.
        let _ = job.reply.send((job.number, made));
    }

    /// A llama.cpp context that processes the tokens of one text at once.
    fn context(&self) -> Result<LlamaContext<'_>, Error> {
        let parameters = LlamaContextParams::default()
            .with_embeddings(true)
            .with_n_ctx(NonZeroU32::new(self.tokens_max))
            .with_n_batch(self.tokens_max)
            .with_n_ubatch(self.tokens_max)
            .with_n_threads(1)
            .with_n_threads_batch(1);
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
        // Such a model encodes nothing in the length, so all texts weigh the same in a sum.
        Ok(Embedding::new(vector.unit()))
    }

    /// The tokens of a text, up to the model's maximum. Keeps the last one, which may mark the end.
    /// Text that looks like a special token stays text.
    fn tokens(&self, text: &str) -> Vec<LlamaToken> {
        let text = start_of(text);
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

/// The part of a text that is read.
fn start_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

impl Embedder for Model {
    fn id(&self) -> &str {
        &self.id
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        let ended = || Error::Run("llama.cpp ended".to_owned());
        let (reply, made) = mpsc::channel();
        {
            let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            for (number, text) in texts.iter().enumerate() {
                let job = Job { number, text: start_of(text).to_owned(), reply: reply.clone() };
                jobs.send(job).map_err(|_| ended())?;
            }
        }
        drop(reply);
        let mut vectors: Vec<Option<Embedding>> = vec![None; texts.len()];
        for (number, vector) in made {
            if let Some(place) = vectors.get_mut(number) {
                *place = Some(vector?);
            }
        }
        vectors.into_iter().map(|vector| vector.ok_or_else(ended)).collect()
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

/// llama.cpp, initialized once and with its logging disabled.
fn backend() -> Result<&'static LlamaBackend, Error> {
    static BACKEND: OnceLock<Option<LlamaBackend>> = OnceLock::new();
    let start = || {
        let mut backend = LlamaBackend::init().ok()?;
        backend.void_logs();
        Some(backend)
    };
    BACKEND.get_or_init(start).as_ref().ok_or_else(|| Error::Run("llama.cpp does not start".to_owned()))
}

/// The number of processors.
fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
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
