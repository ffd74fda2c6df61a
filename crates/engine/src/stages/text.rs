//! The text index: follows the passages of all sessions.
//!
//! A commit of the index waits for the disk, so a few changed passages stay pending. A search still
//! finds them, with the same scores.

use retro_search::{Numbered, TEXT_VERSION, TextFolder};
use retro_store::{Changes, Follow, Mark, PassageRow, Store};

use super::{Consumer, Everything, Input, Seen, Stage, When, Work};
use crate::Error;

pub(super) const STAGE: Stage = Stage {
    name: "text",
    version: TEXT_VERSION,
    when: When::Append,
    help: "the index of all words",
    inputs: &[Input::Changes(Follow::Passages)],
    work: Work::Store(&Text),
    ..Stage::PLAIN
};

/// Largest number of changed passages that may wait.
const WAITING_MAX: usize = 200;

struct Text;

impl Consumer for Text {
    fn seen(&self, all: &Everything<'_>) -> Result<Seen, Error> {
        Ok(folder(all.store).mark().and_then(|mark| Seen::parse(&mark)).unwrap_or_default())
    }

    fn follow(&self, all: &Everything<'_>, changes: Changes, stamp: &str) -> Result<(), Error> {
        let count = changes.passages.len() + changes.removed_passages.len();
        if !changes.starts_over && count <= WAITING_MAX {
            return Ok(());
        }
        let folder = folder(all.store);
        let resumed = if changes.starts_over { None } else { folder.resume(count)? };
        let (mut writer, changes) = match resumed {
            Some(writer) => (writer, changes),
            None if changes.starts_over => (folder.start_over(count)?, changes),
            // The index was damaged after it was checked. The new passages alone would not be
            // complete.
            None => {
                let everything = all.index.changes_since(&Mark::default(), &[Follow::Passages])?;
                (folder.start_over(everything.passages.len())?, everything)
            }
        };
        changes.removed_passages.iter().for_each(|number| writer.remove(*number));
        for number in &changes.passages {
            if all.world.stopping() {
                return Ok(());
            }
            if let Some(row) = all.index.passage(*number)? {
                writer.put(&numbered(row))?;
            }
        }
        let seen = Seen { mark: changes.mark, stamp: stamp.to_owned() };
        Ok(writer.commit(&seen.text())?)
    }
}

fn folder(store: &Store) -> TextFolder {
    TextFolder::new(&store.text_folder(), store.disk())
}

/// Converts a passage row to the form that search uses.
pub fn numbered(row: PassageRow) -> Numbered {
    Numbered { number: row.number, session: row.session, line: row.line, passage: row.passage }
}
