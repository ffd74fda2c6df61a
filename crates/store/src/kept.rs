//! The register: everything that is kept, one line each.
//!
//! A line says where something is, whether it is truth, whether it holds words of a
//! transcript, and what becomes of it when the raw bytes of a session are given up or the
//! session is forgotten. Sizes, verification, removal, what a page watches and the table of
//! `docs/formats/store.md` come from these lines. A file, table or column without a line
//! fails a test.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use crate::Store;
use crate::documents::{DIGESTS, FACTS, Kind, LEDGER, MINED, NORMALIZED, REMAINS, RENDERED, SESSIONS};
use crate::evict::SWEEPS;
use crate::layout::{ASIDE, HEAD, LOCK, MARK, PART, QUEUE, RAW};
use crate::masks::MASKS;
use crate::memories::{AUTHORED, EVENTS, EXPOSURES, ITEMS, SPENT};
use crate::names;
use crate::patterns::{CANDIDATES, CATALOG, DECISION_QUEUE, REVIEW_LOG};
use crate::tombstones::TOMBSTONES;

/// One thing that is kept.
#[derive(Debug)]
pub struct Kept {
    /// Where it is.
    pub place: Place,
    /// What losing it means.
    pub standing: Standing,
    /// Whether it holds words of a transcript.
    pub text: bool,
    /// What becomes of it when the raw bytes of its session are given up.
    pub evict: Evict,
    /// What becomes of it when its session is forgotten.
    pub forget: Forget,
    /// What it is, for people.
    pub what: &'static str,
}

/// Where something is.
#[derive(Debug)]
pub enum Place {
    /// One file a session.
    Document(&'static Kind),
    /// Two files a session and mining method.
    Mined,
    /// Everything below a folder of the root that no other line names.
    Folder(&'static str),
    /// A file of the root. A `*` stands for any part of one name.
    File(&'static str),
    /// A file of lines about many sessions.
    Journal(&'static str),
    /// A table of the index.
    Table {
        /// Its name.
        name: &'static str,
        /// Its columns.
        columns: &'static str,
        /// How a row says whose it is.
        rows: Rows,
    },
    /// Somewhere else on the machine, where a command was told to write.
    Outside(&'static str),
}

/// How a row of a table says which session it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// By the agent, and the session in this column.
    Session(&'static str),
    /// By the number that `keys` has for it, in the column `session`.
    Key,
    /// They give these numbers, and go when everything else is gone.
    Last,
    /// By agent and session in one text, the column `owner`.
    Owner,
    /// By the number of the session.
    Number,
    /// It is of no single session.
    Many,
}

/// What losing something means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It cannot be made again.
    Truth,
    /// It can be made again.
    Cache,
    /// It means nothing once the program that wrote it has ended.
    Passing,
}

/// What becomes of something when the raw bytes of its session are given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evict {
    /// It stays.
    Keep,
    /// It goes.
    Remove,
}

/// What becomes of something when its session is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forget {
    /// It stays: it says nothing of the session.
    Keep,
    /// It goes.
    Remove,
    /// The session's lines or words go, the rest stays.
    Mask,
    /// It is made again without the session.
    Remake,
    /// The program cannot reach it; the answer names it.
    OutOfReach,
}

const fn document(kind: &'static Kind, standing: Standing, evict: Evict, what: &'static str) -> Kept {
    let text = !matches!(kind.form, crate::documents::Form::Lines);
    Kept { place: Place::Document(kind), standing, text, evict, forget: Forget::Remove, what }
}

const fn table(
    name: &'static str,
    columns: &'static str,
    rows: Rows,
    text: bool,
    evict: Evict,
    forget: Forget,
    what: &'static str,
) -> Kept {
    Kept { place: Place::Table { name, columns, rows }, standing: Standing::Cache, text, evict, forget, what }
}

/// A file or folder that is of no single session.
const fn common(place: Place, standing: Standing, text: bool, forget: Forget, what: &'static str) -> Kept {
    Kept { place, standing, text, evict: Evict::Keep, forget, what }
}

use Evict::{Keep as Stays, Remove as Goes};
use Forget::{Keep, Mask, OutOfReach, Remake, Remove};
use Place::{File, Folder, Journal, Outside};
use Standing::{Cache, Passing, Truth};

/// Everything that is kept. A path is what the first line says that names it.
pub static REGISTER: &[Kept] = &[
    common(File(HEAD), Truth, false, Keep, "what makes this folder a store"),
    common(File(LOCK), Passing, false, Keep, "empty; carries an advisory lock"),
    common(File("config.toml"), Truth, false, Keep, "settings of this store, written by its user"),
    common(File("*/mark"), Passing, false, Keep, "which index belongs to the files of this folder"),
    document(&SESSIONS, Truth, Stays, "what a session is"),
    document(&LEDGER, Truth, Stays, "its model answers with their tokens"),
    document(&DIGESTS, Truth, Stays, "how it went: outcome, errors, corrections, readings of signals"),
    document(&FACTS, Truth, Stays, "what git said of its repository, one line an observation"),
    Kept {
        place: Place::Mined,
        standing: Truth,
        text: true,
        evict: Stays,
        forget: Remove,
        what: "what a method found in it for later sessions",
    },
    Kept {
        place: Folder(RAW),
        standing: Truth,
        text: true,
        evict: Goes,
        forget: Remove,
        what: "the captured bytes, see [raw files](#raw-files)",
    },
    common(
        Folder(ASIDE),
        Truth,
        true,
        Mask,
        "raw files that were in the place of others; read by nothing, yours to delete",
    ),
    document(&REMAINS, Truth, Stays, "what the index knew of it, once its raw bytes are given up"),
    document(&NORMALIZED, Cache, Goes, "its settled events"),
    document(&RENDERED, Cache, Goes, "the session as Markdown"),
    common(Journal(ITEMS), Truth, true, Keep, "memories that were added by command: [memory](../memory.md)"),
    common(Journal(EVENTS), Truth, true, Mask, "what was decided about memories"),
    common(Folder(AUTHORED), Truth, false, Keep, "notes that a person wrote"),
    common(Journal(EXPOSURES), Truth, false, Mask, "which memories were shown to which session"),
    common(
        Journal(SWEEPS),
        Truth,
        false,
        Keep,
        "when raw bytes were given up, and how much: no session is named",
    ),
    common(Journal(TOMBSTONES), Truth, false, Keep, "what was forgotten: hashes of sessions, and when"),
    common(Journal(MASKS), Truth, false, Keep, "texts that were forgotten: hashes of their forms, and when"),
    common(Journal(SPENT), Truth, false, Mask, "what runs of a model used for `retro mine`"),
    common(Folder("headless"), Truth, true, Mask, "what these runs printed, and where they worked"),
    common(File(CANDIDATES), Cache, true, Remake, "what recurs over sessions: [patterns](../patterns.md)"),
    common(Journal(REVIEW_LOG), Truth, true, Mask, "what was decided about candidates"),
    common(Journal(DECISION_QUEUE), Truth, true, Mask, "decisions that wait for their sink"),
    common(Folder(CATALOG), Truth, true, Mask, "patterns that were written down, and their earlier versions"),
    common(Folder(QUEUE), Passing, false, Keep, "jobs that wait for the next writer"),
    common(Folder("signals"), Cache, true, Remake, "what `retro signal run` exports"),
    common(File("index/retro.sqlite*"), Cache, true, Mask, "the index; its tables are below"),
    common(Folder("index/text"), Cache, true, Remake, "words of all turns, for search"),
    common(
        Folder("index/vectors"),
        Cache,
        true,
        Remake,
        "what turns mean, for search: [vectors](vectors.md)",
    ),
    common(File("index/making"), Passing, false, Keep, "locked while an index is made"),
    common(Folder("index/copies"), Passing, true, Remove, "databases of other programs while they are read"),
    table("meta", "key, value", Rows::Many, false, Stays, Keep, "marks and sums"),
    table("places", "path, owner, stamp", Rows::Owner, false, Stays, Remove, "stamps of the files of logs"),
    table(
        "sources",
        "agent, session, source, revision, kind, format, end, line_end, records, parser_version, state, \
         tail_hash, facts, seal",
        Rows::Session("session"),
        true,
        Goes,
        Remove,
        "how far each source was read",
    ),
    table(
        "sessions",
        "number, agent, id, title, title_rank, project, cwd, branch, started_at, ended_at, parent, bytes, \
         mtime_ns, links, limits, content, disk_bytes, changed, pieces, text_bytes",
        Rows::Session("id"),
        true,
        Stays,
        Remove,
        "what lists show of a session",
    ),
    table(
        "keys",
        "session, agent, id",
        Rows::Last,
        false,
        Stays,
        Remove,
        "numbers by which the next tables know sessions",
    ),
    table(
        "turns",
        "session, event, thread, number, started_at, ended_at, last, events, live, changed",
        Rows::Key,
        false,
        Stays,
        Remove,
        "the turns of a session",
    ),
    table(
        "passages",
        "number, session, event, thread, line, turn, first, pieces, text_bytes, live, at, hash, body, changed",
        Rows::Number,
        true,
        Goes,
        Remove,
        "the words of turns",
    ),
    table(
        "removed_passages",
        "number, changed",
        Rows::Many,
        false,
        Stays,
        Keep,
        "numbers of passages that are gone",
    ),
    table(
        "removed",
        "agent, session, event, changed",
        Rows::Session("session"),
        false,
        Stays,
        Mask,
        "names of sessions and turns that are gone",
    ),
    table(
        "touches",
        "session, event, thread, turn, path, name, writes, added, removed, at, failed",
        Rows::Key,
        true,
        Stays,
        Remove,
        "files that calls touched",
    ),
    table(
        "repairs",
        "session, event, fingerprint, at, fixed, body",
        Rows::Key,
        true,
        Stays,
        Remove,
        "failures, and what became of them",
    ),
    table(
        "repair_errors",
        "session, event, fingerprint",
        Rows::Key,
        false,
        Stays,
        Remove,
        "other errors by which a failure can be found",
    ),
    table(
        "openers",
        "session, event, native, leaf, own, started_at, copied_from",
        Rows::Key,
        false,
        Stays,
        Remove,
        "what tells copied turns from originals",
    ),
    table(
        "names",
        "agent, holder, of, is_leaf, title",
        Rows::Session("holder"),
        true,
        Stays,
        Remove,
        "titles that one log has for other sessions",
    ),
    table(
        "stages",
        "session, stage, stamp, output, seal, changed",
        Rows::Key,
        false,
        Stays,
        Remove,
        "which stages were run, on what",
    ),
    table(
        "due",
        "agent, session, stage, at, behind",
        Rows::Session("session"),
        false,
        Stays,
        Remove,
        "which have to run",
    ),
    table(
        "bodies",
        "session, name, part, body, changed",
        Rows::Key,
        true,
        Stays,
        Remove,
        "what stages leave for others",
    ),
    table(
        "ledgers",
        "agent, session, count, head, rows",
        Rows::Session("session"),
        false,
        Stays,
        Remove,
        "the rows of ledgers",
    ),
    table("cells", "stamp, body", Rows::Many, false, Stays, Remake, "sums over all ledgers"),
    table("memories", "number, id, body", Rows::Many, true, Stays, Remake, "memories, ready to be asked"),
    table("memory_terms", "term, list", Rows::Many, true, Stays, Remake, "their words"),
    table("memory_values", "name, value", Rows::Many, true, Stays, Remake, "what ranking needs of them"),
    table("failures", "path, agent, reason, at", Rows::Many, false, Stays, Keep, "logs that cannot be read"),
    common(
        Outside("dashboard"),
        Cache,
        true,
        Remake,
        "the page: `retro/dashboard` in the data folder, or where `dashboard build --out` says",
    ),
    common(
        Outside("exports"),
        Truth,
        true,
        OutOfReach,
        "what `render --out`, `raw --out` and `dashboard build --single-file` wrote",
    ),
    common(
        Outside("catalog"),
        Truth,
        true,
        OutOfReach,
        "the catalog, where `curate.catalog_dir` names a folder, and what `catalog export` wrote",
    ),
    common(
        Outside("agents"),
        Truth,
        false,
        Keep,
        "lines of crontab, systemd, launchd and hooks that `retro schedule` put there",
    ),
];

impl Kept {
    /// Whether this line names a file, by its path below the root.
    fn names(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        match &self.place {
            Place::File(pattern) => {
                let pattern: Vec<&str> = pattern.split('/').collect();
                pattern.len() == parts.len() && pattern.iter().zip(&parts).all(|(a, b)| fits(a, b))
            }
            Place::Journal(name) => *name == path,
            Place::Document(kind) => match parts.as_slice() {
                [folder, _agent, name] => {
                    let is_earlier = |(earlier, ending): (&str, &str)| {
                        *folder == earlier
                            && name.strip_suffix(ending).is_some_and(|name| names::decode(name).is_some())
                    };
                    *folder == kind.folder() && kind.decode(name).is_some()
                        || kind.earlier().is_some_and(is_earlier)
                }
                _ => false,
            },
            // Where older formats had it; now it is in a file that another line names.
            Place::Mined => match parts.as_slice() {
                [folder, method, _agent, name] => {
                    let kinds = [Kind::mined(method), Kind::mined_prompt(method)];
                    let mut endings = kinds.iter().filter_map(|kind| Some(kind.earlier()?.1));
                    let is_name =
                        |ending| name.strip_suffix(ending).is_some_and(|name| names::decode(name).is_some());
                    *folder == MINED && endings.any(is_name)
                }
                _ => false,
            },
            Place::Folder(folder) => {
                path.strip_prefix(folder).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
            }
            Place::Table { .. } | Place::Outside(_) => false,
        }
    }

    /// The folder or file of the root that it is in; nothing if it is elsewhere.
    pub(crate) fn top(&self) -> Option<&str> {
        let path = match &self.place {
            Place::Document(kind) => kind.folder(),
            Place::Mined => MINED,
            Place::Folder(path) | Place::File(path) | Place::Journal(path) => path,
            Place::Table { .. } | Place::Outside(_) => return None,
        };
        path.split('/').next().filter(|top| !top.contains('*'))
    }
}

/// Whether a name fits a pattern with at most one `*`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => pattern == name,
    }
}

/// The line that names a file, by its path below the root. A file that is being written
/// beside its place has the line of that place.
pub fn line_of(path: &Path) -> Option<&'static Kept> {
    let parts: Option<Vec<&str>> = path
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let path = parts?.join("/");
    let place = path.strip_suffix(PART).unwrap_or(&path);
    REGISTER.iter().find(|line| line.names(place))
}

/// The tables of the index.
pub(crate) fn tables() -> impl Iterator<Item = (&'static Kept, &'static str, Rows)> {
    REGISTER.iter().filter_map(|line| match line.place {
        Place::Table { name, rows, .. } => Some((line, name, rows)),
        _ => None,
    })
}

/// The names in the root that lines speak of.
pub(crate) fn tops() -> BTreeSet<&'static str> {
    REGISTER.iter().filter_map(Kept::top).collect()
}

impl Store {
    /// Truth that no mark watches and no session file leads to: files and folders, by their
    /// paths below the root.
    pub fn unmarked_truth() -> Vec<&'static str> {
        let paths =
            REGISTER.iter().filter(|line| line.standing == Truth).filter_map(|line| match line.place {
                Place::Folder(path) | Place::File(path) | Place::Journal(path) => Some(path),
                _ => None,
            });
        paths.filter(|path| *path != RAW && !path.contains('*') && !path.ends_with(MARK)).collect()
    }
}

#[cfg(test)]
mod tests;
