//! # What
//! How many messages the person sent, and how often the model spoke.
//! # Why
//! Many short messages of the person mean steering; few mean delegation.
//! # How
//! `user_message_count` counts what the session was asked in the person's name: messages,
//! commands that ask the model, plans that were accepted. Environment blocks, reminders,
//! output of hooks, shell commands and prompts that an agent wrote for its sub-agents are
//! none. `assistant_message_count` counts texts of the model on all threads.
//! # Limits
//! A message that an agent's log does not mark as injected counts as typed.

use super::Looked;
use crate::Reading;
use crate::trace::Speaker;

pub(crate) const DOC: &str = include_str!("messages.rs");

pub(crate) fn user_message_count(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.trace.requests().map(|(beat, _)| beat.id.as_str()))
}

pub(crate) fn assistant_message_count(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.trace.said(Speaker::Model).map(|(beat, _)| beat.id.as_str()))
}
