//! One session, prepared for detectors.

use hashbrown::HashMap;
use retro_insight::{Beat, Call, Correction, Outcome, Settings, Trace};

use crate::buckets::Buckets;
use crate::fault::{self, Fault};
use crate::sign::{Evidence, Spent, Voice};
use crate::terms::{name_of, shortened};

/// A longer pause between two calls is not work, in milliseconds.
const PAUSE_MS: u64 = 5 * 60_000;
/// The most characters of a quoted line.
pub(crate) const QUOTE_CHARS: usize = 180;
/// The most calls of a session that only checks whether something works.
const CHECK_CALLS_MAX: usize = 12;

/// One call of a session.
pub(crate) struct Act<'a> {
    pub beat: &'a Beat,
    pub call: &'a Call,
    pub fault: Option<Fault>,
    /// True if it reads something and changes nothing.
    pub looks: bool,
}

impl Act<'_> {
    pub(crate) fn changes(&self) -> bool {
        self.call.changed_files()
    }

    /// Its name: the program with its sub-command, or the tool.
    pub(crate) fn tool(&self) -> &str {
        if self.call.runner.is_empty() { &self.call.name } else { &self.call.runner }
    }

    /// The same as a person would type it: `npm run dev`, where the tool is `script dev`.
    pub(crate) fn typed(&self) -> String {
        let typed = || {
            let call = retro_text::calls::understand(self.call.command.as_deref()?);
            let words = call.main_step()?.words.clone();
            let words: Vec<String> =
                words.into_iter().take_while(|word| !word.starts_with('-')).take(3).collect();
            (!words.is_empty()).then(|| words.join(" "))
        };
        let script = self.tool().starts_with("script ").then(typed).flatten();
        script.unwrap_or_else(|| self.tool().to_owned())
    }
}

/// A session that was real work.
pub(crate) struct Session<'a> {
    pub trace: &'a Trace,
    /// Calls, one thread after the other.
    pub acts: Vec<Act<'a>>,
    pub corrections: Vec<Correction>,
    pub outcome: Outcome,
    pub buckets: &'a Buckets,
    pub repo: Option<String>,
    pub tokens: u64,
    changes: HashMap<String, String>,
}

impl<'a> Session<'a> {
    pub(crate) fn of(
        trace: &'a Trace,
        settings: &Settings,
        buckets: &'a Buckets,
        changes: HashMap<String, String>,
        repo: Option<String>,
    ) -> Session<'a> {
        let mut acts: Vec<Act<'a>> = trace
            .calls()
            .map(|(beat, call)| Act { beat, call, fault: Fault::of(call), looks: fault::looks(call) })
            .collect();
        acts.sort_by_key(|act| act.beat.thread);
        Session {
            acts,
            corrections: trace.corrections(),
            outcome: trace.outcome(settings),
            buckets,
            repo,
            tokens: trace.tokens.plus(&trace.tokens_below).total(),
            changes,
            trace,
        }
    }

    /// The name of its repository for loci and titles.
    pub(crate) fn place(&self) -> &str {
        self.repo.as_deref().unwrap_or("no repository")
    }

    /// Calls of its own thread.
    pub(crate) fn main(&self) -> &[Act<'a>] {
        let end = self.acts.iter().position(|act| act.beat.thread != 0).unwrap_or(self.acts.len());
        self.acts.get(..end).unwrap_or_default()
    }

    pub(crate) fn minutes(&self) -> u64 {
        self.trace.active_ms() / 60_000
    }

    pub(crate) fn calls_to_edit(&self) -> Option<u64> {
        self.main().iter().position(Act::changes).map(|at| at as u64)
    }

    /// A hash of the prompt, if the session was short and changed nothing.
    pub(crate) fn check(&self) -> Option<String> {
        let mut requests = self.trace.requests();
        let (Some((_, prompt)), None) = (requests.next(), requests.next()) else { return None };
        let is_short = self.acts.len() <= CHECK_CALLS_MAX;
        let changed = self.acts.iter().any(Act::changes) || !self.trace.commits.is_empty();
        (is_short && !changed)
            .then(|| name_of(&retro_text::fingerprint::normal(&shortened(prompt, 200)).to_lowercase()))
    }

    /// The use of these calls, which must be in order.
    pub(crate) fn spent(&self, places: impl IntoIterator<Item = usize>) -> Spent {
        let mut spent = Spent::default();
        let mut before: Option<i64> = None;
        for place in places {
            let Some(act) = self.acts.get(place) else { continue };
            spent.calls += 1;
            let now = act.beat.ts.map(|ts| ts.as_millis());
            if let (Some(before), Some(now)) = (before, now) {
                spent.ms += u64::try_from(now - before).unwrap_or(0).min(PAUSE_MS);
            }
            spent.ms += act.call.duration_ms.unwrap_or(0).min(PAUSE_MS).min(if before.is_none() {
                PAUSE_MS
            } else {
                0
            });
            before = now.or(before);
        }
        spent.tokens = self.tokens / (self.acts.len() as u64).max(1) * u64::from(spent.calls);
        spent
    }

    /// The error of a call as evidence.
    pub(crate) fn said(&self, act: &Act<'_>, line: &str) -> Evidence {
        let event_id = act.call.result_id.clone().unwrap_or_else(|| act.beat.id.clone());
        Evidence { event_id, text: shortened(line, QUOTE_CHARS), voice: Voice::Program }
    }

    /// The command or edit of a call, as evidence.
    pub(crate) fn did(&self, act: &Act<'_>) -> Evidence {
        let text = match (&act.call.command, act.call.edits.first()) {
            (Some(command), _) if act.call.class == retro_model::ToolClass::Shell => {
                format!("ran {}", shortened(command, QUOTE_CHARS))
            }
            (_, Some(edit)) => {
                let path = self.relative(&edit.path);
                match self.changes.get(&act.beat.id) {
                    Some(change) => format!("edited {path}: {change}"),
                    None => format!("edited {path}"),
                }
            }
            _ => format!("called {}", act.call.name),
        };
        Evidence { event_id: act.beat.id.clone(), text, voice: Voice::Model }
    }

    /// A path relative to the working directory, if it is below it.
    pub(crate) fn relative<'p>(&self, path: &'p str) -> &'p str {
        let cwd = self.trace.cwd.as_deref().unwrap_or_default();
        let rest = path
            .strip_prefix(cwd)
            .filter(|_| !cwd.is_empty())
            .map(|rest| rest.trim_start_matches(['/', '\\']));
        rest.filter(|rest| !rest.is_empty()).unwrap_or(path)
    }
}
