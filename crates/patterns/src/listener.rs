//! Collects the events of one session, and runs every detector over it.

use hashbrown::HashMap;
use retro_insight::{Settings, Trace};
use retro_model::{Event, Origin as Said, SessionKey};
use retro_text::calls::understand;

use crate::buckets::Buckets;
use crate::detectors::DETECTORS;
use crate::session::Session;
use crate::sign::SessionSigns;

/// The most signs of one session.
const SIGNS_MAX: usize = 60;

/// Facts about a session besides its events.
#[derive(Debug, Clone, Default)]
pub struct Origin {
    /// Its parent session, if it is a sub-agent.
    pub parent: Option<String>,
    /// The last part of its working directory.
    pub repo: Option<String>,
    /// Identifies its captured bytes.
    pub source: String,
}

/// Collects the events of a session as they arrive.
pub struct Listener {
    trace: Trace,
    changes: HashMap<String, String>,
    ours: hashbrown::HashSet<String>,
}

/// The most characters of a quoted line of an edit.
const CHANGE_CHARS_MAX: usize = 90;

impl Listener {
    /// A listener before the first event.
    pub fn new(key: SessionKey) -> Listener {
        Listener { trace: Trace::new(key), changes: HashMap::new(), ours: Default::default() }
    }

    /// Adds the next settled event. Retro's own output in a transcript is ignored.
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

/// A change of one or two lines, as text.
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
