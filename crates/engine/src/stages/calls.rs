//! The effects of a session's calls: touched files, failures, and their repairs.

use retro_model::{Access, Event, SessionKey};
use retro_search::{Repair, Repairs, Touch, Touches};
use retro_store::{Index, RepairRow, Store, TouchRow, Writer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Comparing, Input, Making, Product, Stage, Subject, Truth, When, Work, from_kept, to_keep};
use crate::Error;
use crate::stamp::short_hash;

pub(super) const STAGE: Stage = Stage {
    name: "calls",
    version: 3,
    when: When::AppendAndQuiet,
    help: "files that were touched, failures and what fixed them",
    inputs: &[Input::Events],
    work: Work::Events(make),
    truth: Some(Truth { keep, restore }),
    compare: Some(compare),
    ..Stage::PLAIN
};

fn make(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    Ok(Box::new(Calls::new(subject.key)))
}

/// The rows that are kept of an evicted session.
#[derive(Default, PartialEq, Serialize, Deserialize)]
struct Rows {
    touches: Vec<TouchRow>,
    repairs: Vec<RepairRow>,
}

impl Rows {
    fn product(self, key: SessionKey) -> Product {
        let Rows { touches, repairs } = self;
        let output = short_hash(&format!("{touches:?}{repairs:?}"));
        let put = move |index: &Writer<'_>| index.put_calls(&key, &touches, &repairs);
        Product { output, put: Some(Box::new(put)), ..Product::default() }
    }
}

impl Rows {
    fn of(index: &Index, key: &SessionKey) -> Result<Rows, Error> {
        Ok(Rows { touches: index.touches_in(key)?, repairs: index.repairs_in(key)? })
    }
}

fn keep(index: &Index, key: &SessionKey) -> Result<Value, Error> {
    to_keep(&Rows::of(index, key)?)
}

fn compare(_: &Store, index: &Index, key: &SessionKey) -> Result<Box<dyn Comparing>, Error> {
    Ok(Box::new(Checking { calls: Calls::new(key), known: Rows::of(index, key)? }))
}

/// Compares the rows of the index with those that the events give.
struct Checking {
    calls: Calls,
    known: Rows,
}

impl Comparing for Checking {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.calls.event(event)
    }

    fn difference(self: Box<Self>) -> Result<Option<&'static str>, Error> {
        let Checking { calls, mut known } = *self;
        let mut rows = calls.rows();
        for rows in [&mut rows, &mut known] {
            rows.touches.sort_by(|a, b| a.event.cmp(&b.event).then_with(|| a.path.cmp(&b.path)));
            rows.repairs.sort_by(|a, b| a.event.cmp(&b.event));
        }
        Ok((rows != known).then_some("files touched and failures"))
    }
}

fn restore(subject: &Subject<'_>, kept: &Value) -> Result<Product, Error> {
    let rows: Rows = from_kept(subject, kept)?;
    Ok(rows.product(subject.key.clone()))
}

struct Calls {
    key: SessionKey,
    touches: Touches,
    repairs: Repairs,
}

impl Calls {
    fn new(key: &SessionKey) -> Calls {
        Calls { key: key.clone(), touches: Touches::default(), repairs: Repairs::default() }
    }

    fn rows(self) -> Rows {
        let Calls { key, touches, repairs } = self;
        Rows {
            touches: touches.finish().into_iter().map(|touch| touch_row(&key, touch)).collect(),
            repairs: repairs.finish().into_iter().map(|repair| repair_row(&key, repair)).collect(),
        }
    }
}

impl Making for Calls {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.touches.push(event);
        self.repairs.push(event);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        let key = self.key.clone();
        Ok(self.rows().product(key))
    }
}

fn touch_row(key: &SessionKey, touch: Touch) -> TouchRow {
    TouchRow {
        key: key.clone(),
        event: touch.event,
        thread: touch.thread,
        turn: touch.turn,
        path: touch.path,
        writes: touch.access == Access::Write,
        added: touch.added,
        removed: touch.removed,
        at: touch.at,
        failed: touch.failed,
    }
}

fn repair_row(key: &SessionKey, mut repair: Repair) -> RepairRow {
    let others = std::mem::take(&mut repair.others);
    RepairRow {
        key: key.clone(),
        event: repair.failing.event_id.clone(),
        fingerprint: repair.fingerprint.clone(),
        others,
        at: repair.at,
        fixed: repair.passing.is_some(),
        body: serde_json::to_string(&repair).unwrap_or_default(),
    }
}
