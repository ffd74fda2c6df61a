//! What the calls of a session did: files touched, failures, and what became of them.

use retro_model::{Access, Event, SessionKey};
use retro_search::{Repair, Repairs, Touch, Touches};
use retro_store::{Index, RepairRow, TouchRow, Writer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Input, Making, Product, Stage, Subject, Truth, When, Work, from_kept, to_keep};
use crate::Error;
use crate::stamp::short_hash;

pub(super) const STAGE: Stage = Stage {
    name: "calls",
    version: 1,
    when: When::AppendAndQuiet,
    help: "files that were touched, failures and what fixed them",
    inputs: &[Input::Events],
    work: Work::Events(make),
    truth: Some(Truth { keep, restore }),
};

fn make(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    Ok(Box::new(Calls { key: subject.key.clone(), touches: Touches::default(), repairs: Repairs::default() }))
}

/// The rows as they are kept of an evicted session.
#[derive(Default, Serialize, Deserialize)]
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

fn keep(index: &Index, key: &SessionKey) -> Result<Value, Error> {
    let rows = Rows { touches: index.touches_in(key)?, repairs: index.repairs_in(key)? };
    to_keep(&rows)
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

impl Making for Calls {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.touches.push(event);
        self.repairs.push(event);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        let Calls { key, touches, repairs } = *self;
        let touches: Vec<TouchRow> =
            touches.finish().into_iter().map(|touch| touch_row(&key, touch)).collect();
        let repairs: Vec<RepairRow> =
            repairs.finish().into_iter().map(|repair| repair_row(&key, repair)).collect();
        Ok(Rows { touches, repairs }.product(key))
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

fn repair_row(key: &SessionKey, repair: Repair) -> RepairRow {
    RepairRow {
        key: key.clone(),
        event: repair.failing.event_id.clone(),
        fingerprint: repair.fingerprint.clone(),
        at: repair.at,
        fixed: repair.passing.is_some(),
        body: serde_json::to_string(&repair).unwrap_or_default(),
    }
}
