use clap::CommandFactory;
use clap_complete::Shell;

use super::Cli;
use crate::context::{Context, Exit, Outcome};

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro completions bash > ~/.local/share/bash-completion/completions/retro
  retro completions zsh  > ~/.zfunc/_retro
  retro completions fish > ~/.config/fish/completions/retro.fish")]
pub struct Args {
    /// The shell
    shell: Shell,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "retro", &mut script);
    context.print_bytes(&script)?;
    Ok(Exit::Done)
}
