//! Clocks that lie: the order is that of the log, and no time is invented.

use retro_model::{Kind, SessionKey, SourceKey, Timestamp};
use serde_json::Value;

use crate::support::Machine;
use crate::{File, ID, holds, lines, loggers, nth, retold, settled, story, words, write};

/// What a time becomes; none: it is taken out.
type Lie = fn(i64) -> Option<Time>;

/// A time as logs have it.
enum Time {
    At(i64),
    Text(&'static str),
}

const START_MS: i64 = 1_772_359_200_000;

/// Each row: what the clock does, and whether events may still have a time.
const LIES: &[(&str, Lie, bool)] = &[
    ("absent", |_| None, false),
    ("backwards", |ms| Some(Time::At(START_MS - (ms - START_MS))), true),
    ("all at once", |_| Some(Time::At(START_MS)), true),
    ("1970", |_| Some(Time::At(0)), true),
    ("9999", |_| Some(Time::At(253_399_622_400_000)), true),
    ("the last second of 9999", |_| Some(Time::Text("9999-12-31T23:59:59Z")), true),
    ("local, without a zone", |_| Some(Time::Text("2026-03-01T10:00:00")), false),
    ("words", |_| Some(Time::Text("yesterday")), false),
    ("empty", |_| Some(Time::Text("")), false),
    ("31 February", |_| Some(Time::Text("2026-02-31T10:00:00Z")), false),
    ("the year 10000", |_| Some(Time::Text("+10000-01-01T00:00:00Z")), false),
];

fn lie_to(value: &mut Value, lie: Lie) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| time(value).is_none_or(|ms| lie(ms).is_some()));
            fields.values_mut().for_each(|value| lie_to(value, lie));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| lie_to(item, lie)),
        other => {
            if let Some(said) = time(other).and_then(lie) {
                *other = match (said, &*other) {
                    (Time::Text(text), _) => Value::from(text),
                    (Time::At(ms), Value::String(_)) => {
                        Value::from(Timestamp::from_millis(ms).unwrap().to_string())
                    }
                    // Seconds or milliseconds, as it was.
                    (Time::At(ms), number) if number.as_i64() < Some(10_000_000_000) => {
                        Value::from(ms / 1000)
                    }
                    (Time::At(ms), _) => Value::from(ms),
                };
            }
        }
    }
}

/// The time that a value is, if it looks like one of the story's.
fn time(value: &Value) -> Option<i64> {
    let near = |ms: &i64| (ms - START_MS).abs() < 86_400_000;
    match value {
        Value::String(text) => Some(Timestamp::parse(text)?.as_millis()).filter(near),
        Value::Number(number) => {
            let number = number.as_i64()?;
            [number, number.saturating_mul(1000)].into_iter().find(near)
        }
        _ => None,
    }
}

fn with(file: &File, lie: Lie) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines(&file.bytes) {
        let mut record: Value = serde_json::from_slice(line).unwrap();
        lie_to(&mut record, lie);
        out.extend_from_slice(format!("{record}\n").as_bytes());
    }
    out
}

#[test]
fn the_order_is_that_of_the_log() {
    for agent in &loggers() {
        let files = story(*agent);
        let machine = Machine::new();
        write(&machine, &files);
        let mut sessions = Vec::new();
        for (n, (name, lie, timed)) in (1..).zip(LIES) {
            let mut files = files.clone();
            for file in files.iter_mut().filter(|file| file.is_log()) {
                file.bytes = with(file, *lie);
            }
            let files = retold(&files, &nth(n));
            write(&machine, &files);
            sessions.push((name, timed, SessionKey::new(agent.name(), nth(n)), files));
        }
        let report = machine.sync();
        assert_eq!((report.failed, report.gaps), (0, 0), "{}: {:?}", agent.name(), report.failures);
        let clean = settled(&machine, &SessionKey::new(agent.name(), ID)).events;
        let asked = |events: &[retro_model::Event]| {
            let said = |event: &&retro_model::Event| {
                matches!(event.kind, Kind::User | Kind::Assistant | Kind::ToolCall | Kind::ToolResult)
            };
            words(&events.iter().filter(said).cloned().collect::<Vec<_>>())
        };
        for (name, timed, key, files) in sessions {
            let what = format!("{}: {name}", agent.name());
            let events = holds(&machine, &key, &files, &what).events;
            assert_eq!(asked(&events), asked(&clean), "{what}");
            let in_log =
                |source: &SourceKey| files.iter().any(|file| file.is_log() && file.source == *source);
            let invented: Vec<_> = events
                .iter()
                .filter(|event| event.ts.is_some() && !timed && in_log(&event.raw.source))
                .map(|event| event.id.to_string())
                .collect();
            assert!(invented.is_empty(), "{what}: {invented:?} have a time");
        }
        machine.verify();
    }
}
