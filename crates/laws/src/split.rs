//! `split`: the result does not depend on the pieces and the order of arrival.
//!
//! The same input is tried with every agent: as bytes of a log, and as changes
//! to a session that its writer wrote.

use arbitrary::Unstructured;
use retro_agents::{AGENTS, Agent};
use retro_model::SessionKey;

use crate::session::{self, Source};
use crate::{Tried, log, story};

/// More pieces would test nothing new.
const CUTS_MAX: usize = 6;

pub(crate) fn check(bytes: &[u8]) -> Tried {
    for agent in AGENTS {
        let mut choices = Unstructured::new(bytes);
        let cuts = choices.int_in_range(0..=CUTS_MAX)?;
        let cuts: Vec<usize> =
            (0..cuts).map(|_| choices.arbitrary::<u16>().map(usize::from)).collect::<Result<_, _>>()?;
        let turn = usize::from(choices.arbitrary::<u8>()?);
        if choices.arbitrary()? {
            let sources = log::sources(*agent, choices.take_rest());
            same(*agent, &log::key(*agent), &sources, &cuts, turn);
        } else {
            let (key, sources) = story::told(*agent)?.changed(&mut choices)?;
            same(*agent, &key, &sources, &cuts, turn);
        }
    }
    Ok(())
}

fn same(agent: &'static dyn Agent, key: &SessionKey, sources: &[Source], cuts: &[usize], turn: usize) {
    let whole = session::pieced(agent, key, sources, &[], 0);
    let pieced = session::pieced(agent, key, sources, cuts, turn);
    assert_eq!(pieced, whole, "{} in pieces that end at {cuts:?}, from source {turn} on", agent.name());
}
