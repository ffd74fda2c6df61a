//! The chunks of one session: a head, bodies of whole turns, the rests of long outputs, and the
//! ledger.
//!
//! Follow the data: [`family`] reads the session with its sub-agents, [`items`] makes events
//! readable, [`fold`] folds successful calls, `head` sums up, `parts` splits the turns into chunks,
//! and `spread` the head.

mod ending;
mod head;
mod parts;
mod ribbon;
mod spoken;
mod spread;

use rayon::prelude::*;
use retro::engine::Config;
use retro::engine::damage::{self, Trouble};
use retro::model::SessionKey;
use retro::store::Store;
use retro::usage::{Counted, Mode, Prices};
use retro::views::session::{family, moments, money, turns};
use retro::views::{Costs, SessionView};

use crate::Error;
use crate::chunk::{Chunk, session_name};
use crate::words::Turn as WordTurn;
pub use ending::ReadingRow;
pub use head::Summary;
pub use retro::views::session::pictures::Picture;

/// The amount of redaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redact {
    /// Redact only secrets.
    #[default]
    Secrets,
    /// Also leave out all output and changes of calls.
    Strict,
}

/// Inputs shared by all sessions of a build.
pub struct Ground<'a> {
    /// The store to read.
    pub store: &'a Store,
    /// The responses that count.
    pub counted: &'a Counted,
    /// The prices in force.
    pub prices: &'a Prices,
    /// The cost figures to use: the log's or calculated ones.
    pub mode: Mode,
    /// The amount of redaction.
    pub redact: Redact,
    /// The user's configuration.
    pub config: &'a Config,
    /// The cost of sessions, for signals that need it.
    pub costs: Option<&'a Costs>,
    /// The names of all signals, sorted.
    pub signals: &'a [String],
}

/// The result for one session.
pub struct Made {
    /// The session's chunks.
    pub chunks: Vec<Chunk>,
    /// The summary that lists show.
    pub summary: Summary,
    /// The words of its turns.
    pub words: Vec<WordTurn>,
    /// The session's pictures.
    pub pictures: Vec<Picture>,
    /// Problems of the session and its sub-agents.
    pub looked: Vec<(SessionKey, Option<Trouble>)>,
    /// Signal readings. Empty without a digest.
    pub readings: Vec<ReadingRow>,
}

/// Builds the chunks of a session and its sub-agents.
pub fn session(ground: &Ground<'_>, view: &SessionView, children: &[SessionKey]) -> Result<Made, Error> {
    let key = SessionKey::new(view.agent.clone(), view.session_id.clone());
    let name = session_name(&key);
    let family = family::Family::read(ground.store, &key, children, ground.redact != Redact::Strict)?;
    let lines = family.lines();
    let places = money::Places { of: turns::places(&family, &lines), family: &family };
    let ledger = money::ledger(ground.counted, ground.prices, ground.mode, &places);
    let made = turns::turns(&family, &lines, view.cwd.as_deref(), ground.redact == Redact::Strict, &ledger);
    let words = made.turns.par_iter().map(|turn| spoken::of_turn(&turn.items, &turn.head)).collect();
    let cut = parts::cut(&name, made.turns, made.rests)?;
    let digest = ending::digest(ground, &key);
    let went = digest.as_ref().map(ending::went);
    let corrections = went.as_ref().map_or(&[][..], |went| went.corrections.as_slice());
    let moments =
        moments::moments(&family, &lines, &ledger, &moments::Corrected { corrections, places: &places.of });
    let head = head::head(head::Parts {
        view,
        family: &family,
        lines: &lines,
        ledger: &ledger,
        turns: cut.heads,
        callers: made.callers,
        spans: made.spans,
        files: made.files,
        moments,
        places: &places.of,
        parts: cut.chunks.len(),
        went,
    });
    let summary = head::summary(&head);
    let mut chunks = spread::chunks(&name, &head)?;
    chunks.push(Chunk::of(format!("{name}.m"), &ledger)?);
    let readings = digest.map(|digest| ending::readings(ground, &key, digest));
    if let Some(readings) = &readings {
        chunks.push(Chunk::of(format!("{name}.g"), &ending::Readings::of(readings, ground.signals))?);
    }
    chunks.extend(cut.chunks);
    chunks.extend(cut.rests);
    let pictures = family.members.iter().flat_map(|member| member.pictures.1.clone()).collect();
    let looked = family.members.iter().map(|member| {
        (member.key.clone(), damage::of_read(ground.store, &member.key, &member.gaps, &member.coverage))
    });
    let looked = looked.collect();
    Ok(Made { chunks, summary, words, pictures, looked, readings: readings.unwrap_or_default() })
}

/// Signal readings of a session. Empty without a digest.
pub fn readings_of(ground: &Ground<'_>, key: &SessionKey) -> Vec<ReadingRow> {
    ending::digest(ground, key).map_or_else(Vec::new, |digest| ending::readings(ground, key, digest))
}
