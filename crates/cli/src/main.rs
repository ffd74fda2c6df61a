//! The `retro` program: arguments in, tables or JSON out.
//!
//! Each command is one file in `commands/`: an argument struct whose doc comments are the help, and
//! one function that calls the library and prints the result. Data goes to stdout, messages to
//! stderr. Exit codes: 0 done; 1 nothing found, or findings, or some sessions failed; 2 usage or
//! error; 130 interrupted.

mod args;
mod commands;
mod context;
mod format;
mod handed;
mod lost;
mod pager;
mod patience;
mod progress;
mod prose;
mod table;
mod typed;
mod when;

use clap::{CommandFactory, FromArgMatches};
use retro::text::terminal::{safe, safe_line};
use retro::views::answers::CommandError;
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use commands::Cli;
use context::{Context, Exit, Failure};

/// A log becomes very many small pieces, most of which live only while their session is read.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Prints clap's message. An error repeats arguments or environment variables. If these contain
/// control characters, prints it escaped and without colour.
fn say(error: &clap::Error) {
    let is_odd = |word: OsString| matches!(safe_line(&word.to_string_lossy()), Cow::Owned(_));
    let named = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("RETRO_"));
    let _ = match std::env::args_os().chain(named.map(|(_, value)| value)).any(is_odd) {
        true => write!(std::io::stderr(), "{}", safe(&error.to_string())),
        false => error.print(),
    };
}

fn main() -> ExitCode {
    let program = Cli::command();
    let words = typed::words(std::env::args_os(), &program);
    let matches = match program.try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => {
            // clap knows its own exit codes: 0 for help and version, 2 for wrong usage.
            if error.exit_code() != 0 && std::env::args_os().any(|word| word == "--json") {
                let text = error.to_string();
                let what = text.trim().trim_start_matches("error: ");
                let hint = typed::hint(&error).map(str::to_owned);
                let error = CommandError { message: safe(what).into_owned(), hint };
                let _ = writeln!(std::io::stderr(), "{}", error.line());
                return ExitCode::from(2);
            }
            say(&error);
            if let Some(hint) = typed::hint(&error) {
                let _ = writeln!(std::io::stderr(), "hint: {hint}");
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let context = Context::new(&cli.global);
    let exit = match commands::run(cli.command, &context) {
        Ok(exit) => exit,
        Err(Failure::Pipe) => Exit::Done,
        Err(failure) => {
            context.complain(&failure);
            match failure {
                Failure::NotFound(_) => Exit::Findings,
                _ => Exit::Error,
            }
        }
    };
    ExitCode::from(if context.interrupted() { 130 } else { exit.code() })
}
