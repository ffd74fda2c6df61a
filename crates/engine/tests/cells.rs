//! Sums that are kept answer like the rows they were made of, and no longer when a
//! row or a price changed.
#![allow(clippy::unwrap_used)]

mod support;

use retro_engine::cells;
use retro_usage::{Cells, Grain, Mode, Prices, decide};
use support::{Machine, OTHER, STORY};

#[test]
fn kept_sums_are_those_of_the_rows_and_of_the_prices() {
    let machine = Machine::new();
    machine.tell("claude", STORY);
    machine.sync();
    let prices = Prices::embedded().unwrap();
    let made = |prices: &Prices, mode| {
        let index = machine.store().index().unwrap();
        Cells::of(&decide(index.responses().unwrap()), prices, mode, Grain::Quarter)
    };
    let kept = |prices: &Prices, mode| cells::cells(&machine.store().index().unwrap(), prices, mode).unwrap();
    let stamp = || machine.store().index().unwrap().cells_stamp().unwrap();
    let keep = || cells::keep(&machine.store().index().unwrap(), &prices, Mode::Auto).unwrap();
    assert!(stamp().is_none(), "a sync does not need them");
    keep();
    let first = stamp();
    assert!(first.is_some());
    assert_eq!(kept(&prices, Mode::Auto), made(&prices, Mode::Auto));
    assert_eq!(kept(&prices, Mode::Display), made(&prices, Mode::Display));

    machine.tell("claude", OTHER);
    machine.sync();
    assert_eq!(kept(&prices, Mode::Auto), made(&prices, Mode::Auto), "after another session");
    keep();
    assert_ne!(stamp(), first, "those of the rows before are gone");
    assert_eq!(kept(&prices, Mode::Auto), made(&prices, Mode::Auto), "kept again");

    let priced = prices.resolve("claude-opus-5", None, None).unwrap();
    let mut dearer = priced.row.clone();
    dearer.provider = "*".to_owned();
    (dearer.rates.input, dearer.rates.output) = (dearer.rates.input * 7, dearer.rates.output * 7);
    let own = Prices::embedded().unwrap().with_overrides(vec![dearer]).unwrap();
    assert_eq!(kept(&own, Mode::Auto), made(&own, Mode::Auto));
    assert_ne!(kept(&own, Mode::Auto), kept(&prices, Mode::Auto), "other prices, other sums");
}
