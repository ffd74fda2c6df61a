use retro::engine::memory as engine;
use retro::memory::{Decision, Memory, Status};
use retro::views::memory;
use std::io::{BufRead, Write};

use super::look;
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
        let rows: Vec<_> = waiting.iter().map(memory::view).collect();
        context.print_json(&serde_json::json!({ "schema": "retro.memory.review/1", "memories": rows }))?;
        return Ok(Exit::Done);
    }
    if waiting.is_empty() {
        context.say("Nothing needs a decision.");
        return Ok(Exit::Done);
    }
    let mut decisions: Vec<Decision> = Vec::new();
    let input = std::io::stdin();
    let mut lines = input.lock().lines();
    for (at, memory) in waiting.iter().enumerate() {
        context.print(&format!("\n{} of {}", at + 1, waiting.len()))?;
        look::print(memory, context)?;
        let decide = |event: &str, text: Option<String>| Decision {
            memory_id: memory.id.clone(),
            event: event.to_owned(),
            text,
            created_at: Some(context.world.now()),
            ..Decision::default()
        };
        match answer(&mut lines, "accept (a), reject (r), edit (e), skip (s), quit (q)? ")?.as_deref() {
            Some("a") => decisions.push(decide("memory_accepted", None)),
            Some("r") => decisions.push(decide("memory_rejected", None)),
            Some("e") => {
                if let Some(text) = answer(&mut lines, "new words: ")?.filter(|text| !text.is_empty()) {
                    decisions.push(decide("memory_edited", Some(text)));
                    decisions.push(decide("memory_accepted", None));
                }
            }
            Some("q") | None => break,
            Some(_) => {}
        }
    }
    if decisions.is_empty() {
        context.say("Nothing was decided.");
        return Ok(Exit::Done);
    }
    engine::decide(&context.world, &config, &store, &decisions)?;
    let decided: std::collections::BTreeSet<&String> =
        decisions.iter().map(|decision| &decision.memory_id).collect();
    context.say(&format!("{} decided.", decided.len()));
    Ok(Exit::Done)
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
