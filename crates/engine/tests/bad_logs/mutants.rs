//! Sessions in each of which one record was changed, and what must hold of them.

use rayon::prelude::*;
use retro_agents::Agent;
use retro_model::{Event, Gap, SessionKey, SourceKey};
use retro_usage::{By, Prices, Query, decide};
use serde_json::json;

use crate::support::Machine;
use crate::{File, ID, holds, lines, nth, retold, settled, write};

/// A story with one line changed.
pub(crate) struct Mutant {
    /// Which of its files.
    pub(crate) file: usize,
    /// Which line of it, from 0.
    pub(crate) line: usize,
    /// What is no longer in the line, as JSON.
    pub(crate) gone: String,
    /// What stands there instead.
    pub(crate) bytes: Vec<u8>,
}

/// Sessions in one home at a time.
const BATCH: usize = 1500;

/// Captures every mutant as a session of its own: nothing fails, and what the other
/// records say is still said.
pub(crate) fn survive(agent: &dyn Agent, files: &[File], mutants: &[Mutant], allowed: fn(&[Gap]) -> bool) {
    for mutants in mutants.chunks(BATCH) {
        let machine = Machine::new().busy();
        write(&machine, files);
        for (n, mutant) in (1..).zip(mutants) {
            write(&machine, &mutated(files, n, mutant));
        }
        let report = machine.sync();
        assert_eq!(report.failed, 0, "{}: {:?}", agent.name(), report.failures);
        assert_eq!(report.ingested as usize, mutants.len() + 1, "{}", agent.name());
        let clean = settled(&machine, &SessionKey::new(agent.name(), ID)).events;
        let numbered: Vec<(usize, &Mutant)> = (1..).zip(mutants).collect();
        numbered.par_iter().for_each(|(n, mutant)| {
            let key = SessionKey::new(agent.name(), nth(*n));
            let what = format!("{key}: {}", String::from_utf8_lossy(&mutant.bytes).trim_end());
            let settled = holds(&machine, &key, &mutated(files, *n, mutant), &what);
            assert!(allowed(&settled.gaps), "{what}: {:?}", settled.gaps);
            let lost = lost(&clean, &settled.events, &files[mutant.file].source, mutant);
            assert_eq!(lost, None, "{what}");
        });
        // Figures as large as they come can still be added up.
        let counted = decide(machine.store().index().unwrap().responses().unwrap());
        for by in [By::Daily, By::Session, By::Model, By::Blocks] {
            retro_usage::report(&counted, &Prices::embedded().unwrap(), &Query { by, ..Query::default() });
        }
        machine.verify();
    }
}

fn mutated(files: &[File], n: usize, mutant: &Mutant) -> Vec<File> {
    let mut files = files.to_vec();
    let log = &mut files[mutant.file].bytes;
    let mut lines: Vec<Vec<u8>> = lines(log).into_iter().map(<[u8]>::to_vec).collect();
    lines[mutant.line].clone_from(&mutant.bytes);
    *log = lines.concat();
    retold(&files, &nth(n))
}

/// A text that the clean session has from another record, and this one does not have.
fn lost<'e>(clean: &'e [Event], events: &[Event], source: &SourceKey, mutant: &Mutant) -> Option<&'e str> {
    let other = |event: &&Event| event.raw.source != *source || event.raw.record != mutant.line as u64 + 1;
    let texts = clean.iter().filter(other).filter_map(|event| event.text.as_deref());
    let is_gone = |text: &str| mutant.gone.contains(json!(text).to_string().trim_matches('"'));
    let is_said =
        |text: &str| events.iter().any(|event| event.text.as_deref().is_some_and(|said| said.contains(text)));
    texts.map(String::as_str).find(|text| !is_gone(text) && !is_said(text))
}
