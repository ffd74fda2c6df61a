//! What a program costs: wall time, CPU time, instructions.
//!
//! `perf stat` counts where it is installed and allowed; otherwise CPU time
//! comes from what the kernel says of our children, in its coarse ticks. What
//! nobody can say stays unknown. Starting `perf` takes longer than some of what
//! we measure, so time and counts come from two runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::run;

/// The cost of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    /// Time that passed.
    pub(crate) wall: Duration,
    /// Time on all cores.
    pub(crate) cpu: Option<Duration>,
    /// Instructions of the program itself.
    pub(crate) instructions: Option<u64>,
}

impl Cost {
    /// A cost of which only the time is known.
    pub(crate) fn wall(wall: Duration) -> Cost {
        Cost { wall, cpu: None, instructions: None }
    }

    /// The less of each.
    pub(crate) fn cheaper(self, other: Cost) -> Cost {
        fn less<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
            a.into_iter().chain(b).min()
        }
        Cost {
            wall: self.wall.min(other.wall),
            cpu: less(self.cpu, other.cpu),
            instructions: less(self.instructions, other.instructions),
        }
    }
}

/// Measures programs.
pub(crate) struct Meter {
    /// Where `perf` writes what it counted; none if it cannot be used.
    perf: Option<PathBuf>,
}

impl Meter {
    /// A meter that may use this folder.
    pub(crate) fn new(scratch: &Path) -> Meter {
        let counts = scratch.join("perf.csv");
        let works = run::is_there("perf", &["stat", "-o", &counts.to_string_lossy(), "--", "true"]);
        Meter { perf: works.then_some(counts) }
    }

    /// Measures what `prepare` returns, its output thrown away. Everything that
    /// must be in place for a run is done by `prepare`, outside the measurement.
    pub(crate) fn measure(
        &self,
        prepare: &mut dyn FnMut() -> Result<Command, Failure>,
    ) -> Result<Cost, Failure> {
        let mut command = prepare()?;
        let before = ticks();
        let start = Instant::now();
        run::run(command.stdout(Stdio::null()))?;
        let wall = start.elapsed();
        let ticks = before.zip(ticks()).map(|(before, after)| after.saturating_sub(before));
        let coarse = ticks.map(|ticks| Duration::from_millis(ticks * MILLIS_A_TICK));
        let (cpu, instructions) = match &self.perf {
            None => (coarse, None),
            Some(file) => {
                run::run(under_perf(&prepare()?, file).stdout(Stdio::null()))?;
                counts(&std::fs::read_to_string(file).unwrap_or_default())
            }
        };
        Ok(Cost { wall, cpu, instructions })
    }
}

fn under_perf(command: &Command, counts: &Path) -> Command {
    let mut perf = Command::new("perf");
    perf.args(["stat", "-x", ";", "-e", "task-clock,instructions:u", "-o"]).arg(counts).arg("--");
    perf.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => perf.env(name, value),
            None => perf.env_remove(name),
        };
    }
    perf
}

/// CPU time and instructions from what `perf stat -x ;` wrote.
fn counts(csv: &str) -> (Option<Duration>, Option<u64>) {
    let field = |event: &str| {
        let line = csv.lines().find(|line| line.split(';').any(|field| field.starts_with(event)))?;
        line.split(';').next()?.parse::<f64>().ok()
    };
    let millis = field("task-clock");
    (
        millis.map(|millis| Duration::from_secs_f64(millis / 1e3)),
        field("instructions").map(|count| count as u64),
    )
}

/// Linux counts 100 ticks a second for programs that ask.
const MILLIS_A_TICK: u64 = 10;

/// Ticks that finished children of this process have used.
fn ticks() -> Option<u64> {
    child_ticks(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// Fields 16 and 17 of the line, counted behind the name, which may hold anything.
fn child_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_what_is_not_supported_is_unknown() {
        let csv = "# started\n\n12.50;msec;task-clock;12500000;100.00;0.9;CPUs utilized\n1234567;;instructions:u;1;100.00;;\n";
        assert_eq!(counts(csv), (Some(Duration::from_micros(12_500)), Some(1_234_567)));
        assert_eq!(counts("<not supported>;;instructions:u;0;100.00;;\n"), (None, None));
    }

    #[test]
    fn ticks_of_children_stand_behind_the_name() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 30 12 20 0 1";
        assert_eq!(child_ticks(stat), Some(42));
        assert_eq!(child_ticks("x"), None);
    }

    #[test]
    fn the_cheaper_of_two_is_the_less_of_each() {
        let one = Cost { wall: Duration::from_secs(1), cpu: None, instructions: Some(9) };
        let two =
            Cost { wall: Duration::from_secs(2), cpu: Some(Duration::from_secs(3)), instructions: Some(7) };
        let best =
            Cost { wall: Duration::from_secs(1), cpu: Some(Duration::from_secs(3)), instructions: Some(7) };
        assert_eq!(one.cheaper(two), best);
    }

    #[test]
    fn a_program_is_measured_and_a_failing_one_is_not() {
        let scratch = tempfile::tempdir().unwrap();
        let meter = Meter::new(scratch.path());
        let cost = meter.measure(&mut || {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.arg("--version");
            Ok(cargo)
        });
        assert!(cost.unwrap().wall > Duration::ZERO);
        assert!(meter.measure(&mut || Ok(Command::new("no-such-program-here"))).is_err());
    }
}
