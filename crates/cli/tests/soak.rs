//! Everything at once, for a while: logs of three agents grow and are rewritten,
//! several programs work at the same store, some are killed. In the end the store
//! verifies, holds every log byte for byte, and is what a fresh one is.
//!
//! A few rounds in the test command; `cargo xtask trial soak --minutes 10` goes on for
//! so long.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod at_work;

use at_work::{Dice, Growth, Machine, kill_after};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SEED: u64 = 11;

/// Rounds when nobody says for how long.
const ROUNDS: usize = 3;

/// Programs that work at the same time.
const PROGRAMS: usize = 3;

#[test]
fn a_store_in_the_middle_of_everything_stays_whole() {
    let minutes = std::env::var("RETRO_SOAK_MINUTES").ok().and_then(|text| text.parse().ok());
    let length = minutes.map(|minutes: u64| Duration::from_secs(minutes * 60));
    let (machine, start) = (Machine::new(), Instant::now());
    let mut dice = Dice(SEED);
    let mut soak = Soak::default();
    let mut failures = Vec::new();
    while length.map_or(soak.rounds < ROUNDS, |length| start.elapsed() < length) {
        soak.round(&machine, &mut dice);
        if soak.rounds.is_multiple_of(8) {
            let what = machine.verify().err();
            failures.extend(what.map(|what| format!("round {}: {what}", soak.rounds)));
        }
    }
    failures.extend(machine.whole(&soak.rewritten).err());
    failures.extend(machine.like_a_fresh_store().err());
    println!(
        "seed {SEED}; {} programs, {} of them killed; {} logs rewritten",
        soak.programs,
        soak.killed,
        soak.rewritten.len()
    );
    println!("trial soak: {} points, {} failures", soak.rounds, failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What happened so far.
#[derive(Default)]
struct Soak {
    rounds: usize,
    programs: usize,
    killed: usize,
    rewritten: Vec<PathBuf>,
}

impl Soak {
    /// New sessions are written while several programs run; then one log is rewritten.
    fn round(&mut self, machine: &Machine, dice: &mut Dice) {
        let mut growth = machine.growth(self.rounds, dice);
        let work: Vec<_> =
            (0..=dice.below(PROGRAMS)).map(|_| (machine.command_of(dice), dice.below(40))).collect();
        self.programs += work.len();
        let stop = AtomicBool::new(false);
        let killed = std::thread::scope(|scope| {
            let writer = scope.spawn(|| growth.write_until(&stop));
            let programs: Vec<_> = work
                .into_iter()
                .map(|(command, changes)| scope.spawn(move || kill_after(command, &machine.root(), changes)))
                .collect();
            let killed = programs
                .into_iter()
                .filter_map(|program| program.join().ok())
                .filter(|killed| *killed)
                .count();
            stop.store(true, Ordering::Relaxed);
            writer.join().unwrap();
            killed
        });
        self.killed += killed;
        growth.finish();
        if self.rounds % 3 == 2 {
            self.rewritten.extend(rewrite(&growth, dice));
        }
        self.rounds += 1;
    }
}

/// Takes the second line out of a log that has one.
fn rewrite(growth: &Growth, dice: &mut Dice) -> Option<PathBuf> {
    let logs: Vec<&PathBuf> = growth
        .logs
        .iter()
        .map(|(path, _, _)| path)
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    let path = logs.get(dice.below(logs.len()))?;
    let bytes = std::fs::read(path).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let kept: Vec<&[u8]> =
        lines.iter().enumerate().filter(|(at, _)| *at != 1).map(|(_, line)| *line).collect();
    std::fs::write(path, kept.concat()).unwrap();
    (lines.len() > 1).then(|| path.to_path_buf())
}

/// Peak memory of a program that runs, in kilobytes, as far as the system says it.
fn peak_kb(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Writes a log of so many megabytes: calls, each with half a megabyte of output.
fn write_large_log(path: &std::path::Path, megabytes: u64) {
    use std::io::Write;
    let mut log = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    let (mut written, mut number, mut seed) = (0, 0u64, 7u64);
    while written < megabytes * 1_000_000 {
        let mut output = String::with_capacity(520_000);
        while output.len() < 500_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            output.push_str(&format!(
                "line {} of src/module_{}.rs: value {}\\n",
                seed >> 40,
                seed >> 54,
                seed >> 33
            ));
        }
        let common = |record: &str, before: Option<String>| {
            let before = before.map_or("null".to_owned(), |before| format!("\"{before}\""));
            let (minute, second) = (number / 60 % 60, number % 60);
            format!(
                r#""uuid":"{record}-{number}","parentUuid":{before},"isSidechain":false,"sessionId":"{LARGE}","cwd":"/home/dev/p","version":"2.1.0","timestamp":"2026-03-02T{:02}:{minute:02}:{second:02}.000Z""#,
                number / 3600 % 24,
            )
        };
        let call = format!(
            r#"{{"type":"assistant",{},"requestId":"r{number}","message":{{"id":"m{number}","role":"assistant","model":"claude-opus-4-5","content":[{{"type":"tool_use","id":"t{number}","name":"Bash","input":{{"command":"make part{number}"}}}}],"usage":{{"input_tokens":3,"output_tokens":5}}}}}}"#,
            common("a", (number > 0).then(|| format!("b-{}", number - 1))),
        );
        let result = format!(
            r#"{{"type":"user",{},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{number}","content":"{output}"}}]}}}}"#,
            common("b", Some(format!("a-{number}"))),
        );
        writeln!(log, "{call}\n{result}").unwrap();
        written += (call.len() + result.len() + 2) as u64;
        number += 1;
    }
    log.flush().unwrap();
}

const LARGE: &str = "77777777-2222-4333-8444-555555555555";

/// `RETRO_TRIAL_LOG_MB=1000` tries a log of a gigabyte.
#[test]
fn a_very_large_log_is_captured_whole_in_little_memory() {
    const PEAK_KB_MAX: u64 = 400_000;
    let Some(megabytes) = std::env::var("RETRO_TRIAL_LOG_MB").ok().and_then(|text| text.parse().ok()) else {
        println!("skipped: RETRO_TRIAL_LOG_MB says how large the log is to be");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let (home, root) = (dir.path().join("home"), dir.path().join("store"));
    let log = home.join(format!(".claude/projects/-home-dev-p/{LARGE}.jsonl"));
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    write_large_log(&log, megabytes);
    let command = |words: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_retro"));
        command.args(words).arg("--home").arg(&home).arg("--root").arg(&root).env_clear().env("HOME", &home);
        command
    };
    for words in [&["sync"][..], &["digest", LARGE], &["verify", "--deep"]] {
        let started = std::time::Instant::now();
        let mut running = command(words).stdout(std::process::Stdio::null()).spawn().unwrap();
        let mut peak = 0;
        let status = loop {
            peak = peak.max(peak_kb(running.id()));
            match running.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(std::time::Duration::from_millis(20)),
            }
        };
        println!("{words:?}: {} MB at most, {} s", peak / 1000, started.elapsed().as_secs());
        assert!(status.success(), "{words:?}");
        assert!(peak < PEAK_KB_MAX, "{words:?} took {peak} kB");
    }
    let printed = command(&["raw", LARGE]).output().unwrap();
    assert!(printed.stdout == std::fs::read(&log).unwrap(), "the raw bytes differ");
}
