use retro::engine::patterns::{Curator, Done, Words, recurring};
use retro::engine::{Config, consumers};
use retro::store::Store;
use retro::views::answers::Answer;
use retro::views::patterns::{CandidateView, CurateView, DetectQuestion, detect};

use super::detect::print;
use super::memory::review::answers::Answers;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;

/// Review the patterns that `retro detect` found
///
/// One by one, with the evidence in view: a approve, r reject, d discuss (it stays open), e edit
/// and approve, s skip, u undo, q quit. One key on a terminal, one answer a line elsewhere.
/// What was decided is not asked again until its evidence changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro curate
  retro curate --auto-approve --json")]
pub struct Args {
    /// Let the gate of [curate.gate] decide about everything, without a question
    #[arg(long)]
    auto_approve: bool,
}

const QUESTION: &str = "approve (a), reject (r), discuss (d), edit (e), skip (s), undo (u), quit (q)? ";
const AT_END: &str = "That was all. Undo (u), quit (q)? ";

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    if store.candidates()?.is_none() && !context.global.no_sync {
        consumers::catch_up(&context.world, &config)?;
    }
    let candidates = detect(&context.world, &config, &store, &DetectQuestion::default())?.candidates;
    let mut curator = Curator::open(&context.world, &config, &store, recurring(&store)?.corpus)?;
    for bad in &curator.catalog().bad {
        context.say(&format!("{} cannot be used and is left alone: {}", bad.path.display(), bad.what));
    }
    let mut view = CurateView::default();
    if args.auto_approve {
        for one in &candidates {
            let done = curator.auto(&one.candidate, one.impact.usd)?;
            view.add(&one.candidate, done);
        }
    } else if context.global.json {
        for one in &candidates {
            let done = state(&curator, one);
            view.add(&one.candidate, done);
        }
    } else {
        let mut walk = Walk { context, curator, candidates: &candidates, decided: Vec::new() };
        walk.go()?;
        view = walk.view();
    }
    show(&view, args.auto_approve, context)?;
    waiting(&config, &store, context)?;
    Ok(Exit::Done)
}

/// The state of a candidate before any decision.
fn state(curator: &Curator<'_>, one: &CandidateView) -> Done {
    match curator.settled(&one.candidate) {
        Some(decision) => {
            Done::Skipped(format!("{} before, and its evidence is the same", decision.decision.as_str()))
        }
        None => match curator.duplicate(&one.candidate) {
            Some(other) => Done::Duplicate(other.id.clone()),
            None => Done::Open,
        },
    }
}

fn show(view: &CurateView, is_auto: bool, context: &Context) -> Result<(), Failure> {
    if context.global.json {
        return context.print_json(&Answer::of(view));
    }
    let lists = [
        ("written down", &view.promoted),
        ("rejected", &view.rejected),
        ("nearly the same", &view.duplicates),
    ];
    for (name, rows) in lists {
        for row in rows {
            context.print_hanging(&format!("{name}: {}  {}", row.id, context.shown(&row.title)), 2)?;
            context.print_hanging(&format!("  {}", row.reason), 4)?;
        }
    }
    if is_auto && context.global.verbose {
        for row in &view.skipped {
            context.print_hanging(&format!("skipped: {}  {}", row.id, row.reason), 2)?;
        }
    }
    let count = |rows: usize, what: &str| format!("{rows} {what}");
    context.say(&format!(
        "{}, {}, {}, {}.",
        count(view.promoted.len(), "written down"),
        count(view.rejected.len(), "rejected"),
        count(view.duplicates.len(), "nearly in the catalog"),
        count(view.skipped.len(), "skipped"),
    ));
    Ok(())
}

/// Reports decisions that the sink has not accepted yet.
fn waiting(config: &Config, store: &Store, context: &Context) -> Result<(), Failure> {
    let (waiting, _) = retro::engine::patterns::QUEUE.read(store)?;
    if !config.curate.value.sink.is_empty() && !waiting.is_empty() {
        let count = format::count(waiting.len() as u64, "decision");
        context.say(&format!("The sink did not take {count}: `retro decisions flush` sends them again."));
    }
    Ok(())
}

/// The interactive review of open candidates.
struct Walk<'a> {
    context: &'a Context,
    curator: Curator<'a>,
    candidates: &'a [CandidateView],
    /// Indexes of decided candidates, with the results.
    decided: Vec<(usize, Done)>,
}

impl Walk<'_> {
    fn go(&mut self) -> Result<(), Failure> {
        let answers = Answers::of_input();
        let open: Vec<usize> = (0..self.candidates.len())
            .filter(|at| self.candidates.get(*at).is_some_and(|one| one.new))
            .collect();
        if open.is_empty() {
            self.context.say("Nothing waits for a decision.");
            return Ok(());
        }
        let mut at = 0;
        loop {
            let Some((place, one)) =
                open.get(at).and_then(|place| Some((*place, self.candidates.get(*place)?)))
            else {
                if self.decided.is_empty() || answers.letter(AT_END) != Some('u') {
                    return Ok(());
                }
                at = self.undo(&open)?.unwrap_or(at);
                continue;
            };
            self.print(at + 1, one)?;
            let (candidate, usd) = (&one.candidate, one.impact.usd);
            let done = match answers.letter(QUESTION) {
                Some('a') => Some(self.curator.approve(candidate, usd, &Words::default())?),
                Some('e') => {
                    let words = edit(&answers);
                    Some(self.curator.approve(candidate, usd, &words)?)
                }
                Some('r') => Some(self.curator.reject(candidate)?),
                Some('d') => Some(self.curator.discuss(candidate)?),
                Some('u') => {
                    at = self.undo(&open)?.unwrap_or(at);
                    continue;
                }
                Some('q') | None => return Ok(()),
                Some(_) => None,
            };
            self.decided.extend(done.map(|done| (place, done)));
            at += 1;
        }
    }

    /// Reverts the last decision, and returns its index among the open ones.
    fn undo(&mut self, open: &[usize]) -> Result<Option<usize>, Failure> {
        let Some((place, _)) = self.decided.pop() else {
            self.context.say("Nothing to undo.");
            return Ok(None);
        };
        self.curator.undo()?;
        Ok(open.iter().position(|other| *other == place))
    }

    fn print(&self, number: usize, one: &CandidateView) -> Result<(), Failure> {
        let context = self.context;
        print(number, one, context)?;
        let line = |text: &str| context.print_hanging(&format!("   {}", context.shown(text)), 5);
        for member in one.candidate.members.iter().take(3) {
            for evidence in member.evidence.iter().take(2) {
                line(&format!("\"{}\" {}", evidence.text, member.address(&evidence.event_id)))?;
            }
        }
        // A correction is its own answer: it was quoted already.
        let more = if one.kind == "correction_repeated" { 0 } else { 2 };
        for known in one.resolutions.iter().skip(1).take(more) {
            line(&format!("also, in {}: {}", format::count(u64::from(known.times), "session"), known.text))?;
        }
        if let Some(other) = self.curator.duplicate(&one.candidate) {
            line(&format!("nearly the same as {} of the catalog: \"{}\"", other.id, other.title))?;
        }
        Ok(())
    }

    fn view(&self) -> CurateView {
        let mut view = CurateView::default();
        for (place, done) in &self.decided {
            if let Some(one) = self.candidates.get(*place) {
                view.add(&one.candidate, done.clone());
            }
        }
        view
    }
}

/// Asks for new wording.
fn edit(answers: &Answers) -> Words {
    let new = |question| answers.line(question).filter(|words| !words.is_empty());
    Words {
        title: new("title (Enter keeps it): "),
        resolution: new("what helps (Enter keeps it): "),
        when_to_use: new("use it when (Enter keeps it): "),
    }
}
