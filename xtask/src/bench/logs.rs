//! Logs to measure with: a given home, or sessions made here from a counter, so
//! that every run on every machine sees the same bytes.

use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use walkdir::WalkDir;

use super::{rollout, timed};
use crate::failure::Failure;
use crate::run;

/// Session logs below a home directory.
pub(crate) struct Logs {
    /// The home.
    pub(crate) home: PathBuf,
    /// Its files, sorted.
    pub(crate) files: Vec<PathBuf>,
    /// Bytes of all files.
    pub(crate) bytes: u64,
}

impl Logs {
    /// Those that are there.
    pub(crate) fn at(home: &Path) -> Result<Logs, Failure> {
        let mut files = Vec::new();
        let mut bytes = 0;
        for entry in WalkDir::new(home).sort_by_file_name() {
            let entry = entry.map_err(|error| Failure::at(home, error))?;
            if entry.file_type().is_file() {
                bytes += entry.metadata().map_err(|error| Failure::at(home, error))?.len();
                files.push(entry.into_path());
            }
        }
        if files.is_empty() {
            return Err(Failure::at(home, "holds no logs to measure with"));
        }
        Ok(Logs { home: home.to_owned(), files, bytes })
    }

    /// Makes `count` sessions of at least `bytes` each.
    pub(crate) fn generate(home: &Path, count: usize, bytes: usize) -> Result<Logs, Failure> {
        Logs::numbered(home, 0..count, bytes)
    }

    /// Makes the sessions of these numbers, of at least `bytes` each. A number is always the
    /// same session.
    pub(crate) fn numbered(home: &Path, numbers: Range<usize>, bytes: usize) -> Result<Logs, Failure> {
        for number in numbers {
            let project = format!("-home-dev-code-shop{}", number % 10);
            let folder = home.join(".claude/projects").join(project);
            std::fs::create_dir_all(&folder).map_err(|error| Failure::at(&folder, error))?;
            let path = folder.join(format!("{}.jsonl", session_id(number)));
            let file = File::create(&path).map_err(|error| Failure::at(&path, error))?;
            let mut out = BufWriter::new(file);
            let (mut written, mut turn) = (0, 0);
            while written < bytes {
                turn += 1;
                let text = lines(&session_id(number), turn);
                written += text.len();
                out.write_all(text.as_bytes()).map_err(|error| Failure::at(&path, error))?;
            }
            out.flush().map_err(|error| Failure::at(&path, error))?;
        }
        Logs::at(home)
    }

    /// Makes sessions with this many answers of a model in all, half of them by
    /// each of two agents.
    pub(crate) fn of_responses(home: &Path, responses: usize) -> Result<Logs, Failure> {
        let sessions = (responses / 2).div_ceil(RESPONSES_A_SESSION);
        for number in 0..sessions {
            let turns = RESPONSES_A_SESSION / 2;
            let id = session_id(number);
            let claude = home.join(format!(".claude/projects/-home-dev-code-shop{}/{id}.jsonl", number % 10));
            write(&claude, (1..=turns).map(|turn| lines(&id, turn)))?;
            let day = 1 + number % 28;
            let codex =
                format!(".codex/sessions/2026/03/{day:02}/rollout-2026-03-{day:02}T00-00-00-{id}.jsonl");
            write(&home.join(codex), rollout::lines(&id, RESPONSES_A_SESSION))?;
        }
        Logs::at(home)
    }

    /// Asks the kernel to drop what it keeps of the files in memory. Only GNU's
    /// `dd` can; elsewhere they stay, for every program alike.
    pub(crate) fn forget_pages(&self) -> Result<(), Failure> {
        const DROP: [&str; 3] = ["iflag=nocache", "count=0", "status=none"];
        if !run::is_there("dd", &["if=/dev/null", DROP[0], DROP[1], DROP[2]]) {
            return Ok(());
        }
        for file in &self.files {
            let mut dd = Command::new("dd");
            run::run(dd.arg(format!("if={}", file.display())).args(DROP))?;
        }
        Ok(())
    }
}

/// Answers in one session of those that are made by their number.
const RESPONSES_A_SESSION: usize = 90;

fn write(path: &Path, lines: impl Iterator<Item = String>) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
    let mut out = BufWriter::new(File::create(path).map_err(|error| Failure::at(path, error))?);
    for text in lines {
        out.write_all(text.as_bytes()).map_err(|error| Failure::at(path, error))?;
    }
    out.flush().map_err(|error| Failure::at(path, error))
}

/// Copies the files of one home into another, each as old as it was, or of this time.
pub(crate) fn copy(from: &Path, into: &Path, modified: Option<SystemTime>) -> Result<(), Failure> {
    for file in Logs::at(from)?.files {
        let to = into.join(file.strip_prefix(from).map_err(|error| Failure::at(&file, error))?);
        let folder = to.parent().unwrap_or(into);
        std::fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
        std::fs::copy(&file, &to).map_err(|error| Failure::at(&file, error))?;
        let was = std::fs::metadata(&file).and_then(|meta| meta.modified());
        let modified = modified.map_or(was, Ok).map_err(|error| Failure::at(&file, error))?;
        let copy = OpenOptions::new().append(true).open(&to).map_err(|error| Failure::at(&to, error))?;
        copy.set_modified(modified).map_err(|error| Failure::at(&to, error))?;
    }
    Ok(())
}

/// A session with one result of a tool that is this long, in one line.
pub(crate) fn long_line(home: &Path, bytes: usize) -> Result<Logs, Failure> {
    let id = session_id(0);
    let path = home.join(format!(".claude/projects/-home-dev-code-shop0/{id}.jsonl"));
    let record = |content: &str| {
        json!({"type": "user", "sessionId": id, "uuid": format!("{id}-long"), "cwd": "/home/dev/code/shop",
            "timestamp": "2026-03-01T10:00:00.000Z", "message": {"role": "user", "content":
                [{"type": "tool_result", "tool_use_id": "call_1", "content": content}]}})
        .to_string()
    };
    // Filled in piece by piece, so that this program stays small too.
    const HERE: &str = "@@";
    let frame = record(HERE);
    let (before, after) = frame.split_once(HERE).ok_or_else(|| Failure::new("the frame has no hole"))?;
    let pieces = (0..).scan(0, |written, seed| {
        let piece = format!("{} ", prose(seed, 2_000));
        (*written < bytes).then(|| {
            *written += piece.len();
            piece
        })
    });
    let first = [lines(&id, 1), before.to_owned()].into_iter();
    let last = [format!("{after}\n"), lines(&id, 2)];
    write(&path, first.chain(pieces).chain(last))?;
    Logs::at(home)
}

/// Appends one turn to a generated session.
pub(crate) fn append(session: &Path, turn: usize) -> Result<(), Failure> {
    let id = session.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut file =
        OpenOptions::new().append(true).open(session).map_err(|error| Failure::at(session, error))?;
    file.write_all(lines(&id, turn).as_bytes()).map_err(|error| Failure::at(session, error))
}

/// How many turns a generated session has.
pub(crate) fn turns(session: &Path) -> Result<usize, Failure> {
    let bytes = std::fs::read(session).map_err(|error| Failure::at(session, error))?;
    Ok(bytes.iter().filter(|byte| **byte == b'\n').count() / LINES_A_TURN)
}

/// The time of a bare walk that looks at every file's size and times.
pub(crate) fn walk(home: &Path) -> Result<Duration, Failure> {
    let (time, files) = timed(|| {
        let mut files = 0u64;
        for entry in WalkDir::new(home) {
            let entry = entry.map_err(|error| Failure::at(home, error))?;
            files += u64::from(entry.metadata().is_ok_and(|meta| meta.modified().is_ok() && meta.is_file()));
        }
        Ok(files)
    })?;
    if files == 0 { Err(Failure::at(home, "holds no files")) } else { Ok(time) }
}

/// Bytes of all files below a folder.
pub(crate) fn size(folder: &Path) -> u64 {
    let entries = WalkDir::new(folder).into_iter().filter_map(Result::ok);
    entries
        .filter_map(|entry| entry.metadata().ok())
        .filter(|meta| meta.is_file())
        .map(|meta| meta.len())
        .sum()
}

const LINES_A_TURN: usize = 4;

fn session_id(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// One turn as Claude Code 2.1 writes it: a prompt, a call, its result, an answer.
fn lines(session: &str, turn: usize) -> String {
    let mut text = String::new();
    // Records and answers have ids of their own, in whichever session they stand.
    let own = session.rsplit('-').next().unwrap_or_default();
    let id = |turn: usize, step: usize| format!("{turn:08x}-0000-4000-{step:04}-{own}");
    let message = format!("msg_{own}_{turn}");
    let usage = json!({"input_tokens": 12, "cache_read_input_tokens": turn * 900, "output_tokens": 180});
    let contents = [
        ("user", json!({"role": "user", "content": prose(turn, 30)})),
        (
            "assistant",
            json!({"role": "assistant", "id": message, "model": "claude-opus-5", "usage": usage,
                "content": [{"type": "tool_use", "id": format!("call_{turn}"), "name": "Bash",
                    "input": {"command": format!("cargo test case_{turn}"), "description": prose(turn + 1, 8)}}]}),
        ),
        (
            "user",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("call_{turn}"),
                "content": prose(turn + 2, 240), "is_error": false}]}),
        ),
        (
            "assistant",
            json!({"role": "assistant", "id": format!("{message}b"), "model": "claude-opus-5", "usage": usage,
                "content": [{"type": "text", "text": prose(turn + 3, 90)}]}),
        ),
    ];
    for (step, (kind, message)) in contents.into_iter().enumerate() {
        let parent = match (turn, step) {
            (1, 0) => None,
            (_, 0) => Some(id(turn - 1, LINES_A_TURN - 1)),
            _ => Some(id(turn, step - 1)),
        };
        let (minutes, seconds) = ((turn / 6) % 60, (turn % 6) * 10 + step);
        let record = json!({
            "parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/home/dev/code/shop",
            "sessionId": session, "version": "2.1.300", "gitBranch": "main", "type": kind, "message": message,
            "uuid": id(turn, step), "timestamp": format!("2026-03-01T{:02}:{minutes:02}:{seconds:02}.000Z", (turn / 360) % 24),
        });
        text.push_str(&record.to_string());
        text.push('\n');
    }
    text
}

/// Words in an order that a number decides, so that text compresses as text does.
pub(super) fn prose(seed: usize, words: usize) -> String {
    const WORDS: &[&str] = &[
        "the", "order", "of", "a", "shop", "test", "fails", "because", "tax", "is", "rounded", "twice", "in",
        "src", "cart", "rs", "line", "total", "price", "expected", "found", "cents", "when", "invoice",
        "has", "two", "rows", "module", "returns", "early", "without", "discount", "let", "us", "look", "at",
        "how", "it", "was", "before",
    ];
    let mut state = seed as u64 * 2_654_435_761 + 1;
    let mut text = String::new();
    for number in 0..words {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = WORDS.get((state >> 33) as usize % WORDS.len()).copied().unwrap_or_default();
        text.push_str(if number == 0 { "" } else { " " });
        text.push_str(word);
        if state >> 60 == 0 {
            text.push_str(&format!(" {}", state >> 48));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_logs_are_the_same_every_time() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = Logs::generate(a.path(), 3, 20_000).unwrap();
        let second = Logs::generate(b.path(), 3, 20_000).unwrap();
        assert_eq!(first.files.len(), 3);
        assert_eq!(first.bytes, second.bytes);
        for (one, two) in first.files.iter().zip(&second.files) {
            assert_eq!(std::fs::read(one).unwrap(), std::fs::read(two).unwrap());
        }
        assert_eq!(size(a.path()), first.bytes);
    }

    #[test]
    fn a_turn_is_appended_behind_the_last() {
        let home = tempfile::tempdir().unwrap();
        let logs = Logs::generate(home.path(), 1, 5_000).unwrap();
        let before = turns(&logs.files[0]).unwrap();
        append(&logs.files[0], before + 1).unwrap();
        assert_eq!(turns(&logs.files[0]).unwrap(), before + 1);
        let text = std::fs::read_to_string(&logs.files[0]).unwrap();
        let records: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for pair in records.windows(2) {
            assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"]);
        }
    }

    #[test]
    fn a_number_of_responses_is_made_with_ids_of_their_own() {
        let home = tempfile::tempdir().unwrap();
        let logs = Logs::of_responses(home.path(), 4 * RESPONSES_A_SESSION).unwrap();
        assert_eq!(logs.files.len(), 4);
        let text: String = logs.files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
        assert_eq!(text.matches("\"token_count\"").count(), 2 * RESPONSES_A_SESSION);
        let claude = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let mut ids: Vec<String> =
            claude.filter_map(|line| Some(line["message"]["id"].as_str()?.to_owned())).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 2 * RESPONSES_A_SESSION);
    }

    #[test]
    fn a_long_line_is_one_record() {
        let home = tempfile::tempdir().unwrap();
        let logs = long_line(home.path(), 300_000).unwrap();
        let text = std::fs::read_to_string(&logs.files[0]).unwrap();
        let longest = text.lines().max_by_key(|line| line.len()).unwrap();
        assert!(longest.len() > 300_000 && longest.len() < 400_000, "{}", longest.len());
        assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    }

    #[test]
    fn a_copy_is_as_old_as_it_was_or_as_told() {
        let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let logs = Logs::generate(home.path(), 1, 1_000).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        copy(home.path(), other.path(), Some(then)).unwrap();
        let copied = Logs::at(other.path()).unwrap();
        assert_eq!((copied.files.len(), copied.bytes), (1, logs.bytes));
        assert_eq!(std::fs::metadata(&copied.files[0]).unwrap().modified().unwrap(), then);
        copied.forget_pages().unwrap();
    }

    #[test]
    fn an_empty_home_cannot_be_measured() {
        let home = tempfile::tempdir().unwrap();
        assert!(Logs::at(home.path()).is_err());
        assert!(walk(home.path()).is_err());
    }
}
