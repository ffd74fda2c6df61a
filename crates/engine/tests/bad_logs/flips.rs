//! Single bytes that a disk or a cable turned: the same places in every run.

use retro_agents::Agent;
use retro_model::{Gap, GapReason};

use crate::mutants::{Mutant, survive};
use crate::{File, lines, loggers, story};

/// Flips for each agent.
const FLIPS: usize = 250;

/// Each in a place of its own.
fn flips(agent: &dyn Agent, files: &[File]) -> Vec<Mutant> {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15 ^ agent.name().len() as u64);
    let logs: Vec<usize> = (0..files.len()).filter(|at| files[*at].is_log()).collect();
    let flip = |_| {
        let file = logs[numbers.below(logs.len())];
        let lines = lines(&files[file].bytes);
        let line = numbers.below(lines.len());
        let mut bytes = lines[line].to_vec();
        // Not the end of the line: that would touch the next one too.
        let at = numbers.below(bytes.len() - 1);
        bytes[at] ^= 1 << numbers.below(8);
        Mutant { file, line, gone: String::from_utf8(lines[line].to_vec()).unwrap(), bytes }
    };
    (0..FLIPS).map(flip).collect()
}

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[test]
fn a_flipped_byte_harms_its_record_and_no_other() {
    for agent in &loggers() {
        let files = story(*agent);
        // A byte that became a line end makes two broken lines of one.
        let allowed = |gaps: &[Gap]| {
            let broken = |gap: &Gap| {
                matches!(gap.reason, GapReason::Malformed | GapReason::InvalidUtf8 | GapReason::NulBytes)
            };
            gaps.len() <= 2 && gaps.iter().all(broken)
        };
        survive(*agent, &files, &flips(*agent, &files), allowed);
    }
}
