//! Runs a program with a text on its standard input and a limit in time.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Limit on the output in bytes. A longer output cannot be an answer.
const OUTPUT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Limit on the error output in bytes.
const ERRORS_BYTES_MAX: u64 = 64 * 1024;
/// Interval between two checks of a running program.
const LOOK: Duration = Duration::from_millis(20);
/// How long pipes may stay open after their program ended.
const GRACE: Duration = Duration::from_secs(5);

/// The result of running a program.
pub(crate) struct Ended {
    /// Its exit status. `None` if it was killed at the time limit.
    pub status: Option<ExitStatus>,
    /// Bytes of its standard output.
    pub output: Vec<u8>,
    /// Bytes of its standard error.
    pub errors: Vec<u8>,
}

/// Runs a command in a process group of its own. After `limit` the whole group is killed.
pub(crate) fn run(mut command: Command, input: String, limit: Duration) -> io::Result<Ended> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    // A program that reads nothing must not block us, nor one that closes its input early.
    thread::spawn(move || stdin.map(|mut pipe| pipe.write_all(input.as_bytes())));
    let output = child.stdout.take().map(|pipe| reading(pipe, OUTPUT_BYTES_MAX));
    let errors = child.stderr.take().map(|pipe| reading(pipe, ERRORS_BYTES_MAX));
    let status = wait(&mut child, limit);
    if !matches!(status, Ok(Some(_))) {
        kill(&mut child);
    }
    let until = Instant::now() + GRACE;
    let read = |pipe: Option<Receiver<Vec<u8>>>| {
        let left = until.saturating_duration_since(Instant::now());
        pipe.and_then(|pipe| pipe.recv_timeout(left).ok()).unwrap_or_default()
    };
    let (output, errors) = (read(output), read(errors));
    Ok(Ended { status: status?, output, errors })
}

/// Reads a pipe to its end on its own thread, and drops the bytes over the limit.
fn reading(mut pipe: impl Read + Send + 'static, bytes_max: u64) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.by_ref().take(bytes_max).read_to_end(&mut bytes);
        let _ = io::copy(&mut pipe, &mut io::sink());
        let _ = send.send(bytes);
    });
    receive
}

/// The exit status of the program, if it ended in time.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Kills the program and, where there are groups, everything it started. The standard
/// library cannot signal a group, so the system's own `kill` does it.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = format!("-{}", child.id());
        let mut kill = Command::new("kill");
        kill.args(["-KILL", "--", &group]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = kill.status();
    }
    let _ = child.kill();
    let _ = child.wait();
}
