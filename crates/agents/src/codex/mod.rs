//! Codex.
//!
//! How this folder works: `discover` finds the files, `names` parses the names of rollouts,
//! `threads` reads the program's database, and `identify` opens files with ambiguous names.
//! `record` passes each record, as `line` reads it, to the file of its family: `meta` (the thread
//! and its turns), `message` (texts), `call` and `output` (tools), `cell` (calls inside a script),
//! `act` (the program's own records of tools), `notice` (everything else), `usage` and `tier`, and
//! `exec` for the stream that `codex exec --json` prints. `settle` folds the drafts, by the rules
//! in `rule`: `pairs` joins messages that are logged twice, `joins` calls and results, `lines`
//! drops abandoned parts. One table, `mapping`, defines the meaning of the records. `writer` does
//! the reverse and writes a script as the program would.
//!
//! A file may hold records of several versions, since a thread is resumed in the file it began in.
//! Every shape is accepted at once, decided by the record and never by the file or the version it
//! names.

mod act;
mod call;
mod cell;
mod discover;
mod exec;
mod identify;
mod integration;
mod joins;
mod limits;
mod line;
mod lines;
mod mapping;
mod message;
mod meta;
mod names;
mod notice;
mod outcome;
mod output;
mod pairs;
mod record;
mod rule;
mod settle;
mod state;
mod threads;
mod tier;
mod tools;
mod usage;
mod words;
mod writer;

use retro_model::{SessionKey, SourceKey, SourceKind};
use std::path::{Path, PathBuf};

use crate::integration::{HookInput, Integration};
use crate::script::Script;
use crate::{
    Agent, Database, DatabaseError, Draft, Format, Kindred, Migrated, Parse, Part, Places, Row, Sightings,
    TitleOf, command,
};

/// Codex, the command line program, its desktop app and its editor extensions.
pub(crate) struct Codex;

impl Agent for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn title(&self) -> &'static str {
        "Codex"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["cx"]
    }

    fn tells_no_limits(&self) -> Option<&'static str> {
        None
    }

    fn titles(&self, name: &str, bytes: &dyn Fn() -> Vec<u8>) -> Vec<TitleOf> {
        names::titles(name, bytes)
    }

    fn parser_version(&self) -> u32 {
        6
    }

    fn roots(&self, places: &Places) -> Vec<PathBuf> {
        discover::roots(places)
    }

    fn discover(&self, root: &Path, seen: &mut Sightings) {
        discover::walk(root, seen);
    }

    fn discover_session(&self, root: &Path, session: &str, transcript: Option<&Path>, seen: &mut Sightings) {
        discover::walk_session(root, session, transcript, seen);
    }

    fn is_root(&self, folder: &Path) -> bool {
        discover::is_root(folder)
    }

    fn log_folders(&self) -> &'static [&'static str] {
        &["sessions", "archived_sessions"]
    }

    fn list(&self, database: &Database, seen: &mut Sightings) -> Result<(), DatabaseError> {
        discover::list(database, seen)
    }

    fn rows(
        &self,
        database: &Database,
        session: &str,
        _source: &SourceKey,
    ) -> Result<Vec<u8>, DatabaseError> {
        threads::rows(database, session)
    }

    fn identify(&self, path: &Path, head: &[u8]) -> Option<Kindred> {
        identify::identify(path, head)
    }

    fn parser(&self, part: &Part, state: Option<&[u8]>) -> Box<dyn Parse> {
        match part.source.as_str() {
            names::EXEC => Box::new(exec::Parser::new(part, state)),
            names::STATE => Box::new(threads::Parser),
            _ => Box::new(record::Parser::new(part, state)),
        }
    }

    fn settle(&self, session: &SessionKey, drafts: &mut Vec<Draft>) {
        settle::settle(session, drafts);
    }

    fn parts_at(&self, draft: &Draft) -> bool {
        // A prompt is in the log first as an item and then as an event.
        draft.hint.rule() == Some(&rule::Rule::Held)
    }

    fn resume(&self, session_id: &str, cwd: Option<&str>) -> Option<String> {
        // It finds a thread from anywhere, but works in the folder where it is started.
        command::resume("codex resume", session_id, cwd)
    }

    fn variables(&self) -> &'static [&'static str] {
        &["CODEX_HOME"]
    }

    fn is_hook_input(&self, input: &HookInput) -> bool {
        input.given.get("thread-id").is_some()
    }

    fn integration(&self) -> Option<&'static Integration> {
        Some(&integration::INTEGRATION)
    }

    fn source_form(&self, source: &SourceKey) -> (SourceKind, Format) {
        names::form(source.as_str())
    }

    fn mapping(&self) -> &'static [Row] {
        mapping::ROWS
    }

    fn write(&self, script: &Script) -> Vec<(PathBuf, Vec<u8>)> {
        writer::write(script)
    }

    fn forks(&self) -> &'static [&'static str] {
        writer::WAYS
    }

    fn write_migrated(&self, script: &Script) -> Option<Migrated> {
        Some(writer::write_migrated(script))
    }

    fn write_database(&self, script: &Script) -> Option<(PathBuf, String)> {
        Some(writer::write_database(script))
    }
}
