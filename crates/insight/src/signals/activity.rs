//! # What
//! How many commands, file edits and web searches the agent asked for.
//! # Why
//! The size of the work at a glance, the same for every agent.
//! # How
//! A call and its result are one action. `command_count` counts calls of class `shell`,
//! whatever the agent calls its tool; a program that runs several commands counts each of
//! them, not itself, and a call that asks how a running command goes on counts none.
//! A shell that a server offers (MCP) counts too. `file_edit_count` counts calls that ask to change a file, patches and
//! scripts that write files included. `web_search_count` counts searches and fetches of
//! class `web`. Sub-agents count for their root.
//! # Limits
//! Refused and interrupted calls count: they were asked for. Branches that were rewound and
//! copies made by resume or fork do not.
//! Null with `commands_unread` where nothing was found and a script of Codex could not be
//! read; `metadata.unread` and half the confidence where something was.

use retro_model::ToolClass;

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("activity.rs");

pub(crate) fn command_count(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.ids(|call| call.class == ToolClass::Shell))
}

pub(crate) fn file_edit_count(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.ids(|call| !call.edits.is_empty() || call.class == ToolClass::Edit))
}

pub(crate) fn web_search_count(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.ids(|call| call.class == ToolClass::Web))
}
