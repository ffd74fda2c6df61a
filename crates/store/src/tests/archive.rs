//! What goes into a raw file comes back, byte for byte.

use proptest::prelude::*;
use std::io::Write;
use std::process::{Command, Stdio};

use super::*;
use crate::Comparison;

fn chunks() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let text = "[a-c\n]{0,40}".prop_map(String::into_bytes);
    let noise = prop::collection::vec(any::<u8>(), 0..200);
    prop::collection::vec(prop_oneof![text, noise], 0..8)
}

fn raw(archive: &Archive) -> Vec<u8> {
    std::fs::read(archive.path()).unwrap()
}

/// Larger than one frame, and nothing that packs to nothing.
fn large() -> Vec<u8> {
    (0..1_300_000u32).flat_map(|n| format!("{:x}\n", n.wrapping_mul(2_654_435_761)).into_bytes()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_pieces_come_back_byte_for_byte(chunks in chunks(), cut in any::<prop::sample::Index>(), width in 0usize..80) {
        let (_folder, store) = store();
        let archive = store.archive(&slot());
        append_all(&archive, &chunks);
        let whole = chunks.concat();
        let from = cut.index(whole.len() + 1);
        let to = (from + width).min(whole.len());

        for packed in [false, true] {
            prop_assert_eq!(bytes_of(&archive), &whole[..]);
            let range = archive.read_range(from as u64, (to - from) as u64).unwrap();
            prop_assert_eq!(&range[..], &whole[from..to]);
            if !chunks.is_empty() {
                prop_assert_eq!(zstd::decode_all(&raw(&archive)[..]).unwrap(), &whole[..]);
                let tail = archive.tail().unwrap().unwrap();
                prop_assert_eq!((tail.end, tail.records), (whole.len() as u64, lines(&whole)));
                prop_assert_eq!(archive.is_packed().unwrap(), packed);
            }
            prop_assert_eq!(archive.repack().unwrap(), !packed && !chunks.is_empty());
        }
    }

    #[test]
    fn a_source_is_told_from_others(chunks in chunks(), cut in any::<prop::sample::Index>()) {
        let (_folder, store) = store();
        let archive = store.archive(&slot());
        append_all(&archive, &chunks);
        let whole = chunks.concat();
        let compare = |bytes: &[u8]| archive.compare(&mut &bytes[..]).unwrap();

        prop_assert_eq!(compare(&whole), Comparison::Equal);
        prop_assert_eq!(compare(&[&whole[..], b"x"].concat()), Comparison::SourceExtends);
        if !whole.is_empty() {
            let cut = cut.index(whole.len());
            prop_assert_eq!(compare(&whole[..cut]), Comparison::SourceIsPrefix);
            let mut other = whole.clone();
            other[cut] ^= 1;
            prop_assert_eq!(compare(&other), Comparison::Differs);
            prop_assert_eq!(compare(&other[..=cut]), Comparison::Differs);
        }
    }
}

#[test]
fn a_large_chunk_becomes_frames_that_are_read_alone() {
    let (_folder, store) = store();
    let archive = store.archive(&slot());
    let bytes = large();
    let commit = archive.append(&bytes, lines(&bytes)).unwrap();
    assert_eq!((commit.end, commit.records), (bytes.len() as u64, lines(&bytes)));

    for _packed in [false, true] {
        let commits = archive.commits().unwrap();
        assert_eq!(commits.len(), bytes.len().div_ceil(4 << 20));
        for commit in &commits {
            assert_eq!(commit.records, lines(&bytes[..commit.end as usize]), "lines up to {}", commit.end);
        }
        let border = commits[0].end;
        let range = archive.read_range(border - 10, 20).unwrap();
        assert_eq!(range, bytes[border as usize - 10..border as usize + 10]);
        assert!(bytes_of(&archive) == bytes);
        archive.repack().unwrap();
    }
    assert!(archive.is_packed().unwrap());
}

#[test]
fn an_empty_source_is_a_commit_alone() {
    let (_folder, store) = store();
    let archive = store.archive(&slot());
    assert_eq!(archive.tail().unwrap(), None);
    archive.append(b"", 0).unwrap();
    assert_eq!(raw(&archive).len(), 112);
    assert_eq!(archive.tail().unwrap().map(|commit| commit.end), Some(0));
    assert_eq!(bytes_of(&archive), b"");
    assert!(archive.repack().unwrap());
    archive.append(b"x\n", 1).unwrap();
    assert_eq!(bytes_of(&archive), b"x\n");
    assert!(!archive.is_packed().unwrap());
    assert_sound(&store);
}

#[test]
fn a_chunk_of_nothing_changes_nothing() {
    let (_folder, store) = store();
    let archive = store.archive(&slot());
    let commit = archive.append(b"x\n", 1).unwrap();
    let before = raw(&archive);
    assert_eq!(archive.append(b"", 1).unwrap(), commit);
    assert_eq!(raw(&archive), before);
}

#[test]
fn state_is_replaced_as_a_whole() {
    let (_folder, store) = store();
    let archive = store.archive(&slot());
    for bytes in [&b"{\"a\":1}"[..], b"{}", b""] {
        archive.replace(bytes, 0).unwrap();
        store.sync_all().unwrap();
        assert_eq!(bytes_of(&archive), bytes);
        assert_eq!(bytes_of(&again(&store).archive(&slot())), bytes);
    }
    assert!(archive.remove().unwrap());
    assert!(!archive.remove().unwrap());
    assert_eq!(archive.tail().unwrap(), None);
}

#[test]
fn another_process_goes_on_where_one_ended() {
    let (_folder, store) = store();
    store.archive(&slot()).append(b"one\n", 1).unwrap();
    store.sync_all().unwrap();
    let other = again(&store);
    other.archive(&slot()).append(b"two\n", 2).unwrap();
    other.sync_all().unwrap();
    let tail = store.archive(&slot()).tail().unwrap().unwrap();
    assert_eq!((tail.end, tail.records), (8, 2));
    assert_eq!(bytes_of(&store.archive(&slot())), b"one\ntwo\n");
}

#[test]
fn more_than_there_is_cannot_be_read() {
    let (_folder, store) = store();
    let archive = store.archive(&slot());
    assert!(archive.read_range(0, 1).is_err());
    archive.append(b"abc", 0).unwrap();
    for (offset, length) in [(0, 4), (3, 1), (4, 0), (u64::MAX, 2), (1, u64::MAX)] {
        assert!(archive.read_range(offset, length).is_err(), "{length} from {offset}");
    }
    assert_eq!(archive.read_range(3, 0).unwrap(), b"");
}

#[test]
fn the_zstd_program_gives_the_source_back() {
    let (_folder, store) = store();
    let archive = store.archive(&slot());
    let chunks = [b"one\n".to_vec(), large(), b"end".to_vec()];
    append_all(&archive, &chunks);
    store.sync_all().unwrap();
    for _packed in [false, true] {
        let run = Command::new("zstd").arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut zstd) = run else {
            println!("the zstd program is not installed here; the zstd crate was asked elsewhere");
            return;
        };
        let bytes = raw(&archive);
        let mut stdin = zstd.stdin.take().unwrap();
        let feeder = std::thread::spawn(move || stdin.write_all(&bytes));
        let output = zstd.wait_with_output().unwrap();
        feeder.join().unwrap().unwrap();
        assert!(output.status.success());
        assert!(output.stdout == chunks.concat());
        archive.repack().unwrap();
    }
}

#[test]
fn a_last_commit_is_marked_once_it_is_on_disk() {
    let (_folder, store) = store();
    let archive = store.archive(&slot());
    archive.append(b"one\n", 1).unwrap();
    assert!(!raw(&archive).ends_with(b"settled."));
    store.sync_all().unwrap();
    assert!(raw(&archive).ends_with(b"settled."));
    archive.append(b"two\n", 2).unwrap();
    assert!(!raw(&archive).ends_with(b"settled."));
    archive.repack().unwrap();
    assert!(raw(&archive).ends_with(b"settled."));
}
