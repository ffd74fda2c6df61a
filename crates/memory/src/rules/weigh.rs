//! Scores a sentence as a rule: a weighted sum of its features.
//!
//! The weights are in `model.json`. They were fitted by logistic regression (see `fit` in the tests
//! below) on synthetic sentences and on labelled messages of real people, which are not part of the
//! project. Only classes of words have a weight, not words of a message.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hashbrown::HashMap;

use super::signs::{self, Features};

static WEIGHTS: LazyLock<HashMap<String, f64>> = LazyLock::new(|| {
    // The file is compiled in, and a test parses it.
    let read: BTreeMap<String, f64> = serde_json::from_str(include_str!("model.json")).unwrap_or_default();
    read.into_iter().collect()
});

/// A sentence with at least this score is kept for review. Of held-back messages without a rule,
/// four in a hundred reach it.
const KEPT: f64 = 0.72;
/// A calm sentence with at least this score is clearly a rule. One in a hundred messages without a
/// rule reaches it.
const CLEAR: f64 = 1.5;
/// What a sentence loses that points at what only its reader had before their eyes.
pub(super) const POINTING: f64 = 0.8;
/// The bonus for a repetition.
const AGAIN: f64 = 1.0;

/// What is known of a sentence.
pub(super) struct Weighed {
    /// How much speaks for a rule. More than zero is more likely a rule than not.
    pub weight: f64,
    /// It is plainly a rule.
    pub clear: bool,
    /// It is plainly one, and says that it always or never holds.
    pub ever: bool,
}

/// How much speaks for a sentence.
pub(super) fn weight(sentence: &str, message_chars: usize) -> Weighed {
    let features = signs::features(sentence, message_chars);
    let weight = sum(&WEIGHTS, &features);
    let clear = weight >= CLEAR && features.contains_key("calm");
    let says_ever = ["ever", "lasting"].iter().any(|class| features.contains_key(*class));
    Weighed { weight, clear, ever: clear && says_ever }
}

/// True if the score suffices, given the number of repetitions.
pub(super) fn is_enough(weight: f64, times: usize) -> bool {
    weight + if times > 1 { AGAIN } else { 0.0 } >= KEPT
}

fn sum(weights: &HashMap<String, f64>, features: &Features) -> f64 {
    features.iter().map(|(name, value)| weights.get(name).copied().unwrap_or(0.0) * value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{PARTS_MAX, sentences};

    /// A message with the features of its sentences.
    struct Example {
        sentences: Vec<Features>,
        is_rule: bool,
        weight: f64,
        /// The source of the text. Test sources are never used for training.
        of: String,
    }

    fn example(text: &str, is_rule: bool, weight: f64, of: &str) -> Example {
        let chars = text.chars().count();
        let cut = sentences(text).into_iter().filter_map(|(from, to)| text.get(from..to));
        let cut = cut.map(str::trim).filter(|one| one.len() >= 8 && one.chars().count() <= 300);
        let sentences = cut.map(|one| signs::features(one, chars)).collect();
        Example { sentences, is_rule, weight, of: of.to_owned() }
    }

    /// Synthetic sentences, either for training or held back.
    fn made_up(part: &str) -> Vec<(bool, &'static str, Example)> {
        let rows = include_str!("said.tsv").lines().map(|row| row.split('\t').collect::<Vec<_>>());
        rows.filter(|row| row[0] == part)
            .map(|row| (row[1] == "R", row[2], example(row[3], row[1] == "R", 1.0, "made up")))
            .collect()
    }

    fn best(weights: &HashMap<String, f64>, example: &Example) -> f64 {
        let sums = example.sentences.iter().map(|one| sum(weights, one));
        sums.fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn sentences_that_were_held_back_are_told_apart() {
        let mut kept: HashMap<(bool, bool), (usize, usize)> = HashMap::new();
        for (is_rule, language, example) in made_up("held") {
            let (taken, all) = kept.entry((is_rule, language == "en")).or_default();
            *all += 1;
            *taken += usize::from(best(&WEIGHTS, &example) >= KEPT);
        }
        println!("(rule, English): kept of all {kept:?}");
        for (is_english, share_min) in [(true, 0.55), (false, 0.7)] {
            let (taken, all) = kept[&(true, is_english)];
            assert!(taken as f64 >= share_min * all as f64, "{kept:?}");
            let (taken, all) = kept[&(false, is_english)];
            assert!(taken * 10 <= all, "{kept:?}");
        }
    }

    /// Regression with a penalty on large weights. From a message with a rule, it learns only the
    /// sentence that looks most like one. From other messages, it learns every sentence.
    fn fitted(examples: &[&Example]) -> HashMap<String, f64> {
        const PENALTY: f64 = 4.0;
        let mut weights: HashMap<String, f64> = HashMap::new();
        for round in 0..2 {
            let mut rows: Vec<(&Features, bool, f64)> = Vec::new();
            for example in examples {
                let worth = |one: &&Features| match round {
                    0 => one.len() as f64,
                    _ => sum(&weights, one),
                };
                match example.is_rule {
                    true => {
                        let most = example.sentences.iter().max_by(|a, b| worth(a).total_cmp(&worth(b)));
                        rows.extend(most.map(|one| (one, true, example.weight)));
                    }
                    false => rows.extend(example.sentences.iter().map(|one| (one, false, example.weight))),
                }
            }
            let mass =
                |is_rule: bool| rows.iter().filter(|row| row.1 == is_rule).map(|row| row.2).sum::<f64>();
            let balance = (mass(false) / mass(true)).sqrt();
            let mut moments: HashMap<String, (f64, f64)> = HashMap::new();
            for step in 1..=120 {
                let mut slopes: HashMap<&str, f64> = HashMap::new();
                for (features, is_rule, weight) in &rows {
                    let chance = 1.0 / (1.0 + (-sum(&weights, features).clamp(-30.0, 30.0)).exp());
                    let error =
                        (chance - f64::from(*is_rule)) * weight * if *is_rule { balance } else { 1.0 };
                    for (name, value) in *features {
                        *slopes.entry(name.as_str()).or_default() += error * value;
                    }
                }
                for (name, slope) in slopes {
                    let weight = weights.entry(name.to_owned()).or_default();
                    let slope = slope + if name == "b" { 0.0 } else { PENALTY * *weight };
                    let (first, second) = moments.entry(name.to_owned()).or_default();
                    *first = 0.9 * *first + 0.1 * slope;
                    *second = 0.99 * *second + 0.01 * slope * slope;
                    let (bias_1, bias_2) = (1.0 - 0.9_f64.powi(step), 1.0 - 0.99_f64.powi(step));
                    *weight -= 0.1 * (*first / bias_1) / ((*second / bias_2).sqrt() + 1e-8);
                }
            }
        }
        weights
    }

    /// Fits the weights and reports the results on held-back examples:
    /// `RETRO_FIT_RULES=TALK.json cargo test --release -p retro-memory fit -- --nocapture`, with
    /// a list of messages of any people in TALK.json and `RETRO_SHARED` set. Writes `model.json`.
    #[test]
    fn fit() {
        let (Some(talk), Some(shared)) =
            (std::env::var_os("RETRO_FIT_RULES"), std::env::var_os("RETRO_SHARED"))
        else {
            println!("skipped: RETRO_FIT_RULES or RETRO_SHARED is not set");
            return;
        };
        let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
        let mut all: Vec<Example> = made_up("learned").into_iter().map(|(_, _, one)| one).collect();
        let messages: Vec<String> = serde_json::from_str(&read(std::path::Path::new(&talk))).unwrap();
        all.extend(messages.iter().map(|text| example(text, false, 0.25, "talk")));
        for row in read(&std::path::Path::new(&shared).join("corpus/user-words.jsonl")).lines() {
            let row: serde_json::Value = serde_json::from_str(row).unwrap();
            let (text, of) = (row["text"].as_str().unwrap(), row["repo"].as_str().unwrap());
            let (is_rule, weight) = match row["rule"].as_u64().unwrap() {
                0 => (false, 0.5),
                1 => (true, 0.2),
                _ => (true, 1.0),
            };
            if text.chars().count() <= PARTS_MAX {
                all.push(example(text, is_rule, weight, of));
            }
        }
        let mut folds: Vec<&str> = all.iter().map(|one| one.of.as_str()).collect();
        folds.sort_unstable();
        folds.dedup();
        folds.retain(|of| !matches!(*of, "made up" | "talk"));
        let mut tried: Vec<(f64, bool, f64)> = Vec::new();
        for of in folds {
            let others: Vec<&Example> = all.iter().filter(|one| one.of != of).collect();
            let weights = fitted(&others);
            let own = all.iter().filter(|one| one.of == of);
            tried.extend(own.map(|one| (best(&weights, one), one.is_rule, one.weight)));
        }
        let share = |is_rule: bool, weight: f64| {
            let of: Vec<_> = tried.iter().filter(|one| one.1 == is_rule && one.2 == weight).collect();
            (of.iter().filter(|one| one.0 >= KEPT).count(), of.len())
        };
        println!(
            "one repository held back at a time: kept {:?} that surely hold a rule, {:?} arguably, {:?} none",
            share(true, 1.0),
            share(true, 0.2),
            share(false, 0.5)
        );
        let weights = fitted(&all.iter().collect::<Vec<_>>());
        let rounded: BTreeMap<&String, f64> = weights
            .iter()
            .map(|(name, weight)| (name, (weight * 100.0).round() / 100.0))
            .filter(|(_, weight)| weight.abs() >= 0.01)
            .collect();
        let place = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rules/model.json");
        std::fs::write(place, serde_json::to_string_pretty(&rounded).unwrap() + "\n").unwrap();
    }
}
