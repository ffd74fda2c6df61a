use clap::ValueEnum;
use clap::builder::PossibleValue;
use retro::agents::integration::HookInput;
use retro::agents::{AGENTS, Agent};
use retro::engine::hook::by_variable;
use retro::views::memory::{WeaveEvent, WeaveQuestion, weave};
use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{LazyLock, mpsc};
use std::time::Duration;

use super::look::folder;
use crate::context::{Context, Exit, Failure, Outcome};

/// Maximum delay of the agent that called the hook.
const HOOK_PATIENCE: Duration = Duration::from_millis(200);

/// Hand memories that fit to an agent, as a block that calls itself data
///
/// With --format claude-hook or codex-hook the prompt, the folder and the session come as
/// JSON on stdin, and the answer follows the hook's contract: nothing is printed when
/// nothing fits, and no error ever holds the agent up.
#[derive(Debug, Clone, clap::Args)]
pub struct Weave {
    /// The prompt; without one, what is most useful in this folder
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,

    /// When it is shown: at the start of a session the rules that you accepted, at a call one
    /// line or nothing
    #[arg(long, value_enum, value_name = "EVENT", default_value = "prompt")]
    event: Event,

    /// The tool of the call
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,

    /// The error of the failed call; - reads it from stdin
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["file", "command"])]
    error: Option<String>,

    /// The file that the call touches
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    file: Option<String>,

    /// The command that the call runs
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,

    /// The folder the agent works in
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// At most so many tokens
    #[arg(long, value_name = "TOKENS", default_value_t = 800)]
    budget: usize,

    /// The session that it is shown to; nothing is shown twice to one
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,

    /// Do not record what was shown
    #[arg(long)]
    no_record: bool,

    /// How to print it
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// When memories are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Event {
    /// A session starts
    SessionStart,
    /// A prompt
    Prompt,
    /// A call: --error, --file or --command says what it is about
    Tool,
}

/// Maximum bytes read of an error.
const ERROR_BYTES_MAX: u64 = 256 << 10;

/// The output format of the block.
#[derive(Clone, Copy)]
enum Format {
    /// The block as text
    Text,
    /// The block and its memories, as JSON
    Json,
    /// The format of an agent's hooks
    Hook(&'static dyn Agent, &'static str),
}

static FORMATS: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let hooks = AGENTS
        .iter()
        .filter(|agent| shows_memories(**agent))
        .map(|agent| Format::Hook(*agent, format!("{}-hook", agent.name()).leak()));
    [Format::Text, Format::Json].into_iter().chain(hooks).collect()
});

/// True if the agent has hooks that can show memories.
fn shows_memories(agent: &dyn Agent) -> bool {
    agent.integration().is_some_and(|integration| !integration.memory.is_empty())
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name() == other.name()
    }
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Json => "json",
            Format::Hook(_, name) => name,
        }
    }
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Format] {
        &FORMATS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Format::Text => "The block".to_owned(),
            Format::Json => "The block and its memories, as JSON".to_owned(),
            Format::Hook(agent, _) => format!("For the hooks of {}", agent.title()),
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

impl Weave {
    /// The question. These arguments take precedence over the input.
    fn question(&self, input: HookInput) -> WeaveQuestion {
        WeaveQuestion {
            event: match self.event {
                Event::SessionStart => WeaveEvent::SessionStart,
                Event::Prompt => WeaveEvent::Prompt,
                Event::Tool if self.error.is_some() => WeaveEvent::ToolFailed,
                Event::Tool => WeaveEvent::Tool,
            },
            prompt: match self.event {
                Event::SessionStart => String::new(),
                Event::Prompt => self.query.clone().or(input.prompt).unwrap_or_default(),
                Event::Tool => self.about_call(),
            },
            cwd: self.cwd.as_deref().map(folder).or(input.cwd),
            session_id: self.session_id.clone().or(input.session_id),
            budget_tokens: self.budget,
            record: !self.no_record,
        }
    }
}

impl Weave {
    /// Describes the call in words.
    fn about_call(&self) -> String {
        let read = || {
            let mut text = String::new();
            let _ = std::io::stdin().take(ERROR_BYTES_MAX).read_to_string(&mut text);
            text
        };
        let error = self.error.as_deref().map(|error| if error == "-" { read() } else { error.to_owned() });
        let about = [self.tool.clone(), error, self.file.clone(), self.command.clone()];
        about.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

pub fn run(args: &Weave, context: &Context) -> Outcome {
    if args.event == Event::Tool && args.error.is_none() && args.file.is_none() && args.command.is_none() {
        return Err(Failure::Message("--event tool needs --error, --file or --command".to_owned()));
    }
    if let Format::Hook(agent, _) = args.format {
        return called_by_hook(agent, args, context);
    }
    let config = context.config()?;
    let store = context.store(&config)?;
    let view = weave(&context.world, &config, &store, &args.question(HookInput::default()))?;
    if args.format == Format::Json || context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    if let Some(block) = &view.block {
        context.print_bytes(format!("{block}\n").as_bytes())?;
    }
    if let Some(abstained) = &view.abstained {
        context.say(&format!("Nothing to show: {}.", abstained.reason));
    }
    Ok(Exit::Done)
}

/// Failures here must stay invisible: a hook that fails or waits would block the user's agent.
fn called_by_hook(agent: &'static dyn Agent, args: &Weave, context: &Context) -> Outcome {
    // An agent that runs another agent's hooks discards their output.
    let by_another = by_variable(&*context.world.own_env).is_some_and(|other| other.name() != agent.name());
    if by_another || context.is_our_run() {
        return Ok(Exit::Done);
    }
    let mut quiet = context.global.clone();
    quiet.quiet = true;
    let (send, done) = mpsc::channel();
    let args = args.clone();
    std::thread::spawn(move || {
        let context = Context::for_hook(&quiet);
        let _ = send.send(answer(agent, &args, &context));
    });
    if let Ok(Some(output)) = done.recv_timeout(HOOK_PATIENCE) {
        context.print_bytes(output.as_bytes())?;
    }
    Ok(Exit::Done)
}

/// The output of the hook. `None` if no memory fits or anything fails.
fn answer(agent: &dyn Agent, args: &Weave, context: &Context) -> Option<String> {
    let mut text = String::new();
    std::io::stdin().take(16 << 20).read_to_string(&mut text).ok()?;
    let input = HookInput::read(&text)?;
    let event = input.event.clone();
    let config = context.config().ok()?;
    let store = context.store(&config).ok()?;
    let view = weave(&context.world, &config, &store, &args.question(input)).ok()?;
    // Only show memories that were recorded, unless `--no-record` is set.
    let block = view.block.filter(|_| args.no_record || view.is_recorded)?;
    Some(agent.integration()?.hook_output(&block, &event))
}
