//! Cut files heal, flipped bytes are found.

use proptest::prelude::*;
use std::fs;

use super::*;
use crate::Error;

const CHUNKS: [&[u8]; 3] = [b"{\"a\":1}\n", b"{\"b\":22}\n{\"c\"", b":333}\n"];

fn three_chunks(synced: bool, packed: bool) -> (TempDir, Store, Archive, Vec<u8>) {
    let (folder, store) = store();
    let archive = store.archive(&slot());
    append_all(&archive, &CHUNKS.map(<[u8]>::to_vec));
    if synced {
        store.put_session(&session_file(1)).unwrap();
        store.sync_all().unwrap();
    }
    if packed {
        assert!(archive.repack().unwrap());
        store.sync_all().unwrap();
    }
    let bytes = fs::read(archive.path()).unwrap();
    (folder, store, archive, bytes)
}

#[test]
fn a_file_cut_anywhere_opens_at_the_commit_before_and_heals() {
    for (synced, packed) in [(false, false), (true, false), (true, true)] {
        let (_folder, store, archive, good) = three_chunks(synced, packed);
        let ends: Vec<(u64, u64)> =
            archive.commits().unwrap().iter().map(|commit| (commit.file_end(), commit.end)).collect();
        let whole = CHUNKS.concat();
        for cut in 0..good.len() {
            fs::write(archive.path(), &good[..cut]).unwrap();
            let fresh = again(&store);
            let archive = fresh.archive(&slot());
            let kept = ends.iter().rev().find(|(file_end, _)| *file_end <= cut as u64).map(|(_, end)| *end);
            assert_eq!(archive.tail().unwrap().map(|commit| commit.end), kept, "cut at {cut}");
            let kept = kept.unwrap_or(0) as usize;
            assert_eq!(bytes_of(&archive), whole[..kept], "cut at {cut}");

            archive.append(&whole[kept..], lines(&whole)).unwrap();
            fresh.sync_all().unwrap();
            assert_eq!(bytes_of(&archive), whole, "healed after a cut at {cut}");
            assert_eq!(zstd::decode_all(&fs::read(archive.path()).unwrap()[..]).unwrap(), whole);
            assert_sound(&fresh);
        }
    }
}

#[test]
fn every_flipped_byte_of_a_store_is_found_or_harmless() {
    for packed in [false, true] {
        let (_folder, store, archive, _) = three_chunks(true, packed);
        let whole = CHUNKS.concat();
        let session = store.session(&key()).unwrap();
        let mut found = 0;
        for (path, good) in files_below(store.root()) {
            for at in 0..good.len() {
                let mut bytes = good.clone();
                bytes[at] ^= 0x10;
                fs::write(&path, &bytes).unwrap();
                let damaged = match Store::open(store.root(), Arc::new(RealDisk)) {
                    Err(_) => true,
                    Ok(store) => !store.verify(true, &mut |_| {}).unwrap().problems.is_empty(),
                };
                if damaged {
                    found += 1;
                } else {
                    let store = again(&store);
                    let place = format!("byte {at} of {}", path.display());
                    assert_eq!(bytes_of(&store.archive(&slot())), whole, "{place}");
                    assert_eq!(store.session(&key()).unwrap(), session, "{place}");
                }
            }
            fs::write(&path, &good).unwrap();
        }
        assert!(found > archive.commits().unwrap().len() * 100, "only {found} flips were found");
        assert_sound(&store);
    }
}

#[test]
fn wrong_bytes_are_not_handed_out() {
    let (_folder, store, archive, good) = three_chunks(true, false);
    let second = archive.commits().unwrap()[1];
    let mut bytes = good.clone();
    bytes[second.data as usize + 8] ^= 1;
    fs::write(archive.path(), &bytes).unwrap();

    let archive = again(&store).archive(&slot());
    let mut read = Vec::new();
    let error = archive.read().unwrap().read_to_end(&mut read).unwrap_err();
    assert_eq!(read, CHUNKS[0]);
    assert!(error.to_string().contains("m.zst"), "{error}");
    assert_eq!(archive.read_range(0, 4).unwrap(), &CHUNKS[0][..4]);
    assert!(matches!(archive.read_range(10, 4), Err(Error::Damaged { .. })));
    assert!(matches!(archive.repack(), Err(Error::Damaged { .. })));
    assert_eq!(fs::read(archive.path()).unwrap(), bytes, "a damaged file is left as it is");
}

#[test]
fn a_commit_whose_data_a_power_cut_lost_is_not_believed() {
    let (_folder, store, archive, settled) = three_chunks(true, false);
    append_all(&archive, &[b"four\n".to_vec(), b"five\n".to_vec()]);
    let commits = archive.commits().unwrap();
    let mut bytes = fs::read(archive.path()).unwrap();
    let lost = commits[3].data as usize..commits[3].at as usize;
    bytes[lost].fill(0);
    fs::write(archive.path(), &bytes).unwrap();

    let fresh = again(&store);
    assert_sound(&fresh);
    // Whoever reads before the next sync has cut it sees what is good, and no damage.
    assert_eq!(bytes_of(&again(&store).archive(&slot())), CHUNKS.concat());
    assert_eq!(again(&store).archive(&slot()).read_range(0, 4).unwrap(), &CHUNKS[0][..4]);
    assert_eq!(again(&store).archive(&slot()).commits().unwrap().len(), CHUNKS.len());
    let archive = fresh.archive(&slot());
    assert_eq!(archive.tail().unwrap().unwrap().end, CHUNKS.concat().len() as u64);
    assert_eq!(bytes_of(&archive), CHUNKS.concat());
    archive.append(b"four again\n", 4).unwrap();
    assert_eq!(bytes_of(&archive), [&CHUNKS.concat()[..], b"four again\n"].concat());
    assert_eq!(fs::read(archive.path()).unwrap()[..settled.len()], settled);
}

#[test]
fn a_commit_frame_inside_a_source_is_only_bytes() {
    let (_folder, store, archive, good) = three_chunks(false, false);
    // Noise around the frame keeps zstd from packing it: it stands in the data as it is.
    let noise: Vec<u8> =
        (0..2000u64).flat_map(|n| blake3::hash(&n.to_le_bytes()).as_bytes()[..4].to_vec()).collect();
    let chunk = [&noise[..], &good[good.len() - 112..], &noise[..]].concat();
    archive.append(&chunk, 4).unwrap();
    let torn = fs::read(archive.path()).unwrap();
    let inside = memchr::memmem::rfind(&torn[..torn.len() - 112], b"retrolog").unwrap() - 8;
    assert!(inside > good.len());
    fs::write(archive.path(), &torn[..inside + 112]).unwrap();
    let tail = again(&store).archive(&slot()).tail().unwrap().unwrap();
    assert_eq!(tail.end, CHUNKS.concat().len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Of what was not synced, a power cut keeps any sectors and any length.
    #[test]
    fn a_power_cut_leaves_at_least_what_was_synced(
        sizes in prop::collection::vec(1usize..3000, 1..5),
        kept in prop::collection::vec(any::<bool>(), 40),
        cut in any::<prop::sample::Index>(),
        packed in any::<bool>(),
    ) {
        const SECTOR_BYTES: usize = 512;
        let (_folder, store, archive, synced) = three_chunks(true, packed);
        let mut whole = CHUNKS.concat();
        for size in sizes {
            let noise = blake3::Hasher::new().update(&size.to_le_bytes()).finalize_xof();
            let mut chunk = Vec::new();
            noise.take(size as u64).read_to_end(&mut chunk).unwrap();
            whole.extend_from_slice(&chunk);
            archive.append(&chunk, lines(&whole)).unwrap();
        }
        let mut bytes = fs::read(archive.path()).unwrap();
        for (at, byte) in bytes.iter_mut().enumerate().skip(synced.len()) {
            if !kept[at / SECTOR_BYTES] {
                *byte = 0;
            }
        }
        bytes.truncate(synced.len() + cut.index(2 * (bytes.len() - synced.len()) + 1));
        fs::write(archive.path(), &bytes).unwrap();

        let fresh = again(&store);
        assert_sound(&fresh);
        let archive = fresh.archive(&slot());
        let end = archive.tail().unwrap().unwrap().end as usize;
        prop_assert!(end >= CHUNKS.concat().len());
        prop_assert_eq!(&bytes_of(&archive)[..], &whole[..end]);
        archive.append(&whole[end..], lines(&whole)).unwrap();
        fresh.sync_all().unwrap();
        prop_assert_eq!(bytes_of(&archive), whole);
        assert_sound(&again(&store));
    }

    #[test]
    fn any_bytes_at_all_are_survived(
        noise in prop::collection::vec(any::<u8>(), 0..400),
        at in any::<prop::sample::Index>(),
        packed in any::<bool>(),
    ) {
        let (_folder, store, archive, good) = three_chunks(true, packed);
        let at = at.index(good.len());
        fs::write(archive.path(), [&good[..at], &noise[..], &good[at..]].concat()).unwrap();
        let fresh = again(&store);
        let archive = fresh.archive(&slot());
        let whole = CHUNKS.concat();
        let mut bytes = Vec::new();
        if archive.read().is_ok_and(|mut reader| reader.read_to_end(&mut bytes).is_ok()) {
            prop_assert!(whole.starts_with(&bytes));
        }
        let _ = (archive.tail(), archive.commits(), archive.read_range(3, 9), archive.compare(&mut &whole[..]));
        fresh.verify(true, &mut |_| {}).unwrap();
    }
}

#[test]
fn a_raw_file_that_goes_on_for_ever_is_damaged_and_not_searched_to_its_start() {
    let (_folder, store) = store();
    let archive = store.archive(&slot());
    append_all(&archive, &[b"one\n".to_vec()]);
    // A file with a hole: it takes no room.
    let file = std::fs::OpenOptions::new().write(true).open(archive.path()).unwrap();
    file.set_len(64_000_000_000).unwrap();
    let again = Store::open(store.root(), Arc::new(RealDisk)).unwrap();
    assert!(matches!(again.archive(&slot()).tail(), Err(Error::Damaged { .. })));
}
