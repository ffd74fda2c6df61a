//! What a program costs: wall time, CPU time, instructions.
//!
//! `perf stat` counts where it is installed and allowed; otherwise CPU time
//! comes from what the kernel says of our children, in its coarse ticks. What
//! nobody can say stays unknown. Starting `perf` takes longer than some of what
//! we measure, so time and counts come from two runs. Where `perf` may not count
//! instructions, callgrind can: slowly, so only where it is asked for.

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
    /// Where callgrind writes; none if it is not there.
    callgrind: Option<PathBuf>,
}

/// Between two looks at how much memory a program has.
const LOOK: Duration = Duration::from_millis(1);

/// A program that takes more than this is stopped: what it needs is clear by
/// then, and the machine has other things to do.
pub(crate) const MEMORY_MAX: u64 = 1_000_000_000;

impl Meter {
    /// A meter that may use this folder.
    pub(crate) fn new(scratch: &Path) -> Meter {
        let counts = scratch.join("perf.csv");
        let works = run::is_there("perf", &["stat", "-o", &counts.to_string_lossy(), "--", "true"]);
        let valgrind = run::is_there("valgrind", &["--version"]);
        Meter { perf: works.then_some(counts), callgrind: valgrind.then(|| scratch.join("callgrind.out")) }
    }

    /// Like [`Meter::measure`], for programs that run so long that the start of
    /// `perf` does not show: time and counts come from one run.
    pub(crate) fn measure_long(&self, command: &Command) -> Result<Cost, Failure> {
        let mut outer = match &self.perf {
            Some(file) => under_perf(command, file),
            None => with_nothing(command),
        };
        let (before, start) = (ticks(), Instant::now());
        run::run(outer.stdout(Stdio::null()))?;
        let wall = start.elapsed();
        let (cpu, instructions) = match &self.perf {
            Some(file) => counts(&std::fs::read_to_string(file).unwrap_or_default()),
            None => (before.zip(ticks()).map(since), None),
        };
        Ok(Cost { wall, cpu, instructions })
    }

    /// Instructions of the program itself, counted by callgrind.
    pub(crate) fn instructions(&self, command: &Command) -> Result<Option<u64>, Failure> {
        let Some(file) = &self.callgrind else { return Ok(None) };
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--tool=callgrind"]).arg(joined("--callgrind-out-file=", file));
        run::run(with(&mut valgrind, command).stdout(Stdio::null()))?;
        Ok(collected(&std::fs::read_to_string(file).unwrap_or_default()))
    }

    /// The most memory that a program had, if the kernel tells. It is looked at
    /// again and again while the program runs: what it took in its very last
    /// moment may be missed. Over [`MEMORY_MAX`] the program is stopped.
    pub(crate) fn peak_memory(&self, command: &mut Command) -> Result<Option<u64>, Failure> {
        let mut child = command
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| Failure::new(format!("the program cannot be started: {error}")))?;
        let status = format!("/proc/{}/status", child.id());
        let mut peak = None;
        loop {
            let now = std::fs::read_to_string(&status).ok().and_then(|status| high_water(&status));
            peak = now.max(peak);
            if peak.is_some_and(|peak| peak > MEMORY_MAX) {
                let stopped = child.kill().and_then(|()| child.wait());
                return stopped
                    .map(|_| peak)
                    .map_err(|error| Failure::new(format!("it cannot be stopped: {error}")));
            }
            match child.try_wait() {
                Ok(Some(ended)) if ended.success() => return Ok(peak),
                Ok(None) => std::thread::sleep(LOOK),
                ended => return Err(Failure::new(format!("the measured program ended: {ended:?}"))),
            }
        }
    }

    /// The time until a program has said all that it says, which may be before it ends.
    pub(crate) fn answer(&self, command: &mut Command) -> Result<Duration, Failure> {
        let failed = |error| Failure::new(format!("the program cannot be listened to: {error}"));
        let start = Instant::now();
        let mut child = command.stdout(Stdio::piped()).spawn().map_err(failed)?;
        if let Some(mut said) = child.stdout.take() {
            std::io::copy(&mut said, &mut std::io::sink()).map_err(failed)?;
        }
        let time = start.elapsed();
        match child.wait() {
            Ok(ended) if ended.success() => Ok(time),
            ended => Err(Failure::new(format!("the measured program ended: {ended:?}"))),
        }
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
        let coarse = before.zip(ticks()).map(since);
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
    with(&mut perf, command);
    perf
}

/// The same command once more.
fn with_nothing(command: &Command) -> Command {
    let mut again = Command::new(command.get_program());
    again.args(command.get_args());
    environment(&mut again, command);
    again
}

/// A program that runs another one, with its arguments and environment.
fn with<'a>(outer: &'a mut Command, command: &Command) -> &'a mut Command {
    outer.arg(command.get_program()).args(command.get_args());
    environment(outer, command);
    outer
}

fn environment(outer: &mut Command, command: &Command) {
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
}

fn joined(option: &str, path: &Path) -> std::ffi::OsString {
    let mut joined = std::ffi::OsString::from(option);
    joined.push(path);
    joined
}

/// Instructions from what callgrind wrote: all that its parts sum up to.
fn collected(profile: &str) -> Option<u64> {
    let total = profile.lines().rev().find_map(|line| line.strip_prefix("totals:"));
    total.or_else(|| profile.lines().find_map(|line| line.strip_prefix("summary:")))?.trim().parse().ok()
}

/// The most memory so far, from `/proc/<pid>/status`.
fn high_water(status: &str) -> Option<u64> {
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(kilobytes.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1_024)
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

/// The time between two counts of ticks.
fn since((before, after): (u64, u64)) -> Duration {
    Duration::from_millis(after.saturating_sub(before) * MILLIS_A_TICK)
}

/// CPU time that a running program has used, if the kernel tells.
pub(crate) fn running_time(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(since((0, own_ticks(&stat)?)))
}

/// Fields 14 and 15 of the line: of the program itself.
fn own_ticks(stat: &str) -> Option<u64> {
    two_fields(stat, 11)
}

/// Fields 16 and 17 of the line: of its children that have ended.
fn child_ticks(stat: &str) -> Option<u64> {
    two_fields(stat, 13)
}

/// The sum of two fields, counted behind the name, which may hold anything.
fn two_fields(stat: &str, skipped: usize) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(skipped);
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
        assert_eq!((own_ticks(stat), child_ticks(stat)), (Some(23), Some(42)));
        assert_eq!(child_ticks("x"), None);
    }

    #[test]
    fn profiles_and_memory_are_read() {
        assert_eq!(collected("summary: 12\nfn=(1) main\n1 2\ntotals: 34\n"), Some(34));
        assert_eq!(collected("summary: 12\n"), Some(12));
        assert_eq!(collected(""), None);
        assert_eq!(high_water("Name:\tretro\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2 << 20));
        assert_eq!(high_water("Name:\tretro\n"), None);
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
        let mut cargo = Command::new(env!("CARGO"));
        cargo.arg("--version");
        assert!(meter.measure_long(&cargo).unwrap().wall > Duration::ZERO);
        assert!(Meter { perf: None, callgrind: None }.measure_long(&cargo).unwrap().instructions.is_none());
        assert!(meter.answer(&mut cargo).unwrap() > Duration::ZERO);
        assert!(
            meter.answer(Command::new(env!("CARGO")).arg("no-such-command").stderr(Stdio::null())).is_err()
        );
        assert!(meter.measure_long(&Command::new("no-such-program-here")).is_err());
        assert!(meter.measure(&mut || Ok(Command::new("no-such-program-here"))).is_err());
    }
}
