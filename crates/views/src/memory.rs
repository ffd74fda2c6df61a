//! Memories: listing them, finding those that fit a question, handing them to an agent, and
//! checking past suggestions.

mod library;
mod listed;
mod replay;
mod review;
mod rules;
mod verdict;
mod weave;

use retro_engine::{Config, World, memory, repository};
use retro_memory::{
    Ask, Catalog, Here, Kind, Level, Memories, Memory, Ranked, Repository, Scope, Status, Voice, WEIGHTS,
    rank,
};
use retro_model::Timestamp;
use retro_store::Store;
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

pub use library::Kept;
pub use listed::{Happened, Journals, Life, MemoryCounts, MemoryFilter, MemoryList, MemoryShow, list};
pub use replay::{ReplayView, Told, episode, replay};
pub use review::{ReviewGroup, waiting, waiting_count};
pub use rules::{RulesView, rules};
pub use verdict::{Decided, Verdict, decide};
pub use weave::{WeaveEvent, WeaveQuestion, WeaveView, weave};

use crate::Error;
use crate::ids::{is_short_for, short_parts};

/// One memory, as listed.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct MemoryView {
    pub id: String,
    pub kind: Kind,
    pub scope: Scope,
    pub status: Status,
    /// Where it may appear before a person decides: `review`, `asked`, `unasked`.
    pub level: Level,
    pub text: String,
    pub when_to_use: String,
    pub do_not_use_when: Option<String>,
    pub origin_repo: Option<String>,
    pub evidence_refs: Vec<String>,
    /// How well it fits. Only in results of a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// True if it is only the nearest match. Only in results of a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weak: Option<bool>,
    /// Why it fits. Only in results of a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// A file that changed since. Null if none did.
    pub stale: Option<String>,
    pub superseded_by: Option<String>,
    pub method: String,
    pub origin: Voice,
    pub confidence: f64,
    pub created_at: Option<Timestamp>,
    pub seen: u32,
    pub worked: u32,
    pub shown: u32,
    pub helpful: u32,
    pub harmful: u32,
    pub q_value: f64,
    pub review_reasons: Vec<String>,
}

/// The result of `retro memory retrieve`.
#[derive(Debug, Clone, Serialize)]
pub struct RetrieveView {
    /// `retro.memory.retrieve/1`.
    pub schema: &'static str,
    /// Memories that fit, best first.
    pub memories: Vec<MemoryView>,
    /// Why there are no memories.
    pub abstained: Option<Abstained>,
}

/// Why a query shows no memories.
#[derive(Debug, Clone, Serialize)]
pub struct Abstained {
    /// The reason, in a few words.
    pub reason: String,
}

/// A query for memories.
#[derive(Debug, Clone, Default)]
pub struct MemoryQuestion {
    /// The words to look for.
    pub query: String,
    /// The folder it is asked from.
    pub cwd: Option<String>,
    /// At most this many.
    pub limit: usize,
    /// Only memories with this status.
    pub status: Option<Status>,
    /// Only memories that a person accepted.
    pub accepted_only: bool,
    /// Set if no person asked: show only good matches that may be shown unasked.
    pub unasked: bool,
}

impl MemoryQuestion {
    fn ask(&self, now: Timestamp) -> Ask<'_> {
        Ask {
            query: &self.query,
            here: here(self.cwd.as_deref()),
            now,
            of_the_past: false,
            limit: self.limit,
            status: self.status,
            accepted_only: self.accepted_only,
            unasked: self.unasked,
            weights: &WEIGHTS,
        }
    }
}

/// A folder and its repository.
fn here(cwd: Option<&str>) -> Here {
    let Some(cwd) = cwd else { return Here::default() };
    let Repository { root, remote, .. } = repository::around(Path::new(cwd));
    let resolved = repository::resolved(Path::new(cwd)).map(|path| path.to_string_lossy().into_owned());
    Here { cwd: Some(cwd.to_owned()), resolved, root, remote }
}

/// A memory that fits, with its score and the reason.
pub struct Fitting {
    /// The memory itself.
    pub memory: Memory,
    /// The score; higher fits better.
    pub score: f64,
    /// The reason, in a few words.
    pub why: String,
    /// True if it is only the nearest match.
    pub weak: bool,
}

/// Memories that fit a query: from the index, or from the files if the index has none.
pub fn fitting(
    world: &World,
    config: &Config,
    store: &Store,
    question: &MemoryQuestion,
) -> Result<(Vec<Fitting>, Option<&'static str>), Error> {
    let ask = question.ask(world.now());
    if let Some(index) = store.index_if_there()?
        && let Some(kept) = Kept::open(store, &index)?
    {
        let ranked = rank(&kept, &ask)?;
        let mut found = Vec::new();
        for fit in &ranked.fits {
            if let Some(memory) = kept.memory(fit.number)? {
                found.push(Fitting { memory, score: fit.score, why: fit.why.clone(), weak: fit.weak });
            }
        }
        return Ok((found, ranked.abstained));
    }
    let folded = memory::fold(store, None, config, world.now())?;
    let catalog = Catalog::of(&folded.shelf);
    let Ok(Ranked { fits, abstained }) = rank(&Memories { shelf: &folded.shelf, catalog: &catalog }, &ask);
    let of = |fit: &retro_memory::Fit| {
        let memory = folded.shelf.items().get(fit.number)?.clone();
        Some(Fitting { memory, score: fit.score, why: fit.why.clone(), weak: fit.weak })
    };
    Ok((fits.iter().filter_map(of).collect(), abstained))
}

/// Answers a query for memories.
pub fn retrieve(
    world: &World,
    config: &Config,
    store: &Store,
    question: &MemoryQuestion,
) -> Result<RetrieveView, Error> {
    let (found, abstained) = fitting(world, config, store, question)?;
    let memories = found
        .into_iter()
        .map(|fit| {
            let mut view = view(&fit.memory);
            view.score = Some((fit.score * 10_000.0).round() / 10_000.0);
            view.weak = Some(fit.weak);
            view.why = Some(fit.why);
            view
        })
        .collect();
    let abstained = abstained.map(|reason| Abstained { reason: reason.to_owned() });
    Ok(RetrieveView { schema: "retro.memory.retrieve/1", memories, abstained })
}

/// Every memory in the store.
pub fn all(world: &World, config: &Config, store: &Store) -> Result<Vec<Memory>, Error> {
    if let Some(index) = store.index_if_there()?
        && let Some(kept) = Kept::open(store, &index)?
    {
        return kept.memories();
    }
    Ok(memory::fold(store, None, config, world.now())?.shelf.items().to_vec())
}

/// Short ids for these memories. [`find`] resolves them.
pub fn short_ids(all: &[Memory]) -> HashMap<&str, String> {
    short_parts(all.iter().map(|memory| memory.id.as_str()))
}

/// A memory by its id, a unique prefix, or its short id.
pub fn find(world: &World, config: &Config, store: &Store, id: &str) -> Result<Memory, Error> {
    let all = all(world, config, store)?;
    if let Some(memory) = all.iter().find(|memory| memory.id == id) {
        return Ok(memory.clone());
    }
    let merged = |memory: &&Memory| memory.origins.iter().any(|origin| origin.candidate == id);
    if let Some(memory) = all.iter().find(merged) {
        return Ok(memory.clone());
    }
    let is_like = |memory: &&Memory| memory.id.starts_with(id) || is_short_for(id, &memory.id);
    let mut like = all.iter().filter(|memory| !id.is_empty() && is_like(memory));
    match (like.next(), like.next()) {
        (Some(memory), None) => Ok(memory.clone()),
        (Some(_), Some(_)) => Err(Error::ManyMemories(id.to_owned())),
        _ => Err(Error::NoMemory(id.to_owned())),
    }
}

/// Describes files that the memory names and that changed or vanished since it was made.
pub fn stale(memory: &Memory) -> Option<String> {
    let created = memory.created_at?;
    let root = memory.repository.root.as_ref().or(memory.origin_repo.as_ref())?;
    let root = Path::new(root);
    if !root.is_dir() {
        return None;
    }
    memory.files.iter().find_map(|file| {
        let path = root.join(file);
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        match std::fs::symlink_metadata(&path).and_then(|meta| meta.modified()) {
            Ok(modified) => {
                let modified = modified.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis();
                (i64::try_from(modified).ok()? > created.as_millis()).then(|| format!("{name} changed since"))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(format!("{name} is gone")),
            Err(_) => None,
        }
    })
}

/// A memory as listed.
pub fn view(memory: &Memory) -> MemoryView {
    MemoryView {
        id: memory.id.clone(),
        kind: memory.kind,
        scope: memory.scope,
        status: memory.status,
        level: memory.level(),
        text: memory.text.clone(),
        when_to_use: memory.when_to_use.clone(),
        do_not_use_when: memory.do_not_use_when.clone(),
        origin_repo: memory.origin_repo.clone(),
        evidence_refs: memory.evidence_refs.clone(),
        score: None,
        weak: None,
        why: None,
        stale: stale(memory),
        superseded_by: memory.superseded_by.clone(),
        method: memory.method.clone(),
        origin: memory.origin,
        confidence: memory.confidence,
        created_at: memory.created_at,
        seen: memory.seen,
        worked: memory.worked,
        shown: memory.utility.shown,
        helpful: memory.utility.successes,
        harmful: memory.utility.failures,
        q_value: (memory.utility.q_value * 10_000.0).round() / 10_000.0,
        review_reasons: memory.review_reasons.clone(),
    }
}

/// Counts of memories, and problems with them.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs)]
pub struct MemoryDoctor {
    /// `retro.memory.doctor/1`.
    pub schema: &'static str,
    #[serde(flatten)]
    pub counts: MemoryCounts,
    /// Links to memories that do not exist, as pairs of from and to.
    pub dangling_links: Vec<(String, String)>,
    /// Memories whose sessions are no longer in the store.
    pub evidence_gone: Vec<String>,
    /// Memories whose files changed since, each with the file.
    pub stale: Vec<(String, String)>,
    /// Memories that were shown often and never helped. `retro memory retire ID` hides one.
    pub useless: Vec<String>,
    /// Lines and files that cannot be read.
    pub unreadable: Vec<String>,
    /// Decisions about memories that do not exist.
    pub unknown_ids: Vec<String>,
    /// True if the index agrees with the files.
    pub index_is_current: bool,
}

/// Examines all memories.
pub fn doctor(world: &World, config: &Config, store: &Store) -> Result<MemoryDoctor, Error> {
    let folded = memory::fold(store, None, config, world.now())?;
    let items = folded.shelf.items();
    let mut gone = Vec::new();
    for memory in items.iter().filter(|memory| !memory.origins.is_empty()) {
        let is_there = memory.origins.iter().any(|origin| {
            let key = retro_model::SessionKey::new(&*origin.agent, &*origin.session_id);
            store.session(&key).is_ok_and(|file| file.is_some_and(|file| file.evicted_at.is_none()))
        });
        if !is_there {
            gone.push(memory.id.clone());
        }
    }
    let dangling = items.iter().flat_map(|memory| {
        let links = retro_memory::authored::links(&format!("{}\n{}", memory.text, memory.when_to_use));
        let missing = links.into_iter().filter(|link| folded.shelf.get(link).is_none());
        missing.map(|link| (memory.id.clone(), link)).collect::<Vec<_>>()
    });
    let kept = match store.index_if_there()? {
        Some(index) => Kept::open(store, &index)?.map(|kept| kept.memories()).transpose()?,
        None => None,
    };
    Ok(MemoryDoctor {
        schema: "retro.memory.doctor/1",
        counts: MemoryCounts::of(items),
        dangling_links: dangling.collect(),
        evidence_gone: gone,
        stale: items.iter().filter_map(|memory| Some((memory.id.clone(), stale(memory)?))).collect(),
        useless: items
            .iter()
            .filter(|memory| memory.utility.is_useless() && memory.status != Status::Retired)
            .map(|memory| memory.id.clone())
            .collect(),
        unreadable: folded
            .bad
            .iter()
            .map(|bad| format!("{}, line {}: {}", bad.path.display(), bad.line, bad.what))
            .collect(),
        unknown_ids: folded.unknown,
        index_is_current: kept.is_some_and(|kept| is_same(&kept, items)) || items.is_empty(),
    })
}

/// True if two lists agree, apart from show counts, which are added later.
fn is_same(kept: &[Memory], items: &[Memory]) -> bool {
    let without_use =
        |memory: &Memory| Memory { utility: retro_memory::Utility::default(), ..memory.clone() };
    kept.len() == items.len() && kept.iter().zip(items).all(|(a, b)| without_use(a) == without_use(b))
}
