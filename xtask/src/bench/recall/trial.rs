//! Ranking with other numbers than the program's: what each part of it is worth.

use retro::search::{Numbers, Ranker};
use serde_json::Value;

use crate::bench::shelves::said;
use crate::failure::Failure;

/// Each part of the ranking with the numbers that leave it out.
const PARTS: &[(&str, &str)] = &[
    ("without the session as a whole", "whole=0"),
    ("without meaning", "meaning=0,meaning_of_names=0"),
    ("without windows", "reach=0"),
    ("without neighbouring words", "neighbours=0"),
    ("without the share of words held", "held=0"),
    ("without further pieces", "further=0"),
    ("without kinds and exact names", "kinds=1,exact=0"),
];

/// A ranking under a name.
pub(super) struct Trial {
    pub(super) name: String,
    pub(super) ranker: Ranker,
}

impl Trial {
    /// One for each part that is left out.
    pub(super) fn of_parts() -> Result<Vec<Trial>, Failure> {
        PARTS.iter().map(|(name, numbers)| Trial::parse(name, numbers)).collect()
    }

    /// The program's ranking with some numbers changed: `whole=1,held=0.5`. `kinds=1` is for
    /// every kind.
    pub(super) fn parse(name: &str, changed: &str) -> Result<Trial, Failure> {
        let wrong = || Failure::new(format!("{changed:?} is not of the form NAME=NUMBER,NAME=NUMBER"));
        let mut numbers = serde_json::to_value(Ranker::new().map_err(said)?.numbers()).map_err(said)?;
        for part in changed.split(',') {
            let (number, value) = part.split_once('=').ok_or_else(wrong)?;
            let value: Value = serde_json::from_str(value).map_err(|_| wrong())?;
            match numbers.get_mut(number.trim()).ok_or_else(wrong)? {
                Value::Object(kinds) => kinds.values_mut().for_each(|kind| *kind = value.clone()),
                known => *known = value,
            }
        }
        let numbers: Numbers = serde_json::from_value(numbers).map_err(said)?;
        Ok(Trial { name: name.to_owned(), ranker: Ranker::with(numbers) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_can_be_left_out() {
        let program = Ranker::new().unwrap();
        for trial in Trial::of_parts().unwrap() {
            assert_ne!(trial.ranker, program, "{}", trial.name);
        }
        assert!(Trial::parse("x", "whole=much").is_err() && Trial::parse("x", "depth=1").is_err());
    }
}
