//! How much of a session's id must be shown so that it can be typed.

use std::collections::HashMap;

/// Fewest characters that are shown of an id.
const LEAST: usize = 8;

/// The shortest beginning of each id that no other id has, at least eight characters.
/// An id that is itself the beginning of another one is shown whole.
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

/// Characters that two texts begin with alike.
fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

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
