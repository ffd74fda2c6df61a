//! Lines that are no records, between lines that are: the good ones are told as if
//! nothing had happened, the bad ones are gaps.

use retro_agents::Format;
use retro_model::GapReason::{self, InvalidUtf8, Malformed, NulBytes};
use retro_model::SessionKey;

use crate::support::{self, Machine};
use crate::{File, ID, holds, lines, loggers, nth, retold, settled, story, words, write};

/// What is done to a log, and the gaps that must come of it.
struct Trial {
    name: &'static str,
    spoil: fn(&[u8]) -> Vec<u8>,
    gaps: &'static [GapReason],
}

const fn trial(name: &'static str, spoil: fn(&[u8]) -> Vec<u8>, gaps: &'static [GapReason]) -> Trial {
    Trial { name, spoil, gaps }
}

const LOGS: &[Trial] = &[
    trial("untouched", |log| log.to_vec(), &[]),
    trial("no final newline", |log| log[..log.len() - 1].to_vec(), &[]),
    trial("a byte order mark", |log| [b"\xEF\xBB\xBF", log].concat(), &[]),
    trial(
        "carriage returns",
        |log| lines(log).iter().flat_map(|line| [&line[..line.len() - 1], b"\r\n"].concat()).collect(),
        &[],
    ),
    trial("blank lines", |log| between(log, b"\n  \t\n\r\n"), &[]),
    trial("zero bytes at the end", |log| [log, &[0; 4096]].concat(), &[NulBytes]),
    trial("zero bytes at the end of a line", |log| [log, &[0; 4096], b"\n"].concat(), &[NulBytes]),
    trial("zero bytes, then the program went on", |log| between(log, &[0; 512]), &[NulBytes]),
    trial("half a record", |log| between(log, b"{\"type\":\"user\",\"message\":{\"con\n"), &[Malformed]),
    trial("two records on a line", |log| between(log, b"{\"a\":1}{\"b\":2}\n"), &[Malformed]),
    trial("text", |log| between(log, b"Error: no space left on device\n"), &[Malformed]),
    trial("control characters in a string", |log| between(log, b"{\"a\":\"\x01\x1b[31m\"}\n"), &[Malformed]),
    trial("invalid UTF-8", |log| between(log, b"{\"a\":\"\xff\xfe\xc3\"}\n"), &[InvalidUtf8]),
    trial("invalid UTF-8 outside of JSON", |log| between(log, b"\xff\xfe\n"), &[Malformed]),
    trial(
        "halves of surrogate pairs",
        |log| between(log, br#"{"a":"\ud800","\udc00":"\udc00\ud800x"}"#),
        &[],
    ),
    trial("duplicate keys", |log| between(log, br#"{"type":"a","type":{"b":1},"type":"c"}"#), &[]),
    trial("1e999", |log| between(log, br#"{"a":1e999,"b":-1e999}"#), &[Malformed]),
    trial(
        "integers of many digits",
        |log| {
            between(
                log,
                br#"{"a":18446744073709551615,"b":-98765432109876543210,"c":123456789012345678901234567890}"#,
            )
        },
        &[],
    ),
    trial("minus zero", |log| between(log, br#"{"a":-0,"b":-0.0,"c":0e0}"#), &[]),
    trial("NaN", |log| between(log, br#"{"a":NaN}"#), &[Malformed]),
    trial("Infinity", |log| between(log, br#"{"a":-Infinity}"#), &[Malformed]),
    trial("no objects", |log| between(log, b"[]\n\"text\"\n12\nnull\ntrue\n{}\n"), &[]),
    trial("brackets 100,000 deep", |log| between(log, &b"[".repeat(100_000)), &[Malformed]),
    trial(
        "lists 100,000 deep",
        |log| between(log, &[b"[".repeat(100_000), b"]".repeat(100_000)].concat()),
        &[Malformed],
    ),
    trial(
        "objects 100,000 deep",
        |log| between(log, &[br#"{"a":"#.repeat(100_000), b"1".to_vec(), b"}".repeat(100_000)].concat()),
        &[Malformed],
    ),
    trial(
        "records that nobody knows",
        |log| {
            between(
                log,
                br#"{"type":"novelty","payload":{"type":"news"},"method":"x/y","params":{"update":{}}}"#,
            )
        },
        &[],
    ),
];

const DOCUMENTS: &[Trial] = &[
    trial("empty", |_| Vec::new(), &[]),
    trial("blank", |_| b"\n \n".to_vec(), &[]),
    trial("cut", |document| document[..document.len() / 2].to_vec(), &[Malformed]),
    trial("text", |_| b"no document".to_vec(), &[Malformed]),
    trial("only zero bytes", |_| vec![0; 4096], &[NulBytes]),
    trial("a list", |_| b"[1, [2], {}]".to_vec(), &[]),
    trial("a number", |_| b"18446744073709551615".to_vec(), &[]),
    trial("objects 100,000 deep", |_| br#"{"a":"#.repeat(100_000), &[Malformed]),
    trial("a byte order mark", |document| [b"\xEF\xBB\xBF", document].concat(), &[]),
];

/// Puts bytes on lines of their own after the first and after a middle line.
fn between(log: &[u8], bad: &[u8]) -> Vec<u8> {
    let lines = lines(log);
    let (first, rest) = lines.split_first().unwrap();
    let (head, tail) = rest.split_at(rest.len() / 2);
    let ended = |bad: &[u8]| match bad.ends_with(b"\n") || bad.ends_with(&[0]) {
        true => bad.to_vec(),
        false => [bad, b"\n"].concat(),
    };
    [first.to_vec(), ended(bad), head.concat(), ended(bad), tail.concat()].concat()
}

/// Runs a table: each trial spoils the files that `wanted` names, in a session of its own.
fn run(trials: &[Trial], wanted: fn(&File) -> bool, same_words: bool) {
    for agent in support::agents() {
        let files = story(*agent);
        if !files.iter().any(wanted) {
            println!("{} has no such file", agent.name());
            continue;
        }
        let machine = Machine::new();
        write(&machine, &files);
        let mut sessions = Vec::new();
        for (n, trial) in (1..).zip(trials) {
            let mut files = retold(&files, &nth(n));
            for file in files.iter_mut().filter(|file| wanted(file)) {
                file.bytes = (trial.spoil)(&file.bytes);
            }
            write(&machine, &files);
            sessions.push((trial, SessionKey::new(agent.name(), nth(n)), files));
        }
        let report = machine.sync();
        assert_eq!(report.failed, 0, "{}: {:?}", agent.name(), report.failures);
        assert_eq!(report.ingested as usize, trials.len() + 1, "{}", agent.name());
        let clean = settled(&machine, &SessionKey::new(agent.name(), ID));
        assert!(clean.gaps.is_empty());
        for (trial, key, files) in sessions {
            let what = format!("{}: {}", agent.name(), trial.name);
            let settled = holds(&machine, &key, &files, &what);
            if same_words {
                assert_eq!(words(&settled.events), words(&clean.events), "{what}");
            }
            for file in files.iter().filter(|file| wanted(file)) {
                let mut reasons: Vec<_> = settled
                    .gaps
                    .iter()
                    .filter(|gap| gap.source == file.source)
                    .map(|gap| gap.reason.clone())
                    .collect();
                reasons.dedup();
                assert_eq!(reasons, trial.gaps, "{what}: {} {:?}", file.source, settled.gaps);
            }
        }
        let again = machine.sync();
        assert_eq!((again.ingested, again.appended, again.failed), (0, 0, 0), "{}", agent.name());
        machine.verify();
    }
}

#[test]
fn bad_lines_spoil_no_good_ones() {
    run(LOGS, File::is_log, true);
}

#[test]
fn bad_documents_spoil_no_log() {
    run(DOCUMENTS, |file| file.format == Format::Json, false);
}

/// Nothing, or nothing but line ends: no session yet, and no trouble. When the
/// program writes, it is one.
#[test]
fn an_empty_log_is_no_session_until_something_is_said() {
    for agent in &loggers() {
        let files = story(*agent);
        let key = SessionKey::new(agent.name(), ID);
        let clean = {
            let machine = Machine::new();
            write(&machine, &files);
            machine.sync();
            words(&machine.events(&key))
        };
        for blank in ["", "\n", "\n\n \r\n\n"] {
            let machine = Machine::new();
            for file in &files {
                machine.write(&file.path, if file.is_log() { blank.as_bytes() } else { &file.bytes });
            }
            let report = machine.sync();
            assert_eq!(
                (report.failed, report.gaps),
                (0, 0),
                "{} {blank:?}: {:?}",
                agent.name(),
                report.failures
            );
            machine.verify();
            write(&machine, &files);
            assert_eq!(machine.sync().failed, 0);
            // The blank lines may stay as a first revision; the story is the same.
            assert_eq!(words(&machine.events(&key)), clean, "{} {blank:?}", agent.name());
            machine.verify();
        }
    }
}

fn tiny_lines(count: usize) {
    for agent in &loggers() {
        let machine = Machine::new().busy();
        let mut files = story(*agent);
        let clean = {
            write(&machine, &retold(&files, &nth(1)));
            machine.sync();
            settled(&machine, &SessionKey::new(agent.name(), nth(1)))
        };
        for file in files.iter_mut().filter(|file| file.is_log() && file.source.is_main()) {
            file.bytes = [file.bytes.as_slice(), &b"{}\n".repeat(count)].concat();
        }
        write(&machine, &files);
        let report = machine.sync();
        assert_eq!((report.ingested, report.failed), (1, 0), "{}", agent.name());
        let settled = holds(&machine, &SessionKey::new(agent.name(), ID), &files, agent.name());
        assert_eq!(words(&settled.events), words(&clean.events), "{}", agent.name());
        let more = settled.coverage.records - clean.coverage.records;
        assert_eq!(more as usize, count, "{}", agent.name());
        machine.verify();
    }
}

#[test]
fn very_many_tiny_lines_are_counted() {
    tiny_lines(50_000);
}

/// The full number takes a while: `cargo test -p retro-engine --test bad_logs -- --ignored`.
#[test]
#[ignore = "a million lines take their time"]
fn a_million_tiny_lines_are_counted() {
    tiny_lines(1_000_000);
}
