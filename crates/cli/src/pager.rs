//! Long answers on a terminal go through a pager, as git does it.

use anstream::{AutoStream, ColorChoice};
use std::io::{self, Write};
use std::process::{Command, Stdio};

use crate::context::{Context, Failure};

/// Prints lines: through the pager if a person reads them, else as they are.
pub fn print(context: &Context, lines: &[String]) -> Result<(), Failure> {
    let pager =
        if context.global.no_pager || !context.is_read_by_a_person() { None } else { command(context) };
    let Some(words) = pager else {
        return lines.iter().try_for_each(|line| context.print(line));
    };
    let mut words = words.split_whitespace();
    let Some(program) = words.next() else {
        return lines.iter().try_for_each(|line| context.print(line));
    };
    let mut child = Command::new(program);
    child.args(words).stdin(Stdio::piped());
    // As git sets it: leave if all fits on one screen, keep colours, keep the screen.
    if (context.world.own_env)("LESS").is_none() {
        child.env("LESS", "FRX");
    }
    let Ok(mut child) = child.spawn() else {
        return lines.iter().try_for_each(|line| context.print(line));
    };
    let color = match context.color() {
        ColorChoice::Auto => ColorChoice::Always,
        chosen => chosen,
    };
    if let Some(stdin) = child.stdin.take() {
        let mut to = AutoStream::new(Box::new(stdin) as Box<dyn Write>, color);
        let written = lines.iter().try_for_each(|line| writeln!(to, "{}", context.shown(line)));
        match written {
            // The reader has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            other => other?,
        }
    }
    child.wait()?;
    Ok(())
}

/// The user's pager: `RETRO_PAGER`, else `PAGER`, else `less`. Empty or `cat` means none.
fn command(context: &Context) -> Option<String> {
    let asked = |name: &str| (context.world.own_env)(name);
    let pager = asked("RETRO_PAGER").or_else(|| asked("PAGER")).unwrap_or_else(|| "less".to_owned());
    Some(pager.trim().to_owned()).filter(|pager| !pager.is_empty() && pager != "cat")
}
