//! The sessions of a build, and their trees.

use retro::model::SessionKey;
use retro::usage::Cells;
use retro::views::SessionView;
use std::collections::{HashMap, HashSet};

use super::{memory, overview, patterns};
use crate::Error;
use crate::chunk::session_name;

/// The sessions of a build.
pub struct Plan<'a> {
    pub sessions: &'a [SessionView],
    /// Each session with its chunk name.
    pub named: Vec<(String, SessionKey, &'a SessionView)>,
    /// The root session of each tree.
    pub roots: HashMap<SessionKey, SessionKey>,
    /// The other sessions of each tree.
    pub kids: HashMap<SessionKey, Vec<SessionKey>>,
    pub cells: Cells,
    /// Responses and cost of each tree.
    money: HashMap<SessionKey, (u64, i64)>,
    /// Identifiers of the digests.
    pub digests: HashMap<SessionKey, String>,
}

impl<'a> Plan<'a> {
    pub fn new(
        sessions: &'a [SessionView],
        roots: HashMap<SessionKey, SessionKey>,
        cells: Cells,
    ) -> Plan<'a> {
        let key = |view: &SessionView| SessionKey::new(view.agent.clone(), view.session_id.clone());
        let named = sessions.iter().map(|view| (session_name(&key(view)), key(view), view)).collect();
        let mut kids: HashMap<SessionKey, Vec<SessionKey>> = HashMap::new();
        for (kid, root) in roots.iter().filter(|(kid, root)| kid != root) {
            kids.entry(root.clone()).or_default().push(kid.clone());
        }
        kids.values_mut().for_each(|list| list.sort());
        let money = overview::money_of_trees(&cells, &roots);
        Plan { sessions, named, roots, kids, cells, money, digests: HashMap::new() }
    }

    pub fn digest(&self, key: &SessionKey) -> &str {
        self.digests.get(key).map_or("", String::as_str)
    }

    /// The memories to show. If the page omits sessions, only those from sessions it includes.
    pub fn shelf(&self, told: &overview::Told<'_>) -> Result<memory::Shelf, Error> {
        let overview::Told { world, config, options, ground, .. } = *told;
        let is_whole = options.since.is_none() && options.project.is_none();
        let present: HashSet<&SessionKey> = self.named.iter().map(|(_, key, _)| key).collect();
        let is_wanted = |memory: &retro::memory::Memory| {
            let mut keys = memory.origins.iter().map(|one| SessionKey::new(&*one.agent, &*one.session_id));
            is_whole || keys.any(|key| present.contains(self.roots.get(&key).unwrap_or(&key)))
        };
        memory::shelf((world, config), ground.store, options.redact, &is_wanted)
    }

    /// What recurs: of a page that leaves out sessions, only what these show.
    pub fn recurs(&self, told: &overview::Told<'_>) -> Result<patterns::Recurs, Error> {
        let overview::Told { world, config, options, ground, .. } = *told;
        let is_whole = options.since.is_none() && options.project.is_none();
        let present: HashSet<&SessionKey> = self.named.iter().map(|(_, key, _)| key).collect();
        let is_wanted = |pattern: &retro::patterns::Pattern| {
            let mut sessions = pattern.provenance.sessions.iter();
            is_whole || sessions.any(|one| present.contains(&SessionKey::new(&*one.agent, &*one.session_id)))
        };
        patterns::recurs((world, config), ground.store, options, &is_wanted)
    }

    pub fn money(&self, key: &SessionKey) -> (u64, i64) {
        self.money.get(key).copied().unwrap_or_default()
    }
}
