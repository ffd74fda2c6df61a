//! Finds the commits of a session in its repository, and the lines of them that survive.

use retro_insight::{AGES_DAYS, Commit, CommitDigest, DAY_MS, Digest, GitFacts, Survival};
use retro_model::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::git::{Failed, Git, top_of};
use super::remote;

/// At most this many files of one commit are followed.
const FILES_MAX: usize = 500;
/// At most this many commits are searched for a message.
const MESSAGES_MAX: &str = "1000";
/// Time before and after a session in which a commit with its message counts as its own.
const AROUND_MS: i64 = 3_600_000;
/// Format of a commit in the output of git: hash, time, subject.
const SHOWN: &str = "--format=%H %ct %s";

/// A repository with its remote.
#[derive(Debug, Clone)]
pub(super) struct Place {
    root: String,
    remote: Option<String>,
}

impl Place {
    /// The repository of a folder, or the reason why none can be read.
    pub(super) fn of(git: &Git) -> Result<Place, &'static str> {
        if !git.folder.is_dir() {
            return Err("cwd_missing");
        }
        if top_of(&git.folder).is_none() {
            return Err("not_a_git_repo");
        }
        let lines = git.lines(&["rev-parse", "--show-toplevel", "--git-common-dir"], "");
        match lines.map_err(Failed::reason)?.as_slice() {
            [root, common] => {
                Ok(Place { root: root.clone(), remote: remote::of(&git.folder.join(Path::new(common))) })
            }
            _ => Err(Failed::Error.reason()),
        }
    }
}

/// Observes the commits of a session in a repository.
pub(super) fn observe(
    git: &Git,
    place: &Result<Place, &'static str>,
    digest: &Digest,
    now: Timestamp,
) -> GitFacts {
    let facts = GitFacts { observed_at: Some(now), asked: asked(digest), ..GitFacts::default() };
    let seen = place
        .clone()
        .and_then(|place| commits(git, digest, now).map(|commits| (place, commits)).map_err(Failed::reason));
    match seen {
        Ok((Place { root, remote }, commits)) => GitFacts { root: Some(root), remote, commits, ..facts },
        Err(reason) => GitFacts { reason: Some(reason.to_owned()), ..facts },
    }
}

/// Number of commits in a session's digest.
pub(super) fn asked(digest: &Digest) -> u64 {
    (digest.commits.len() as u64) + digest.left_out.get("commits").copied().unwrap_or(0)
}

fn commits(git: &Git, digest: &Digest, now: Timestamp) -> Result<Vec<Commit>, Failed> {
    let found = found(git, digest)?;
    found.iter().map(|(found, tied_by)| commit(git, found, tied_by, now)).collect()
}

/// A commit that git knows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    hash: String,
    at_s: i64,
    subject: String,
}

fn shown(line: &str) -> Option<Found> {
    let mut parts = line.splitn(3, ' ');
    let (hash, at, subject) = (parts.next()?, parts.next()?, parts.next().unwrap_or(""));
    Some(Found { hash: hash.to_owned(), at_s: at.parse().ok()?, subject: subject.to_owned() })
}

/// The commits of a session that are in the repository, each once.
fn found(git: &Git, digest: &Digest) -> Result<Vec<(Found, &'static str)>, Failed> {
    let (printed, quiet): (Vec<&CommitDigest>, Vec<&CommitDigest>) =
        digest.commits.iter().partition(|commit| !commit.hash.is_empty());
    let mut all: Vec<(Found, &'static str)> =
        by_hash(git, &printed)?.into_iter().map(|found| (found, "hash")).collect();
    let subjects: Vec<&str> =
        quiet.iter().map(|commit| commit.subject.as_str()).filter(|subject| !subject.is_empty()).collect();
    for found in by_message(git, &subjects, digest)? {
        if !all.iter().any(|(known, _)| known.hash == found.hash) {
            all.push((found, "message"));
        }
    }
    Ok(all)
}

fn by_hash(git: &Git, printed: &[&CommitDigest]) -> Result<Vec<Found>, Failed> {
    let is_hash = |hash: &str| hash.chars().all(|c| c.is_ascii_hexdigit());
    let asked: String = printed
        .iter()
        .filter(|commit| is_hash(&commit.hash))
        .map(|commit| format!("{}^{{commit}}\n", commit.hash))
        .collect();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let answers = git.lines(&["cat-file", "--batch-check=%(objectname) %(objecttype)"], &asked)?;
    let mut known: Vec<&str> = answers.iter().filter_map(|line| line.strip_suffix(" commit")).collect();
    known.dedup();
    if known.is_empty() {
        return Ok(Vec::new());
    }
    let lines =
        git.lines(&["log", "--no-color", "--no-walk=unsorted", SHOWN, "--stdin"], &known.join("\n"))?;
    Ok(lines.iter().filter_map(|line| shown(line)).collect())
}

/// Commits with one of these messages, made while the session ran.
fn by_message(git: &Git, subjects: &[&str], digest: &Digest) -> Result<Vec<Found>, Failed> {
    let (Some(first), Some(last)) = (digest.started_at, digest.ended_at) else { return Ok(Vec::new()) };
    if subjects.is_empty() {
        return Ok(Vec::new());
    }
    let from = format!("--max-age={}", (first.as_millis() - AROUND_MS) / 1000);
    let to = format!("--min-age={}", (last.as_millis() + AROUND_MS) / 1000);
    let arguments = ["log", "--no-color", "--branches", "--remotes", "-n", MESSAGES_MAX, &from, &to, SHOWN];
    let lines = git.lines(&arguments, "")?;
    let is_wanted = |found: &Found| {
        subjects.iter().any(|subject| match subject.strip_suffix('…') {
            Some(start) => found.subject.starts_with(start),
            None => found.subject == *subject,
        })
    };
    Ok(lines.iter().filter_map(|line| shown(line)).filter(is_wanted).collect())
}

/// Lines of a file with the number of their occurrences.
type Counts = HashMap<Vec<u8>, u64>;

fn commit(git: &Git, found: &Found, tied_by: &str, now: Timestamp) -> Result<Commit, Failed> {
    let added = added(git, &found.hash)?;
    let lines: u64 = added.values().flat_map(Counts::values).sum();
    let mut survival = Vec::new();
    let mut tip = None;
    for days in AGES_DAYS {
        let at_s = found.at_s.saturating_add(i64::from(days) * DAY_MS / 1000);
        if at_s.saturating_mul(1000) > now.as_millis() {
            continue;
        }
        let tip = match &tip {
            Some(tip) => tip,
            None => tip.insert(tip_of(git, &found.hash)?),
        };
        survival.push(Survival { days, left: left(git, &added, tip, at_s)?, of: lines });
    }
    Ok(Commit {
        hash: found.hash.clone(),
        at: Timestamp::from_millis(found.at_s.saturating_mul(1000)),
        tied_by: tied_by.to_owned(),
        added: lines,
        survival,
    })
}

/// The branch to search for a commit: the checked out one, or the newest that holds it. If no
/// branch holds it any more, the checked out one is used.
fn tip_of(git: &Git, hash: &str) -> Result<String, Failed> {
    let outside =
        git.lines(&["log", "--no-color", "-1", "--format=%H", "--end-of-options", hash, "^HEAD"], "")?;
    if outside.is_empty() {
        return Ok("HEAD".to_owned());
    }
    let contains = format!("--contains={hash}");
    let tips = git.lines(
        &[
            "for-each-ref",
            &contains,
            "--sort=-committerdate",
            "--count=1",
            "--format=%(objectname)",
            "refs/heads",
            "refs/remotes",
        ],
        "",
    )?;
    Ok(tips.into_iter().next().unwrap_or_else(|| "HEAD".to_owned()))
}

/// The lines that a commit added, by file.
fn added(git: &Git, hash: &str) -> Result<BTreeMap<String, Counts>, Failed> {
    let arguments = [
        "diff-tree",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--root",
        "-r",
        "-M",
        "-p",
        "-U0",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--end-of-options",
        hash,
    ];
    Ok(added_in(&git.run(&arguments, "")?))
}

/// Reads a patch without context.
fn added_in(patch: &[u8]) -> BTreeMap<String, Counts> {
    let mut files: BTreeMap<String, Counts> = BTreeMap::new();
    let mut path: Option<String> = None;
    // Lines of a hunk that are still to come. A line among them that looks like a header is text.
    let (mut minus, mut plus) = (0_u64, 0_u64);
    for line in patch.split(|byte| *byte == b'\n') {
        if minus > 0 && line.first() == Some(&b'-') {
            minus -= 1;
        } else if plus > 0 && line.first() == Some(&b'+') {
            plus -= 1;
            let text = line.get(1..).unwrap_or_default();
            if let (Some(path), true) = (&path, says_something(text)) {
                let lines = files.entry(path.clone()).or_default();
                *lines.entry(trimmed(text).to_vec()).or_default() += 1;
            }
        } else if line.starts_with(b"@@ ") {
            (minus, plus) = hunk(line);
        } else if let Some(name) = line.strip_prefix(b"+++ b/") {
            let name = std::str::from_utf8(name).ok().filter(|_| files.len() < FILES_MAX);
            path = name.map(|name| name.trim_end_matches('\t').to_owned());
        } else if line.starts_with(b"diff --git ") {
            path = None;
        }
    }
    files
}

/// The number of lines that a hunk removes and adds: `@@ -3,2 +3 @@`.
fn hunk(line: &[u8]) -> (u64, u64) {
    let text = String::from_utf8_lossy(line);
    let count = |mark: char| {
        let range = text.split(' ').find_map(|word| word.strip_prefix(mark)).unwrap_or("0,0");
        range.split_once(',').map_or(1, |(_, count)| count.parse().unwrap_or(0))
    };
    (count('-'), count('+'))
}

fn says_something(line: &[u8]) -> bool {
    line.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
}

/// A line without a carriage return at its end.
fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// How many of these lines the branch had at a given time.
fn left(git: &Git, added: &BTreeMap<String, Counts>, tip: &str, at_s: i64) -> Result<u64, Failed> {
    let before = format!("--min-age={at_s}");
    let arguments = ["log", "--no-color", "-1", &before, "--format=%H", "--end-of-options", tip];
    let Some(state) = git.lines(&arguments, "")?.into_iter().next() else { return Ok(0) };
    let files: Vec<&String> = added.keys().filter(|path| !path.contains('\n')).collect();
    if files.is_empty() {
        return Ok(0);
    }
    let asked: String = files.iter().map(|path| format!("{state}:{path}\n")).collect();
    let output = git.run(&["cat-file", "--batch"], &asked)?;
    let mut rest = output.as_slice();
    let mut left = 0;
    for path in files {
        let content;
        (content, rest) = next_object(rest).ok_or(Failed::Error)?;
        let wanted = added.get(path);
        if let (Some(content), Some(wanted)) = (content, wanted) {
            left += still_there(wanted, content);
        }
    }
    Ok(left)
}

/// The next object that `cat-file --batch` printed, `None` for a missing one, and the rest of the
/// output.
fn next_object(bytes: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, rest) = (bytes.get(..end)?, bytes.get(end + 1..)?);
    let head = String::from_utf8_lossy(head);
    let mut words = head.rsplit(' ');
    let size = words.next()?;
    let is_blob = words.next() == Some("blob");
    match size.parse::<usize>() {
        // The line of a missing object ends in a word instead of a size.
        Err(_) => Some((None, rest)),
        Ok(size) => {
            let content = rest.get(..size)?;
            Some((Some(content).filter(|_| is_blob), rest.get(size + 1..)?))
        }
    }
}

fn still_there(wanted: &Counts, content: &[u8]) -> u64 {
    let mut there: HashMap<&[u8], u64> = HashMap::new();
    for line in content.split(|byte| *byte == b'\n').map(trimmed) {
        if wanted.contains_key(line) {
            *there.entry(line).or_default() += 1;
        }
    }
    wanted.iter().map(|(line, count)| there.get(line.as_slice()).copied().unwrap_or(0).min(*count)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_read_by_its_counts() {
        let patch =
            b"abc\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,3 @@\n-a\n++++ b/trick\n+fn x()\n+}\n\
                      diff --git a/y b/y\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
        let files = added_in(patch);
        let lines: Vec<String> = files["x"].keys().map(|l| String::from_utf8_lossy(l).into()).collect();
        assert_eq!(files.len(), 1);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(files["x"].contains_key(&b"+++ b/trick"[..]));
    }

    #[test]
    fn objects_are_read_one_after_the_other() {
        let output = b"1a blob 5\nx\ny z\nHEAD:gone missing\n2b tree 2\n..\n";
        let (first, rest) = next_object(output).unwrap();
        assert_eq!(first, Some(&b"x\ny z"[..]));
        let (second, rest) = next_object(rest).unwrap();
        assert_eq!(second, None);
        assert_eq!(next_object(rest).unwrap(), (None, &b""[..]));
        assert_eq!(next_object(b"1a blob 50\nx"), None, "cut off");
    }

    #[test]
    fn a_line_counts_as_often_as_it_was_added() {
        let wanted: Counts = [(b"a b".to_vec(), 2), (b"c".to_vec(), 1)].into();
        assert_eq!(still_there(&wanted, b"a b\r\nx\na b\na b\n"), 2);
    }
}
