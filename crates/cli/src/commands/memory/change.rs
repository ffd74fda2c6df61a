use retro::engine::memory as engine;
use retro::memory::{
    Decision, Kind, Memory, Scope, Source, Status, Utility, Voice, authored, is_written_twice,
};
use retro::views::memory::{self, Verdict};
use std::path::{Path, PathBuf};

use super::look::{folder, kind, scope, status};
use retro::views::answers::{
    Answer, MemoriesIndexed, MemoryAdded, MemoryForgotten, MemoryUtility, NotesFolder, NotesImported,
    Quarantined,
};

use crate::context::{Context, Exit, Failure, Outcome};

/// Make the folder for your own notes and say where it is
#[derive(Debug, clap::Args)]
pub struct Init {}

/// Rebuild the memory tables from the files
#[derive(Debug, clap::Args)]
pub struct Reindex {}

/// Take notes in Markdown into the store
///
/// Every .md file below the folder is one memory. Lines between two `---` at the top may
/// set id, kind, scope, status, when_to_use, risk, confidence, priority, origin_repo.
#[derive(Debug, clap::Args)]
pub struct ImportAuthored {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Add a memory of your own
#[derive(Debug, clap::Args)]
pub struct Add {
    /// The text of the memory
    #[arg(value_name = "TEXT")]
    text: String,

    /// When it is of use
    #[arg(long, value_name = "WORDS", default_value = "")]
    when: String,

    /// When it is not
    #[arg(long, value_name = "WORDS")]
    not_when: Option<String>,

    /// Its name; made from the text without one
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// What it is: case, procedure, user_preference, repo_convention, tool_lesson, risk_rule
    #[arg(long, value_name = "KIND", default_value = "case", value_parser = kind)]
    kind: Kind,

    /// Where it holds: user, repo, task, global
    #[arg(long, value_name = "SCOPE", default_value = "user", value_parser = scope)]
    scope: Scope,

    /// The repository, for --scope repo
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,

    /// Its status
    #[arg(long, value_name = "STATUS", default_value = "accepted", value_parser = status)]
    status: Status,

    /// Words that are enough to find it
    #[arg(long, value_name = "WORD,WORD", value_delimiter = ',')]
    keywords: Vec<String>,
}

/// Accept memories: they may be shown to agents
#[derive(Debug, clap::Args)]
pub struct Accept {
    /// The memories: any unique beginning of their ids
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
}

/// Reject memories: they are never shown
#[derive(Debug, clap::Args)]
pub struct Reject {
    /// The memories: any unique beginning of their ids
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
}

/// Retire memories: hidden, and kept
#[derive(Debug, clap::Args)]
pub struct Retire {
    /// The memories: any unique beginning of their ids
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
}

/// Bring back memories that were rejected, retired or put into quarantine
#[derive(Debug, clap::Args)]
pub struct Restore {
    /// The memories: any unique beginning of their ids
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
}

/// Hide everything that a session taught
#[derive(Debug, clap::Args)]
pub struct Quarantine {
    /// The session: any unique beginning of its id
    #[arg(long, value_name = "ID")]
    session: String,
}

/// Remove a memory, and its words from what retro made of them; it does not come back
///
/// The words go from memories, notes in the store, decisions, what was shown, what was mined,
/// and the index of all these. The session in which they were said keeps its text: its log,
/// and what is searched and shown of it.
#[derive(Debug, clap::Args)]
pub struct Forget {
    /// The memory: any unique beginning of its id
    #[arg(value_name = "ID")]
    id: String,
}

/// Say how useful a memory was
#[derive(Debug, clap::Args)]
pub struct UpdateUtility {
    /// The memory
    #[arg(long, value_name = "ID")]
    memory_id: String,

    /// From 0, harmful, to 1, helpful
    #[arg(long, value_name = "R")]
    reward: f64,

    /// The session in which it was used
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,

    /// Why
    #[arg(long, value_name = "WORDS")]
    reason: Option<String>,
}

pub fn init(context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let path = store.notes_folder()?;
    if context.global.json {
        context.print_json(&Answer::of(NotesFolder { notes: &path }))?;
    } else {
        context
            .say(&format!("Notes in {} become memories; `retro memory reindex` reads them.", path.display()));
    }
    Ok(Exit::Done)
}

pub fn reindex(context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let folded = engine::reindex(&context.world, &config, &store)?;
    let items = folded.shelf.items();
    let evidence: usize = items.iter().map(|memory| memory.evidence_refs.len()).sum();
    let links: usize = items.iter().map(|memory| authored::links(&memory.text).len()).sum();
    if context.global.json {
        context.print_json(&Answer::of(MemoriesIndexed {
            indexed: items.len(),
            source_records: folded.written,
            mined_records: folded.mined,
            evidence_refs: evidence,
            links,
            unreadable: folded.bad.len(),
        }))?;
    } else {
        context.say(&format!(
            "{} memories from {} mined and {} written records.",
            items.len(),
            folded.mined,
            folded.written
        ));
        for bad in &folded.bad {
            context.say(&format!("cannot read {}, line {}: {}", bad.path.display(), bad.line, bad.what));
        }
    }
    Ok(if folded.bad.is_empty() { Exit::Done } else { Exit::Findings })
}

/// Maximum size of a note.
const NOTE_BYTES_MAX: u64 = 1 << 20;

pub fn import(args: &ImportAuthored, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let mut notes = Vec::new();
    collect(&args.folder, 0, &mut notes).map_err(|error| {
        Failure::hinted(
            format_args!("cannot read {}: {error}", args.folder.display()),
            "name a folder with .md files",
        )
    })?;
    notes.sort();
    let (mut taken, mut empty, mut failed) = (Vec::new(), 0, Vec::new());
    for path in notes {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let read = std::fs::metadata(&path)
            .map_err(|error| error.to_string())
            .and_then(|meta| match meta.len() {
                _ if !meta.is_file() => Err("it is not a regular file".to_owned()),
                0..=NOTE_BYTES_MAX => Ok(()),
                _ => Err("it is too long for a note".to_owned()),
            })
            .and_then(|()| std::fs::read_to_string(&path).map_err(|error| error.to_string()))
            .and_then(|text| authored::parse(&stem, &text));
        match read {
            Ok(Some(memory)) => taken.push(memory),
            Ok(None) => empty += 1,
            Err(what) => failed.push(format!("{}: {what}", path.display())),
        }
    }
    let known: Vec<String> =
        memory::all(&context.world, &config, &store)?.into_iter().map(|memory| memory.content_hash).collect();
    let count = taken.len();
    let new: Vec<Memory> = taken
        .into_iter()
        .map(|mut memory| {
            memory.created_at = memory.created_at.or(Some(context.world.now()));
            memory.content_hash = memory.hash();
            memory
        })
        .filter(|memory| !known.contains(&memory.content_hash))
        .collect();
    engine::add(&context.world, &config, &store, &new)?;
    if context.global.json {
        let (imported, known) = (new.len(), count - new.len());
        context.print_json(&Answer::of(NotesImported { imported, known, empty, failed: &failed }))?;
    } else {
        context.say(&format!(
            "{} notes taken in, {} known already, {empty} empty.",
            new.len(),
            count - new.len()
        ));
        failed.iter().for_each(|what| context.say(&format!("not taken: {what}")));
    }
    Ok(if failed.is_empty() { Exit::Done } else { Exit::Findings })
}

fn collect(folder: &Path, depth: usize, to: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < 8 {
            collect(&entry.path(), depth + 1, to)?;
        } else if kind.is_file() && entry.path().extension().is_some_and(|ending| ending == "md") {
            to.push(entry.path());
        }
    }
    Ok(())
}

pub fn add(args: &Add, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    if args.text.trim().is_empty() {
        return Err(Failure::Message("a memory needs some words".to_owned()));
    }
    let repo = match (args.scope, &args.repo) {
        (Scope::Repo, None) => Some(folder(Path::new("."))),
        (_, repo) => repo.as_deref().map(folder),
    };
    let around = repo.as_deref().map(|repo| retro::engine::repository::around(Path::new(repo)));
    let repository = around.unwrap_or_default();
    let mut memory = Memory {
        id: args.id.clone().unwrap_or_default(),
        source: Source::Added,
        method: String::new(),
        kind: args.kind,
        scope: args.scope,
        status: args.status,
        text: args.text.trim().to_owned(),
        when_to_use: args.when.clone(),
        do_not_use_when: args.not_when.clone(),
        origin_repo: repo,
        repository,
        confidence: 0.8,
        priority: 3,
        risk: retro::memory::Risk::Medium,
        origin: Voice::User,
        subject: String::new(),
        stance: String::new(),
        keywords: args.keywords.clone(),
        files: Vec::new(),
        spans: Vec::new(),
        evidence_refs: Vec::new(),
        origins: Vec::new(),
        structured: None,
        seen: 1,
        worked: 0,
        utility: Utility::default(),
        content_hash: String::new(),
        created_at: Some(context.world.now()),
        updated_at: Some(context.world.now()),
        expires_at: None,
        superseded_by: None,
        review_reasons: Vec::new(),
    };
    let secrets = memory.redact();
    memory.content_hash = memory.hash();
    if memory.id.is_empty() {
        memory.id = name_of(&memory);
    }
    if memory::find(&context.world, &config, &store, &memory.id).is_ok_and(|known| known.id == memory.id) {
        return Err(Failure::hinted(
            format_args!("there is a memory {:?} already", memory.id),
            "choose another --id",
        ));
    }
    let memory = engine::screened(memory);
    let all = memory::all(&context.world, &config, &store)?;
    if let Some(known) = all.iter().find(|known| is_written_twice(&memory, known)) {
        return Err(Failure::hinted(
            format_args!("the memory {:?} says the same already", known.id),
            "say something else, or decide about that one: `retro memory accept`, `retro memory forget`",
        ));
    }
    engine::add(&context.world, &config, &store, std::slice::from_ref(&memory))?;
    if context.global.json {
        context.print_json(&Answer::of(MemoryAdded {
            id: &memory.id,
            status: memory.status,
            review_reasons: &memory.review_reasons,
            redacted: &secrets,
        }))?;
        return Ok(Exit::Done);
    }
    context.say(&format!("Added {} ({}).", memory.id, memory.status.as_str()));
    if !secrets.is_empty() {
        let rules = secrets.join(", ");
        context.say(&format!("Its words held a secret ({rules}). It is stored redacted."));
    }
    memory.review_reasons.iter().for_each(|reason| context.say(&format!("It needs a review: it {reason}.")));
    Ok(Exit::Done)
}

/// A name from the first words and a part of the hash.
fn name_of(memory: &Memory) -> String {
    let mut slug = String::new();
    for c in memory.text.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        if slug.len() >= 48 {
            break;
        }
    }
    format!("{}-{}", slug.trim_matches('-'), memory.content_hash.get(..10).unwrap_or_default())
}

/// Decides about memories.
pub fn decide(verdict: Verdict, ids: &[String], context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let decided = memory::decide(&context.world, &config, &store, verdict, ids)?;
    if context.global.json {
        context.print_json(&decided)?;
    } else {
        let done = verdict.done();
        decided.ids.iter().for_each(|id| context.say(&format!("{} {done}.", context.shown(id))));
    }
    Ok(Exit::Done)
}

pub fn quarantine(args: &Quarantine, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let key = retro::views::session(&store, &[&args.session], context.world.now())?;
    let decision = Decision {
        event: "memory_quarantined".to_owned(),
        session_id: Some(key.id.clone()),
        created_at: Some(context.world.now()),
        ..Decision::default()
    };
    engine::decide(&context.world, &config, &store, &[decision])?;
    let hidden = memory::all(&context.world, &config, &store)?
        .iter()
        .filter(|memory| {
            memory.status == Status::Quarantined
                && memory.origins.iter().any(|origin| origin.session_id == key.id)
        })
        .count();
    if context.global.json {
        context.print_json(&Answer::of(Quarantined::of(&key, hidden)))?;
    } else {
        context.say(&format!("{hidden} memories of {} are in quarantine.", context.shown(&key.to_string())));
    }
    Ok(Exit::Done)
}

pub fn forget(args: &Forget, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let found = memory::find(&context.world, &config, &store, &args.id)?;
    engine::forget(&context.world, &config, &store, &found)?;
    if context.global.json {
        context.print_json(&Answer::of(MemoryForgotten { id: &found.id }))?;
    } else {
        context.say(&format!("{} is forgotten.", context.shown(&found.id)));
        if found.source == Source::Mined {
            context
                .say("The session in which it was said keeps its text; `retro search` still finds it there.");
        }
        context.say("Notes in other folders and dashboards that were built before stay as they are.");
    }
    Ok(Exit::Done)
}

pub fn update_utility(args: &UpdateUtility, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    if !(0.0..=1.0).contains(&args.reward) {
        return Err(Failure::Message(format!("--reward is from 0 to 1, not {}", args.reward)));
    }
    let found = memory::find(&context.world, &config, &store, &args.memory_id)?;
    let decision = Decision {
        memory_id: found.id.clone(),
        event: "memory_rewarded".to_owned(),
        session_id: args.session_id.clone(),
        reward: Some(args.reward),
        reason: args.reason.clone(),
        created_at: Some(context.world.now()),
        ..Decision::default()
    };
    engine::decide(&context.world, &config, &store, &[decision])?;
    let now = memory::find(&context.world, &config, &store, &found.id)?;
    if context.global.json {
        context.print_json(&Answer::of(MemoryUtility { id: &now.id, utility: &now.utility }))?;
    } else {
        let used = &now.utility;
        context.say(&format!(
            "{}: q {:.2} after {} rewards.",
            context.shown(&now.id),
            used.q_value,
            used.hits
        ));
    }
    Ok(Exit::Done)
}
