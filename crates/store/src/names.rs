//! Encodes ids as file names.
//!
//! Agents name their sessions as they please. A name on disk must be safe on every file system and
//! must not leave its folder, and two ids must not share a name where case is ignored. Lower-case
//! letters, digits and `._-` therefore stay, and every other byte is percent-encoded in lower case.
//! A long name is cut and ends in a hash; its id is then in the session file.

/// Largest length of a name in bytes before it is cut.
const NAME_BYTES_MAX: usize = 120;

/// Bytes kept of a cut name.
const PREFIX_BYTES: usize = 80;

/// Marks the hash of a cut name. It differs from every encoded byte, because `h` is not a
/// hexadecimal digit.
const CUT_MARK: &str = "%h";

/// Hexadecimal digits of the hash of a cut name.
const HASH_DIGITS: usize = 32;

/// The name of an empty id. A lone `%` encodes nothing else.
const EMPTY: &str = "%";

/// Folder of the files that serve many sessions. No session may have this name.
pub(crate) const SHARED: &str = "_shared";

/// The meaning of a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded {
    /// The name of this id.
    Id(String),
    /// The name of an id that was too long.
    Cut,
}

/// The file name of an id.
pub fn encode(id: &str) -> String {
    if id.is_empty() {
        return EMPTY.to_owned();
    }
    let last = id.len() - 1;
    let guarded = is_reserved(id);
    let mut name = String::with_capacity(id.len());
    for (at, byte) in id.bytes().enumerate() {
        let edge_dot = byte == b'.' && (at == 0 || at == last);
        if stays(byte) && !edge_dot && !(at == 0 && guarded) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02x}"));
        }
    }
    if name.len() <= NAME_BYTES_MAX { name } else { cut(id, &name) }
}

/// Decodes a file name. `None` if [`encode`] did not make it.
pub fn decode(name: &str) -> Option<Decoded> {
    if let Some((prefix, hash)) = name.rsplit_once(CUT_MARK) {
        let is_ours = prefix.len() <= PREFIX_BYTES
            && hash.len() == HASH_DIGITS
            && hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
            && prefix.bytes().all(|b| stays(b) || b == b'%');
        return is_ours.then_some(Decoded::Cut);
    }
    let id = if name == EMPTY { String::new() } else { String::from_utf8(percent_decode(name)?).ok()? };
    (encode(&id) == name).then_some(Decoded::Id(id))
}

fn stays(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-')
}

/// Names with another meaning: devices on Windows, with any extension, and our own shared folder.
/// Those with other characters are encoded anyway.
fn is_reserved(id: &str) -> bool {
    let stem = id.split('.').next().unwrap_or(id);
    let numbered = |device| {
        let number = stem.strip_prefix(device).unwrap_or_default();
        number.len() == 1 && number.bytes().all(|b| b.is_ascii_digit())
    };
    matches!(stem, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt") || id == SHARED
}

fn cut(id: &str, name: &str) -> String {
    let mut end = PREFIX_BYTES;
    // Keep an encoded byte completely or not at all.
    if let Some(percent) = name.get(..end).and_then(|prefix| prefix.rfind('%'))
        && percent + 3 > end
    {
        end = percent;
    }
    let prefix = name.get(..end).unwrap_or_default();
    let hash = blake3::hash(id.as_bytes()).to_hex();
    format!("{prefix}{CUT_MARK}{}", hash.as_str().get(..HASH_DIGITS).unwrap_or_default())
}

fn percent_decode(name: &str) -> Option<Vec<u8>> {
    let mut bytes = name.bytes();
    let mut id = Vec::with_capacity(name.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit = |b: u8| char::from(b).to_digit(16);
            let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
            id.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            id.push(byte);
        }
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    #[test]
    fn what_names_look_like() {
        for (id, name) in [
            ("3f2a-77", "3f2a-77"),
            ("a_b.jsonl", "a_b.jsonl"),
            ("Ab", "%41b"),
            ("../x", "%2e.%2fx"),
            ("..", "%2e%2e"),
            (".", "%2e"),
            ("", "%"),
            ("con", "%63on"),
            ("com1.txt", "%63om1.txt"),
            ("com10", "com10"),
            ("console", "console"),
            ("CON", "%43%4f%4e"),
            ("_shared", "%5fshared"),
            ("a\nb\0", "a%0ab%00"),
            ("50%", "50%25"),
            ("é", "%c3%a9"),
        ] {
            assert_eq!(encode(id), name, "{id:?}");
            assert_eq!(decode(name), Some(Decoded::Id(id.to_owned())), "{name}");
        }
    }

    #[test]
    fn names_that_we_never_make_mean_nothing() {
        for name in ["Ab", "a%2", "a%zz", "%41%4", ".a", "con", "a/b", "%61", "_shared", "x%h12", ".DS_Store"]
        {
            assert_eq!(decode(name), None, "{name}");
        }
    }

    #[test]
    fn a_long_id_is_cut_and_stays_apart_from_others() {
        let long = "é".repeat(200);
        let other = format!("{long}x");
        assert!(encode(&long).len() <= NAME_BYTES_MAX);
        assert_ne!(encode(&long), encode(&other));
        assert_eq!(decode(&encode(&long)), Some(Decoded::Cut));
        assert_eq!(encode(&"a".repeat(120)), "a".repeat(120));
    }

    fn id() -> impl Strategy<Value = String> {
        prop_oneof![
            "\\PC{0,30}",
            "[a-cA-C.%_~/\\\\-]{0,6}",
            "(con|nul|CON|lpt3|aux)(\\.[a-z]{0,3})?",
            "[a-zA-Z0-9é.]{100,300}",
        ]
    }

    proptest! {
        #[test]
        fn short_ids_come_back(id in id()) {
            match decode(&encode(&id)) {
                Some(Decoded::Id(back)) => prop_assert_eq!(back, id),
                Some(Decoded::Cut) => prop_assert!(id.len() > 40),
                None => prop_assert!(false, "{:?} is not read back", id),
            }
        }

        #[test]
        fn two_ids_never_meet_where_capitals_do_not_count(a in id(), b in id()) {
            prop_assume!(a != b);
            prop_assert_ne!(encode(&a).to_uppercase(), encode(&b).to_uppercase());
        }

        #[test]
        fn capitals_alone_keep_ids_apart(a in "[a-zA-Z]{1,6}") {
            let b = a.to_lowercase();
            prop_assume!(a != b);
            prop_assert_ne!(encode(&a).to_uppercase(), encode(&b).to_uppercase());
        }

        #[test]
        fn a_name_is_one_plain_part_of_a_path(id in id()) {
            let name = encode(&id);
            prop_assert!(!name.is_empty() && name.len() <= NAME_BYTES_MAX);
            let parts: Vec<_> = Path::new(&name).components().collect();
            prop_assert!(matches!(parts.as_slice(), [Component::Normal(_)]));
            prop_assert!(!name.starts_with('.') && !name.ends_with('.') && !name.contains(['/', '\\', ':', '~']));
            prop_assert!(name.to_lowercase() == name && name.is_ascii());
        }
    }
}
