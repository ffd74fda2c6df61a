//! # What
//! How many calls of one class of tools failed.
//! # Why
//! Edits that do not apply, reads of files that are not there and commands that fail have
//! different causes.
//! # How
//! As `failed_command_count`, for calls of the class in the signal's name: `shell`, `read`,
//! `search`, `edit`, `web`, `mcp`, `subagent`, `plan`, `ask`, `other`.
//! # Limits
//! The class is that of the tool: a shell command that edits a file counts as `shell`.

use retro_model::ToolClass;

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("tool_errors.rs");

pub(crate) fn tool_errors(looked: &Looked<'_>, class: ToolClass) -> Reading {
    Reading::count(looked.ids(move |call| call.class == class && call.is_failed()))
}
