//! Memories that await a person's decision, in order of review.

use retro_engine::{Config, World};
use retro_memory::{Kind, Memory, Status};
use retro_store::Store;
use std::collections::HashMap;

use super::{Kept, all};
use crate::Error;

/// Memories that a person reviews together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReviewGroup {
    /// The repository's folder or remote. Empty if they apply everywhere.
    pub repository: String,
    /// The kind of these memories.
    pub kind: Kind,
}

impl ReviewGroup {
    /// The group that a memory belongs to.
    pub fn of(memory: &Memory) -> ReviewGroup {
        ReviewGroup { repository: memory.repository_name(), kind: memory.kind }
    }
}

/// Every memory that awaits a decision. Those that need one come first, newest first; then found
/// ones by repository and kind, the most often seen first.
pub fn waiting(world: &World, config: &Config, store: &Store) -> Result<Vec<Memory>, Error> {
    let mut waiting = all(world, config, store)?;
    waiting.retain(Memory::is_waiting);
    let mut most: HashMap<ReviewGroup, u32> = HashMap::new();
    for memory in &waiting {
        let seen = most.entry(ReviewGroup::of(memory)).or_default();
        *seen = (*seen).max(memory.seen);
    }
    let most_of = |memory: &Memory| most.get(&ReviewGroup::of(memory)).copied().unwrap_or(0);
    waiting.sort_by(|a, b| {
        let needs = |memory: &Memory| memory.status == Status::NeedsReview;
        let by_need = needs(b).cmp(&needs(a));
        if needs(a) && needs(b) {
            return b.updated_at.cmp(&a.updated_at).then_with(|| a.id.cmp(&b.id));
        }
        let by_group = most_of(b).cmp(&most_of(a)).then_with(|| {
            let name = |memory: &Memory| (memory.repository_name(), memory.kind.as_str());
            name(a).cmp(&name(b))
        });
        let by_worth = b.seen.cmp(&a.seen).then(b.confidence.total_cmp(&a.confidence));
        by_need
            .then(by_group)
            .then(by_worth)
            .then(b.created_at.cmp(&a.created_at))
            .then_with(|| a.id.cmp(&b.id))
    });
    Ok(waiting)
}

/// The number of waiting memories, from the index alone. `None` if it has no memories yet.
pub fn waiting_count(store: &Store) -> Result<Option<usize>, Error> {
    let Some(index) = store.index_if_there()? else { return Ok(None) };
    let Some(kept) = Kept::open(store, &index)? else { return Ok(None) };
    Ok(Some(kept.waiting()))
}
