//! What could not be read or understood in the sessions of the store.

use retro_engine::damage::Trouble;
use retro_model::{GapReason, SessionKey};
use retro_store::Store;
use std::path::Path;

use super::{Check, Health};
use crate::gap_line;

/// One check for each session with something wrong, the worst first.
pub(super) fn checks(store: &Store, all: &[Trouble]) -> Vec<Check> {
    let mut checks = Vec::new();
    checks.extend(all.iter().filter_map(|trouble| damaged(store, trouble)));
    checks.extend(all.iter().filter_map(gaps));
    checks.extend(all.iter().filter_map(unknown));
    checks.extend(all.iter().filter_map(half));
    checks
}

fn command(verb: &str, key: &SessionKey) -> String {
    format!("retro {verb} {} {}", key.agent, key.id)
}

/// A raw file that does not read back. Where the agent still has the log, it can be taken again.
fn damaged(store: &Store, trouble: &Trouble) -> Option<Check> {
    let why = trouble.damage.as_ref()?;
    let has_log = store.session(&trouble.key).ok().flatten().is_some_and(|file| {
        let mut places =
            file.sources.iter().filter(|(source, _)| source.is_main()).flat_map(|(_, entry)| &entry.places);
        places.any(|place| Path::new(place).exists())
    });
    let help = match has_log {
        true => "retro doctor --fix takes it again from the agent's log, and keeps the damaged file",
        false => "put the file back from a backup; the agent's log of it is gone",
    };
    Some(Check {
        name: "damaged",
        health: Health::Bad,
        what: format!("{}: {why}", trouble.key),
        help: Some(help.to_owned()),
    })
}

fn gaps(trouble: &Trouble) -> Option<Check> {
    let first = trouble.gaps.first()?;
    let is_pending = trouble.gaps.iter().all(|gap| gap.reason == GapReason::Pending);
    let number = super::count(trouble.gaps.len(), "gap");
    let what = format!("{}: {number}, first {}", trouble.key, gap_line(first));
    let help = match first.reason {
        _ if is_pending => {
            "the last line is not written to its end yet; retro sync reads it again".to_owned()
        }
        GapReason::Missing => {
            "retro sync --from DIR captures what is missing, from a backup or another home".to_owned()
        }
        _ => format!("{} shows what was read around it", command("show", &trouble.key)),
    };
    Some(Check { name: "gaps", health: Health::Notice, what, help: Some(help) })
}

fn unknown(trouble: &Trouble) -> Option<Check> {
    if trouble.unknown == 0 {
        return None;
    }
    let records = super::count(trouble.unknown as usize, "record");
    Some(Check {
        name: "unknown",
        health: Health::Notice,
        what: format!("{}: {records} of a kind that retro does not know, kept whole", trouble.key),
        help: Some(format!("{} | grep '\"kind\":\"unknown\"'", command("events", &trouble.key))),
    })
}

fn half(trouble: &Trouble) -> Option<Check> {
    trouble.is_half.then(|| Check {
        name: "half",
        health: Health::Notice,
        what: format!("{}: only parts of it were found, its main log is gone", trouble.key),
        help: Some("retro sync --from DIR captures it, if a backup has it".to_owned()),
    })
}
