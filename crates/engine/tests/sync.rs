//! What a sync does to a machine's store, as stories.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use retro_engine::import::{Choice, ImportOptions, import};
use retro_engine::rebuild::{mend, rebuild};
use retro_engine::{SyncOptions, SyncReport, stages};
use retro_model::{Kind, Origin, SessionKey, SourceKey};
use retro_store::{Job, Slot};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{Machine, OTHER, STORY, raw};

fn story() -> SessionKey {
    SessionKey::new("claude", "11111111-1111-4111-8111-111111111111")
}

#[test]
fn everything_is_captured_once_and_read_back_byte_for_byte() {
    let machine = Machine::new();
    let files = machine.tell("claude", STORY);
    machine.tell("claude", OTHER);
    let first = machine.sync();
    assert_eq!((first.discovered, first.ingested, first.failed, first.gaps), (2, 2, 0, 0));
    assert_eq!(first.analyzed, 2);
    let second = machine.sync();
    assert_eq!((second.ingested, second.appended, second.skipped_unchanged), (0, 0, 2));
    assert_eq!(second.analyzed, 0);
    let store = machine.store();
    let file = store.session(&story()).unwrap().unwrap();
    let mut seen = 0;
    for (source, entry) in &file.sources {
        assert_eq!(entry.revisions, 1);
        let slot = Slot::Session { key: story(), source: source.clone(), revision: 1 };
        for place in &entry.places {
            assert_eq!(raw(&store, &slot), std::fs::read(place).unwrap(), "{source}");
            assert!(files.iter().any(|path| path.display().to_string() == *place));
            seen += 1;
        }
    }
    assert_eq!(seen, files.len());
    machine.verify();
}

#[test]
fn sources_are_left_as_they_were() {
    let machine = Machine::new();
    let files = machine.tell("claude", STORY);
    let before: Vec<_> = files
        .iter()
        .map(|path| (std::fs::read(path).unwrap(), std::fs::metadata(path).unwrap().modified().unwrap()))
        .collect();
    machine.sync();
    for (path, (bytes, mtime)) in files.iter().zip(before) {
        assert_eq!(std::fs::read(path).unwrap(), bytes);
        assert_eq!(std::fs::metadata(path).unwrap().modified().unwrap(), mtime);
    }
}

#[test]
fn files_beside_a_log_that_grew_are_not_read_again_and_a_lost_raw_file_is_captured_again() {
    let machine = Machine::new();
    let main = machine.tell("claude", STORY).remove(0);
    let whole = std::fs::read(&main).unwrap();
    for number in 0..5 {
        let path = main.with_extension("").join(format!("notes_{number}.txt"));
        machine.write(&path, format!("result {number}").as_bytes());
    }
    let half = whole.len() / 2;
    std::fs::write(&main, &whole[..half]).unwrap();
    machine.sync();
    let store = machine.store();
    let paths = || -> Vec<std::path::PathBuf> {
        let slots = store.raw_slots(&story()).unwrap();
        let of_results = |slot: &&Slot| slot.to_string().contains("notes");
        slots.iter().filter(of_results).map(|slot| store.slot_path(slot)).collect()
    };
    let before = paths();
    assert_eq!(before.len(), 5);
    let [lost, damaged, ..] = &before[..] else { panic!("{before:?}") };
    std::fs::remove_file(lost).unwrap();
    let mut flipped = std::fs::read(damaged).unwrap();
    flipped[10] ^= 0xff;
    std::fs::write(damaged, &flipped).unwrap();
    std::fs::write(&main, &whole).unwrap();
    let report = machine.sync();
    assert_eq!((report.appended, report.failed), (1, 0));
    assert_eq!(paths(), before);
    assert!(lost.exists());
    // It was not opened: packing and `verify` look at every raw file as a whole.
    assert_eq!(std::fs::read(damaged).unwrap(), flipped);
}

#[test]
fn a_log_whose_first_record_is_damaged_is_kept_under_its_own_name() {
    let machine = Machine::new();
    let main = machine.tell("claude", STORY).remove(0);
    let folder = main.parent().unwrap();
    let (damaged, half, foreign) =
        (folder.join("agent-1.jsonl"), folder.join("agent-2.jsonl"), folder.join("agent-3.jsonl"));
    let lines = b"{\"type\":\xff\"user\"}\n{\"type\":\"user\"}\n";
    machine.write(&damaged, lines);
    // This one is being written, and that one is no log.
    machine.write(&half, b"{\"type\":\"us");
    machine.write(&foreign, b"{\"notes\":[]}\n");
    machine.sync();
    let store = machine.store();
    let key = SessionKey::new("claude", "agent-1");
    let slots = store.raw_slots(&key).unwrap();
    assert_eq!(slots.len(), 1);
    assert_eq!(raw(&store, &slots[0]), lines);
    assert_eq!(store.session_keys().unwrap(), [story(), key]);
    machine.verify();
}

#[test]
fn a_log_that_grew_is_appended_and_not_read_again() {
    let machine = Machine::new();
    let main = machine.tell("claude", STORY).remove(0);
    let whole = std::fs::read(&main).unwrap();
    let half = whole.len() / 2;
    std::fs::write(&main, &whole[..half]).unwrap();
    machine.sync();
    let mut file = std::fs::OpenOptions::new().append(true).open(&main).unwrap();
    file.write_all(&whole[half..]).unwrap();
    drop(file);
    let report = machine.sync();
    assert_eq!((report.ingested, report.appended), (0, 1));
    let slots = machine.store().raw_slots(&story()).unwrap();
    let main_slots: Vec<_> = slots
        .iter()
        .filter(|slot| matches!(slot, Slot::Session { source, .. } if source.is_main()))
        .collect();
    assert_eq!(main_slots.len(), 1);
    assert_eq!(raw(&machine.store(), main_slots[0]), whole);
    machine.verify();
}

/// Rows that are in the index already stay while a log grows. They must be those of the whole.
#[test]
fn a_log_that_grows_line_by_line_has_the_rows_of_the_whole() {
    let machine = Machine::new().busy();
    let main = machine.tell("claude", STORY).remove(0);
    let told = std::fs::read_to_string(&main).unwrap();
    std::fs::write(&main, b"").unwrap();
    for line in told.lines().map(str::to_owned).chain(another_way(&told)) {
        let mut file = std::fs::OpenOptions::new().append(true).open(&main).unwrap();
        writeln!(file, "{line}").unwrap();
        drop(file);
        assert_eq!(machine.sync().failed, 0);
        machine.verify();
    }
    let events = machine.events(&story());
    assert!(events.iter().any(|event| !event.live), "the last prompt is taken back");
}

/// The last prompt and its answer in other words, beside those in the log.
fn another_way(log: &str) -> Vec<String> {
    let prompt = log.lines().position(|line| line.contains("Thanks")).unwrap();
    let again = |line: &str| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        let is_first = line.contains("Thanks");
        for id in if is_first { &["uuid"][..] } else { &["uuid", "parentUuid"][..] } {
            if let Some(text) = record[*id].as_str().map(|text| format!("{}f", &text[..text.len() - 1])) {
                record[*id] = text.into();
            }
        }
        record.to_string().replace("Thanks", "Instead").replace("Added", "Here it is")
    };
    log.lines().skip(prompt).take(2).map(again).collect()
}

/// What an append finds in the index counts as known only where it stands in its place.
#[test]
fn a_passage_out_of_its_place_is_put_right_by_the_next_append() {
    for change in ["first = first + 100", "line = line + 7", "hash = hash + 1"] {
        let machine = Machine::new().busy();
        let main = machine.tell("claude", STORY).remove(0);
        let told = std::fs::read_to_string(&main).unwrap();
        machine.sync();
        let index = rusqlite::Connection::open(machine.store().index_path()).unwrap();
        let text = format!("UPDATE passages SET {change} WHERE number = (SELECT min(number) FROM passages)");
        assert_eq!(index.execute(&text, []).unwrap(), 1);
        drop(index);
        let lines = another_way(&told).join("\n") + "\n";
        std::fs::OpenOptions::new().append(true).open(&main).unwrap().write_all(lines.as_bytes()).unwrap();
        assert_eq!(machine.sync().failed, 0, "{change}");
        machine.verify();
    }
}

#[test]
fn a_rewritten_log_is_a_new_revision_and_the_old_one_stays() {
    let machine = Machine::new();
    let main = machine.tell("claude", STORY).remove(0);
    machine.sync();
    let old = std::fs::read(&main).unwrap();
    let before = machine.events(&story());
    // Same length, other content in the middle; then shorter.
    let mut changed = old.clone();
    let at = old.windows(6).position(|bytes| bytes == b"Thanks").unwrap();
    changed[at..at + 6].copy_from_slice(b"Please");
    std::fs::write(&main, &changed).unwrap();
    machine.sync();
    let shorter: Vec<u8> = old.split_inclusive(|b| *b == b'\n').skip(3).flatten().copied().collect();
    std::fs::write(&main, &shorter).unwrap();
    machine.sync();
    let store = machine.store();
    let slot = |revision| Slot::Session { key: story(), source: retro_model::SourceKey::main(), revision };
    assert_eq!(raw(&store, &slot(1)), old);
    assert_eq!(raw(&store, &slot(2)), changed);
    assert_eq!(raw(&store, &slot(3)), shorter);
    let after = machine.events(&story());
    let ids =
        |events: &[retro_model::Event]| events.iter().map(|event| event.id.to_string()).collect::<Vec<_>>();
    let (old_ids, new_ids) = (ids(&before), ids(&after));
    assert!(old_ids.iter().all(|id| new_ids.contains(id)), "an event lost its address");
    machine.verify();
}

#[test]
fn a_rewrite_that_nothing_shows_is_found_at_repack() {
    let machine = Machine::new();
    let main = machine.tell("claude", STORY).remove(0);
    machine.sync_with(&SyncOptions { until: stages::by_name("normalized"), ..SyncOptions::default() });
    let meta = std::fs::metadata(&main).unwrap();
    let mut bytes = std::fs::read(&main).unwrap();
    let at = bytes.windows(6).position(|bytes| bytes == b"Thanks").unwrap();
    bytes[at..at + 6].copy_from_slice(b"Please");
    let file = std::fs::OpenOptions::new().write(true).open(&main).unwrap();
    (&file).write_all(&bytes).unwrap();
    file.set_modified(meta.modified().unwrap()).unwrap();
    machine.sync();
    machine.sync();
    let slots = machine.store().raw_slots(&story()).unwrap();
    let newest = Slot::Session { key: story(), source: retro_model::SourceKey::main(), revision: 2 };
    assert!(slots.contains(&newest), "{slots:?}");
    assert_eq!(raw(&machine.store(), &newest), bytes);
}

#[test]
fn the_same_session_under_two_roots_is_one() {
    let machine = Machine::new();
    let files = machine.tell("claude", STORY);
    for file in &files {
        let below = file.strip_prefix(machine.home().join(".claude")).unwrap();
        let copy = machine.home().join(".config/claude").join(below);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(file, copy).unwrap();
    }
    let report = machine.sync();
    assert_eq!((report.discovered, report.ingested), (1, 1));
    let file = machine.store().session(&story()).unwrap().unwrap();
    assert!(file.sources.values().all(|entry| entry.revisions == 1 && entry.places.len() == 2));
    assert_eq!(machine.sync().skipped_unchanged, 1);
}

#[test]
fn a_source_that_vanishes_stays_in_the_store() {
    let machine = Machine::new();
    machine.tell("claude", STORY);
    machine.sync();
    let before = machine.answers();
    std::fs::remove_dir_all(machine.home().join(".claude")).unwrap();
    let report = machine.sync();
    assert_eq!(report.failed, 0);
    assert_eq!(machine.answers(), before);
}

#[test]
fn derived_folders_deleted_every_answer_is_the_same() {
    let machine = Machine::new();
    machine.tell("claude", STORY);
    machine.tell("claude", OTHER);
    machine.sync();
    let before = machine.answers();
    for folder in ["index", "normalized", "rendered"] {
        let _ = std::fs::remove_dir_all(machine.config.root.value.join(folder));
        machine.sync();
        assert_eq!(machine.answers(), before, "{folder}");
    }
    rebuild(&machine.world, &machine.config, None, &|_| {}).unwrap();
    assert_eq!(machine.answers(), before);
}

#[test]
fn a_damaged_session_file_is_made_anew_from_raw() {
    let machine = Machine::new();
    machine.tell("claude", STORY);
    machine.sync();
    let before = machine.answers();
    let path = machine.store().session_path(&story());
    std::fs::write(&path, b"{ torn").unwrap();
    mend(&machine.world, &machine.config, &|_| {}).unwrap();
    machine.sync_with(&SyncOptions { force: true, ..SyncOptions::default() });
    assert_eq!(machine.answers(), before);
    machine.verify();
}

#[test]
fn a_damaged_raw_file_is_left_as_it_is_and_its_log_is_captured_beside_it() {
    let machine = Machine::new().busy();
    let log = machine.tell("claude", STORY).into_iter().find(|path| path.ends_with(main_log())).unwrap();
    machine.sync();
    let store = machine.store();
    let raw = store.slot_path(&Slot::Session { key: story(), source: SourceKey::main(), revision: 1 });
    let mut damaged = std::fs::read(&raw).unwrap();
    let at = damaged.len() - 60;
    damaged[at] ^= 1;
    std::fs::write(&raw, &damaged).unwrap();
    let mut grown = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    grown.write_all(b"{\"more\":1}\n").unwrap();
    machine.tell("claude", OTHER);
    let report = machine.sync();
    assert_eq!((report.ingested, report.appended, report.failed), (1, 1, 0), "{report:?}");
    assert_eq!(std::fs::read(&raw).unwrap(), damaged);
    let beside = Slot::Session { key: story(), source: SourceKey::main(), revision: 2 };
    assert_eq!(support::raw(&store, &beside), std::fs::read(&log).unwrap());
    // The session reads like one that was never damaged, but for the names of its lines.
    let fresh = Machine::new().busy();
    fresh.tell("claude", STORY);
    fresh.write(log.strip_prefix(machine.home()).unwrap(), &std::fs::read(&log).unwrap());
    fresh.sync();
    let texts = |machine: &Machine| {
        let events = machine.events(&story()).into_iter();
        events.filter_map(|event| event.text.map(|text| text.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(texts(&machine), texts(&fresh));
    assert_eq!(machine.sync().appended, 0, "once is enough");
}

#[test]
fn a_damaged_ledger_is_made_anew_from_raw() {
    let machine = Machine::new();
    machine.tell("claude", STORY);
    machine.sync();
    let before = machine.answers();
    let path = machine.store().ledger_path(&story());
    for by_hand in [true, false] {
        let mut bytes = std::fs::read(&path).unwrap();
        let frames = bytes.windows(4).enumerate().filter(|(_, four)| *four == [0x28, 0xB5, 0x2F, 0xFD]);
        let (ledger, _) = frames.map(|(at, _)| (at, ())).nth(1).unwrap();
        bytes[ledger + 20] ^= 0x55;
        std::fs::write(&path, &bytes).unwrap();
        assert!(machine.store().ledger(&story()).is_err());
        assert!(machine.store().session(&story()).is_ok(), "it costs one section");
        match by_hand {
            true => {
                drop(rebuild(&machine.world, &machine.config, stages::by_name("ledger"), &|_| {}).unwrap())
            }
            false => drop(mend(&machine.world, &machine.config, &|_| {}).unwrap()),
        }
        machine.verify();
        assert_eq!(machine.answers(), before);
    }
}

#[test]
fn until_stops_after_a_stage_and_a_later_sync_goes_on() {
    let machine = Machine::new();
    machine.tell("claude", STORY);
    let options = SyncOptions { until: stages::by_name("capture"), ..SyncOptions::default() };
    let report = machine.sync_with(&options);
    assert_eq!((report.ingested, report.analyzed), (1, 0));
    let index = machine.store().index().unwrap();
    assert!(index.made_by("turns").unwrap().is_empty());
    assert_eq!(machine.sync().analyzed, 1);
    assert_eq!(index.made_by("turns").unwrap().len(), 1);
    assert!(!index.turns_of(&story()).unwrap().is_empty());
}

#[test]
fn turns_of_bytes_that_were_only_captured_come_with_the_next_sync() {
    let machine = Machine::new();
    let log = machine.tell("claude", STORY).into_iter().find(|path| path.ends_with(main_log())).unwrap();
    let bytes = std::fs::read(&log).unwrap();
    let third = bytes.len() / 3;
    std::fs::write(&log, &bytes[..third]).unwrap();
    machine.sync();
    std::fs::write(&log, &bytes[..2 * third]).unwrap();
    machine.sync_with(&SyncOptions { until: stages::by_name("capture"), ..SyncOptions::default() });
    std::fs::write(&log, &bytes).unwrap();
    machine.sync();
    let after = machine.answers();
    retro_engine::rebuild::rebuild(&machine.world, &machine.config, None, &|_| {}).unwrap();
    assert_eq!(machine.answers(), after);
    assert_eq!(machine.store().index().unwrap().turns_of(&story()).unwrap().len(), 3);
}

fn main_log() -> String {
    format!("{}.jsonl", story().id)
}

#[test]
fn a_dry_run_writes_nothing() {
    let machine = Machine::new();
    machine.tell("claude", STORY);
    let report = machine.sync_with(&SyncOptions { dry_run: true, ..SyncOptions::default() });
    assert_eq!((report.discovered, report.ingested), (1, 1));
    assert!(!machine.config.root.value.exists());
}

#[test]
fn settled_events_are_a_file_only_where_they_were_asked_for() {
    let machine = Machine::new();
    let log = machine.tell("claude", STORY).remove(0);
    let whole = std::fs::read(&log).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    std::fs::write(&log, lines[..lines.len() - 2].concat()).unwrap();
    machine.sync();
    let path = machine.store().normalized_path(&story());
    let before = machine.answers();
    assert!(!path.exists());
    let asked = SyncOptions { until: stages::by_name("normalized"), ..SyncOptions::default() };
    machine.sync_with(&asked);
    assert!(path.exists());
    assert_eq!(machine.answers(), before, "from the file");
    let due = || machine.store().index().unwrap().due_of(&story()).unwrap();
    assert!(!due().contains(&"normalized".to_owned()), "{:?}", due());

    std::fs::write(&log, &whole).unwrap();
    machine.sync();
    assert!(!path.exists(), "what a session has outgrown is removed");
    rebuild(&machine.world, &machine.config, stages::by_name("normalized"), &|_| {}).unwrap();
    assert!(path.exists());
    machine.verify();
}

#[test]
fn busy_sessions_wait_for_their_cold_stages() {
    let machine = Machine::new().busy();
    machine.tell("claude", STORY);
    let report =
        machine.sync_with(&SyncOptions { until: stages::by_name("normalized"), ..SyncOptions::default() });
    assert_eq!((report.ingested, report.analyzed), (1, 0));
    assert!(!machine.store().normalized_path(&story()).exists());
    machine.sync();
    let prompts: Vec<_> = machine
        .events(&story())
        .into_iter()
        .filter(|event| event.kind == Kind::User && event.origin == Origin::User)
        .map(|event| event.text.unwrap().to_string())
        .collect();
    assert_eq!(prompts, ["Fix the tax test", "Thanks, now add docs"]);
}

#[test]
fn excluded_projects_stay_out() {
    let mut machine = Machine::new();
    machine.tell("claude", STORY);
    machine.tell("claude", OTHER);
    machine.config.exclude_projects.value = vec!["notes".into()];
    let report = machine.sync();
    assert_eq!((report.ingested, report.excluded), (1, 1));
    machine.config.exclude_projects.value.clear();
    machine.config.exclude_regex.value = vec!["/sh[o]p".into()];
    let report = machine.sync();
    assert_eq!((report.ingested, report.excluded), (1, 1));
}

/// A session says where it runs in each line, and a line may be longer than any head.
#[test]
fn an_excluded_project_stays_out_however_late_a_log_names_it() {
    let mut machine = Machine::new();
    machine.config.exclude_projects.value = vec!["diary".into()];
    let line = |cwd: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s\",\"message\":{{\"content\":\"{text}\"}}{cwd}}}\n"
        )
    };
    let (long, diary) = ("word ".repeat(20_000), ",\"cwd\":\"/home/dev/diary\"");
    for (name, log) in [
        ("long", line(diary, &long) + &line("", "short")),
        ("late", line("", &long).repeat(3) + &line(diary, "now") + &line("", &long)),
        ("elsewhere-at-last", line(diary, &long) + &line(",\"cwd\":\"/home/dev/shop\"", "moved")),
        ("nowhere", line("", &long)),
    ] {
        machine.write(format!(".claude/projects/-p/{name}.jsonl").as_ref(), log.as_bytes());
    }
    machine.write(
        ".claude/history.jsonl".as_ref(),
        b"{\"display\":\"a secret\",\"project\":\"/home/dev/diary\"}\n",
    );
    machine.tell("claude", STORY);
    let report = machine.sync();
    assert_eq!((report.ingested, report.excluded, report.excluded_unknown), (1, 4, 1));
    assert_eq!((report.shared_files, machine.store().raw_keys().unwrap().len()), (0, 1));
    assert!(machine.store().shared_slots("claude").unwrap().is_empty());
    machine.config.exclude_projects.value.clear();
    let report = machine.sync();
    assert_eq!((report.ingested, report.excluded, report.shared_files), (4, 0, 1));
}

#[test]
fn an_excluded_session_is_not_imported() {
    let mut machine = Machine::new();
    machine.tell("claude", STORY);
    machine.config.exclude_projects.value = vec!["shop".into()];
    let options = ImportOptions { agent: "claude".into(), choice: Choice::Latest, force: false, from: None };
    let done = import(&machine.world, &machine.config, &options, &|_| {}).unwrap();
    assert!(done.sessions.is_empty() && done.unchanged.is_empty());
    assert_eq!(done.excluded.len(), 1);
    assert!(machine.store().raw_keys().unwrap().is_empty());
}

#[test]
fn sessions_without_news_count_the_same_whether_they_are_looked_at_or_not() {
    let mut machine = Machine::new();
    machine.tell("claude", STORY);
    let others = machine.tell("claude", OTHER);
    machine.tell("codex", STORY);
    let first = machine.sync();
    let counts = |report: &SyncReport| (report.discovered, report.source_bytes, report.skipped_unchanged);
    let (all, bytes) = (first.discovered, first.source_bytes);
    assert_eq!(counts(&machine.sync()), (all, bytes, all));
    assert_eq!(
        counts(&machine.sync_with(&SyncOptions { dry_run: true, ..SyncOptions::default() })),
        (all, bytes, all)
    );
    // A rule has to look at every session, though it fits none.
    machine.config.exclude_projects.value = vec!["nobody's".into()];
    assert_eq!(counts(&machine.sync()), (all, bytes, all));
    machine.config.exclude_projects.value.clear();
    let log = others.iter().find(|path| path.extension().is_some_and(|ext| ext == "jsonl")).unwrap();
    std::fs::OpenOptions::new().append(true).open(log).unwrap().write_all(b"{}\n").unwrap();
    let grown = machine.sync();
    assert_eq!((counts(&grown), grown.appended), ((all, bytes + 3, all - 1), 1));
}

#[test]
fn one_bad_session_stops_no_other() {
    let machine = Machine::new();
    machine.tell("claude", STORY);
    let bad = b"\0\0\0\n{\"type\":\"user\"\nnot json\n[1,2]\n\"text\"\n{\"type\":5,\"message\":null}\n\xff\xfe\n{\"half\":";
    machine.write(".claude/projects/-x/33333333-3333-4333-8333-333333333333.jsonl".as_ref(), bad);
    let report = machine.sync();
    assert_eq!((report.discovered, report.failed), (2, 0));
    assert!(report.gaps >= 3, "{report:?}");
    assert_eq!(machine.sync().skipped_unchanged, 2);
    machine.verify();
}

#[test]
fn many_syncs_at_once_give_the_result_of_one() {
    let alone = Machine::new();
    alone.tell("claude", STORY);
    alone.tell("claude", OTHER);
    alone.sync();
    for writers in [2, 8] {
        let machine = Machine::new();
        machine.tell("claude", STORY);
        machine.tell("claude", OTHER);
        std::thread::scope(|scope| {
            for _ in 0..writers {
                scope.spawn(|| machine.sync());
            }
        });
        assert_eq!(machine.answers(), alone.answers(), "{writers} writers");
        machine.verify();
    }
}

#[test]
fn a_job_that_comes_while_folders_are_walked_stays() {
    let mut machine = Machine::new();
    machine.tell("claude", STORY);
    machine.sync();
    let store = machine.store();
    store.enqueue(&Job::default()).unwrap();
    // Agents are asked for their folders when the walk begins: that is when the second comes.
    let (late, came) = (store.clone(), AtomicBool::new(false));
    machine.world.env = Arc::new(move |_| {
        if !came.swap(true, Ordering::Relaxed) {
            late.enqueue(&Job { agent: Some("codex".to_owned()), ..Job::default() }).unwrap();
        }
        None
    });
    machine.sync();
    let left: Vec<_> = store.jobs().unwrap().into_iter().map(|(_, job)| job.agent).collect();
    assert_eq!(left, [Some("codex".to_owned())]);
}
