//! Grok Build, xAI's command line agent.
//!
//! A session is a folder of files that record the same events in different ways. `updates.jsonl` is
//! the backbone: everything shown to the user, never cut. The other logs complete it:
//! `chat_history.jsonl` has the final text as the model saw it and is rewritten by compaction and
//! rewind, `events.jsonl` has the endings of calls and turns.
//!
//! How this folder works: `discover` finds the files, and `identify` reads those that a user points
//! at; `record` passes each record, as `line` reads it, to the file of its source (`update` with
//! `call`, `result`, `turn` and `side`; `chat`; `events`; `documents`); `settle` folds the drafts,
//! by the rules in `rule`, in the steps `order`, `join`, `align` and `turns`. One table, `mapping`,
//! defines the meaning of the records. `writer` does the reverse and writes a script as the program
//! would, with `story`, `work` and `pages`.
//!
//! All shapes are from 1.0.41 unless noted. Files do not name the version that wrote them, so every
//! shape is accepted at once.

mod align;
mod call;
mod chat;
mod discover;
mod documents;
mod events;
mod identify;
mod join;
mod line;
mod mapping;
mod order;
mod pages;
mod record;
mod result;
mod rule;
mod settle;
mod side;
mod state;
mod story;
mod turn;
mod turns;
mod update;
mod work;
mod writer;

use retro_model::{SessionKey, SourceKey, SourceKind};
use std::path::{Path, PathBuf};

use crate::script::Script;
use crate::{Agent, Draft, Format, Kindred, Parse, Part, Places, Row, Sightings, command};

/// Grok Build: the terminal program, its headless runs and its ACP clients.
pub(crate) struct Grok;

impl Agent for Grok {
    fn name(&self) -> &'static str {
        "grok"
    }

    fn title(&self) -> &'static str {
        "Grok Build"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["grok-build"]
    }

    fn parser_version(&self) -> u32 {
        5
    }

    fn roots(&self, places: &Places) -> Vec<PathBuf> {
        discover::roots(places)
    }

    fn discover(&self, root: &Path, seen: &mut Sightings) {
        discover::walk(root, seen);
    }

    fn discover_session(&self, root: &Path, session: &str, _transcript: Option<&Path>, seen: &mut Sightings) {
        discover::walk_session(root, session, seen);
    }

    fn is_root(&self, folder: &Path) -> bool {
        discover::is_root(folder)
    }

    fn log_folders(&self) -> &'static [&'static str] {
        &["sessions"]
    }

    fn identify(&self, path: &Path, head: &[u8]) -> Option<Kindred> {
        identify::identify(path, head)
    }

    fn parser(&self, part: &Part, state: Option<&[u8]>) -> Box<dyn Parse> {
        Box::new(record::Parser::new(part, state))
    }

    fn settle(&self, _session: &SessionKey, drafts: &mut Vec<Draft>) {
        settle::settle(drafts);
    }

    fn resume(&self, session_id: &str, cwd: Option<&str>) -> Option<String> {
        command::resume("grok -r", session_id, cwd)
    }

    fn variables(&self) -> &'static [&'static str] {
        &["GROK_HOME"]
    }

    fn hook_variable(&self) -> Option<&'static str> {
        Some("GROK_SESSION_ID")
    }

    fn source_form(&self, source: &SourceKey) -> (SourceKind, Format) {
        discover::form(source.as_str())
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
}
