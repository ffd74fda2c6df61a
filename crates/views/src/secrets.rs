//! Lists captured records that contain secrets.

use retro_engine::secrets::scan;
use retro_model::SessionKey;
use retro_store::Store;
use serde::Serialize;

use crate::Error;
use crate::ids::short_ids;

/// The result of `retro secrets`.
#[derive(Debug, Clone, Serialize)]
pub struct SecretsView {
    /// `retro.secrets/1`.
    pub schema: &'static str,
    /// Version of the rule set.
    pub rules_version: u32,
    /// Number of sessions scanned.
    pub sessions: u64,
    /// The secrets, by session and record.
    pub found: Vec<SecretView>,
}

/// Secrets of one kind in one record, without their values.
#[derive(Debug, Clone, Serialize)]
pub struct SecretView {
    /// retro's name for the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// The shortest unique prefix of the id.
    pub short_id: String,
    /// The record's address in an event id: `m:1042`.
    pub address: String,
    /// The rule that matched.
    pub rule: &'static str,
    /// Names the value, the same in every session: `retro forget --secret ID` cuts it out.
    pub id: String,
    /// Number of matches.
    pub count: u64,
}

/// Scans the raw files of these sessions.
pub fn secrets(store: &Store, keys: &[SessionKey]) -> Result<SecretsView, Error> {
    let mut found = Vec::new();
    let all = store.session_keys()?;
    let short = short_ids(all.iter().map(|key| key.id.as_str()));
    for key in keys {
        for secret in scan(store, key)? {
            found.push(SecretView {
                agent: key.agent.clone(),
                session_id: key.id.clone(),
                short_id: short.get(key.id.as_str()).cloned().unwrap_or_else(|| key.id.clone()),
                address: secret.at.event(retro_model::Part::Whole).to_string(),
                id: secret.id,
                rule: secret.rule,
                count: secret.count,
            });
        }
    }
    Ok(SecretsView {
        schema: "retro.secrets/1",
        rules_version: retro_text::secrets::RULES_VERSION,
        sessions: keys.len() as u64,
        found,
    })
}
