//! The index keeps what it is given, and is no loss.

use retro_model::{
    Address, LedgerRow, LimitReading, Link, LinkKind, Stamp, Stat, Thread, Timestamp, TitleRank, Tokens,
    Usage,
};
use std::fs;
use std::path::Path;

use super::*;
use crate::{
    Changes, Error, FailureRow, Follow, Made, Mark, OpenerRow, PlaceRow, Responses, SessionRow, SourceRow,
    Spool, TurnRow,
};

fn place(path: &str) -> PlaceRow {
    PlaceRow {
        path: path.into(),
        agent: "claude".to_owned(),
        session: Some("s-1".to_owned()),
        source: SourceKey::new("a:b"),
        revision: 2,
        stamp: Stamp::File(Stat { size: u64::MAX, mtime_ns: -5, device: 7, inode: u64::MAX - 1 }),
    }
}

fn source(source: SourceKey) -> SourceRow {
    SourceRow {
        agent: "claude".to_owned(),
        session: "s-1".to_owned(),
        source,
        revision: 1,
        kind: SourceKind::Document,
        format: "json".to_owned(),
        end: 10,
        line_end: 8,
        records: 2,
        parser_version: 3,
        state: vec![0, 255],
        tail_hash: vec![1; 32],
        facts: "{}".to_owned(),
    }
}

fn turn(event: &str, number: u32, events: u64) -> TurnRow {
    TurnRow {
        agent: key().agent,
        session: key().id,
        event: event.to_owned(),
        thread: "main".to_owned(),
        number,
        started_at: Timestamp::from_millis(5),
        ended_at: Timestamp::from_millis(9),
        last: "m:9".to_owned(),
        events,
        live: true,
    }
}

fn spool(turns: &[TurnRow]) -> Spool<TurnRow> {
    let mut spool = Spool::default();
    turns.iter().for_each(|turn| spool.push(turn).unwrap());
    spool
}

fn limit() -> LimitReading {
    LimitReading {
        ts: Timestamp::from_millis(7).unwrap(),
        at: Address { source: SourceKey::main(), revision: 1, record: 3 },
        used_basis_points: 1225,
        window_minutes: Some(300),
        resets_at: Timestamp::from_millis(9),
        plan: Some("plus".to_owned()),
    }
}

fn answer(key: &str, event: &str, ms: i64) -> LedgerRow {
    let usage = Usage { own: 1, tokens: Tokens { output: 5, ..Tokens::default() }, ..Usage::default() };
    let row = LedgerRow::of(key.to_owned(), event.parse().unwrap(), Thread::main(), &usage);
    LedgerRow { ts: Timestamp::from_millis(ms), ..row }
}

#[test]
fn a_question_about_today_gets_the_rows_of_today_and_their_copies() {
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let (one, two) = (SessionKey::new("claude", "one"), SessionKey::new("claude", "two"));
    index
        .write(|writer| {
            let mut rows = Responses::new(&store);
            rows.add(&[answer("a", "m:1", 10), answer("b", "m:2", 100)])?;
            writer.put_responses(&one, &mut rows)?;
            let mut rows = Responses::new(&store);
            rows.add(&[answer("b", "m:1", 20), answer("c", "m:2", 30)])?;
            writer.put_responses(&two, &mut rows)
        })
        .unwrap();
    let at = |ms| Timestamp::from_millis(ms).unwrap();
    let named = |rows: Vec<(std::sync::Arc<SessionKey>, LedgerRow)>| {
        let mut names: Vec<String> =
            rows.iter().map(|(key, row)| format!("{} {}", key.id, row.key)).collect();
        names.sort();
        names
    };
    assert_eq!(named(index.responses_since(at(100)).unwrap()), ["one b", "two b"]);
    assert_eq!(named(index.responses_with(&two).unwrap()), ["one b", "two b", "two c"]);
    let times = |now, pause| -> Vec<i64> {
        index.busy_times(at(now), pause).unwrap().into_iter().map(Timestamp::as_millis).collect()
    };
    assert_eq!(times(120, 50), [100]);
    assert_eq!(times(120, 70), [10, 20, 30, 100]);
    assert_eq!(times(35, 50), [10, 20, 30]);
    assert_eq!(times(500, 50), [0; 0]);
}

#[test]
fn an_index_opened_to_read_is_there_or_not_and_never_made() {
    let (_folder, store) = store();
    assert!(store.index_to_read().is_none());
    assert!(!store.root().join("index").exists());
    store.index().unwrap().write(|writer| writer.put_session(&SessionRow::new(&key()))).unwrap();
    let index = store.index_to_read().unwrap();
    assert_eq!(index.session_rows().unwrap().len(), 1);
    assert!(
        index.write(|writer| writer.put_turns(&key(), &mut spool(&[turn("m:1", 1, 1)]))).is_err(),
        "it cannot be changed"
    );
}

#[test]
fn the_last_turn_of_each_thread_is_found() {
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let of_sub = |event: &str, number| TurnRow { thread: "sub".to_owned(), ..turn(event, number, 1) };
    let turns =
        [turn("m:1", 1, 1), turn("m:4", 10, 1), turn("m:3", 2, 1), of_sub("s:1", 1), of_sub("s:2", 2)];
    index.write(|writer| writer.put_turns(&key(), &mut spool(&turns))).unwrap();
    assert_eq!(index.last_turns(&key()).unwrap(), [turns[1].clone(), turns[4].clone()]);
    assert_eq!(index.last_turns(&SessionKey::new("claude", "another")).unwrap(), []);
}

#[test]
fn turns_of_one_session_are_counted_like_those_of_all() {
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let opener = |event: &str, native: &str, own: u8, copied_from: Option<&str>| OpenerRow {
        event: event.to_owned(),
        native: native.to_owned(),
        leaf: None,
        own,
        started_at: None,
        copied_from: copied_from.map(str::to_owned),
    };
    let uuid = format!("{}-0000-4000-8000-{}", "0".repeat(8), "0".repeat(12));
    let sessions = [
        ("claude", "first", vec![opener("m:1", &uuid, 2, None), opener("m:2", "n2", 2, None)]),
        ("claude", "copy", vec![opener("m:1", &uuid, 1, None), opener("m:2", "n3", 2, None)]),
        ("claude", "says", vec![opener("m:1", "n4", 2, Some("first")), opener("m:2", "n5", 2, None)]),
        ("claude", "twice", vec![opener("m:1", "n6", 2, None), opener("m:2", "n6", 2, None)]),
        ("codex", "other", vec![opener("m:1", &uuid, 1, None), opener("m:2", "n2", 1, None)]),
    ];
    index
        .write(|writer| {
            for (agent, id, openers) in &sessions {
                let key = SessionKey::new(*agent, *id);
                let own =
                    |turn: TurnRow| TurnRow { agent: key.agent.clone(), session: key.id.clone(), ..turn };
                let mut rows = Spool::default();
                for number in [1, 2, 3] {
                    rows.push(&own(turn(&format!("m:{number}"), number, 1)))?;
                }
                writer.put_turns(&key, &mut rows)?;
                let mut rows = Spool::default();
                openers.iter().try_for_each(|row| rows.push(row))?;
                writer.put_openers(&key, &mut rows)?;
            }
            Ok(())
        })
        .unwrap();
    let all = index.turn_counts().unwrap();
    let counts: Vec<u64> = sessions.iter().map(|(agent, id, _)| all[&SessionKey::new(*agent, *id)]).collect();
    assert_eq!(counts, [3, 2, 2, 2, 3]);
    for (key, count) in all {
        assert_eq!(index.turn_count_of(&key).unwrap(), count, "{key}");
    }
    let copies = index.copies_of(&SessionKey::new("claude", "copy")).unwrap();
    assert_eq!(copies, [("m:1".to_owned(), SessionKey::new("claude", "first"))].into());
    index.write(|writer| writer.forget_session(&SessionKey::new("claude", "first"))).unwrap();
    assert_eq!(index.turn_count_of(&SessionKey::new("claude", "first")).unwrap(), 0);
    assert_eq!(index.turn_count_of(&SessionKey::new("claude", "copy")).unwrap(), 3, "it has no original now");
}

#[test]
fn rows_come_back_as_they_went_in() {
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let session = SessionRow {
        title: Some("t".to_owned()),
        title_rank: Some(TitleRank::Agent),
        started_at: Timestamp::from_millis(1),
        bytes: 9,
        links: [Link { kind: LinkKind::ForkedFrom, session_id: "s-0".to_owned() }].into(),
        limits: [("codex/primary".to_owned(), limit())].into(),
        ..SessionRow::new(&key())
    };
    let made = Made { stamp: "input".to_owned(), output: "document".to_owned() };
    let failure = FailureRow {
        path: "f".into(),
        agent: "codex".into(),
        reason: "why".into(),
        at: Timestamp::from_millis(3).unwrap(),
    };
    index
        .write(|writer| {
            writer.put_place(&place("a"))?;
            writer.put_place(&place("b"))?;
            writer.forget_place(Path::new("b"))?;
            writer.put_source(&source(SourceKey::new("z")))?;
            writer.put_source(&source(SourceKey::main()))?;
            writer.put_session(&session)?;
            writer.put_made(&key(), "turns", &made)?;
            writer.put_due(&key(), "later", 7, true)?;
            writer.put_failure(&failure.path, &failure.agent, &failure.reason, failure.at)?;
            writer.put_failure(Path::new("g"), "codex", "gone", failure.at)?;
            writer.clear_failure(Path::new("g"))
        })
        .unwrap();
    index.set_meta("k", "v").unwrap();

    let index = again(&store).index().unwrap();
    let stamps = index.stamps().unwrap();
    assert_eq!(stamps.iter().collect::<Vec<_>>(), [place("a")]);
    assert_eq!(index.sources_of(&key()).unwrap(), [source(SourceKey::main()), source(SourceKey::new("z"))]);
    assert_eq!(index.session_rows().unwrap(), std::slice::from_ref(&session));
    assert_eq!(index.session_row(&key()).unwrap(), Some(session));
    assert_eq!(index.made_by("turns").unwrap(), [(key(), made.clone())].into());
    assert_eq!(index.made(&key(), "turns").unwrap(), Some(made));
    assert_eq!(index.made_by("other").unwrap(), [].into());
    assert_eq!(index.due(6).unwrap(), [].into());
    assert_eq!(index.due(7).unwrap(), [(key(), vec!["later".to_owned()])].into());
    assert_eq!(index.behind("later").unwrap(), [key()]);
    assert_eq!(index.failures().unwrap(), [failure]);
    assert_eq!(index.meta("k").unwrap().as_deref(), Some("v"));

    index.write(|writer| writer.forget_session(&key())).unwrap();
    assert!(index.stamps().unwrap().is_empty() && index.session_rows().unwrap().is_empty());
    assert!(index.made_by("turns").unwrap().is_empty() && index.due(i64::MAX).unwrap().is_empty());
}

/// Everything that a consumer can follow.
const ALL: &[Follow] =
    &[Follow::Sessions, Follow::Turns, Follow::Passages, Follow::Made("turns"), Follow::Bodies("found")];

#[test]
fn a_consumer_learns_of_what_it_follows_when_that_differs_and_of_nothing_else() {
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let made = |stamp: &str, output: &str| Made { stamp: stamp.to_owned(), output: output.to_owned() };
    let put = |stamp: &str, output: &str, text: Option<&str>| {
        index
            .write(|writer| {
                writer.put_made(&key(), "turns", &made(stamp, output))?;
                writer.put_body(&key(), "found", "a", text).map(drop)
            })
            .unwrap();
    };
    let since = |mark: &Mark, follow: Follow| index.changes_since(mark, &[follow]).unwrap();
    put("1", "x", Some("words"));
    let first = index.changes_since(&Mark::default(), ALL).unwrap();
    assert_eq!((first.made, first.bodies, first.sessions), (vec![key()], vec![key()], vec![]));
    let seen = first.mark;

    put("2", "x", Some("words"));
    assert_eq!(index.mark().unwrap(), seen, "made again, the same");
    put("3", "y", Some("words"));
    assert_eq!(since(&seen, Follow::Made("turns")).made, [key()]);
    assert_eq!(since(&seen, Follow::Made("calls")).made, []);
    assert_eq!(since(&seen, Follow::Bodies("found")).bodies, []);

    let seen = index.mark().unwrap();
    put("4", "y", None);
    let changes = since(&seen, Follow::Bodies("found"));
    assert_eq!(changes.bodies, [key()], "what went is a change too");
    assert_eq!(since(&changes.mark, Follow::Bodies("found")).bodies, []);
    assert_eq!(index.bodies("found").unwrap(), []);

    put("5", "y", Some("some words"));
    index.write(|writer| writer.put_body(&key(), "found", "b", Some("others"))).unwrap();
    index.write(|writer| writer.clear_bodies_with("found", "some")).unwrap();
    let parts: Vec<_> = index.bodies_of(&key(), "found").unwrap().into_iter().map(|row| row.part).collect();
    assert_eq!(parts, ["b"]);
    assert_eq!(index.body(&key(), "found", "b").unwrap().as_deref(), Some("others"));
}

#[test]
fn a_consumer_learns_what_changed_and_what_is_gone_and_nothing_else() {
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let other = SessionKey::new("codex", "other");
    let session = |key: &SessionKey| SessionRow { title: Some("t".to_owned()), ..SessionRow::new(key) };
    index
        .write(|writer| {
            writer.put_session(&session(&key()))?;
            writer.put_session(&session(&other))?;
            writer.put_turns(&key(), &mut spool(&[turn("m:1", 1, 3), turn("m:5", 2, 1)]))
        })
        .unwrap();
    let first = index.changes_since(&Mark::default(), ALL).unwrap();
    assert!(first.starts_over);
    assert_eq!((first.sessions.len(), first.turns.len()), (2, 2));
    let seen = first.mark;
    let nothing = index.changes_since(&seen, ALL).unwrap();
    assert_eq!(nothing, Changes { mark: seen.clone(), ..Changes::default() });

    // One turn grew, one is gone, one is new; the session that nothing happened to is not named.
    index
        .write(|writer| {
            writer.put_session(&session(&key()))?;
            writer.put_turns(&key(), &mut spool(&[turn("m:1", 1, 4), turn("m:7", 2, 1)]))
        })
        .unwrap();
    let changes = index.changes_since(&seen, ALL).unwrap();
    assert_eq!(changes.sessions, [key()]);
    let named = |event: &str| (std::sync::Arc::new(key()), event.into());
    assert_eq!(changes.turns, [named("m:1"), named("m:7")]);
    assert_eq!(changes.removed_turns, [named("m:5")]);
    assert!(!changes.starts_over && changes.removed_sessions.is_empty());
    let seen = changes.mark;

    index
        .write(|writer| writer.put_turns(&key(), &mut spool(&[turn("m:1", 1, 4), turn("m:7", 2, 1)])))
        .unwrap();
    assert_eq!(index.changes_since(&seen, ALL).unwrap().turns, [], "what is the same did not change");

    index.write(|writer| writer.forget_session(&key())).unwrap();
    let changes = index.changes_since(&seen, ALL).unwrap();
    assert_eq!((changes.removed_sessions, changes.removed_turns), (vec![key()], vec![]));
    index.write(|writer| writer.put_session(&session(&key()))).unwrap();
    let changes = index.changes_since(&seen, ALL).unwrap();
    assert_eq!((changes.sessions, changes.removed_sessions), (vec![key()], vec![]), "it is back");

    // A write that failed changed nothing.
    let seen = index.mark().unwrap();
    let failed = index.write(|writer| {
        writer.put_session(&session(&SessionKey::new("codex", "third")))?;
        Err::<(), _>(Error::Missing("x".into()))
    });
    assert!(failed.is_err());
    assert_eq!(index.mark().unwrap(), seen);

    // Another index is another series.
    drop(index);
    let index = store.index_anew().unwrap();
    let changes = index.changes_since(&seen, ALL).unwrap();
    assert!(changes.starts_over && changes.sessions.is_empty());
    assert_ne!(changes.mark.series, seen.series);
}

#[test]
fn one_snapshot_spans_several_questions() {
    let (_folder, store) = store();
    let (index, writer) = (store.index().unwrap(), again(&store).index().unwrap());
    let put =
        |id: &str| writer.write(|open| open.put_session(&SessionRow::new(&SessionKey::new("claude", id))));
    put("one").unwrap();
    let snapshot = index.snapshot().unwrap();
    assert_eq!(snapshot.session_rows().unwrap().len(), 1);
    put("two").unwrap();
    assert_eq!(snapshot.session_rows().unwrap().len(), 1, "written meanwhile");
    drop(snapshot);
    assert_eq!(index.session_rows().unwrap().len(), 2);
}

#[test]
fn the_sum_of_sizes_follows_every_session() {
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let other = SessionKey::new("codex", "other");
    let put = |key: &SessionKey, bytes| {
        let written = index.write(|writer| {
            writer.put_session(&SessionRow::new(key))?;
            writer.put_disk_bytes(key, bytes)
        });
        written.unwrap();
        index.disk_bytes().unwrap()
    };
    assert_eq!(put(&key(), 10), 10);
    assert_eq!(put(&other, 5), 15);
    assert_eq!(put(&key(), 7), 12);
    index.write(|writer| writer.forget_session(&other)).unwrap();
    assert_eq!(index.disk_bytes().unwrap(), 7);
}

#[test]
fn marks_tell_whether_the_index_belongs_to_the_files() {
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let fits = || index.marks().unwrap() == store.marks();
    assert!(fits(), "nothing was written yet");
    let slot = Slot::Session { key: key(), source: SourceKey::main(), revision: 1 };
    store.archive(&slot).append(b"one\n", 1).unwrap();
    store.sync_all().unwrap();
    assert!(!fits(), "raw changed");
    index.write(|writer| writer.put_marks(&store.marks())).unwrap();
    assert!(fits());
    store.put_session(&SessionFile::new(key())).unwrap();
    store.sync_all().unwrap();
    assert!(!fits(), "a session file changed");
    index.write(|writer| writer.put_marks(&store.marks())).unwrap();
    store.sync_all().unwrap();
    assert!(fits(), "nothing changed");
    assert_sound(&store);
}

#[test]
fn a_failed_write_leaves_nothing() {
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let result = index.write(|writer| {
        writer.set_meta("k", "v")?;
        Err::<(), _>(Error::Missing("x".into()))
    });
    assert!(result.is_err());
    assert_eq!(index.meta("k").unwrap(), None);
    index.set_meta("k", "w").unwrap();
}

#[test]
fn an_index_whose_tables_are_called_otherwise_is_made_anew() {
    let (_folder, store) = store();
    store.index().unwrap().set_meta("kept", "1").unwrap();
    assert_eq!(store.index().unwrap().meta("kept").unwrap().as_deref(), Some("1"), "nothing is wrong yet");
    let path = store.index_path();
    let mut bytes = fs::read(&path).unwrap();
    let word = b"CREATE TABLE cells (stamp ";
    let at = bytes.windows(word.len()).position(|found| found == word).unwrap() + word.len() - 3;
    bytes[at] ^= 2;
    fs::write(&path, bytes).unwrap();
    let index = store.index().unwrap();
    assert_eq!(index.meta("kept").unwrap(), None);
    assert_eq!(index.cells("any").unwrap(), None);
}

#[test]
fn a_reader_does_not_wait_for_a_writer() {
    let (_folder, store) = store();
    let writer = store.index().unwrap();
    let reader = again(&store).index().unwrap();
    writer
        .write(|open| {
            open.set_meta("k", "v")?;
            assert_eq!(reader.meta("k")?, None);
            Ok(())
        })
        .unwrap();
    assert_eq!(reader.meta("k").unwrap().as_deref(), Some("v"));
}

#[test]
#[cfg(unix)]
fn paths_that_are_no_text_come_back() {
    use std::os::unix::ffi::OsStrExt;
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xff/b"));
    let row = PlaceRow { path: path.to_owned(), ..place("") };
    index.write(|writer| writer.put_place(&row)).unwrap();
    assert_eq!(index.stamps().unwrap().get(path), Some(row));
}

#[test]
fn each_path_has_its_own_stamp() {
    let (_folder, store) = store();
    let index = store.index().unwrap();
    let row = |number: u64| PlaceRow {
        session: (!number.is_multiple_of(3)).then(|| format!("s{number}")),
        source: if number.is_multiple_of(2) {
            SourceKey::main()
        } else {
            SourceKey::new(&format!("part {number}"))
        },
        stamp: Stamp::File(Stat { size: number, ..Stat::default() }),
        ..place(&format!("/logs/{number}.jsonl"))
    };
    index.write(|writer| (0..100).try_for_each(|number| writer.put_place(&row(number)))).unwrap();
    let stamps = index.stamps().unwrap();
    for number in 0..100 {
        let row = row(number);
        let place = stamps.place(&row.path).unwrap();
        assert_eq!(
            (place.session, place.source, place.stamp.size()),
            (row.session.as_deref(), row.source.as_str(), number)
        );
        assert_eq!(stamps.get(&row.path), Some(row));
    }
    assert_eq!((stamps.len(), stamps.place(Path::new("/logs/100.jsonl"))), (100, None));
    let below: Vec<u32> = stamps.numbers_below(Path::new("/logs/1")).collect();
    assert_eq!(below.len(), 11);
}

#[test]
fn stamps_that_cannot_be_read_make_the_index_anew() {
    for garbled in [
        "UPDATE places SET stamp = x'0102'",
        "UPDATE places SET stamp = stamp || x'ff'",
        "UPDATE places SET stamp = 'a text that is long enough for the numbers of a stamp'",
        "UPDATE places SET owner = x'ff'",
        "UPDATE places SET owner = CAST(x'636c61756465ff' AS TEXT)",
    ] {
        let (_folder, store) = store();
        let index = store.index().unwrap();
        index.write(|writer| writer.put_place(&place("a"))).unwrap();
        assert_eq!(store.index_and_stamps().unwrap().1.len(), 1);
        drop(index);
        let raw = rusqlite::Connection::open(store.index_path()).unwrap();
        assert_eq!(raw.execute(garbled, []).unwrap(), 1);
        drop(raw);
        let error = store.index().unwrap().stamps().unwrap_err();
        assert!(error.is_broken_index(), "{garbled}: {error}");
        let (index, stamps) = store.index_and_stamps().unwrap();
        assert!(stamps.is_empty() && index.stamps().unwrap().is_empty(), "{garbled}");
        index.write(|writer| writer.put_place(&place("a"))).unwrap();
        assert_eq!(index.stamps().unwrap().len(), 1);
    }
}

#[test]
fn a_broken_or_older_index_is_made_anew_and_a_newer_one_refused() {
    let (_folder, store) = store();
    let path = store.root().join("index/retro.sqlite");
    store.index().unwrap().set_meta("k", "v").unwrap();

    fs::write(&path, "this is no database, and longer than a header of one would have to be".repeat(40))
        .unwrap();
    assert_eq!(store.verify(true, &mut |_| {}).unwrap().problems.len(), 1);
    let index = store.index().unwrap();
    assert_eq!(index.meta("k").unwrap(), None);
    index.set_meta("k", "v").unwrap();
    drop(index);
    assert_sound(&store);

    let version = |number: u32| {
        let raw = rusqlite::Connection::open(&path).unwrap();
        raw.pragma_update(None, "user_version", number).unwrap();
    };
    let raw = rusqlite::Connection::open(&path).unwrap();
    let current: u32 = raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    drop(raw);
    version(0);
    let index = store.index().unwrap();
    assert_eq!(index.meta("k").unwrap(), None);
    index.set_meta("k", "v").unwrap();
    drop(index);

    version(99);
    let error = store.index().unwrap_err();
    assert!(matches!(error, Error::Newer { found: 99, .. }), "{error}");
    version(current);
    assert_eq!(store.index().unwrap().meta("k").unwrap().as_deref(), Some("v"));
}

#[test]
fn an_index_that_turns_out_broken_can_be_told_and_made_anew() {
    let (_folder, store) = store();
    let path = store.root().join("index/retro.sqlite");
    let index = store.index().unwrap();
    index
        .write(|writer| (0..5000).try_for_each(|n| writer.put_place(&place(&format!("some/path/{n}")))))
        .unwrap();
    drop(index);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    // The rows are behind the tables' own pages, whatever their number.
    bytes[middle..].fill(0xEE);
    fs::write(&path, bytes).unwrap();
    let error = store.index().unwrap().stamps().unwrap_err();
    assert!(error.is_broken_index(), "{error}");
    assert!(store.index_anew().unwrap().stamps().unwrap().is_empty());
}
