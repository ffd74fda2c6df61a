//! # What
//! How many different files the agent changed and read.
//! # Why
//! A small change that reads fifty files, or a large one that reads none, is worth a look.
//! # How
//! Distinct paths of changed files (calls that were refused or failed left out; a shell
//! command that fails after it wrote a file changed it), and of
//! files read by a tool or by a shell command that names them. `metadata.files` lists the
//! first 50.
//! # Limits
//! Paths are compared as the log writes them: the same file named absolutely and relatively
//! counts once only if one is the end of the other. A command that builds a path from
//! variables is not understood. Of a shell command the files count that it names in a
//! redirection, `tee`, `sed -i`, `mv`, `cp`, `rm`, `git mv`, `git apply`, or a short script for
//! Python or Node; what a formatter or a generator writes does not, nor output that is kept
//! in a `.log` or below `/tmp`.
//! Null with `commands_unread` where nothing was found and a script of Codex could not be
//! read; `metadata.unread` and half the confidence where something was.

use std::collections::BTreeSet;

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("files.rs");

/// The most files that the metadata lists.
const FILES_MAX: usize = 20;

pub(crate) fn unique_files_edited(looked: &Looked<'_>) -> Reading {
    let changed = looked.trace.calls().filter(|(_, call)| call.changed_files());
    distinct(changed.flat_map(|(_, call)| call.edits.iter().map(|edit| edit.path.as_str())))
}

pub(crate) fn unique_files_read(looked: &Looked<'_>) -> Reading {
    distinct(looked.trace.calls().flat_map(|(_, call)| call.reads.iter().map(String::as_str)))
}

fn distinct<'a>(paths: impl Iterator<Item = &'a str>) -> Reading {
    let all: BTreeSet<&str> =
        paths.map(|path| path.trim_start_matches("./")).filter(|path| !path.is_empty()).collect();
    let is_end = |path: &str| {
        all.iter().any(|longer| {
            longer.len() > path.len()
                && longer.ends_with(path)
                && longer[..longer.len() - path.len()].ends_with('/')
        })
    };
    let files: Vec<&str> = all.iter().copied().filter(|path| !is_end(path)).collect();
    let shown: Vec<&str> = files.iter().copied().take(FILES_MAX).collect();
    let reading = Reading::of(files.len());
    if shown.is_empty() { reading } else { reading.with("files", shown) }
}
