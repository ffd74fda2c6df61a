//! Where a log cannot tell what was billed, and why. Each exception is a property
//! of the answer and its log, never the name of a scenario, and covers either a
//! whole answer that is in no log or some fields of one that is. What is not here
//! must be equal; what is here and no answer needs fails the test.

use retro_model::{Exactness, LedgerRow};

use crate::billed::{Billed, Field, Figures};
use crate::scenario::Scenario;

/// Something that a log cannot know.
pub(crate) struct Exception {
    pub(crate) agent: &'static str,
    pub(crate) name: &'static str,
    /// Why the log cannot know better, and where the format says so.
    pub(crate) why: &'static str,
    covers: Covers,
}

enum Covers {
    /// A line that no row of ours is.
    Line(fn(&Scenario, &Billed) -> bool),
    /// These fields of a row, and no others.
    Fields(&'static [Field], fn(&Scenario, &Pair) -> bool),
}

/// A line and the row of ours that it is.
pub(crate) struct Pair<'a> {
    pub(crate) billed: &'a Billed,
    pub(crate) ours: &'a Figures,
    pub(crate) row: &'a LedgerRow,
}

/// The exception that lets a line be in no log. Never for an answer whose id and
/// figures stand on a line of one.
pub(crate) fn line_exception(scenario: &Scenario, billed: &Billed) -> Option<&'static Exception> {
    if scenario.has_line_with(&[&format!("\"{}\"", billed.response_id), "\"usage\""]) {
        return None;
    }
    EXCEPTIONS.iter().find(|exception| {
        let covers = match exception.covers {
            Covers::Line(holds) => holds(scenario, billed),
            Covers::Fields(..) => false,
        };
        exception.agent == scenario.agent && covers
    })
}

/// The exceptions that hold for a row, and the fields they are for.
pub(crate) fn field_exceptions(
    scenario: &Scenario,
    pair: &Pair,
) -> impl Iterator<Item = (&'static str, &'static [Field])> {
    EXCEPTIONS.iter().filter_map(|exception| match exception.covers {
        Covers::Fields(fields, holds) if exception.agent == scenario.agent && holds(scenario, pair) => {
            Some((exception.name, fields))
        }
        _ => None,
    })
}

/// Every exception, by agent and name.
pub(crate) const EXCEPTIONS: &[Exception] = &[
    Exception {
        agent: "claude",
        name: "broken stream",
        why: "a stream that broke is tried again, and only the answer that came whole is logged (claude.md 8.3)",
        covers: Covers::Line(|_, billed| billed.kind == "main" && !billed.delivered),
    },
    Exception {
        agent: "claude",
        name: "compaction",
        why: "the answer that makes the summary is not logged (claude.md 8.3)",
        covers: Covers::Line(|_, billed| billed.kind == "compaction"),
    },
    Exception {
        agent: "claude",
        name: "output before the end",
        why: "no line of the answer has a stop_reason: all were written before its output was known (claude.md 8.3)",
        covers: Covers::Fields(&[Field::Output], |scenario, pair| {
            let lines = scenario.messages(&pair.billed.response_id);
            lines.iter().all(|line| line["message"]["stop_reason"].is_null())
                && pair.row.exactness == Exactness::LowerBound
                && pair.ours.output < pair.billed.figures.output
        }),
    },
    Exception {
        agent: "claude",
        name: "reasoning not told",
        why: "thinking tokens are logged by 2.1.325, not by the older versions (claude.md 8.1)",
        covers: Covers::Fields(&[Field::Reasoning], |scenario, pair| {
            let lines = scenario.messages(&pair.billed.response_id);
            lines.iter().all(|line| line["message"]["usage"].get("output_tokens_details").is_none())
                && pair.ours.reasoning == 0
        }),
    },
    Exception {
        agent: "claude",
        name: "side call",
        why: "titles, names and other calls of the program itself are not logged (claude.md 8.3)",
        covers: Covers::Line(|_, billed| billed.kind == "side"),
    },
    Exception {
        agent: "claude",
        name: "start-up call",
        why: "a resume of 2.0.42 asks under an id that it then gives up, and logs the one that it resumes (claude.md 1)",
        covers: Covers::Fields(&[Field::Session], |scenario, pair| {
            let lines = scenario.messages(&pair.billed.response_id);
            pair.billed.kind == "side"
                && !scenario.has_log_of(&pair.billed.figures.session)
                && lines.iter().all(|line| line["sessionId"] == pair.ours.session.as_str())
        }),
    },
    Exception {
        agent: "codex",
        name: "cache life not told",
        why: "cache_write_input_tokens is one figure (codex.md 8)",
        covers: Covers::Fields(CACHE_LIFE, |_, pair| is_unsplit(pair)),
    },
    Exception {
        agent: "codex",
        name: "cut before its end",
        why: "usage comes with response.completed, which never came (codex.md 8 c)",
        covers: Covers::Line(|_, billed| !billed.delivered),
    },
    Exception {
        agent: "codex",
        name: "interrupted round",
        why: "0.42 and older write a round when it ends, and this one never did (codex.md 8 d)",
        covers: Covers::Line(|scenario, billed| {
            let session = &billed.figures.session;
            scenario.version <= (0, 42)
                && scenario.interrupted
                && billed.is_last
                && scenario.tells_gap(session)
        }),
    },
    Exception {
        agent: "codex",
        name: "log without usage",
        why: "0.8 to 0.29 log no usage at all, and 0.42 none over the chat interface (codex.md 8 e and f)",
        covers: Covers::Line(|scenario, billed| {
            let session = &billed.figures.session;
            scenario.has_log_of(session)
                && !scenario.log_says(session, "\"last_token_usage\"")
                && !scenario.log_says(session, "\"token_usage_record\"")
                && scenario.tells_gap(session)
        }),
    },
    Exception {
        agent: "codex",
        name: "thread without a file",
        why: "title calls and ephemeral runs are threads that leave no file (codex.md 8 a and b)",
        covers: Covers::Line(|scenario, billed| !scenario.has_log_of(&billed.figures.session)),
    },
    Exception {
        agent: "grok",
        name: "cache life not told",
        why: "cacheCreationTokens is one figure (grok.md 6)",
        covers: Covers::Fields(CACHE_LIFE, |_, pair| is_unsplit(pair)),
    },
    Exception {
        agent: "grok",
        name: "compaction",
        why: "the answer that makes the summary is not in the usage of any turn (grok.md 6)",
        covers: Covers::Line(|_, billed| billed.kind == "compaction"),
    },
    Exception {
        agent: "grok",
        name: "cut stream",
        why: "a turn's usage is of the answers that were delivered (grok.md 6)",
        covers: Covers::Line(|_, billed| billed.kind == "main" && !billed.delivered),
    },
    Exception {
        agent: "grok",
        name: "killed turn",
        why: "usage is written when a turn ends, and this one was killed (grok.md 6)",
        covers: Covers::Line(|scenario, billed| {
            billed.kind == "main"
                && !scenario.has_line_with(&["turn_completed", &billed.request_id])
                && scenario.tells_gap(&billed.figures.session)
        }),
    },
    Exception {
        agent: "grok",
        name: "reasoning not told",
        why: "the messages interface does not split the output (grok.md 6)",
        covers: Covers::Fields(&[Field::Reasoning], |_, pair| {
            pair.billed.api == "messages" && pair.ours.reasoning == 0
        }),
    },
    Exception {
        agent: "grok",
        name: "side call",
        why: "titles, turn summaries and suggestions are in the usage of no turn (grok.md 6)",
        covers: Covers::Line(|_, billed| billed.kind == "side"),
    },
];

const CACHE_LIFE: &[Field] = &[Field::CacheWrite5m, Field::CacheWrite1h, Field::CacheWriteUnsplit];

/// All that was written to a cache is told, but not for how long.
fn is_unsplit(pair: &Pair) -> bool {
    pair.ours.cache_write_unsplit == pair.billed.figures.cache_write()
        && pair.ours.cache_write_5m + pair.ours.cache_write_1h == 0
}
