//! # What
//! How much of the session looks around, how much works on the result, and how even the two
//! are.
//! # Why
//! Too much looking around means that the agent lacks knowledge of the project; too little,
//! that it guesses.
//! # How
//! `trajectory_exploration_ratio` is the share of `explore`, `search`, `locate` and
//! `explain`; `trajectory_exploitation_ratio` that of `reproduce`, `generate_fix`,
//! `run_tests` and `refactor`; `trajectory_balance_score` is 1 minus their difference.
//! # Limits
//! Null (`no_steps`) for a session without calls. A question that only needs reading is all
//! exploration, and rightly so.

use super::Looked;
use crate::Reading;
use crate::trajectory::Category;

pub(crate) const DOC: &str = include_str!("trajectory_balance.rs");

fn share(looked: &Looked<'_>, wanted: fn(Category) -> bool) -> Option<f64> {
    let count = looked.steps.iter().filter(|step| wanted(step.category)).count();
    (!looked.steps.is_empty()).then(|| count as f64 / looked.steps.len() as f64)
}

pub(crate) fn exploration_ratio(looked: &Looked<'_>) -> Reading {
    share(looked, Category::explores).map_or(Reading::none("no_steps"), Reading::ratio)
}

pub(crate) fn exploitation_ratio(looked: &Looked<'_>) -> Reading {
    share(looked, Category::exploits).map_or(Reading::none("no_steps"), Reading::ratio)
}

pub(crate) fn balance_score(looked: &Looked<'_>) -> Reading {
    match share(looked, Category::explores).zip(share(looked, Category::exploits)) {
        Some((explore, exploit)) => Reading::ratio(1.0 - (explore - exploit).abs()),
        None => Reading::none("no_steps"),
    }
}
