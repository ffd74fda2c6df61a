//! Everything about one session: its row, its files, its coverage.

mod markdown;

use retro_agents::{Settled, by_name};
use retro_engine::platform::project_name;
use retro_engine::{Config, read};
use retro_model::{Coverage, Event, Gap, Kind, SessionKey, TitleRank};
use retro_store::{Slot, Store};
use retro_usage::Prices;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

use crate::family::children;
use crate::history::{History, history};
use crate::ids::short_ids;
use crate::judged::judge;
use crate::list::{duration_ms, on_one_line};
use crate::transcript::{Entry, Turns, transcript, turn_figures};
use crate::{Error, SessionView};

pub use markdown::{gap_line, markdown};

/// The result of `retro show`.
#[derive(Debug, Clone, Serialize)]
pub struct ShowView {
    /// `retro.show/1`.
    pub schema: &'static str,
    /// The session's row.
    pub session: SessionView,
    /// Program versions that wrote it.
    pub versions: BTreeSet<String>,
    /// Models that answered.
    pub models: BTreeSet<String>,
    /// Its files in the store.
    pub artifacts: Artifacts,
    /// Events by kind.
    pub event_counts: BTreeMap<Kind, u64>,
    /// The mapping of its records to events.
    pub coverage: Coverage,
    /// Parts that could not be read.
    pub gaps: Vec<Gap>,
    /// The session that holds the earlier history, for a fork that copied none of it.
    pub history_of: Option<String>,
    /// Turns copied from another session, by the event that opens each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub copied_turns: BTreeMap<String, String>,
}

/// The result together with the transcript, for `--json`.
#[derive(Debug, Clone, Serialize)]
pub struct ReadView<'a> {
    /// The session's description.
    #[serde(flatten)]
    pub view: &'a ShowView,
    /// The entries of the transcript.
    pub entries: Vec<Entry>,
    /// Events in the middle of a very large session that `entries` omits.
    pub left_out: u64,
}

/// A session opened for reading: its description, its events, and its history.
pub struct Shown {
    /// The session's description.
    pub view: ShowView,
    /// Its settled events. If there are very many, only the first and the last.
    pub settled: Settled,
    /// The number of events left out between those.
    pub left_out: u64,
    /// The history, if another session has it.
    pub history: Option<History>,
    /// Events of sub-agents with sessions of their own, on separate threads.
    pub children: Vec<Event>,
    /// Figures of each turn.
    pub turns: Turns,
}

impl Shown {
    /// The transcript, history first.
    pub fn transcript(&self) -> Vec<Entry> {
        let cwd = self.view.session.cwd.as_deref();
        let mut entries = Vec::new();
        if let Some(history) = &self.history {
            let session = history.session.to_string();
            let entries_before = transcript(&history.events, cwd, &Turns::new());
            entries.push(Entry::History { session, entries: entries_before });
        }
        let copied = copied_until(&self.settled.events, &self.view.copied_turns);
        let (before, own) = self.settled.events.split_at(copied);
        if let Some(session) = self.view.copied_turns.values().next().filter(|_| copied > 0) {
            let entries_before = transcript(before, cwd, &Turns::new());
            entries.push(Entry::History { session: session.clone(), entries: entries_before });
        }
        let events: Vec<Event> = own.iter().chain(&self.children).cloned().collect();
        entries.extend(transcript(&events, cwd, &self.turns));
        entries
    }

    /// The full result for programs.
    pub fn read(&self) -> ReadView<'_> {
        ReadView { view: &self.view, entries: self.transcript(), left_out: self.left_out }
    }
}

/// The files of a session.
#[derive(Debug, Clone, Serialize)]
pub struct Artifacts {
    /// Its session file.
    pub session_file: String,
    /// Its raw files.
    pub raw: Vec<String>,
    /// Where its sources were found.
    pub places: Vec<String>,
    /// Its cached events, if any.
    pub normalized: Option<String>,
    /// Its markdown, if it was rendered.
    pub rendered: Option<String>,
}

/// Describes a session, with its settled events.
pub fn show(config: &Config, store: &Store, key: &SessionKey) -> Result<Shown, Error> {
    show_priced(config, store, key, None)
}

/// Like [`show`], with the cost of each turn at these prices.
pub fn show_priced(
    config: &Config,
    store: &Store,
    key: &SessionKey,
    prices: Option<&Prices>,
) -> Result<Shown, Error> {
    let agent =
        by_name(&key.agent).ok_or_else(|| Error::NoAgent { name: key.agent.clone(), hint: String::new() })?;
    let file = store
        .session(key)?
        .ok_or_else(|| Error::NoSession { agent: key.agent.clone(), id: key.id.clone() })?;
    let read::Legible { mut settled, event_counts, left_out } = read::legible(store, agent, key)?;
    let counted = judge(key, &mut settled.events);
    let (history, missing) = history(store, key, &settled)?;
    settled.gaps.extend(missing);
    let facts = &settled.facts;
    let cwd = facts.cwd.as_ref().map(|(_, cwd)| cwd.to_string());
    let project = cwd.as_deref().and_then(project_name);
    let slots = store.raw_slots(key)?;
    let all = store.session_keys()?;
    let short = short_ids(all.iter().map(|key| key.id.as_str())).remove(key.id.as_str());
    let short = short.unwrap_or_else(|| key.id.clone());
    let can_resume = file
        .sources
        .iter()
        .any(|(source, entry)| source.is_main() && entry.places.iter().any(|path| exists(path)));
    let place = |path: std::path::PathBuf| path.display().to_string();
    let view = ShowView {
        schema: "retro.show/1",
        session: SessionView {
            agent: key.agent.clone(),
            session_id: key.id.clone(),
            short_id: short,
            turns: None,
            duration_ms: duration_ms(facts.started_at, facts.ended_at),
            cost_usd: None,
            cost_complete: false,
            figures: None,
            difference: None,
            outcome: store
                .object::<retro_insight::Digest>(&retro_store::DIGESTS, key)?
                .map(|digest| digest.outcome.value.as_str().to_owned()),
            title: facts.own_title().map(|title| on_one_line(&title.text)),
            domain: project.as_deref().and_then(|name| config.domain(name)).map(str::to_owned),
            project,
            branch: facts.branch.as_ref().map(|(_, branch)| branch.to_string()),
            started_at: facts.started_at,
            ended_at: facts.ended_at,
            bytes: settled.coverage.bytes,
            captured: true,
            up_to_date: true,
            evicted: false,
            forgotten: false,
            on_disk: file.sources.values().flat_map(|entry| &entry.places).any(|path| exists(path)),
            parent_session_id: facts.parent().map(str::to_owned),
            is_below: false,
            resume: if can_resume { agent.resume(&key.id, cwd.as_deref()) } else { None },
            cwd,
        },
        versions: facts.versions.clone(),
        models: facts.models.clone(),
        artifacts: Artifacts {
            session_file: place(store.session_path(key)),
            raw: slots.iter().map(|slot: &Slot| place(store.slot_path(slot))).collect(),
            places: file.sources.values().flat_map(|entry| entry.places.iter().cloned()).collect(),
            normalized: Some(store.normalized_path(key)).filter(|path| path.exists()).map(place),
            rendered: Some(store.rendered_path(key)).filter(|path| path.exists()).map(place),
        },
        event_counts,
        coverage: settled.coverage,
        gaps: settled.gaps.clone(),
        history_of: history.as_ref().map(|history| history.session.to_string()),
        copied_turns: copies(store, key)?,
    };
    let children = children(store, key, &settled.events)?;
    let own = settled.events.get(copied_until(&settled.events, &view.copied_turns)..).unwrap_or_default();
    let turns = turn_figures(key, own, &counted, prices);
    let mut view = view;
    sum_up(&mut view.session, &turns, prices.is_some() && left_out == 0);
    if let Some(title) = better_title(store, key, facts.own_title().map(|title| title.rank))? {
        view.session.title = Some(on_one_line(&title));
    }
    Ok(Shown { view, settled, left_out, history, children, turns })
}

/// The turns that another session had first.
fn copies(store: &Store, key: &SessionKey) -> Result<BTreeMap<String, String>, Error> {
    let copies = match store.index_if_there()? {
        Some(index) => index.copies_of(key)?,
        None => BTreeMap::new(),
    };
    Ok(copies.into_iter().map(|(event, session)| (event, session.to_string())).collect())
}

/// A title from another file, if it is better than the session's own.
fn better_title(store: &Store, key: &SessionKey, own: Option<TitleRank>) -> Result<Option<String>, Error> {
    if own.is_some_and(|rank| rank <= TitleRank::Elsewhere) {
        return Ok(None);
    }
    match store.index_if_there()? {
        Some(index) => Ok(index.title_elsewhere(key)?),
        None => Ok(None),
    }
}

/// The position of the first event outside the copied turns. A copied history comes first.
fn copied_until(events: &[Event], copies: &BTreeMap<String, String>) -> usize {
    if copies.is_empty() {
        return 0;
    }
    let opens = |event: &&Event| copies.contains_key(&event.id.to_string());
    let copied: BTreeSet<u32> =
        events.iter().filter(|event| event.thread.is_main()).filter(opens).map(|event| event.turn).collect();
    let Some(last) = copied.iter().next_back() else { return 0 };
    // The copied history ends at the session's first own turn.
    let first_own = (1..=*last).find(|turn| !copied.contains(turn)).unwrap_or(last + 1);
    let is_own = |event: &Event| event.thread.is_main() && event.turn >= first_own;
    events.iter().position(is_own).unwrap_or(events.len())
}

/// Sums the figures of a session over its turns, if all turns are held.
fn sum_up(session: &mut SessionView, turns: &Turns, is_priced: bool) {
    let numbers = turns.keys().filter(|(thread, turn)| thread.is_main() && *turn > 0).count();
    session.turns = Some(numbers as u64);
    if is_priced {
        let known: Vec<f64> = turns.values().filter_map(|turn| turn.cost_usd).collect();
        session.cost_usd = (!known.is_empty()).then(|| known.iter().sum());
        let has_answers = |turn: &&crate::TurnFigures| !turn.models.is_empty();
        session.cost_complete = turns.values().filter(has_answers).all(|turn| turn.cost_complete);
    }
}

fn exists(path: &str) -> bool {
    std::path::Path::new(path).exists()
}
