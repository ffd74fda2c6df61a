//! Decides if two different loci are the same problem.

use hashbrown::HashMap;

use crate::sign::Sign;

/// The data for the comparison of loci.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    pub locus: String,
    pub terms: Vec<String>,
    pub names: Vec<String>,
    pub own: bool,
    pub remedies: Vec<String>,
    /// The meaning of a sentence, for corrections.
    pub meaning: Option<retro_search::embed::Embedding>,
}

impl Spot {
    pub(crate) fn of(sign: &Sign) -> Spot {
        Spot {
            locus: sign.locus.clone(),
            terms: sign.terms.clone(),
            names: sign.names.clone(),
            own: sign.own,
            remedies: sign.remedy.iter().map(|remedy| same_remedy(&remedy.text())).collect(),
            meaning: None,
        }
    }

    /// Adds the data of another sign with the same locus.
    pub(crate) fn add(&mut self, sign: &Sign) {
        self.own |= sign.own;
        self.remedies.extend(sign.remedy.iter().map(|remedy| same_remedy(&remedy.text())));
        self.remedies.sort();
        self.remedies.dedup();
    }

    /// The family of the locus. Loci of different families are never near.
    pub(crate) fn family(&self) -> &str {
        self.locus.split(':').next().unwrap_or_default()
    }
}

/// A remedy without the parts that differ from machine to machine, for comparison.
pub(crate) fn same_remedy(text: &str) -> String {
    retro_text::fingerprint::normal(text).to_lowercase()
}

/// The least number of words that two errors must share.
const ERROR_WORDS_MIN: usize = 3;
/// The least share of the words of the shorter error.
const ERROR_SHARE: f64 = 0.8;
/// The least share if both have the same remedy.
const ERROR_SHARE_HELPED: f64 = 0.5;
/// The least share of all words of both, so that a long line does not absorb short ones.
const ERROR_BOTH: f64 = 0.5;
/// The least share of the words of two corrections, and the least similarity of their meaning.
const SAID_SHARE: f64 = 0.6;
const SAID_MEANING: f64 = 0.55;
/// The least share of the words of two requests in one repository.
const ASKED_SHARE: f64 = 0.5;

/// True if two loci of one family are near.
pub(crate) fn is_near(a: &Spot, b: &Spot) -> bool {
    match a.family() {
        "error" => is_same_error(a, b),
        "correction" => is_same_said(a, b),
        "abandoned" => {
            let (shared, least, all) = shares(&a.terms, &b.terms);
            let is_here = a.names == b.names;
            let share = shared as f64 / least.max(1) as f64;
            shared >= 2 && share >= if is_here { ASKED_SHARE } else { 0.75 } && shared * 4 >= all
        }
        _ => false,
    }
}

fn is_same_error(a: &Spot, b: &Spot) -> bool {
    let (shared, least, all) = shares(&a.terms, &b.terms);
    let share = shared as f64 / least.max(1) as f64;
    let helped = a.remedies.iter().any(|remedy| b.remedies.contains(remedy));
    let (names, fewest, all_names) = shares(&a.names, &b.names);
    if shared > 0 && shared == all && names > 0 && names == all_names {
        return true;
    }
    if helped && shared >= 1 && (share >= ERROR_SHARE_HELPED || (names >= 1 && names == fewest)) {
        return true;
    }
    // Few words, and mistakes in code, must be the same altogether.
    let must_be_equal = least < ERROR_WORDS_MIN || (a.own && b.own);
    let is_like = shared >= ERROR_WORDS_MIN.min(least.max(2))
        && share >= ERROR_SHARE
        && (shared as f64) >= ERROR_BOTH * all as f64
        && (!must_be_equal || shared == all);
    // Two mistakes in code that only share their kind are two matters; so are two missing
    // things that nothing else connects.
    let same_names = all_names == 0 || (fewest > 0 && names * 2 >= fewest);
    let may_differ = !a.own && !b.own && shared > ERROR_WORDS_MIN && share >= 0.99;
    is_like && (same_names || may_differ)
}

fn is_same_said(a: &Spot, b: &Spot) -> bool {
    let (shared, least, _) = shares(&a.terms, &b.terms);
    if shared == 0 {
        return false;
    }
    // One word in the place of another: the same is said of something else.
    if a.terms.len() == b.terms.len() && shared + 1 == least {
        return false;
    }
    let share = shared as f64 / least as f64;
    if shared >= 2 && share >= SAID_SHARE {
        return true;
    }
    let meaning = match (&a.meaning, &b.meaning) {
        (Some(a), Some(b)) => f64::from(a.cosine(b)),
        _ => 0.0,
    };
    meaning >= SAID_MEANING && (share >= 0.5 || shared >= 2)
}

/// For two sorted lists: the number of common terms, the length of the shorter list, and the size
/// of the union.
fn shares(a: &[String], b: &[String]) -> (usize, usize, usize) {
    let shared = a.iter().filter(|term| b.binary_search(term).is_ok()).count();
    (shared, a.len().min(b.len()), a.len() + b.len() - shared)
}

/// Spots by their terms. Only spots with a common rare term are compared.
pub(crate) struct Blocks(HashMap<String, Vec<usize>>);

/// A term of more spots than this is ignored.
const COMMON: usize = 200;

impl Blocks {
    pub(crate) fn new() -> Blocks {
        Blocks(HashMap::new())
    }

    /// Spots that may be near, in order of addition.
    pub(crate) fn near(&self, spot: &Spot) -> Vec<usize> {
        let keys = spot.terms.iter().chain(&spot.remedies);
        let lists = keys.filter_map(|term| self.0.get(&format!("{} {term}", spot.family())));
        let mut found: Vec<usize> = lists.filter(|list| list.len() <= COMMON).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(crate) fn add(&mut self, spot: &Spot, place: usize) {
        for term in spot.terms.iter().chain(&spot.remedies) {
            let list = self.0.entry(format!("{} {term}", spot.family())).or_default();
            if list.last() != Some(&place) {
                list.push(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detectors::sign;
    use crate::fault::Fault;
    use crate::sign::Polarity;
    use crate::terms;
    use retro_search::embed::{BuiltIn, Embedder};

    fn spot(line: &str, is_said: bool) -> Spot {
        let mut sign = sign(Polarity::Problem, "correction:x".to_owned(), String::new());
        if is_said {
            sign.terms = terms::said(line);
            let mut spot = Spot::of(&sign);
            spot.meaning = BuiltIn::new().unwrap().embed(&[line]).unwrap().pop();
            return spot;
        }
        let normal = retro_text::fingerprint::normal(line);
        if let Some(fault) = Fault::in_line(line.to_owned(), &normal, &normal, false) {
            (sign.locus, sign.terms, sign.names) = (fault.locus, fault.terms.words, fault.terms.names);
            // What speaks of code was written by the session, as a rule.
            sign.own = fault.of_code;
        } else {
            sign.locus = format!("none:{line}");
        }
        Spot::of(&sign)
    }

    /// Pairs of one half: right, wrongly together, wrongly apart, and the wrong ones.
    fn judged(half: usize, is_said: bool) -> (usize, usize, usize, Vec<String>) {
        let (mut right, mut together, mut apart, mut wrong) = (0, 0, 0, Vec::new());
        let lines = include_str!("../tests/near_pairs.txt").lines().filter(|line| !line.starts_with('#'));
        let lines = lines.filter(|line| line.starts_with("said ") == is_said);
        for line in lines.enumerate().filter(|(at, _)| at % 2 == half).map(|(_, line)| line) {
            let parts: Vec<&str> = line.split(" | ").collect();
            let [kind, a, b] = parts.as_slice() else { panic!("{line}") };
            let (a, b) = (spot(a, is_said), spot(b, is_said));
            let is_one = a.locus == b.locus && !is_said || is_near(&a, &b) || is_near(&b, &a);
            match (kind.ends_with("same"), is_one) {
                (true, true) | (false, false) => right += 1,
                (true, false) => apart += 1,
                (false, true) => together += 1,
            }
            if kind.ends_with("same") != is_one {
                wrong.push(line.to_owned());
            }
        }
        (right, together, apart, wrong)
    }

    #[test]
    fn near_matches_of_pairs_that_others_printed_and_said() {
        for is_said in [false, true] {
            for half in [0, 1] {
                let (right, together, apart, wrong) = judged(half, is_said);
                println!(
                    "{} half {half}: {right} right, {together} wrongly together, {apart} wrongly apart\n  {}",
                    if is_said { "corrections" } else { "errors" },
                    wrong.join("\n  ")
                );
                assert!(together * 10 <= right + together + apart, "{wrong:?}");
            }
        }
    }
}
