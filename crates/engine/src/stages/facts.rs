//! Facts from git about the commits that sessions made. The work is in [`crate::facts`]: it needs
//! other programs, so it is done at the end of a sync, without the lock.

use retro_insight::GitFacts;
use retro_model::SessionKey;
use retro_store::{FACTS, Store};

use super::{Input, Stage, When, Work};
use crate::{Config, Error};

pub(super) const STAGE: Stage = Stage {
    name: "facts",
    version: 1,
    when: When::Quiet,
    help: "what git says of the commits that a session made, at most once a day for each repository",
    inputs: &[Input::Config(switch)],
    work: Work::Outside,
    ..Stage::PLAIN
};

fn switch(config: &Config) -> String {
    format!("{}", config.facts_git.value)
}

/// The stored facts of a session. Empty if the file is damaged, which `verify` reports.
pub(crate) fn kept(store: &Store, key: &SessionKey) -> Result<Vec<GitFacts>, Error> {
    match store.lines(&FACTS, key) {
        Err(retro_store::Error::Damaged { .. }) => Ok(Vec::new()),
        facts => Ok(facts?),
    }
}
