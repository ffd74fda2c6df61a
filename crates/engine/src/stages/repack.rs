//! Packs the raw files of a session that is a day old, and reads each of them completely once.

use retro_agents::Encoding;
use retro_model::{SourceKey, SourceKind};
use retro_store::{Comparison, PlaceRow, Slot, Writer};
use std::collections::HashMap;
use std::path::PathBuf;

use super::{Input, Product, Stage, Subject, When, Work};
use crate::Error;
use crate::catalog::Catalog;
use crate::discover::Cut;
use crate::door::Door;

pub(super) const STAGE: Stage = Stage {
    name: "repack",
    version: 1,
    when: When::Old,
    help: "pack raw files of a session quiet for a day",
    inputs: &[Input::Raw],
    work: Work::Session(pack),
    ..Stage::PLAIN
};

fn pack(subject: &Subject<'_>) -> Result<Product, Error> {
    let door = Door::of(subject.store)?;
    let mut odd: Vec<PathBuf> = Vec::new();
    let mut failed = None;
    let mut live: HashMap<(&SourceKey, u32), Vec<&PlaceRow>> = HashMap::new();
    for place in &subject.lookup.places {
        live.entry((&place.source, place.revision)).or_default().push(place);
    }
    for (source, entry) in subject.file.sources.iter().filter(|(_, entry)| entry.kind != SourceKind::State) {
        for revision in 1..=entry.revisions {
            let slot = Slot::Session { key: subject.key.clone(), source: source.clone(), revision };
            let archive = subject.store.archive(&slot);
            let live = live.get(&(source, revision)).into_iter().flatten();
            match archive.repack() {
                Ok(_) => {
                    for place in live.filter(|place| place.path.extension().is_none_or(|ext| ext != "zst")) {
                        let is_odd = match entry.kind {
                            SourceKind::Files => {
                                let raw_error = |source| Error::Raw { what: slot.to_string(), source };
                                Catalog::of_raw(archive.read()?)
                                    .map_err(raw_error)?
                                    .lacks_file_of(&door, &place.path)
                            }
                            _ => differs(&door, &archive, place)?,
                        };
                        if is_odd {
                            odd.push(place.path.clone());
                        }
                    }
                }
                // Its live file is captured beside it, as the next revision. After that, the
                // damaged file stays as it is.
                Err(error @ retro_store::Error::Damaged { .. }) => {
                    odd.extend(live.map(|place| place.path.clone()));
                    failed = failed.or(Some(error).filter(|_| revision == entry.revisions));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    if let Some(error) = failed.filter(|_| odd.is_empty()) {
        return Err(error.into());
    }
    // The next sync treats these as never seen.
    let put = move |index: &Writer<'_>| odd.iter().try_for_each(|path| index.forget_place(path));
    Ok(Product { put: Some(Box::new(put)), ..Product::default() })
}

/// Whether a live log differs from the captured bytes without any sign: it was rewritten in place
/// with the same size and time.
fn differs(door: &Door, archive: &retro_store::Archive, place: &PlaceRow) -> Result<bool, Error> {
    // Any kind of file may have that name now, and a pipe would block us.
    if !std::fs::metadata(&place.path).is_ok_and(|meta| meta.is_file()) {
        return Ok(false);
    }
    let Ok(mut bytes) = door.open_path(&place.path, Encoding::Plain, &Cut::default()) else {
        return Ok(false);
    };
    Ok(archive.compare(&mut bytes)? == Comparison::Differs)
}
