//! Vectors on disk behave like a map from ids to vectors, whatever happens to the disk.

mod damage;
mod faults;
mod nearest;
mod readers;

use super::*;
use retro_disk::testing::FailingDisk;
use std::collections::BTreeMap;

const MODEL: &str = "model-1";
const DIM: usize = 5;

/// The expected content: mark, and a vector for each id.
#[derive(Debug, Clone, Default, PartialEq)]
struct Expected {
    mark: String,
    rows: BTreeMap<u64, Row>,
}

impl Expected {
    fn write(&mut self, write: &Write) {
        self.mark.clone_from(&write.mark);
        for id in &write.removed {
            self.rows.remove(id);
        }
        for (id, vector) in &write.put {
            self.rows.insert(*id, Row::of(vector));
        }
    }
}

/// One call of `write`.
#[derive(Debug, Clone)]
struct Write {
    mark: String,
    put: Vec<(u64, Embedding)>,
    removed: Vec<u64>,
}

impl Write {
    fn apply(&self, vectors: &mut Vectors) -> Result<(), Error> {
        let put: Vec<(u64, &Embedding)> = self.put.iter().map(|(id, vector)| (*id, vector)).collect();
        vectors.write(&self.mark, &put, &self.removed)
    }
}

/// A vector that differs for each seed.
fn vector(seed: u64) -> Embedding {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % 2001) as f32 / 1000.0 - 1.0
    };
    Embedding::new((0..DIM).map(|_| next()).collect())
}

/// A sequence of writes: a first one, growth, a replacement, a removal and an empty vector.
fn story() -> Vec<Write> {
    let write = |mark: &str, put: &[(u64, u64)], removed: &[u64]| Write {
        mark: mark.to_owned(),
        put: put.iter().map(|(id, seed)| (*id, vector(*seed))).collect(),
        removed: removed.to_vec(),
    };
    let mut story = vec![
        write("a", &[(7, 1), (3, 2), (9, 3)], &[]),
        write("b", &[(10, 4), (11, 5)], &[100]),
        write("c", &[(3, 6), (12, 7), (3, 8)], &[9, 9]),
        write("a mark of another length", &[], &[]),
        write("d", &[(9, 9)], &[7, 9, 12]),
    ];
    story.push(Write { mark: "e".into(), put: vec![(20, Embedding::zero(DIM))], removed: vec![10] });
    story
}

/// The expected content after each write, starting with the empty store.
fn states(story: &[Write]) -> Vec<Expected> {
    let mut states = vec![Expected::default()];
    for write in story {
        let mut next = states.last().unwrap().clone();
        next.write(write);
        states.push(next);
    }
    states
}

fn open(folder: &Path) -> Vectors {
    Vectors::open_on(hasty(), folder, MODEL, DIM).unwrap()
}

/// The real disk, without waiting for syncs.
fn hasty() -> Arc<FailingDisk> {
    Arc::new(FailingDisk::counting())
}

/// The store's content, read in every possible way.
fn content(vectors: &Vectors) -> Expected {
    let mut rows = BTreeMap::new();
    for id in vectors.ids() {
        let (batch, row) = vectors.state.find(id).unwrap();
        assert!(rows.insert(id, batch.row(row).unwrap().1).is_none(), "{id} is there twice");
    }
    let query = vector(77);
    let nearest = vectors.top(&query, usize::MAX, |_| true);
    let with_vector = rows.values().filter(|row| row.squares > 0).count();
    assert_eq!(
        (vectors.len(), nearest.spread.rows, nearest.hits.len()),
        (rows.len(), rows.len() as u64, with_vector)
    );
    for hit in nearest.hits {
        let row = &rows[&hit.id];
        assert_eq!(Query::of(&Row::of(&query)).cosine(row.squares, &row.values), hit.cosine);
        assert_eq!(vectors.cosines(&query, &[hit.id]), [Some(hit.cosine)]);
    }
    Expected { mark: vectors.mark().to_owned(), rows }
}

#[test]
fn every_write_is_there_at_once_and_after_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = open(folder.path());
    let story = story();
    for (write, expected) in story.iter().zip(&states(&story)[1..]) {
        write.apply(&mut vectors).unwrap();
        assert_eq!(content(&vectors), *expected);
        assert_eq!(content(&open(folder.path())), *expected);
    }
}

#[test]
fn a_folder_that_does_not_exist_is_empty_and_stays_away_until_something_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vectors");
    let mut vectors = open(&path);
    assert!(vectors.is_empty() && vectors.mark().is_empty());
    assert!(!vectors.refresh().unwrap());
    vectors.write("", &[], &[1]).unwrap();
    assert!(!path.exists());
    vectors.write("only a mark", &[], &[]).unwrap();
    assert_eq!(open(&path).mark(), "only a mark");
}

#[test]
fn a_write_that_changes_nothing_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = open(folder.path());
    vectors.write("m", &[(1, &vector(1))], &[]).unwrap();
    let end = vectors.state.end;
    vectors.write("m", &[], &[2]).unwrap();
    assert_eq!(vectors.state.end, end);
}

#[test]
fn a_vector_of_another_dimension_is_refused_and_as_a_query_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = open(folder.path());
    vectors.write("m", &[(1, &vector(1))], &[]).unwrap();
    let other = Embedding::new(vec![1.0; DIM + 1]);
    assert!(matches!(
        vectors.write("n", &[(2, &other)], &[]),
        Err(Error::Dimension { found: 6, expected: 5 })
    ));
    assert_eq!(vectors.mark(), "m");
    assert!(vectors.top(&other, 3, |_| true).hits.is_empty());
}

#[test]
fn another_model_or_dimension_starts_over() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).write("m", &[(1, &vector(1))], &[]).unwrap();
    let mut other = Vectors::open(folder.path(), "model-2", DIM).unwrap();
    assert!(other.is_empty() && other.mark().is_empty());
    assert_eq!(content(&open(folder.path())).mark, "m", "opening changes nothing");
    other.write("n", &[(2, &vector(2))], &[]).unwrap();
    assert!(open(folder.path()).is_empty());
    assert_eq!(content(&Vectors::open(folder.path(), "model-2", DIM).unwrap()).mark, "n");
    assert!(Vectors::open(folder.path(), "model-2", DIM + 1).unwrap().is_empty());
}

#[test]
fn sums_are_those_of_the_rows_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = open(folder.path());
    vectors.write("m", &[(1, &vector(1)), (2, &vector(2))], &[]).unwrap();
    vectors.write("m", &[(3, &vector(3))], &[]).unwrap();
    let mut expected = vector(1);
    expected.add(&vector(3));
    let sum = vectors.sum(&[3, 1, 99]);
    assert_eq!(sum, vectors.sum(&[1, 3]));
    for (sum, expected) in sum.values().iter().zip(expected.values()) {
        assert!((sum - expected).abs() < 0.02);
    }
    assert!(vectors.sum(&[]).is_zero() && vectors.sum(&[99]).dim() == DIM);
}

#[test]
fn a_file_with_many_dead_rows_or_small_batches_is_copied_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = open(folder.path());
    let many: Vec<(u64, Embedding)> = (0..DEAD_MIN as u64).map(|id| (id, vector(id))).collect();
    let mut last = Expected::default();
    for round in 0..4 {
        let write = Write { mark: round.to_string(), put: many.clone(), removed: vec![] };
        write.apply(&mut vectors).unwrap();
        last.write(&write);
        assert_eq!(vectors.compact().unwrap(), round == 2, "round {round}");
    }
    for number in 0..BATCHES_MIN as u64 * 2 {
        vectors.write(&number.to_string(), &[(number % 7, &vector(1))], &[]).unwrap();
        last.write(&Write { mark: number.to_string(), put: vec![(number % 7, vector(1))], removed: vec![] });
    }
    assert!(vectors.compact().unwrap() && !vectors.compact().unwrap());
    assert_eq!(content(&vectors), last);
    assert_eq!(content(&open(folder.path())), last);
    assert_eq!((vectors.state.dead(), vectors.state.batches.len()), (0, 1));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "current and one file");
}

#[test]
fn a_build_replaces_everything_and_the_later_vector_of_an_id_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = open(folder.path());
    vectors.write("old", &[(1, &vector(1)), (2, &vector(2))], &[]).unwrap();
    let mut build = vectors.build().unwrap();
    build.add(&[(5, &vector(5)), (2, &vector(3))]).unwrap();
    build.add(&[(2, &vector(4))]).unwrap();
    vectors.write("between", &[], &[]).unwrap();
    build.finish("new").unwrap();
    assert_eq!(vectors.mark(), "between");
    assert!(vectors.refresh().unwrap());
    let mut expected = Expected::default();
    expected.write(&Write { mark: "new".into(), put: vec![(2, vector(4)), (5, vector(5))], removed: vec![] });
    assert_eq!(content(&vectors), expected);
}

#[cfg(unix)]
#[test]
fn files_belong_to_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vectors");
    open(&path).write("m", &[(1, &vector(1))], &[]).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    for entry in std::fs::read_dir(&path).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}
