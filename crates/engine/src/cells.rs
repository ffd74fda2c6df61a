//! The sums that reports are made of, kept in the index so that a question asked
//! again reads them and not every row.

use retro_store::Index;
use retro_usage::{CELLS_VERSION, Cells, Grain, Mode, Prices, decide};

use crate::Error;

/// Rows of all ledgers that a sync decides between without being asked: more would make an
/// append cost what the store holds. A question keeps the sums after it was answered.
const ROWS_MAX: u32 = 500;

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
    if index.has_more_responses_than(ROWS_MAX)? {
        return Ok(());
    }
    // Prices that cannot be read are an error of questions about costs, not of a sync.
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

fn put(index: &Index, stamp: &str, cells: &Cells) -> Result<(), Error> {
    if let Ok(body) = postcard::to_stdvec(cells) {
        index.write(|index| index.put_cells(stamp, &body))?;
    }
    Ok(())
}
