//! # What
//! How many messages the person typed, and how often the model spoke.
//! # Why
//! Many short messages of the person mean steering; few mean delegation.
//! # How
//! `user_message_count` counts messages whose words are the person's own. Environment
//! blocks, reminders, output of hooks and prompts that an agent wrote for its sub-agents are
//! not theirs. `assistant_message_count` counts texts of the model on all threads.
//! # Limits
//! A message that an agent's log does not mark as injected counts as typed.

use super::Looked;
use crate::Reading;
use crate::trace::Speaker;

pub(crate) const DOC: &str = include_str!("messages.rs");

pub(crate) fn user_message_count(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.trace.prompts().map(|(beat, _)| beat.id.as_str()))
}

pub(crate) fn assistant_message_count(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.trace.said(Speaker::Model).map(|(beat, _)| beat.id.as_str()))
}
