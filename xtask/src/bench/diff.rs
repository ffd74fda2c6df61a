//! `cargo xtask bench usage --diff`: our figures beside ccusage's, and why they differ.
//!
//! Each session is laid alone into a home, both programs count it, and then our
//! own arithmetic counts it again with one habit of ccusage's after the other
//! turned on. What each habit changes is its part of the difference. With all of
//! them on the two must be equal to the token in every file; no file has switches
//! of its own, and what is left is printed as unexplained. The habits were learned
//! from such differences, so logs that they were learned from prove little.

use retro_usage::{Prices, Switch, decide_as, prices_as};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::peers::Peer;
use super::tally::Tally;
use super::told;
use super::units::Unit;
use crate::failure::Failure;
use crate::run;
use crate::table::table;

/// One unit, counted by both.
pub(crate) struct Compared {
    name: String,
    ours: Tally,
    theirs: Tally,
    /// What each switch changes, in the order of [`Switch::ALL`].
    parts: Vec<Tally>,
}

impl Compared {
    fn is_equal(&self) -> bool {
        self.ours.has_tokens_of(&self.theirs)
    }

    fn unexplained(&self) -> Tally {
        self.parts.iter().fold(self.theirs.minus(&self.ours), |rest, part| rest.minus(part))
    }

    /// The switches that change its tokens.
    fn reasons(&self) -> String {
        let named = Switch::ALL.iter().zip(&self.parts);
        let moved = named.filter(|(_, part)| !part.has_tokens_of(&Tally::default()));
        moved.map(|(switch, _)| switch.reason().0).collect::<Vec<_>>().join(", ")
    }
}

/// A set of logs, compared.
pub(crate) struct Set {
    /// What it is called.
    pub(crate) name: String,
    /// Its units.
    pub(crate) units: Vec<Compared>,
}

/// Two programs to compare.
pub(crate) struct Diff<'a> {
    pub(crate) retro: &'a Path,
    pub(crate) ccusage: &'a Peer,
    pub(crate) prices: Prices,
}

impl Diff<'_> {
    /// Counts every unit with both programs.
    pub(crate) fn set(&self, name: &str, units: &[Unit]) -> Result<Set, Failure> {
        let units = units.iter().map(|unit| self.compare(unit)).collect::<Result<_, _>>()?;
        Ok(Set { name: name.to_owned(), units })
    }

    fn compare(&self, unit: &Unit) -> Result<Compared, Failure> {
        let scratch =
            tempfile::tempdir().map_err(|error| Failure::new(format!("no temporary folder: {error}")))?;
        let (home, root) = (scratch.path().join("home"), scratch.path().join("root"));
        std::fs::create_dir_all(&home).map_err(|error| Failure::at(&home, error))?;
        unit.lay(&home)?;
        let mut sync = Command::new(self.retro);
        sync.arg("--home").arg(&home).arg("--root").arg(&root).args(["--quiet", "sync"]);
        run::run(&mut sync)?;
        let mut ccusage = ask(self.ccusage, unit.agent, &home);
        let (theirs, unpriced) = Tally::theirs(&run::output(&mut ccusage)?)?;
        let mut rows = told::rows(&root, unit.agent)?;
        for (_, row, told) in &mut rows {
            told.unpriced = row.model.as_ref().is_some_and(|model| unpriced.contains(model));
        }
        let count = |on: &[Switch]| Tally::ours(&decide_as(rows.clone(), on), &prices_as(&self.prices, on));
        let ours = count(&[]);
        let mut last = ours;
        let mut parts = Vec::new();
        for many in 1..=Switch::ALL.len() {
            let now = count(&Switch::ALL[..many]);
            parts.push(now.minus(&last));
            last = now;
        }
        Ok(Compared { name: unit.name.clone(), ours, theirs, parts })
    }
}

/// ccusage, asked for all sessions of one agent in a home, without the network.
fn ask(ccusage: &Peer, agent: &str, home: &Path) -> Command {
    let mut command = Command::new(&ccusage.program);
    command.args([agent, "session", "--json", "--offline"]).env("HOME", home);
    for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"] {
        command.env_remove(variable);
    }
    command
}

/// Files that differ, one by one.
pub(crate) fn files(sets: &[Set]) -> String {
    let mut rows = Vec::new();
    for (set, unit) in sets.iter().flat_map(|set| set.units.iter().map(move |unit| (set, unit))) {
        let rest = unit.unexplained();
        let is_explained = rest.has_tokens_of(&Tally::default());
        if unit.is_equal() && is_explained {
            continue;
        }
        rows.push(vec![
            format!("{}: {}", set.name, unit.name),
            count(unit.ours.total()),
            count(unit.theirs.total()),
            count(unit.theirs.minus(&unit.ours).total()),
            unit.reasons(),
            if is_explained { "0".to_owned() } else { rest.kinds() },
        ]);
    }
    match rows.is_empty() {
        true => "No file differs.\n".to_owned(),
        false => table(&["file", "ours", "ccusage", "difference", "reasons", "unexplained"], &rows),
    }
}

/// Totals of all sets: first tokens, then dollars.
pub(crate) fn totals(sets: &[Set]) -> String {
    let tokens = |tally: &Tally| count(tally.total());
    // Without a minus before nothing.
    let usd = |tally: &Tally| format!("{:.2}", tally.usd()).replace("-0.00", "0.00");
    let about: Vec<String> =
        Switch::ALL.map(Switch::reason).map(|(name, about)| format!("- *{name}*: {about}\n")).into();
    format!(
        "Tokens:\n\n{}\nDollars at list price:\n\n{}\nEach reason is a switch in our own arithmetic, \
         and all of them are on for every file. They were derived from differences in logs like these. That they \
         explain these differences proves nothing about other logs:\n\n{}",
        sums(sets, &tokens),
        sums(sets, &usd),
        about.concat()
    )
}

fn sums(sets: &[Set], cell: &dyn Fn(&Tally) -> String) -> String {
    let mut header = vec!["logs", "units", "equal", "ours", "ccusage", "difference"];
    header.extend(Switch::ALL.map(|switch| switch.reason().0));
    header.push("unexplained");
    let zero = Tally::default();
    let rows: Vec<Vec<String>> = sets
        .iter()
        .map(|set| {
            let sum = |of: &dyn Fn(&Compared) -> Tally| {
                set.units.iter().fold(zero, |sum, unit| sum.plus(&of(unit)))
            };
            let (ours, theirs) = (sum(&|unit| unit.ours), sum(&|unit| unit.theirs));
            let mut row = vec![
                set.name.clone(),
                set.units.len().to_string(),
                set.units.iter().filter(|unit| unit.is_equal()).count().to_string(),
                cell(&ours),
                cell(&theirs),
                cell(&theirs.minus(&ours)),
            ];
            row.extend((0..Switch::ALL.len()).map(|at| {
                let part = sum(&|unit| unit.parts.get(at).copied().unwrap_or_default());
                cell(&part)
            }));
            // Differences that cancel out across files are unexplained all the same.
            let unexplained: Vec<Tally> = set.units.iter().map(Compared::unexplained).collect();
            let (more, less): (Vec<&Tally>, Vec<&Tally>) =
                unexplained.iter().partition(|rest| (rest.total(), rest.usd()) >= (0, 0.0));
            let add = |parts: Vec<&Tally>| parts.into_iter().fold(zero, |sum, part| sum.plus(part));
            row.push(cell(&add(more).minus(&add(less))));
            row
        })
        .collect();
    table(&header, &rows)
}

/// A number with its thousands apart.
pub(crate) fn count(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

/// Sets of logs below a corpus: sessions that people published and what other
/// tools test with, one by one, and recorded scenarios, a home each, because
/// their files belong together.
pub(crate) fn sets(corpus: &Path) -> Result<Vec<(String, Vec<Unit>)>, Failure> {
    let mut sets = Vec::new();
    for agent in ["claude", "codex"] {
        let home = corpus.join(format!("public-{agent}/home"));
        if home.is_dir() {
            sets.push((format!("{agent}, published, each session alone"), Unit::sessions(agent, &home)?));
            let whole = Unit::whole(agent, "all", &home)?;
            sets.push((format!("{agent}, published, all together"), vec![whole]));
        }
        let fixtures = corpus.join("public-fixtures/home");
        if fixtures.is_dir() {
            let mut units = Unit::sessions(agent, &fixtures)?;
            units.retain(|unit| unit.name.starts_with(&format!(".{agent}/")));
            sets.push((format!("{agent}, test files of other tools"), units));
        }
        let mut scenarios = Vec::new();
        for family in folders(&corpus.join("genuine"))? {
            let name = name(&family);
            if name != agent && !name.starts_with(&format!("{agent}-")) {
                continue;
            }
            for scenario in folders(&family)? {
                let home = scenario.join("home");
                if home.is_dir() {
                    let title = format!("{name}/{}", self::name(&scenario));
                    scenarios.push(Unit::whole(agent, &title, &home)?);
                }
            }
        }
        if !scenarios.is_empty() {
            sets.push((format!("{agent}, recorded scenarios"), scenarios));
        }
    }
    match sets.is_empty() {
        true => Err(Failure::at(corpus, "holds no logs to compare")),
        false => Ok(sets),
    }
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Folders in a folder, sorted; none if it is not there.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut folders = Vec::new();
    if folder.is_dir() {
        for entry in std::fs::read_dir(folder).map_err(|error| Failure::at(folder, error))? {
            let path = entry.map_err(|error| Failure::at(folder, error))?.path();
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    folders.sort();
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(name: &str, ours: [i64; 4], theirs: [i64; 4], parts: &[[i64; 4]]) -> Compared {
        let parts = parts.iter().map(|part| Tally::new(*part, 0.0)).collect();
        Compared { name: name.into(), ours: Tally::new(ours, 1.0), theirs: Tally::new(theirs, 1.0), parts }
    }

    #[test]
    fn a_file_is_named_with_its_reason_or_with_what_is_left() {
        let units = vec![
            compared("same", [1, 1, 1, 1], [1, 1, 1, 1], &[]),
            compared("explained", [1, 0, 0, 2], [0, 0, 0, 0], &[[0; 4], [-1, 0, 0, -2]]),
            compared("open", [1, 0, 0, 0], [4, 0, 0, 0], &[]),
        ];
        let sets = [Set { name: "logs".into(), units }];
        let text = files(&sets);
        assert!(!text.contains("same"), "{text}");
        assert!(text.contains("logs: explained"), "{text}");
        assert!(text.contains(Switch::ALL[1].reason().0), "{text}");
        assert!(text.contains("input 3, cache write 0, cache read 0, output 0"), "{text}");
        assert!(totals(&sets).contains("unexplained"));
    }

    #[test]
    fn what_cancels_out_is_still_unexplained() {
        let units = vec![
            compared("a", [5, 0, 0, 0], [7, 0, 0, 0], &[]),
            compared("b", [5, 0, 0, 0], [3, 0, 0, 0], &[]),
        ];
        let text = sums(&[Set { name: "logs".into(), units }], &|tally| tally.total().to_string());
        let last = text.lines().last().unwrap();
        assert!(last.trim_end_matches(" |").ends_with(" 4"), "{last}");
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([count(0), count(-1_234), count(1_234_567)], ["0", "-1,234", "1,234,567"]);
    }

    #[test]
    fn a_corpus_without_logs_is_refused() {
        let corpus = tempfile::tempdir().unwrap();
        assert!(sets(corpus.path()).is_err());
        let home = corpus.path().join("genuine/codex-0.1/01-hello/home/.codex");
        std::fs::create_dir_all(&home).unwrap();
        let found = sets(corpus.path()).unwrap();
        assert_eq!((found.len(), found[0].1[0].name.as_str()), (1, "codex-0.1/01-hello"));
    }
}
