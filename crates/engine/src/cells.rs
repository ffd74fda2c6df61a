//! The sums that reports are built from, stored in the index so that a repeated question need not
//! read every row.

use retro_store::Index;
use retro_usage::{CELLS_VERSION, Cells, Grain, Mode, Prices, decide};

use crate::Error;

/// Names everything that the sums depend on: the rows, the prices, the mode and the version of the
/// summing.
fn stamp(index: &Index, prices: &Prices, mode: Mode) -> Result<Option<String>, Error> {
    let rows = index.responses_version()?;
    let prices = prices.fingerprint().ok();
    Ok(prices.map(|prices| format!("{CELLS_VERSION}.{rows}.{prices:016x}.{mode:?}")))
}

/// The present sums: the stored ones if nothing has changed, otherwise new ones.
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

/// Stores the sums, unless the stored ones are current.
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
