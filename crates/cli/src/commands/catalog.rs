use std::path::PathBuf;

use clap::Subcommand;
use retro::engine::patterns::{catalog, export};
use retro::patterns::Pattern;
use retro::views::answers::Answer;
use retro::views::patterns::{CatalogExported, PatternView, catalog as view, pattern_diff, pattern_history};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;
use crate::table::{Column, Table};

/// Read the patterns that were written down
///
/// Each is one JSON file, in the store or in the folder of `curate.catalog_dir`. The files are the
/// truth: they may be edited, deleted, and kept in git.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro catalog list
  retro catalog export ./patterns")]
pub struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List every pattern
    List,
    /// Show a pattern as it would be handed to an agent
    Show(One),
    /// Show the versions of a pattern
    History(One),
    /// Show what differs between two versions of a pattern
    Diff(Two),
    /// Write the patterns that are ready to be handed out as Markdown
    Export(Export),
}

#[derive(Debug, clap::Args)]
struct One {
    /// The pattern: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
}

#[derive(Debug, clap::Args)]
struct Two {
    /// The pattern: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// The earlier version
    #[arg(value_name = "V1")]
    from: String,
    /// The later version
    #[arg(value_name = "V2")]
    to: String,
}

#[derive(Debug, clap::Args)]
struct Export {
    /// The folder; it is made if it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    match &args.command {
        What::List => list(context),
        What::Show(args) => show(&args.id, context),
        What::History(args) => history(&args.id, context),
        What::Diff(args) => diff(args, context),
        What::Export(args) => write(args, context),
    }
}

fn list(context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let view = view(&store, &config)?;
    let exit = if view.unreadable.is_empty() { Exit::Done } else { Exit::Findings };
    for bad in &view.unreadable {
        context.say(&format!("{} cannot be used: {}", bad.path, bad.reason));
        context.say("hint: mend the file, take it back with git, or delete it and run `retro curate`");
    }
    if context.global.json {
        context.print_json(&Answer::of(view))?;
        return Ok(exit);
    }
    let columns = [
        Column::left("pattern"),
        Column::left("version"),
        Column::left("status").spare(2),
        Column::left("ready"),
        Column::right("sessions").spare(1),
        Column::left("title").wraps(24),
    ];
    let row = |pattern: &Pattern| {
        vec![
            pattern.id.clone(),
            pattern.version.clone(),
            status(pattern).to_owned(),
            if pattern.distribution_ready { "yes" } else { "no" }.to_owned(),
            pattern.provenance.session_count.to_string(),
            pattern.title.clone(),
        ]
    };
    if !view.patterns.is_empty() {
        context.table(&Table::new(columns).rows(view.patterns.iter().map(row)))?;
    }
    context.say(&format!(
        "{} in {}",
        format::count(view.patterns.len() as u64, "pattern"),
        context.homely(&view.folder)
    ));
    Ok(exit)
}

fn status(pattern: &Pattern) -> &'static str {
    match pattern.status {
        retro::patterns::Status::Approved => "approved",
        retro::patterns::Status::Provisional => "provisional",
    }
}

fn show(id: &str, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let pattern = catalog(&store, &config)?.find(id)?.clone();
    if context.global.json {
        context.print_json(&Answer::of(PatternView { pattern }))?;
        return Ok(Exit::Done);
    }
    context.print(&format!("{}  {}  {}", pattern.id, pattern.version, status(&pattern)))?;
    match &pattern.not_ready {
        Some(why) => context.print(&format!("not to be handed out yet: {why}"))?,
        None => context.print("ready to be handed out")?,
    }
    if let Some(hint) = pattern.hints.values().next() {
        context.print("")?;
        hint.body.lines().try_for_each(|line| context.print_hanging(&context.shown(line), 2))?;
        context.print("")?;
    }
    for session in pattern.provenance.sessions.iter().take(5) {
        context.print_hanging(&format!("{}/{}", session.agent, session.session_id), 2)?;
        for text in &session.snapshot {
            context.print_hanging(&format!("  \"{}\"", context.shown(text)), 4)?;
        }
    }
    Ok(Exit::Done)
}

fn history(id: &str, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let view = pattern_history(&store, &config, id)?;
    if context.global.json {
        context.print_json(&Answer::of(view))?;
        return Ok(Exit::Done);
    }
    for version in &view.versions {
        let sessions = format::count(u64::from(version.provenance.session_count), "session");
        context.print_hanging(
            &format!(
                "{}  {}  {sessions}  {}",
                version.version,
                status(version),
                context.shown(&version.title)
            ),
            2,
        )?;
    }
    Ok(Exit::Done)
}

fn diff(args: &Two, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let view = pattern_diff(&store, &config, &args.id, &args.from, &args.to)?;
    if context.global.json {
        context.print_json(&Answer::of(view))?;
        return Ok(Exit::Done);
    }
    for line in view.lines.iter().filter(|line| !line.starts_with(' ')) {
        context.print_hanging(&context.shown(line), 4)?;
    }
    Ok(Exit::Done)
}

fn write(args: &Export, context: &Context) -> Result<Exit, Failure> {
    let config = context.config()?;
    let store = context.store(&config)?;
    let folder = std::path::absolute(&args.folder)?;
    let written = export(&store, &catalog(&store, &config)?, &folder)?;
    if context.global.json {
        let paths = written.iter().map(|path| path.display().to_string()).collect();
        context.print_json(&Answer::of(CatalogExported { paths }))?;
        return Ok(Exit::Done);
    }
    for path in &written {
        context.print(&path.display().to_string())?;
    }
    if written.is_empty() {
        context.say("No pattern is ready to be handed out: `retro catalog show ID` says why.");
        return Ok(Exit::Findings);
    }
    Ok(Exit::Done)
}
