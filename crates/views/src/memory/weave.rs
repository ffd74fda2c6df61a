//! Memories handed to an agent: what fits and was not shown to its session before, as one block
//! within a budget. What is shown is written down.

use retro_engine::memory::EXPOSURES;
use retro_engine::{Config, World};
use retro_memory::Exposure;
use retro_memory::weave::{Shown, Woven, woven};
use retro_store::Store;
use serde::Serialize;

use super::{Abstained, Fitting, MemoryQuestion, MemoryView, fitting, stale, view};
use crate::Error;

/// Memories that are shown at once.
const SHOWN_MAX: usize = 5;
const DAY_MS: i64 = 86_400_000;

/// What an agent is about to do.
#[derive(Debug, Clone, Default)]
pub struct WeaveQuestion {
    /// The prompt; empty: what is most useful in the folder.
    pub prompt: String,
    /// The folder that the agent works in.
    pub cwd: Option<String>,
    /// The session that it is shown to; nothing is shown twice to one.
    pub session_id: Option<String>,
    /// Tokens at most.
    pub budget_tokens: usize,
    /// Write down what was shown.
    pub record: bool,
}

/// Memories as a block for an agent.
#[derive(Debug, Clone, Serialize)]
pub struct WeaveView {
    /// `retro.memory.weave/1`.
    pub schema: &'static str,
    /// The block, if anything fits.
    pub block: Option<String>,
    /// The memories in it.
    pub memories: Vec<MemoryView>,
    /// Why there is none.
    pub abstained: Option<Abstained>,
    /// Whether it was written down, where that was asked for.
    #[serde(skip)]
    pub is_recorded: bool,
}

/// Memories that fit, as a block. Never waits: if another program is writing, what is
/// shown is not written down, and the answer says so.
pub fn weave(
    world: &World,
    config: &Config,
    store: &Store,
    question: &WeaveQuestion,
) -> Result<WeaveView, Error> {
    let ask = MemoryQuestion {
        query: question.prompt.clone(),
        cwd: question.cwd.clone(),
        limit: SHOWN_MAX,
        status: None,
        accepted_only: false,
        unasked: true,
    };
    let (mut fits, mut abstained) = fitting(world, config, store, &ask)?;
    if let Some(session) = question.session_id.as_deref().filter(|_| !fits.is_empty()) {
        let before = shown_to(store, session)?;
        fits.retain(|fit| !before.contains(&fit.memory.id));
        let nothing = fits.is_empty().then_some("everything that fits was shown to this session before");
        abstained = abstained.or(nothing);
    }
    let woven = block(&fits, question.budget_tokens, world.now().as_millis());
    let is_recorded = match &woven {
        Some(woven) if question.record => record(world, store, question, &woven.ids)?,
        _ => false,
    };
    let is_in = |fit: &&Fitting| woven.as_ref().is_some_and(|woven| woven.ids.contains(&fit.memory.id));
    let shown = |fit: &Fitting| MemoryView {
        score: Some(fit.score),
        why: Some(fit.why.clone()),
        ..view(&fit.memory)
    };
    let reason = abstained.unwrap_or("nothing fits into the budget");
    Ok(WeaveView {
        schema: "retro.memory.weave/1",
        memories: fits.iter().filter(is_in).map(shown).collect(),
        abstained: woven.is_none().then(|| Abstained { reason: reason.to_owned() }),
        block: woven.map(|woven| woven.text),
        is_recorded,
    })
}

/// The memories that were shown to a session.
fn shown_to(store: &Store, session: &str) -> Result<Vec<String>, Error> {
    let (shown, _) = EXPOSURES.read(store)?;
    let is_of_session = |exposure: &Exposure| exposure.session_id.as_deref() == Some(session);
    Ok(shown.into_iter().filter(is_of_session).flat_map(|exposure| exposure.memory_ids).collect())
}

fn block(fits: &[Fitting], budget_tokens: usize, now_ms: i64) -> Option<Woven> {
    let shown: Vec<Shown<'_>> = fits
        .iter()
        .map(|fit| Shown {
            memory: &fit.memory,
            score: fit.score,
            why: fit.why.clone(),
            stale: stale(&fit.memory),
            age_days: fit.memory.created_at.map(|created| (now_ms - created.as_millis()) / DAY_MS),
        })
        .collect();
    woven(&shown, budget_tokens)
}

fn record(world: &World, store: &Store, question: &WeaveQuestion, ids: &[String]) -> Result<bool, Error> {
    let Some(lock) = store.try_lock()? else { return Ok(false) };
    let exposure = Exposure {
        shown_at: Some(world.now()),
        session_id: question.session_id.clone(),
        cwd: question.cwd.clone(),
        memory_ids: ids.to_vec(),
    };
    EXPOSURES.append(&lock, store, &[exposure])?;
    Ok(true)
}
