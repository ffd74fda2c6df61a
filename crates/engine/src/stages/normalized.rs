//! The settled events of a quiet session, cached as a file for other programs. Made only on
//! request: our own readers compute them from raw if the file is missing.

use retro_model::Event;
use retro_store::NormalizedWriter;

use super::{Input, Making, Product, Stage, Subject, When, Work};
use crate::Error;

pub(crate) const STAGE: Stage = Stage {
    name: "normalized",
    version: 1,
    when: When::Asked,
    help: "the settled events as a file, where asked for",
    inputs: &[Input::Events],
    work: Work::Events(make),
    ..Stage::PLAIN
};

fn make(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    Ok(Box::new(Writing(subject.store.normalized_writer(subject.key, subject.stamp)?)))
}

struct Writing(NormalizedWriter);

impl Making for Writing {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        Ok(self.0.push(event)?)
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        self.0.finish()?;
        Ok(Product::default())
    }
}
