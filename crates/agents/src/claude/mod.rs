//! Claude Code.
//!
//! How this folder works: `discover` finds the files, and `identify` opens those with ambiguous
//! names; `record` passes each record, as `line` reads it, to the file of its family (`user`,
//! `assistant`, `system`, `attachment`, `progress`, `side`, `queue`, `documents`; `ground` for
//! their common parts); `settle` folds the drafts, by the rules in `rule`. One table, `mapping`,
//! defines the meaning of the records. `writer` does the reverse and writes a script as the program
//! would.
//!
//! The format has no guarantee: it changes from one patch version to the next, and a resumed
//! session mixes several in one file. For that reason every shape is accepted at once, and fields
//! decide, never the version.

mod assistant;
mod attachment;
mod branches;
mod discover;
mod documents;
mod ground;
mod identify;
mod integration;
mod line;
mod linked;
mod mapping;
mod notification;
mod outcome;
mod progress;
mod queue;
mod record;
mod result;
mod rule;
mod settle;
mod side;
mod state;
mod system;
mod threads;
mod tools;
mod usage;
mod user;
mod words;
mod writer;

use retro_model::{SessionKey, SourceKey, SourceKind};
use std::path::{Path, PathBuf};

use crate::integration::Integration;
use crate::script::Script;
use crate::{Agent, Deletion, Draft, Format, Kindred, Parse, Part, Places, Row, Sightings, TitleOf, command};

/// Claude Code, the command line program, its desktop app and its editor extensions.
pub(crate) struct Claude;

impl Agent for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["cc", "claude-code"]
    }

    fn tells_no_limits(&self) -> Option<&'static str> {
        Some("its logs do not tell; it hands them to its status line, see `retro statusline --help`")
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

    fn discover_session(&self, root: &Path, session: &str, transcript: Option<&Path>, seen: &mut Sightings) {
        discover::walk_session(root, session, transcript, seen);
    }

    fn is_root(&self, folder: &Path) -> bool {
        discover::is_root(folder)
    }

    fn log_folders(&self) -> &'static [&'static str] {
        discover::FOLDERS
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
        // It finds a session only from the session's own folder.
        command::resume("claude --resume", session_id, cwd)
    }

    fn deletion(&self) -> Option<Deletion> {
        Some(Deletion { after_days: 30, setting: "cleanupPeriodDays in ~/.claude/settings.json" })
    }

    fn titles(&self, name: &str, bytes: &dyn Fn() -> Vec<u8>) -> Vec<TitleOf> {
        side::summaries(name, bytes)
    }

    fn variables(&self) -> &'static [&'static str] {
        &["CLAUDE_CONFIG_DIR"]
    }

    fn integration(&self) -> Option<&'static Integration> {
        Some(&integration::INTEGRATION)
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
