//! Typical values: figures over all sessions of real work, for signs that compare with them.

use hashbrown::HashMap;

use crate::sign::SessionSigns;

/// The least number of sessions for a comparison.
const SESSIONS_MIN: usize = 10;
/// The number of short check sessions with the same prompt that prove that a program sends it.
const CHECKS_MIN: usize = 3;

/// Figures over all sessions.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    tokens_p90: u64,
    tokens_median: u64,
    calls_median: u64,
    /// Numbers of real sessions by agent.
    agents: Vec<(String, usize)>,
    /// Tokens of all sessions, sorted.
    tokens: Vec<u64>,
    minutes: Vec<u64>,
    checks: HashMap<String, usize>,
}

impl Corpus {
    /// Calculates the figures of these sessions.
    pub fn of(sessions: &[SessionSigns]) -> Corpus {
        let real = || sessions.iter().filter(|session| session.real && session.parent.is_none());
        let sorted = |value: fn(&SessionSigns) -> u64| {
            let mut values: Vec<u64> = real().map(value).collect();
            values.sort_unstable();
            values
        };
        let tokens = sorted(|session| session.tokens);
        let mut calls: Vec<u64> = real().filter_map(|session| session.calls_to_edit).collect();
        calls.sort_unstable();
        let mut agents: HashMap<&str, usize> = HashMap::new();
        real().for_each(|session| *agents.entry(&session.agent).or_default() += 1);
        let mut agents: Vec<(String, usize)> =
            agents.into_iter().map(|(agent, count)| (agent.to_owned(), count)).collect();
        agents.sort();
        let mut checks = HashMap::new();
        for check in real().filter_map(|session| session.check.clone()) {
            *checks.entry(check).or_default() += 1;
        }
        Corpus {
            tokens_p90: at(&tokens, 90),
            tokens_median: at(&tokens, 50),
            calls_median: at(&calls, 50),
            agents,
            minutes: sorted(|session| session.minutes),
            tokens,
            checks,
        }
    }

    /// True if this many tokens are far above the typical value.
    pub(crate) fn is_overrun(&self, tokens: u64) -> bool {
        self.tokens.len() >= SESSIONS_MIN
            && tokens >= self.tokens_p90
            && tokens >= self.tokens_median.saturating_mul(3)
            && tokens > 0
    }

    /// True if this many calls before the first change are above the typical value.
    pub(crate) fn is_slow_start(&self, calls: u64) -> bool {
        self.tokens.len() >= SESSIONS_MIN && calls >= self.calls_median.saturating_mul(2)
    }

    /// True if a program starts this session again and again, such as a health check.
    pub(crate) fn is_check(&self, session: &SessionSigns) -> bool {
        session.check.as_ref().is_some_and(|check| self.checks.get(check).copied().unwrap_or(0) >= CHECKS_MIN)
    }

    /// The use of a session above the median: tokens, minutes.
    pub(crate) fn excess(&self, session: &SessionSigns) -> (u64, u64) {
        let minutes = at(&self.minutes, 50);
        (session.tokens.saturating_sub(self.tokens_median), session.minutes.saturating_sub(minutes))
    }

    /// True if at least two agents have this many real sessions.
    pub fn has_two_agents(&self, sessions_min: usize) -> bool {
        self.agents.iter().filter(|(_, count)| *count >= sessions_min).count() >= 2
    }

    /// A corpus that only has the numbers of sessions by agent.
    pub fn of_agents(agents: Vec<(String, usize)>) -> Corpus {
        Corpus { agents, ..Corpus::default() }
    }

    /// The agents with their numbers of real sessions.
    pub fn agents(&self) -> &[(String, usize)] {
        &self.agents
    }
}

/// A percentile of a sorted list, by nearest rank.
fn at(sorted: &[u64], hundredths: usize) -> u64 {
    let rank = (sorted.len() * hundredths).div_ceil(100).max(1) - 1;
    sorted.get(rank).copied().unwrap_or(0)
}
