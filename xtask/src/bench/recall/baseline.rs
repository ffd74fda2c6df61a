//! A plain BM25 over whole sessions: what every search should be above.

use hashbrown::HashMap;
use retro::search::Words;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Texts with the counts of their words.
pub(super) struct Baseline {
    words: Words,
    texts: Vec<(HashMap<String, f64>, f64)>,
    holding: HashMap<String, f64>,
    mean: f64,
}

impl Baseline {
    pub(super) fn new(texts: impl Iterator<Item = String>) -> Baseline {
        let mut words = Words::default();
        let mut holding: HashMap<String, f64> = HashMap::new();
        let texts: Vec<(HashMap<String, f64>, f64)> = texts
            .map(|text| {
                let mut counts: HashMap<String, f64> = HashMap::new();
                let length =
                    words.each(&text, |term| *counts.entry(term.text.to_owned()).or_default() += 1.0);
                counts.keys().for_each(|term| *holding.entry(term.clone()).or_default() += 1.0);
                (counts, f64::from(length))
            })
            .collect();
        let mean = texts.iter().map(|(_, length)| length).sum::<f64>() / texts.len().max(1) as f64;
        Baseline { words, texts, holding, mean }
    }

    /// The texts with a word of the question and their scores, best first.
    pub(super) fn ask(&mut self, question: &str) -> Vec<(usize, f64)> {
        let terms = self.words.distinct(question);
        let count = self.texts.len() as f64;
        let score = |(counts, length): &(HashMap<String, f64>, f64)| -> f64 {
            let norm = K1 * (1.0 - B + B * length / self.mean);
            let of_term = |term: &String| {
                let held = counts.get(term).copied().unwrap_or(0.0);
                let holding = self.holding.get(term).copied().unwrap_or(0.0);
                (1.0 + (count - holding + 0.5) / (holding + 0.5)).ln() * held * (K1 + 1.0) / (held + norm)
            };
            terms.iter().map(of_term).sum()
        };
        let mut found: Vec<(usize, f64)> = self.texts.iter().map(score).enumerate().collect();
        found.retain(|(_, score)| *score > 0.0);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found
    }

    /// The share of a question's words that a text has.
    pub(super) fn held(&mut self, question: &str, text: usize) -> f64 {
        let terms = self.words.distinct(question);
        let Some((counts, _)) = self.texts.get(text) else { return 0.0 };
        let held = terms.iter().filter(|term| counts.contains_key(*term)).count();
        held as f64 / terms.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarer_word_counts_more_and_the_longer_text_less() {
        let texts =
            ["cart cart river", "cart harbour", "cart and very many other words beside harbour", "tax"];
        let mut baseline = Baseline::new(texts.iter().map(|text| (*text).to_owned()));
        let order = |found: Vec<(usize, f64)>| found.into_iter().map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(order(baseline.ask("harbour cart")), [1, 2, 0]);
        assert_eq!(order(baseline.ask("zebra")), Vec::<usize>::new());
        assert!((baseline.held("tax zebra", 3) - 0.5).abs() < 1e-9);
    }
}
