//! A progress bar for long work.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use retro::engine::Progress;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::context::Context;

/// Shorter work gets no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Redraw interval while nothing is reported.
const TICK: Duration = Duration::from_millis(120);

/// Draws the progress of a sync on stderr, if a person is watching and it takes long. Until the
/// first report it shows that retro searches for logs.
pub struct Bar {
    wanted: bool,
    started: Instant,
    shown: Arc<Mutex<Shown>>,
}

#[derive(Default)]
struct Shown {
    is_done: bool,
    bar: Option<ProgressBar>,
    /// True once the amount of work is known.
    is_measured: bool,
}

impl Bar {
    pub fn new(context: &Context) -> Bar {
        let bar = Bar { wanted: context.is_watched(), started: Instant::now(), shown: Arc::default() };
        if bar.wanted {
            let shown = Arc::clone(&bar.shown);
            std::thread::spawn(move || {
                std::thread::sleep(PATIENCE);
                if let Ok(mut shown) = shown.lock()
                    && !shown.is_done
                    && shown.bar.is_none()
                {
                    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
                    let style = ProgressStyle::with_template("{spinner} looking for logs, {elapsed}");
                    let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
                    bar.enable_steady_tick(TICK);
                    shown.bar = Some(bar);
                }
            });
        }
        bar
    }

    pub fn step(&self, progress: Progress) {
        if !self.wanted || progress.total == 0 || self.started.elapsed() < PATIENCE {
            return;
        }
        let Ok(mut shown) = self.shown.lock() else { return };
        if shown.is_done {
            return;
        }
        if !shown.is_measured {
            if let Some(spinner) = shown.bar.take() {
                spinner.finish_and_clear();
            }
            shown.is_measured = true;
        }
        let bytes = match progress.bytes {
            0 => String::new(),
            bytes => format!(", {}", crate::format::bytes(bytes)),
        };
        let counted = format!("{}{bytes}", progress.unit());
        let bar = shown.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(progress.total), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len} {prefix}{left}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("left", left);
            let bar = bar.with_style(style).with_position(progress.done);
            bar.with_message(progress.stage).with_prefix(counted.clone())
        });
        bar.set_message(progress.stage);
        bar.set_prefix(counted);
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    }

    /// Removes the bar.
    pub fn done(&self) {
        if let Ok(mut shown) = self.shown.lock() {
            shown.is_done = true;
            if let Some(bar) = shown.bar.take() {
                bar.finish_and_clear();
            }
        }
    }
}

/// The time left, once there is progress to estimate it from.
fn left(state: &ProgressState, to: &mut dyn std::fmt::Write) {
    if state.pos() > 0 {
        let _ = write!(to, ", {:#} left", HumanDuration(state.eta()));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.done();
    }
}
