//! One session in memory, bounded: what signals, outcome and digest read.
//!
//! A trace is made in one pass over settled events. A call and its result become one [`Call`],
//! judged while its output is in memory. Only the parts of the output that later readers need are
//! kept. Copies made by resume or fork and branches that were rewound are left out, so nothing
//! counts twice.

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

/// The most bytes of a trace's beats, and the most beats. The middle of a larger session is left
/// out.
const BEATS_BYTES_MAX: usize = 20 * 1024 * 1024;
const BEATS_MAX: usize = 100_000;
/// The most bytes of a text that are kept.
const TEXT_BYTES_MAX: usize = 4 * 1024;

/// A session and its sub-agents, in order of events on each thread.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The session's agent and id.
    pub key: SessionKey,
    /// The beats, in order.
    pub beats: Vec<Beat>,
    /// Events by kind, without copies and rewound ones.
    pub kinds: BTreeMap<Kind, u64>,
    /// Events without a time.
    pub untimed: u64,
    /// Of these, texts and calls, for which every agent writes a time.
    pub untimed_acts: u64,
    /// The first few records that the adapter does not know.
    pub unknown: Vec<String>,
    /// Tokens of the session's own thread.
    pub tokens: Tokens,
    /// Tokens of its sub-agents.
    pub tokens_below: Tokens,
    /// The longest prompt of any response on the main thread, with its model.
    pub prompt_max: Option<(u64, Option<String>)>,
    /// Numbers of removed secrets, by rule.
    pub secrets: BTreeMap<String, u64>,
    /// The first events that contained a secret.
    pub secret_events: Vec<String>,
    /// The first events with text from outside: web, MCP.
    pub external: Vec<String>,
    /// The number of all such events.
    pub external_count: u64,
    /// Commits in the session's own output.
    pub commits: Vec<CommitSeen>,
    /// The time of the first event.
    pub first: Option<Timestamp>,
    /// The time of the last event.
    pub last: Option<Timestamp>,
    /// The first working directory.
    pub cwd: Option<String>,
    /// The time of the main thread, by activity.
    pub clock: Clock,
    /// Sub-agents: child sessions and threads.
    pub children: Vec<String>,
    /// Beats of the middle that were left out because the session is too large.
    pub left_out: u64,
    /// The size of the beats: the sum of their [weights](Beat::weight).
    bytes: usize,
    /// Positions of calls, by a hash of their thread and id.
    open: HashMap<u64, usize>,
    threads: HashMap<SmolStr, u32>,
}

/// One event of a trace.
#[derive(Debug, Clone)]
pub struct Beat {
    /// The event's id, or `agent/session#id` for one of a child session.
    pub id: String,
    /// The number of the thread. 0 is the session's own.
    pub thread: u32,
    /// The turn on that thread.
    pub turn: u32,
    /// The time, if it is in the log.
    pub ts: Option<Timestamp>,
    /// The kind of event, with its data.
    pub what: What,
    /// The origin of the request, if it is one.
    pub asked: Option<Asked>,
    /// The words in it that a person typed: parts of its text, separated by [`PARTS`]. No other
    /// text is ever attributed to a person.
    pub typed: String,
}

/// Separates parts of a text that are not adjacent.
pub const PARTS: &str = "\n\n\n";

impl Beat {
    /// True for a request to the session's own thread.
    pub fn is_request(&self) -> bool {
        self.thread == 0 && self.asked.is_some()
    }

    /// Approximate size in bytes.
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

/// The author of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The person who uses the agent.
    User,
    /// The model itself.
    Model,
    /// Any other author: a parent agent, the program.
    Other,
}

/// The kind of a beat.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum What {
    /// A text, with its author.
    Said {
        by: Speaker,
        text: String,
    },
    Thought {
        text: String,
    },
    Call(Box<Call>),
    /// The person answered a question of the agent in their own words or by choosing.
    Answer {
        text: String,
    },
    Compaction,
    Interruption,
    /// A call was refused, by the person or by a rule, with the person's comment.
    Denial {
        by_person: bool,
        text: String,
        /// True if a field of the log proves that the person wrote it.
        is_proven: bool,
    },
    Error {
        text: String,
    },
}

impl Trace {
    /// Every call, except programs that only ran other calls and calls that only poll another one.
    pub fn calls(&self) -> impl Iterator<Item = (&Beat, &Call)> {
        self.beats.iter().filter_map(|beat| match &beat.what {
            What::Call(call) if !call.has_nested && call.polls.is_none() => Some((beat, &**call)),
            _ => None,
        })
    }

    /// Milliseconds of work on the main thread. 0 if the log has no times.
    pub fn active_ms(&self) -> u64 {
        self.clock.read().map_or(0, |(active, _)| u64::try_from(active).unwrap_or(0))
    }

    /// Calls in scripts whose commands could not be read.
    pub fn unread_calls(&self) -> impl Iterator<Item = &Beat> {
        self.calls().filter(|(_, call)| call.is_unread).map(|(beat, _)| beat)
    }

    /// Calls of the session's own thread.
    pub fn main_calls(&self) -> impl Iterator<Item = (&Beat, &Call)> {
        self.calls().filter(|(beat, _)| beat.thread == 0)
    }

    /// The requests to the session's own thread, by a person or in a person's name: a message, a
    /// command, an accepted plan, a prompt of a program.
    pub fn requests(&self) -> impl Iterator<Item = (&Beat, &str)> {
        self.beats.iter().filter_map(|beat| match &beat.what {
            What::Said { text, .. } if beat.is_request() => Some((beat, text.as_str())),
            _ => None,
        })
    }

    /// Messages in the person's name. [`Beat::typed`] has their typed parts.
    pub fn prompts(&self) -> impl Iterator<Item = (&Beat, &str)> {
        self.said(Speaker::User)
    }

    /// The texts of a speaker.
    pub fn said(&self, speaker: Speaker) -> impl Iterator<Item = (&Beat, &str)> {
        self.beats.iter().filter_map(move |beat| match &beat.what {
            What::Said { by, text } if *by == speaker => Some((beat, text.as_str())),
            _ => None,
        })
    }

    /// The number of all events.
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

    /// Adds the trace of a child session: its events count as sub-agent work here.
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
                // Messages to a sub-agent are its parent's.
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
