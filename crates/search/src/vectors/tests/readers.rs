//! Readers keep what they opened, while another appends, copies and swaps.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says that the writer is done, also when it fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_reader_sees_a_write_when_it_refreshes_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let (mut writer, mut reader) = (open(folder.path()), open(folder.path()));
    let story = story();
    let states = states(&story);
    for (number, write) in story.iter().enumerate() {
        write.apply(&mut writer).unwrap();
        assert_eq!(content(&reader), states[number]);
        assert!(reader.refresh().unwrap());
        assert!(!reader.refresh().unwrap());
        assert_eq!(content(&reader), states[number + 1]);
    }
}

#[test]
fn a_clone_keeps_what_it_shows_through_copies_and_builds() {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = open(folder.path());
    let (story, mut kept) = (story(), Vec::new());
    for (write, state) in story.iter().zip(&states(&story)[1..]) {
        write.apply(&mut vectors).unwrap();
        kept.push((vectors.clone(), open(folder.path()), state.clone()));
        vectors.copy().unwrap();
    }
    vectors.build().unwrap().finish("empty").unwrap();
    for (clone, other, state) in &kept {
        assert_eq!((&content(clone), &content(other)), (state, state));
    }
    vectors.refresh().unwrap();
    assert_eq!((vectors.len(), vectors.mark()), (0, "empty"));
}

#[test]
fn two_writers_in_turn_build_upon_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (open(folder.path()), open(folder.path()));
    let story = story();
    for (number, write) in story.iter().enumerate() {
        write.apply(if number % 2 == 0 { &mut one } else { &mut two }).unwrap();
        if number == 3 {
            one.copy().unwrap();
        }
    }
    assert_eq!(content(&open(folder.path())), *states(&story).last().unwrap());
}

#[test]
fn readers_at_the_same_time_see_only_whole_states() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = open(folder.path());
    let rounds = 60u64;
    // The mark says which vectors there are: as many as it counts.
    let is_whole = |vectors: &Vectors| {
        let count: usize = vectors.mark().parse().unwrap_or(0);
        assert_eq!(vectors.len(), count);
        assert_eq!(vectors.top(&vector(1), 5, |_| true).spread.rows, count as u64);
        count as u64
    };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut kept = open(folder.path());
                while is_whole(&kept) < rounds && !is_over.load(Ordering::SeqCst) {
                    is_whole(&open(folder.path()));
                    kept.refresh().unwrap();
                }
            });
        }
        let _over = Over(&is_over);
        for round in 1..=rounds {
            writer.write(&round.to_string(), &[(round, &vector(round))], &[]).unwrap();
            if round % 7 == 0 {
                writer.copy().unwrap();
            }
        }
    });
}
