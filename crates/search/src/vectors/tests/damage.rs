//! A file that is cut, garbled or foreign never gives a wrong answer.

use super::*;
use std::path::PathBuf;

/// A folder with the whole story in it, and the file that holds it.
fn written() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = open(folder.path());
    for write in story() {
        write.apply(&mut vectors).unwrap();
    }
    let file = vectors.folder.file(vectors.state.number.unwrap());
    (folder, file)
}

/// Which of the states of the story is read.
fn some_state(folder: &Path, place: &str) -> usize {
    let found = content(&open(folder));
    let state = states(&story()).iter().position(|state| *state == found);
    state.unwrap_or_else(|| panic!("{place}: {found:?}"))
}

/// What is read is one of the states of the story, and the rest of it can be written.
fn assert_some_state(folder: &Path, place: &str) -> usize {
    let story = story();
    let state = some_state(folder, place);
    let mut vectors = open(folder);
    for write in &story[state..] {
        write.apply(&mut vectors).unwrap();
    }
    assert_eq!(content(&open(folder)), *states(&story).last().unwrap(), "{place}");
    state
}

#[test]
fn a_file_cut_anywhere_holds_what_was_complete_before() {
    let (_folder, file) = written();
    let whole = std::fs::read(&file).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for length in (0..=whole.len()).step_by(8) {
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("00000001.vectors"), &whole[..length]).unwrap();
        std::fs::write(other.path().join("current"), "00000001.vectors\n").unwrap();
        seen.insert(assert_some_state(other.path(), &format!("cut at {length}")));
    }
    assert_eq!(seen.len(), story().len() + 1, "every state is the last complete one somewhere");
}

#[test]
fn a_garbled_byte_anywhere_takes_what_follows_with_it() {
    let (_folder, file) = written();
    let whole = std::fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let other = tempfile::tempdir().unwrap();
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(other.path().join("00000001.vectors"), bytes).unwrap();
        std::fs::write(other.path().join("current"), "00000001.vectors\n").unwrap();
        let check = if at % 32 == 0 { assert_some_state } else { some_state };
        assert!(check(other.path(), &format!("garbled at {at}")) < story().len(), "byte {at} counts");
    }
}

#[test]
fn damage_in_what_was_built_is_found_when_asked_for_and_never_copied() {
    let (folder, _) = written();
    let mut vectors = open(folder.path());
    vectors.copy().unwrap();
    let file = vectors.folder.file(vectors.state.number.unwrap());
    let whole = std::fs::read(&file).unwrap();
    assert!(open(folder.path()).is_whole().unwrap());
    std::fs::write(&file, [whole.as_slice(), b"RETROBAT, and then the power went"].concat()).unwrap();
    assert!(open(folder.path()).is_whole().unwrap(), "half a batch behind it");
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&file, bytes).unwrap();
        assert!(!open(folder.path()).is_whole().unwrap(), "byte {at}");
    }
    let mut bytes = whole.clone();
    *bytes.iter_mut().rev().nth(200).unwrap() ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let mut vectors = open(folder.path());
    vectors.copy().unwrap();
    assert_eq!((vectors.len(), vectors.mark()), (0, ""));
    assert!(open(folder.path()).is_whole().unwrap());
}

#[test]
fn what_is_appended_to_a_built_file_is_checked() {
    let (folder, _) = written();
    let mut vectors = open(folder.path());
    vectors.copy().unwrap();
    let before = content(&vectors);
    let file = vectors.folder.file(vectors.state.number.unwrap());
    let built = std::fs::metadata(&file).unwrap().len() as usize;
    vectors.write("more", &[(30, &vector(30))], &[3]).unwrap();
    let whole = std::fs::read(&file).unwrap();
    for at in built..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(content(&open(folder.path())), before, "byte {at}");
    }
}

#[test]
fn a_block_of_zeros_as_a_power_cut_leaves_it_is_noticed() {
    let (_folder, file) = written();
    let whole = std::fs::read(&file).unwrap();
    for start in (0..whole.len()).step_by(64) {
        let other = tempfile::tempdir().unwrap();
        let mut bytes = whole.clone();
        bytes[start..].fill(0);
        std::fs::write(other.path().join("00000001.vectors"), bytes).unwrap();
        std::fs::write(other.path().join("current"), "00000001.vectors\n").unwrap();
        assert_some_state(other.path(), &format!("zeros from {start}"));
    }
}

#[test]
fn a_foreign_current_or_file_is_an_empty_store() {
    for current in
        ["", "../x.vectors", "00000009.vectors", "\u{fffd}", "99999999999999999999.vectors", "-1.vectors"]
    {
        let (folder, _) = written();
        std::fs::write(folder.path().join("current"), current).unwrap();
        assert_eq!(assert_some_state(folder.path(), current), 0);
    }
    let (folder, file) = written();
    std::fs::write(&file, b"something else altogether, longer than a header is, and of no use to anybody")
        .unwrap();
    assert_eq!(assert_some_state(folder.path(), "foreign"), 0);
    std::fs::write(folder.path().join("current"), [0xff, 0xfe]).unwrap();
    assert_eq!(assert_some_state(folder.path(), "no text"), 0);
}

#[test]
fn heads_with_absurd_numbers_are_no_batches() {
    let (_folder, file) = written();
    let whole = std::fs::read(&file).unwrap();
    let start = format::header(MODEL, DIM).0.len();
    for at in [12, 16, 20, 24] {
        let other = tempfile::tempdir().unwrap();
        let mut bytes = whole.clone();
        bytes[start + at..start + at + 4].fill(0xff);
        std::fs::write(other.path().join("00000001.vectors"), bytes).unwrap();
        std::fs::write(other.path().join("current"), "00000001.vectors\n").unwrap();
        assert_eq!(assert_some_state(other.path(), "absurd"), 0);
    }
}

#[test]
fn batches_of_another_file_do_not_continue_this_one() {
    let (folder, file) = written();
    let whole = std::fs::read(&file).unwrap();
    // The last batch once more behind itself: right in itself, but not at this place.
    let mut vectors = open(folder.path());
    let end = vectors.state.end as usize;
    vectors.write("e", &[(20, &vector(1))], &[]).unwrap();
    let longer = std::fs::read(&file).unwrap();
    let twice = [longer.as_slice(), &longer[end..]].concat();
    assert!(whole.len() < longer.len());
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("00000001.vectors"), twice).unwrap();
    std::fs::write(other.path().join("current"), "00000001.vectors\n").unwrap();
    assert_eq!(content(&open(other.path())), content(&vectors));
}

#[test]
fn a_folder_in_the_place_of_a_file_is_an_error_with_its_name_for_who_writes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("current")).unwrap();
    let mut vectors = Vectors::open(folder.path(), MODEL, DIM).unwrap();
    assert_eq!(vectors.len(), 0, "nothing of ours is there");
    let error = vectors.write("a", &[(1, &vector(1))], &[]).unwrap_err().to_string();
    assert!(error.contains("current"), "{error}");
}
