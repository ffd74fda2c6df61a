//! One session as detectors see it.

use hashbrown::HashMap;
use retro_insight::{Beat, Call, Correction, Outcome, Settings, Trace};
use retro_model::{Event, Origin as Said, SessionKey};
use retro_text::calls::understand;

use crate::buckets::Buckets;
use crate::fault::{self, Fault};
use crate::sign::{Evidence, SessionSigns, Spent, Voice};
use crate::terms::{name_of, shortened};
use crate::{DETECTORS, remedy};

/// A longer pause between two calls is not work.
const PAUSE_MS: u64 = 5 * 60_000;
/// Signs of one session.
const SIGNS_MAX: usize = 60;
/// Characters of a quoted line.
pub(crate) const QUOTE_CHARS: usize = 180;
/// Calls of a session that only checks whether something works.
const CHECK_CALLS_MAX: usize = 12;

/// What is known of a session besides its events.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// The session that it is a part of.
    pub parent: Option<String>,
    /// The last part of its working directory.
    pub repo: Option<String>,
    /// Names its captured bytes.
    pub source: String,
}

/// Takes the events of a session as they come.
pub struct Listener {
    trace: Trace,
    changes: HashMap<String, String>,
    ours: hashbrown::HashSet<String>,
}

/// Characters of a line of an edit that is quoted.
const CHANGE_CHARS_MAX: usize = 90;

impl Listener {
    /// Before the first event.
    pub fn new(key: SessionKey) -> Listener {
        Listener { trace: Trace::new(key), changes: HashMap::new(), ours: Default::default() }
    }

    /// Takes the next settled event. Our own output in a transcript shows nothing.
    pub fn push(&mut self, event: &Event) {
        if self.is_our_own(event) {
            return;
        }
        if let Some(tool) = event.tool.as_ref().filter(|tool| !tool.edits.is_empty())
            && let Some(change) = tool.args.as_ref().and_then(|args| change(args))
        {
            self.changes.insert(event.id.to_string(), change);
        }
        self.trace.push(event);
    }

    fn is_our_own(&mut self, event: &Event) -> bool {
        if let Some(tool) = &event.tool {
            let ours = tool.command.as_ref().is_some_and(|command| {
                command.contains("retro")
                    && understand(command).main_step().is_some_and(|step| step.program() == "retro")
            });
            if ours {
                self.ours.insert(tool.call_id.clone());
            }
            return ours;
        }
        match &event.result {
            Some(result) => self.ours.remove(&result.call_id),
            None => {
                event.origin != Said::User && event.text.as_ref().is_some_and(|text| text.contains("<retro "))
            }
        }
    }

    /// The signs of the whole session.
    pub fn finish(self, settings: &Settings, buckets: &Buckets, origin: Origin) -> SessionSigns {
        let Listener { trace, changes, .. } = self;
        let quality = trace.quality(&settings.thresholds);
        let mut found = SessionSigns {
            agent: trace.key.agent.clone(),
            session_id: trace.key.id.clone(),
            parent: origin.parent,
            repo: origin.repo,
            real: quality.real,
            started_at: trace.first,
            source: origin.source,
            ..SessionSigns::default()
        };
        if !quality.real {
            return found;
        }
        let session = Session::of(&trace, settings, buckets, changes, found.repo.clone());
        found.tokens = session.tokens;
        found.minutes = session.minutes();
        found.calls_to_edit = session.calls_to_edit();
        found.check = session.check();
        for detector in DETECTORS {
            let mut signs = (detector.detect)(&session);
            signs.iter_mut().for_each(|sign| sign.kind = detector.name.to_owned());
            found.signs.extend(signs);
        }
        found.signs.truncate(SIGNS_MAX);
        found
    }
}

/// A change of a line or two, as words.
fn change(args: &serde_json::Value) -> Option<String> {
    let files = retro_text::diff::diffs(args, None);
    let [file] = files.as_slice() else { return None };
    let lines = |sign: char| {
        let lines = file.rows.iter().filter(move |(kind, _)| *kind == sign);
        lines.map(|(_, line)| line.trim()).filter(|line| !line.is_empty()).collect::<Vec<_>>()
    };
    let (removed, added) = (lines('-'), lines('+'));
    let is_told = |line: &&str| line.chars().count() <= CHANGE_CHARS_MAX && !line.contains("[redacted:");
    match (removed.as_slice(), added.as_slice()) {
        ([], [line]) if is_told(line) => Some(format!("added {line}")),
        ([line], []) if is_told(line) => Some(format!("removed {line}")),
        ([old], [new]) if is_told(old) && is_told(new) => Some(format!("{old} became {new}")),
        _ => None,
    }
}

/// One call of a session.
pub(crate) struct Act<'a> {
    pub beat: &'a Beat,
    pub call: &'a Call,
    pub fault: Option<Fault>,
    /// It looks at something and changes nothing.
    pub looks: bool,
}

impl Act<'_> {
    pub(crate) fn changes(&self) -> bool {
        self.call.changed_files()
    }

    /// What it is called: the program with its sub-command, or the tool.
    pub(crate) fn tool(&self) -> &str {
        if self.call.runner.is_empty() { &self.call.name } else { &self.call.runner }
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

    /// The name of its repository in loci and titles.
    pub(crate) fn place(&self) -> &str {
        self.repo.as_deref().unwrap_or("no repository")
    }

    /// Calls of its own thread.
    pub(crate) fn main(&self) -> &[Act<'a>] {
        let end = self.acts.iter().position(|act| act.beat.thread != 0).unwrap_or(self.acts.len());
        self.acts.get(..end).unwrap_or_default()
    }

    fn minutes(&self) -> u64 {
        self.trace.active_ms() / 60_000
    }

    fn calls_to_edit(&self) -> Option<u64> {
        self.main().iter().position(Act::changes).map(|at| at as u64)
    }

    /// Names the prompt of a session that changed nothing and was short.
    fn check(&self) -> Option<String> {
        let mut requests = self.trace.requests();
        let (Some((_, prompt)), None) = (requests.next(), requests.next()) else { return None };
        let is_short = self.acts.len() <= CHECK_CALLS_MAX;
        let changed = self.acts.iter().any(Act::changes) || !self.trace.commits.is_empty();
        (is_short && !changed)
            .then(|| name_of(&retro_text::fingerprint::normal(&shortened(prompt, 200)).to_lowercase()))
    }

    /// What these calls, in their order, used.
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

    /// What a call ran or changed, as evidence.
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

    /// A path below the working directory without it.
    pub(crate) fn relative<'p>(&self, path: &'p str) -> &'p str {
        let cwd = self.trace.cwd.as_deref().unwrap_or_default();
        let rest = path
            .strip_prefix(cwd)
            .filter(|_| !cwd.is_empty())
            .map(|rest| rest.trim_start_matches(['/', '\\']));
        rest.filter(|rest| !rest.is_empty()).unwrap_or(path)
    }

    /// The remedy of what failed last at `place`, and where it passed.
    pub(crate) fn remedy(&self, place: usize) -> Option<(remedy::Found, usize)> {
        remedy::after(self, place)
    }
}
