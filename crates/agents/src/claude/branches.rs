//! Rewinds: the user went back and sent a different prompt.
//!
//! The log is a tree. /rewind and an edited prompt leave the abandoned branch in the file and
//! attach the new prompt to an older record. A prompt whose parent is not the preceding line may
//! also be an ordinary one: parallel results and attachments may be attached beside the path. A
//! rewind is a prompt whose parent already has a child that leads to a model's answer.

use hashbrown::{HashMap, HashSet};
use retro_model::{Kind, Origin, Part as Piece, Thread};
use xxhash_rust::xxh3::xxh3_64;

use super::rule::Rule;
use super::threads::StartedBy;
use crate::{Draft, Hint};

/// One record of the main chain.
struct Node {
    above: Option<usize>,
    /// Its newest child.
    newest: Option<usize>,
    /// Its next older sibling.
    older: Option<usize>,
    /// True if a descendant is an answer of the model.
    answered: bool,
    /// True if its parent already had an answer and is not the preceding record.
    turned: bool,
    rewinds: bool,
}

#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    /// Nodes by the hash of their id.
    by_uuid: HashMap<u64, usize>,
}

/// Adds a `rewind` before each prompt that rewinds, and marks the events that it abandoned.
pub(super) fn find_rewinds(drafts: &mut Vec<Draft>, started_by: &StartedBy) {
    let mut tree = Tree::default();
    let mut rewound = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        let Some(node) = tree.grow(draft) else { continue };
        if matches!(draft.event.kind, Kind::Assistant | Kind::Reasoning | Kind::ToolCall) {
            tree.answer(node);
        }
        if !draft.hint.fold_only
            && matches!(draft.hint.rule(), Some(Rule::Prompt(_)))
            && tree.nodes[node].turned
        {
            tree.nodes[node].rewinds = true;
            rewound.push(at);
        }
    }
    if rewound.is_empty() {
        return;
    }
    let dead = tree.abandoned();
    let is_dead =
        |uuid: Option<&str>| uuid.and_then(|uuid| tree.node(uuid)).is_some_and(|node| dead.contains(&node));
    // A sub-agent's work is abandoned with the call that started it, at any depth.
    let mut dead_threads: HashSet<&Thread> = HashSet::new();
    loop {
        let before = dead_threads.len();
        let died = started_by.iter().filter(|(_, call)| match call.thread.is_main() {
            true => is_dead(call.uuid.as_deref()),
            false => dead_threads.contains(&call.thread),
        });
        let died: Vec<&Thread> = died.map(|(thread, _)| thread).collect();
        dead_threads.extend(died);
        if dead_threads.len() == before {
            break;
        }
    }
    for draft in drafts.iter_mut() {
        let event = &mut draft.event;
        event.live = match event.thread.is_main() {
            true => !is_dead(event.native.uuid.as_deref()),
            false => !dead_threads.contains(&event.thread),
        };
    }
    for at in rewound.into_iter().rev() {
        let event = rewind(&drafts[at]);
        drafts.insert(at, event);
    }
}

/// The rewind event for a prompt.
fn rewind(prompt: &Draft) -> Draft {
    let mut event = prompt.event.clone();
    event.id = event.id.address().event(Piece::Tag("rewind"));
    event.kind = Kind::Rewind;
    event.origin = Origin::User;
    event.text = None;
    event.truncated = false;
    event.data = None;
    event.live = true;
    let hint = Hint { row: "rewind", hangs_on: prompt.hint.hangs_on.clone(), ..Hint::default() };
    Draft { event, hint }
}

impl Tree {
    /// The node of a draft's record, if the record is in the main chain. The first draft of a
    /// record adds it.
    fn grow(&mut self, draft: &Draft) -> Option<usize> {
        let event = &draft.event;
        if !event.thread.is_main() || !event.id.source.is_main() {
            return None;
        }
        let uuid = event.native.uuid.as_deref()?;
        if let Some(node) = self.node(uuid) {
            return Some(node);
        }
        let node = self.nodes.len();
        let above = draft.hint.hangs_on.as_deref().and_then(|above| self.node(above));
        // A boundary is the child of the records that it summarizes, and abandons nothing.
        let is_boundary = draft.hint.row == "system/compact_boundary";
        let turned = above.is_some_and(|above| {
            above + 1 != node && self.children(above).any(|child| self.nodes[child].answered)
        });
        let older = above.filter(|_| !is_boundary).and_then(|above| self.nodes[above].newest.replace(node));
        self.nodes.push(Node { above, newest: None, older, answered: false, turned, rewinds: false });
        self.by_uuid.insert(xxh3_64(uuid.as_bytes()), node);
        Some(node)
    }

    fn node(&self, uuid: &str) -> Option<usize> {
        self.by_uuid.get(&xxh3_64(uuid.as_bytes())).copied()
    }

    /// The children of a node, newest first.
    fn children(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.nodes[node].newest, |child| self.nodes[*child].older)
    }

    fn answer(&mut self, node: usize) {
        let mut at = Some(node);
        while let Some(node) = at.filter(|node| !self.nodes[*node].answered) {
            self.nodes[node].answered = true;
            at = self.nodes[node].above;
        }
    }

    /// The abandoned nodes: at each fork, all branches but the one on which the conversation ended,
    /// or else but the newest.
    fn abandoned(&self) -> HashSet<usize> {
        let mut path = HashSet::new();
        let mut at = self.nodes.len().checked_sub(1);
        while let Some(node) = at.filter(|node| !path.contains(node)) {
            path.insert(node);
            at = self.nodes[node].above;
        }
        let mut dead = HashSet::new();
        for fork in 0..self.nodes.len() {
            let is_branch = |child: &usize| self.nodes[*child].answered || self.nodes[*child].rewinds;
            let branches: Vec<usize> = self.children(fork).filter(is_branch).collect();
            if !branches.iter().any(|branch| self.nodes[*branch].rewinds) {
                continue;
            }
            let goes_on = branches.iter().find(|branch| path.contains(*branch)).or(branches.first()).copied();
            dead.extend(branches.into_iter().filter(|branch| Some(*branch) != goes_on));
        }
        // A record comes after its parent, so one pass reaches all descendants.
        for (node, above) in self.nodes.iter().map(|node| node.above).enumerate() {
            if above.is_some_and(|above| dead.contains(&above)) {
                dead.insert(node);
            }
        }
        dead
    }
}
