//! How long a query may read changes, and how they are stored afterwards.

use retro::engine::news::Patience;
use retro::engine::{Error, Progress};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::context::{Context, Failure};

/// How long to read what is new before answering.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Waiting {
    /// How long to read what is new: `all`, seconds as `2s`, or 0 [default: all on a terminal, else 2s]
    #[arg(long, value_name = "TIME")]
    patience: Option<String>,
}

/// Maximum reading time of a query when no person watches.
const PATIENCE: Duration = Duration::from_secs(2);

/// After this long, a message explains why the program is still running.
const SILENCE: Duration = Duration::from_millis(500);

impl Waiting {
    /// Unlimited for a person who sees the progress bar, brief otherwise.
    pub fn patience(&self, context: &Context) -> Result<Patience, Failure> {
        if context.global.no_sync {
            return Ok(Patience::None);
        }
        match self.patience.as_deref() {
            None if context.is_watched() => Ok(Patience::All),
            None => Ok(Patience::For(PATIENCE)),
            Some("all") => Ok(Patience::All),
            Some(text) => {
                let number = text.trim_end_matches('s');
                let seconds: f64 = number
                    .parse()
                    .ok()
                    .filter(|seconds| (0.0..=86_400.0).contains(seconds))
                    .ok_or_else(|| {
                    Failure::Message(format!("--patience takes `all` or seconds, as 2s, not {text:?}"))
                })?;
                if seconds == 0.0 {
                    Ok(Patience::None)
                } else {
                    Ok(Patience::For(Duration::from_secs_f64(seconds)))
                }
            }
        }
    }
}

/// Stores the sessions read for an answer, unless another process is writing. Prints a message if
/// that takes a while.
pub fn keeping<T>(context: &Context, keep: impl FnOnce(&(dyn Fn(Progress) + Sync)) -> Result<T, Error>) {
    let (started, said) = (Instant::now(), AtomicBool::new(false));
    let step = |_: Progress| {
        if started.elapsed() > SILENCE && !said.swap(true, Ordering::Relaxed) {
            context.say("Keeping what was read, so that the next answer is quicker. Ctrl-C is safe.");
        }
    };
    if let Err(error) = keep(&step) {
        context.say(&format!("note: what was read for this answer could not be kept: {error}"));
    }
}
