//! The samples in the README are lines of what the program prints on the sessions of
//! `retro demo`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;

/// How wide the samples are.
const COLUMNS: usize = 90;

const README: &str = include_str!("../../../README.md");

/// The commands of the first block of samples, each with the lines below it.
fn samples() -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    let block = README.split("```").nth(1).expect("a block of samples");
    let mut samples: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        match (line.strip_prefix("$ retro "), samples.last_mut()) {
            (Some(command), _) => samples.push((command.split(' ').collect(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => panic!("{line:?} follows no command"),
        }
    }
    samples
}

#[test]
fn every_line_of_a_sample_is_printed_in_that_order() {
    let machine = Machine::with_demo();
    let samples = samples();
    for wanted in ["list", "show", "usage"] {
        assert!(samples.iter().any(|(words, _)| words[0] == wanted), "no sample of {wanted}");
    }
    for (words, lines) in samples {
        let printed = machine.run_at(COLUMNS, &[&["--no-sync"], &words[..]].concat());
        let mut left = printed.stdout.lines().map(str::trim_end);
        for line in lines {
            assert!(
                left.any(|printed| printed == line.trim_end()),
                "retro {} does not print, or not in this order:\n{line}\nbut:\n{}",
                words.join(" "),
                printed.stdout
            );
        }
    }
}
