//! The words that the program was called with, before clap reads them.

use clap::Command;
use clap::error::{ContextKind, ContextValue};
use std::ffi::OsString;

/// Commands whose words are text that people paste.
const ASKING: [&str; 2] = ["fix", "search"];

/// The same words, of which one with a space inside is never taken for an option:
/// `retro search '-n is ignored'` is a question. A space in front says so to clap, and changes
/// no question.
pub fn words(words: impl Iterator<Item = OsString>, program: &Command) -> Vec<OsString> {
    let mut asking: Option<&Command> = None;
    let mut is_text = false;
    let mut typed = Vec::new();
    for word in words {
        let text = word.to_str().unwrap_or_default();
        is_text |= text == "--";
        match asking {
            None => asking = ASKING.contains(&text).then(|| program.find_subcommand(text)).flatten(),
            Some(command) if !is_text && is_question(text, &[program, command]) => {
                typed.push(OsString::from(format!(" {text}")));
                continue;
            }
            Some(_) => {}
        }
        typed.push(word);
    }
    typed
}

/// Whether a word begins like an option and is none: white space is in its name, or it has a
/// name that these commands do not know.
fn is_question(word: &str, commands: &[&Command]) -> bool {
    if !word.starts_with('-') || !word.contains(char::is_whitespace) {
        return false;
    }
    let name = word.split_once('=').map_or(word, |(name, _)| name).trim_start_matches('-');
    let is_known = |command: &&Command| {
        command.get_arguments().any(|argument| {
            argument.get_long() == Some(name)
                || argument.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
        })
    };
    !commands.iter().any(is_known)
}

/// The command that is meant by a word of another program.
pub fn hint(error: &clap::Error) -> Option<&'static str> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    match word.as_str() {
        "delete" | "erase" | "remove" | "rm" => Some(
            "`retro forget` removes a session and keeps it from coming back, `retro memory forget` a memory",
        ),
        "clean" | "evict" | "gc" | "prune" | "purge" | "trim" => {
            Some("`retro retain` gives up old raw bytes, `retro forget` removes sessions")
        }
        _ => None,
    }
}
