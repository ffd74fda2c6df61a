//! # What
//! What the session cost, and what each of its commits cost.
//! # Why
//! Cost alone says little; cost for something that was kept says more.
//! # How
//! `cost_usd` is the list price of all responses of the session and its sub-agents.
//! `cost_per_commit` divides it by `git_commits_made_during`.
//! # Limits
//! Needs ledger and price table: computed when asked for, never kept in a digest. Null with
//! `price_unknown` where a price is missing, `no_commits` without a commit.
//! `metadata.complete` is false where a part has no price.

use super::{Looked, commits};
use crate::Reading;
use crate::reading::rounded;

pub(crate) const DOC: &str = include_str!("cost.rs");

pub(crate) fn cost_usd(looked: &Looked<'_>) -> Reading {
    match looked.prices.and_then(|prices| prices.total_usd.map(|usd| (usd, prices.complete))) {
        Some((usd, true)) => Reading::of(rounded(usd)),
        Some((usd, false)) => Reading::of(rounded(usd)).with("complete", false),
        None => Reading::none("price_unknown"),
    }
}

pub(crate) fn cost_per_commit(looked: &Looked<'_>) -> Reading {
    let commits = commits::git_commits_made_during(looked).value.as_u64().unwrap_or(0);
    match looked.prices.and_then(|prices| prices.total_usd) {
        None => Reading::none("price_unknown"),
        Some(_) if commits == 0 => Reading::none("no_commits"),
        Some(usd) => Reading::of(rounded(usd / commits as f64)).with("commits", commits),
    }
}
