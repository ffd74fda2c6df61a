use retro::engine::memory::EXPOSURES;
use retro::memory::Exposure;
use retro::memory::weave::{self, HookInput, Shown, Woven, hook_input, hook_output, is_grok};
use retro::store::Store;
use retro::views::memory::{self, Fitting, MemoryQuestion};
use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use super::look::folder;
use crate::context::{Context, Exit, Failure, Outcome};

/// What a hook may cost the agent that called it.
const HOOK_PATIENCE: Duration = Duration::from_millis(200);
/// Memories that are shown at once.
const SHOWN_MAX: usize = 5;

/// Hand memories that fit to an agent, as a block that calls itself data
///
/// With --format claude-hook or codex-hook the prompt, the folder and the session come as
/// JSON on stdin, and the answer follows the hook's contract: nothing is printed when
/// nothing fits, and no error ever holds the agent up.
#[derive(Debug, clap::Args)]
pub struct Weave {
    /// The prompt; without one, what is most useful in this folder
    #[arg(long, value_name = "WORDS")]
    query: Option<String>,

    /// The folder the agent works in
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// At most so many tokens
    #[arg(long, value_name = "TOKENS", default_value_t = 800)]
    budget: usize,

    /// The session that it is shown to; nothing is shown twice to one
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,

    /// Do not write down what was shown
    #[arg(long)]
    no_record: bool,

    /// How to print it
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The block
    Text,
    /// The block and its memories, as JSON
    Json,
    /// For the hooks of Claude Code
    ClaudeHook,
    /// For the hooks of Codex
    CodexHook,
}

impl Weave {
    pub fn is_hook(&self) -> bool {
        matches!(self.format, Format::ClaudeHook | Format::CodexHook)
    }
}

pub fn run(args: &Weave, context: &Context) -> Outcome {
    if args.is_hook() {
        return called_by_hook(args, context);
    }
    let config = context.config()?;
    let store = context.store(&config)?;
    let question = question(args, &HookInput::default());
    let (fits, abstained) = fitting(context, &store, &question, args.session_id.as_deref())?;
    let woven = woven(&fits, args.budget, context);
    if let Some(woven) = woven.as_ref().filter(|_| !args.no_record) {
        record(context, &store, args.session_id.clone(), question.cwd.clone(), &woven.ids)?;
    }
    if args.format == Format::Json || context.global.json {
        let memories: Vec<_> = fits
            .iter()
            .filter(|fit| woven.as_ref().is_some_and(|woven| woven.ids.contains(&fit.memory.id)))
            .map(|fit| {
                let mut view = memory::view(&fit.memory);
                (view.score, view.why) = (Some(fit.score), Some(fit.why.clone()));
                view
            })
            .collect();
        let reason = abstained.unwrap_or("nothing fits into the budget");
        let answer = serde_json::json!({
            "schema": "retro.memory.weave/1", "block": woven.as_ref().map(|woven| &woven.text), "memories": memories,
            "abstained": woven.is_none().then(|| serde_json::json!({ "reason": reason })),
        });
        context.print_json(&answer)?;
        return Ok(Exit::Done);
    }
    match woven {
        Some(woven) => context.print_bytes(format!("{}\n", woven.text).as_bytes())?,
        None => {
            context.say(&format!("Nothing to show: {}.", abstained.unwrap_or("nothing fits into the budget")))
        }
    }
    Ok(Exit::Done)
}

fn question(args: &Weave, input: &HookInput) -> MemoryQuestion {
    let cwd = args.cwd.as_deref().map(folder).or_else(|| input.cwd.clone());
    MemoryQuestion {
        query: args.query.clone().or_else(|| input.prompt.clone()).unwrap_or_default(),
        cwd,
        limit: SHOWN_MAX,
        status: None,
        accepted_only: false,
        unasked: true,
    }
}

/// What fits and was not shown to this session before.
fn fitting(
    context: &Context,
    store: &Store,
    question: &MemoryQuestion,
    session: Option<&str>,
) -> Result<(Vec<Fitting>, Option<&'static str>), Failure> {
    let config = context.config()?;
    let (mut fits, abstained) = memory::fitting(&context.world, &config, store, question)?;
    if let Some(session) = session.filter(|_| !fits.is_empty()) {
        let (shown, _) = EXPOSURES.read(store)?;
        let of_session = shown.iter().filter(|exposure| exposure.session_id.as_deref() == Some(session));
        let before: Vec<&String> = of_session.flat_map(|exposure| &exposure.memory_ids).collect();
        fits.retain(|fit| !before.contains(&&fit.memory.id));
    }
    let nothing = fits.is_empty().then_some("everything that fits was shown to this session before");
    Ok((fits, abstained.or(nothing)))
}

/// The block and the memories that are in it.
fn woven(fits: &[Fitting], budget: usize, context: &Context) -> Option<Woven> {
    let now = context.world.now().as_millis();
    let shown: Vec<Shown<'_>> = fits
        .iter()
        .map(|fit| Shown {
            memory: &fit.memory,
            score: fit.score,
            why: fit.why.clone(),
            stale: memory::stale(&fit.memory),
            age_days: fit.memory.created_at.map(|created| (now - created.as_millis()) / 86_400_000),
        })
        .collect();
    weave::woven(&shown, budget)
}

/// Writes down what was shown. Whoever writes at the moment must not be waited for: false.
fn record(
    context: &Context,
    store: &Store,
    session_id: Option<String>,
    cwd: Option<String>,
    ids: &[String],
) -> Result<bool, Failure> {
    let Some(lock) = store.try_lock()? else { return Ok(false) };
    let exposure =
        Exposure { shown_at: Some(context.world.now()), session_id, cwd, memory_ids: ids.to_vec() };
    EXPOSURES.append(&lock, store, &[exposure])?;
    Ok(true)
}

/// Whatever happens here must not show: a hook that fails or waits would block the user's
/// agent.
fn called_by_hook(args: &Weave, context: &Context) -> Outcome {
    // Grok runs the hooks of Claude and drops what they print.
    if is_grok(|name| (context.world.own_env)(name)) || context.is_our_run() {
        return Ok(Exit::Done);
    }
    let mut quiet = context.global.clone();
    quiet.quiet = true;
    let (send, done) = mpsc::channel();
    let args = Weave {
        query: args.query.clone(),
        cwd: args.cwd.clone(),
        budget: args.budget,
        session_id: args.session_id.clone(),
        no_record: args.no_record,
        format: args.format,
    };
    std::thread::spawn(move || {
        let context = Context::for_hook(&quiet);
        let _ = send.send(answer(&args, &context));
    });
    if let Ok(Some(output)) = done.recv_timeout(HOOK_PATIENCE) {
        context.print_bytes(output.as_bytes())?;
    }
    Ok(Exit::Done)
}

/// What the hook prints; nothing when nothing fits or anything is wrong.
fn answer(args: &Weave, context: &Context) -> Option<String> {
    let mut text = String::new();
    std::io::stdin().take(16 << 20).read_to_string(&mut text).ok()?;
    let input = hook_input(&text)?;
    let config = context.config().ok()?;
    let store = context.store(&config).ok()?;
    let question = question(args, &input);
    let session = args.session_id.clone().or_else(|| input.session_id.clone());
    let (fits, _) = fitting(context, &store, &question, session.as_deref()).ok()?;
    let woven = woven(&fits, args.budget, context)?;
    // What is shown is written down, or not shown.
    if !args.no_record && !record(context, &store, session, question.cwd, &woven.ids).ok()? {
        return None;
    }
    Some(hook_output(Some(&woven.text), &input.event))
}
