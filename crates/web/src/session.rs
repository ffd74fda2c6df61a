//! One session as the page reads it: a head, bodies of whole turns, the rests of long
//! outputs, and the ledger.
//!
//! Follow the data: [`family`] reads the session with its sub-agents, [`items`] makes
//! something readable of events, [`fold`] folds what went well, `head` sums up, `parts` cuts
//! the turns into chunks, and `spread` the head.

mod head;
mod parts;
mod ribbon;
mod spoken;
mod spread;
mod went;

use rayon::prelude::*;
use retro::engine::Config;
use retro::engine::trouble::{self, Trouble};
use retro::model::SessionKey;
use retro::store::Store;
use retro::usage::{Counted, Mode, Prices};
use retro::views::session::{family, moments, money, turns};
use retro::views::{Costs, SessionView};

use crate::Error;
use crate::chunk::{Chunk, session_name};
use crate::words::Turn as WordTurn;
pub use head::Summary;
pub use retro::views::session::pictures::Picture;
pub use went::ReadingRow;

/// What is left out of a page beside secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redact {
    /// Nothing.
    #[default]
    Secrets,
    /// Also everything that calls printed and changed.
    Strict,
}

/// What all sessions of a build are made from.
pub struct Ground<'a> {
    /// The store.
    pub store: &'a Store,
    /// What counts.
    pub counted: &'a Counted,
    /// The prices in force.
    pub prices: &'a Prices,
    /// Whose cost figures count.
    pub mode: Mode,
    /// What is left out beside secrets.
    pub redact: Redact,
    /// The configuration.
    pub config: &'a Config,
    /// What sessions cost, for signals that need it.
    pub costs: Option<&'a Costs>,
    /// The names of all signals, sorted.
    pub signals: &'a [String],
}

/// What was made of a session.
pub struct Made {
    /// Its chunks.
    pub chunks: Vec<Chunk>,
    /// What lists show of it.
    pub summary: Summary,
    /// The words of its turns.
    pub words: Vec<WordTurn>,
    /// Its pictures.
    pub pictures: Vec<Picture>,
    /// What is wrong with it and each of its sub-agents.
    pub looked: Vec<(SessionKey, Option<Trouble>)>,
    /// What every signal says of it; nothing without a digest.
    pub readings: Vec<ReadingRow>,
}

/// Makes the chunks of a session and its sub-agents.
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
    let digest = went::digest(ground, &key);
    let went = digest.as_ref().map(went::went);
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
    let readings = digest.map(|digest| went::readings(ground, &key, digest));
    if let Some(readings) = &readings {
        chunks.push(Chunk::of(format!("{name}.g"), &went::Readings::of(readings, ground.signals))?);
    }
    chunks.extend(cut.chunks);
    chunks.extend(cut.rests);
    let pictures = family.members.iter().flat_map(|member| member.pictures.1.clone()).collect();
    let looked = family.members.iter().map(|member| {
        (member.key.clone(), trouble::of_read(ground.store, &member.key, &member.gaps, &member.coverage))
    });
    let looked = looked.collect();
    Ok(Made { chunks, summary, words, pictures, looked, readings: readings.unwrap_or_default() })
}

/// What every signal says of a session; nothing without a digest.
pub fn readings_of(ground: &Ground<'_>, key: &SessionKey) -> Vec<ReadingRow> {
    went::digest(ground, key).map_or_else(Vec::new, |digest| went::readings(ground, key, digest))
}
