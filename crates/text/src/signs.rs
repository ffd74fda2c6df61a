//! Signs in what people write: patterns, each with another one that takes it back.

use regex::RegexSet;

/// A pattern, and one that takes it back; empty if nothing does.
pub type Sign = (&'static str, &'static str);

/// Signs of one kind, ready to be looked for in whatever case.
pub struct Signs {
    are: RegexSet,
    taken_back: RegexSet,
}

impl Signs {
    /// The signs of a table. `written` gives the pattern that a text of the table means.
    pub fn of(signs: &[Sign], written: impl Fn(&str) -> String) -> Option<Signs> {
        let of = |text: &str| match text {
            "" => r"[^\s\S]".to_owned(),
            text => format!("(?i:{})", written(text)),
        };
        Some(Signs {
            are: RegexSet::new(signs.iter().map(|(is, _)| of(is))).ok()?,
            taken_back: RegexSet::new(signs.iter().map(|(_, not)| of(not))).ok()?,
        })
    }

    /// How many of them are in a text and not taken back.
    pub fn count(&self, text: &str) -> u8 {
        let found = self.are.matches(text);
        if !found.matched_any() {
            return 0;
        }
        let back = self.taken_back.matches(text);
        u8::try_from(found.iter().filter(|at| !back.matched(*at)).count()).unwrap_or(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_back_does_not_count() {
        let table: &[Sign] = &[(r"\bnever\b", r"\bnever mind\b"), (r"\balways\b", "")];
        let signs = Signs::of(table, str::to_owned).unwrap();
        assert_eq!(signs.count("Always this, NEVER that"), 2);
        assert_eq!(signs.count("never mind"), 0);
        assert!(Signs::of(&[("(", "")], str::to_owned).is_none());
    }
}
