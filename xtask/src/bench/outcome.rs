//! `cargo xtask bench outcome`: how often the outcome of a session is what a person who
//! read it says.
//!
//! `xtask/outcome/labels.tsv` holds labels of published and recorded sessions, made before
//! the rules and a second time in another order. A session is known by the first 12 digits
//! of the SHA-256 of its log; the last of these digits puts it into one of two halves: 0 to
//! 7 is for tuning rules, 8 to f is held back. Figures are those of the held half.
//! `second.tsv` has what another reader said of some of them, from the requests and the end of
//! each log alone and without knowing the first labels: it says how far readers agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use retro::engine::stages::by_name;
use retro::engine::{Config, SyncOptions, World, sync};
use retro::insight::Digest;
use retro::store::{DIGESTS, RealDisk, Store};

use super::Scratch;
use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::run;
use crate::table::table;

/// The answers, in the order of the tables.
const ANSWERS: [&str; 4] = ["success", "failed", "abandoned", "unknown"];

/// What somebody who read a session says of it.
#[derive(Debug, Clone)]
struct Label {
    outcome: String,
    /// Whether the session belongs to the half that is held back.
    is_held: bool,
}

/// A label beside what the rules say.
#[derive(Debug, Clone)]
struct Judged {
    label: Label,
    said: &'static str,
    rule: String,
    is_real: bool,
    key: String,
}

/// The command.
pub(crate) fn command(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let has = |option: &str| options.iter().any(|given| given == option);
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS names no folder with recorded sessions");
        return Ok(());
    };
    let path = repository.path("xtask/outcome/labels.tsv");
    let text = std::fs::read_to_string(&path).map_err(|error| Failure::at(&path, error))?;
    let labels = labels(&text);
    let mut judged = Vec::new();
    for home in homes(&corpus) {
        judged.extend(judge(&home, &labels)?);
    }
    let (held, tune): (Vec<Judged>, Vec<Judged>) = judged.into_iter().partition(|one| one.label.is_held);
    if has("--tune") {
        print!("{}\n{}", page(&tune, "for tuning"), by_rule(&tune));
        let wrong = tune.iter().filter(|one| one.said != one.label.outcome);
        wrong.for_each(|one| {
            println!("{} is {}, called {} ({})", one.key, one.label.outcome, one.said, one.rule)
        });
        return Ok(());
    }
    let path = repository.path("xtask/outcome/second.tsv");
    let second = std::fs::read_to_string(&path).map_err(|error| Failure::at(&path, error))?;
    let text = format!("{}\n{}", page(&held, "held back"), agreement(&labels, &second));
    print!("{text}");
    if has("--write") {
        let command = "cargo xtask bench outcome --write";
        Part { name: "bench outcome", title: "Outcome", command, versions: "" }.write(repository, &text)?;
    }
    Ok(())
}

fn labels(text: &str) -> BTreeMap<String, Label> {
    let of = |line: &str| {
        let mut fields = line.split('\t');
        let (key, _agent, outcome) = (fields.next()?, fields.next()?, fields.next()?);
        let is_held = key.ends_with(|digit: char| matches!(digit, '8'..='9' | 'a'..='f'));
        Some((key.to_owned(), Label { outcome: outcome.to_owned(), is_held }))
    };
    text.lines().skip(1).filter_map(of).collect()
}

/// Every folder named `home` that holds logs.
pub(super) fn homes(corpus: &Path) -> Vec<PathBuf> {
    let mut homes = Vec::new();
    let mut walk = walkdir::WalkDir::new(corpus).max_depth(4).sort_by_file_name().into_iter();
    while let Some(Ok(entry)) = walk.next() {
        if entry.file_type().is_dir() && entry.file_name() == "home" {
            homes.push(entry.into_path());
            walk.skip_current_dir();
        }
    }
    homes
}

/// The labelled sessions of a home, judged.
fn judge(home: &Path, labels: &BTreeMap<String, Label>) -> Result<Vec<Judged>, Failure> {
    let labelled: BTreeMap<PathBuf, String> =
        hashes(home)?.into_iter().filter(|(_, key)| labels.contains_key(key)).collect();
    if labelled.is_empty() {
        return Ok(Vec::new());
    }
    let scratch = Scratch::new()?;
    let said = |error: &dyn std::fmt::Display| Failure::at(home, error);
    let (world, config) = (World::at(home), Config::for_root(scratch.folder.join("root")));
    let options = SyncOptions { until: by_name("digest"), ..SyncOptions::default() };
    sync(&world, &config, &options, &|_| {}).map_err(|error| said(&error))?;
    let store =
        Store::open(&config.root.value, std::sync::Arc::new(RealDisk)).map_err(|error| said(&error))?;
    let mut judged = Vec::new();
    for key in store.session_keys().map_err(|error| said(&error))? {
        let file = store.session(&key).map_err(|error| said(&error))?;
        let digest: Option<Digest> = store.object(&DIGESTS, &key).map_err(|error| said(&error))?;
        let (Some(file), Some(digest)) = (file, digest) else { continue };
        let places = file.sources.values().flat_map(|source| &source.places);
        let Some(key) = places.filter_map(|place| labelled.get(Path::new(place))).next() else { continue };
        let Some(label) = labels.get(key) else { continue };
        judged.push(Judged {
            label: label.clone(),
            said: digest.outcome.value.as_str(),
            rule: digest.outcome.rule,
            is_real: digest.quality.real,
            key: key.clone(),
        });
    }
    Ok(judged)
}

/// The first 12 digits of the SHA-256 of every log.
fn hashes(home: &Path) -> Result<Vec<(PathBuf, String)>, Failure> {
    let files = walkdir::WalkDir::new(home).into_iter().filter_map(Result::ok);
    let files: Vec<PathBuf> =
        files.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect();
    let mut all = Vec::new();
    for some in files.chunks(200) {
        let mut command = match run::is_there("sha256sum", &["--version"]) {
            true => Command::new("sha256sum"),
            false => Command::new("shasum"),
        };
        if command.get_program() == "shasum" {
            command.args(["-a", "256"]);
        }
        for line in run::output(command.arg("--").args(some))?.lines() {
            if let Some((hash, path)) = line.split_once("  ") {
                all.push((PathBuf::from(path), hash.chars().take(12).collect()));
            }
        }
    }
    Ok(all)
}

/// The tables.
fn page(judged: &[Judged], half: &str) -> String {
    let count = |wanted: &dyn Fn(&Judged) -> bool| judged.iter().filter(|one| wanted(one)).count();
    let rows: Vec<Vec<String>> = ANSWERS
        .iter()
        .map(|label| {
            let of = |said: &str| count(&|one| one.label.outcome == *label && one.said == said).to_string();
            let all = count(&|one| one.label.outcome == *label).to_string();
            [(*label).to_owned(), all].into_iter().chain(ANSWERS.iter().map(|said| of(said))).collect()
        })
        .collect();
    let share = |part: usize, whole: usize| match whole {
        0 => "none".to_owned(),
        _ => format!("{part} of {whole}, {:.1} %", part as f64 * 100.0 / whole as f64),
    };
    let right = count(&|one| one.label.outcome == one.said);
    let most = ANSWERS.iter().map(|label| count(&|one| one.label.outcome == *label)).max().unwrap_or(0);
    let precision = |answer: &str| {
        let said = count(&|one| one.said == answer);
        share(count(&|one| one.said == answer && one.label.outcome == answer), said)
    };
    let real = count(&|one| one.is_real);
    let answered = count(&|one| one.is_real && one.said != "unknown");
    let other = count(&|one| one.label.outcome != "success");
    let missed = count(&|one| one.label.outcome != "success" && one.said == "success");
    let unknown = count(&|one| one.said == "unknown");
    let bars = [
        ("success: answers that are right", precision("success"), "at least 90 %"),
        ("failed: answers that are right", precision("failed"), "at least 90 %"),
        ("abandoned: answers that are right", precision("abandoned"), ""),
        (
            "answers other than unknown, of sessions that are real work",
            share(answered, real),
            "at least 60 %",
        ),
        ("called success, of sessions that were none", share(missed, other), "at most 33 %"),
        ("called unknown, of all", share(unknown, judged.len()), ""),
        ("right, of all", share(right, judged.len()), ""),
        ("right, of all, when the most frequent answer is always given", share(most, judged.len()), ""),
    ];
    let bars: Vec<Vec<String>> =
        bars.into_iter().map(|(what, value, bar)| vec![what.to_owned(), value, bar.to_owned()]).collect();
    format!(
        "{} sessions, the half that is {half}. Rows are labels, columns are answers:\n\n{}\n{}",
        judged.len(),
        table(&["label", "sessions", "success", "failed", "abandoned", "unknown"], &rows),
        table(&["share", "measured", "bar"], &bars)
    )
}

/// How often two readers say the same.
fn agreement(labels: &BTreeMap<String, Label>, second: &str) -> String {
    let pairs: Vec<(&str, &str)> = second
        .lines()
        .skip(1)
        .filter_map(|line| {
            let (key, outcome) = line.split_once('\t')?;
            Some((labels.get(key)?.outcome.as_str(), outcome))
        })
        .collect();
    let same = pairs.iter().filter(|(first, second)| first == second).count();
    format!(
        "A second reader saw the requests and the end of {} of all these sessions, and agrees on {same}.\n",
        pairs.len()
    )
}

/// How often each rule is right.
fn by_rule(judged: &[Judged]) -> String {
    let mut rules: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for one in judged {
        let (all, right) = rules.entry((one.said, &one.rule)).or_default();
        *all += 1;
        *right += usize::from(one.said == one.label.outcome);
    }
    let rows: Vec<Vec<String>> = rules
        .into_iter()
        .map(|((said, rule), (all, right))| {
            vec![said.to_owned(), rule.to_owned(), all.to_string(), right.to_string()]
        })
        .collect();
    table(&["answer", "rule", "sessions", "right"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_of_one_half_or_the_other_and_every_answer_is_counted() {
        let text = "key\tagent\toutcome\treal\treason\n000000000007\tclaude\tsuccess\ttrue\tx\n\
                    000000000008\tcodex\tunknown\ttrue\ty\n";
        let labels = labels(text);
        let held: Vec<bool> = labels.values().map(|label| label.is_held).collect();
        assert_eq!(held, [false, true]);
        let judged: Vec<Judged> = labels
            .into_iter()
            .map(|(key, label)| Judged { label, said: "success", rule: "x".into(), is_real: true, key })
            .collect();
        let page = page(&judged, "held back");
        for cell in ["1 of 2, 50.0 %", "1 of 1, 100.0 %", "2 of 2, 100.0 %", "2 sessions"] {
            assert!(page.contains(cell), "{cell} in\n{page}");
        }
    }

    #[test]
    fn the_labels_of_the_project_can_be_read() {
        let text =
            std::fs::read_to_string(Repository::find().unwrap().path("xtask/outcome/labels.tsv")).unwrap();
        let labels = labels(&text);
        assert!(labels.len() >= 120);
        let second =
            std::fs::read_to_string(Repository::find().unwrap().path("xtask/outcome/second.tsv")).unwrap();
        assert!(second.lines().count() > 60);
        for line in second.lines().skip(1) {
            let (key, outcome) = line.split_once('\t').unwrap();
            assert!(labels.contains_key(key) && ANSWERS.contains(&outcome), "{line}");
        }
        assert!(agreement(&labels, &second).contains("agrees on"));
        for (key, label) in labels {
            assert!(key.len() == 12 && ANSWERS.contains(&label.outcome.as_str()), "{key}");
        }
    }
}
