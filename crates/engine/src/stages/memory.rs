//! All memories: follows mining results, rewards helpful memories, and keeps the tables ready for
//! queries.

use retro_store::{Changes, Follow};

use super::{Consumer, Everything, Input, Seen, Stage, When, Work};
use crate::mined::{MINED, PAST};
use crate::{Error, memory};

pub(super) const STAGE: Stage = Stage {
    name: "memory",
    version: 7,
    when: When::Append,
    help: "memories of all sessions, ready to be asked",
    inputs: &[Input::Changes(Follow::Bodies(MINED)), Input::Changes(Follow::Bodies(PAST))],
    work: Work::Store(&Memories),
    ..Stage::PLAIN
};

struct Memories;

impl Consumer for Memories {
    fn seen(&self, all: &Everything<'_>) -> Result<Seen, Error> {
        // A decision was made but not folded, or the index is from an older version: fold
        // everything again.
        if !memory::is_current(all.store, all.index)? {
            return Ok(Seen::default());
        }
        let mark = all.index.memory_value("mark")?.and_then(|mark| String::from_utf8(mark).ok());
        Ok(mark.and_then(|mark| Seen::parse(&mark)).unwrap_or_default())
    }

    fn follow(&self, all: &Everything<'_>, changes: Changes, stamp: &str) -> Result<(), Error> {
        let seen = Seen { mark: changes.mark.clone(), stamp: stamp.to_owned() };
        if changes.starts_over {
            memory::take_files(all.store, all.index)?;
        } else if changes.bodies.is_empty() && changes.removed_sessions.is_empty() {
            all.index.write(|index| index.put_memory_mark(&seen.text()))?;
            return Ok(());
        }
        let is_left = memory::finish(all.store, all.index)?;
        memory::reward(all)?;
        memory::refresh(all.store, all.index, all.config, all.world.now(), &seen.text())?;
        if is_left { Ok(all.index.wipe()?) } else { Ok(()) }
    }
}
