mod install;
mod lines;

use clap::{Subcommand, ValueEnum};
use serde_json::json;

use crate::context::{Context, Exit, Failure, Outcome};
use lines::Job;

/// Make a scheduler or an agent run `retro sync`, so that capture needs no thought
///
/// `print` shows the lines and changes nothing. `install` shows the change, asks, and makes
/// it; `uninstall` takes it back. The lines keep --root, --home, --config and the
/// variables that say where logs are. How often comes from `cadence` in the configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro schedule install           with systemd, launchd or cron, whichever is here
  retro schedule status
  retro schedule print cron
  retro schedule print claude-hook
  retro schedule print claude-memory")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print the lines, and change nothing
    #[command(after_help = "Examples:\n  retro schedule print cron\n  retro schedule print claude-hook")]
    Print {
        /// For which scheduler [default: the one of this system]
        #[arg(value_enum)]
        target: Option<Target>,
    },
    /// Show the change, ask, and make it
    #[command(after_help = "Examples:\n  retro schedule install\n  retro schedule install cron --yes")]
    Install(Change),
    /// Say whether a scheduler runs `retro sync`
    #[command(after_help = "Examples:\n  retro schedule status\n  retro schedule status --json")]
    Status,
    /// Take back what `install` did
    #[command(after_help = "Examples:\n  retro schedule uninstall\n  retro schedule uninstall cron --yes")]
    Uninstall(Change),
}

#[derive(Debug, clap::Args)]
struct Change {
    /// Which scheduler [default: the one of this system]
    #[arg(value_enum)]
    target: Option<Target>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// A line of the user's crontab
    Cron,
    /// A systemd user service and its timer
    Systemd,
    /// A launch agent for macOS
    Launchd,
    /// Hooks for Claude Code's settings.json that capture sessions
    ClaudeHook,
    /// Hooks for Claude Code's settings.json that show memories at a prompt
    ClaudeMemory,
    /// Hooks for Codex's config.toml that show memories at a prompt
    CodexMemory,
}

impl Target {
    /// Whether an agent calls us, and no scheduler.
    fn is_hook(self) -> bool {
        matches!(self, Target::ClaudeHook | Target::ClaudeMemory | Target::CodexMemory)
    }
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    match &args.what {
        What::Print { target } => print(context, target.unwrap_or_else(|| here(context))),
        What::Install(change) => {
            let target = change.target.unwrap_or_else(|| here(context));
            install::install(context, target, &Job::of(context)?, change.yes)
        }
        What::Status => install::status(context),
        What::Uninstall(change) => {
            install::uninstall(context, change.target.unwrap_or_else(|| here(context)), change.yes)
        }
    }
}

fn print(context: &Context, target: Target) -> Outcome {
    let job = Job::of(context)?;
    let text = match target {
        Target::Cron => format!("# add with: crontab -e\n{}\n", job.cron()),
        Target::Systemd => format!(
            "# ~/.config/systemd/user/{}\n{}\n# ~/.config/systemd/user/{}\n{}",
            lines::SERVICE,
            job.service(),
            lines::TIMER,
            job.timer()
        ),
        Target::Launchd => job.plist(),
        Target::ClaudeHook => job.claude_hook(),
        Target::ClaudeMemory => job.claude_memory(),
        Target::CodexMemory => job.codex_memory(),
    };
    if context.global.json {
        context.print_json(&json!({"schema": "retro.schedule/1", "lines": text}))?;
        return Ok(Exit::Done);
    }
    context.print(text.trim_end())?;
    context.say(match target {
        Target::Cron => "`retro schedule install cron` adds this line to your crontab.",
        Target::Systemd => {
            "These are two files. `retro schedule install systemd` writes both and starts the timer."
        }
        Target::Launchd => {
            "This is ~/Library/LaunchAgents/retro.sync.plist. `retro schedule install launchd` writes and loads it."
        }
        Target::ClaudeMemory => {
            "Merge this into ~/.claude/settings.json: prompts then come with what past sessions taught, where it fits."
        }
        Target::CodexMemory => {
            "Add this to ~/.codex/config.toml and trust the hook once: prompts then come with what past sessions taught, where it fits."
        }
        Target::ClaudeHook => {
            "Put this into ~/.claude/settings.json, beside what is there. Claude Code then captures each session \
             when an answer ends."
        }
    });
    Ok(Exit::Done)
}

/// The scheduler of this system.
fn here(context: &Context) -> Target {
    if cfg!(target_os = "macos") {
        Target::Launchd
    } else if install::is_on_path(context, "systemctl") {
        Target::Systemd
    } else {
        Target::Cron
    }
}

/// A hook is a part of a file that other programs write too.
fn no_hook(target: Target) -> Failure {
    let name = target.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    Failure::hinted(
        "hooks are not installed by retro: the settings are the agent's own file",
        format_args!("`retro schedule print {name}` prints what to put there"),
    )
}
