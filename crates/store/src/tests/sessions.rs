//! Session files, derived files and the queue.

use retro_model::{Address, Facts, Link, LinkKind, Timestamp, TitleRank};
use std::fs;

use super::*;
use crate::sections::{Document, Section};
use crate::{DIGESTS, Job, LEDGER, SESSIONS};

fn facts() -> Facts {
    let at = Address { source: SourceKey::main(), revision: 1, record: 3 };
    let mut facts = Facts::default();
    facts.see(Timestamp::parse("2026-03-01T10:00:00Z"));
    facts.title(TitleRank::Prompt, &at, &retro_text::redact("mend the fence"));
    facts.cwd = Some((at, retro_text::redact("home/fence")));
    facts.versions.insert("2.0".to_owned());
    facts.links.insert(Link { kind: LinkKind::Parent, session_id: "s-0".to_owned() });
    facts
}

#[test]
fn a_session_file_is_written_once_and_read_back() {
    let (_folder, store) = store();
    store.archive(&slot()).append(b"x\n", 1).unwrap();
    let file = SessionFile { facts: facts(), ..session_file(1) };
    assert!(store.put_session(&file).unwrap());
    assert!(!store.put_session(&file).unwrap());
    let kept = store.session(&key()).unwrap().unwrap();
    assert_eq!(kept.facts.ended_at, None);
    assert_eq!(kept.sources, file.sources);
    assert_eq!(again(&store).session(&key()).unwrap(), None, "before the sync it is only ours");

    store.sync_all().unwrap();
    let other = again(&store);
    assert_eq!(other.session(&key()).unwrap(), Some(kept));
    assert_eq!(other.session_keys().unwrap(), [key()]);
    let mut later = file.clone();
    later.facts.see(Timestamp::parse("2026-03-02T10:00:00Z"));
    assert!(!other.put_session(&later).unwrap(), "only the end changed");
    later.pins.insert("keep".to_owned());
    assert!(other.put_session(&later).unwrap());
    assert_sound(&store);
}

#[test]
fn a_session_file_reads_well() {
    let (_folder, store) = store();
    store.put_session(&SessionFile { facts: facts(), ..session_file(1) }).unwrap();
    store.sync_all().unwrap();
    let text = String::from_utf8(store.text_of(&SESSIONS, &key()).unwrap().unwrap()).unwrap();
    let (for_people, _) = text.split_once("  \"facts\"").unwrap();
    insta::assert_snapshot!(for_people, @r#"
    {
      "schema": "retro.session/1",
      "agent": "claude",
      "id": "s-1",
      "title": "mend the fence",
      "title_from": "prompt",
      "cwd": "home/fence",
      "branch": null,
      "started_at": "2026-03-01T10:00:00.000Z",
      "versions": [
        "2.0"
      ],
      "models": [],
      "links": [
        {
          "kind": "parent",
          "session_id": "s-0"
        }
      ],
      "evicted_at": null,
      "pins": [],
      "sources": {
        "m": {
          "kind": "log",
          "format": "json_lines",
          "revisions": 1,
          "places": [
            "home/s-1.jsonl"
          ]
        }
      },
    "#);
}

#[test]
fn odd_ids_find_their_files_again() {
    let (_folder, store) = store();
    let long = "long ".repeat(60);
    let ids = ["../../x", "CON", "con", "Ab", "ab", "", "a\nb\0", "_shared", "\u{1F980}", &long];
    let source = SourceKey::new(&"Part ".repeat(40));
    for id in ids {
        let key = SessionKey::new("odd/agent", id);
        for (source, revision) in [(SourceKey::main(), 1), (source.clone(), 1), (source.clone(), 2)] {
            let slot = Slot::Session { key: key.clone(), source, revision };
            store.archive(&slot).append(id.as_bytes(), 0).unwrap();
        }
        let mut file = SessionFile { key: key.clone(), ..session_file(1) };
        let entry = SourceEntry { revisions: 2, ..file.sources[&SourceKey::main()].clone() };
        file.sources.insert(source.clone(), entry);
        store.put_session(&file).unwrap();
    }
    store.sync_all().unwrap();
    assert_sound(&store);
    let keys = again(&store).session_keys().unwrap();
    assert_eq!(keys.len(), ids.len());
    for key in keys {
        let slots = store.raw_slots(&key).unwrap();
        let named: Vec<_> = slots.iter().map(|slot| slot.to_string().ends_with("~2")).collect();
        assert_eq!(named, [false, false, true]);
        for slot in &slots {
            assert_eq!(bytes_of(&store.archive(slot)), key.id.as_bytes());
        }
    }
    for (path, _) in files_below(store.root().parent().unwrap()) {
        assert!(path.starts_with(store.root()));
    }
}

#[test]
fn a_missing_raw_file_is_a_problem_unless_it_was_given_up() {
    let (_folder, store) = store();
    store.archive(&slot()).append(b"x\n", 1).unwrap();
    store.put_session(&session_file(1)).unwrap();
    store.sync_all().unwrap();
    fs::remove_file(store.archive(&slot()).path()).unwrap();
    let report = store.verify(false, &mut |_| {}).unwrap();
    assert_eq!(report.problems.len(), 1, "{report:?}");

    let evicted_at = Timestamp::from_millis(1_000);
    store.put_session(&SessionFile { evicted_at, ..session_file(1) }).unwrap();
    store.sync_all().unwrap();
    store.remove_raw(&key()).unwrap();
    assert_sound(&store);
    assert_eq!(store.raw_slots(&key()).unwrap(), []);
    assert!(store.remove_session(&key()).unwrap());
    assert_eq!(store.session_keys().unwrap(), []);
}

#[test]
fn a_session_file_under_another_name_is_a_problem() {
    let (_folder, store) = store();
    store.archive(&slot()).append(b"x\n", 1).unwrap();
    store.put_session(&session_file(1)).unwrap();
    store.sync_all().unwrap();
    let wrong = SessionKey::new("claude", "s-2");
    let path = store.session_path(&wrong);
    fs::copy(store.session_path(&key()), path).unwrap();
    assert!(store.session(&wrong).is_err());
    assert_eq!(store.verify(false, &mut |_| {}).unwrap().problems.len(), 1);
    assert!(
        store.put_session(&SessionFile { key: wrong.clone(), ..SessionFile::new(wrong.clone()) }).unwrap()
    );
    store.sync_all().unwrap();
    assert_sound(&store);
}

#[test]
fn what_others_left_in_the_store_is_noted_and_kept() {
    let (_folder, store) = store();
    store.archive(&slot()).append(b"x\n", 1).unwrap();
    store.put_session(&session_file(1)).unwrap();
    store.sync_all().unwrap();
    fs::create_dir(store.root().join("raw/claude/s-1")).unwrap();
    for place in
        ["raw/.DS_Store", "raw/claude/note.txt", "raw/claude/s-1/M.ZST", "sessions/claude/s-1.zst.part"]
    {
        fs::write(store.root().join(place), "?").unwrap();
    }
    let report = store.verify(true, &mut |_| {}).unwrap();
    assert_eq!((report.problems.len(), report.notes.len()), (0, 4), "{report:?}");
    assert_eq!(store.raw_slots(&key()).unwrap(), [slot()]);
    assert_eq!(store.session_keys().unwrap(), [key()]);
}

#[test]
fn normalized_events_need_their_stamp_and_all_their_bytes() {
    let (_folder, store) = store();
    let event: retro_model::Event = serde_json::from_value(serde_json::json!({
        "id": "m:1", "seq": 1, "turn": 1, "thread": "main", "live": true, "kind": "user", "origin": "user",
        "text": "hello", "raw": {"source": "m", "revision": 1, "record": 1, "offset": 0, "length": 5}
    }))
    .unwrap();
    let events = vec![event; 3];
    store.put_normalized(&key(), "one", &events).unwrap();
    assert_eq!(store.normalized(&key(), "one").unwrap(), Some(events));
    assert_eq!(store.normalized(&key(), "two").unwrap(), None);

    let path = store.normalized_path(&key());
    let good = fs::read(&path).unwrap();
    for cut in 0..good.len() {
        fs::write(&path, &good[..cut]).unwrap();
        assert_eq!(store.normalized(&key(), "one").unwrap(), None, "cut at {cut}");
    }
    store.put_rendered(&key(), "# hello").unwrap();
    store.index().unwrap();
    store.remove_derived().unwrap();
    assert!(!path.exists() && !store.root().join("index").exists());
    store.remove_derived().unwrap();
}

#[test]
fn jobs_are_left_without_a_lock_and_done_once() {
    let (_folder, store) = store();
    let _held = store.try_lock().unwrap().unwrap();
    let job = Job { session_id: Some("s-1".to_owned()), ..Job::default() };
    let other = again(&store);
    other.enqueue(&job).unwrap();
    other.enqueue(&job).unwrap();
    fs::write(store.root().join("queue/torn.json"), "{\"age").unwrap();
    let jobs = store.jobs().unwrap();
    assert_eq!(jobs.len(), 3);
    assert_eq!(jobs.iter().filter(|(_, found)| *found == job).count(), 2);
    assert_eq!(jobs.iter().filter(|(_, found)| *found == Job::default()).count(), 1);
    for (id, _) in &jobs {
        store.done(id).unwrap();
        store.done(id).unwrap();
    }
    assert_eq!(store.jobs().unwrap(), []);
}

#[test]
fn a_document_is_forgotten_whole_with_sections_that_are_damaged_or_unknown() {
    let words = b"words of the session";
    for is_damaged in [false, true] {
        let (_folder, store) = store();
        let path = store.session_path(&key());
        let mut document = Document::default();
        document.put("later.json", Some(Section::pack("later.json", words).unwrap()));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, document.bytes()).unwrap();
        store.put_session(&session_file(1)).unwrap();
        store.put_lines(&LEDGER, &key(), &[serde_json::json!({"key": 1})]).unwrap();
        store.sync_all().unwrap();
        if is_damaged {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[10] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
        }
        store.put_object(&DIGESTS, &key(), &serde_json::json!({"waits": true})).unwrap();
        store.forget_files(&key(), true).unwrap();
        store.sync_all().unwrap();
        let kept = Document::read(&std::fs::read(&path).unwrap());
        assert_eq!(kept.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["ledger.jsonl"]);
        assert_eq!(kept.damage, None);
        store.forget_files(&key(), false).unwrap();
        store.sync_all().unwrap();
        assert!(!path.exists());
    }
}
