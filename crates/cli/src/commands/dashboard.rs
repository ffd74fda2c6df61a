use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use jiff::tz::TimeZone;
use retro::engine::{Config, Error, SyncOptions, sync};
use retro::model::Timestamp;
#[cfg(feature = "serve")]
use retro::store::{Disk, RealDisk};
#[cfg(feature = "serve")]
use retro_web::ServeOptions;
use retro_web::{Build, Built, Options, Redact, Single};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::WhichSession;
use super::usage::{CostMode, mode_of};
use retro::views::answers::{Answer, SinglePage};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{bytes, count};
use crate::progress::Bar;

/// See everything on a page: where time and money went, and any session to read
///
/// The page opens from disk. It needs no server and no network, and searches the words of
/// all turns.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  retro dashboard open                       build what changed, open the browser
  retro dashboard build --out ~/dashboard    a folder that opens from disk
  retro dashboard build --single-file 3f2a   one HTML file of a session, to send
  retro dashboard serve --open               the same page, live while agents work")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Write the page as a folder, or bring the folder up to date
    ///
    /// Only what changed is read and written again. With --single-file, one HTML file is
    /// written into the current folder: a session with its text, or without one the
    /// overview without any.
    Build {
        #[command(flatten)]
        what: What,

        /// One HTML file instead of a folder
        #[arg(long)]
        single_file: bool,

        /// With --single-file: the session, as for `retro show`
        #[arg(value_name = "SESSION", num_args = 0..=2, requires = "single_file")]
        session: Vec<String>,
    },
    /// Serve the page on 127.0.0.1, live while agents work
    ///
    /// Captures what agents write as they write it. The address that is printed is good for
    /// one visit; the browser then keeps a cookie until the server ends.
    #[cfg(feature = "serve")]
    Serve {
        #[command(flatten)]
        what: What,

        /// The port [default: a free one]
        #[arg(long, default_value_t = 0, hide_default_value = true)]
        port: u16,

        /// Open the browser
        #[arg(long)]
        open: bool,
    },
    /// Update the page, and open it in the browser
    Open {
        #[command(flatten)]
        what: What,
    },
}

#[derive(Debug, Clone, ClapArgs)]
struct What {
    /// The folder [default: retro/dashboard in the data folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Only sessions that were active on this day or later
    #[arg(long, value_name = "DAY")]
    since: Option<String>,

    /// Only sessions of this project
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// What to leave out: secrets always, `strict` also what calls printed and changed
    #[arg(long, value_enum, default_value = "secrets")]
    redact: RedactWhat,

    /// Whose cost figures count
    #[arg(long, value_enum, env = "RETRO_COST_MODE", default_value = "auto")]
    mode: CostMode,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RedactWhat {
    Secrets,
    Strict,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    match &args.verb {
        Verb::Build { what, single_file, session } => {
            let options = what.options(context, &config)?;
            let built = refreshed(context, &config, &options)?;
            match single_file {
                true => write_single(context, &config, &options, session),
                false => tell(context, &built),
            }
        }
        #[cfg(feature = "serve")]
        Verb::Serve { what, port, open } => {
            let build = what.options(context, &config)?;
            capture(context, &config)?;
            context.store(&config)?;
            let options = ServeOptions { build, port: *port, no_sync: context.global.no_sync };
            let page = options.build.out.join(OPENER);
            let ready = |address: &str| {
                let _ = context.print(address);
                context.say("Ctrl-C ends it.");
                if *open && !browse_by_file(&page, address) {
                    context.say("No browser was found; open the address yourself.");
                }
            };
            let served = retro_web::serve(&context.world, &config, &options, &ready);
            let _ = std::fs::remove_file(&page);
            served?;
            Ok(Exit::Done)
        }
        Verb::Open { what } => {
            let options = what.options(context, &config)?;
            let built = refreshed(context, &config, &options)?;
            tell(context, &built)?;
            if !context.global.json && !browse(&built.index.display().to_string()) {
                context.say("No browser was found; open the file yourself.");
            }
            Ok(Exit::Done)
        }
    }
}

impl What {
    fn options(&self, context: &Context, config: &Config) -> Result<Options, Failure> {
        let since = self.since.as_deref().map(|text| crate::when::day(text, context)).transpose()?;
        let since = since.and_then(|day| day.to_zoned(TimeZone::system()).ok()).map(|day| day.timestamp());
        Ok(Options {
            out: self.out.clone().unwrap_or_else(|| folder(context, config)),
            since: since.map(Timestamp::from),
            project: self.project.clone(),
            redact: match self.redact {
                RedactWhat::Secrets => Redact::Secrets,
                RedactWhat::Strict => Redact::Strict,
            },
            mode: mode_of(self.mode),
            tz: None,
        })
    }
}

/// The default folder of the dashboard, beside the store.
fn folder(context: &Context, config: &Config) -> PathBuf {
    let usual = || {
        let world = &context.world;
        let default = retro::engine::config::default_root(world);
        let root = &config.root.value;
        // A store elsewhere has its dashboard beside it, so that two stores never share one.
        let parent = if *root == default { default.parent() } else { root.parent() };
        let name = match root.file_name().and_then(|name| name.to_str()) {
            Some(name) if *root != default => format!("{name}-dashboard"),
            _ => "dashboard".to_owned(),
        };
        parent.unwrap_or(Path::new(".")).join(name)
    };
    config.dashboard_dir.value.clone().unwrap_or_else(usual)
}

/// Captures new sessions, unless `--no-sync` is set.
fn capture(context: &Context, config: &Config) -> Result<(), Failure> {
    if context.global.no_sync {
        return Ok(());
    }
    let bar = Bar::new(context);
    let options = SyncOptions { no_wait: true, ..SyncOptions::default() };
    let report = match sync(&context.world, config, &options, &|step| bar.step(step)) {
        // The page goes elsewhere, and shows what the store has.
        Err(Error::Store(error)) if error.is_unwritable() => {
            bar.done();
            context.say(&format!("warning: nothing new was captured: {error}."));
            return Ok(());
        }
        report => report?,
    };
    bar.done();
    for failure in &report.failures {
        context.say(&format!("failed: {}: {}", failure.path, failure.reason));
    }
    Ok(())
}

/// Captures new sessions, then builds.
fn refreshed(context: &Context, config: &Config, options: &Options) -> Result<Built, Failure> {
    capture(context, config)?;
    context.store(config)?;
    let bar = Bar::new(context);
    let step = |done, total| bar.step(retro::engine::Progress { stage: "build", done, total, bytes: 0 });
    let built = retro_web::build(&Build { world: &context.world, config, options }, &step)?;
    bar.done();
    for (session, why) in &built.failed {
        context.say(&format!("failed: {session}: {why}"));
    }
    Ok(built)
}

/// Updates an existing dashboard, for `retro sync`.
pub fn keep(context: &Context, config: &Config) -> Result<(), Failure> {
    let out = folder(context, config);
    if !config.dashboard_keep.value || !out.join("index.html").is_file() {
        return Ok(());
    }
    let options = Options { out, ..Options::default() };
    retro_web::build(&Build { world: &context.world, config, options: &options }, &|_, _| {})?;
    Ok(())
}

/// Rebuilds the dashboard's folder, if there is one.
pub fn again(context: &Context, config: &Config) -> Result<(), Failure> {
    let out = folder(context, config);
    if out.join("index.html").is_file() {
        let options = Options { out, ..Options::default() };
        retro_web::build(&Build { world: &context.world, config, options: &options }, &|_, _| {})?;
    }
    Ok(())
}

fn tell(context: &Context, built: &Built) -> Outcome {
    let exit = if built.failed.is_empty() { Exit::Done } else { Exit::Findings };
    if context.global.json {
        context.print_json(&Answer::of(built))?;
        return Ok(exit);
    }
    context.print(&built.index.display().to_string())?;
    context.say(&format!(
        "{}, {} built again. {} written, {} as they were.",
        count(built.sessions, "session"),
        built.rebuilt,
        count(built.written, "file"),
        built.kept
    ));
    Ok(exit)
}

fn write_single(context: &Context, config: &Config, options: &Options, session: &[String]) -> Outcome {
    let store = context.store(config)?;
    let what = match session {
        [] => Single::Overview,
        words => Single::Session(WhichSession { session: words.to_vec() }.find(&store, context)?),
    };
    let name = match &what {
        Single::Overview => "retro.html".to_owned(),
        Single::Session(key) => {
            let id: String =
                key.id.chars().take(12).filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            format!("retro-{}-{id}.html", key.agent)
        }
    };
    let to = PathBuf::from(name);
    let size = retro_web::single(&options.out, &what, &to)?;
    if context.global.json {
        let path = to.display().to_string();
        context.print_json(&Answer::of(SinglePage { path, bytes: size }))?;
    } else {
        context.print(&to.display().to_string())?;
        context.say(&format!("{}, with everything inside.", bytes(size)));
    }
    Ok(Exit::Done)
}

/// The file in the page's folder that redirects a browser to the server.
#[cfg(feature = "serve")]
const OPENER: &str = "open.html";

/// Opens an address with a token. Passes it in a file that only the user can read, since other
/// users of the machine can see the arguments of programs.
#[cfg(feature = "serve")]
fn browse_by_file(page: &Path, address: &str) -> bool {
    let _ = std::fs::remove_file(page);
    let written = RealDisk.write(page, retro_web::opener(address).as_bytes());
    written.is_ok() && browse(&page.display().to_string())
}

/// Opens a file with the system's default program. False if there is none.
fn browse(what: &str) -> bool {
    let programs: &[&[&str]] = match std::env::consts::OS {
        "macos" => &[&["open"]],
        "windows" => &[&["explorer"]],
        _ => &[&["xdg-open"], &["wslview"], &["gio", "open"]],
    };
    programs.iter().any(|words| {
        let [program, rest @ ..] = words else { return false };
        let mut command = Command::new(program);
        command.args(rest).arg(what).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}
