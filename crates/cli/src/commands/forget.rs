use std::io::Read;

use retro::engine::forget::{
    Forgotten, forget, forget_text, preview, standing, standing_texts, undo, undo_text,
};
use retro::engine::secrets::value_of;
use retro::engine::signals::earlier;
use retro::model::SessionKey;
use retro::views::answers::{Answer, TombstoneRow, Tombstones};
use retro::views::{ListOptions, list};

use super::{WhichSession, dashboard, retain, signal};
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{bytes, count};
use crate::progress::Bar;
use crate::when;

/// Remove sessions, or one text, from the store and keep them from coming back
///
/// A session goes with its sub-agents: raw bytes, events, digest, costs, words in search,
/// memories that rest on it alone, lines in histories. It is not captured again, also not
/// from a backup. A secret or another text is covered by asterisks in every captured byte, and
/// everything derived is made again. The agent's own log stays where it is; retro only reads it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro forget claude 6a1f0c52 --dry-run
  retro forget claude 6a1f0c52 --keep-costs
  retro forget --project diary --yes
  retro forget --before 2025-01-01
  retro forget --secret 9c1e6f02b7aa   an id of `retro secrets`
  retro forget --text-stdin < words
  retro forget --list
  retro forget --undo 3f9c2ab1d004")]
pub struct Args {
    /// The session: any unique beginning of its id, an agent's name may come before it
    #[arg(value_name = "SESSION", num_args = 0..=2)]
    session: Vec<String>,

    /// All sessions of this project
    #[arg(long, value_name = "PROJECT", conflicts_with = "session")]
    project: Option<String>,

    /// All sessions that were last active before this day
    #[arg(long, value_name = "DAY", conflicts_with = "session")]
    before: Option<String>,

    /// One secret that `retro secrets` lists, by its id
    #[arg(long, value_name = "ID", conflicts_with_all = ["session", "project", "before", "keep_costs"])]
    secret: Option<String>,

    /// The text that is read from standard input: 8 bytes to 16 KiB, without its last line end
    #[arg(long, conflicts_with_all = ["session", "project", "before", "keep_costs", "secret"])]
    text_stdin: bool,

    /// Keep the ledger: tokens, models and times, without words
    #[arg(long)]
    keep_costs: bool,

    /// Say what would go, change nothing
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,

    /// List forgotten sessions
    #[arg(long, conflicts_with_all = ["session", "project", "before", "undo"])]
    list: bool,

    /// Let a session or a text be captured again: the id that `--list` shows, or the session's
    #[arg(long, value_name = "ID", conflicts_with_all = ["session", "project", "before"])]
    undo: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    if args.list {
        return list_stones(context);
    }
    if let Some(id) = &args.undo {
        return undo_one(context, id);
    }
    if args.secret.is_some() || args.text_stdin {
        return text(args, context, &config);
    }
    let keys = if args.project.is_some() || args.before.is_some() {
        chosen(args, context)?
    } else if args.session.is_empty() {
        return Err(Failure::hinted(
            "nothing is named that is to be forgotten",
            "name a session, --project, --before, --secret or --text-stdin; `retro forget --list` shows what was forgotten",
        ));
    } else {
        vec![WhichSession { session: args.session.clone() }.find(&store, context)?]
    };
    if keys.is_empty() {
        return Err(Failure::missing("no session in the store fits", "`retro list` shows all"));
    }
    let bar = Bar::new(context);
    let seen = preview(&context.world, &config, &keys, args.keep_costs)?;
    if args.dry_run {
        return tell(context, &seen);
    }
    if !args.yes {
        say(context, &seen);
        if !retain::confirmed(context, "Forget this?")? {
            context.say("Nothing was changed.");
            return Ok(Exit::Findings);
        }
    }
    let readings = earlier(&store)?;
    let done = forget(&context.world, &config, &keys, args.keep_costs, &|step| bar.step(step))?;
    bar.done();
    signal::again(context, &config, readings)?;
    dashboard::again(context, &config)?;
    tell(context, &done)
}

/// Bytes of standard input that are read: more than a text may have.
const INPUT_BYTES_MAX: u64 = 64 * 1024;

/// Cuts a text out.
fn text(args: &Args, context: &Context, config: &retro::engine::Config) -> Outcome {
    let words = match &args.secret {
        Some(id) => value_of(&context.store(config)?, id)?.ok_or_else(|| {
            Failure::missing(
                format_args!("no captured record holds a secret with the id {id:?}"),
                "`retro secrets` lists them",
            )
        })?,
        None => from_stdin(args)?,
    };
    let bar = Bar::new(context);
    if args.dry_run || !args.yes {
        let seen = forget_text(&context.world, config, &words, true, &|_| {})?;
        if args.dry_run {
            return tell(context, &seen);
        }
        say(context, &seen);
        if !retain::confirmed(context, "Cut it out?")? {
            context.say("Nothing was changed.");
            return Ok(Exit::Findings);
        }
    }
    let readings = earlier(&context.store(config)?)?;
    let done = forget_text(&context.world, config, &words, false, &|step| bar.step(step))?;
    bar.done();
    signal::again(context, config, readings)?;
    dashboard::again(context, config)?;
    tell(context, &done)
}

fn from_stdin(args: &Args) -> Result<String, Failure> {
    if !args.yes && !args.dry_run {
        return Err(Failure::hinted(
            "a text from standard input leaves none for the answer",
            "look with --dry-run, then run it with --yes",
        ));
    }
    let mut bytes = Vec::new();
    std::io::stdin().take(INPUT_BYTES_MAX).read_to_end(&mut bytes)?;
    let words = String::from_utf8(bytes)
        .map_err(|_| Failure::hinted("the text on standard input is not UTF-8", "give it as UTF-8"))?;
    let words = words.strip_suffix('\n').unwrap_or(&words);
    Ok(words.strip_suffix('\r').unwrap_or(words).to_owned())
}

/// The sessions of a project in the store that ended before a day.
fn chosen(args: &Args, context: &Context) -> Result<Vec<SessionKey>, Failure> {
    let before = args.before.as_deref().map(|day| when::since(day, context)).transpose()?.flatten();
    let options = ListOptions { project: args.project.clone(), children: true, ..ListOptions::default() };
    let view = list(&context.world, &context.quiet_config()?, &options)?;
    let is_old = |ended: Option<retro::model::Timestamp>| {
        before.is_none_or(|before| ended.is_some_and(|ended| ended < before))
    };
    let sessions = view.sessions.into_iter().filter(|session| session.captured && is_old(session.ended_at));
    Ok(sessions.map(|session| SessionKey::new(session.agent, session.session_id)).collect())
}

fn tell(context: &Context, forgotten: &Forgotten) -> Outcome {
    let is_clean = forgotten.dry_run || forgotten.places.after == 0;
    let exit = if is_clean { Exit::Done } else { Exit::Findings };
    if context.global.json {
        context.print_json(&Answer::of(forgotten))?;
        return Ok(exit);
    }
    say(context, forgotten);
    Ok(exit)
}

/// Maximum names of each kind.
const NAMED_MAX: usize = 10;

fn say(context: &Context, forgotten: &Forgotten) {
    let named_max = if context.global.verbose { usize::MAX } else { NAMED_MAX };
    let safe = |text: &str| retro::text::terminal::safe_line(text).into_owned();
    for one in forgotten.forgotten.iter().take(named_max) {
        context.say(&format!("  {} {}  {}", one.agent, safe(&one.session_id), bytes(one.bytes)));
    }
    let more = forgotten.forgotten.len().saturating_sub(named_max);
    if more > 0 {
        context.say(&format!("  and {}; --verbose names them", count(more as u64, "more session")));
    }
    if !forgotten.texts.is_empty() {
        let times = count(forgotten.masked, "place");
        let verb = if forgotten.dry_run { "would be covered in" } else { "is covered in" };
        context.say(&format!("The text {verb} {times} of the captured bytes and files."));
        return say_places(context, forgotten, named_max);
    }
    let sessions = count(forgotten.forgotten.len() as u64, "session");
    let (verb, lines) = match forgotten.dry_run {
        true => ("would be forgotten", "would be cut out"),
        false => ("forgotten", "cut out"),
    };
    let costs = if forgotten.keep_costs { ", costs stay" } else { ", with their costs" };
    context.say(&format!("{sessions} {verb}{costs}."));
    if forgotten.masked > 0 {
        let masked = count(forgotten.masked, "line");
        context.say(&format!("{masked} about them {lines} of files about many sessions."));
    }
    let (gone, weaker) = (forgotten.memories.removed.len() as u64, forgotten.memories.weakened.len() as u64);
    if gone + weaker > 0 {
        context.say(&format!("Memories: {gone} rest on nothing else and go, {weaker} lose evidence."));
    }
    let (gone, weaker) = (forgotten.patterns.removed.len() as u64, forgotten.patterns.weakened.len() as u64);
    if gone + weaker > 0 {
        context.say(&format!("Patterns: {gone} rest on nothing else and go, {weaker} lose evidence."));
    }
    say_places(context, forgotten, named_max);
}

fn say_places(context: &Context, forgotten: &Forgotten, named_max: usize) {
    let safe = |text: &str| retro::text::terminal::safe_line(text).into_owned();
    match (forgotten.dry_run, forgotten.places.before) {
        (true, Some(before)) => context.say(&format!("Found in {} of the store.", count(before, "place"))),
        (true, None) => {}
        (false, before) => {
            let before = before.map_or(String::new(), |before| format!("; before: {before}"));
            let after = count(forgotten.places.after, "place");
            context.say(&format!("Every file was searched again: found in {after}{before}."));
        }
    }
    for place in forgotten.places.left.iter().take(named_max) {
        context.say(&format!("  still in {}", safe(place)));
    }
    for out in forgotten.unreachable.iter().take(named_max) {
        context.say(&format!("Not reached: {}.", safe(out)));
    }
}

fn list_stones(context: &Context) -> Outcome {
    let config = context.quiet_config()?;
    let (stones, texts) = (standing(&config), standing_texts(&config));
    let mut rows: Vec<TombstoneRow> = stones.iter().map(TombstoneRow::from).collect();
    rows.extend(texts.iter().map(TombstoneRow::from));
    if context.global.json {
        context.print_json(&Answer::of(Tombstones { tombstones: rows }))?;
        return Ok(Exit::Done);
    }
    for row in &rows {
        let costs = if row.keep_costs { ", costs kept" } else { "" };
        let state = if row.done { "" } else { ", not finished yet" };
        context.print(&format!(
            "{}  {}  {}{costs}{state}",
            row.id,
            if row.kind == "text" { "a text" } else { &row.agent },
            crate::format::time(Some(row.at))
        ))?;
    }
    context.say(&match rows.len() {
        0 => "Nothing was forgotten.".to_owned(),
        some => format!(
            "{} forgotten. `retro forget --undo ID` lets one be captured again.",
            count(some as u64, "thing")
        ),
    });
    Ok(Exit::Done)
}

fn undo_one(context: &Context, id: &str) -> Outcome {
    let config = context.quiet_config()?;
    let mut undone: Vec<TombstoneRow> =
        undo(&context.world, &config, id)?.iter().map(TombstoneRow::from).collect();
    undone.extend(undo_text(&context.world, &config, id)?.iter().map(TombstoneRow::from));
    if undone.is_empty() {
        return Err(Failure::missing(
            format_args!("nothing that was forgotten has the id {id:?}"),
            "`retro forget --list` shows what was forgotten",
        ));
    }
    if context.global.json {
        context.print_json(&Answer::of(Tombstones { tombstones: undone }))?;
    } else {
        let things = count(undone.len() as u64, "thing");
        context.say(&format!("{things} may come back: `retro sync` captures what the agents still have."));
    }
    Ok(Exit::Done)
}
