//! One session in memory, bounded: what signals, outcome and digest read.
//!
//! A trace is made in one pass over settled events. A call and its result become one
//! [`Call`], judged while its output is there; of the output itself only what later
//! readers need is kept. Copies made by resume or fork and branches that were rewound
//! are left out, so nothing counts twice.

mod build;
mod call;
mod commits;

use std::collections::BTreeMap;

use hashbrown::HashMap;
use retro_model::{Asked, Kind, SessionKey, Timestamp, Tokens};
use smol_str::SmolStr;

use crate::clock::Clock;

pub(crate) use build::is_act;
pub(crate) use call::cut;
pub use call::{Call, Edited};
pub use commits::CommitSeen;

/// Bytes that the beats of a trace may take, and how many there may be. Of a larger session the
/// middle is left out.
const BEATS_BYTES_MAX: usize = 20 * 1024 * 1024;
const BEATS_MAX: usize = 100_000;
/// Bytes of a text that are kept.
const TEXT_BYTES_MAX: usize = 4 * 1024;

/// A session and its sub-agents, in the order in which things happened on each thread.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Which session.
    pub key: SessionKey,
    /// What happened.
    pub beats: Vec<Beat>,
    /// Events by kind; copies and rewound ones left out.
    pub kinds: BTreeMap<Kind, u64>,
    /// Events without a time.
    pub untimed: u64,
    /// Of these, words and calls: what every agent writes a time for.
    pub untimed_acts: u64,
    /// Records that the adapter does not know: the first few.
    pub unknown: Vec<String>,
    /// Tokens of the session's own thread.
    pub tokens: Tokens,
    /// Tokens of its sub-agents.
    pub tokens_below: Tokens,
    /// The longest prompt of any response on the main thread, with its model.
    pub prompt_max: Option<(u64, Option<String>)>,
    /// Secrets that were taken out, by rule, with the events that held them.
    pub secrets: BTreeMap<String, u64>,
    /// The first events that held one.
    pub secret_events: Vec<String>,
    /// Events whose text came from outside: web, MCP.
    pub external: Vec<String>,
    /// How many there are of these.
    pub external_count: u64,
    /// Commits that the session's own output shows.
    pub commits: Vec<CommitSeen>,
    /// First and last time.
    pub first: Option<Timestamp>,
    /// See `first`.
    pub last: Option<Timestamp>,
    /// The first working directory.
    pub cwd: Option<String>,
    /// Where the time of the main thread went.
    pub clock: Clock,
    /// Sub-agents: child sessions and threads.
    pub children: Vec<String>,
    /// Beats of the middle that were left out because the session is too large.
    pub left_out: u64,
    /// What the beats take: the sum of their [weights](Beat::weight).
    bytes: usize,
    /// Where calls are, by a hash of their thread and id.
    open: HashMap<u64, usize>,
    threads: HashMap<SmolStr, u32>,
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub struct Beat {
    /// The event: its id, or `agent/session#id` for one of a child session.
    pub id: String,
    /// Which line of work; 0 is the session's own.
    pub thread: u32,
    /// Turn on that thread.
    pub turn: u32,
    /// When.
    pub ts: Option<Timestamp>,
    /// What.
    pub what: What,
    /// How it came to be asked, where it asks the agent for something.
    pub asked: Option<Asked>,
    /// The words in it that a person typed: parts of its text, [`PARTS`] between them. Nothing
    /// else is ever a person's own words.
    pub typed: String,
}

/// Separates parts of a text that do not follow each other.
pub const PARTS: &str = "\n\n\n";

impl Beat {
    /// Whether the session's own thread is asked for something.
    pub fn is_request(&self) -> bool {
        self.thread == 0 && self.asked.is_some()
    }

    /// About how many bytes it takes.
    fn weight(&self) -> usize {
        let what = match &self.what {
            What::Call(call) => call.weight(),
            What::Said { text, .. }
            | What::Thought { text }
            | What::Answer { text }
            | What::Denial { text, .. }
            | What::Error { text } => text.len(),
            What::Compaction | What::Interruption => 0,
        };
        size_of::<Beat>() + self.id.len() + self.typed.len() + what
    }
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The person.
    User,
    /// The model.
    Model,
    /// Anybody else: a parent agent, the program.
    Other,
}

/// What happened.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum What {
    /// Words; `typed` where they were given another way than as a message: as an answer
    /// to a question, or with a refusal.
    Said {
        by: Speaker,
        text: String,
    },
    Thought {
        text: String,
    },
    Call(Box<Call>),
    /// The person answered a question of the agent in own words or by choosing.
    Answer {
        text: String,
    },
    Compaction,
    Interruption,
    /// A call was refused, by the person or by a rule, with what the person wrote.
    Denial {
        by_person: bool,
        text: String,
        /// A field of the log says that the person wrote it.
        is_proven: bool,
    },
    Error {
        text: String,
    },
}

impl Trace {
    /// Every call. Programs that only ran other calls are left out, and calls that only ask
    /// how another goes on.
    pub fn calls(&self) -> impl Iterator<Item = (&Beat, &Call)> {
        self.beats.iter().filter_map(|beat| match &beat.what {
            What::Call(call) if !call.has_nested && call.polls.is_none() => Some((beat, &**call)),
            _ => None,
        })
    }

    /// Milliseconds in which somebody worked on the main thread; 0 where the log has no times.
    pub fn active_ms(&self) -> u64 {
        self.clock.read().map_or(0, |(active, _)| u64::try_from(active).unwrap_or(0))
    }

    /// Calls of scripts of which it could not be read what they ran.
    pub fn unread_calls(&self) -> impl Iterator<Item = &Beat> {
        self.calls().filter(|(_, call)| call.is_unread).map(|(beat, _)| beat)
    }

    /// Calls of the session's own thread.
    pub fn main_calls(&self) -> impl Iterator<Item = (&Beat, &Call)> {
        self.calls().filter(|(beat, _)| beat.thread == 0)
    }

    /// What the session's own thread was asked to do, by a person or in a person's name: a
    /// message, a command, a plan that was accepted, a prompt of a program.
    pub fn requests(&self) -> impl Iterator<Item = (&Beat, &str)> {
        self.beats.iter().filter_map(|beat| match &beat.what {
            What::Said { text, .. } if beat.is_request() => Some((beat, text.as_str())),
            _ => None,
        })
    }

    /// Messages in the person's name; what of them was typed stands in [`Beat::typed`].
    pub fn prompts(&self) -> impl Iterator<Item = (&Beat, &str)> {
        self.said(Speaker::User)
    }

    /// What somebody said.
    pub fn said(&self, speaker: Speaker) -> impl Iterator<Item = (&Beat, &str)> {
        self.beats.iter().filter_map(move |beat| match &beat.what {
            What::Said { by, text } if *by == speaker => Some((beat, text.as_str())),
            _ => None,
        })
    }

    /// Events in all.
    pub fn events(&self) -> u64 {
        self.kinds.values().sum()
    }

    /// The beats of each thread, the main one first.
    pub fn threads(&self) -> Vec<Vec<&Beat>> {
        let mut threads: BTreeMap<u32, Vec<&Beat>> = BTreeMap::new();
        for beat in &self.beats {
            threads.entry(beat.thread).or_default().push(beat);
        }
        threads.into_values().collect()
    }

    /// Takes in the trace of a child session: its events count as sub-agent work here.
    pub fn fold(&mut self, child: Trace) {
        let base = self.beats.iter().map(|beat| beat.thread).max().unwrap_or(0) + 1;
        let address = |id: &str| {
            if id.contains('#') {
                id.to_owned()
            } else {
                format!("{}/{}#{id}", child.key.agent, child.key.id)
            }
        };
        for mut beat in child.beats {
            beat.id = address(&beat.id);
            beat.thread += base;
            if let What::Said { by: by @ Speaker::User, .. } = &mut beat.what {
                // The words to a sub-agent are its parent's.
                *by = Speaker::Other;
            }
            self.bytes += beat.weight();
            self.beats.push(beat);
        }
        for (kind, count) in child.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        self.untimed += child.untimed;
        self.untimed_acts += child.untimed_acts;
        self.unknown.extend(child.unknown.iter().map(|id| address(id)));
        self.tokens_below = self.tokens_below.plus(&child.tokens).plus(&child.tokens_below);
        for (rule, count) in child.secrets {
            *self.secrets.entry(rule).or_default() += count;
        }
        self.secret_events.extend(child.secret_events.iter().map(|id| address(id)));
        self.external.extend(child.external.iter().map(|id| address(id)));
        self.external_count += child.external_count;
        let commits =
            child.commits.into_iter().map(|commit| CommitSeen { event: address(&commit.event), ..commit });
        self.commits.extend(commits);
        self.first = self.first.into_iter().chain(child.first).min();
        self.last = self.last.max(child.last);
        let name = child.key.id.clone();
        if !self.children.contains(&name) {
            self.children.push(name);
        }
        self.left_out += child.left_out;
        self.shorten();
    }
}
