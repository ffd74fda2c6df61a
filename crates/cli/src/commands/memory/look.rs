use retro::memory::{Kind, Memory, Scope, Status};
use retro::views::memory::{self, Journals, MemoryFilter, MemoryList, MemoryQuestion};
use std::collections::HashMap;

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;
use crate::table::{Column, Table};

/// Count memories and name problems
#[derive(Debug, clap::Args)]
pub struct Doctor {}

/// List memories
#[derive(Debug, clap::Args)]
pub struct List {
    /// Only this status: candidate, accepted, needs_review, rejected, retired, quarantined
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Option<Status>,

    /// Only this kind: procedure, skill, failure_trigger, user_preference, repo_convention,
    /// tool_lesson, risk_rule, case
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<Kind>,

    /// Only this scope: user, repo, task, global
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    scope: Option<Scope>,

    /// Only memories that hold in this folder
    #[arg(long, value_name = "DIR")]
    cwd: Option<std::path::PathBuf>,
}

/// Show a memory with its evidence
#[derive(Debug, clap::Args)]
pub struct Show {
    /// The memory: any unique beginning of its id
    #[arg(value_name = "ID")]
    id: String,
}

/// Find memories that fit a question
#[derive(Debug, clap::Args)]
pub struct Retrieve {
    /// The question
    #[arg(value_name = "WORDS", required_unless_present = "query")]
    words: Vec<String>,

    /// The same in one piece, for programs
    #[arg(long, value_name = "TEXT", conflicts_with = "words")]
    query: Option<String>,

    /// The folder you work in; memories of other repositories are left out
    #[arg(long, value_name = "DIR")]
    cwd: Option<std::path::PathBuf>,

    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 8)]
    limit: usize,

    /// Only what you accepted
    #[arg(long)]
    accepted_only: bool,

    /// Only this status, also those that are never shown otherwise
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Option<Status>,
}

/// Say for each past session what memory would have shown, and whether it was right
#[derive(Debug, clap::Args)]
pub struct Replay {
    /// Only sessions since then: 30d, 2026-07, "last week"
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

pub fn status(text: &str) -> Result<Status, String> {
    Status::parse(text).ok_or_else(|| {
        let names: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
        format!("it is one of {}", names.join(", "))
    })
}

pub fn kind(text: &str) -> Result<Kind, String> {
    let names = || Kind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
    Kind::parse(text).ok_or_else(|| format!("it is one of {}", names()))
}

pub fn scope(text: &str) -> Result<Scope, String> {
    Scope::parse(text).ok_or_else(|| "it is one of user, repo, task, global".to_owned())
}

/// A folder, as logs write it.
pub fn folder(path: &std::path::Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.to_string_lossy().trim_end_matches('/').to_owned()
}

pub fn doctor(context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let view = memory::doctor(&context.world, &config, &store)?;
    if context.global.json {
        context.print_json(&view)?;
    } else {
        let counted = &view.counts;
        context.print(&format!("{} kept.", plural(counted.memories)))?;
        for (name, counts) in
            [("status", &counted.by_status), ("scope", &counted.by_scope), ("kind", &counted.by_kind)]
        {
            let parts: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
            if !parts.is_empty() {
                context.print(&format!("  by {name}: {}", parts.join(", ")))?;
            }
        }
        let life = &counted.life;
        if life.shown > 0 {
            context.print(&format!(
                "  shown: {}, {} times in all; helpful: {}, harmful: {}",
                life.shown, life.shown_times, life.helpful, life.harmful
            ))?;
        }
        for (from, to) in &view.dangling_links {
            context.print(&format!(
                "  {} links to {}, which does not exist",
                context.shown(from),
                context.shown(to)
            ))?;
        }
        for id in &view.evidence_gone {
            context.print(&format!("  {}: its sessions are not in the store any more", context.shown(id)))?;
        }
        for (id, what) in &view.stale {
            context.print(&format!("  {}: {}", context.shown(id), context.shown(what)))?;
        }
        for id in &view.useless {
            context.print(&format!(
                "  {}: shown often, never of use; `retro memory retire` hides it",
                context.shown(id)
            ))?;
        }
        for line in &view.unreadable {
            context.print(&format!("  cannot be read: {}", context.shown(line)))?;
        }
        for id in &view.unknown_ids {
            context.print(&format!("  a decision names {}, which does not exist", context.shown(id)))?;
        }
        if !view.index_is_current {
            context.print("  The index says something else than the files: `retro memory reindex`.")?;
        }
    }
    let is_fine = view.unreadable.is_empty() && view.index_is_current && view.dangling_links.is_empty();
    Ok(if is_fine { Exit::Done } else { Exit::Findings })
}

fn plural(count: usize) -> String {
    if count == 1 { "1 memory".to_owned() } else { format!("{count} memories") }
}

pub fn list(args: &List, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let filter = MemoryFilter {
        status: args.status,
        kind: args.kind,
        scope: args.scope,
        cwd: args.cwd.as_deref().map(folder),
    };
    let memories = memory::list(&context.world, &config, &store, &filter)?;
    if context.global.json {
        context.print_json(&MemoryList::of(&memories))?;
        return Ok(Exit::Done);
    }
    if memories.is_empty() {
        context.say("No memories yet. `retro sync` mines sessions that have gone quiet; `retro memory add` adds your own.");
        return Ok(Exit::Findings);
    }
    let all = memory::all(&context.world, &config, &store)?;
    table(&memories, &memory::short_ids(&all), context)?;
    Ok(Exit::Done)
}

fn table(memories: &[Memory], short: &HashMap<&str, String>, context: &Context) -> Result<(), Failure> {
    let columns = [
        Column::left("id"),
        Column::left("status").spare(1),
        Column::left("kind").spare(2),
        Column::left("scope").spare(4),
        Column::right("seen").spare(3),
        Column::left("what it says").wraps(36),
    ];
    let rows = memories.iter().map(|memory| {
        vec![
            short.get(memory.id.as_str()).unwrap_or(&memory.id).clone(),
            memory.status.as_str().to_owned(),
            memory.kind.as_str().to_owned(),
            memory.scope.as_str().to_owned(),
            memory.seen.to_string(),
            memory.text.clone(),
        ]
    });
    context.table(&Table::new(columns).rows(rows))
}

pub fn show(args: &Show, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let memory = memory::find(&context.world, &config, &store, &args.id)?;
    if context.global.json {
        let all = memory::all(&context.world, &config, &store)?;
        context.print_json(&Journals::read(&store, &all)?.show(&memory))?;
        return Ok(Exit::Done);
    }
    print(&memory, context)?;
    Ok(Exit::Done)
}

/// A memory with everything that a person needs to decide.
pub fn print(memory: &Memory, context: &Context) -> Result<(), Failure> {
    let bold = anstyle::Style::new().bold();
    let line = |name: &str, text: &str| context.print(&format!("  {name:<12} {}", context.shown(text)));
    context.print(&format!("{bold}{}{bold:#}", context.shown(&memory.id)))?;
    line("says", &retro::memory::screen::escaped(&memory.text))?;
    line("when", &retro::memory::screen::escaped(&memory.when_to_use))?;
    if let Some(not) = &memory.do_not_use_when {
        line("not when", not)?;
    }
    line(
        "is",
        &format!(
            "{}, {}, {}, risk {}",
            memory.status.as_str(),
            memory.kind.as_str(),
            memory.scope.as_str(),
            memory.risk.as_str()
        ),
    )?;
    if let Some(repo) = &memory.origin_repo {
        line("from", repo)?;
    }
    line(
        "seen",
        &format!(
            "{} times, worked {}; found in {}",
            memory.seen,
            memory.worked,
            format::count(memory.origins.len() as u64, "session")
        ),
    )?;
    let used = &memory.utility;
    line(
        "used",
        &format!(
            "shown {}, helped {}, harmed {}, q {:.2}",
            used.shown, used.successes, used.failures, used.q_value
        ),
    )?;
    if let Some(other) = &memory.superseded_by {
        line("replaced by", other)?;
    }
    if let Some(stale) = memory::stale(memory) {
        line("stale", &stale)?;
    }
    for reason in &memory.review_reasons {
        line("review", reason)?;
    }
    for span in &memory.spans {
        line("evidence", &format!("{}: {}", span.event_id, retro::memory::screen::escaped(&span.text)))?;
    }
    if memory.spans.is_empty() {
        memory.evidence_refs.iter().try_for_each(|event| line("evidence", event))?;
    }
    Ok(())
}

pub fn retrieve(args: &Retrieve, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let question = MemoryQuestion {
        query: args.query.clone().unwrap_or_else(|| args.words.join(" ")),
        cwd: args.cwd.as_deref().map(folder),
        limit: args.limit,
        status: args.status,
        accepted_only: args.accepted_only,
        unasked: false,
    };
    let view = memory::retrieve(&context.world, &config, &store, &question)?;
    if context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    for memory in &view.memories {
        let score = memory.score.unwrap_or_default();
        context.print(&format!(
            "{score:.2}  {}  {}",
            context.shown(&memory.id),
            context.shown(&memory.text)
        ))?;
        let when = context.shown(&memory.when_to_use);
        let when = if when.starts_with("When ") { when.into_owned() } else { format!("when {when}") };
        let weak = if memory.weak == Some(true) { "; only the nearest" } else { "" };
        context.print(&format!("      {when}; {}{weak}", memory.why.clone().unwrap_or_default()))?;
        if let Some(stale) = &memory.stale {
            context.print(&format!("      stale: {}", context.shown(stale)))?;
        }
    }
    if let Some(abstained) = &view.abstained {
        context.say(&format!("Nothing to show: {}.", abstained.reason));
    }
    Ok(Exit::Done)
}

pub fn replay(args: &Replay, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let since = match &args.since {
        Some(text) => crate::when::since(text, context)?,
        None => None,
    };
    let view = memory::replay(&context.world, &config, &store, since, &mut |_, _| {})?;
    if context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    let replay = &view.replay;
    context.print(&format!(
        "{} prompts in {}: shown to {}, of these right {}, wrong {}; {} known and not shown.",
        replay.prompts,
        format::count(replay.sessions as u64, "session"),
        replay.shown,
        replay.right,
        replay.wrong,
        replay.missed
    ))?;
    context.print(&format!(
        "Shown something that did not apply: {:.1} % of all prompts.",
        replay.wrong_show * 100.0
    ))?;
    for (what, needed) in [
        ("Said again", replay.needs.said_again),
        ("Asked again", replay.needs.asked_again),
        ("Failed again", replay.needs.failed_again),
    ] {
        context.print(&format!(
            "{what}: {}, {} known before, {} shown.",
            format::count(needed.count as u64, "time"),
            needed.known,
            needed.shown
        ))?;
    }
    for row in &replay.rows {
        let ids = row.memory_ids.join(", ");
        context.print(&format!(
            "  {:<8} {}/{}#{}  {}  {}",
            row.verdict,
            row.agent,
            context.shown(&row.session_id),
            row.event_id,
            context.shown(&ids),
            row.why
        ))?;
    }
    Ok(Exit::Done)
}
