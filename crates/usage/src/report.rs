//! Answering queries about use and cost.
//!
//! Every selected row of the ledger goes into exactly one row of the report, so rows always add up
//! to the totals. Other figures (copies, calls outside the conversation, use that only the agent's
//! own total shows) are counted separately.

use jiff::civil::Date;
use retro_model::{SessionKey, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::answer::{
    Estimated, ModelPart, Report, ReportRow, SessionPart, SideCalls, Undated, UnloggedPart, UnpricedModel,
};
use crate::blocks::{self, RECENT_MS, Span};
use crate::calendar::{self, Days};
use crate::cells::{Cell, Cells, Grain};
use crate::count::{Counted, Incomplete};
use crate::figures::Sum;
use crate::query::{By, Dated, Order, Query, TokenLimit};
use crate::table::Prices;
use crate::{NanoUsd, estimate};

/// A cell that the query includes.
#[derive(Clone, Copy)]
struct Chosen<'c> {
    cell: &'c Cell,
    session: &'c SessionKey,
    model: Option<&'c str>,
    when: Option<Timestamp>,
    dated: Dated,
}

/// Cells that become one row.
struct Group<'c> {
    key: String,
    session: Option<SessionKey>,
    span: Option<Span>,
    chosen: Vec<Chosen<'c>>,
    sum: Sum,
    models: BTreeMap<&'c str, Sum>,
}

const UNKNOWN: &str = "unknown";

/// Answers a query.
pub fn report(counted: &Counted, prices: &Prices, query: &Query) -> Report {
    report_cells(&Cells::of(counted, prices, query.mode, Grain::for_rows(query.by)), query)
}

/// Answers a query from cells of a sufficient grain, made in its mode.
pub fn report_cells(cells: &Cells, query: &Query) -> Report {
    let chosen = choose(cells, &cells.rows, query);
    let mut groups = match query.by {
        By::Blocks => into_blocks(chosen),
        _ => into_groups(chosen, query),
    };
    groups.iter_mut().for_each(add_up);
    mark_open(cells, &mut groups, query);
    let limit = token_limit(&groups, query);
    keep_asked_blocks(&mut groups, query);
    sort(&mut groups, query);

    let mut totals = Sum::default();
    let (mut undated, mut compaction_responses) = (Undated::default(), 0);
    let (mut shown, mut last) = (HashSet::new(), None);
    for group in &groups {
        totals.merge(&group.sum);
        for chosen in &group.chosen {
            let responses = chosen.cell.sum.responses;
            match chosen.dated {
                Dated::Itself => {}
                Dated::BySession => undated.at_session_start += responses,
                Dated::No => undated.unknown += responses,
            }
            compaction_responses += chosen.cell.compactions;
            // Cells of a session are adjacent.
            if last != Some(chosen.session) {
                last = Some(chosen.session);
                shown.insert(chosen.session);
            }
        }
    }
    let figures = totals.figures();
    Report {
        by: query.by,
        totals: figures.clone(),
        unpriced_models: unpriced(&groups),
        duplicates_dropped: dropped(cells, query),
        side_calls: side_calls(cells, query),
        compaction_responses,
        unlogged: unlogged(cells, query, &shown),
        incomplete: incomplete(cells, query, &shown),
        lower_bound_responses: figures.lower_bound_responses,
        estimated: (figures.lower_bound_responses > 0).then_some(Estimated {
            output_tokens_logged: figures.output_tokens,
            output_tokens_estimated: totals.estimated_output,
            error_percent: estimate::ERROR_PERCENT,
        }),
        undated,
        rows: groups.into_iter().map(|group| finish(group, query, limit)).collect(),
    }
}

fn choose<'c>(cells: &'c Cells, among: &'c [Cell], query: &Query) -> Vec<Chosen<'c>> {
    let mut chosen = Vec::with_capacity(among.len());
    let mut days = Days::new(&query.tz);
    // Cells of a session are adjacent, so each session is checked once.
    let mut last: Option<(u32, bool)> = None;
    for cell in among {
        let (session, model) = (cells.session(cell.session), cells.name(cell.model));
        let admitted = match last {
            Some((at, admitted)) if at == cell.session => admitted,
            _ => query.admits_session(session),
        };
        last = Some((cell.session, admitted));
        if !admitted {
            continue;
        }
        let (when, dated) = query.when(session, cell.first);
        let is_model = || query.admits_name(model) || query.admits_name(cells.name(cell.priced_as));
        if query.admits_time(when, &mut days) && is_model() {
            chosen.push(Chosen { cell, session, model, when, dated });
        }
    }
    chosen
}

/// The common key of a group.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key<'c> {
    Day(Date),
    Session(SessionKey),
    Name(&'c str),
    Unknown,
}

fn into_groups<'c>(chosen: Vec<Chosen<'c>>, query: &'c Query) -> Vec<Group<'c>> {
    let mut groups: BTreeMap<Key<'c>, Group<'c>> = BTreeMap::new();
    let mut days = Days::new(&query.tz);
    for chosen in chosen {
        let session = chosen.session;
        let mut day = || chosen.when.map(|ts| days.day(ts));
        let key = match query.by {
            By::Daily => day().map(Key::Day),
            By::Weekly => day().map(|day| Key::Day(calendar::week(day, query.start_of_week))),
            By::Monthly => day().map(|day| Key::Day(calendar::month(day))),
            By::Session => Some(Key::Session(query.root_of(session))),
            By::Project => query.project_of(session).map(Key::Name),
            By::Model => chosen.model.map(Key::Name),
            By::Agent | By::Blocks => Some(Key::Name(&session.agent)),
        };
        let group = groups.entry(key.unwrap_or(Key::Unknown)).or_insert_with_key(|key| match key {
            Key::Day(day) if query.by == By::Monthly => Group::new(day.strftime("%Y-%m").to_string(), None),
            Key::Day(day) => Group::new(day.to_string(), None),
            Key::Session(root) => Group::new(root.to_string(), Some(root.clone())),
            Key::Name(name) => Group::new((*name).to_owned(), None),
            Key::Unknown => Group::new(UNKNOWN.to_owned(), None),
        });
        group.chosen.push(chosen);
    }
    groups.into_values().collect()
}

fn into_blocks(mut chosen: Vec<Chosen<'_>>) -> Vec<Group<'_>> {
    chosen.sort_by_key(|chosen| chosen.when);
    let timeless = chosen.partition_point(|chosen| chosen.when.is_none());
    let timed = chosen.split_off(timeless);
    let times: Vec<Timestamp> = timed.iter().filter_map(|chosen| chosen.when).collect();
    let mut rest = timed.into_iter();
    let mut groups = Vec::new();
    for (span, count) in blocks::cut(&times) {
        let start = Timestamp::from_millis(span.start_ms).map(|start| start.to_string());
        let mut group = Group::new(start.unwrap_or_else(|| UNKNOWN.to_owned()), None);
        group.span = Some(span);
        group.chosen.extend(rest.by_ref().take(count));
        groups.push(group);
    }
    if !chosen.is_empty() {
        let mut group = Group::new(UNKNOWN.to_owned(), None);
        group.chosen = chosen;
        groups.push(group);
    }
    groups
}

impl Group<'_> {
    fn new(key: String, session: Option<SessionKey>) -> Self {
        Group { key, session, span: None, chosen: Vec::new(), sum: Sum::default(), models: BTreeMap::new() }
    }

    fn last_at(&self) -> Option<Timestamp> {
        self.chosen.iter().filter_map(Chosen::last_at).max()
    }
}

impl Chosen<'_> {
    fn last_at(&self) -> Option<Timestamp> {
        self.cell.last.or(self.when)
    }
}

fn add_up(group: &mut Group<'_>) {
    for chosen in &group.chosen {
        group.models.entry(chosen.model.unwrap_or(UNKNOWN)).or_default().merge(&chosen.cell.sum);
    }
    for sum in group.models.values() {
        group.sum.merge(sum);
    }
}

/// Marks rows that include responses without figures in the log. A log that stops in the middle of
/// a turn does not prove another response, so it marks nothing.
fn mark_open(cells: &Cells, groups: &mut [Group<'_>], query: &Query) {
    let is_growing = |session| query.sessions.get(session).is_some_and(|facts| facts.growing);
    let open: Vec<(&SessionKey, Option<Timestamp>)> = cells
        .open
        .iter()
        .filter(|end| !end.cut_off)
        .map(|end| (cells.session(end.session), end.ts))
        .filter(|(session, _)| !is_growing(session))
        .collect();
    let mut days = Days::new(&query.tz);
    for group in groups {
        // An event affects a row of a period by its time, and any other row by its session.
        let (first, last) = (group.chosen.iter().filter_map(|chosen| chosen.when).min(), group.last_at());
        let touches = |session: &SessionKey, ts: Option<Timestamp>, days: &mut Days| match query.by {
            By::Daily | By::Weekly | By::Monthly | By::Blocks => match (ts, first, last) {
                (Some(ts), Some(first), Some(last)) => {
                    let day = days.day(ts);
                    (days.day(first)..=days.day(last)).contains(&day)
                }
                _ => group.chosen.iter().any(|chosen| chosen.session == session),
            },
            _ => group.chosen.iter().any(|chosen| chosen.session == session),
        };
        group.sum.is_open = open
            .iter()
            .any(|(session, ts)| query.admits_session(session) && touches(session, *ts, &mut days));
    }
}

fn unpriced(groups: &[Group<'_>]) -> Vec<UnpricedModel> {
    let mut models: BTreeMap<&str, Sum> = BTreeMap::new();
    for (model, sum) in groups.iter().flat_map(|group| &group.models) {
        models.entry(model).or_default().merge(sum);
    }
    let unpriced = models.into_iter().filter(|(_, sum)| sum.unpriced_responses > 0);
    unpriced
        .map(|(model, sum)| UnpricedModel {
            model: model.to_owned(),
            responses: sum.unpriced_responses,
            tokens: sum.unpriced_tokens,
            beyond: sum.beyond_responses,
        })
        .collect()
}

fn token_limit(groups: &[Group<'_>], query: &Query) -> Option<u64> {
    match query.token_limit? {
        TokenLimit::Tokens(tokens) => Some(tokens),
        TokenLimit::Max => groups
            .iter()
            .filter(|group| group.span.is_some_and(|span| !span.is_active(query.now)))
            .map(|group| group.sum.tokens.total())
            .max(),
    }
}

fn keep_asked_blocks(groups: &mut Vec<Group<'_>>, query: &Query) {
    if query.by != By::Blocks || !(query.active || query.recent) {
        return;
    }
    let since = query.now.map(|now| now.as_millis() - RECENT_MS);
    groups.retain(|group| {
        let Some(span) = group.span else { return false };
        span.is_active(query.now) || (!query.active && since.is_some_and(|since| span.start_ms >= since))
    });
}

fn sort(groups: &mut [Group<'_>], query: &Query) {
    match query.by {
        By::Daily | By::Weekly | By::Monthly | By::Blocks => {
            groups.sort_by(|a, b| (a.key == UNKNOWN, &a.key).cmp(&(b.key == UNKNOWN, &b.key)));
        }
        By::Session => groups.sort_by_cached_key(|group| (group.last_at(), group.key.clone())),
        By::Project | By::Model | By::Agent => groups.sort_by(|a, b| {
            let size = |group: &Group<'_>| (group.sum.nano, group.sum.tokens.total());
            size(a).cmp(&size(b)).then_with(|| b.key.cmp(&a.key))
        }),
    }
    if query.order == Order::Desc {
        groups.reverse();
    }
}

fn finish(group: Group<'_>, query: &Query, limit: Option<u64>) -> ReportRow {
    let agents: BTreeSet<&str> = group.chosen.iter().map(|chosen| chosen.session.agent.as_str()).collect();
    let session = group.session.as_ref().map(|root| {
        let sessions: HashSet<&SessionKey> = group.chosen.iter().map(|chosen| chosen.session).collect();
        SessionPart {
            agent: root.agent.clone(),
            session_id: root.id.clone(),
            title: query.sessions.get(root).and_then(|facts| facts.title.clone()),
            project: query.project_of(root).map(str::to_owned),
            children: sessions.iter().filter(|session| **session != root).count() as u64,
        }
    });
    let part = |(model, sum): (&&str, &Sum)| ModelPart { model: (*model).to_owned(), figures: sum.figures() };
    ReportRow {
        first_at: group.chosen.iter().filter_map(|chosen| chosen.when).min(),
        last_at: group.last_at(),
        figures: group.sum.figures(),
        models: group.models.keys().map(|model| (*model).to_owned()).collect(),
        agents: agents.into_iter().map(str::to_owned).collect(),
        session,
        block: group.span.and_then(|span| span.block(&group.sum, query.now, limit)),
        breakdown: if query.breakdown { group.models.iter().map(part).collect() } else { Vec::new() },
        key: group.key,
    }
}

fn dropped(cells: &Cells, query: &Query) -> u64 {
    let mut days = Days::new(&query.tz);
    let asked = cells.copies.iter().filter(|copies| {
        let session = cells.session(copies.session);
        query.admits_session(session)
            && query.admits_time(query.when(session, copies.ts).0, &mut days)
            && query.admits_name(cells.name(copies.model))
    });
    asked.map(|copies| copies.count).sum()
}

fn side_calls(cells: &Cells, query: &Query) -> SideCalls {
    let mut sum = Sum::default();
    for chosen in choose(cells, &cells.side, query) {
        sum.merge(&chosen.cell.sum);
    }
    let cost_usd = sum.cost().filter(|_| sum.responses > 0).map(NanoUsd::to_usd);
    SideCalls { responses: sum.responses, total_tokens: sum.tokens.total(), cost_usd }
}

/// Unlogged use of the sessions in the report. Totals have no time.
fn unlogged(cells: &Cells, query: &Query, shown: &HashSet<&SessionKey>) -> Vec<UnloggedPart> {
    let mut parts = Vec::new();
    for part in &cells.unlogged {
        let (session, model) = (cells.session(part.session), cells.name(Some(part.model)));
        let in_time = (query.since.is_none() && query.until.is_none()) || shown.contains(session);
        if query.admits_session(session) && query.admits_name(model) && in_time {
            parts.push(UnloggedPart {
                agent: session.agent.clone(),
                session_id: session.id.clone(),
                model: model.unwrap_or(UNKNOWN).to_owned(),
                total_tokens: part.tokens,
                cost_usd: part.nano.map(NanoUsd::to_usd),
            });
        }
    }
    parts
}

/// Open questions in the figures of the selected sessions.
fn incomplete(cells: &Cells, query: &Query, shown: &HashSet<&SessionKey>) -> Vec<Incomplete> {
    let mut days = Days::new(&query.tz);
    let mut is_asked = |session: &SessionKey, when: Option<Timestamp>| {
        query.admits_session(session)
            && (shown.contains(session) || query.admits_time(query.when(session, when).0, &mut days))
    };
    let mut open = BTreeSet::new();
    for one in &cells.incomplete {
        if is_asked(&SessionKey::new(&one.agent, &one.session_id), None) {
            open.insert(one.clone());
        }
    }
    for end in &cells.open {
        let session = cells.session(end.session);
        let is_growing = query.sessions.get(session).is_some_and(|facts| facts.growing);
        if !is_growing && is_asked(session, end.ts) {
            open.insert(Incomplete::of(session, if end.cut_off { CUT_OFF } else { UNMEASURED }));
        }
    }
    let bounds = cells.rows.iter().filter(|cell| cell.sum.lower_bound > 0);
    let mut last = None;
    for cell in bounds {
        if last.replace(cell.session) != Some(cell.session) && shown.contains(cells.session(cell.session)) {
            open.insert(Incomplete::of(cells.session(cell.session), UNFINISHED));
        }
    }
    open.into_iter().collect()
}

const CUT_OFF: &str = "the log stops in the middle of a turn, and what was answered after that is not known";
const UNMEASURED: &str = "the log has no token figures for some of its answers";
const UNFINISHED: &str =
    "answers were logged before they ended, and their output is at least what is counted";
