//! # What
//! A session asks again and again how a table, a tool or an interface looks, or changes a schema
//! back and forth.
//! # Why
//! What has to be looked up every time belongs into a file that the agent reads.
//! # How
//! Counts calls of one program that ask for a schema (`\d`, `.schema`, `describe`, `--help`,
//! tools in the bucket `schema`), and calls that were refused because their arguments do not fit.
//! Five make a thrash, or three that are equal.
//! # Limits
//! One look at each of a few tables is healthy. Buckets are set in `[detect.buckets]`.

use std::collections::BTreeMap;

use super::{Detector, always, sign, usual};
use crate::buckets::SCHEMA;
use crate::session::{Act, Session};
use crate::sign::{Polarity, Sign};
use retro_text::calls::Purpose;

pub(super) const DETECTOR: Detector = Detector {
    name: "schema_thrash",
    title: "the same schema is asked for again and again",
    polarity: Polarity::Problem,
    order: 6,
    source: include_str!("schema_thrash.rs"),
    detect,
    counts: always,
    usual: usual::once,
};

const CALLS_MIN: usize = 5;
const EQUAL_MIN: usize = 3;

/// Words of a command line that shows a schema.
const ASKS: &[&str] = &[
    "\\d ",
    "\\d+",
    "\\dt",
    "\\d\"",
    "\\d'",
    ".schema",
    "describe ",
    "desc ",
    "show create table",
    "show tables",
    "show columns",
    "information_schema",
    "--schema-only",
    "pragma table_info",
    "sqlite_master",
    "--help",
    "kubectl explain",
    "introspect",
    "openapi.json",
    "swagger.json",
    "list_tables",
    "describe_table",
];

/// Words of a response to wrong arguments.
const REFUSED: &[&str] = &[
    "inputvalidationerror",
    "invalid arguments",
    "invalid params",
    "missing required parameter",
    "unknown parameter",
    "required property",
    "unexpected argument",
    "does not match the schema",
    "no such column",
    "does not exist on table",
];

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let mut by_tool: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, act) in session.acts.iter().enumerate() {
        if asks(session, act) {
            let tool = act.tool().split(' ').next().unwrap_or_default();
            by_tool.entry(tool.to_owned()).or_default().push(place);
        }
    }
    let thrash = |(tool, places): (String, Vec<usize>)| {
        let acts = || places.iter().filter_map(|place| session.acts.get(*place));
        let mut equal: BTreeMap<&str, usize> = BTreeMap::new();
        acts().for_each(|act| *equal.entry(act.call.command.as_deref().unwrap_or("")).or_default() += 1);
        let most = equal
            .iter()
            .filter(|(command, _)| !command.is_empty())
            .map(|(_, count)| *count)
            .max()
            .unwrap_or(0);
        if places.len() < CALLS_MIN && most < EQUAL_MIN {
            return None;
        }
        let title = format!("the schema that {tool} knows is asked for again and again");
        let mut sign = sign(Polarity::Problem, format!("schema:{}", tool.to_lowercase()), title);
        sign.times = u32::try_from(places.len()).unwrap_or(u32::MAX);
        sign.evidence = acts().take(4).map(|act| session.did(act)).collect();
        sign.spent = session.spent(places.iter().copied());
        Some(sign)
    };
    by_tool.into_iter().filter_map(thrash).collect()
}

fn asks(session: &Session<'_>, act: &Act<'_>) -> bool {
    let refused = || {
        let lower = act.call.sample.as_deref().unwrap_or_default().to_lowercase();
        act.call.is_failed() && REFUSED.iter().any(|words| lower.contains(words))
    };
    // Search words and commit messages do not count.
    let is_text = act.call.command.is_some()
        && matches!(act.call.purpose, Purpose::Search | Purpose::Vcs | Purpose::Test | Purpose::Lint);
    let asked = || {
        let lower = act.call.command.as_deref().unwrap_or_default().to_lowercase();
        ASKS.iter().any(|words| lower.contains(words))
    };
    session.buckets.holds(SCHEMA, act.tool()) || (!is_text && asked()) || refused()
}
