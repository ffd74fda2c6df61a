//! The counted responses, priced and summed as finely as any report needs.
//!
//! A report needs days, sessions, projects and models, not single responses. A *cell* is the sum of
//! the responses of one session, model and price in one quarter of an hour: every time zone in use
//! is a whole number of quarters away from UTC, so a day never splits a cell. There is at most one
//! cell for ten rows, and cells can be stored, so a repeated query decides and prices nothing. Only
//! blocks of five hours need exact times: their cells hold one response each.

use hashbrown::HashMap;
use retro_model::{RowKind, SessionKey, Timestamp};
use serde::{Deserialize, Serialize};

use crate::NanoUsd;
use crate::cost::{Mode, Pricer, tier_of};
use crate::count::{Counted, CountedRow, Incomplete};
use crate::estimate;
use crate::figures::{Figures, Sum};
use crate::query::By;
use crate::table::Prices;

/// Raise it when the same rows and prices give other cells.
pub const CELLS_VERSION: u32 = 4;

const QUARTER_MS: i64 = 15 * 60_000;

/// The size of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// One cell per response.
    Answer,
    /// One cell per session, model, price and quarter of an hour.
    Quarter,
}

impl Grain {
    /// The coarsest grain that is enough for such a report.
    pub fn for_rows(by: By) -> Grain {
        match by {
            By::Blocks => Grain::Answer,
            _ => Grain::Quarter,
        }
    }
}

/// A sum of responses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) session: u32,
    /// The model as logged, followed by its service tier if that is not the standard one.
    pub(crate) model: Option<u32>,
    /// The model's name in the price table.
    pub(crate) priced_as: Option<u32>,
    /// Time of its first response. `None` if the log has no times.
    #[serde(with = "millis")]
    pub(crate) first: Option<Timestamp>,
    #[serde(with = "millis")]
    pub(crate) last: Option<Timestamp>,
    /// Responses that summarized a context.
    pub(crate) compactions: u64,
    pub(crate) sum: Sum,
}

/// A cell with resolved names. Cells of one session are adjacent.
#[derive(Debug, Clone)]
pub struct CellView<'c> {
    /// The session of the responses.
    pub session: &'c SessionKey,
    /// The model as logged, followed by its service tier if that is not the standard one.
    pub model: Option<&'c str>,
    /// Time of its first response. `None` if the log has no times.
    pub first: Option<Timestamp>,
    /// The tokens of the responses.
    pub tokens: retro_model::Tokens,
    /// The cost of the priced part in billionths of a dollar. `None` only if no part has a price.
    pub nano: Option<NanoUsd>,
    /// Its figures, in the form of a report's row.
    pub figures: Figures,
    /// Responses without a price.
    pub unpriced_responses: u64,
}

/// Rows that repeat others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Copies {
    pub(crate) session: u32,
    pub(crate) model: Option<u32>,
    #[serde(with = "millis")]
    pub(crate) ts: Option<Timestamp>,
    pub(crate) count: u64,
}

/// Use that only an agent's own total shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnloggedCell {
    pub(crate) session: u32,
    pub(crate) model: u32,
    pub(crate) tokens: u64,
    pub(crate) nano: Option<NanoUsd>,
}

/// A position where a log cannot show all of its use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenEnd {
    pub(crate) session: u32,
    #[serde(with = "millis")]
    pub(crate) ts: Option<Timestamp>,
    pub(crate) cut_off: bool,
}

/// The input of every report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cells {
    sessions: Vec<SessionKey>,
    names: Vec<String>,
    /// Sorted by session.
    pub(crate) rows: Vec<Cell>,
    pub(crate) side: Vec<Cell>,
    pub(crate) copies: Vec<Copies>,
    pub(crate) unlogged: Vec<UnloggedCell>,
    pub(crate) incomplete: Vec<Incomplete>,
    pub(crate) open: Vec<OpenEnd>,
}

impl Cells {
    /// Prices and sums the rows that count.
    pub fn of(counted: &Counted, prices: &Prices, mode: Mode, grain: Grain) -> Cells {
        let (cells, sessions, names) = Default::default();
        let mut made = Making { cells, sessions, last: None, names };
        let mut pricer = Pricer::new(prices, mode);
        let rows = made.sum_up(&counted.rows, &mut pricer, grain, true);
        let side = made.sum_up(&counted.side, &mut pricer, grain, false);
        made.copies(counted, grain);
        for part in &counted.unlogged {
            let cost = pricer.cost(&part.as_row()).nano;
            let (session, model) = (made.session(&part.session), made.name(&part.model));
            let tokens = part.tokens.total();
            made.cells.unlogged.push(UnloggedCell { session, model, tokens, nano: cost });
        }
        for (session, row) in &counted.open {
            let session = made.session(session);
            let cut_off = row.kind == RowKind::CutOff;
            made.cells.open.push(OpenEnd { session, ts: row.ts, cut_off });
        }
        Cells { rows, side, incomplete: counted.incomplete.clone(), ..made.cells }
    }

    /// Every cell, for callers with their own sums.
    pub fn each(&self) -> impl Iterator<Item = CellView<'_>> {
        self.rows.iter().map(|cell| CellView {
            session: self.session(cell.session),
            model: self.name(cell.model),
            first: cell.first,
            tokens: cell.sum.tokens,
            nano: cell.sum.cost(),
            figures: cell.sum.figures(),
            unpriced_responses: cell.sum.unpriced_responses,
        })
    }

    /// Positions where logs cannot show all of their use: the session, the time, and whether the
    /// log stops in the middle of a turn.
    pub fn open_ends(&self) -> impl Iterator<Item = (&SessionKey, Option<Timestamp>, bool)> {
        self.open.iter().map(|end| (self.session(end.session), end.ts, end.cut_off))
    }

    pub(crate) fn session(&self, at: u32) -> &SessionKey {
        // Only `of` assigns numbers, and a corrupt stored file must not cause a panic.
        static NOBODY: SessionKey = SessionKey { agent: String::new(), id: String::new() };
        self.sessions.get(at as usize).unwrap_or(&NOBODY)
    }

    pub(crate) fn name(&self, at: Option<u32>) -> Option<&str> {
        self.names.get(at? as usize).map(String::as_str)
    }
}

/// The common key of the responses in a cell: session, model, price, quarter.
type Sameness = (u32, Option<u32>, Option<u32>, Option<i64>);

/// Builds cells, and numbers the names and sessions.
struct Making<'c> {
    cells: Cells,
    sessions: HashMap<&'c SessionKey, u32>,
    /// The last session that was looked up. Rows of a session are adjacent.
    last: Option<(&'c SessionKey, u32)>,
    names: HashMap<String, u32>,
}

impl<'c> Making<'c> {
    fn session(&mut self, session: &'c SessionKey) -> u32 {
        if let Some((_, number)) = self.last.filter(|(last, _)| std::ptr::eq(*last, session)) {
            return number;
        }
        let all = &mut self.cells.sessions;
        let number = *self.sessions.entry(session).or_insert_with(|| {
            all.push(session.clone());
            number(all.len())
        });
        self.last = Some((session, number));
        number
    }

    fn name(&mut self, name: &str) -> u32 {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        self.cells.names.push(name.to_owned());
        let at = number(self.cells.names.len());
        self.names.insert(name.to_owned(), at);
        at
    }

    fn sum_up(
        &mut self,
        rows: &'c [CountedRow],
        pricer: &mut Pricer<'_>,
        grain: Grain,
        estimating: bool,
    ) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        let mut known: HashMap<Sameness, usize> = HashMap::new();
        for counted in rows {
            let row = counted.own_row();
            let session = self.session(&counted.session);
            let model = row.model.as_deref().map(|model| match tier_of(row) {
                Some(tier) => self.name(&format!("{model}-{tier}")),
                None => self.name(model),
            });
            let found = pricer.resolve(row);
            let priced_as = found.map(|found| self.name(&found.row.model));
            let cost = pricer.cost_at(row, row.tokens.output, found);
            let estimated = estimate::output(row)
                .filter(|_| estimating)
                .map(|output| (output, pricer.cost_at(row, output, found).nano));
            let ts = counted.row.ts;
            let quarter = ts.map(|ts| ts.as_millis().div_euclid(QUARTER_MS));
            let fresh =
                Cell { session, model, priced_as, first: ts, last: ts, compactions: 0, sum: Sum::default() };
            let at = match grain {
                Grain::Answer => cells.len(),
                Grain::Quarter => *known.entry((session, model, priced_as, quarter)).or_insert(cells.len()),
            };
            if at == cells.len() {
                cells.push(fresh);
            }
            let Some(cell) = cells.get_mut(at) else { continue };
            cell.first = cell.first.min(ts);
            cell.last = cell.last.max(ts);
            cell.compactions += if row.kind == RowKind::Compaction { row.calls } else { 0 };
            cell.sum.add(row, &cost, estimated);
        }
        cells
    }

    fn copies(&mut self, counted: &'c Counted, grain: Grain) {
        let mut known: HashMap<(u32, Option<u32>, Option<i64>), usize> = HashMap::new();
        for copy in &counted.duplicates {
            let session = self.session(&copy.place.session);
            let model = copy.model.as_deref().map(|model| self.name(model));
            let quarter = copy.ts.map(|ts| ts.as_millis().div_euclid(QUARTER_MS));
            let all = &mut self.cells.copies;
            let at = match grain {
                Grain::Answer => all.len(),
                Grain::Quarter => *known.entry((session, model, quarter)).or_insert(all.len()),
            };
            match all.get_mut(at) {
                Some(copies) => copies.count += 1,
                None => all.push(Copies { session, model, ts: copy.ts, count: 1 }),
            }
        }
    }
}

/// The index of the last of `count` items.
fn number(count: usize) -> u32 {
    u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX)
}

/// Times as numbers, because strings would be most of the stored data.
mod millis {
    use retro_model::Timestamp;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(ts: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
        ts.map(Timestamp::as_millis).serialize(to)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Timestamp>, D::Error> {
        Ok(Option::<i64>::deserialize(from)?.and_then(Timestamp::from_millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use crate::report::report_cells;
    use crate::testing::{Say, row};
    use crate::{Order, decide};
    use jiff::tz::TimeZone;

    /// Responses of two sessions over two days, some a second apart, some without a time.
    fn rows() -> Vec<(SessionKey, retro_model::LedgerRow)> {
        let mut rows = Vec::new();
        for n in 0..400u64 {
            let minutes = n * 7;
            let ts = format!(
                "2026-03-{:02}T{:02}:{:02}:59Z",
                28 + minutes / 1440,
                minutes / 60 % 24,
                minutes % 60
            );
            let model = ["claude-sonnet-4-6", "gpt-5-codex", "nobody-knows"][(n % 3) as usize];
            let mut one = row(&format!("k{}", n % 390)).model(model).tokens(n * 1000, n);
            if n % 11 > 0 {
                one = one.at(&ts);
            }
            if n % 5 == 0 {
                one.exactness = retro_model::Exactness::LowerBound;
                one.text_bytes = 900;
            }
            one.event = format!("m:{}.usage", n + 1).parse().unwrap();
            rows.push((SessionKey::new("claude", ["a", "b"][(n % 2) as usize]), one));
        }
        rows
    }

    #[test]
    fn quarters_of_an_hour_tell_what_single_answers_tell() {
        let counted = decide(rows());
        let prices = Prices::embedded().unwrap();
        let of = |grain| Cells::of(&counted, &prices, Mode::Auto, grain);
        let (answers, quarters) = (of(Grain::Answer), of(Grain::Quarter));
        assert!(quarters.rows.len() < answers.rows.len());
        for zone in ["UTC", "America/New_York", "Asia/Kathmandu", "Europe/Berlin", "Australia/Lord_Howe"] {
            for by in [By::Daily, By::Weekly, By::Monthly, By::Session, By::Project, By::Model, By::Agent] {
                for since in [None, Some(jiff::civil::date(2026, 3, 29))] {
                    let tz = TimeZone::get(zone).unwrap();
                    let query =
                        Query { by, tz, since, breakdown: true, order: Order::Desc, ..Query::default() };
                    let (fine, coarse) = (report_cells(&answers, &query), report_cells(&quarters, &query));
                    assert_eq!(fine, coarse, "{zone} {by:?} {since:?}");
                }
            }
        }
    }

    #[test]
    fn cells_come_back_from_text() {
        let cells = Cells::of(&decide(rows()), &Prices::embedded().unwrap(), Mode::Auto, Grain::Quarter);
        let text = serde_json::to_string(&cells).unwrap();
        assert_eq!(serde_json::from_str::<Cells>(&text).unwrap(), cells);
    }
}
