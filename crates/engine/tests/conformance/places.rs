//! One session, wherever its logs lie and however they are packed: under a second
//! root, moved, renamed, archived, compressed, deleted.

use retro_agents::{Encoding, Held};
use retro_engine::discover::discover;
use retro_model::SessionKey;
use std::path::{Path, PathBuf};

use crate::support::{self, Machine};
use crate::{content, machine, root};

fn copy_tree(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from).into_iter().flatten() {
        let place = to.join(entry.path().strip_prefix(from).unwrap());
        match entry.file_type().is_dir() {
            true => std::fs::create_dir_all(place).unwrap(),
            false => {
                std::fs::copy(entry.path(), place).unwrap();
            }
        }
    }
}

#[test]
fn the_same_logs_under_a_second_root_are_the_same_sessions() {
    for agent in support::agents() {
        let (mut machine, _) = machine(*agent);
        machine.sync();
        let before = content(&machine);
        let copy = machine.path().join("second-root");
        copy_tree(&root(&machine, *agent), &copy);
        machine.config.sources.value.insert(agent.name().to_owned(), vec![copy]);
        let report = machine.sync();
        assert_eq!((report.ingested, report.appended, report.failed), (0, 0, 0), "{}", agent.name());
        assert_eq!(content(&machine), before, "{}", agent.name());
    }
}

#[test]
fn logs_that_were_moved_are_the_same_sessions() {
    for agent in support::agents() {
        let (mut machine, _) = machine(*agent);
        machine.sync();
        let before = content(&machine);
        let moved = machine.path().join("moved-root");
        std::fs::rename(root(&machine, *agent), &moved).unwrap();
        machine.config.sources.value.insert(agent.name().to_owned(), vec![moved]);
        let report = machine.sync();
        assert_eq!((report.ingested, report.appended, report.failed), (0, 0, 0), "{}", agent.name());
        assert_eq!(content(&machine), before, "{}", agent.name());
    }
}

/// A session is known by its id: a folder above it may get another name.
#[test]
fn logs_whose_folder_was_renamed_are_the_same_sessions() {
    for agent in support::agents() {
        let mut found = 0;
        let (machine, _) = machine(*agent);
        machine.sync();
        let before = content(&machine);
        for folder in folders(&root(&machine, *agent)) {
            let renamed = folder.with_file_name(format!("{}-moved", folder.file_name().unwrap().display()));
            std::fs::rename(&folder, &renamed).unwrap();
            found += discovered(&machine).len();
            let report = machine.sync();
            let what = format!("{} {}", agent.name(), renamed.display());
            assert_eq!((report.ingested, report.appended, report.failed), (0, 0, 0), "{what}");
            assert_eq!(content(&machine), before, "{what}");
            std::fs::rename(&renamed, &folder).unwrap();
        }
        assert!(found > 0, "{}: no folder can be renamed so that its sessions are still found", agent.name());
    }
}

/// The folders above sessions, deepest first; not those that are named by a session.
fn folders(root: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(root).min_depth(1).contents_first(true).into_iter().flatten();
    let above = |path: &PathBuf| {
        !["11111111", "22222222"].iter().any(|id| path.display().to_string().contains(id))
            && path.read_dir().unwrap().flatten().any(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name.contains("11111111") || name.contains("22222222")
            })
    };
    entries.filter(|entry| entry.file_type().is_dir()).map(|entry| entry.into_path()).filter(above).collect()
}

/// Sessions that discovery finds now, and whether a file of theirs is compressed.
fn discovered(machine: &Machine) -> Vec<(SessionKey, bool)> {
    let found = discover(&machine.world, &machine.config, None, &Default::default());
    let files = found.sessions.into_iter().flat_map(|session| {
        let key = session.key;
        let is_packed = |held: &Held| matches!(held, Held::File { encoding: Encoding::Zstd, .. });
        session.files.into_iter().map(move |file| (key.clone(), is_packed(&file.held)))
    });
    files.collect()
}

/// A folder into which an agent moves sessions that the user put away.
const ARCHIVES: &[&str] = &["archived_sessions"];

#[test]
fn logs_that_were_archived_are_the_same_sessions() {
    let mut took_part = Vec::new();
    for agent in support::agents() {
        let (machine, files) = machine(*agent);
        machine.sync();
        let before = content(&machine);
        for archive in ARCHIVES {
            let folder = root(&machine, *agent).join(archive);
            std::fs::create_dir_all(&folder).unwrap();
            for path in files.iter().filter(|path| machine.logs().contains(*path)) {
                std::fs::rename(path, folder.join(path.file_name().unwrap())).unwrap();
            }
            if !discovered(&machine).is_empty() {
                took_part.push(agent.name());
            }
            let report = machine.sync();
            assert_eq!((report.ingested, report.appended, report.failed), (0, 0, 0), "{}", agent.name());
            assert_eq!(content(&machine), before, "{}", agent.name());
        }
    }
    println!("with an archive: {took_part:?}");
    assert!(!took_part.is_empty());
}

/// Some agents compress logs that were not touched for a while, in place. For the
/// others a compressed log is one that was deleted.
#[test]
fn logs_that_were_compressed_are_the_same_sources() {
    let mut took_part = Vec::new();
    for agent in support::agents() {
        let (machine, files) = machine(*agent);
        machine.sync();
        let before = content(&machine);
        let logs: Vec<&PathBuf> = files.iter().filter(|path| machine.logs().contains(*path)).collect();
        let plain: Vec<Vec<u8>> = logs.iter().map(|path| std::fs::read(path).unwrap()).collect();
        for (path, bytes) in logs.iter().zip(&plain) {
            let packed = zstd::encode_all(bytes.as_slice(), 3).unwrap();
            std::fs::write(format!("{}.zst", path.display()), packed).unwrap();
            std::fs::remove_file(path).unwrap();
        }
        let reads = discovered(&machine).iter().any(|(_, is_packed)| *is_packed);
        let report = machine.sync();
        assert_eq!((report.ingested, report.appended, report.failed), (0, 0, 0), "{:?}", report.failures);
        assert_eq!(content(&machine), before, "{}", agent.name());
        if !reads {
            continue;
        }
        took_part.push(agent.name());
        // Compressed before it was ever captured: the same content, from the packed file alone.
        let fresh = Machine::new();
        for path in &logs {
            let packed = format!("{}.zst", path.display());
            fresh.write(
                Path::new(&packed).strip_prefix(machine.home()).unwrap(),
                &std::fs::read(&packed).unwrap(),
            );
        }
        fresh.sync();
        assert_eq!(content(&fresh), before, "{}", agent.name());
        // Unpacked again, with the packed file still beside it.
        for (path, bytes) in logs.iter().zip(&plain) {
            fresh.write(path.strip_prefix(machine.home()).unwrap(), bytes);
        }
        let report = fresh.sync();
        assert_eq!((report.ingested, report.appended, report.failed), (0, 0, 0), "{:?}", report.failures);
        assert_eq!(content(&fresh), before, "{}", agent.name());
        fresh.verify();
    }
    println!("with compressed logs: {took_part:?}");
    assert!(!took_part.is_empty());
}

#[test]
fn logs_that_were_deleted_stay_in_the_store() {
    for agent in support::agents() {
        let (machine, _) = machine(*agent);
        machine.sync();
        let before = machine.answers();
        std::fs::remove_dir_all(root(&machine, *agent)).unwrap();
        assert_eq!(machine.sync().failed, 0, "{}", agent.name());
        assert_eq!(machine.answers(), before, "{}", agent.name());
        machine.verify();
    }
}
