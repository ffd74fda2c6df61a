//! A digest with facts from the index and the prices: its cost, and how its errors were fixed.

use retro_engine::{Config, World};
use retro_insight::Digest;
use retro_model::SessionKey;
use retro_search::Repair;
use retro_store::Store;
use serde::Serialize;
use std::collections::BTreeMap;

use crate::insight::digest;
use crate::{Costs, Error};

/// Steps shown for each cure.
const STEPS_MAX: usize = 3;

/// The result of `retro digest`.
#[derive(Debug, Clone, Serialize)]
pub struct DigestPage {
    /// `retro.digest/1`.
    pub schema: &'static str,
    /// The session's digest.
    #[serde(flatten)]
    pub digest: Digest,
    /// List price of the session and its sub-agents. Null if unknown.
    pub cost_usd: Option<f64>,
    /// True if the cost covers everything.
    pub cost_complete: bool,
    /// The steps between an error and the next success of the same command.
    pub cures: Vec<Cure>,
}

/// How an error went away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cure {
    /// The error, as in `errors`.
    pub fingerprint: String,
    /// The last steps before the command passed.
    pub steps: Vec<String>,
    /// The command that passed afterwards.
    pub passed: String,
    /// The event with its result.
    pub event_id: String,
}

/// The digest of a session as a page. Writes nothing.
pub fn digest_page(
    world: &World,
    config: &Config,
    store: &Store,
    key: &SessionKey,
) -> Result<DigestPage, Error> {
    let digest = digest(world, config, store, key)?.digest;
    let cost = Costs::of(world, config, store).and_then(|costs| costs.of_session(key));
    let cures = match store.index_if_there()? {
        Some(index) => {
            let rows = index.repairs_in(key)?;
            cures(&digest, rows.iter().filter_map(|row| serde_json::from_str(&row.body).ok()))
        }
        None => Vec::new(),
    };
    Ok(DigestPage {
        schema: "retro.digest/1",
        cost_usd: cost.and_then(|cost| cost.total_usd),
        cost_complete: cost.is_some_and(|cost| cost.complete),
        cures,
        digest,
    })
}

/// The last cure of each error of the digest, in the digest's order.
fn cures(digest: &Digest, repairs: impl Iterator<Item = Repair>) -> Vec<Cure> {
    let mut known: BTreeMap<String, Cure> = BTreeMap::new();
    for repair in repairs {
        let Some(passing) = repair.passing else { continue };
        let steps = repair.steps.iter().rev().take(STEPS_MAX).rev().map(|step| step.what.clone()).collect();
        let cure = Cure {
            fingerprint: repair.fingerprint.clone(),
            steps,
            passed: passing.command,
            event_id: passing.event_id,
        };
        known.insert(repair.fingerprint, cure);
    }
    digest.errors.iter().filter_map(|error| known.remove(&error.fingerprint)).collect()
}
