use clap::ValueEnum;
use retro::memory::screen::escaped;
use retro::views::memory::{MemoryView, RulesView, rules};
use std::fmt::Write;
use std::path::PathBuf;

use super::look::folder;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;

/// Say which rules hold in a repository and could stand in CLAUDE.md or AGENTS.md
///
/// Lists what you accepted and what waits for your decision. What the files of the repository
/// say already is left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro memory rules
  retro memory rules --project ~/code/shop --format claude-md")]
pub struct Rules {
    /// The repository [default: the current folder]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// How to print it
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A list with evidence
    Text,
    /// A part of CLAUDE.md
    ClaudeMd,
    /// A part of AGENTS.md
    AgentsMd,
}

pub fn run(args: &Rules, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let project = folder(args.project.as_deref().unwrap_or(std::path::Path::new(".")));
    let view = rules(&context.world, &config, &store, &project)?;
    if context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    if view.accepted.is_empty() && view.proposed.is_empty() {
        context.say(&format!("No rules are known for {}.", context.homely(&project)));
        return Ok(Exit::Findings);
    }
    match args.format {
        Format::Text => print(&view, context)?,
        Format::ClaudeMd | Format::AgentsMd => context.print_bytes(markdown(&view).as_bytes())?,
    }
    if !view.said.is_empty() {
        let left_out = format::count(view.said.len() as u64, "rule");
        context.say(&format!("{left_out} left out: {} has the same.", view.files.join(" or ")));
    }
    Ok(Exit::Done)
}

fn print(view: &RulesView, context: &Context) -> Result<(), Failure> {
    let bold = anstyle::Style::new().bold();
    for (name, rules) in [("Accepted", &view.accepted), ("Proposed", &view.proposed)] {
        if rules.is_empty() {
            continue;
        }
        context.print(&format!("{bold}{name}{bold:#}"))?;
        for rule in rules {
            context.print_hanging(&format!("- {}", context.shown(&words(rule))), 2)?;
            let evidence = rule.evidence_refs.first().map_or("written by hand", String::as_str);
            let times = format::count(u64::from(rule.seen.max(1)), "time");
            context.print_hanging(&format!("  said {times}: {}", context.shown(evidence)), 2)?;
        }
    }
    if !view.proposed.is_empty() {
        context.say("`retro memory review` decides about what is proposed.");
    }
    Ok(())
}

/// Bullets: accepted rules, then undecided ones, each under a heading.
fn markdown(view: &RulesView) -> String {
    let mut text = String::new();
    for (heading, rules) in [("## Rules", &view.accepted), ("## Proposed, not decided", &view.proposed)] {
        if rules.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{heading}\n");
        for rule in rules {
            let _ = writeln!(text, "- {}", words(rule));
        }
        text.push('\n');
    }
    text
}

/// The text of a rule, on one line and without its introduction.
fn words(rule: &MemoryView) -> String {
    let bare = rule.text.strip_prefix("The user said: \"").and_then(|said| said.strip_suffix('"'));
    let line = bare.unwrap_or(&rule.text).split_whitespace().collect::<Vec<_>>().join(" ");
    escaped(&line)
}
