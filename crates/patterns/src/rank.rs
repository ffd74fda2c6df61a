//! The order of candidates: one formula, with an explanation.
//!
//! Candidates of several agents come first. Then each session adds its cost:
//! `(1 + tokens / 50,000 + minutes / 10) × 0.5^(days since / 90)`, and the sum is the score.

use retro_model::Timestamp;

use crate::candidate::Candidate;

/// Tokens and minutes that weigh as much as the session itself.
const TOKENS: f64 = 50_000.0;
const MINUTES: f64 = 10.0;
/// Half-life of a session, in days.
const HALF_DAYS: f64 = 90.0;
const DAY_MS: f64 = 86_400_000.0;

/// A candidate with its score.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The ranked candidate.
    pub candidate: Candidate,
    /// The score that ranks it.
    pub score: f64,
    /// The parts of the score, for people.
    pub why: String,
}

/// Sorts candidates, the most important first.
pub fn rank(candidates: Vec<Candidate>, now: Timestamp) -> Vec<Scored> {
    let mut scored: Vec<Scored> = candidates.into_iter().map(|candidate| score(candidate, now)).collect();
    scored.sort_by(|a, b| {
        let cross = |scored: &Scored| scored.candidate.is_cross_agent();
        cross(b)
            .cmp(&cross(a))
            .then(b.score.total_cmp(&a.score))
            .then_with(|| a.candidate.key.cmp(&b.candidate.key))
    });
    scored
}

fn score(candidate: Candidate, now: Timestamp) -> Scored {
    let (mut score, mut fresh, mut tokens, mut minutes) = (0.0, 0.0, 0.0, 0.0);
    for member in &candidate.members {
        let age = member.at.map_or(0.0, |at| (now.as_millis() - at.as_millis()) as f64 / DAY_MS);
        let decay = 0.5_f64.powf(age.max(0.0) / HALF_DAYS);
        let (used, lasted) = (member.impact.tokens as f64, member.impact.seconds as f64 / 60.0);
        score += decay * (1.0 + used / TOKENS + lasted / MINUTES);
        fresh += decay;
        tokens += used;
        minutes += lasted;
    }
    let sessions = candidate.members.len();
    let agents = candidate.agents().len();
    let why = format!(
        "{sessions} sessions in {agents} {}, each 1 + {:.1} for {:.0} tokens + {:.1} for {:.1} minutes, times {:.2} for age",
        if agents == 1 { "agent" } else { "agents" },
        tokens / sessions as f64 / TOKENS,
        tokens / sessions as f64,
        minutes / sessions as f64 / MINUTES,
        minutes / sessions as f64,
        fresh / sessions as f64,
    );
    Scored { candidate, score: (score * 1000.0).round() / 1000.0, why }
}
