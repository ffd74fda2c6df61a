//! What is usual: figures over all sessions that were real work, for signs that compare with them.

use hashbrown::HashMap;

use crate::sign::SessionSigns;

/// Sessions to compare with, at least.
const SESSIONS_MIN: usize = 10;
/// Sessions of a short check with the same prompt that show that a program asks it.
const CHECKS_MIN: usize = 3;

/// Figures over all sessions.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    tokens_p90: u64,
    tokens_median: u64,
    calls_median: u64,
    /// Real sessions by agent.
    agents: Vec<(String, usize)>,
    /// Tokens and minutes of all of them, sorted.
    tokens: Vec<u64>,
    minutes: Vec<u64>,
    checks: HashMap<String, usize>,
}

impl Corpus {
    /// The figures of these sessions.
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

    /// Whether a session with so many tokens is far beyond what is usual.
    pub(crate) fn is_overrun(&self, tokens: u64) -> bool {
        self.tokens.len() >= SESSIONS_MIN
            && tokens >= self.tokens_p90
            && tokens >= self.tokens_median.saturating_mul(3)
            && tokens > 0
    }

    /// Whether so many calls before the first change are beyond what is usual.
    pub(crate) fn is_slow_start(&self, calls: u64) -> bool {
        self.tokens.len() >= SESSIONS_MIN && calls >= self.calls_median.saturating_mul(2)
    }

    /// Whether a program asks for this session again and again, as for a health check.
    pub(crate) fn is_check(&self, session: &SessionSigns) -> bool {
        session.check.as_ref().is_some_and(|check| self.checks.get(check).copied().unwrap_or(0) >= CHECKS_MIN)
    }

    /// What a session used beyond the median of all: tokens, minutes.
    pub(crate) fn excess(&self, session: &SessionSigns) -> (u64, u64) {
        let minutes = at(&self.minutes, 50);
        (session.tokens.saturating_sub(self.tokens_median), session.minutes.saturating_sub(minutes))
    }

    /// Whether two agents at least have this many real sessions.
    pub fn has_two_agents(&self, sessions_min: usize) -> bool {
        self.agents.iter().filter(|(_, count)| *count >= sessions_min).count() >= 2
    }

    /// What is known where only the sessions of each agent were kept.
    pub fn of_agents(agents: Vec<(String, usize)>) -> Corpus {
        Corpus { agents, ..Corpus::default() }
    }

    /// The agents with their real sessions.
    pub fn agents(&self) -> &[(String, usize)] {
        &self.agents
    }
}

/// The value at so many hundredths of a sorted list, by nearest rank.
fn at(sorted: &[u64], hundredths: usize) -> u64 {
    let rank = (sorted.len() * hundredths).div_ceil(100).max(1) - 1;
    sorted.get(rank).copied().unwrap_or(0)
}
