//! What each part of memory's ranking adds, on made-up months of work whose truth is known.

use retro::engine::{Config, SyncOptions, World, sync};
use retro::memory::{PARTS, WEIGHTS, Weights};
use retro::model::Timestamp;
use retro::store::{RealDisk, Store};
use retro::views::memory::{self, Told};
use retro_agents::testing::months::Months;
use std::path::Path;
use std::sync::Arc;

use crate::failure::Failure;
use crate::table::table;

/// When memory looks back on these months.
const LATER: &str = "2027-01-01T00:00:00Z";

/// The table: all parts, then each one left out.
pub(crate) fn measure(scratch: &Path) -> Result<String, Failure> {
    let said = |error: &dyn std::fmt::Display| Failure::at(scratch, error);
    let later = Timestamp::parse(LATER).ok_or_else(|| Failure::new("no time"))?;
    let world = World::at(scratch.join("months")).with_clock(later);
    let config = Config::for_root(scratch.join("remembered"));
    let months = Months::write(&world.home);
    sync(&world, &config, &SyncOptions::default(), &|_| {}).map_err(|error| said(&error))?;
    let store = Store::open(&config.root.value, Arc::new(RealDisk)).map_err(|error| said(&error))?;
    let memories = memory::all(&world, &config, &store).map_err(|error| said(&error))?;
    let told = Told::read(&world, &config, &store, None, &mut |_, _| {}).map_err(|error| said(&error))?;
    let mut prompts = 0;
    let mut row = |name: &str, weights: &Weights| {
        let view = told.replay(weights);
        prompts = view.replay.prompts;
        let judged = months.judge(|session| view.texts_shown(&memories, session));
        let share = |part: usize, whole: usize| format!("{:.1} %", part as f64 * 100.0 / whole.max(1) as f64);
        vec![
            name.to_owned(),
            format!("{} of {}, {}", judged.found, judged.wanted, share(judged.found, judged.wanted)),
            format!("{}, {}", judged.wrong, share(judged.wrong, view.replay.prompts)),
        ]
    };
    let mut rows = vec![row("nothing: as it is", &WEIGHTS)];
    for (name, leave_out) in PARTS {
        let mut weights = WEIGHTS.clone();
        leave_out(&mut weights);
        rows.push(row(name, &weights));
    }
    rows.push(vec!["bar".to_owned(), "at least 60 %".to_owned(), "at most 2 %".to_owned()]);
    Ok(format!(
        "The effect of each part of the ranking, on {} made-up sessions with {prompts} prompts. None of them was \
         shown anything before, so usefulness has no effect here.\n\n{}",
        months.made,
        table(&["left out", "shown when it was known", "shown where it does not belong"], &rows)
    ))
}
