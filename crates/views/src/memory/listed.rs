//! Lists, counts and single memories, and the history of each.

use retro_engine::memory::{DECISIONS, EXPOSURES};
use retro_engine::{Config, World};
use retro_memory::{Decision, Exposure, Here, Kind, Memory, Scope, Status};
use retro_model::Timestamp;
use retro_store::Store;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{MemoryView, all, here, stale, view};
use crate::Error;

/// The filter of `retro memory list`.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter {
    /// Only this status.
    pub status: Option<Status>,
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only memories that apply in this folder.
    pub cwd: Option<String>,
}

impl MemoryFilter {
    fn takes(&self, memory: &Memory, here: &Here) -> bool {
        let holds = |_: &String| memory.origin_repo.is_none() || memory.place().is_same(&here.place());
        self.status.is_none_or(|status| memory.status == status)
            && self.kind.is_none_or(|kind| memory.kind == kind)
            && self.scope.is_none_or(|scope| memory.scope == scope)
            && self.cwd.as_ref().is_none_or(holds)
    }
}

/// The memories that pass the filter, the last changed first.
pub fn list(
    world: &World,
    config: &Config,
    store: &Store,
    filter: &MemoryFilter,
) -> Result<Vec<Memory>, Error> {
    let mut memories = all(world, config, store)?;
    let here = here(filter.cwd.as_deref());
    memories.retain(|memory| filter.takes(memory, &here));
    memories.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.id.cmp(&b.id)));
    Ok(memories)
}

/// What `retro memory list --json` prints.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryList {
    /// `retro.memory.list/1`.
    pub schema: &'static str,
    /// The memories, last changed first.
    pub memories: Vec<MemoryView>,
}

impl MemoryList {
    /// Makes a list of these memories.
    pub fn of(memories: &[Memory]) -> MemoryList {
        MemoryList { schema: "retro.memory.list/1", memories: memories.iter().map(view).collect() }
    }
}

/// Memories in numbers, as `retro memory doctor` prints them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct MemoryCounts {
    pub memories: usize,
    pub by_status: BTreeMap<&'static str, usize>,
    pub by_scope: BTreeMap<&'static str, usize>,
    pub by_kind: BTreeMap<&'static str, usize>,
    pub life: Life,
}

/// How many memories reached each stage, from creation to retirement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Life {
    /// Memories that were mined or written.
    pub made: usize,
    /// Memories shown to an agent.
    pub shown: usize,
    /// How often memories were shown in total.
    pub shown_times: u64,
    /// Memories that helped after they were shown.
    pub helpful: usize,
    /// How often memories helped in total.
    pub helpful_times: u64,
    /// Memories that did harm after they were shown.
    pub harmful: usize,
    /// How often memories did harm in total.
    pub harmful_times: u64,
    /// Memories that a newer one replaced.
    pub superseded: usize,
    /// Memories that are retired.
    pub retired: usize,
}

impl MemoryCounts {
    /// Counts these memories.
    pub fn of(memories: &[Memory]) -> MemoryCounts {
        let mut counts = MemoryCounts { memories: memories.len(), ..MemoryCounts::default() };
        let life = &mut counts.life;
        life.made = memories.len();
        for memory in memories {
            *counts.by_status.entry(memory.status.as_str()).or_default() += 1;
            *counts.by_scope.entry(memory.scope.as_str()).or_default() += 1;
            *counts.by_kind.entry(memory.kind.as_str()).or_default() += 1;
            let used = &memory.utility;
            for (count, times, sum) in [
                (&mut life.shown, used.shown, &mut life.shown_times),
                (&mut life.helpful, used.successes, &mut life.helpful_times),
                (&mut life.harmful, used.failures, &mut life.harmful_times),
            ] {
                *count += usize::from(times > 0);
                *sum += u64::from(times);
            }
            life.superseded += usize::from(memory.superseded_by.is_some());
            life.retired += usize::from(memory.status == Status::Retired);
        }
        counts
    }
}

/// A memory with everything a person needs to decide: the output of `retro memory show --json`.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryShow {
    /// `retro.memory.show/1`.
    pub schema: &'static str,
    /// The memory itself.
    #[serde(flatten)]
    pub memory: Memory,
    /// A file that changed since. Null if none did.
    pub stale: Option<String>,
    /// The memories that it replaced.
    pub supersedes: Vec<String>,
    /// Its history, oldest first.
    pub history: Vec<Happened>,
}

/// One entry in the history of a memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Happened {
    /// When it happened, if known.
    pub at: Option<Timestamp>,
    /// `made`, `shown`, `helpful`, `harmful`, `accepted`, `rejected`, `retired`, `restored`,
    /// `quarantined`, `edited`.
    pub what: String,
    /// The session in which it happened.
    pub session_id: Option<String>,
    /// The reason, if one was given.
    pub reason: Option<String>,
    /// The log event that is the evidence: `agent/session#event`.
    pub event_id: Option<String>,
}

/// The journals of decisions and of shown memories, read once for many memories.
#[derive(Default)]
pub struct Journals {
    /// By memory, or by session if a decision concerns everything that the session taught.
    decisions: HashMap<String, Vec<Decision>>,
    exposures: HashMap<String, Vec<Exposure>>,
    /// The memories that each one replaced.
    older: HashMap<String, Vec<String>>,
}

/// The history of a memory keeps this many of its last showings.
const SHOWN_MAX: usize = 100;

impl Journals {
    /// Reads the journals. Skips unreadable lines; `retro memory doctor` lists them.
    pub fn read(store: &Store, memories: &[Memory]) -> Result<Journals, Error> {
        let mut journals = Journals::default();
        for decision in DECISIONS.read(store)?.0 {
            let session = || decision.session_id.clone().unwrap_or_default();
            let about = Some(decision.memory_id.clone()).filter(|id| !id.is_empty()).unwrap_or_else(session);
            journals.decisions.entry(about).or_default().push(decision);
        }
        for exposure in EXPOSURES.read(store)?.0 {
            for id in &exposure.memory_ids {
                journals.exposures.entry(id.clone()).or_default().push(exposure.clone());
            }
        }
        for memory in memories {
            if let Some(newer) = &memory.superseded_by {
                journals.older.entry(newer.clone()).or_default().push(memory.id.clone());
            }
        }
        Ok(journals)
    }

    /// A memory with its history.
    pub fn show(&self, memory: &Memory) -> MemoryShow {
        MemoryShow {
            schema: "retro.memory.show/1",
            stale: stale(memory),
            supersedes: self.older.get(&memory.id).cloned().unwrap_or_default(),
            history: self.history(memory),
            memory: memory.clone(),
        }
    }

    fn history(&self, memory: &Memory) -> Vec<Happened> {
        let candidates = memory.origins.iter().map(|origin| &origin.candidate);
        let ids: BTreeSet<&String> = candidates.chain([&memory.id]).collect();
        let sessions: BTreeSet<&String> = memory.origins.iter().map(|origin| &origin.session_id).collect();
        let mut history =
            vec![Happened { at: memory.created_at, what: "made".to_owned(), ..Happened::default() }];
        let shown: Vec<&Exposure> = ids.iter().filter_map(|id| self.exposures.get(*id)).flatten().collect();
        history.extend(shown.iter().skip(shown.len().saturating_sub(SHOWN_MAX)).map(|exposure| Happened {
            at: exposure.shown_at,
            what: "shown".to_owned(),
            session_id: exposure.session_id.clone(),
            ..Happened::default()
        }));
        let decided = ids.union(&sessions).filter_map(|name| self.decisions.get(*name)).flatten();
        history.extend(decided.filter_map(happened));
        history.sort_by_key(|one| one.at);
        history
    }
}

fn happened(decision: &Decision) -> Option<Happened> {
    let what = match decision.event.as_str() {
        "memory_rewarded" if decision.reward.unwrap_or(0.5) >= 0.5 => "helpful",
        "memory_rewarded" => "harmful",
        "memory_forgotten" => return None,
        other => other.strip_prefix("memory_").unwrap_or(other),
    };
    Some(Happened {
        at: decision.created_at,
        what: what.to_owned(),
        session_id: decision.session_id.clone(),
        reason: decision.reason.clone(),
        event_id: decision.event_id.clone(),
    })
}
