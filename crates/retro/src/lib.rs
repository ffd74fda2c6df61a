//! retro keeps the session logs of coding agents and answers questions about them.
//!
//! This is the library behind the `retro` program: everything the program can do,
//! without a command line. Start with [`Retro`].
//!
//! ```
//! # fn main() -> Result<(), retro::Error> {
//! # let home = std::env::temp_dir().join(format!("retro-doc-{}", std::process::id()));
//! # let logs = home.join("logs");
//! # std::fs::create_dir_all(&logs).unwrap();
//! # let line = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","isSidechain":false,"timestamp":"2026-03-01T10:00:00.000Z","cwd":"/home/dev/shop","version":"2.1.0","message":{"role":"user","content":"Fix the tax test"}}"#;
//! # std::fs::write(logs.join("s1.jsonl"), format!("{line}\n")).unwrap();
//! // A store anywhere, and a folder with logs in it.
//! let retro = retro::Retro::open_or_create(home.join("store"))?;
//! let update = retro.update_dir(&logs)?;
//! assert_eq!((update.processed, update.skipped), (1, 0));
//!
//! for key in retro.sessions()? {
//!     let events = retro.events(&key)?;
//!     for turn in retro::model::turns(&events) {
//!         println!("{key} turn {}: {} events", turn.number, turn.events.len());
//!     }
//! }
//! # std::fs::remove_dir_all(&home).unwrap();
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

pub use retro_agents as agents;
pub use retro_engine as engine;
pub use retro_insight as insight;
pub use retro_memory as memory;
pub use retro_model as model;
pub use retro_patterns as patterns;
pub use retro_search as search;
pub use retro_store as store;
pub use retro_text as text;
pub use retro_usage as usage;
pub use retro_views as views;

use retro_engine::{Config, SyncOptions, World};
use retro_model::{Event, SessionKey};
use retro_store::{RealDisk, Store};
use std::path::Path;
use std::sync::Arc;

/// An error of this library.
pub type Error = retro_views::Error;

/// The result of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Update {
    /// Sessions with something new.
    pub processed: u64,
    /// Sessions without changes.
    pub skipped: u64,
}

/// An open store.
pub struct Retro {
    store: Store,
    config: Config,
    world: World,
}

impl Retro {
    /// Opens the store at `root`, or makes one there.
    pub fn open_or_create(root: impl AsRef<Path>) -> Result<Retro, Error> {
        let root = root.as_ref();
        let store = Store::open_or_create(root, Arc::new(RealDisk))?;
        Ok(Retro { store, config: Config::for_root(root), world: World::at(root) })
    }

    /// Captures every session in a file or folder, even if it was read before.
    pub fn process_dir(&self, path: impl AsRef<Path>) -> Result<Update, Error> {
        self.take(path.as_ref(), true)
    }

    /// Captures new and changed sessions in a file or folder.
    pub fn update_dir(&self, path: impl AsRef<Path>) -> Result<Update, Error> {
        self.take(path.as_ref(), false)
    }

    fn take(&self, path: &Path, force: bool) -> Result<Update, Error> {
        let options = SyncOptions { from: Some(path.to_owned()), force, ..SyncOptions::default() };
        let report = engine::sync::sync_store(&self.world, &self.config, &options, &self.store, &|_| {})?;
        let processed = if force { report.discovered } else { report.ingested + report.appended };
        Ok(Update { processed, skipped: report.discovered - processed })
    }

    /// Every session in the store, sorted.
    pub fn sessions(&self) -> Result<Vec<SessionKey>, Error> {
        Ok(self.store.session_keys()?)
    }

    /// The settled events of a session; [`model::turns`] groups them.
    pub fn events(&self, session: &SessionKey) -> Result<Vec<Event>, Error> {
        views::events(&self.store, session)
    }

    /// Finds past turns by words and by meaning. [`views::SearchQuestion`] has every filter;
    /// `SearchQuestion::new("words")` looks everywhere.
    ///
    /// ```
    /// # fn main() -> Result<(), retro::Error> {
    /// # let home = std::env::temp_dir().join(format!("retro-doc-search-{}", std::process::id()));
    /// # let logs = home.join("logs");
    /// # std::fs::create_dir_all(&logs).unwrap();
    /// # let line = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","isSidechain":false,"timestamp":"2026-03-01T10:00:00.000Z","cwd":"/home/dev/shop","version":"2.1.0","message":{"role":"user","content":"Fix the tax test"}}"#;
    /// # std::fs::write(logs.join("s1.jsonl"), format!("{line}\n")).unwrap();
    /// use retro::views::SearchQuestion;
    ///
    /// let retro = retro::Retro::open_or_create(home.join("store"))?;
    /// retro.update_dir(&logs)?;
    /// let mut question = SearchQuestion::new("tax tests");
    /// question.project = Some("shop".to_owned());
    /// let found = retro.search(&question)?;
    /// assert_eq!(found.hits[0].session_id, "s1");
    /// assert_eq!(found.hits[0].snippet, "Fix the tax test");
    /// # std::fs::remove_dir_all(&home).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    pub fn search(&self, question: &views::SearchQuestion) -> Result<views::SearchView, Error> {
        self.searching()?.search(&self.world, &self.config, question)
    }

    /// Summarizes a session in one row: its prompts, models, folder and counts. `None` if there is
    /// no such session. A search returns the same for its sessions, with
    /// [`with_sessions`](views::SearchQuestion::with_sessions).
    ///
    /// ```
    /// # fn main() -> Result<(), retro::Error> {
    /// # let home = std::env::temp_dir().join(format!("retro-doc-conversation-{}", std::process::id()));
    /// # let logs = home.join("logs");
    /// # std::fs::create_dir_all(&logs).unwrap();
    /// # let line = r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","isSidechain":false,"timestamp":"2026-03-01T10:00:00.000Z","cwd":"/home/dev/shop","version":"2.1.0","message":{"role":"user","content":"Why does the tax test fail?"}}"#;
    /// # std::fs::write(logs.join("s1.jsonl"), format!("{line}\n")).unwrap();
    /// let retro = retro::Retro::open_or_create(home.join("store"))?;
    /// retro.update_dir(&logs)?;
    /// for key in retro.sessions()? {
    ///     let row = retro.conversation(&key)?.unwrap();
    ///     assert_eq!(row.preview.as_deref(), Some("Why does the tax test fail?"));
    ///     assert_eq!((row.turns, row.prompts, row.cwd.as_deref()), (1, 1, Some("/home/dev/shop")));
    /// }
    /// # std::fs::remove_dir_all(&home).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    pub fn conversation(&self, session: &SessionKey) -> Result<Option<views::ConversationView>, Error> {
        self.searching()?.conversation(session)
    }

    /// Finds the passages most similar to a vector of the current embedding model: their sessions,
    /// turns and cosines, best first. Filters of the question apply, but not its text.
    pub fn search_vector(
        &self,
        vector: &[f32],
        question: &views::SearchQuestion,
    ) -> Result<Vec<views::Near>, Error> {
        self.searching()?.nearest(&self.config, vector, question)
    }

    fn searching(&self) -> Result<views::Searching, Error> {
        views::open_search(&self.world, &self.config, engine::news::Patience::None, &|_| {})
    }

    /// The store, for functions that this type lacks.
    pub fn store(&self) -> &Store {
        &self.store
    }
}
