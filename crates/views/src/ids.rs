//! The shortest part of a session's id that a user can type.

use std::collections::HashMap;

/// Show at least this many characters of an id.
const LEAST: usize = 8;

/// The shortest unique prefix of each id, at least eight characters. An id that is a prefix of
/// another one is shown in full.
pub(crate) fn short_ids<'i>(ids: impl IntoIterator<Item = &'i str>) -> HashMap<&'i str, String> {
    let mut sorted: Vec<&str> = ids.into_iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut short = HashMap::with_capacity(sorted.len());
    for (at, id) in sorted.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| sorted.get(at));
        let shared = [before, sorted.get(at + 1)].into_iter().flatten().map(|other| common(id, other)).max();
        let length = (shared.unwrap_or(0) + 1).max(LEAST);
        short.insert(*id, id.chars().take(length).collect());
    }
    short
}

/// Like [`short_ids`], for ids of parts with colons between them, such as
/// `<session>:<method>:<number>`. Shortens the first part, and keeps the others only if several ids
/// share the first.
pub(crate) fn short_parts<'i>(ids: impl IntoIterator<Item = &'i str>) -> HashMap<&'i str, String> {
    let ids: Vec<&str> = ids.into_iter().collect();
    let parts = |id: &'i str| id.split_once(':').unwrap_or((id, ""));
    let mut sharing: HashMap<&str, usize> = HashMap::new();
    ids.iter().for_each(|id| *sharing.entry(parts(id).0).or_default() += 1);
    let heads = short_ids(sharing.keys().copied());
    let name = |id: &'i str| {
        let (head, rest) = parts(id);
        let short = heads.get(head).map_or(head, String::as_str);
        let is_alone = sharing.get(head) == Some(&1);
        (id, if is_alone { short.to_owned() } else { format!("{short}:{rest}") })
    };
    ids.into_iter().map(name).collect()
}

/// True if `asked` abbreviates `id`: it has a prefix of the first part, a colon, and the same other
/// parts.
pub(crate) fn is_short_for(asked: &str, id: &str) -> bool {
    let (Some((head, rest)), Some((id_head, id_rest))) = (asked.split_once(':'), id.split_once(':')) else {
        return false;
    };
    !head.is_empty() && id_head.starts_with(head) && id_rest == rest
}

/// The number of leading characters that two texts share.
fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_parts_are_shortened_in_the_first() {
        let ids =
            ["d1ffb512-fc49:fix:1", "d1ffb512-fc49:fix:10", "6b6f4218-0b12:rules:1", "d1ffb512-fd00:fix:1"];
        let short = short_parts(ids);
        let shown: Vec<&str> = ids.iter().map(|id| short[id].as_str()).collect();
        assert_eq!(shown, ["d1ffb512-fc:fix:1", "d1ffb512-fc:fix:10", "6b6f4218", "d1ffb512-fd"]);
        for id in ids {
            let meant = |other: &&str| other.starts_with(&short[id]) || is_short_for(&short[id], other);
            assert_eq!(ids.into_iter().filter(|other| meant(other)).collect::<Vec<_>>(), [id]);
        }
    }

    #[test]
    fn ids_that_look_alike_do_not_lengthen_the_others() {
        let ids = ["01a1dd1c-0f11", "01a1dd1c-0f12", "01a1dd1c-2222", "9c1e0000-1", "short", "short-2"];
        let short = short_ids(ids);
        let shown: Vec<&str> = ids.iter().map(|id| short[id].as_str()).collect();
        assert_eq!(shown, ["01a1dd1c-0f11", "01a1dd1c-0f12", "01a1dd1c-2", "9c1e0000", "short", "short-2"]);
        for id in ids {
            let fits = ids.iter().filter(|other| other.starts_with(&short[id])).count();
            assert!(fits == 1 || short[id] == id, "{id}");
        }
    }
}
