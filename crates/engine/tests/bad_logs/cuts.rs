//! A last line that was cut, at every byte: it is pending until the rest arrives,
//! and then it is one record.

use retro_model::{GapReason, SessionKey};

use crate::support::Machine;
use crate::{File, ID, holds, logged, loggers, nth, retold, settled, story, words, write};

/// Few words, since it is told once for every byte.
const STORY: &str = "> Hi\n< Hello.\n";

/// The story with its main log cut so many bytes after the start of its last line.
fn cut(files: &[File], id: &str, kept: usize) -> Vec<File> {
    let mut files = retold(files, id);
    for file in files.iter_mut().filter(|file| file.source.is_main()) {
        file.bytes.truncate(last_line(&file.bytes) + kept);
    }
    files
}

fn last_line(bytes: &[u8]) -> usize {
    bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1
}

#[test]
fn a_last_line_cut_at_every_byte_is_pending_and_then_one_record() {
    for agent in &loggers() {
        let files = logged(*agent, STORY);
        let main = files.iter().find(|file| file.source.is_main()).unwrap();
        // All of the line but its end is a record already.
        let length = main.bytes.len() - last_line(&main.bytes) - 1;
        let machine = Machine::new().busy();
        for kept in 0..=length {
            write(&machine, &cut(&files, &nth(kept), kept));
        }
        let report = machine.sync();
        assert_eq!((report.ingested as usize, report.failed), (length + 1, 0), "{}", agent.name());
        let key = |kept: usize| SessionKey::new(agent.name(), nth(kept));
        let without = words(&settled(&machine, &key(0)).events);
        let whole = words(&settled(&machine, &key(length)).events);
        assert_ne!(without, whole, "{}: the last line must tell something", agent.name());
        for kept in 0..=length {
            let what = format!("{}, cut after {kept} of {length} bytes", agent.name());
            let settled = holds(&machine, &key(kept), &cut(&files, &nth(kept), kept), &what);
            let reasons: Vec<_> = settled.gaps.iter().map(|gap| &gap.reason).collect();
            match kept {
                0 => assert!(reasons.is_empty(), "{what}: {reasons:?}"),
                _ if kept == length => {
                    assert!(reasons.is_empty(), "{what}: {reasons:?}");
                    assert_eq!(words(&settled.events), whole, "{what}");
                }
                _ => {
                    assert_eq!(reasons, [&GapReason::Pending], "{what}");
                    assert_eq!(words(&settled.events), without, "{what}");
                }
            }
        }
        // The rest comes for every second one; the others never get it.
        for kept in (0..=length).step_by(2) {
            write(&machine, &retold(&files, &nth(kept)));
        }
        let report = machine.sync();
        assert_eq!((report.ingested, report.failed), (0, 0), "{}", agent.name());
        for kept in 0..=length {
            let what = format!("{}, continued after {kept} of {length} bytes", agent.name());
            if kept % 2 == 0 {
                let settled = holds(&machine, &key(kept), &retold(&files, &nth(kept)), &what);
                assert_eq!((words(&settled.events), settled.gaps), (whole.clone(), Vec::new()), "{what}");
            } else {
                assert_eq!(settled(&machine, &key(kept)).gaps.len(), usize::from(kept != length), "{what}");
            }
        }
        machine.verify();
    }
}

/// Cut inside of it, continued with something else: the old bytes are a revision,
/// and both are read.
#[test]
fn a_cut_line_that_goes_on_otherwise_is_a_gap() {
    for agent in &loggers() {
        let files = story(*agent);
        let machine = Machine::new();
        let mut files = cut(&files, ID, 20);
        write(&machine, &files);
        machine.sync();
        for file in files.iter_mut().filter(|file| file.source.is_main()) {
            file.bytes.extend_from_slice(b"\n{\"type\":\"novelty\"}\n");
        }
        write(&machine, &files);
        let report = machine.sync();
        assert_eq!((report.appended, report.failed), (1, 0), "{}", agent.name());
        let settled = holds(&machine, &SessionKey::new(agent.name(), ID), &files, agent.name());
        let reasons: Vec<_> = settled.gaps.iter().map(|gap| &gap.reason).collect();
        assert_eq!(reasons, [&GapReason::Malformed], "{}", agent.name());
        machine.verify();
    }
}
