pub mod answers;

use retro::engine::memory as engine;
use retro::memory::screen::{escaped, screen};
use retro::memory::{Decision, Memory, Status, as_found};
use retro::store::Store;
use retro::views::answers::{Answer, MemoriesToReview};
use retro::views::memory::{self, ReviewGroup};

use self::answers::Answers;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;

/// Review the memories that wait for a decision
///
/// What needs one comes first, then what was found, by repository and kind, most repeated
/// first. One key on a terminal, one answer a line elsewhere: a accept, r reject, e edit,
/// s skip, A accept all that is left of this kind here, u undo, q quit.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro memory review
  retro memory review --json")]
pub struct Review {}

const QUESTION: &str =
    "accept (a), reject (r), edit (e), skip (s), all of this kind here (A), undo (u), quit (q)? ";

const AT_END: &str = "That was all. Undo (u), quit (q)? ";

pub fn run(_args: &Review, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let waiting = memory::waiting(&context.world, &config, &store)?;
    if context.global.json {
        let memories: Vec<_> = waiting.iter().map(memory::view).collect();
        context.print_json(&Answer::of(MemoriesToReview { waiting: memories.len(), memories }))?;
        return Ok(Exit::Done);
    }
    if waiting.is_empty() {
        context.say("Nothing waits for a decision.");
        return Ok(Exit::Done);
    }
    let mut walk = Walk { context, store: &store, waiting: &waiting, decided: Vec::new() };
    walk.go()?;
    let decided: usize = walk.decided.iter().map(Vec::len).sum();
    match decided {
        0 => context.say("Nothing was decided."),
        _ => context.say(&format!(
            "{decided} decided, {} still {} for a look.",
            waiting.len() - decided,
            if waiting.len() - decided == 1 { "waits" } else { "wait" }
        )),
    }
    Ok(Exit::Done)
}

/// The interactive review of waiting memories.
struct Walk<'a> {
    context: &'a Context,
    store: &'a Store,
    waiting: &'a [Memory],
    /// The indexes that each step decided about, so that it can be undone.
    decided: Vec<Vec<usize>>,
}

impl Walk<'_> {
    fn go(&mut self) -> Result<(), Failure> {
        let answers = Answers::of_input();
        let mut at = 0;
        loop {
            let Some(memory) = self.waiting.get(at) else {
                if self.decided.is_empty() || answers.letter(AT_END) != Some('u') {
                    return Ok(());
                }
                at = self.undo()?.unwrap_or(at);
                continue;
            };
            if self.is_decided(at) {
                at += 1;
                continue;
            }
            self.print(at, memory)?;
            match answers.letter(QUESTION) {
                Some('a') => self.decide(vec![at], "memory_accepted")?,
                Some('r') => self.decide(vec![at], "memory_rejected")?,
                Some('A') => self.decide(self.alike(at), "memory_accepted")?,
                Some('e') => {
                    if let Some(edited) = edit(&answers, self.of(memory, "memory_edited"), self.context) {
                        self.write(&[edited, self.of(memory, "memory_accepted")])?;
                        self.decided.push(vec![at]);
                    }
                }
                Some('u') => {
                    at = self.undo()?.unwrap_or(at);
                    continue;
                }
                Some('q') | None => return Ok(()),
                Some(_) => {}
            }
            at += 1;
        }
    }

    fn is_decided(&self, at: usize) -> bool {
        self.decided.iter().flatten().any(|decided| *decided == at)
    }

    /// Found memories of the same kind and repository, from here on. Excludes those that need a
    /// separate decision.
    fn alike(&self, at: usize) -> Vec<usize> {
        let group = self.waiting.get(at).map(ReviewGroup::of);
        let is_alike = |(other, memory): &(usize, &Memory)| {
            let is_plain = memory.status == Status::Candidate && Some(ReviewGroup::of(memory)) == group;
            *other == at || (*other > at && is_plain && !self.is_decided(*other))
        };
        self.waiting.iter().enumerate().filter(is_alike).map(|(other, _)| other).collect()
    }

    fn of(&self, memory: &Memory, event: &str) -> Decision {
        Decision {
            memory_id: memory.id.clone(),
            event: event.to_owned(),
            created_at: Some(self.context.world.now()),
            ..Decision::default()
        }
    }

    /// Writes decisions at once, so that nothing is lost if the person stops here.
    fn write(&self, decisions: &[Decision]) -> Result<(), Failure> {
        let config = self.context.config()?;
        Ok(engine::decide(&self.context.world, &config, self.store, decisions)?)
    }

    fn decide(&mut self, places: Vec<usize>, event: &str) -> Result<(), Failure> {
        let memories = places.iter().filter_map(|place| self.waiting.get(*place));
        let decisions: Vec<Decision> = memories.map(|memory| self.of(memory, event)).collect();
        self.write(&decisions)?;
        self.decided.push(places);
        Ok(())
    }

    /// Reverts the last decision, and returns its index.
    fn undo(&mut self) -> Result<Option<usize>, Failure> {
        let Some(places) = self.decided.pop() else {
            self.context.say("Nothing to undo.");
            return Ok(None);
        };
        let memories = places.iter().filter_map(|place| self.waiting.get(*place));
        let back = memories.map(|memory| Decision {
            about: Some(Box::new(as_found(memory))),
            ..self.of(memory, "memory_restored")
        });
        self.write(&back.collect::<Vec<_>>())?;
        Ok(places.first().copied())
    }

    /// A memory in a few lines, under a heading if it begins a group.
    fn print(&self, at: usize, memory: &Memory) -> Result<(), Failure> {
        let context = self.context;
        let heading = |memory: &Memory| match memory.status {
            Status::NeedsReview => "Needs a decision".to_owned(),
            _ => {
                let ReviewGroup { repository, kind } = ReviewGroup::of(memory);
                let place = if repository.is_empty() { "everywhere" } else { &repository };
                format!("{} · {}", context.shown(place), kind.as_str())
            }
        };
        let before = at.checked_sub(1).and_then(|before| self.waiting.get(before)).map(heading);
        let now = heading(memory);
        if before.as_ref() != Some(&now) {
            let bold = anstyle::Style::new().bold();
            let count = self.waiting.iter().filter(|other| heading(other) == now).count();
            context.print(&format!("\n{bold}{now}{bold:#}  {}", format::count(count as u64, "memory")))?;
        }
        let line = |text: &str| context.print_hanging(&format!("  {}", context.shown(text)), 4);
        context.print("")?;
        line(&format!("{} of {}  {}", at + 1, self.waiting.len(), escaped(&memory.text)))?;
        line(&format!("when {}", escaped(&memory.when_to_use)))?;
        let evidence = memory.evidence_refs.first().map_or("written by hand", String::as_str);
        line(&format!(
            "seen {} in {}, {} risk, {}: {evidence}",
            format::count(u64::from(memory.seen.max(1)), "time"),
            format::count(memory.origins.len().max(1) as u64, "session"),
            memory.risk.as_str(),
            memory.level().as_str(),
        ))?;
        memory.review_reasons.iter().try_for_each(|reason| line(&format!("review: {reason}")))
    }
}

/// Asks for new wording. `None` if the text is unchanged, or contains parts that may not be stored.
fn edit(answers: &Answers, mut edited: Decision, context: &Context) -> Option<Decision> {
    let new = |question| answers.line(question).filter(|words| !words.is_empty());
    edited.text = new("new words (Enter keeps them): ");
    edited.when_to_use = new("when to use it (Enter keeps it): ");
    let words = [&edited.text, &edited.when_to_use];
    if let Some(reason) = words.into_iter().flatten().flat_map(|words| screen(words)).next() {
        context.say(&format!("Not changed: it {reason}. It still needs a decision."));
        return None;
    }
    words.iter().any(|words| words.is_some()).then_some(edited)
}
