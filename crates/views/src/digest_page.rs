//! A digest with what only the index and the prices know: what it cost, and what cured its errors.

use retro_engine::{Config, World};
use retro_insight::Digest;
use retro_model::SessionKey;
use retro_search::Repair;
use retro_store::Store;
use serde::Serialize;
use std::collections::BTreeMap;

use crate::insight::digest;
use crate::{Costs, Error};

/// Steps that are named as a cure.
const STEPS_MAX: usize = 3;

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub struct DigestPage {
    /// `retro.digest/1`.
    pub schema: &'static str,
    /// The digest.
    #[serde(flatten)]
    pub digest: Digest,
    /// List price of it and its sub-agents; null where it is not known.
    pub cost_usd: Option<f64>,
    /// Whether that is all of it.
    pub cost_complete: bool,
    /// What was done between an error and the same command passing.
    pub cures: Vec<Cure>,
}

/// How an error went away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cure {
    /// The error, as in `errors`.
    pub fingerprint: String,
    /// What was done in between, the last things.
    pub steps: Vec<String>,
    /// The command that passed then.
    pub passed: String,
    /// The event of its result.
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
