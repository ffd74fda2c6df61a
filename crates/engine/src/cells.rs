//! The sums that reports are made of, kept in the index so that a question asked
//! again reads them and not every row.

use retro_model::LedgerRow;
use retro_store::{Index, SessionRow};
use retro_usage::{CELLS_VERSION, Cells, Grain, Mode, Prices, SharedRow, decide};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use crate::Error;

/// Rows of all ledgers that a sync decides between without being asked.
const ROWS_MAX: u64 = 100_000;

/// Everything the sums depend on: the rows, the prices, whose figures count, and
/// how they are summed.
fn stamp(index: &Index, prices: &Prices, mode: Mode) -> Result<Option<String>, Error> {
    let rows = index.responses_version()?;
    let prices = prices.fingerprint().ok();
    Ok(prices.map(|prices| format!("{CELLS_VERSION}.{rows}.{prices:016x}.{mode:?}")))
}

/// The sums as they are now: those that were kept, if nothing changed since.
pub fn cells(index: &Index, prices: &Prices, mode: Mode) -> Result<Cells, Error> {
    match kept(index, prices, mode)? {
        Some(cells) => Ok(cells),
        None => Ok(Cells::of(&decide(index.responses()?), prices, mode, Grain::Quarter)),
    }
}

fn kept(index: &Index, prices: &Prices, mode: Mode) -> Result<Option<Cells>, Error> {
    let Some(stamp) = stamp(index, prices, mode)? else { return Ok(None) };
    Ok(index.cells(&stamp)?.and_then(|body| postcard::from_bytes(&body).ok()))
}

/// Keeps the sums, if rows changed since they were last kept. Prices are looked at
/// only then: a sync that changed no ledger costs nothing here.
pub fn keep_changed(
    index: &Index,
    prices: impl FnOnce() -> Result<Prices, Error>,
    mode: Mode,
) -> Result<(), Error> {
    let of_these_rows = format!("{CELLS_VERSION}.{}.", index.responses_version()?);
    if index.cells_stamp()?.is_some_and(|stamp| stamp.starts_with(&of_these_rows)) {
        return Ok(());
    }
    // To decide between rows all are held at once: with very many that is left to
    // whoever asks.
    if index.responses_count()? > ROWS_MAX {
        return Ok(());
    }
    // Prices that cannot be read are the matter of whoever asks what something costs.
    match prices() {
        Ok(prices) => keep(index, &prices, mode),
        Err(_) => Ok(()),
    }
}

/// Keeps the sums, if those that are kept are not of now.
pub fn keep(index: &Index, prices: &Prices, mode: Mode) -> Result<(), Error> {
    let Some(stamp) = stamp(index, prices, mode)? else { return Ok(()) };
    if index.cells(&stamp)?.is_some() {
        return Ok(());
    }
    put(index, &stamp, &Cells::of(&decide(index.responses()?), prices, mode, Grain::Quarter))
}

/// Sessions that were just read and are all there are: a question is answered from them
/// before they are in the index.
pub(crate) struct Fresh {
    sessions: Vec<SessionRow>,
    rows: Vec<SharedRow>,
    /// The sums that are kept.
    cells: OnceCell<Cells>,
}

impl Fresh {
    pub(crate) fn new(mut read: Vec<(SessionRow, Vec<Arc<LedgerRow>>)>) -> Self {
        // In the order of the index, in which they are decided upon too.
        read.sort_unstable_by(|(a, _), (b, _)| (&a.agent, &a.id).cmp(&(&b.agent, &b.id)));
        let mut rows = Vec::with_capacity(read.iter().map(|(_, rows)| rows.len()).sum());
        let mut sessions = Vec::with_capacity(read.len());
        for (session, of_session) in read {
            let key = Arc::new(session.key());
            rows.extend(of_session.into_iter().map(|row| (Arc::clone(&key), row)));
            sessions.push(session);
        }
        Fresh { sessions, rows, cells: OnceCell::new() }
    }

    /// All sessions.
    pub(crate) fn sessions(&self) -> Vec<SessionRow> {
        self.sessions.clone()
    }

    /// All rows.
    pub(crate) fn rows(&self) -> Vec<SharedRow> {
        self.rows.clone()
    }

    /// Their sums.
    pub(crate) fn cells(&self, prices: &Prices, mode: Mode) -> Cow<'_, Cells> {
        let sum_up = || Cells::of(&decide(self.rows()), prices, mode, Grain::Quarter);
        match mode == Mode::default() {
            true => Cow::Borrowed(self.cells.get_or_init(sum_up)),
            false => Cow::Owned(sum_up()),
        }
    }

    /// Keeps the sums, when the rows are in the index.
    pub(crate) fn keep(&self, index: &Index, prices: &Prices) -> Result<(), Error> {
        let mode = Mode::default();
        match stamp(index, prices, mode)? {
            Some(stamp) => put(index, &stamp, &self.cells(prices, mode)),
            None => Ok(()),
        }
    }
}

fn put(index: &Index, stamp: &str, cells: &Cells) -> Result<(), Error> {
    if let Ok(body) = postcard::to_stdvec(cells) {
        index.write(|index| index.put_cells(stamp, &body))?;
    }
    Ok(())
}
