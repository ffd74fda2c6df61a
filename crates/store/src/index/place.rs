//! The encoding of a place in its row: only three columns, because every sync reads all rows.

use retro_model::{SessionKey, Stamp};
use serde::{Deserialize, Serialize};

use super::PlaceRow;
use super::sealed::{seal, unseal};

/// Columns of `places`.
pub(super) const PLACE: &str = "path, owner, stamp";

/// The row of a source at some path, lent by [`super::Stamps`] or by a [`PlaceRow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceRef<'a> {
    /// The session. `None` if the file serves many.
    pub session: Option<&'a str>,
    /// The key of the part, or the name of a file that serves many sessions.
    pub source: &'a str,
    /// The revision that holds its bytes.
    pub revision: u32,
    /// Its stamp at the time of the capture.
    pub stamp: Stamp,
}

/// The third column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Packed<'a> {
    pub revision: u32,
    pub stamp: Stamp,
    pub source: &'a str,
}

impl<'a> Packed<'a> {
    /// Packs the third column of a row.
    pub(super) fn of(row: &'a PlaceRow) -> Self {
        Packed { revision: row.revision, stamp: row.stamp, source: row.source.as_str() }
    }

    /// Encodes and seals it. Without the seal, a changed byte would look like a changed file.
    pub(super) fn pack(&self) -> Vec<u8> {
        seal(&postcard::to_stdvec(self).unwrap_or_default())
    }

    /// Decodes all bytes that [`Packed::pack`] made. `None` if they are invalid.
    pub(super) fn unpack(bytes: &'a [u8]) -> Option<Self> {
        postcard::take_from_bytes(unseal(bytes)?)
            .ok()
            .filter(|(_, rest)| rest.is_empty())
            .map(|(packed, _)| packed)
    }
}

/// The owner of a file as text: the agent, then a slash and the session's id unless the file serves
/// many sessions. No agent's name has a slash.
pub(super) fn owner(agent: &str, session: Option<&str>) -> String {
    match session {
        Some(id) => format!("{agent}/{id}"),
        None => agent.to_owned(),
    }
}

/// The owner text of a file of this session.
pub(super) fn owner_of(key: &SessionKey) -> String {
    owner(&key.agent, Some(&key.id))
}

/// Splits such a text into the agent and the session.
pub(super) fn agent_and_session(owner: &str) -> (&str, Option<&str>) {
    let slash = owner.bytes().position(|byte| byte == b'/');
    match slash.and_then(|at| Some((owner.get(..at)?, owner.get(at + 1..)?))) {
        Some((agent, id)) => (agent, Some(id)),
        None => (owner, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retro_model::{RowsStamp, Stat};

    #[test]
    fn a_place_comes_back_and_a_garbled_one_does_not() {
        let file = Stat { size: u64::MAX, mtime_ns: -5, device: 7, inode: u64::MAX - 1 };
        let rows = RowsStamp { size: 3, hash: u64::MAX, changed_ns: i64::MIN };
        for stamp in [Stamp::File(file), Stamp::Rows(rows)] {
            let packed = Packed { revision: 3, stamp, source: "agent-ä" };
            let bytes = packed.pack();
            assert_eq!(Packed::unpack(&bytes), Some(packed));
            for end in 0..bytes.len() {
                assert_eq!(Packed::unpack(&bytes[..end]), None, "cut after {end} bytes");
                let mut flipped = bytes.clone();
                flipped[end] ^= 1;
                assert_eq!(Packed::unpack(&flipped), None, "byte {end} flipped");
            }
            assert_eq!(Packed::unpack(&[bytes.as_slice(), b"x"].concat()), None);
        }
    }

    #[test]
    fn an_owner_is_an_agent_and_perhaps_a_session() {
        for (agent, session) in
            [("claude", Some("s-1")), ("codex", Some("a/b")), ("grok", Some("")), ("x", None)]
        {
            assert_eq!(agent_and_session(&owner(agent, session)), (agent, session));
        }
    }
}
