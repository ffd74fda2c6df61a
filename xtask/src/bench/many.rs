//! `cargo xtask bench capture --many`: what a store costs that holds very much.
//!
//! What is done again and again (a hook, a turn appended, nothing new) may not cost more
//! because the store is large, and what is done once may only grow with the work.

use serde_json::json;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::logs::{self, Logs};
use super::measure::{Cost, Meter};
use super::report::{Line, Report};
use super::{best_of, empty};
use crate::failure::Failure;
use crate::run;
use crate::trial::Watcher;

/// How often each thing is measured; the cheapest run counts.
const RUNS: usize = 10;
const RUNS_COLD: usize = 3;

/// Bytes of a session in a store of very many: two turns.
const SMALL_BYTES: usize = 2_500;

/// The store that is filled first, and the sessions that come on top of it.
const FEW: usize = 20;
const MANY: usize = 20_000;

/// A first sync that is compared with itself in memory, and two that show how it grows.
const FIRST: usize = 2_000;
const FIRST_BYTES: usize = 46_000;
const GROWTH: [usize; 2] = [10_000, 100_000];

/// A folder that lies in memory.
const IN_MEMORY: &str = "/dev/shm";

/// Files with results of tools beside one session.
const RESULTS: usize = 8_000;

/// Numbers of threads whose memory is compared, and ordinary logs for them.
const THREADS: [usize; 2] = [2, 16];
const THREADS_SESSIONS: usize = 100;
const THREADS_BYTES: usize = 800_000;

/// What `--watch` looks after, how often an agent writes beside it, and how often it does.
const WATCHED: usize = 3_000;
const PAUSE: Duration = Duration::from_millis(500);
const WRITES: u32 = 60;

/// What a first sync of 2,136 files took once: the bars are set as shares of it.
const OPENS_ONCE: u64 = 40_000;
const SYNCS_ONCE: u64 = 8_600;
const FILES_ONCE: u64 = 2_136;

pub(crate) struct Many<'a> {
    pub(crate) retro: &'a Path,
    pub(crate) meter: &'a Meter,
    pub(crate) scratch: &'a Path,
}

impl Many<'_> {
    /// All tables.
    pub(crate) fn measure(&self) -> Result<String, Failure> {
        let mut report =
            Report::new("Generated sessions of two turns each, unless stated otherwise.".to_owned());
        let start = best_of(RUNS, || {
            self.meter.measure(&mut || {
                let mut command = Command::new(self.retro);
                command.arg("--version");
                Ok(command)
            })
        })?;
        report.add(Line::plain("retro --version", start));
        self.appends(start, &mut report)?;
        self.many_results(start, &mut report)?;
        self.first(&mut report)?;
        self.calls(&mut report)?;
        self.growth(&mut report)?;
        self.threads(&mut report)?;
        self.watch(&mut report)?;
        Ok(report.text())
    }

    /// One turn more by a hook and by `sync`, in a small store and in a large one, and in
    /// the large one a `sync` of everything that finds nothing new.
    fn appends(&self, start: Cost, report: &mut Report) -> Result<(), Failure> {
        let stores = [FEW, MANY].map(|sessions| Grown::new(self, sessions));
        let [few, many] = stores;
        let (few, many) = (few?, many?);
        for (what, way) in
            [("retro sync --hook", Grown::hook as Way), ("retro sync, a home of one session", Grown::sync)]
        {
            let small = few.append(self, way)?;
            let large = many.append(self, way)?;
            report.add(Line::plain(&format!("{what}, {FEW} sessions in the store"), small));
            report.add(Line::plain(&format!("{what}, {MANY} sessions in the store"), large));
            report.difference(
                &format!("{what}, {MANY} sessions: CPU over the bare start"),
                large.cpu,
                start.cpu,
                "at most 10 ms",
            );
            match large.instructions.zip(small.instructions) {
                Some((large, small)) => report.count(
                    &format!("{what}: instructions, {MANY} beside {FEW}"),
                    large,
                    small,
                    "at most 1.2",
                ),
                None => report.ratio(
                    &format!("{what}: CPU, {MANY} beside {FEW}"),
                    large.cpu.unwrap_or(large.wall),
                    small.cpu.unwrap_or(small.wall),
                    "at most 1.2",
                ),
            }
        }
        let walk = best_of(RUNS, || Ok(Cost::wall(logs::walk(&many.home)?)))?;
        let idle =
            best_of(RUNS, || self.meter.measure(&mut || Ok(self.ours(&many.home, &many.root, &["sync"]))))?;
        report.add(Line::plain(&format!("bare walk with stat, {MANY} files"), walk));
        report.add(Line::plain(&format!("retro sync, nothing new, {MANY} files"), idle));
        report.ratio(
            &format!("sync, nothing new, {MANY} files: its time beside the bare walk"),
            idle.wall,
            walk.wall,
            "at most 3",
        );
        empty(&few.folder)?;
        empty(&many.folder)
    }

    /// One turn more in a session with very many files beside it.
    fn many_results(&self, start: Cost, report: &mut Report) -> Result<(), Failure> {
        let grown = Grown::new(self, 0)?;
        let folder = grown.results();
        std::fs::create_dir_all(&folder).map_err(|error| Failure::at(&folder, error))?;
        for number in 0..RESULTS {
            let path = folder.join(format!("toolu_{number}.txt"));
            std::fs::write(&path, logs::prose(number, 40)).map_err(|error| Failure::at(&path, error))?;
        }
        run::run(&mut grown.sync(self))?;
        let cost = grown.append(self, Grown::sync)?;
        report.add(Line::plain(&format!("one turn appended, {RESULTS} results of tools as files"), cost));
        report.difference(
            &format!("one turn, {RESULTS} files beside it: CPU over the bare start"),
            cost.cpu,
            start.cpu,
            "at most 20 ms",
        );
        let cost = grown.append(self, Grown::sync_result)?;
        report.add(Line::plain(&format!("one turn and one result more, {RESULTS} results as files"), cost));
        empty(&grown.folder)
    }

    /// A first sync on disk beside the same in memory.
    fn first(&self, report: &mut Report) -> Result<(), Failure> {
        let memory = tempfile::tempdir_in(IN_MEMORY);
        let Ok(memory) = memory else {
            println!("{IN_MEMORY} is not there: a first sync on disk is compared with nothing");
            return Ok(());
        };
        let mut walls = Vec::new();
        for (place, folder) in [("in memory", memory.path()), ("on disk", self.scratch)] {
            let (home, root) = (folder.join("first/home"), folder.join("first/root"));
            let logs = Logs::generate(&home, FIRST, FIRST_BYTES)?;
            let cost = best_of(RUNS_COLD, || {
                self.meter.measure(&mut || {
                    empty(&root)?;
                    Ok(self.ours(&home, &root, &["sync"]))
                })
            })?;
            report.add(Line::over(&format!("retro sync, cold, {FIRST} files, {place}"), cost, logs.bytes));
            walls.push(cost.wall);
            empty(&folder.join("first"))?;
        }
        if let [memory, disk] = walls[..] {
            report.ratio("first sync: its speed on disk beside that in memory", memory, disk, "at least 0.5");
        }
        Ok(())
    }

    /// What a first sync asks of the file system.
    fn calls(&self, report: &mut Report) -> Result<(), Failure> {
        if !run::is_there("strace", &["--version"]) {
            println!("strace is not there: calls are not counted");
            return Ok(());
        }
        // A sync of few files shows what every first sync costs; the rest is what each file costs.
        let (few, many) = (self.calls_for(FEW)?, self.calls_for(FIRST)?);
        let files = (FIRST - FEW) as u64;
        let share = |once: u64| format!("at most {:.1}", once as f64 / 3.0 / FILES_ONCE as f64);
        for (what, names, bar) in [
            ("opens", &["open", "openat", "openat2"][..], share(OPENS_ONCE)),
            ("syncs", &["fsync", "fdatasync", "sync_file_range", "syncfs"], share(SYNCS_ONCE)),
            ("renames", &["rename", "renameat", "renameat2"], "at most 1".to_owned()),
        ] {
            let calls = |table: &str| names.iter().map(|name| calls_of(table, name)).sum::<u64>();
            let more = calls(&many).saturating_sub(calls(&few));
            report.count(&format!("first sync of {FIRST} files: {what} a file"), more, files, &bar);
        }
        Ok(())
    }

    /// What strace counts in a first sync of so many files.
    fn calls_for(&self, count: usize) -> Result<String, Failure> {
        let folder = self.scratch.join("calls");
        let counted = folder.join("strace.txt");
        let (home, root) = (folder.join("home"), folder.join("root"));
        Logs::generate(&home, count, FIRST_BYTES)?;
        let mut strace = Command::new("strace");
        strace.args(["-f", "-c", "-o"]).arg(&counted).arg(self.retro);
        strace.arg("--home").arg(&home).arg("--root").arg(&root).args(["--quiet", "sync"]);
        run::run(&mut strace)?;
        let text = std::fs::read_to_string(&counted).map_err(|error| Failure::at(&counted, error))?;
        empty(&folder)?;
        Ok(text)
    }

    /// First syncs of ever more sessions.
    fn growth(&self, report: &mut Report) -> Result<(), Failure> {
        let mut costs = Vec::new();
        for sessions in GROWTH {
            let folder = self.scratch.join(format!("growth-{sessions}"));
            let (home, root) = (folder.join("home"), folder.join("root"));
            let logs = Logs::generate(&home, sessions, SMALL_BYTES)?;
            let cost = self.meter.measure_long(&self.ours(&home, &root, &["sync"]))?;
            report.add(Line::over(&format!("retro sync, cold, {sessions} sessions"), cost, logs.bytes));
            let share = logs::size(&root);
            report.share(
                &format!("the whole store as a share of the logs, {sessions} sessions"),
                share,
                logs.bytes,
                "",
            );
            costs.push(cost);
            std::fs::remove_dir_all(&folder).map_err(|error| Failure::at(&folder, error))?;
        }
        if let [Some(few), Some(many)] = costs.iter().map(|cost| cost.cpu).collect::<Vec<_>>()[..] {
            report.ratio(
                &format!("first sync: CPU at {} beside {}", GROWTH[1], GROWTH[0]),
                many,
                few,
                "at most 12",
            );
        }
        Ok(())
    }

    /// How much memory many threads take beside two.
    fn threads(&self, report: &mut Report) -> Result<(), Failure> {
        let folder = self.scratch.join("threads");
        let (home, root) = (folder.join("home"), folder.join("root"));
        let logs = Logs::generate(&home, THREADS_SESSIONS, THREADS_BYTES)?;
        for words in [&["sync"][..], &["verify", "--deep"], &["rebuild"]] {
            let mut peaks = Vec::new();
            for threads in THREADS {
                if words == ["sync"] {
                    empty(&root)?;
                }
                let mut command = self.ours(&home, &root, words);
                command.env("RAYON_NUM_THREADS", threads.to_string());
                let peak = self.meter.peak_memory(&mut command)?;
                let what = format!(
                    "memory, retro {}, {threads} threads, logs of {} MB",
                    words.join(" "),
                    logs.bytes / 1_000_000
                );
                report.memory(&what, peak, "at most 400 MB");
                peaks.extend(peak);
            }
            if let [few, many] = peaks[..] {
                let what = format!(
                    "memory, retro {}: {} threads beside {}",
                    words.join(" "),
                    THREADS[1],
                    THREADS[0]
                );
                report.count(&what, many, few, "at most 2");
            }
        }
        empty(&folder)
    }

    /// What `--watch` costs beside an agent at work.
    fn watch(&self, report: &mut Report) -> Result<(), Failure> {
        let folder = self.scratch.join("watched");
        let (home, root) = (folder.join("home"), folder.join("root"));
        let logs = Logs::generate(&home, WATCHED, SMALL_BYTES)?;
        let session = logs.files.first().ok_or_else(|| Failure::at(&home, "holds no session"))?;
        run::run(&mut self.ours(&home, &root, &["sync"]))?;
        let watcher = Watcher::start(self.ours(&home, &root, &["sync", "--watch"]))?;
        std::thread::sleep(4 * PAUSE);
        let (before, start) = (watcher.cpu(), Instant::now());
        let mut turn = logs::turns(session)?;
        for _ in 0..WRITES {
            turn += 1;
            logs::append(session, turn)?;
            std::thread::sleep(PAUSE);
        }
        let Some((before, after)) = before.zip(watcher.cpu()) else { return Ok(()) };
        let (used, wall) =
            (after.saturating_sub(before).as_millis() as u64, start.elapsed().as_millis() as u64);
        let what =
            format!("retro sync --watch at {WATCHED} sessions, a turn twice a second: share of a core");
        report.share(&what, used, wall, "at most 3 %");
        drop(watcher);
        empty(&folder)
    }

    fn ours(&self, home: &Path, root: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(self.retro);
        command.arg("--home").arg(home).arg("--root").arg(root).arg("--quiet").args(words);
        command
    }
}

/// A way to keep what was appended.
type Way = fn(&Grown, &Many<'_>) -> Command;

/// A store with so many sessions, and a home with one session more.
pub(crate) struct Grown {
    folder: PathBuf,
    /// Where the logs of the many are.
    home: PathBuf,
    /// Where the log of the one is.
    one: PathBuf,
    root: PathBuf,
    session: PathBuf,
}

impl Grown {
    pub(crate) fn new(many: &Many<'_>, sessions: usize) -> Result<Grown, Failure> {
        let folder = many.scratch.join(format!("grown-{sessions}"));
        let [home, one, root] = ["home", "one", "root"].map(|name| folder.join(name));
        let logs = |home: &Path, numbers: Range<usize>| Logs::numbered(home, numbers, SMALL_BYTES);
        if sessions > 0 {
            logs(&home, 0..sessions)?;
            run::run(&mut many.ours(&home, &root, &["sync"]))?;
        }
        let session = logs(&one, sessions..sessions + 1)?.files.into_iter().next();
        let session = session.ok_or_else(|| Failure::at(&one, "holds no session"))?;
        let grown = Grown { folder, home, one, root, session };
        run::run(&mut grown.sync(many))?;
        Ok(grown)
    }

    /// What it costs to keep one turn more. Fails if the turn is not in the store afterwards.
    pub(crate) fn append(&self, many: &Many<'_>, way: Way) -> Result<Cost, Failure> {
        let mut turn = logs::turns(&self.session)?;
        let mut next = || {
            turn += 1;
            logs::append(&self.session, turn).map(|()| way(self, many))
        };
        let mut cost = best_of(RUNS, || many.meter.measure(&mut next))?;
        // A hook stops after a fifth of a second, however far it has come: run slowly for its
        // instructions to be counted, it does not come far.
        cost.instructions = match way(self, many).get_args().any(|word| word == "--hook") {
            true => None,
            false => many.meter.instructions(&next()?)?,
        };
        let mut raw = many.ours(&self.one, &self.root, &["--no-sync", "raw", "claude", &self.id()]);
        let log =
            std::fs::read_to_string(&self.session).map_err(|error| Failure::at(&self.session, error))?;
        match run::output(&mut raw)? == log {
            true => Ok(cost),
            false => Err(Failure::at(&self.session, "is not whole in the store")),
        }
    }

    pub(crate) fn sync(&self, many: &Many<'_>) -> Command {
        many.ours(&self.one, &self.root, &["sync"])
    }

    /// The same after one more result of a tool.
    fn sync_result(&self, many: &Many<'_>) -> Command {
        let count = std::fs::read_dir(self.results()).map_or(0, Iterator::count);
        // Without it the turn alone is measured, which the table would show.
        let _ = std::fs::write(self.results().join(format!("toolu_{count}.txt")), logs::prose(count, 40));
        self.sync(many)
    }

    /// Where results of tools are kept as files.
    fn results(&self) -> PathBuf {
        self.session.with_extension("").join("tool-results")
    }

    /// The hook as an agent calls it; what it would write to it stands as its last word.
    fn hook(&self, many: &Many<'_>) -> Command {
        let call = json!({"session_id": self.id(), "transcript_path": self.session, "cwd": "/home/dev/code/shop",
            "hook_event_name": "Stop"});
        many.ours(&self.one, &self.root, &["sync", "--hook", &call.to_string()])
    }

    fn id(&self) -> String {
        self.session.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// How often a call was made, from the table of `strace -c`.
fn calls_of(table: &str, name: &str) -> u64 {
    let mut rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = rows.find(|fields| fields.last() == Some(&name));
    row.and_then(|fields| fields.get(3)?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_from_the_table_of_strace() {
        let table = "% time     seconds  usecs/call     calls    errors syscall\n\
            ------ ----------- ----------- --------- --------- ----------------\n \
            60.00    0.100000          12      8000       200 openat\n \
            40.00    0.050000          10       500           fdatasync\n\
            100.00    0.150000                  8500       200 total\n";
        assert_eq!(
            (calls_of(table, "openat"), calls_of(table, "fdatasync"), calls_of(table, "rename")),
            (8000, 500, 0)
        );
    }
}
