//! Measures how long it takes to put the signs of very many sessions together and to rank what
//! recurs; `cargo xtask bench patterns` runs it and sets the bar beside.
//!
//! Prints a JSON object a line: `what`, `best_ns` and `median_ns` of some runs.

// A program for a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use retro_model::Timestamp;
use retro_patterns::{Evidence, Polarity, Remedy, SessionSigns, Sign, Spent, Voice, cluster, rank};
use serde_json::json;
use std::time::Instant;

/// Sessions, and how many different errors and corrections come up in them.
const SESSIONS: u64 = 20_000;
const ERRORS: u64 = 6_000;
const SAID: u64 = 900;
const RUNS: usize = 5;
/// When the first session began, half an hour apart, and when they are ranked.
const FIRST_MS: i64 = 1_740_000_000_000;
const APART_MS: i64 = 1_800_000;
const NOW_MS: i64 = 1_780_000_000_000;

/// Words of which errors are made: each has some that others have too.
const WORDS: &[&str] = &[
    "connect",
    "refus",
    "lock",
    "timeout",
    "relation",
    "missing",
    "module",
    "header",
    "license",
    "quota",
    "socket",
    "version",
    "checksum",
    "certificate",
    "proxy",
    "branch",
    "index",
    "schema",
    "token",
    "volume",
];

fn main() {
    let sessions: Vec<SessionSigns> = (0..SESSIONS).filter_map(session).collect();
    let Some(now) = Timestamp::from_millis(NOW_MS) else { return };
    let mut found = 0;
    let mut times: Vec<u64> = (0..RUNS)
        .map(|_| {
            let started = Instant::now();
            found = rank(cluster(&sessions).candidates, now).len();
            u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
        })
        .collect();
    times.sort_unstable();
    let what = format!("{} sessions put together and ranked", sessions.len());
    eprintln!("{found} candidates");
    println!("{}", json!({"what": what, "best_ns": times[0], "median_ns": times[RUNS / 2]}));
}

fn session(number: u64) -> Option<SessionSigns> {
    // Enough spread that neither all nor none is the same.
    let dice =
        |salt: u64, below: u64| (number.wrapping_mul(2_654_435_761).wrapping_add(salt * 97_561) >> 7) % below;
    let word = |at: u64| WORDS.get(usize::try_from(at).unwrap_or(0) % WORDS.len()).map_or("", |word| word);
    let mut signs = Vec::new();
    for at in 0..dice(1, 4) {
        let error = dice(10 + at, ERRORS);
        let words = (0..4).map(|n| word(error.wrapping_mul(31) + n * (1 + error % 5)).to_owned());
        let terms = words.chain([format!("e{}", error / 3)]).collect();
        signs.push(sign("recurring_error", format!("error:{error}"), terms, number, at));
    }
    if dice(2, 9) == 0 {
        let said = dice(20, SAID);
        let terms = vec![format!("thing{}", said / 2), format!("other{}", said / 3), word(said).to_owned()];
        signs.push(sign("correction_repeated", format!("correction:{said}"), terms, number, 9));
    }
    Some(SessionSigns {
        agent: ["claude", "codex", "grok"].get(usize::try_from(number).ok()? % 3)?.to_string(),
        session_id: format!("s{number}"),
        repo: Some(format!("repo{}", dice(3, 60))),
        real: true,
        started_at: Timestamp::from_millis(FIRST_MS + i64::try_from(number).ok()? * APART_MS),
        tokens: 20_000 + dice(4, 400_000),
        minutes: dice(5, 90),
        signs,
        ..SessionSigns::default()
    })
}

fn sign(kind: &str, locus: String, mut terms: Vec<String>, number: u64, at: u64) -> Sign {
    terms.sort();
    terms.dedup();
    let piece = |event_id: String, text: String, voice| Evidence { event_id, text, voice };
    let step = piece(format!("m:{at}9"), format!("ran fix {}", number % 40), Voice::Model);
    Sign {
        kind: kind.to_owned(),
        polarity: Polarity::Problem,
        title: locus.clone(),
        evidence: vec![piece(format!("m:{at}"), terms.join(" "), Voice::User)],
        locus,
        terms,
        names: Vec::new(),
        own: false,
        times: 2,
        measure: None,
        remedy: number.is_multiple_of(2).then(|| Remedy { steps: vec![step] }),
        spent: Spent { calls: 4, tokens: 9_000, ms: 60_000 },
    }
}
