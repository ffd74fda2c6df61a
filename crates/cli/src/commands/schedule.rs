mod install;
mod lines;

use clap::builder::PossibleValue;
use clap::{Subcommand, ValueEnum};
use retro::agents::integration::SettingsForm;
use retro::agents::{AGENTS, Agent};
use retro::views::answers::{Answer, ScheduleLines};
use std::fmt;
use std::sync::LazyLock;

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

/// The program that runs retro.
#[derive(Clone, Copy)]
enum Target {
    /// A line of the user's crontab
    Cron,
    /// A systemd user service and its timer
    Systemd,
    /// A launch agent for macOS
    Launchd,
    /// An agent, at its events
    Hook(&'static dyn Agent, Purpose, &'static str),
}

/// The purpose of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Capture,
    Memory,
}

impl Purpose {
    fn name(self, agent: &dyn Agent) -> String {
        match self {
            Purpose::Capture => format!("{}-hook", agent.name()),
            Purpose::Memory => format!("{}-memory", agent.name()),
        }
    }
}

static TARGETS: LazyLock<Vec<Target>> = LazyLock::new(|| {
    let hooks = AGENTS.iter().flat_map(|agent| {
        let purposes = [Purpose::Capture, Purpose::Memory].into_iter();
        purposes
            .filter(|purpose| !events(*agent, *purpose).is_empty())
            .map(|purpose| Target::Hook(*agent, purpose, purpose.name(*agent).leak()))
    });
    [Target::Cron, Target::Systemd, Target::Launchd].into_iter().chain(hooks).collect()
});

/// The agent's events at which it can call retro.
fn events(agent: &dyn Agent, purpose: Purpose) -> &'static [&'static str] {
    agent.integration().map_or(&[], |integration| match purpose {
        Purpose::Capture => integration.capture,
        Purpose::Memory => integration.memory,
    })
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Target::Cron => "cron",
            Target::Systemd => "systemd",
            Target::Launchd => "launchd",
            Target::Hook(_, _, name) => name,
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ValueEnum for Target {
    fn value_variants<'a>() -> &'a [Target] {
        &TARGETS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Target::Cron => "A line of the user's crontab".to_owned(),
            Target::Systemd => "A systemd user service and its timer".to_owned(),
            Target::Launchd => "A launch agent for macOS".to_owned(),
            Target::Hook(agent, purpose, _) => {
                let file = agent.integration().map_or("", |integration| integration.settings);
                let file = file.rsplit('/').next().unwrap_or(file);
                let what = match purpose {
                    Purpose::Capture => "capture sessions",
                    Purpose::Memory => "show memories at a prompt",
                };
                format!("Hooks for {}'s {file} that {what}", agent.title())
            }
        };
        Some(PossibleValue::new(self.name()).help(help))
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
        Target::Hook(agent, purpose, _) => job.hooks(agent, purpose),
    };
    if context.global.json {
        context.print_json(&Answer::of(ScheduleLines { lines: text }))?;
        return Ok(Exit::Done);
    }
    context.print(text.trim_end())?;
    let text = match target {
        Target::Cron => "`retro schedule install cron` adds this line to your crontab.".to_owned(),
        Target::Systemd => {
            "These are two files. `retro schedule install systemd` writes both and starts the timer.".to_owned()
        }
        Target::Launchd => {
            "This is ~/Library/LaunchAgents/retro.sync.plist. `retro schedule install launchd` writes and loads it."
                .to_owned()
        }
        Target::Hook(agent, purpose, _) => what_to_do(agent, purpose),
    };
    context.say(&text);
    Ok(Exit::Done)
}

/// Instructions for a person, printed below the settings.
fn what_to_do(agent: &dyn Agent, purpose: Purpose) -> String {
    let Some(integration) = agent.integration() else { return String::new() };
    let then = integration.then.map(|then| format!(" and {then}")).unwrap_or_default();
    let verb = match integration.form {
        SettingsForm::Json => "Merge this into",
        SettingsForm::Toml => "Add this to",
    };
    let effect = match purpose {
        Purpose::Capture => format!("{} then captures each session when an answer ends.", agent.title()),
        Purpose::Memory => "Prompts then come with what past sessions taught, where it fits.".to_owned(),
    };
    format!("{verb} {}{then}. {effect}", integration.settings)
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

/// A hook is part of a file that other programs write too.
fn no_hook(target: Target) -> Failure {
    let name = target.name();
    Failure::hinted(
        "hooks are not installed by retro: the settings are the agent's own file",
        format_args!("`retro schedule print {name}` prints what to put there"),
    )
}
