use retro::insight::Digest;

use super::WhichSession;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;

/// Tell how a session went: outcome, errors, corrections, commands, files
///
/// A digest is kept when the session's log is gone. It is made when a session has been quiet
/// for ten minutes; of one that still grows it is made now, and its outcome is unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro digest latest
  retro digest claude 3f2a --json | jq .outcome")]
pub struct Args {
    #[command(flatten)]
    session: WhichSession,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let key = args.session.find(&store, context)?;
    let view = retro::views::digest(&context.world, &config, &store, &key)?;
    if context.global.json {
        context.print_json(&view)?;
    } else {
        tell(context, &view.digest)?;
    }
    Ok(Exit::Done)
}

fn tell(context: &Context, digest: &Digest) -> Result<(), Failure> {
    let line = |text: String| context.print(&context.shown(&text));
    let title = digest.identity.title.as_deref().unwrap_or("(no prompt)");
    line(title.split_whitespace().collect::<Vec<_>>().join(" "))?;
    line(format!("{} {}", digest.identity.agent, digest.identity.session_id))?;
    let outcome = &digest.outcome;
    line(format!("\noutcome      {}: {} ({})", outcome.value.as_str(), outcome.reason, outcome.rule))?;
    if !outcome.evidence_refs.is_empty() {
        line(format!("evidence     {}", outcome.evidence_refs.join(", ")))?;
    }
    let real = if digest.quality.real { "yes".to_owned() } else { format!("no: {}", digest.quality.rule) };
    line(format!("real work    {real}"))?;
    let events: u64 = digest.events.values().sum();
    line(format!(
        "size         {}, {} tokens",
        format::count(events, "event"),
        format::tokens(digest.tokens.total())
    ))?;
    if !digest.errors.is_empty() {
        line("\nErrors".to_owned())?;
    }
    for error in &digest.errors {
        let fixed = if error.fixed { "passed later" } else { "not seen to pass" };
        line(format!("  {} x  {}  ({}, {fixed}) {}", error.count, error.sample, error.tool, error.event_id))?;
    }
    if !digest.corrections.is_empty() {
        line("\nCorrections".to_owned())?;
    }
    for correction in &digest.corrections {
        line(format!("  {}  {}", correction.event_id, correction.text))?;
    }
    if !digest.commands.is_empty() {
        line("\nCommands".to_owned())?;
    }
    for command in &digest.commands {
        let failed = if command.failed > 0 { format!(", {} failed", command.failed) } else { String::new() };
        line(format!("  {} x{failed}  {}", command.count, command.command))?;
    }
    if !digest.files.is_empty() {
        line("\nFiles".to_owned())?;
    }
    for file in &digest.files {
        line(format!("  +{} -{}  {}", file.added, file.removed, file.path))?;
    }
    for (list, count) in &digest.left_out {
        line(format!("left out: {count} more {list}"))?;
    }
    Ok(())
}
