//! The context of every command: the world, the configuration, stdout and stderr.

use anstream::{AutoStream, ColorChoice};
use retro::engine::config::Overrides;
use retro::engine::{Config, World};
use retro::model::Timestamp;
use retro::store::{RealDisk, Store};
use retro::text::terminal::safe;
use retro::views::answers::CommandError;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::Global;
use crate::prose::{wrap, wrap_hanging};
use crate::table::Table;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded.
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

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The reader closed the output, which is not an error.
    Pipe,
    /// What failed and where. A second line that begins with `hint: ` suggests a fix.
    Message(String),
    /// The named thing does not exist. Otherwise like `Message`.
    NotFound(String),
}

/// Separates the failure from the hint.
const HINT: &str = "\nhint: ";

impl Failure {
    /// A failure with a hint.
    pub fn hinted(what: impl std::fmt::Display, hint: impl std::fmt::Display) -> Failure {
        Failure::Message(format!("{what}{HINT}{hint}"))
    }

    /// A failure because something does not exist, with a hint.
    pub fn missing(what: impl std::fmt::Display, hint: impl std::fmt::Display) -> Failure {
        Failure::NotFound(format!("{what}{HINT}{hint}"))
    }
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
            retro::Error::NoSession { .. } | retro::Error::NoSource { .. } | retro::Error::NoEvent { .. } => {
                Failure::NotFound(error.to_string())
            }
            error => Failure::Message(error.to_string()),
        }
    }
}

impl From<retro_web::Error> for Failure {
    fn from(error: retro_web::Error) -> Self {
        Failure::Message(error.to_string())
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

/// Narrower widths reported by a terminal are ignored.
const COLUMNS_MIN: usize = 20;

/// Width of a paragraph without a known terminal width.
const PROSE_COLUMNS: usize = 80;

/// The result of a command.
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
        // Without a handler, Ctrl-C ends the program at once, which is safe for the store too.
        let _ = ctrlc::set_handler(move || {
            if heard.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        Context { world: world(global, &stop), global: global.clone(), stop }
    }

    /// A context for work on another thread, without a signal handler.
    pub fn for_hook(global: &Global) -> Context {
        let stop = Arc::new(AtomicBool::new(false));
        Context { world: world(global, &stop), global: global.clone(), stop }
    }

    /// Whether Ctrl-C was pressed.
    pub fn interrupted(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// True if the caller is an agent that retro itself runs to mine a session.
    pub fn is_our_run(&self) -> bool {
        (self.world.own_env)(retro::engine::headless::OUR_RUN).is_some()
    }

    /// The configuration in force. Prints its notes.
    pub fn config(&self) -> Result<Config, Failure> {
        if let Some(home) = self.global.home.as_ref().filter(|home| !home.is_dir()) {
            return Err(Failure::hinted(
                format_args!("there is no folder {}", home.display()),
                "--home takes a home directory in which agents left their logs",
            ));
        }
        let now = self.global.now.clone().or_else(|| (self.world.own_env)("RETRO_NOW"));
        if let Some(now) = now.filter(|now| Timestamp::parse(now).is_none()) {
            return Err(Failure::hinted(
                format_args!("{now:?} is not a time"),
                "--now and RETRO_NOW take a time such as 2026-03-01T12:00:00Z",
            ));
        }
        let config = self.quiet_config()?;
        for note in &config.notes {
            self.say(&format!("note: {note}"));
        }
        Ok(config)
    }

    /// The configuration in force, without printing notes.
    pub fn quiet_config(&self) -> Result<Config, Failure> {
        let overrides = Overrides { root: self.global.root.clone(), config: self.global.config.clone() };
        Ok(Config::load(&self.world, &overrides)?)
    }

    /// The store, which must exist.
    pub fn store(&self, config: &Config) -> Result<Store, Failure> {
        match Store::open(&config.root.value, Arc::new(RealDisk)) {
            Ok(store) => Ok(store),
            Err(error) if error.is_absent() => Err(Failure::hinted(
                format_args!("there is no store at {} yet", config.root.value.display()),
                "`retro sync` makes one, `retro demo` shows what it is good for",
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// Prints a message for people on stderr.
    pub fn say(&self, text: &str) {
        if !self.global.quiet {
            self.talk(text);
        }
    }

    /// Prints a paragraph on stderr, below an answer, always wrapped at words.
    pub fn note(&self, text: &str) {
        if !self.global.quiet {
            self.talk_within(text, Some(PROSE_COLUMNS));
        }
    }

    /// Prints a text on stderr, wrapped at words if stderr is a terminal.
    fn talk(&self, text: &str) {
        self.talk_within(text, None);
    }

    fn talk_within(&self, text: &str, elsewhere: Option<usize>) {
        let mut stderr = AutoStream::new(io::stderr(), self.choice(io::stderr()));
        let columns = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
        let asked = || (self.world.own_env)("COLUMNS")?.parse::<usize>().ok();
        let columns =
            columns.or_else(|| elsewhere.map(|columns| asked().unwrap_or(columns).max(COLUMNS_MIN)));
        let _ = match columns {
            Some(columns) => {
                wrap(&shown(text), columns).iter().try_for_each(|line| writeln!(stderr, "{line}"))
            }
            None => writeln!(stderr, "{}", shown(text)),
        };
    }

    /// Prints an error on stderr, even with `--quiet`.
    pub fn complain(&self, failure: &Failure) {
        if let Failure::Message(text) | Failure::NotFound(text) = failure {
            let text = safe(text);
            let (what, hint) = match text.split_once(HINT) {
                Some((what, hint)) => (what, Some(hint)),
                None => (&*text, None),
            };
            if self.global.json {
                let error = CommandError { message: what.to_owned(), hint: hint.map(str::to_owned) };
                let _ = writeln!(io::stderr(), "{}", error.line());
                return;
            }
            let red = anstyle::AnsiColor::Red.on_default().bold();
            self.talk(&format!("{red}error:{red:#} {what}"));
            if let Some(hint) = hint {
                let cyan = anstyle::AnsiColor::Cyan.on_default().bold();
                self.talk(&format!("{cyan}hint:{cyan:#} {hint}"));
            }
        }
    }

    /// Prints data on stdout.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = AutoStream::new(io::stdout().lock(), self.choice(io::stdout()));
        Ok(writeln!(stdout, "{}", shown(text))?)
    }

    /// Writes binary data to stdout unchanged.
    pub fn print_bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(io::stdout().lock().write_all(bytes)?)
    }

    /// Prints an answer as one JSON object.
    pub fn print_json(&self, answer: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(answer).map_err(|e| Failure::Message(e.to_string()))?;
        self.print_bytes(self.json_shown(&text).as_bytes())?;
        self.print_bytes(b"\n")
    }

    /// Prints an answer of a stream as JSON on one line.
    pub fn print_line(&self, answer: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(answer).map_err(|e| Failure::Message(e.to_string()))?;
        self.print_bytes(self.json_shown(&text).as_bytes())?;
        self.print_bytes(b"\n")
    }

    /// JSON that is safe for a terminal: control and hidden characters become escapes, which
    /// changes no value. Programs get the text unchanged.
    pub fn json_shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !self.is_read_by_a_person() || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                '\u{80}'..='\u{9f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
                other => out.push(other),
            }
        }
        Cow::Owned(out)
    }

    /// Closes stdout early, so that a program reading it need not wait until retro ends. Later
    /// output is discarded.
    pub fn hang_up(&self) {
        let _ = io::stdout().flush();
        #[cfg(unix)]
        if let Ok(nowhere) = std::fs::File::options().write(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stdout(nowhere);
        }
    }

    /// True if a person watches the progress of a command.
    pub fn is_watched(&self) -> bool {
        !self.global.quiet && !self.global.json && io::stderr().is_terminal()
    }

    /// Prints a table on stdout, as wide as there is room.
    pub fn table(&self, table: &Table) -> Result<(), Failure> {
        table.lines(self.room()).iter().try_for_each(|line| self.print(line))
    }

    /// Prints prose by retro on stdout, wrapped at words if there is a width.
    pub fn print_prose(&self, text: &str) -> Result<(), Failure> {
        match self.room() {
            Some(columns) => wrap(text, columns).iter().try_for_each(|line| self.print(line)),
            None => self.print(text),
        }
    }

    /// Prints an explanation: headings (`# `) with their paragraphs. Lines that are too long for
    /// the terminal are wrapped again as paragraphs.
    pub fn print_explanation(&self, text: &str) -> Result<(), Failure> {
        let bold = anstyle::Style::new().bold();
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0) + 2;
        let is_narrow = self.room().is_some_and(|columns| columns < widest);
        let mut paragraph = String::new();
        let print = |paragraph: &mut String| match std::mem::take(paragraph) {
            none if none.is_empty() => Ok(()),
            some => self.print_hanging(&format!("  {some}"), 2),
        };
        for line in text.lines() {
            let heading = line.strip_prefix("# ");
            if line.is_empty() || heading.is_some() || line.starts_with("- ") || !is_narrow {
                print(&mut paragraph)?;
            }
            match heading {
                Some(heading) => self.print(&format!("\n{bold}{heading}{bold:#}"))?,
                None if line.is_empty() => self.print("")?,
                None => {
                    paragraph.extend((!paragraph.is_empty()).then_some(' '));
                    paragraph.push_str(line);
                }
            }
        }
        print(&mut paragraph)
    }

    /// Like [`print_prose`](Self::print_prose), for one line whose continuations are indented by
    /// `hang` columns. A no-break space keeps its neighbours together, and is printed as a space.
    pub fn print_hanging(&self, text: &str, hang: usize) -> Result<(), Failure> {
        let lines = wrap_hanging(text, self.room().unwrap_or(usize::MAX), hang);
        lines.iter().try_for_each(|line| self.print(&line.replace('\u{a0}', " ")))
    }

    /// A path with `~` for the user's home.
    pub fn homely(&self, path: &str) -> String {
        let home = self.world.own_home.display().to_string();
        match path.strip_prefix(&home) {
            Some(rest) if rest.starts_with('/') && !home.is_empty() => format!("~{rest}"),
            _ => path.to_owned(),
        }
    }

    /// Width of stdout: that of the terminal, else `COLUMNS` (as `watch` sets it). `None` for a
    /// file or a pipe, where nothing is cut.
    pub fn room(&self) -> Option<usize> {
        if let Some((width, _)) = terminal_size::terminal_size_of(io::stdout()) {
            return Some(usize::from(width.0).max(COLUMNS_MIN));
        }
        let asked = (self.world.own_env)("COLUMNS")?.parse::<usize>().ok()?;
        Some(asked.max(COLUMNS_MIN))
    }

    /// Number of lines on the screen. A usual number without a terminal.
    pub fn rows(&self) -> usize {
        const USUAL: usize = 40;
        let rows = terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| usize::from(height.0));
        rows.unwrap_or(USUAL)
    }

    /// The user's own home, even if logs are searched elsewhere.
    pub fn own_home(&self) -> PathBuf {
        self.world.own_home.clone()
    }

    /// True if stdout is a terminal.
    pub fn is_read_by_a_person(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Whether to colour stdout.
    pub fn color(&self) -> ColorChoice {
        self.choice(io::stdout())
    }

    /// A line that is safe for a terminal.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        shown(text)
    }

    fn choice(&self, stream: impl anstream::stream::RawStream) -> ColorChoice {
        match self.global.color {
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
            clap::ColorChoice::Auto => AutoStream::choice(&stream),
        }
    }
}

/// Reports on stderr that another program keeps the store busy. Only the first time, since work in
/// batches may wait many times.
fn say_once_that_it_waits() -> impl Fn(&Path) + Send + Sync {
    let is_said = AtomicBool::new(false);
    move |root| {
        if !is_said.swap(true, Ordering::Relaxed) {
            let root = root.display().to_string();
            let text =
                format!("Waiting for another retro that writes to {}. Ctrl-C stops waiting.", safe(&root));
            let _ = writeln!(io::stderr(), "{text}");
        }
    }
}

/// The real world, or one with the home that the user named.
fn world(global: &Global, stop: &Arc<AtomicBool>) -> World {
    let own_home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("."));
    let own_env: retro::engine::Env = Arc::new(|name| std::env::var(name).ok());
    let mut world = World::at(own_home);
    world.own_env = Arc::clone(&own_env);
    world.stop = Arc::clone(stop);
    let now = global.now.clone().or_else(|| own_env("RETRO_NOW"));
    if let Some(now) = now.as_deref().and_then(Timestamp::parse) {
        world = world.with_clock(now);
    }
    if !global.quiet {
        world.waits = Arc::new(say_once_that_it_waits());
    }
    match &global.home {
        // Stamps identify files by absolute paths.
        Some(home) => world.home = std::path::absolute(home).unwrap_or_else(|_| home.clone()),
        None => world.env = own_env,
    }
    world
}

/// A text that is safe for a terminal: keeps retro's own colours, and makes all other control
/// characters visible. Commands escape the words of a transcript themselves. This catches any path,
/// name or reason that they missed.
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
