//! How a file's stamp stands in its row: three columns instead of nine, since every sync
//! reads all rows.

use retro_model::SessionKey;

use super::PlaceRow;

/// Columns of `places`.
pub(super) const PLACE: &str = "path, owner, stamp";

/// Bytes of a stamp before the name of its source.
const NUMBERS: usize = 4 + 4 * 8;

/// What a stamp says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packed<'a> {
    pub revision: u32,
    pub size: u64,
    pub mtime_ns: i64,
    pub device: u64,
    pub inode: u64,
    pub source: &'a str,
}

impl<'a> Packed<'a> {
    /// A row's stamp.
    pub(super) fn of(row: &'a PlaceRow) -> Self {
        let PlaceRow { revision, size, mtime_ns, device, inode, .. } = *row;
        Packed { revision, size, mtime_ns, device, inode, source: row.source.as_str() }
    }

    /// As bytes: the numbers, lowest byte first, then the source.
    pub(super) fn pack(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(NUMBERS + self.source.len());
        bytes.extend_from_slice(&self.revision.to_le_bytes());
        for number in [self.size, self.mtime_ns.cast_unsigned(), self.device, self.inode] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(self.source.as_bytes());
        bytes
    }

    /// From bytes that [`Packed::pack`] made; nothing if they are no such bytes.
    pub(super) fn unpack(bytes: &'a [u8]) -> Option<Self> {
        let (revision, bytes) = bytes.split_first_chunk()?;
        let (size, bytes) = bytes.split_first_chunk()?;
        let (mtime_ns, bytes) = bytes.split_first_chunk()?;
        let (device, bytes) = bytes.split_first_chunk()?;
        let (inode, source) = bytes.split_first_chunk()?;
        Some(Packed {
            revision: u32::from_le_bytes(*revision),
            size: u64::from_le_bytes(*size),
            mtime_ns: i64::from_le_bytes(*mtime_ns),
            device: u64::from_le_bytes(*device),
            inode: u64::from_le_bytes(*inode),
            source: std::str::from_utf8(source).ok()?,
        })
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

    #[test]
    fn a_stamp_comes_back_and_a_garbled_one_does_not() {
        let stamp = Packed {
            revision: 3,
            size: u64::MAX,
            mtime_ns: -5,
            device: 7,
            inode: u64::MAX - 1,
            source: "agent-ä",
        };
        let bytes = stamp.pack();
        assert_eq!(Packed::unpack(&bytes), Some(stamp));
        for end in 0..NUMBERS {
            assert_eq!(Packed::unpack(&bytes[..end]), None, "cut after {end} bytes");
        }
        assert_eq!(Packed::unpack(&bytes[..bytes.len() - 1]), None, "half a letter");
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
