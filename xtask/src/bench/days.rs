//! `cargo xtask bench usage --diff`, second part: our days beside those of `ccusage daily`.
//!
//! ccusage's daily report reads more of a log than its others do: it counts the answers in
//! progress records, as we do. It counts every line of an answer that has no request id and
//! a time of its own, though an answer is logged as several lines; what that adds is
//! computed here from the logs themselves. Whatever is left is unexplained.

use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::diff::count;
use super::peers::Peer;
use super::tally::Tally;
use crate::failure::Failure;
use crate::run;
use crate::table::table;

type Days = BTreeMap<String, Tally>;

/// The days of a home of Claude Code on which the two programs differ, and why.
pub(crate) fn days(retro: &Path, ccusage: &Peer, home: &Path) -> Result<String, Failure> {
    let scratch =
        tempfile::tempdir().map_err(|error| Failure::new(format!("no temporary folder: {error}")))?;
    let root = scratch.path().join("root");
    let command = |args: &[&str]| {
        let mut command = Command::new(retro);
        command.arg("--home").arg(home).arg("--root").arg(&root).args(args);
        command
    };
    run::run(&mut command(&["--quiet", "sync"]))?;
    let ours = run::output(&mut command(&["--no-sync", "--json", "usage", "daily", "--tz", "UTC"]))?;
    let mut theirs = Command::new(&ccusage.program);
    theirs.args(["claude", "daily", "--json", "--offline", "--timezone", "UTC"]);
    theirs.env("HOME", home).env("TZ", "UTC").env_remove("CLAUDE_CONFIG_DIR").env_remove("XDG_CONFIG_HOME");
    let theirs = run::output(&mut theirs)?;
    let ours = read(&ours, "rows", "key", OURS)?;
    let theirs = read(&theirs, "daily", "date", THEIRS)?;
    Ok(told(&ours, &theirs, &repeated(home)?))
}

/// Names of the figures in our answer and in theirs.
const OURS: [&str; 5] =
    ["input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens", "cost_usd"];
const THEIRS: [&str; 5] =
    ["inputTokens", "cacheCreationTokens", "cacheReadTokens", "outputTokens", "totalCost"];

fn read(printed: &str, rows: &str, day: &str, names: [&str; 5]) -> Result<Days, Failure> {
    let answer: Value = serde_json::from_str(printed)
        .map_err(|error| Failure::new(format!("a report by day is no JSON: {error}")))?;
    let [input, write, read, output, usd] = names;
    let rows = answer[rows].as_array().into_iter().flatten();
    let tally = |row: &Value| {
        let tokens = [input, write, read, output].map(|name| row[name].as_i64().unwrap_or_default());
        Tally::new(tokens, row[usd].as_f64().unwrap_or_default())
    };
    Ok(rows.filter_map(|row| Some((row[day].as_str()?.to_owned(), tally(row)))).collect())
}

/// What all lines but one of each answer without a request id come to, by day.
fn repeated(home: &Path) -> Result<Days, Failure> {
    let mut answers: HashMap<String, (String, BTreeMap<String, Tally>)> = HashMap::new();
    for log in logs(&home.join(".claude/projects"))? {
        let text = std::fs::read(&log).map_err(|error| Failure::at(&log, error))?;
        for line in String::from_utf8_lossy(&text).lines() {
            let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
            let (message, day) =
                (&record["message"], record["timestamp"].as_str().and_then(|ts| ts.get(..10)));
            let (Some(id), Some(day)) = (message["id"].as_str(), day) else { continue };
            if record["type"] != "assistant"
                || record["requestId"].is_string()
                || !message["usage"].is_object()
            {
                continue;
            }
            let names =
                ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
            let tokens = names.map(|name| message["usage"][name].as_i64().unwrap_or_default());
            let (_, lines) =
                answers.entry(id.to_owned()).or_insert_with(|| (day.to_owned(), BTreeMap::new()));
            lines.insert(record["timestamp"].to_string(), Tally::new(tokens, 0.0));
        }
    }
    let mut days = Days::new();
    for (day, lines) in answers.into_values() {
        // The one with most output is the answer.
        let mut lines: Vec<Tally> = lines.into_values().collect();
        lines.sort_by_key(Tally::total);
        lines.pop();
        let sum = days.entry(day).or_default();
        *sum = lines.iter().fold(*sum, |sum, line| sum.plus(line));
    }
    Ok(days)
}

fn logs(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut logs = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| Failure::at(folder, error))? {
        let path = entry.map_err(|error| Failure::at(folder, error))?.path();
        if path.is_dir() {
            logs.extend(self::logs(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            logs.push(path);
        }
    }
    Ok(logs)
}

fn told(ours: &Days, theirs: &Days, repeated: &Days) -> String {
    let all: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let of = |days: &Days, day: &str| days.get(day).copied().unwrap_or_default();
    let sum = |days: &Days| days.values().fold(Tally::default(), |sum, day| sum.plus(day));
    let mut rows = Vec::new();
    let row = |name: &str, ours: Tally, theirs: Tally, lines: Tally| {
        let difference = theirs.minus(&ours);
        vec![
            name.to_owned(),
            count(ours.total()),
            count(theirs.total()),
            format!("{:.2}", ours.usd()),
            format!("{:.2}", theirs.usd()),
            count(difference.total()),
            count(lines.total()),
            count(difference.minus(&lines).total()),
        ]
    };
    let mut equal = 0;
    for day in &all {
        let (ours, theirs) = (of(ours, day), of(theirs, day));
        if ours.has_tokens_of(&theirs) {
            equal += 1;
        } else {
            rows.push(row(day, ours, theirs, of(repeated, day)));
        }
    }
    rows.push(row("all days", sum(ours), sum(theirs), sum(repeated)));
    let header = [
        "day",
        "ours",
        "ccusage daily",
        "ours, $",
        "ccusage, $",
        "difference",
        "lines without request id",
        "unexplained",
    ];
    format!(
        "By day (UTC), beside `ccusage claude daily`, on the published logs of Claude Code: {equal} of {} days have the \
         same tokens of every kind. The remaining days and the sums:\n\n{}\n*lines without request id*: an answer is logged as \
         several lines that repeat its tokens. If they have no request id, `ccusage daily` adds up all lines with \
         different times.\n",
        all.len(),
        table(&header, &rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_differ_are_named_with_what_explains_them() {
        let one = |day: &str, input: i64| Days::from([(day.to_owned(), Tally::new([input, 0, 0, 0], 0.0))]);
        let (mut ours, mut theirs) = (one("2026-01-01", 5), one("2026-01-01", 5));
        ours.extend(one("2026-01-02", 10));
        theirs.extend(one("2026-01-02", 30));
        let text = told(&ours, &theirs, &one("2026-01-02", 20));
        assert!(text.contains("1 of 2 days"), "{text}");
        let day = text.lines().find(|line| line.contains("2026-01-02")).unwrap();
        assert!(day.trim_end_matches(" |").ends_with(" 0"), "{day}");
        assert!(!text.contains("| 2026-01-01"), "{text}");
    }

    #[test]
    fn repeated_lines_of_an_answer_are_counted_from_the_logs() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".claude/projects/p");
        std::fs::create_dir_all(&folder).unwrap();
        let line = |request: &str, second: u32, output: u32| {
            format!(
                r#"{{"type":"assistant","timestamp":"2026-01-02T00:00:0{second}Z"{request},"message":{{"id":"m","usage":{{"output_tokens":{output}}}}}}}"#
            )
        };
        let with_request = line(r#","requestId":"r""#, 3, 7);
        let log = [line("", 1, 1), line("", 2, 7), line("", 2, 7), with_request].join("\n");
        std::fs::write(folder.join("s.jsonl"), log).unwrap();
        assert_eq!(repeated(home.path()).unwrap()["2026-01-02"].total(), 1);
    }
}
