//! Words that follow each other in a question, and where they do in a text.

use hashbrown::HashMap;

use super::Known;
use crate::ranker::Numbers;
use crate::words::Words;

/// Pairs of words that follow each other in a question.
pub(super) struct Neighbours {
    words: Words,
    /// The words by their terms.
    numbers: HashMap<String, usize>,
    /// The pairs that begin with each word: the other word, and which pair it is.
    behind: Vec<Vec<(usize, usize)>>,
    /// What each pair counts: as much as both of its words.
    weights: Vec<f64>,
    apart_max: u32,
}

impl Neighbours {
    /// The pairs of a question, of the words that are looked for.
    pub(super) fn of(question: &str, terms: &[Known], numbers: &Numbers) -> Neighbours {
        let mut neighbours = Neighbours {
            words: Words::default(),
            numbers: terms.iter().enumerate().map(|(at, known)| (known.term.clone(), at)).collect(),
            behind: vec![Vec::new(); terms.len()],
            weights: Vec::new(),
            apart_max: numbers.neighbours_apart_max,
        };
        let mut words: Vec<usize> = Vec::new();
        neighbours.words.each(question, |term| {
            // A name of several words is found by its words.
            let number = neighbours.numbers.get(term.text).filter(|_| !term.is_compound);
            words.extend(number);
        });
        for pair in words.windows(2) {
            let (Some(first), Some(next)) = (pair.first(), pair.last()) else { continue };
            let Some(behind) = neighbours.behind.get_mut(*first) else { continue };
            if first == next || behind.iter().any(|(known, _)| known == next) {
                continue;
            }
            behind.push((*next, neighbours.weights.len()));
            let weight = |at: &usize| terms.get(*at).map_or(0.0, |known| known.weight);
            neighbours.weights.push(weight(first) + weight(next));
        }
        neighbours
    }

    /// The share of the pairs whose words follow each other in a text, from 0 to 1.
    pub(super) fn share(&mut self, text: &str) -> f64 {
        let Neighbours { words, numbers, behind, weights, apart_max } = self;
        let mut last: Vec<Option<u32>> = vec![None; behind.len()];
        let mut is_found = vec![false; weights.len()];
        words.each(text, |term| {
            let Some(number) = numbers.get(term.text) else { return };
            for (first, pairs) in behind.iter().enumerate() {
                let Some(Some(before)) = last.get(first) else { continue };
                let is_near = (1..=*apart_max).contains(&term.position.saturating_sub(*before));
                let of_pair = pairs.iter().filter(|(next, _)| is_near && next == number);
                of_pair.for_each(|(_, pair)| is_found[*pair] = true);
            }
            last[*number] = Some(term.position);
        });
        let found: f64 = weights.iter().zip(&is_found).filter(|(_, is)| **is).map(|(weight, _)| weight).sum();
        found / weights.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ranker;

    fn neighbours(question: &str) -> Neighbours {
        let terms = Words::default().distinct(question);
        let known = |term: &String| Known {
            term: term.clone(),
            word: term.clone(),
            weight: 1.0,
            holding: 1,
            is_form: false,
        };
        let terms: Vec<Known> = terms.iter().map(known).collect();
        Neighbours::of(question, &terms, Ranker::new().unwrap().numbers())
    }

    #[test]
    fn words_that_follow_each_other_as_in_the_question_are_found() {
        let mut neighbours = neighbours("the cart total is wrong");
        for (text, share) in [
            ("cart total wrong", 1.0),
            ("the cart has a total", 0.0),
            ("the total of the cart", 0.0),
            ("cart total of something that is wrong", 0.5),
            ("total seems wrong", 0.5),
            ("", 0.0),
        ] {
            assert!((neighbours.share(text) - share).abs() < 1e-9, "{text}");
        }
        assert_eq!(self::neighbours("cart").share("cart cart"), 0.0);
    }
}
