//! Recurring patterns over all sessions: follows their signs and groups them.

use retro_store::{Changes, Follow};

use super::{Consumer, Everything, Input, Seen, Stage, When, Work};
use crate::patterns::SIGNS;
use crate::{Config, Error, patterns};

pub(super) const STAGE: Stage = Stage {
    name: "patterns",
    version: retro_patterns::CLUSTER_VERSION,
    when: When::Append,
    help: "what recurs over sessions",
    inputs: &[Input::Changes(Follow::Bodies(SIGNS)), Input::Config(excluded)],
    work: Work::Store(&Patterns),
    ..Stage::PLAIN
};

fn excluded(config: &Config) -> String {
    config.detect.value.exclude.join("\n")
}

struct Patterns;

impl Consumer for Patterns {
    fn seen(&self, all: &Everything<'_>) -> Result<Seen, Error> {
        patterns::seen(all.store)
    }

    fn follow(&self, all: &Everything<'_>, changes: Changes, stamp: &str) -> Result<(), Error> {
        // Write nothing if no signs changed. The next run asks for the same changes, which costs
        // only the new ones.
        if !changes.starts_over && changes.bodies.is_empty() && changes.removed_sessions.is_empty() {
            return Ok(());
        }
        let seen = Seen { mark: changes.mark, stamp: stamp.to_owned() };
        patterns::refresh(all, &seen)
    }
}
