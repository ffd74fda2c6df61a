//! One session as methods see it: its trace, repairs and outcome, and the words of its events, so
//! that every quotation can be checked.

use hashbrown::HashMap;
use retro_insight::{Beat, Call, Correction, Outcome, Quality, Settings, Trace, What};
use retro_model::{Event, Kind, Origin, SessionKey, Timestamp};
use retro_search::{Repair, Repairs};

use crate::candidate::{Candidate, Kind as Sort, Repository, Risk, Scope, Span, Voice};

/// Maximum quotable bytes of one event, from its head and tail.
const QUOTE_BYTES: usize = 6 * 1024;
/// Maximum lines of an edit, on either side, and maximum characters of each line, for the edit to
/// be described in words.
const CHANGE_LINES_MAX: usize = 2;
const CHANGE_CHARS_MAX: usize = 90;
/// Maximum quotable bytes of all events of a session.
const QUOTES_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Collects the events of a session.
pub struct Listener {
    trace: Trace,
    repairs: Repairs,
    quotes: Quotes,
    skipped: hashbrown::HashSet<String>,
}

/// The text of a session's events.
#[derive(Debug, Clone, Default)]
pub struct Quotes {
    texts: HashMap<String, (Voice, String)>,
    /// Text typed by a person, by event.
    typed: HashMap<String, String>,
    /// Edits small enough to describe, by the call's event.
    changes: HashMap<String, Change>,
    bytes: usize,
}

/// An edit of a line or two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// Removed lines, trimmed.
    pub removed: Vec<String>,
    /// Added lines, trimmed.
    pub added: Vec<String>,
}

impl Change {
    /// The change in the arguments of a call, if it is small enough to describe.
    fn of(args: &serde_json::Value) -> Option<Change> {
        let files = retro_text::diff::diffs(args, None);
        let [file] = files.as_slice() else { return None };
        let lines = |wanted: char| {
            let lines = file.rows.iter().filter(move |(sign, _)| *sign == wanted);
            lines.map(|(_, line)| line.trim()).filter(|line| !line.is_empty()).map(str::to_owned)
        };
        let change = Change { removed: lines('-').collect(), added: lines('+').collect() };
        let mut all = change.removed.iter().chain(&change.added);
        let is_told = |line: &String| {
            line.chars().count() <= CHANGE_CHARS_MAX
                && !line.contains(['`', '\t'])
                && !line.contains("[redacted:")
        };
        let is_small = change.removed.len() <= CHANGE_LINES_MAX && change.added.len() <= CHANGE_LINES_MAX;
        (is_small && change.removed != change.added && all.all(is_told)).then_some(change)
    }
}

/// Positions of beats by event. A call is also found by the event of its result.
struct Places(HashMap<String, usize>);

impl Places {
    fn of(trace: &Trace) -> Places {
        let mut places = HashMap::with_capacity(trace.beats.len());
        for (at, beat) in trace.beats.iter().enumerate() {
            places.entry_ref(&beat.id).or_insert(at);
            if let What::Call(call) = &beat.what
                && let Some(result) = &call.result_id
            {
                places.entry_ref(result).or_insert(at);
            }
        }
        Places(places)
    }

    fn get(&self, event_id: &str) -> Option<usize> {
        self.0.get(event_id).copied()
    }
}

/// A session, prepared for mining.
pub struct Episode {
    /// The session's key.
    pub key: SessionKey,
    /// The session's trace.
    pub trace: Trace,
    /// The position of each event and each call's result in the trace.
    places: Places,
    /// Failures and their repairs.
    pub repairs: Vec<Repair>,
    /// The text of its events.
    pub quotes: Quotes,
    /// Corrections by the user.
    pub corrections: Vec<Correction>,
    /// The outcome of the session.
    pub outcome: Outcome,
    /// Whether it was real work.
    pub quality: Quality,
    /// Its working directory.
    pub cwd: Option<String>,
    /// Its repository, from its log or git.
    pub repository: Repository,
    /// Identifies its captured bytes.
    pub source_hash: String,
}

impl Listener {
    /// A listener before the first event.
    pub fn new(key: SessionKey) -> Listener {
        Listener {
            trace: Trace::new(key),
            repairs: Repairs::default(),
            quotes: Quotes::default(),
            skipped: hashbrown::HashSet::new(),
        }
    }

    /// Takes the next settled event. Ignores retro's own output in a transcript, which contains
    /// nothing new.
    pub fn push(&mut self, event: &Event) {
        if self.is_our_own(event) {
            return;
        }
        self.trace.push(event);
        self.repairs.push(event);
        self.quotes.take(event);
    }

    fn is_our_own(&mut self, event: &Event) -> bool {
        if let Some(tool) = &event.tool {
            let ours = tool.command.as_ref().is_some_and(|command| {
                retro_text::calls::understand(command)
                    .main_step()
                    .is_some_and(|step| step.program() == "retro")
            });
            if ours {
                self.skipped.insert(tool.call_id.clone());
            }
            return ours;
        }
        if let Some(result) = &event.result {
            return self.skipped.remove(&result.call_id);
        }
        event.origin != Origin::User && event.text.as_ref().is_some_and(|text| text.contains("<retro "))
    }

    /// Completes the session.
    pub fn finish(
        self,
        settings: &Settings,
        cwd: Option<String>,
        repository: Repository,
        source_hash: String,
    ) -> Episode {
        let Listener { trace, repairs, quotes, .. } = self;
        Episode {
            key: trace.key.clone(),
            places: Places::of(&trace),
            corrections: trace.corrections(),
            outcome: trace.outcome(settings),
            quality: trace.quality(&settings.thresholds),
            cwd: cwd.or_else(|| trace.cwd.clone()),
            repairs: repairs.finish(),
            quotes,
            repository,
            source_hash,
            trace,
        }
    }
}

impl Quotes {
    fn take(&mut self, event: &Event) {
        if !event.live || event.copy_of.is_some() || self.bytes > QUOTES_BYTES_MAX {
            return;
        }
        let voice = match event.origin {
            Origin::User => Voice::User,
            Origin::Model | Origin::Agent => Voice::Model,
            Origin::External => Voice::External,
            Origin::Tool | Origin::Harness => Voice::Tool,
        };
        let mut text = String::new();
        match event.kind {
            Kind::User | Kind::Assistant | Kind::ToolResult | Kind::Denial | Kind::Error => {
                if let Some(said) = &event.text {
                    push_ends(&mut text, &plain_lines(said));
                }
            }
            Kind::ToolCall => {}
            _ => return,
        }
        if let Some(tool) = &event.tool {
            if let Some(command) = &tool.command {
                push_ends(&mut text, command);
            }
            for path in
                tool.paths.iter().map(|used| &used.path).chain(tool.edits.iter().map(|edit| &edit.path))
            {
                text.push('\n');
                text.push_str(path);
            }
            if let Some(change) =
                tool.args.as_ref().filter(|_| !tool.edits.is_empty()).and_then(|args| Change::of(args))
            {
                for line in change.removed.iter().chain(&change.added) {
                    text.push('\n');
                    text.push_str(line);
                }
                self.changes.insert(event.id.to_string(), change);
            }
        }
        for edit in event.result.iter().flat_map(|result| &result.edits) {
            text.push('\n');
            text.push_str(&edit.path);
        }
        if voice == Voice::User {
            let typed = retro_model::typed(event).join("\n\n\n");
            self.bytes += typed.len() + 48;
            self.typed.insert(event.id.to_string(), plain_lines(&typed));
        }
        self.bytes += text.len() + 48;
        self.texts.insert(event.id.to_string(), (voice, text));
    }

    /// Quotes with these event texts, for tests.
    #[cfg(test)]
    pub(crate) fn of(texts: &[(&str, &str)]) -> Quotes {
        let texts = texts.iter().map(|(id, text)| ((*id).to_owned(), (Voice::Model, (*text).to_owned())));
        Quotes { texts: texts.collect(), ..Quotes::default() }
    }

    /// True if an event contains these words, ignoring white space.
    pub fn hold(&self, event_id: &str, words: &str) -> bool {
        let Some((_, text)) = self.texts.get(event_id) else { return false };
        text.contains(words) || squeezed(text).contains(&squeezed(words))
    }

    /// The change made by the call of an event, if it is small enough to describe.
    pub fn change(&self, event_id: &str) -> Option<&Change> {
        self.changes.get(event_id)
    }

    /// The author of an event's words.
    pub fn voice(&self, event_id: &str) -> Option<Voice> {
        self.texts.get(event_id).map(|(voice, _)| *voice)
    }

    /// True if a person typed these words in the event.
    fn is_typed(&self, event_id: &str, words: &str) -> bool {
        let Some(typed) = self.typed.get(event_id) else { return false };
        typed.contains(words) || squeezed(typed).contains(&squeezed(words))
    }

    /// The text of an event.
    pub fn text(&self, event_id: &str) -> Option<&str> {
        self.texts.get(event_id).map(|(_, text)| text.as_str())
    }
}

/// A text as shown by a terminal, line by line.
fn plain_lines(text: &str) -> String {
    text.lines().map(retro_text::plain::plain).collect::<Vec<_>>().join("\n")
}

/// Appends the head and the tail of a text.
fn push_ends(to: &mut String, text: &str) {
    if text.len() <= QUOTE_BYTES {
        to.push_str(text);
        return;
    }
    to.push_str(&text[..text.floor_char_boundary(QUOTE_BYTES / 2)]);
    to.push('\n');
    to.push_str(&text[text.ceil_char_boundary(text.len() - QUOTE_BYTES / 2)..]);
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Episode {
    /// A summary of the session: its first prompt, shortened.
    pub fn task_summary(&self) -> String {
        let first = self.trace.requests().find(|(_, text)| !text.trim().is_empty());
        first.map_or(String::new(), |(_, text)| shortened(text, 220))
    }

    /// The preceding prompt of a beat on the main thread.
    pub fn prompt_before(&self, event_id: &str) -> Option<(&Beat, &str)> {
        let at = self.places.get(event_id)?;
        self.trace.beats.get(..at)?.iter().rev().find_map(|beat| match &beat.what {
            What::Said { text, .. } if beat.is_request() => Some((beat, text.as_str())),
            _ => None,
        })
    }

    /// The call with this event, either its own or its result's.
    pub fn call(&self, event_id: &str) -> Option<(&Beat, &Call)> {
        let beat = self.trace.beats.get(self.places.get(event_id)?)?;
        match &beat.what {
            What::Call(call) if !call.has_nested => Some((beat, call)),
            _ => None,
        }
    }

    /// A quotation, if the event contains the words.
    pub fn span(&self, event_id: &str, text: &str) -> Option<Span> {
        let text = text.trim();
        let voice = match self.quotes.voice(event_id)? {
            // The user pasted it, or a program composed it.
            Voice::User if !self.quotes.is_typed(event_id, text) => Voice::External,
            voice => voice,
        };
        (!text.is_empty() && self.quotes.hold(event_id, text)).then(|| Span {
            event_id: event_id.to_owned(),
            text: text.to_owned(),
            voice,
        })
    }

    /// A candidate with all fields that depend only on the session.
    pub fn candidate(&self, method: &str, kind: Sort, subject: String) -> Candidate {
        Candidate {
            id: String::new(),
            number: 0,
            method: method.to_owned(),
            kind,
            text: String::new(),
            when_to_use: String::new(),
            do_not_use_when: None,
            evidence_refs: Vec::new(),
            spans: Vec::new(),
            confidence: 0.5,
            priority: 3,
            scope: if self.cwd.is_some() { Scope::Repo } else { Scope::Task },
            scope_reason: String::new(),
            risk: Risk::Low,
            structured: None,
            origin_repo: self.cwd.clone(),
            repository: self.repository.clone(),
            origin: Voice::Model,
            subject,
            stance: String::new(),
            keywords: Vec::new(),
            files: Vec::new(),
            seen: 1,
            worked: 0,
            source_hash: self.source_hash.clone(),
            created_at: self.trace.last.or(self.trace.first),
            expires_at: None,
        }
    }

    /// The time of a beat or a call's result.
    pub fn time_of(&self, event_id: &str) -> Option<Timestamp> {
        self.trace.beats.get(self.places.get(event_id)?)?.ts
    }
}

/// A text on one line, with at most `chars_max` characters.
pub fn shortened(text: &str, chars_max: usize) -> String {
    let line = squeezed(text);
    match line.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}
