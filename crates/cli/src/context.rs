//! What every command gets: the world, the configuration, stdout and stderr.

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
    /// The reader of our output closed it: no trouble of ours.
    Pipe,
    /// What failed and where. A second line that begins with `hint: ` says what helps.
    Message(String),
    /// What was asked for does not exist. Otherwise as `Message`.
    NotFound(String),
}

/// Separates what failed from what helps.
const HINT: &str = "\nhint: ";

impl Failure {
    /// A failure with the command or the step that helps.
    pub fn hinted(what: impl std::fmt::Display, hint: impl std::fmt::Display) -> Failure {
        Failure::Message(format!("{what}{HINT}{hint}"))
    }

    /// Something that does not exist, with what helps.
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

/// A terminal that says it is narrower is not asked again.
const COLUMNS_MIN: usize = 20;

/// How wide a paragraph is where nothing says how wide it may be.
const PROSE_COLUMNS: usize = 80;

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

    /// Whether a program that retro itself asks to mine a session has called us as its hook.
    pub fn is_our_run(&self) -> bool {
        (self.world.own_env)(retro::engine::headless::OUR_RUN).is_some()
    }

    /// The configuration in force; its notes are said.
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

    /// The configuration in force, without a word.
    pub fn quiet_config(&self) -> Result<Config, Failure> {
        let overrides = Overrides { root: self.global.root.clone(), config: self.global.config.clone() };
        Ok(Config::load(&self.world, &overrides)?)
    }

    /// The store, which must be there.
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

    /// Talk, for people, on stderr.
    pub fn say(&self, text: &str) {
        if !self.global.quiet {
            self.talk(text);
        }
    }

    /// A paragraph on stderr, below an answer: wrapped at words wherever it goes.
    pub fn note(&self, text: &str) {
        if !self.global.quiet {
            self.talk_within(text, Some(PROSE_COLUMNS));
        }
    }

    /// A text on stderr, wrapped at words if a person reads it there.
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

    /// An error, on stderr, even when quiet.
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
        self.print_bytes(self.json_shown(&text).as_bytes())?;
        self.print_bytes(b"\n")
    }

    /// JSON on one line: one answer of a stream.
    pub fn print_line(&self, answer: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(answer).map_err(|e| Failure::Message(e.to_string()))?;
        self.print_bytes(self.json_shown(&text).as_bytes())?;
        self.print_bytes(b"\n")
    }

    /// JSON as a terminal may have it: characters that it would obey or hide are written as
    /// escapes, which changes no value. Programs get the text as it is.
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

    /// A table, on stdout, as wide as there is room.
    pub fn table(&self, table: &Table) -> Result<(), Failure> {
        table.lines(self.room()).iter().try_for_each(|line| self.print(line))
    }

    /// Prose of ours, on stdout, wrapped at words where there is a width.
    pub fn print_prose(&self, text: &str) -> Result<(), Failure> {
        match self.room() {
            Some(columns) => wrap(text, columns).iter().try_for_each(|line| self.print(line)),
            None => self.print(text),
        }
    }

    /// The same for one line, whose following lines are indented by `hang` columns. A
    /// no-break space keeps what is around it together, and is printed as a space.
    pub fn print_hanging(&self, text: &str, hang: usize) -> Result<(), Failure> {
        let lines = wrap_hanging(text, self.room().unwrap_or(usize::MAX), hang);
        lines.iter().try_for_each(|line| self.print(&line.replace('\u{a0}', " ")))
    }

    /// A path as a person writes it: with `~` for their home.
    pub fn homely(&self, path: &str) -> String {
        let home = self.world.own_home.display().to_string();
        match path.strip_prefix(&home) {
            Some(rest) if rest.starts_with('/') && !home.is_empty() => format!("~{rest}"),
            _ => path.to_owned(),
        }
    }

    /// Columns that an answer on stdout may take: those of the terminal, else those that
    /// `COLUMNS` asks for (as `watch` sets it). None for a file or a pipe: nothing is cut.
    pub fn room(&self) -> Option<usize> {
        if let Some((width, _)) = terminal_size::terminal_size_of(io::stdout()) {
            return Some(usize::from(width.0).max(COLUMNS_MIN));
        }
        let asked = (self.world.own_env)("COLUMNS")?.parse::<usize>().ok()?;
        Some(asked.max(COLUMNS_MIN))
    }

    /// Lines that fit on the screen; so many as on a usual one where there is none.
    pub fn rows(&self) -> usize {
        const USUAL: usize = 40;
        let rows = terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| usize::from(height.0));
        rows.unwrap_or(USUAL)
    }

    /// The user's own home, wherever logs are looked for.
    pub fn own_home(&self) -> PathBuf {
        self.world.own_home.clone()
    }

    /// Whether a person reads stdout.
    pub fn is_read_by_a_person(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// How stdout may be coloured.
    pub fn color(&self) -> ColorChoice {
        self.choice(io::stdout())
    }

    /// A line as a terminal may have it.
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

/// Says on stderr that another program keeps the store busy, the first time only: work in
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

/// The real world, or the one whose home the user pointed at.
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
        // Stamps name files by their whole paths.
        Some(home) => world.home = std::path::absolute(home).unwrap_or_else(|_| home.clone()),
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
