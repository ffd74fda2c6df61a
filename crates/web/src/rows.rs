//! The data of lists and sums: a row per session, and its usage by hour and model.
//!
//! The page filters the rows and adds up the cells of the remaining ones, in whole billionths of a
//! dollar. All numbers of a view therefore cover the same sessions, and equal the output of the
//! commands.

use jiff::tz::TimeZone;
use retro::model::{SessionKey, Timestamp};
use retro::usage::Cells;
use retro::views::SessionView;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

use crate::Error;
use crate::chunk::{Chunk, session_name};
use crate::session::Summary;

/// One session of the table.
#[derive(Serialize)]
struct Row<'a> {
    /// The chunk name.
    name: String,
    #[serde(flatten)]
    view: &'a SessionView,
    #[serde(flatten)]
    summary: &'a Summary,
    /// Sub-agents with sessions of their own.
    kids: Vec<&'a str>,
    /// True if its log omits some usage.
    open: bool,
}

/// The usage of a session's tree by one model in one hour.
#[derive(Default)]
struct Cell {
    input: u64,
    write_5m: u64,
    write_1h: u64,
    read: u64,
    output: u64,
    reasoning: u64,
    responses: u64,
    nano: Option<i64>,
    /// True if part of it has no price or no complete figures.
    at_least: bool,
    unpriced: u64,
}

/// The inputs of the rows.
pub struct Table<'a> {
    /// Sessions, except sub-agents of others.
    pub sessions: &'a [SessionView],
    /// Summaries from builds, by chunk name.
    pub summaries: &'a HashMap<String, Summary>,
    /// The root session of each tree.
    pub roots: &'a HashMap<SessionKey, SessionKey>,
    /// The usage of each session.
    pub cells: &'a Cells,
    /// The time zone of days.
    pub tz: &'a TimeZone,
}

/// A month of sessions, newest first.
#[derive(Debug, Serialize)]
pub struct Month {
    /// `2026-11`, or `undated`.
    pub month: String,
    /// The number of sessions.
    pub sessions: usize,
    /// Size of its JSON in bytes.
    pub bytes: usize,
}

/// The chunks of all months, newest first.
pub fn months(table: &Table<'_>) -> Result<(Vec<Month>, Vec<Chunk>), Error> {
    let mut months: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, view) in table.sessions.iter().enumerate() {
        months.entry(month(view, table.tz)).or_default().push(at);
    }
    let open: HashMap<&SessionKey, bool> =
        table.cells.open_ends().filter_map(|(key, ..)| Some((table.roots.get(key)?, true))).collect();
    let mut cells = by_root(table);
    let mut kids: HashMap<&SessionKey, Vec<&str>> = HashMap::new();
    for (kid, root) in table.roots.iter().filter(|(kid, root)| kid != root) {
        kids.entry(root).or_default().push(&kid.id);
    }
    kids.values_mut().for_each(|list| list.sort_unstable());
    let mut listed = Vec::new();
    let mut chunks = Vec::new();
    for (month, numbers) in months.into_iter().rev() {
        let mut rows = Vec::new();
        let mut used = Used::default();
        for view in numbers.iter().filter_map(|at| table.sessions.get(*at)) {
            let key = SessionKey::new(view.agent.clone(), view.session_id.clone());
            let name = session_name(&key);
            let Some(summary) = table.summaries.get(&name) else { continue };
            used.take(rows.len(), cells.remove(&key).unwrap_or_default());
            let kids = kids.remove(&key).unwrap_or_default();
            rows.push(Row { name, view, summary, kids, open: open.contains_key(&key) });
        }
        let value = serde_json::json!({"month": month, "rows": columns(&rows)?, "cells": used.columns()});
        let chunk = Chunk::of(format!("rows/{month}"), &value)?;
        listed.push(Month { month, sessions: rows.len(), bytes: chunk.json.len() });
        chunks.push(chunk);
    }
    Ok((listed, chunks))
}

/// The sessions of each month, newest month first.
pub fn keys(table: &Table<'_>) -> Vec<(String, Vec<SessionKey>)> {
    let mut months: BTreeMap<String, Vec<SessionKey>> = BTreeMap::new();
    for view in table.sessions {
        let key = SessionKey::new(view.agent.clone(), view.session_id.clone());
        months.entry(month(view, table.tz)).or_default().push(key);
    }
    months.into_iter().rev().collect()
}

fn month(view: &SessionView, tz: &TimeZone) -> String {
    match view.started_at.or(view.ended_at) {
        Some(ts) => ts.to_jiff().to_zoned(tz.clone()).strftime("%Y-%m").to_string(),
        None => "undated".to_owned(),
    }
}

/// Hour and model of a cell.
type Place = (i32, i8, String);

/// The cells of each tree, by hour and model.
fn by_root(table: &Table<'_>) -> HashMap<SessionKey, BTreeMap<Place, Cell>> {
    let started: HashMap<(&str, &str), Timestamp> = table
        .sessions
        .iter()
        .filter_map(|view| Some(((view.agent.as_str(), view.session_id.as_str()), view.started_at?)))
        .collect();
    let mut sums: HashMap<SessionKey, BTreeMap<Place, Cell>> = HashMap::new();
    for cell in table.cells.each() {
        let root = table.roots.get(cell.session).unwrap_or(cell.session);
        let start = || started.get(&(root.agent.as_str(), root.id.as_str())).copied();
        let (day, hour) = cell.first.or_else(start).map_or((0, 0), |ts| {
            let zoned = ts.to_jiff().to_zoned(table.tz.clone());
            let date = zoned.date();
            (
                i32::from(date.year()) * 10_000 + i32::from(date.month()) * 100 + i32::from(date.day()),
                zoned.hour(),
            )
        });
        let model = cell.model.unwrap_or("unknown").to_owned();
        let sum = sums.entry(root.clone()).or_default().entry((day, hour, model)).or_default();
        let tokens = cell.tokens;
        sum.input += tokens.input;
        sum.write_1h += tokens.cache_write_1h;
        sum.write_5m += tokens.cache_write().saturating_sub(tokens.cache_write_1h);
        sum.read += tokens.cache_read;
        sum.output += tokens.output;
        sum.reasoning += tokens.reasoning;
        sum.responses += cell.figures.responses;
        if let Some(nano) = cell.nano {
            sum.nano = Some(sum.nano.unwrap_or(0).saturating_add(nano.0));
        }
        sum.at_least |= !cell.figures.cost_complete;
        sum.unpriced += cell.unpriced_responses;
    }
    sums
}

/// Row, day, hour, model and usage.
type Placed = (usize, i32, i8, usize, Cell);

/// Cells as columns.
#[derive(Default)]
struct Used {
    models: Vec<String>,
    rows: Vec<Placed>,
}

impl Used {
    fn take(&mut self, row: usize, cells: BTreeMap<Place, Cell>) {
        for ((day, hour, model), cell) in cells {
            let number = self.models.iter().position(|known| *known == model).unwrap_or_else(|| {
                self.models.push(model);
                self.models.len() - 1
            });
            self.rows.push((row, day, hour, number, cell));
        }
    }

    fn columns(&self) -> Value {
        let column =
            |of: &dyn Fn(&Placed) -> Value| -> Value { Value::Array(self.rows.iter().map(of).collect()) };
        serde_json::json!({
            "models": self.models,
            "row": column(&|cell| cell.0.into()),
            "day": column(&|cell| cell.1.into()),
            "hour": column(&|cell| cell.2.into()),
            "model": column(&|cell| cell.3.into()),
            "input": column(&|cell| cell.4.input.into()),
            "write_5m": column(&|cell| cell.4.write_5m.into()),
            "write_1h": column(&|cell| cell.4.write_1h.into()),
            "read": column(&|cell| cell.4.read.into()),
            "output": column(&|cell| cell.4.output.into()),
            "reasoning": column(&|cell| cell.4.reasoning.into()),
            "responses": column(&|cell| cell.4.responses.into()),
            "nano": column(&|cell| cell.4.nano.into()),
            "at_least": column(&|cell| u8::from(cell.4.at_least).into()),
            "unpriced": column(&|cell| cell.4.unpriced.into()),
        })
    }
}

/// Rows as columns, so that names are written once.
fn columns(rows: &[Row<'_>]) -> Result<Value, Error> {
    let mut columns: Map<String, Value> = Map::new();
    for (at, row) in rows.iter().enumerate() {
        let value = serde_json::to_value(row).map_err(|error| Error::Json(error.to_string()))?;
        let Value::Object(fields) = value else { continue };
        for (name, value) in fields {
            let column = columns.entry(name).or_insert_with(|| Value::Array(vec![Value::Null; at]));
            if let Value::Array(column) = column {
                column.push(value);
            }
        }
        for column in columns.values_mut().filter_map(Value::as_array_mut).filter(|column| column.len() == at)
        {
            column.push(Value::Null);
        }
    }
    columns.insert("length".to_owned(), rows.len().into());
    Ok(Value::Object(columns))
}
