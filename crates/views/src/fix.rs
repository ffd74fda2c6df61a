//! Earlier failures with the same error: when they happened, the next steps, and whether the error
//! went away.

use retro_engine::Config;
use retro_engine::World;
use retro_model::{PieceKind, SessionKey, Timestamp};
use retro_search::{Ran, Repair, Step};
use retro_store::{Index, RepairRow};
use retro_text::fingerprint::{ErrorLine, error_line, error_lines, normal};
use serde::Serialize;
use std::collections::HashMap;

use crate::{Error, SearchQuestion, Searching};

/// Candidates per row that is shown, when no error text is given.
const NEWEST: usize = 4;

/// Sessions that are searched when an error is new.
const SESSIONS_READ: usize = 20;

/// A failure is similar to an error if it contains this share of its words, weighted by rarity.
const CLOSE: f64 = 0.4;

/// Errors of a text whose fingerprints are looked up, and those whose words are searched.
const LINES_ASKED: usize = 12;
const LINES_SOUGHT: usize = 3;

/// Shorter lines occur in too many outputs.
const LINE_CHARS_MIN: usize = 12;
/// Longer lines are not messages.
const LINE_BYTES_MAX: usize = 4_000;

/// The result of `retro fix`.
#[derive(Debug, Clone, Serialize)]
pub struct FixView {
    /// `retro.fix/1`.
    pub schema: &'static str,
    /// The error line that was looked up.
    pub error: Option<String>,
    /// Identifies that error. Null if only its words were searched.
    pub fingerprint: Option<String>,
    /// How the failures were found. Null without an error text or without failures.
    pub found: Option<FoundBy>,
    /// Failures: fixed ones first, then the newest. Without a fingerprint, the most similar first.
    pub fixes: Vec<FixRow>,
    /// True if the limit cut the list.
    pub truncated: bool,
}

/// How a failure was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// Its output reports the same error, ignoring paths and numbers.
    Error,
    /// Its output has a line with the same words in the same order.
    Line,
    /// Its output has most of the words. It may be unrelated.
    Words,
}

/// One failure and its repair.
#[derive(Debug, Clone, Serialize)]
pub struct FixRow {
    /// Identifies the error.
    pub fingerprint: String,
    /// retro's name for the agent.
    pub agent: String,
    /// The session's id.
    pub session_id: String,
    /// The session's project.
    pub project: Option<String>,
    /// When it failed.
    pub timestamp: Option<Timestamp>,
    /// The call that failed.
    pub failing: Ran,
    /// The steps taken next.
    pub steps: Vec<Step>,
    /// The later run in which the same command passed. Null if it never did.
    pub passing: Option<Ran>,
    /// How often the store has seen this error.
    pub seen: u64,
    /// How often it was fixed.
    pub fixed: u64,
}

impl FixView {
    /// Sorts fixed failures first, then the newest.
    fn fixed_first(&mut self) {
        self.fixes.sort_by(|a, b| {
            let order = |row: &FixRow| (row.passing.is_some(), row.timestamp);
            order(b)
                .cmp(&order(a))
                .then_with(|| (&a.session_id, &a.failing.event_id).cmp(&(&b.session_id, &b.failing.event_id)))
        });
    }

    fn cut(&mut self, limit: usize) {
        self.truncated = self.fixes.len() > limit;
        self.fixes.truncate(limit);
    }
}

impl Searching {
    /// Failures that resemble an error text. Without a text, the newest in the store.
    pub fn fix(
        &self,
        world: &World,
        config: &Config,
        text: Option<&str>,
        question: &SearchQuestion,
    ) -> Result<FixView, Error> {
        let mut view = FixView {
            schema: "retro.fix/1",
            error: None,
            fingerprint: None,
            found: None,
            fixes: Vec::new(),
            truncated: false,
        };
        let Some(index) = &self.news.index else { return Ok(view) };
        let Some(text) = text else {
            let rows = index.last_repairs(question.limit.saturating_mul(NEWEST))?;
            self.fill(index, &mut view, rows, question)?;
            view.fixed_first();
            view.cut(question.limit);
            return Ok(view);
        };
        let asked = asked(text);
        view.error = Some(asked.first().map_or_else(|| text.to_owned(), ErrorLine::text));
        let mut rows = exact(index, &asked, &mut view)?;
        if rows.is_empty() {
            let (kind, found) = self.by_words(world, config, index, text, &asked, question)?;
            (view.found, rows) = (kind, found);
        }
        self.fill(index, &mut view, rows, question)?;
        view.cut(question.limit);
        Ok(view)
    }

    /// Failures whose output has a line like one in question, else those with most of its words.
    fn by_words(
        &self,
        world: &World,
        config: &Config,
        index: &Index,
        text: &str,
        asked: &[ErrorLine],
        question: &SearchQuestion,
    ) -> Result<(Option<FoundBy>, Vec<RepairRow>), Error> {
        let whole = [text.to_owned()];
        let lines: Vec<String> = asked.iter().take(LINES_SOUGHT).map(ErrorLine::text).collect();
        let lines = if lines.is_empty() { &whole[..] } else { &lines };
        let mut closest = None;
        for line in lines {
            let (kind, rows) = self.closest(world, config, index, line, question)?;
            if kind == FoundBy::Line && !rows.is_empty() {
                return Ok((Some(kind), rows));
            }
            closest = closest.or((!rows.is_empty()).then_some((Some(kind), rows)));
        }
        Ok(closest.unwrap_or_default())
    }

    /// Failures whose output has most of the words of a text, the most similar first.
    fn closest(
        &self,
        world: &World,
        config: &Config,
        index: &Index,
        words: &str,
        question: &SearchQuestion,
    ) -> Result<(FoundBy, Vec<RepairRow>), Error> {
        let question = SearchQuestion {
            limit: question.limit.max(SESSIONS_READ),
            kinds: Some(vec![PieceKind::Error, PieceKind::Output]),
            ..question.clone()
        };
        let wanted = Some(normal(words)).filter(|line| line.chars().count() >= LINE_CHARS_MIN);
        let mut close: HashMap<SessionKey, HashMap<String, (bool, f64)>> = HashMap::new();
        let mut order: Vec<SessionKey> = Vec::new();
        for (key, event, held, text) in self.pieces_with(world, config, words, &question)? {
            if held < CLOSE {
                continue;
            }
            if !close.contains_key(&key) {
                order.push(key.clone());
            }
            let has_line = wanted.as_ref().is_some_and(|wanted| has_line(&text, wanted));
            let known = close.entry(key).or_default().entry(event).or_insert((has_line, held));
            *known = (known.0 || has_line, known.1.max(held));
        }
        let mut rows: Vec<((bool, f64), RepairRow)> = Vec::new();
        for key in order {
            let of_session = index.repairs_in(&key)?.into_iter();
            rows.extend(of_session.filter_map(|row| Some((*close.get(&key)?.get(&row.event)?, row))));
        }
        let kind =
            if rows.iter().any(|((has_line, _), _)| *has_line) { FoundBy::Line } else { FoundBy::Words };
        // Ties keep the order of the search.
        rows.sort_by(|((a_line, a), _), ((b_line, b), _)| b_line.cmp(a_line).then(b.total_cmp(a)));
        if kind == FoundBy::Line {
            rows.retain(|((has_line, _), _)| *has_line);
        }
        Ok((kind, rows.into_iter().map(|(_, row)| row).collect()))
    }

    fn fill(
        &self,
        index: &Index,
        view: &mut FixView,
        rows: Vec<RepairRow>,
        question: &SearchQuestion,
    ) -> Result<(), Error> {
        let mut counts: HashMap<String, (u64, u64)> = HashMap::new();
        let asked = (view.found == Some(FoundBy::Error))
            .then(|| (rows.len() as u64, rows.iter().filter(|row| row.fixed).count() as u64));
        for row in rows {
            if question.agent.as_ref().is_some_and(|agent| *agent != row.key.agent) {
                continue;
            }
            let Some(repair) = repair(&row) else { continue };
            let (seen, fixed) = match asked.or_else(|| counts.get(&row.fingerprint).copied()) {
                Some(known) => known,
                None => {
                    let all = index.repairs_of(&row.fingerprint)?;
                    let fixed = all.iter().filter(|row| row.fixed).count() as u64;
                    let known = if row.fingerprint.is_empty() {
                        (1, u64::from(row.fixed))
                    } else {
                        (all.len() as u64, fixed)
                    };
                    counts.insert(row.fingerprint.clone(), known);
                    known
                }
            };
            let project = index.session_row(&row.key)?.and_then(|row| row.project);
            let wanted = question.project.as_ref().map(|wanted| wanted.to_lowercase());
            let is_of = |wanted: &String| {
                project.as_ref().is_some_and(|project| project.to_lowercase().contains(wanted.as_str()))
            };
            if wanted.as_ref().is_some_and(|wanted| !is_of(wanted)) {
                continue;
            }
            view.fixes.push(FixRow {
                fingerprint: row.fingerprint,
                agent: row.key.agent,
                session_id: row.key.id,
                project,
                timestamp: row.at,
                failing: repair.failing,
                steps: repair.steps,
                passing: repair.passing,
                seen,
                fixed,
            });
        }
        Ok(())
    }
}

/// The errors that a text reports, the most significant first. Text that a user pastes need not
/// look like an error.
fn asked(text: &str) -> Vec<ErrorLine> {
    let mut lines: Vec<ErrorLine> = error_line(text).into_iter().collect();
    lines.extend(
        error_lines(text, LINES_ASKED)
            .into_iter()
            .filter(|line| lines.first() != Some(line))
            .collect::<Vec<_>>(),
    );
    lines.extend(ErrorLine::said(text).filter(|_| lines.is_empty()));
    lines
}

/// Failures with one of these errors. Those with the most significant errors, and with most of
/// them, come first; then fixed ones; then the newest.
fn exact(index: &Index, asked: &[ErrorLine], view: &mut FixView) -> Result<Vec<RepairRow>, Error> {
    let mut found: Vec<(u64, RepairRow)> = Vec::new();
    for (at, print) in asked.iter().filter_map(ErrorLine::fingerprint).enumerate() {
        // Other lines of an output matter little once the most significant one matches.
        let weight = 1u64 << (LINES_ASKED - at.min(LINES_ASKED));
        for row in index.repairs_of(&print.id)? {
            view.fingerprint.get_or_insert_with(|| print.id.clone());
            match found.iter_mut().find(|(_, known)| known.key == row.key && known.event == row.event) {
                Some((sum, _)) => *sum += weight,
                None if at == 0 || print.certain => found.push((weight, row)),
                None => {}
            }
        }
        if at == 0 && !found.is_empty() && asked.len() == 1 {
            break;
        }
    }
    if !found.is_empty() {
        view.found = Some(FoundBy::Error);
    }
    found.sort_by(|(a_sum, a), (b_sum, b)| {
        b_sum
            .cmp(a_sum)
            .then_with(|| (b.fixed, b.at).cmp(&(a.fixed, a.at)))
            .then_with(|| (&a.key, &a.event).cmp(&(&b.key, &b.event)))
    });
    Ok(found.into_iter().map(|(_, row)| row).collect())
}

/// True if a text has a line with these words in this order, ignoring paths and numbers.
fn has_line(text: &str, wanted: &str) -> bool {
    text.lines().any(|line| line.len() + wanted.len() < LINE_BYTES_MAX && normal(line).contains(wanted))
}

fn repair(row: &RepairRow) -> Option<Repair> {
    serde_json::from_str(&row.body).ok()
}
