use retro::engine::hook;
use retro::engine::{SyncOptions, SyncReport, sync, watch};
use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use super::{agent_name, rebuild, retain};
use crate::args::AgentWord;
use retro::views::answers::{Answer, Synced};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{bytes, count, took};
use crate::progress::Bar;

/// Capture new sessions and new turns on this machine
///
/// Reads only what changed since the last time, keeps every byte, and brings
/// everything derived up to date. Run it as often as you like.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro sync
  retro sync --dry-run             what would be captured
  retro sync --from ~/backup       a file or folder anywhere, also a store of retro-ai
  retro sync --watch               stay, and capture as agents write
  retro sync --watch --json        the same, with a line of JSON for each sync
  retro schedule print claude-hook makes the agent call `retro sync --hook`")]
pub struct Args {
    /// Discover and parse, write nothing
    #[arg(long)]
    dry_run: bool,

    /// Only this agent
    #[arg(long, alias = "host", value_name = "AGENT", value_parser = AgentWord, hide_possible_values = true)]
    agent: Option<String>,

    /// Run up to and including this stage (`retro stages` lists them)
    #[arg(long, value_name = "STAGE")]
    until: Option<String>,

    /// Look in this file or folder instead of in the agents' own
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,

    /// Stay, and sync whenever an agent writes
    #[arg(long, conflicts_with_all = ["dry_run", "from"])]
    watch: bool,

    /// Called by an agent's hook: capture the transcript that the JSON on stdin (or
    /// the last argument) names. Prints nothing, exits 0 whatever happens
    #[arg(long, conflicts_with_all = ["dry_run", "from", "watch"])]
    hook: bool,

    /// Like --hook, but only leave a job for the next sync
    #[arg(long, conflicts_with_all = ["dry_run", "from", "watch"])]
    enqueue: bool,

    /// What Codex' notification passes
    #[arg(hide = true)]
    notification: Option<String>,
}

impl Args {
    /// True if an agent waits for it.
    pub fn is_of_hook(&self) -> bool {
        self.hook || self.enqueue
    }
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    if args.hook || args.enqueue {
        return called_by_hook(args, context);
    }
    if args.notification.is_some() {
        return Err(Failure::hinted("sync takes no argument", "did you mean --from PATH?"));
    }
    let config = context.config()?;
    let options = SyncOptions {
        agent: agent_name(&args.agent)?,
        until: args.until.as_deref().map(rebuild::stage).transpose()?,
        dry_run: args.dry_run,
        from: args.from.clone(),
        ..SyncOptions::default()
    };
    let bar = Bar::new(context);
    if args.watch {
        context.say("Watching; Ctrl-C ends it.");
        watch::watch(&context.world, &config, &options, &|step| bar.step(step), &mut |report| {
            bar.done();
            let _ = tell_one(context, report, false, true);
        })?;
        return Ok(Exit::Done);
    }
    let report = sync(&context.world, &config, &options, &|step| bar.step(step))?;
    bar.done();
    tell(context, &report, args.dry_run)?;
    if !args.dry_run {
        super::dashboard::keep(context, &config)?;
    }
    let is_all = report.failed == 0 && report.unreadable_files.is_empty();
    Ok(if !is_all { Exit::Findings } else { Exit::Done })
}

/// Reports the result of a sync.
pub fn tell(context: &Context, report: &SyncReport, dry: bool) -> Result<(), Failure> {
    tell_one(context, report, dry, false)
}

/// Prints one report, on a single line if it belongs to a stream.
fn tell_one(context: &Context, report: &SyncReport, dry: bool, is_stream: bool) -> Result<(), Failure> {
    if context.global.json {
        let answer = Answer::of(Synced { dry_run: dry, report });
        return if is_stream { context.print_line(&answer) } else { context.print_json(&answer) };
    }
    for note in &report.notes {
        context.say(&format!("note: {note}"));
    }
    for failure in &report.failures {
        let red = anstyle::AnsiColor::Red.on_default();
        let what = retro::text::terminal::one_line(&failure.path, usize::MAX);
        context.say(&format!("{red}failed:{red:#} {what}: {}", failure.reason));
    }
    say_unreadable(context, report);
    let verb = if dry { "would be captured" } else { "new" };
    let mut parts = vec![
        count(report.discovered, "session"),
        format!("{} {verb}", report.ingested),
        format!("{} grown", report.appended),
        format!("{} unchanged", report.skipped_unchanged),
    ];
    for (number, what) in [
        (report.recaptured, "recaptured"),
        (report.forgotten, "forgotten and not captured"),
        (report.analyzed, "analyzed"),
        (report.excluded, "excluded"),
        (report.unread, "not reached"),
        (report.failed, "failed"),
        (report.unreadable_files.len() as u64, "unreadable"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    if report.gaps > 0 {
        parts.push(format!("{} (`retro doctor` lists them)", count(report.gaps, "gap")));
    }
    let sizes = match dry {
        true => bytes(report.source_bytes),
        false => {
            format!("{} of logs in a store of {}", bytes(report.source_bytes), bytes(report.store_bytes))
        }
    };
    context.say(&format!("{}. {sizes}, in {}.", parts.join(", "), took(report.elapsed_ms)));
    if let Some(retained) = &report.retention {
        context.say(&retain::summary(retained));
        retained.needs.iter().for_each(|need| context.say(&format!("Above the soft cap: {need}.")));
        if !retained.enabled {
            context.say("Nothing goes by itself until you set a limit or run `retro retain --yes`.");
        }
    }
    if report.discovered == 0 {
        context
            .say("Nothing found. `retro agents` says where retro looked, `retro demo` shows what it does.");
    }
    Ok(())
}

/// Unreadable files named without `--verbose`.
const NAMED_MAX: usize = 5;

/// Lists unreadable files that may hold sessions. With `--verbose`, also lists files that are not
/// logs.
fn say_unreadable(context: &Context, report: &SyncReport) {
    let yellow = anstyle::AnsiColor::Yellow.on_default();
    let verbose = context.global.verbose;
    let named_max = if verbose { usize::MAX } else { NAMED_MAX };
    for file in report.unreadable_files.iter().take(named_max) {
        let what = retro::text::terminal::one_line(&file.path, usize::MAX);
        context.say(&format!("{yellow}unreadable:{yellow:#} {what}: {}", file.reason));
    }
    let more = report.unreadable_files.len().saturating_sub(named_max);
    if more > 0 {
        context.say(&format!("{more} more cannot be read. --verbose names them."));
    }
    for skipped in
        report.skipped_files.iter().filter(|file| verbose && !report.unreadable_files.contains(file))
    {
        context.say(&format!("skipped: {}: {}", skipped.path, skipped.reason));
    }
}

/// Maximum delay of the agent that called the hook.
const HOOK_PATIENCE: Duration = Duration::from_millis(200);

/// Failures here must stay invisible: a hook that fails or waits would block the user's agent.
fn called_by_hook(args: &Args, context: &Context) -> Outcome {
    if context.is_our_run() {
        return Ok(Exit::Done);
    }
    let only_enqueue = args.enqueue;
    let mut quiet = context.global.clone();
    quiet.quiet = true;
    let notification = args.notification.clone();
    let (send, done) = mpsc::channel();
    std::thread::spawn(move || {
        let context = Context::for_hook(&quiet);
        let input = notification.or_else(|| {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).ok().map(|_| text)
        });
        if let (Ok(config), Some(input)) = (context.config(), input)
            && let Some(call) = hook::read_call(&context.world, &config, &input)
        {
            let _ = match only_enqueue {
                true => hook::enqueue(&context.world, &config, &call),
                false => hook::capture(&context.world, &config, &call),
            };
        }
        let _ = send.send(());
    });
    let _ = done.recv_timeout(HOOK_PATIENCE);
    Ok(Exit::Done)
}
