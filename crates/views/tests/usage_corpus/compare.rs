//! Which row of ours is which line of the server's ledger, and how they differ.
//!
//! Claude Code logs the server's id of each answer, Codex from 0.155 on. Before
//! that the lines of a thread are the rows of its log in their order. Grok tells
//! one figure a turn and model, so the lines of the turn are added up.

use retro_model::LedgerRow;
use std::collections::BTreeMap;

use crate::billed::{Billed, Figures};
use crate::exceptions::{Pair, field_exceptions, line_exception};
use crate::scenario::Scenario;

/// What comparing a scenario found.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) lines: usize,
    pub(crate) refused: usize,
    pub(crate) equal: usize,
    pub(crate) excepted: Vec<&'static str>,
    pub(crate) wrong: Vec<String>,
}

/// Compares every line with the row of ours that has its identity.
pub(crate) fn compare(scenario: &Scenario) -> Outcome {
    let mut outcome = Outcome { lines: scenario.billed.len(), ..Outcome::default() };
    let mut rows: Vec<(&str, &LedgerRow)> =
        scenario.asked.rows.iter().map(|(session, row)| (session.as_str(), row)).collect();
    let mut pairs = Vec::new();
    let mut unnamed = Vec::new();
    for billed in &scenario.billed {
        if billed.status != 200 {
            outcome.refused += 1;
            if !billed.figures.is_nothing() {
                outcome
                    .wrong
                    .push(format!("line {} is refused and billed all the same: {billed:?}", billed.n));
            }
            continue;
        }
        let key = format!("{}:{}", scenario.agent, billed.response_id);
        match rows.iter().position(|(_, row)| row.key == key) {
            Some(at) => pairs.push((billed.clone(), rows.remove(at))),
            None => match line_exception(scenario, billed) {
                Some(exception) => outcome.excepted.push(exception.name),
                None => unnamed.push(billed),
            },
        }
    }
    for billed in turns(scenario.agent, unnamed) {
        match rows.iter().position(|(session, row)| may_be(scenario.agent, session, row, &billed)) {
            Some(at) => pairs.push((billed, rows.remove(at))),
            None => outcome.wrong.push(format!("line {} is not in the log: {billed:?}", billed.n)),
        }
    }
    for (session, row) in rows {
        outcome.wrong.push(format!("{} of {session} was never billed: {row:?}", row.key));
    }
    for (billed, (session, row)) in &pairs {
        judge(scenario, &mut outcome, billed, session, row);
    }
    outcome
}

/// The lines that one row of ours stands for, together.
fn turns(agent: &str, lines: Vec<&Billed>) -> Vec<Billed> {
    let mut turns: Vec<Billed> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines {
        match known.get(&turn(line)) {
            Some(&at) if agent == "grok" => turns[at].add(line),
            _ => {
                known.insert(turn(line), turns.len());
                turns.push(line.clone());
            }
        }
    }
    turns
}

/// The key of a turn of Grok, whose requests carry the id of the prompt.
fn turn(billed: &Billed) -> String {
    format!("grok:{}:{}:{}", billed.figures.session, billed.request_id, billed.figures.model)
}

/// Whether a row can be a line that has no id in the log. Rows stand in the order
/// of their log, so the first that can be is the one.
fn may_be(agent: &str, session: &str, row: &LedgerRow, billed: &Billed) -> bool {
    match agent {
        "grok" => row.key == turn(billed),
        // Keyed by its thread where the log has no id.
        "codex" => session == billed.figures.session && row.key.starts_with(&format!("codex:{session}:")),
        _ => false,
    }
}

fn judge(scenario: &Scenario, outcome: &mut Outcome, billed: &Billed, session: &str, row: &LedgerRow) {
    let ours = Figures::of_row(session, row);
    let mut differing = ours.differing(&billed.figures);
    if differing.is_empty() {
        outcome.equal += 1;
        return;
    }
    for (name, fields) in field_exceptions(scenario, &Pair { billed, ours: &ours, row }) {
        if differing.iter().any(|field| fields.contains(field)) {
            differing.retain(|field| !fields.contains(field));
            outcome.excepted.push(name);
        }
    }
    if !differing.is_empty() {
        let line = billed.n;
        outcome
            .wrong
            .push(format!("{differing:?} of {}: ours {ours:?}, line {line} {:?}", row.key, billed.figures));
    }
}
