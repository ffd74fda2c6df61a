//! Typical values: figures over all sessions of real work, for signs that compare with them.

use hashbrown::HashMap;

use crate::sign::SessionSigns;

/// The least number of sessions for a comparison.
const SESSIONS_MIN: usize = 10;
/// The number of short check sessions with the same prompt that prove that a program sends it.
const CHECKS_MIN: usize = 3;

/// Medians of sessions that can be compared.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usual {
    tokens: u64,
    minutes: u64,
    /// Calls before the first change of a file.
    pub calls_to_edit: u64,
}

impl Usual {
    fn of<'a>(sessions: impl Iterator<Item = &'a SessionSigns> + Clone) -> Usual {
        let median = |value: fn(&SessionSigns) -> Option<u64>| {
            let mut values: Vec<u64> = sessions.clone().filter_map(value).collect();
            values.sort_unstable();
            at(&values, 50)
        };
        Usual {
            tokens: median(|session| Some(session.tokens)),
            minutes: median(|session| Some(session.minutes)),
            calls_to_edit: median(|session| session.calls_to_edit),
        }
    }
}

/// Figures over all sessions.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    tokens_p90: u64,
    /// Real sessions by agent.
    agents: Vec<(String, usize)>,
    /// Tokens of all of them, sorted.
    tokens: Vec<u64>,
    /// What is usual in all sessions, and in those of each agent that has enough.
    usual: Usual,
    by_agent: HashMap<String, Usual>,
    checks: HashMap<String, usize>,
}

impl Corpus {
    /// Calculates the figures of these sessions.
    pub fn of(sessions: &[SessionSigns]) -> Corpus {
        let real = || sessions.iter().filter(|session| session.real && session.parent.is_none());
        let mut tokens: Vec<u64> = real().map(|session| session.tokens).collect();
        tokens.sort_unstable();
        let mut agents: HashMap<&str, usize> = HashMap::new();
        real().for_each(|session| *agents.entry(&session.agent).or_default() += 1);
        let mut agents: Vec<(String, usize)> =
            agents.into_iter().map(|(agent, count)| (agent.to_owned(), count)).collect();
        agents.sort();
        let many = agents.iter().filter(|(_, count)| *count >= SESSIONS_MIN);
        let by_agent = many.map(|(agent, _)| {
            (agent.clone(), Usual::of(real().filter(move |session| session.agent == *agent)))
        });
        let by_agent = by_agent.collect();
        let mut checks = HashMap::new();
        for check in real().filter_map(|session| session.check.clone()) {
            *checks.entry(check).or_default() += 1;
        }
        Corpus { tokens_p90: at(&tokens, 90), usual: Usual::of(real()), by_agent, agents, tokens, checks }
    }

    /// True if this many tokens are far above the typical value.
    pub(crate) fn is_overrun(&self, tokens: u64) -> bool {
        self.tokens.len() >= SESSIONS_MIN
            && tokens >= self.tokens_p90
            && tokens >= self.usual.tokens.saturating_mul(3)
            && tokens > 0
    }

    /// True if this many calls before the first change are above the typical value.
    pub(crate) fn is_slow_start(&self, calls: u64) -> bool {
        self.tokens.len() >= SESSIONS_MIN && calls >= self.usual.calls_to_edit.saturating_mul(2)
    }

    /// True if a program starts this session again and again, such as a health check.
    pub(crate) fn is_check(&self, session: &SessionSigns) -> bool {
        session.check.as_ref().is_some_and(|check| self.checks.get(check).copied().unwrap_or(0) >= CHECKS_MIN)
    }

    /// What is usual in sessions that can be compared with those of this agent: its own where
    /// there are enough, else all.
    pub(crate) fn usual(&self, agent: &str) -> Usual {
        self.by_agent.get(agent).copied().unwrap_or(self.usual)
    }

    /// What a session used beyond what is usual: tokens, minutes.
    pub(crate) fn excess(&self, session: &SessionSigns) -> (u64, u64) {
        let usual = self.usual(&session.agent);
        (session.tokens.saturating_sub(usual.tokens), session.minutes.saturating_sub(usual.minutes))
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
