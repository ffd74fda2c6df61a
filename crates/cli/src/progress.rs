//! A progress bar for work that lasts.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use retro::engine::Progress;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::context::Context;

/// Work shorter than this needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Draws the progress of a sync on stderr, if a person is watching and it lasts.
pub struct Bar {
    wanted: bool,
    started: Instant,
    bar: Mutex<Option<ProgressBar>>,
}

impl Bar {
    pub fn new(context: &Context) -> Bar {
        Bar { wanted: context.is_watched(), started: Instant::now(), bar: Mutex::new(None) }
    }

    pub fn step(&self, progress: Progress) {
        if !self.wanted || progress.total == 0 || self.started.elapsed() < PATIENCE {
            return;
        }
        let Ok(mut slot) = self.bar.lock() else { return };
        let bar = slot.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(
                "{msg:12} {wide_bar} {pos}/{len} sessions, {prefix}, {eta} left",
            );
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        bar.set_message(progress.stage);
        bar.set_prefix(crate::format::bytes(progress.bytes));
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    }

    /// Takes the bar away.
    pub fn done(&self) {
        if let Ok(mut slot) = self.bar.lock()
            && let Some(bar) = slot.take()
        {
            bar.finish_and_clear();
        }
    }
}
