//! The head of a session: all data needed before its text is read.

use retro::model::{Coverage, Kind};
use retro::views::{SessionView, gap_line};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

use super::ending::Went;
use super::ribbon::{Ribbon, ribbon};
use retro::views::readable::{line, plain};
use retro::views::session::context::{Context, context};
use retro::views::session::family::{Family, Line};
use retro::views::session::files::FileRow;
use retro::views::session::moments::Moment;
use retro::views::session::money::{Kinds, Ledger, ModelSum, Sum, by_kind, by_model};
use retro::views::session::time::{Row, Span, active_ms, rows};
use retro::views::session::turns::TurnHead;

/// Maximum gaps on the page.
const GAPS_MAX: usize = 50;

/// Maximum events linked from a part of the sentence.
const SAID_IDS_MAX: usize = 8;

/// The head. Skipped fields are in separate chunks. See [`super::spread`].
#[derive(Debug, Clone, Serialize)]
pub struct Head<'a> {
    /// `retro.page.session/1`.
    pub schema: &'static str,
    /// The session, as `list` prints it.
    pub session: &'a SessionView,
    /// Program versions that wrote it.
    pub versions: Vec<String>,
    /// Models that answered.
    pub models: Vec<String>,
    /// Events by kind.
    pub event_counts: BTreeMap<Kind, u64>,
    /// The mapping of its records to events.
    pub coverage: Coverage,
    /// Parts that could not be read.
    pub gaps: Vec<String>,
    /// Events in the middle of a very large session that are left out.
    pub left_out: u64,
    /// A summary in words. Each part links to its events.
    pub sentence: Vec<Said>,
    /// Lines of work, the session's own first.
    pub lines: Vec<LineHead>,
    /// Turns of all lines.
    #[serde(skip)]
    pub turns: Vec<TurnHead>,
    /// Turning points and failures.
    #[serde(skip)]
    pub moments: Vec<Moment>,
    /// Time spent per activity.
    pub time: Vec<Row>,
    /// Time in which the model or a tool was working on the session's main line.
    pub active_ms: i64,
    /// Usage and cost, including sub-agents.
    pub sum: Sum,
    /// The cost by kind of token.
    #[serde(skip)]
    pub kinds: Kinds,
    /// The cost by model.
    #[serde(skip)]
    pub by_model: Vec<ModelSum>,
    /// The contents of the context.
    #[serde(skip)]
    pub context: Context,
    /// Files changed on disk.
    #[serde(skip)]
    pub files: Vec<FileRow>,
    /// The timeline of all lines.
    #[serde(skip)]
    pub ribbon: Ribbon,
    /// Finds the turn of an event: by source, the records at which a turn begins.
    pub index: BTreeMap<String, Vec<(u64, usize)>>,
    /// The number of turn chunks.
    pub parts: usize,
    /// Outcome and quality. Null without a digest.
    pub digest: Option<Went>,
}

/// A part of the sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    /// The part's words.
    pub text: String,
    /// Events that show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// The tone: `bad`, `warn`, or none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub tone: &'static str,
}

/// A line of work.
#[derive(Debug, Clone, Serialize)]
pub struct LineHead {
    /// `main`, or the sub-agent's name.
    pub name: String,
    /// The sub-agent's task.
    pub task: String,
    /// The line that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// Its session, unless the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Time of its first event.
    pub from: Option<i64>,
    /// Time of its last event.
    pub to: Option<i64>,
    /// Number of calls.
    pub calls: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Usage and cost of its own responses.
    pub sum: Sum,
    /// The turn whose call started it, as an index in the head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
}

/// The inputs of a head.
pub struct Parts<'a, 'f> {
    /// The session's row.
    pub view: &'a SessionView,
    /// The session with its sub-agents.
    pub family: &'a Family,
    /// Their lines of work.
    pub lines: &'a [Line<'f>],
    /// Their responses and cost.
    pub ledger: &'a Ledger,
    /// Their turns, in order.
    pub turns: Vec<TurnHead>,
    /// The turn in which each line was started.
    pub callers: HashMap<usize, usize>,
    /// The stretches of time of each line.
    pub spans: Vec<Vec<Span>>,
    /// Files changed on disk.
    pub files: Vec<FileRow>,
    /// Turning points and failures.
    pub moments: Vec<Moment>,
    /// Line and turn of every event.
    pub places: &'a HashMap<String, (usize, u32)>,
    /// The number of turn chunks.
    pub parts: usize,
    /// Outcome and quality.
    pub went: Option<Went>,
}

/// Sums up a session.
pub fn head<'a>(parts: Parts<'a, '_>) -> Head<'a> {
    let Parts { view, family, lines, ledger, turns, callers, spans, files, moments, places, parts, went } =
        parts;
    let mut sum = Sum::default();
    ledger.responses.iter().for_each(|response| sum.add(&response.explained));
    let own = family.members.first();
    let sentence = sentence(&turns, &moments, &files, lines);
    Head {
        schema: "retro.page.session/1",
        session: view,
        versions: own.map_or(Vec::new(), |own| own.versions.clone()),
        models: own.map_or(Vec::new(), |own| own.models.clone()),
        event_counts: own.map_or(BTreeMap::new(), |own| own.event_counts.clone()),
        coverage: own.map_or(Coverage::default(), |own| own.coverage),
        gaps: family.members.iter().flat_map(|one| &one.gaps).take(GAPS_MAX).map(gap_line).collect(),
        left_out: family.members.iter().map(|member| member.left_out).sum(),
        sentence,
        digest: went,
        lines: line_heads(lines, family, &turns, &callers),
        index: index(&turns, places),
        turns,
        moments,
        time: spans.first().map_or(Vec::new(), |own| rows(own)),
        active_ms: spans.first().map_or(0, |own| active_ms(own)),
        sum,
        kinds: by_kind(ledger),
        by_model: by_model(ledger),
        context: context(family, lines, ledger),
        files,
        ribbon: ribbon(&spans),
        parts,
    }
}

fn line_heads(
    lines: &[Line<'_>],
    family: &Family,
    turns: &[TurnHead],
    callers: &HashMap<usize, usize>,
) -> Vec<LineHead> {
    let mut of_line: HashMap<usize, Vec<&TurnHead>> = HashMap::new();
    for turn in turns {
        of_line.entry(turn.line).or_default().push(turn);
    }
    let heads = lines.iter().enumerate().map(|(number, work)| {
        let own = of_line.remove(&number).unwrap_or_default();
        let session = family.members.get(work.member).filter(|_| work.member > 0);
        LineHead {
            name: plain(&work.name),
            task: own.iter().find(|turn| !turn.text.is_empty()).map(|t| t.text.clone()).unwrap_or_default(),
            parent: work.started_by.map(|(parent, _)| parent),
            session_id: session.map(|member| member.key.id.clone()),
            from: own.iter().filter_map(|turn| turn.ts).min(),
            to: own.iter().filter_map(|turn| turn.end).max(),
            calls: own.iter().map(|turn| turn.calls).sum(),
            failed: own.iter().map(|turn| turn.failed).sum(),
            sum: own.iter().fold(Sum::default(), |sum, turn| added(sum, turn.sum)),
            turn: callers.get(&number).copied(),
        }
    });
    heads.collect()
}

fn added(a: Sum, b: Sum) -> Sum {
    Sum {
        nano: match (a.nano, b.nano) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        },
        at_least: a.at_least || b.at_least,
        input: a.input + b.input,
        cache_write: a.cache_write + b.cache_write,
        cache_read: a.cache_read + b.cache_read,
        output: a.output + b.output,
        responses: a.responses + b.responses,
    }
}

/// Describes the session in words.
fn sentence(turns: &[TurnHead], moments: &[Moment], files: &[FileRow], lines: &[Line<'_>]) -> Vec<Said> {
    let mut said = Vec::new();
    let mut say = |text: String, ids: Vec<String>, tone| said.push(Said { text, ids, tone });
    let own = turns.iter().filter(|turn| turn.line == 0 && turn.n > 0).count() as u64;
    let calls: u64 = turns.iter().map(|turn| turn.calls).sum();
    say(many(own, "turn"), Vec::new(), "");
    say(many(calls, "call"), Vec::new(), "");
    let of = |kind: &str| moments.iter().filter(|moment| moment.kind == kind).collect::<Vec<_>>();
    let firsts = |list: &[&Moment]| {
        list.iter().filter_map(|moment| moment.ids.first().cloned()).take(SAID_IDS_MAX).collect()
    };
    let failed: u64 = turns.iter().map(|turn| turn.failed).sum();
    if failed > 0 {
        let streaks = of("failure");
        let open = streaks.iter().filter(|moment| !moment.text.ends_with("went well")).count() as u64;
        let tail = if open == 0 { ", all tried again with success" } else { "" };
        say(format!("{failed} failed{tail}"), firsts(&streaks), if open > 0 { "bad" } else { "warn" });
    }
    let corrected = of("correction");
    if !corrected.is_empty() {
        say(many(corrected.len() as u64, "correction"), firsts(&corrected), "warn");
    }
    for (kind, name, tone) in [
        ("denial", "denied", "warn"),
        ("interruption", "cut off", "warn"),
        ("limit", "stopped by a limit", "bad"),
        ("error", "an error outside of tools", "bad"),
        ("compaction", "context summarized", ""),
        ("rewind", "went back", ""),
        ("secret", "a secret in the log", "bad"),
        ("commit", "committed", ""),
    ] {
        let found = of(kind);
        match found.len() {
            0 => {}
            1 => say(name.to_owned(), firsts(&found), tone),
            times => say(format!("{name} {times} times"), firsts(&found), tone),
        }
    }
    let changed = files.iter().filter(|file| !file.edits.is_empty()).collect::<Vec<_>>();
    if !changed.is_empty() {
        let (added, removed): (u64, u64) =
            changed.iter().fold((0, 0), |(a, r), file| (a + file.added, r + file.removed));
        let first = changed.iter().filter_map(|file| file.edits.first().cloned()).take(1).collect();
        say(format!("{} changed +{added} −{removed}", many(changed.len() as u64, "file")), first, "");
    }
    let agents = lines.len().saturating_sub(1) as u64;
    if agents > 0 {
        say(many(agents, "sub-agent"), Vec::new(), "");
    }
    said
}

fn many(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// For each source, the records at which a new turn begins.
fn index(turns: &[TurnHead], places: &HashMap<String, (usize, u32)>) -> BTreeMap<String, Vec<(u64, usize)>> {
    let numbers: HashMap<(usize, u32), usize> =
        turns.iter().enumerate().map(|(at, turn)| ((turn.line, turn.n), at)).collect();
    let mut sources: BTreeMap<String, Vec<(u64, usize)>> = BTreeMap::new();
    for (name, place) in places {
        let Some((source, rest)) = name.rsplit_once(':') else { continue };
        let record = rest.split_once('.').map_or(rest, |(record, _)| record).parse();
        if let (Ok(record), Some(turn)) = (record, numbers.get(place)) {
            sources.entry(source.to_owned()).or_default().push((record, *turn));
        }
    }
    for list in sources.values_mut() {
        list.sort_unstable();
        list.dedup_by_key(|(_, turn)| *turn);
    }
    sources
}

/// Data for lists that the index does not have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Calls, sub-agents included.
    pub calls: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that were denied.
    pub denied: u64,
    /// Number of files changed.
    pub files: u64,
    /// Lines added in total.
    pub added: u64,
    /// Lines removed in total.
    pub removed: u64,
    /// Time in which the model or a tool was working.
    pub active_ms: i64,
    /// Number of sub-agents.
    pub agents: u64,
    /// Models that answered.
    pub models: Vec<String>,
    /// `secret`, `failed`, `limit`, `interrupted`, `gaps`, `large`.
    pub flags: Vec<String>,
    /// The last problem in the log, on one line.
    pub trouble: Option<String>,
    /// The reason for the outcome.
    pub reason: Option<String>,
    /// Number of corrections by the user.
    pub corrections: u64,
    /// True if it was real work, as far as known.
    pub real: bool,
    /// Number of file reads.
    pub looks: u64,
    /// Calls that edited a file.
    pub edits: u64,
    /// Changed files, at most twenty.
    pub paths: Vec<String>,
}

/// Sums up a head for lists.
pub fn summary(head: &Head<'_>) -> Summary {
    let has = |kind: &str| head.moments.iter().any(|moment| moment.kind == kind);
    let mut flags = Vec::new();
    for (is_set, name) in [
        (has("secret"), "secret"),
        (has("failure"), "failed"),
        (has("limit"), "limit"),
        (has("interruption"), "interrupted"),
        (has("denial"), "denied"),
        (!head.gaps.is_empty(), "gaps"),
        (head.left_out > 0, "large"),
    ] {
        if is_set {
            flags.push(name.to_owned());
        }
    }
    let changed = || head.files.iter().filter(|file| !file.edits.is_empty());
    let serious = ["failure", "limit", "error", "interruption"];
    let last = head.moments.iter().rev().find(|moment| {
        serious.contains(&moment.kind) && !moment.text.ends_with("went well") && moment.line == 0
    });
    Summary {
        calls: head.turns.iter().map(|turn| turn.calls).sum(),
        failed: head.turns.iter().map(|turn| turn.failed).sum(),
        denied: head.turns.iter().map(|turn| turn.denied).sum(),
        files: changed().count() as u64,
        added: changed().map(|file| file.added).sum(),
        removed: changed().map(|file| file.removed).sum(),
        active_ms: head.active_ms,
        agents: head.lines.len().saturating_sub(1) as u64,
        models: head.models.clone(),
        flags,
        reason: head.digest.as_ref().map(|went| line(&went.outcome.reason, 120)),
        corrections: head.digest.as_ref().map_or(0, |went| went.corrections.len() as u64),
        real: head.digest.as_ref().is_none_or(|went| went.quality.real),
        trouble: last.map(|moment| line(&moment.text, 120)),
        looks: head.files.iter().map(|file| file.reads).sum(),
        edits: changed().map(|file| file.edits.len() as u64).sum(),
        paths: changed().take(20).map(|file| file.path.clone()).collect(),
    }
}
