//! Every rule with texts it must find and texts it must leave alone, and what
//! holds for the scanner as a whole.

mod encoding;
mod examples;
mod recipe;

use recipe::{Dice, cook};
use retro_text::{redact, secrets};
use std::collections::BTreeSet;

/// Seeds tried for each recipe. A failing one is named by the assertion.
const SEEDS: std::ops::Range<u64> = 0..40;

#[test]
fn every_rule_finds_its_examples_and_leaves_the_others() {
    let mut wrong = BTreeSet::new();
    for (rule, found, left) in examples::all() {
        for seed in SEEDS {
            let is_seen = |recipe: &str| {
                let text = cook(recipe, &mut Dice::new(seed));
                secrets::find(&text).iter().any(|finding| finding.rule == *rule)
            };
            wrong.extend(
                found.iter().filter(|recipe| !is_seen(recipe)).map(|recipe| (rule, "misses", recipe, seed)),
            );
            wrong.extend(
                left.iter().filter(|recipe| is_seen(recipe)).map(|recipe| (rule, "takes", recipe, seed)),
            );
        }
    }
    assert!(wrong.is_empty(), "rule, what it does, recipe, seed: {wrong:#?}");
}

#[test]
fn what_is_no_secret_for_its_rule_is_none_for_the_rules_of_values_either() {
    for (rule, _, left) in
        examples::all().filter(|(rule, ..)| ["password", "secret-value", "url-password"].contains(rule))
    {
        for recipe in *left {
            let text = cook(recipe, &mut Dice::new(1));
            assert_eq!(redact(&text).as_str(), text, "{rule}: {recipe}");
        }
    }
}

#[test]
fn every_rule_has_examples_of_both_kinds() {
    let shown: BTreeSet<_> = examples::all().map(|(rule, ..)| *rule).collect();
    let known: BTreeSet<_> = secrets::rules().iter().map(|rule| rule.name).collect();
    assert_eq!(shown, known);
    assert!(examples::TABLES.iter().all(|table| table.is_sorted_by_key(|(rule, ..)| *rule)));
    assert!(examples::all().all(|(_, found, left)| !found.is_empty() && !left.is_empty()));
}

#[test]
fn a_masked_secret_is_none() {
    // A password that somebody made up, and base64, have parts that no mask covers.
    let is_random = |recipe: &&&str| !recipe.contains("{typed}") && !recipe.contains("base64");
    let mut wrong = Vec::new();
    for (rule, found, _) in examples::all() {
        for recipe in found.iter().filter(is_random) {
            let text = cook(recipe, &mut Dice::masked());
            wrong.extend(secrets::find(&text).into_iter().map(|finding| (rule, recipe, finding.rule)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Somebody's token may count up or repeat itself; a service's mark before it is
/// reason enough to hide it.
#[test]
fn a_pattern_behind_a_mark_hides_nothing() {
    let patterns = ["abc", "0123456789", "Zz9Yy8", "abcdefghijklmnopqrstuvwxyz0123456789"];
    let marks = [("gh", "p_", 36), ("np", "m_", 36), ("dckr_", "pat_", 27), ("CLOJARS", "_", 60)];
    for (start, end, length) in marks {
        for pattern in patterns {
            let token: String =
                [start, end].concat().chars().chain(pattern.chars().cycle().take(length)).collect();
            assert_eq!(secrets::find(&token).len(), 1, "{start}{end} and {length} of {pattern}");
        }
    }
}

#[test]
fn the_recipes_themselves_are_quiet() {
    for (rule, found, left) in examples::all() {
        for recipe in found.iter().chain(*left) {
            assert_eq!(secrets::find(recipe), [], "{rule}: {recipe}");
        }
    }
}

#[test]
fn many_services_are_known() {
    let rules = secrets::rules();
    let services: BTreeSet<_> = rules.iter().map(|rule| rule.service).filter(|name| *name != "any").collect();
    assert!(
        rules.len() >= 150 && services.len() >= 100,
        "{} rules, {} services",
        rules.len(),
        services.len()
    );
    assert!(rules.is_sorted_by_key(|rule| rule.name));
    assert!(rules.iter().all(|rule| !rule.what.is_empty() && !rule.what.ends_with('.')));
}

#[test]
fn only_the_secret_goes() {
    let dice = &mut Dice::new(7);
    let token = cook("ghp_{alnum:36}", dice);
    assert_eq!(*redact(&format!("a {token} b")), "a [redacted:github-token] b");
    let url = cook("postgres://shop:{typed}{at}db/main", dice);
    assert_eq!(*redact(&url), "postgres://shop:[redacted:url-password]@db/main");
    let key = cook("{pem:RSA PRIVATE}", dice);
    let dashes = "-----";
    let clean = format!(
        "{dashes}BEGIN RSA PRIVATE KEY{dashes}[redacted:private-key]{dashes}END RSA PRIVATE KEY{dashes}"
    );
    assert_eq!(*redact(&key), clean);
}

#[test]
fn a_long_secret_goes_whole() {
    let text = cook("x eyJ{alnum:40}.eyJ{alnum:70000}.{alnum:86} y", &mut Dice::new(3));
    let clean = redact(&text);
    assert_eq!(clean.head(40).as_str(), "x [redacted:jwt] y");
}

#[test]
fn the_surest_rule_gives_its_name() {
    let text = cook("GITHUB_TOKEN=ghp_{alnum:36}", &mut Dice::new(5));
    assert_eq!(*redact(&text), "GITHUB_TOKEN=[redacted:github-token]");
}

#[test]
fn json_is_redacted_in_keys_and_values() {
    let token = cook("ghp_{alnum:36}", &mut Dice::new(11));
    let json = serde_json::json!({ &token: [{ "note": format!("use {token}") }], "n": 1 });
    let clean = retro_text::redact_json(json).into_inner();
    assert_eq!(
        clean.to_string(),
        r#"{"[redacted:github-token]":[{"note":"use [redacted:github-token]"}],"n":1}"#
    );
}
