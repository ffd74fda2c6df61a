//! The dashboard: data for the page, the folder that opens from disk, the loopback server.
//!
//! Follow the data: [`build`] asks the store for changes, `session` builds the chunks of one
//! session, `rows` those over all sessions, `words` the index for searching from disk, and `folder`
//! writes the files that changed. `serve`, a feature, serves the same chunks.
//!
//! The page itself is in `page/`: TypeScript and Svelte, built into `assets/`. It computes sums and
//! draws. Prices, markdown, terminal colours, diffs and secrets are handled here, so the page has
//! no code that parses a transcript.
//!
//! **Invariants.** A chunk is a function of the store, the configuration and the version.
//! An unchanged chunk is not written again. No text of a transcript becomes markup, a
//! file name or an address.

mod assets;
mod build;
mod chunk;
mod error;
mod folder;
mod rows;
#[cfg(feature = "serve")]
mod serve;
mod session;
mod single;
mod words;

pub use build::{Build, Built, Options, build};
pub use error::Error;
#[cfg(feature = "serve")]
pub use serve::{ServeOptions, opener, serve};
pub use session::Redact;
pub use single::{Single, single};
