//! The head of a session: everything that is said of it before its text is read.

use retro::model::{Coverage, Kind};
use retro::views::{SessionView, gap_line};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

use super::ribbon::{Ribbon, ribbon};
use super::went::Went;
use retro::views::readable::{line, plain};
use retro::views::session::context::{Context, context};
use retro::views::session::family::{Family, Line};
use retro::views::session::files::FileRow;
use retro::views::session::moments::Moment;
use retro::views::session::money::{Kinds, Ledger, ModelSum, Sum, by_kind, by_model};
use retro::views::session::time::{Row, Span, active_ms, rows};
use retro::views::session::turns::TurnHead;

/// Gaps that the page gets.
const GAPS_MAX: usize = 50;

/// Events that a part of the sentence leads to.
const SAID_IDS_MAX: usize = 8;

/// The head. What is skipped is in chunks of its own: [`super::spread`] cuts it.
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
    /// What became of its records.
    pub coverage: Coverage,
    /// What could not be read.
    pub gaps: Vec<String>,
    /// Events in the middle of a very large session that are left out.
    pub left_out: u64,
    /// What happened, in words; each part leads to its events.
    pub sentence: Vec<Said>,
    /// Lines of work, the session's own first.
    pub lines: Vec<LineHead>,
    /// Turns of all lines.
    #[serde(skip)]
    pub turns: Vec<TurnHead>,
    /// Where it went wrong, or turned.
    #[serde(skip)]
    pub moments: Vec<Moment>,
    /// Where the time went.
    pub time: Vec<Row>,
    /// Time in which somebody worked on the session's own line.
    pub active_ms: i64,
    /// What it and its sub-agents used and cost.
    pub sum: Sum,
    /// The cost by kind of token.
    #[serde(skip)]
    pub kinds: Kinds,
    /// The same by model.
    #[serde(skip)]
    pub by_model: Vec<ModelSum>,
    /// What filled the context.
    #[serde(skip)]
    pub context: Context,
    /// What was changed on disk.
    #[serde(skip)]
    pub files: Vec<FileRow>,
    /// The band of time.
    #[serde(skip)]
    pub ribbon: Ribbon,
    /// Finds the turn of an event: by source, records from which on a turn holds.
    pub index: BTreeMap<String, Vec<(u64, usize)>>,
    /// How many chunks of turns there are.
    pub parts: usize,
    /// How it went; null until somebody looked.
    pub digest: Option<Went>,
}

/// A part of the sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    /// The words.
    pub text: String,
    /// Events that say so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// `bad`, `warn`, or nothing.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub tone: &'static str,
}

/// A line of work.
#[derive(Debug, Clone, Serialize)]
pub struct LineHead {
    /// `main`, or the sub-agent's name.
    pub name: String,
    /// What it was asked to do.
    pub task: String,
    /// The line that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<usize>,
    /// The session that holds it, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// First and last time.
    pub from: Option<i64>,
    /// Last time.
    pub to: Option<i64>,
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub failed: u64,
    /// What its own responses used and cost.
    pub sum: Sum,
    /// The turn of the call that started it, by number in the head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
}

/// What a head is made of.
pub struct Parts<'a, 'f> {
    /// The session.
    pub view: &'a SessionView,
    /// With its sub-agents.
    pub family: &'a Family,
    /// Their lines of work.
    pub lines: &'a [Line<'f>],
    /// What they cost.
    pub ledger: &'a Ledger,
    /// Their turns.
    pub turns: Vec<TurnHead>,
    /// The turn in which each line was started.
    pub callers: HashMap<usize, usize>,
    /// Where the time of each line went.
    pub spans: Vec<Vec<Span>>,
    /// What was changed on disk.
    pub files: Vec<FileRow>,
    /// Where it went wrong.
    pub moments: Vec<Moment>,
    /// The line and the turn of every event.
    pub places: &'a HashMap<String, (usize, u32)>,
    /// How many chunks of turns there are.
    pub parts: usize,
    /// How it went.
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

/// What happened, in words.
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

/// For each source the records from which on events are in another turn.
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

/// What lists show of a session beside what the index knows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Calls, sub-agents included.
    pub calls: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that were denied.
    pub denied: u64,
    /// Files changed.
    pub files: u64,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Time in which somebody worked.
    pub active_ms: i64,
    /// Sub-agents.
    pub agents: u64,
    /// Models that answered.
    pub models: Vec<String>,
    /// `secret`, `failed`, `limit`, `interrupted`, `gaps`, `large`.
    pub flags: Vec<String>,
    /// How it ended, as far as the log tells: the last thing that went wrong, on a line.
    pub trouble: Option<String>,
    /// Why it is said to have ended so.
    pub reason: Option<String>,
    /// How often the person corrected.
    pub corrections: u64,
    /// Whether it was real work, as far as is known.
    pub real: bool,
    /// Explored before it edited: reads and searches.
    pub looks: u64,
    /// Calls that edited.
    pub edits: u64,
    /// Files that were changed, at most twenty.
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
