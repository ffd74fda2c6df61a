//! Completes commands that were interrupted: rebuilds a missing index before a query, and finishes
//! forgetting sessions.

use retro::engine::{Config, forget, rebuild};

use crate::context::Context;
use crate::progress::Bar;

/// Rebuilds the index of a store that has lost it. If that fails, the query is answered from the
/// files.
pub fn restore_index(context: &Context) {
    let Ok(config) = context.quiet_config() else { return };
    if context.global.no_sync {
        say_of_another_time(context, &config);
        return;
    }
    let bar = Bar::new(context);
    let restored = rebuild::restore_index(&context.world, &config, &|step| bar.step(step));
    bar.done();
    match restored {
        Ok(true) => context.say("The index of the store was gone. It was made again from the files."),
        Ok(false) => say_of_another_time(context, &config),
        Err(error) => {
            context.say(&format!("note: the index of the store is gone and could not be made again: {error}"))
        }
    }
}

/// Warns that an answer may be older or newer than the files of the store: part of a backup was
/// restored, or a program was interrupted.
fn say_of_another_time(context: &Context, config: &Config) {
    if rebuild::is_of_another_time(config) {
        context.say(
            "note: the index of the store is of another time than its files; `retro sync` compares them",
        );
    }
}

/// Finishes forgetting sessions if a command was interrupted.
pub fn finish_forgetting(context: &Context) {
    let Ok(config) = context.quiet_config() else { return };
    match forget::finish(&context.world, &config) {
        Ok(true) => context.say("Sessions that were being forgotten when retro was stopped are gone now."),
        Ok(false) => {}
        Err(error) => context.say(&format!("note: what is to be forgotten is not gone yet: {error}")),
    }
}
