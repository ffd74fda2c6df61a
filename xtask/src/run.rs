//! Running other programs and saying how long it took.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// Prints a step's name, does it, prints its time.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    println!("== {name}");
    let start = Instant::now();
    let result = work();
    let ended = if result.is_ok() { "done" } else { "failed" };
    println!("== {name}: {ended} in {}", seconds(start.elapsed()));
    result.map_err(|failure| Failure::new(format!("{name}: {failure}")))
}

/// A duration for people.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        time if time < 1.0 => format!("{:.1} ms", time * 1e3),
        time => format!("{time:.1} s"),
    }
}

/// Runs a program whose output goes where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| cannot(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("{} ended with {status}", said(command))))
    }
}

/// Runs a program and returns what it printed to stdout.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    command.stderr(Stdio::inherit());
    let output = command.output().map_err(|error| cannot(command, &error))?;
    if !output.status.success() {
        return Err(Failure::new(format!("{} ended with {}", said(command), output.status)));
    }
    String::from_utf8(output.stdout).map_err(|_| Failure::new(format!("{} printed no UTF-8", said(command))))
}

/// Runs a program, printing what it says as it comes and handing each line to
/// `see`. Fails as [`run`] does, after all lines were seen.
pub(crate) fn watch(command: &mut Command, mut see: impl FnMut(&str) + Send) -> Result<(), Failure> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| cannot(command, &error))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (lines, received) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let errors = lines.clone();
        scope.spawn(move || forward(stdout, &lines));
        scope.spawn(move || forward(stderr, &errors));
        for line in received {
            println!("{line}");
            see(&line);
        }
    });
    let status = child.wait().map_err(|error| cannot(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("{} ended with {status}", said(command))))
    }
}

fn forward(pipe: Option<impl Read>, lines: &std::sync::mpsc::Sender<String>) {
    let Some(pipe) = pipe else { return };
    for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
        if lines.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
            return;
        }
    }
}

/// Whether a program can be started with these arguments.
pub(crate) fn is_there(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn cannot(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(format!("{} cannot be started: {error}", said(command)))
}

/// The command as it would be typed, without its environment.
fn said(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let words = std::iter::once(program.file_name().unwrap_or(program.as_os_str())).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cargo(argument: &str) -> Command {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.arg(argument);
        cargo
    }

    #[test]
    fn every_line_is_seen() {
        let mut seen = Vec::new();
        watch(&mut cargo("--version"), |line| seen.push(line.to_owned())).unwrap();
        assert!(seen[0].starts_with("cargo "), "{seen:?}");
    }

    #[test]
    fn a_program_that_fails_or_is_missing_is_named() {
        let failure = run(&mut Command::new("no-such-program-here")).unwrap_err();
        assert!(failure.to_string().starts_with("no-such-program-here cannot be started"));
        let failure = watch(&mut cargo("no-such-command"), |_| {}).unwrap_err();
        assert!(failure.to_string().contains("no-such-command ended with"), "{failure}");
    }

    #[test]
    fn a_failing_step_is_named() {
        let failure = step("clippy", || Err::<(), _>(Failure::new("two warnings"))).unwrap_err();
        assert_eq!(failure.to_string(), "clippy: two warnings");
    }
}
