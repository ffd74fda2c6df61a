//! What every command gets: the world, the configuration, and two mouths.

use anstream::{AutoStream, ColorChoice};
use retro::engine::config::Overrides;
use retro::engine::{Config, World};
use retro::store::{RealDisk, Store};
use retro::text::terminal::safe;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::Global;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All well.
    Done,
    /// Nothing found, or findings, or some sessions failed.
    Findings,
    /// Wrong usage, or an error.
    Error,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Findings => 1,
            Exit::Error => 2,
        }
    }
}

/// Why a command could not go on.
#[derive(Debug)]
pub enum Failure {
    /// Whoever read our output went away: not our trouble.
    Pipe,
    /// Something to tell.
    Message(String),
    /// What was asked for is not there.
    NotFound(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::Pipe,
            _ => Failure::Message(error.to_string()),
        }
    }
}

impl From<retro::Error> for Failure {
    fn from(error: retro::Error) -> Self {
        match error {
            retro::Error::NoSession { .. } | retro::Error::NoSource { .. } => {
                Failure::NotFound(error.to_string())
            }
            error => Failure::Message(error.to_string()),
        }
    }
}

impl From<retro::engine::Error> for Failure {
    fn from(error: retro::engine::Error) -> Self {
        Failure::Message(error.to_string())
    }
}

impl From<retro::store::Error> for Failure {
    fn from(error: retro::store::Error) -> Self {
        Failure::Message(error.to_string())
    }
}

impl From<retro::engine::config::ConfigError> for Failure {
    fn from(error: retro::engine::config::ConfigError) -> Self {
        Failure::Message(error.to_string())
    }
}

/// What a command returns.
pub type Outcome = Result<Exit, Failure>;

/// The edge of the program: environment, clock, terminal and signals enter here.
pub struct Context {
    pub world: World,
    pub global: Global,
    stop: Arc<AtomicBool>,
}

impl Context {
    pub fn new(global: &Global) -> Context {
        let stop = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&stop);
        // Without a handler Ctrl-C ends the program at once, which the store survives too.
        let _ = ctrlc::set_handler(move || {
            if heard.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        Context { world: world(global, &stop), global: global.clone(), stop }
    }

    /// A context for work on another thread, without a hand on the signals.
    pub fn for_hook(global: &Global) -> Context {
        let stop = Arc::new(AtomicBool::new(false));
        Context { world: world(global, &stop), global: global.clone(), stop }
    }

    /// Whether Ctrl-C was pressed.
    pub fn interrupted(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// The configuration in force; its notes are said.
    pub fn config(&self) -> Result<Config, Failure> {
        let overrides = Overrides { root: self.global.root.clone(), config: self.global.config.clone() };
        let config = Config::load(&self.world, &overrides)?;
        for note in &config.notes {
            self.say(&format!("note: {note}"));
        }
        Ok(config)
    }

    /// The store, which must be there.
    pub fn store(&self, config: &Config) -> Result<Store, Failure> {
        match Store::open(&config.root.value, Arc::new(RealDisk)) {
            Ok(store) => Ok(store),
            Err(error) if error.is_absent() => Err(Failure::Message(format!(
                "there is no store at {} yet; `retro sync` makes one, `retro demo` shows what it is good for",
                config.root.value.display()
            ))),
            Err(error) => Err(error.into()),
        }
    }

    /// Talk, for people, on stderr.
    pub fn say(&self, text: &str) {
        if !self.global.quiet {
            let mut stderr = AutoStream::new(io::stderr(), self.choice(io::stderr()));
            let _ = writeln!(stderr, "{}", shown(text));
        }
    }

    /// An error, on stderr, even when quiet.
    pub fn complain(&self, failure: &Failure) {
        if let Failure::Message(text) | Failure::NotFound(text) = failure {
            let mut stderr = AutoStream::new(io::stderr(), self.choice(io::stderr()));
            let red = anstyle::AnsiColor::Red.on_default().bold();
            let text = safe(text);
            let _ = match self.global.json {
                true => {
                    let error = serde_json::json!({"schema": "retro.error/1", "message": text});
                    writeln!(stderr, "{error}")
                }
                false => writeln!(stderr, "{red}error:{red:#} {text}"),
            };
        }
    }

    /// Data, on stdout.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = AutoStream::new(io::stdout().lock(), self.choice(io::stdout()));
        Ok(writeln!(stdout, "{}", shown(text))?)
    }

    /// Data that is not text, on stdout, exactly as it is.
    pub fn print_bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(io::stdout().lock().write_all(bytes)?)
    }

    /// An answer as one JSON object.
    pub fn print_json(&self, answer: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(answer).map_err(|e| Failure::Message(e.to_string()))?;
        self.print_bytes(text.as_bytes())?;
        self.print_bytes(b"\n")
    }

    /// Ends what goes to stdout: a program that reads it need not wait until this one
    /// ends. What is printed afterwards goes nowhere.
    pub fn hang_up(&self) {
        let _ = io::stdout().flush();
        #[cfg(unix)]
        if let Ok(nowhere) = std::fs::File::options().write(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stdout(nowhere);
        }
    }

    /// Whether a person watches the progress of a command.
    pub fn is_watched(&self) -> bool {
        !self.global.quiet && !self.global.json && io::stderr().is_terminal()
    }

    /// Columns of the terminal, or a fair guess when there is none.
    pub fn columns(&self) -> usize {
        match terminal_size::terminal_size() {
            Some((terminal_size::Width(columns), _)) => usize::from(columns),
            None => 120,
        }
    }

    fn choice(&self, stream: impl anstream::stream::RawStream) -> ColorChoice {
        match self.global.color {
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
            clap::ColorChoice::Auto => AutoStream::choice(&stream),
        }
    }
}

/// The real world, or the one whose home the user pointed at.
fn world(global: &Global, stop: &Arc<AtomicBool>) -> World {
    let own_home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("."));
    let own_env: retro::engine::Env = Arc::new(|name| std::env::var(name).ok());
    let mut world = World::at(own_home);
    world.own_env = Arc::clone(&own_env);
    world.stop = Arc::clone(stop);
    match &global.home {
        Some(home) => world.home = home.clone(),
        None => world.env = own_env,
    }
    world
}

/// A text as a terminal may have it: our own colours stay, whatever else it would
/// obey is made visible. Commands escape the words of a transcript themselves; a
/// path, a name or a reason that they did not think of is caught here.
fn shown(text: &str) -> Cow<'_, str> {
    const STYLE: &str = "\u{1b}[";
    if matches!(safe(text), Cow::Borrowed(_)) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(STYLE);
    let mut out = safe(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let codes = part.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        match part.split_at_checked(codes + 1) {
            Some((style, rest)) if style.ends_with('m') => out.extend([STYLE, style, &safe(rest)]),
            _ => out.push_str(&safe(&format!("{STYLE}{part}"))),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colours_reach_the_terminal() {
        for text in ["plain", "\u{1b}[1mbold\u{1b}[0m", "\u{1b}[38;5;9mred\u{1b}[0m 漢字"] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(shown("\u{1b}]0;x\u{7}"), "\\u{1b}]0;x\\u{7}");
        assert_eq!(shown("\u{1b}[1ma\u{202e}\u{1b}[0m\u{1b}["), "\u{1b}[1ma\\u{202e}\u{1b}[0m\\u{1b}[");
    }
}
