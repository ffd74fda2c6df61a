use retro::engine::memory as engine;
use retro::memory::screen::screen;
use retro::memory::{Decision, Memory, Status};
use retro::views::memory;
use std::io::{BufRead, Write};

use super::look;
use retro::views::answers::{Answer, MemoriesToReview};

use crate::context::{Context, Exit, Failure, Outcome};

/// Walk through what needs a decision, newest first: a accept, r reject, e edit, s skip, q quit
#[derive(Debug, clap::Args)]
pub struct Review {}

pub fn run(_args: &Review, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let mut waiting: Vec<Memory> = memory::all(&context.world, &config, &store)?
        .into_iter()
        .filter(|memory| memory.status == Status::NeedsReview)
        .collect();
    waiting.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.id.cmp(&b.id)));
    if context.global.json {
        let memories = waiting.iter().map(memory::view).collect();
        context.print_json(&Answer::of(MemoriesToReview { memories }))?;
        return Ok(Exit::Done);
    }
    if waiting.is_empty() {
        context.say("Nothing needs a decision.");
        return Ok(Exit::Done);
    }
    let input = std::io::stdin();
    let mut lines = input.lock().lines();
    let mut decided = 0;
    for (at, memory) in waiting.iter().enumerate() {
        context.print(&format!("\n{} of {}", at + 1, waiting.len()))?;
        look::print(memory, context)?;
        let of = |event: &str| Decision {
            memory_id: memory.id.clone(),
            event: event.to_owned(),
            created_at: Some(context.world.now()),
            ..Decision::default()
        };
        let decisions =
            match answer(&mut lines, "accept (a), reject (r), edit (e), skip (s), quit (q)? ")?.as_deref() {
                Some("a") => vec![of("memory_accepted")],
                Some("r") => vec![of("memory_rejected")],
                Some("e") => edit(&mut lines, of("memory_edited"), context)?
                    .map_or_else(Vec::new, |edited| vec![edited, of("memory_accepted")]),
                Some("q") | None => break,
                Some(_) => Vec::new(),
            };
        if !decisions.is_empty() {
            // At once, so that nothing is lost if the person stops here.
            engine::decide(&context.world, &config, &store, &decisions)?;
            decided += 1;
        }
    }
    match decided {
        0 => context.say("Nothing was decided."),
        _ => context.say(&format!("{decided} decided.")),
    }
    Ok(Exit::Done)
}

/// Asks for other words. Nothing, if all were kept or some may not stay in a memory.
fn edit(
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
    mut edited: Decision,
    context: &Context,
) -> Result<Option<Decision>, Failure> {
    let mut new = |question| answer(lines, question).map(|words| words.filter(|words| !words.is_empty()));
    edited.text = new("new words (Enter keeps them): ")?;
    edited.when_to_use = new("when to use it (Enter keeps it): ")?;
    let words = [&edited.text, &edited.when_to_use];
    if let Some(reason) = words.into_iter().flatten().flat_map(|words| screen(words)).next() {
        context.say(&format!("Not changed: it {}. It still needs a decision.", reason));
        return Ok(None);
    }
    Ok(words.iter().any(|words| words.is_some()).then_some(edited))
}

/// One line of the person; nothing at the end of input.
fn answer(
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
    question: &str,
) -> Result<Option<String>, Failure> {
    let mut out = std::io::stderr();
    let _ = write!(out, "{question}");
    let _ = out.flush();
    match lines.next() {
        Some(Ok(line)) => Ok(Some(line.trim().to_owned())),
        _ => Ok(None),
    }
}
