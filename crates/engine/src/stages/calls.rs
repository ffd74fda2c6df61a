//! What the calls of a session did: files touched, failures, and what became of them.

use retro_model::{Access, Event, SessionKey};
use retro_search::{Repair, Repairs, Touch, Touches};
use retro_store::{RepairRow, TouchRow, Writer};

use super::{Input, Making, Product, Stage, Subject, When, Work};
use crate::Error;
use crate::stamp::short_hash;

pub(super) const STAGE: Stage = Stage {
    name: "calls",
    version: 1,
    when: When::AppendAndQuiet,
    help: "files that were touched, failures and what fixed them",
    inputs: &[Input::Events],
    work: Work::Events(make),
};

fn make(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    Ok(Box::new(Calls { key: subject.key.clone(), touches: Touches::default(), repairs: Repairs::default() }))
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
        let output = short_hash(&format!("{touches:?}{repairs:?}"));
        let put = move |index: &Writer<'_>| index.put_calls(&key, &touches, &repairs);
        Ok(Product { output, put: Some(Box::new(put)), ..Product::default() })
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
