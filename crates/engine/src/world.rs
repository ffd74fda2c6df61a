//! Everything in the outside world that the engine may use, passed in at the edge.

use retro_model::Timestamp;
use retro_store::{Disk, Lock, RealDisk, Store};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::Error;
use crate::platform::Platform;

/// Looks up an environment variable.
pub type Env = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Returns the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Called when another program keeps a store busy.
pub type Waits = Arc<dyn Fn(&Path) + Send + Sync>;

/// A shorter wait for another writer is not reported.
const PATIENCE: Duration = Duration::from_secs(1);

/// Home, environment, clock, disk and the stop flag.
#[derive(Clone)]
pub struct World {
    /// The home with the agents' folders.
    pub home: PathBuf,
    /// The agents' environment; empty when the user pointed at another home.
    pub env: Env,
    /// The user's own home, with our store and configuration.
    pub own_home: PathBuf,
    /// The environment with our own variables.
    pub own_env: Env,
    /// The clock for all timestamps.
    pub clock: Clock,
    /// Where stores are written.
    pub disk: Arc<dyn Disk>,
    /// The platform whose rules apply.
    pub platform: Platform,
    /// Set by Ctrl-C: leave as soon as no work is lost.
    pub stop: Arc<AtomicBool>,
    /// Called with the root of a store whose lock another program has held for a second.
    pub waits: Waits,
}

impl World {
    /// A world with this home, an empty environment and the system clock.
    pub fn at(home: impl Into<PathBuf>) -> World {
        let home = home.into();
        World {
            own_home: home.clone(),
            own_env: Arc::new(|_| None),
            home,
            env: Arc::new(|_| None),
            clock: Arc::new(|| jiff::Timestamp::now().into()),
            disk: Arc::new(RealDisk),
            platform: Platform::current(),
            stop: Arc::new(AtomicBool::new(false)),
            waits: Arc::new(|_| ()),
        }
    }

    /// The same world at a fixed instant.
    pub fn with_clock(mut self, now: Timestamp) -> World {
        self.clock = Arc::new(move || now);
        self
    }

    /// The same world with a different disk.
    pub fn with_disk(mut self, disk: Arc<dyn Disk>) -> World {
        self.disk = disk;
        self
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Waits for the lock of a store, and reports a long wait. `None` if the user requests a stop
    /// first.
    pub(crate) fn lock(&self, store: &Store) -> Result<Option<Lock>, Error> {
        let (since, is_said) = (Instant::now(), Cell::new(false));
        let stops = || {
            if since.elapsed() >= PATIENCE && !is_said.replace(true) {
                (self.waits)(store.root());
            }
            self.stopping()
        };
        Ok(store.lock(&stops)?)
    }

    /// Whether a stop was requested.
    pub fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
