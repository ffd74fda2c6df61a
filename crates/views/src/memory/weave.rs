//! Hands memories to an agent: those that fit and that its session has not seen, as one block
//! within a budget. Records the ones it shows.

use retro_agents::integration::ID_BYTES_MAX;
use retro_engine::memory::EXPOSURES;
use retro_engine::{Config, World};
use retro_memory::weave::{Shown, Woven, one_line, woven};
use retro_memory::{Exposure, Kind, Memory, Status};
use retro_store::Store;
use serde::Serialize;

use super::{Abstained, Fitting, MemoryQuestion, MemoryView, fitting, stale, view};
use crate::Error;

/// Memories shown at once: at a prompt, and at the start of a session.
const SHOWN_MAX: usize = 5;
const SHOWN_AT_START_MAX: usize = 11;
/// Token budget at the start of a session.
const START_TOKENS_MAX: usize = 300;
const DAY_MS: i64 = 86_400_000;

/// The moment at which memories are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WeaveEvent {
    /// A session starts: the rules of its repository that a person accepted.
    SessionStart,
    /// A prompt: memories that fit it.
    #[default]
    Prompt,
    /// A call failed: one line about an earlier repair.
    ToolFailed,
    /// A call is about to touch a file: one line about it.
    Tool,
}

impl WeaveEvent {
    fn takes(self, memory: &Memory) -> bool {
        let is_rule = matches!(memory.kind, Kind::UserPreference | Kind::RepoConvention);
        match self {
            WeaveEvent::SessionStart => is_rule && memory.status == Status::Accepted,
            WeaveEvent::Prompt => true,
            WeaveEvent::ToolFailed => !is_rule,
            WeaveEvent::Tool => memory.kind != Kind::FailureTrigger,
        }
    }

    fn is_line(self) -> bool {
        matches!(self, WeaveEvent::Tool | WeaveEvent::ToolFailed)
    }
}

/// An agent's situation, for which memories are chosen.
#[derive(Debug, Clone, Default)]
pub struct WeaveQuestion {
    /// The kind of moment.
    pub event: WeaveEvent,
    /// The prompt, the error, or the target of a call. If empty, selects the most useful memories
    /// of the folder.
    pub prompt: String,
    /// The folder that the agent works in.
    pub cwd: Option<String>,
    /// The session that sees the block. It never sees a memory twice.
    pub session_id: Option<String>,
    /// Token budget of the block.
    pub budget_tokens: usize,
    /// Record the memories that were shown.
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
    /// Why there is no block.
    pub abstained: Option<Abstained>,
    /// True if the shown memories were recorded.
    #[serde(skip)]
    pub is_recorded: bool,
}

/// Memories that fit, as a block. Never waits: if another program is writing, it records nothing,
/// and the result says so.
pub fn weave(
    world: &World,
    config: &Config,
    store: &Store,
    question: &WeaveQuestion,
) -> Result<WeaveView, Error> {
    let is_start = question.event == WeaveEvent::SessionStart;
    let ask = MemoryQuestion {
        query: question.prompt.clone(),
        cwd: question.cwd.clone(),
        limit: if is_start { SHOWN_AT_START_MAX } else { SHOWN_MAX },
        status: None,
        accepted_only: is_start,
        unasked: true,
    };
    let (mut fits, mut abstained) = fitting(world, config, store, &ask)?;
    fits.retain(|fit| question.event.takes(&fit.memory));
    abstained = abstained.or(fits.is_empty().then_some("nothing fits well enough"));
    if let Some(session) = question.session_id.as_deref().filter(|_| !fits.is_empty()) {
        let before = shown_to(store, session)?;
        fits.retain(|fit| !before.contains(&fit.memory.id));
        let nothing = fits.is_empty().then_some("everything that fits was shown to this session before");
        abstained = abstained.or(nothing);
    }
    let budget = if is_start { question.budget_tokens.min(START_TOKENS_MAX) } else { question.budget_tokens };
    let woven = match question.event.is_line() {
        true => fits
            .iter()
            .find_map(|fit| Some(Woven { text: one_line(&fit.memory)?, ids: vec![fit.memory.id.clone()] })),
        false => block(&fits, budget, world.now().as_millis()),
    };
    let is_recorded = match &woven {
        Some(woven) if question.record => record(world, store, question, &woven.ids)?,
        _ => false,
    };
    let is_in = |fit: &&Fitting| woven.as_ref().is_some_and(|woven| woven.ids.contains(&fit.memory.id));
    let shown = |fit: &Fitting| MemoryView {
        score: Some(fit.score),
        weak: Some(fit.weak),
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

/// Memories already shown to a session.
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
            age_days: fit
                .memory
                .created_at
                .map(|created| (now_ms.saturating_sub(created.as_millis())).max(0) / DAY_MS),
        })
        .collect();
    woven(&shown, budget_tokens)
}

fn record(world: &World, store: &Store, question: &WeaveQuestion, ids: &[String]) -> Result<bool, Error> {
    let lock = match store.try_lock() {
        Ok(Some(lock)) => lock,
        Ok(None) => return Ok(false),
        // The block is shown all the same. The result says that it was not recorded.
        Err(error) if error.is_unwritable() => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let exposure = Exposure {
        shown_at: Some(world.now()),
        session_id: question.session_id.clone().filter(|id| id.len() <= ID_BYTES_MAX),
        cwd: question.cwd.clone(),
        memory_ids: ids.to_vec(),
    };
    EXPOSURES.append(&lock, store, &[exposure])?;
    Ok(true)
}
