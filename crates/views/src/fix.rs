//! The same error before: when it came, what was done next, and whether it went away.

use retro_engine::Config;
use retro_engine::World;
use retro_model::{PieceKind, SessionKey, Timestamp};
use retro_search::{Ran, Repair, Step};
use retro_store::{Index, RepairRow};
use retro_text::fingerprint::{ErrorLine, error_line};
use serde::Serialize;
use std::collections::HashMap;

use crate::{Error, SearchQuestion, Searching};

/// Failures that are looked at for each that is shown, where none was asked for by name.
const NEWEST: usize = 4;

/// Sessions that are looked at where an error was not seen before.
const SESSIONS_READ: usize = 20;

/// A failure is close to an error if it holds this share of its words, weighted by rarity.
const CLOSE: f64 = 0.4;

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub struct FixView {
    /// `retro.fix/1`.
    pub schema: &'static str,
    /// What was looked for: the line that says what went wrong.
    pub error: Option<String>,
    /// Names that error; null if only its words were looked for.
    pub fingerprint: Option<String>,
    /// Failures: those that were fixed first, then the newest; without a fingerprint the
    /// closest first.
    pub fixes: Vec<FixRow>,
    /// Whether there are more.
    pub truncated: bool,
}

/// One failure.
#[derive(Debug, Clone, Serialize)]
pub struct FixRow {
    /// Names the error.
    pub fingerprint: String,
    /// Our name of the agent.
    pub agent: String,
    /// The session.
    pub session_id: String,
    /// Its project.
    pub project: Option<String>,
    /// When it failed.
    pub timestamp: Option<Timestamp>,
    /// The call that failed.
    pub failing: Ran,
    /// What was done next.
    pub steps: Vec<Step>,
    /// The same command passing later; null if it never did.
    pub passing: Option<Ran>,
    /// How often this error was seen in the store.
    pub seen: u64,
    /// How often it went away.
    pub fixed: u64,
}

impl FixView {
    /// Puts failures that were fixed first, then the newest.
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
    /// Failures like an error text; without a text, the newest in the store.
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
        let error = error_line(text).or_else(|| ErrorLine::said(text));
        let found = error.as_ref().and_then(ErrorLine::fingerprint);
        let mut rows = match &found {
            Some(found) => index.repairs_of(&found.id)?,
            None => Vec::new(),
        };
        view.fingerprint = found.map(|found| found.id).filter(|_| !rows.is_empty());
        let words = error.map_or_else(|| text.to_owned(), |error| error.text());
        view.error = Some(words.clone());
        let is_exact = !rows.is_empty();
        if !is_exact {
            rows = self.closest(world, config, index, &words, question)?;
        }
        self.fill(index, &mut view, rows, question)?;
        if is_exact {
            view.fixed_first();
        }
        view.cut(question.limit);
        Ok(view)
    }

    /// Failures whose output has most of the words of a text, the closest first.
    fn closest(
        &self,
        world: &World,
        config: &Config,
        index: &Index,
        words: &str,
        question: &SearchQuestion,
    ) -> Result<Vec<RepairRow>, Error> {
        let question = SearchQuestion {
            limit: question.limit.max(SESSIONS_READ),
            kinds: Some(vec![PieceKind::Error, PieceKind::Output]),
            ..question.clone()
        };
        let mut close: HashMap<SessionKey, HashMap<String, f64>> = HashMap::new();
        let mut order: Vec<SessionKey> = Vec::new();
        for (key, event, held) in self.pieces_with(world, config, words, &question)? {
            if held < CLOSE {
                continue;
            }
            if !close.contains_key(&key) {
                order.push(key.clone());
            }
            close.entry(key).or_default().insert(event, held);
        }
        let mut rows: Vec<(f64, RepairRow)> = Vec::new();
        for key in order {
            let of_session = index.repairs_in(&key)?.into_iter();
            rows.extend(of_session.filter_map(|row| Some((*close.get(&key)?.get(&row.event)?, row))));
        }
        // Equally close ones stay in the order of the search.
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    fn fill(
        &self,
        index: &Index,
        view: &mut FixView,
        rows: Vec<RepairRow>,
        question: &SearchQuestion,
    ) -> Result<(), Error> {
        let mut counts: HashMap<String, (u64, u64)> = HashMap::new();
        for row in rows {
            if question.agent.as_ref().is_some_and(|agent| *agent != row.key.agent) {
                continue;
            }
            let Some(repair) = repair(&row) else { continue };
            let (seen, fixed) = match counts.get(&row.fingerprint) {
                Some(known) => *known,
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

fn repair(row: &RepairRow) -> Option<Repair> {
    serde_json::from_str(&row.body).ok()
}
