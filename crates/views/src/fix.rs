//! The same error before: when it came, what was done next, and whether it went away.

use retro_engine::Config;
use retro_engine::World;
use retro_model::{PieceKind, SessionKey, Timestamp};
use retro_search::{Ran, Repair, Step};
use retro_store::{Index, RepairRow};
use retro_text::fingerprint::{ErrorLine, error_line};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

use crate::{Error, SearchQuestion, Searching};

/// Failures that are looked at for each that is shown, where none was asked for by name.
const NEWEST: usize = 4;

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub struct FixView {
    /// `retro.fix/1`.
    pub schema: &'static str,
    /// What was looked for: the line that says what went wrong.
    pub error: Option<String>,
    /// Names that error; null if only its words were looked for.
    pub fingerprint: Option<String>,
    /// Failures, those that were fixed first, then the newest.
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
        if rows.is_empty() {
            rows = self.alike(world, config, index, &words, question)?;
        }
        view.error = Some(words);
        self.fill(index, &mut view, rows, question)?;
        Ok(view)
    }

    /// Failures whose output has the words of a text.
    fn alike(
        &self,
        world: &World,
        config: &Config,
        index: &Index,
        words: &str,
        question: &SearchQuestion,
    ) -> Result<Vec<RepairRow>, Error> {
        let question = SearchQuestion {
            text: words.to_owned(),
            kinds: Some(vec![PieceKind::Error, PieceKind::Output]),
            ..question.clone()
        };
        let found = self.search(world, config, &question)?;
        let hits: HashSet<(SessionKey, String)> = found
            .hits
            .into_iter()
            .filter(|hit| !hit.weak)
            .map(|hit| (SessionKey::new(hit.agent, hit.session_id), hit.event_id))
            .collect();
        let sessions: HashSet<&SessionKey> = hits.iter().map(|(key, _)| key).collect();
        let mut rows = Vec::new();
        for key in sessions {
            let of_session = index.repairs_in(key)?.into_iter();
            rows.extend(of_session.filter(|row| hits.contains(&(key.clone(), row.event.clone()))));
        }
        Ok(rows)
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
        view.fixes.sort_by(|a, b| {
            let order = |row: &FixRow| (row.passing.is_some(), row.timestamp);
            order(b)
                .cmp(&order(a))
                .then_with(|| (&a.session_id, &a.failing.event_id).cmp(&(&b.session_id, &b.failing.event_id)))
        });
        view.truncated = view.fixes.len() > question.limit;
        view.fixes.truncate(question.limit);
        Ok(())
    }
}

fn repair(row: &RepairRow) -> Option<Repair> {
    serde_json::from_str(&row.body).ok()
}
