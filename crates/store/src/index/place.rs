//! How a place is written in its row: three columns, since every sync reads all rows.

use retro_model::{SessionKey, Stamp};
use serde::{Deserialize, Serialize};

use super::PlaceRow;
use super::sealed::{seal, unseal};

/// Columns of `places`.
pub(super) const PLACE: &str = "path, owner, stamp";

/// What the index knows of a source at some path, lent by [`super::Stamps`] or by a
/// [`PlaceRow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceRef<'a> {
    /// The session; none if it serves many.
    pub session: Option<&'a str>,
    /// The key of the part that it is, or the name of a file that serves many.
    pub source: &'a str,
    /// The revision its bytes went to.
    pub revision: u32,
    /// How it looked then.
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
    /// A row's third column.
    pub(super) fn of(row: &'a PlaceRow) -> Self {
        Packed { revision: row.revision, stamp: row.stamp, source: row.source.as_str() }
    }

    /// As bytes, sealed: one that is not what was written would look like a changed file.
    pub(super) fn pack(&self) -> Vec<u8> {
        seal(&postcard::to_stdvec(self).unwrap_or_default())
    }

    /// From bytes that [`Packed::pack`] made, to the last of them; none if they are other bytes.
    pub(super) fn unpack(bytes: &'a [u8]) -> Option<Self> {
        postcard::take_from_bytes(unseal(bytes)?)
            .ok()
            .filter(|(_, rest)| rest.is_empty())
            .map(|(packed, _)| packed)
    }
}

/// Whose file it is, as text: the agent, then a slash and the session's id unless it
/// serves many. No agent's name has a slash.
pub(super) fn owner(agent: &str, session: Option<&str>) -> String {
    match session {
        Some(id) => format!("{agent}/{id}"),
        None => agent.to_owned(),
    }
}

/// The same for a file of this session.
pub(super) fn owner_of(key: &SessionKey) -> String {
    owner(&key.agent, Some(&key.id))
}

/// The agent and the session of such a text.
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
