//! Takes in the folders whose files form one source each.

use retro_agents::{Agent, FolderSeen, Format, Found, Held, Owner};
use retro_model::{SourceKind, Stamp};

use super::{Bytes, Collector, Form};

impl Collector<'_> {
    /// Takes a folder that an agent saw.
    pub(super) fn see_folder(&mut self, agent: &'static dyn Agent, seen: &FolderSeen) {
        let FolderSeen { session, source, path, stamp } = seen;
        let (kind, format, extra) = (SourceKind::Files, Format::Files, false);
        let known = self.known;
        if let Some(row) = known.number(path)
            && let Some(place) = known.place_at(row)
            && place.stamp.is_same(&Stamp::Rows(*stamp))
            && (place.session, place.source) == (Some(session), source.as_str())
        {
            return self.take_same(agent, row, place, Form { kind, format, bytes: Bytes::Folder, extra });
        }
        let (owner, source, path) = (Owner::Session(session.clone()), source.clone(), path.clone());
        let held = Held::Files { stamp: *stamp };
        self.take(agent, Found { owner, source, kind, format, path, held, extra });
    }
}
