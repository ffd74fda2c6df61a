//! Sessions whose rows the index lacks, read again from raw.

use rayon::prelude::*;
use retro_model::LedgerRow;
use retro_store::{Index, Store};
use std::collections::HashMap;

use super::batch::{BATCH_SESSIONS_MAX, version};
use super::{Progress, SyncReport, agent_of};
use crate::capture::{self, Captured};
use crate::large::{self, Wanted};
use crate::{Error, World, cold, ledger};

/// Rows of sessions that the store holds and the index does not, or holds from
/// an older parser: read again from raw.
pub(crate) fn backfill(
    world: &World,
    store: &Store,
    index: &Index,
    report: &mut SyncReport,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(), Error> {
    let current = index.stage_rows("turns")?;
    let captured = index.stage_rows("capture")?;
    let rows: HashMap<_, _> =
        index.session_rows()?.into_iter().map(|row| (row.key(), row.mtime_ns)).collect();
    let stale: Vec<_> = store
        .session_keys()?
        .into_iter()
        .filter_map(|key| {
            let agent = agent_of(&key)?;
            let content = captured.get(&key).map(|(_, content)| content);
            let fits = current.get(&key).is_some_and(|(version, input)| {
                *version == agent.parser_version() && content.is_none_or(|content| content == input)
            });
            (!fits || !rows.contains_key(&key)).then_some((key, agent))
        })
        .collect();
    let total = stale.len() as u64;
    let mut done = 0;
    for batch in stale.chunks(BATCH_SESSIONS_MAX) {
        if world.stopping() {
            return Ok(());
        }
        let Some(_lock) = store.lock(&|| world.stopping())? else { return Ok(()) };
        let read: Vec<Result<(Captured, Vec<LedgerRow>), Error>> = batch
            .par_iter()
            .map(|(key, agent)| {
                let mtime_ns = rows.get(key).copied().unwrap_or(0);
                let mut one = capture::from_raw(store, *agent, key, mtime_ns)?;
                let Some(sources) = one.whole.take() else { return Ok((one, Vec::new())) };
                let ledger = ledger::of_sources(*agent, key, sources);
                Ok((one, ledger))
            })
            .collect();
        store.sync_all()?;
        let mut good = Vec::new();
        for (result, (key, _)) in read.into_iter().zip(batch) {
            match result {
                Ok(one) => good.push(one),
                Err(error) => report.fail(key, &error),
            }
        }
        index.write(|index| {
            for (one, ledger) in &good {
                for source in &one.sources {
                    index.put_source(source)?;
                }
                index.put_session(&one.session)?;
                index.put_stage(&one.key, "capture", version("capture"), &one.content)?;
                if one.overflowed {
                    continue;
                }
                cold::put_ledger(index, &one.key, &one.content, ledger)?;
                index.clear_turns(&one.key)?;
                for turn in &one.turns {
                    index.put_turn(turn)?;
                }
                let parser = agent_of(&one.key).map_or(0, |agent| agent.parser_version());
                index.put_stage(&one.key, "turns", parser, &one.content)?;
            }
            Ok(())
        })?;
        for (one, _) in good.iter().filter(|(one, _)| one.overflowed) {
            let Some(agent) = agent_of(&one.key) else { continue };
            let wanted = Wanted { turns: true, normalized: false };
            if let Err(error) = large::settle(store, index, agent, &one.key, wanted) {
                report.fail(&one.key, &error);
            }
        }
        done += batch.len() as u64;
        progress(Progress { stage: "turns", done, total, bytes: 0 });
    }
    Ok(())
}
