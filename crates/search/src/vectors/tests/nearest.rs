//! The answer is the exact one, and does not show how the rows were written.

use super::*;
use proptest::prelude::*;

/// The slow way: all cosines, sorted.
fn plain(rows: &BTreeMap<u64, Row>, query: &Embedding, count: usize, keep: impl Fn(u64) -> bool) -> Nearest {
    let query = Query::of(&Row::of(query));
    let kept = rows.iter().filter(|(id, _)| keep(**id));
    let cosines: Vec<(u64, f32, u32)> =
        kept.map(|(id, row)| (*id, query.cosine(row.squares, &row.values), row.squares)).collect();
    let mut hits: Vec<Hit> = cosines
        .iter()
        .filter(|(_, _, squares)| *squares > 0 && query.squares > 0)
        .map(|(id, cosine, _)| Hit { id: *id, cosine: *cosine })
        .collect();
    hits.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.id.cmp(&b.id)));
    hits.truncate(count);
    let count = cosines.len().max(1) as f64;
    let mean = cosines.iter().map(|(_, cosine, _)| f64::from(*cosine)).sum::<f64>() / count;
    let variance =
        cosines.iter().map(|(_, cosine, _)| (f64::from(*cosine) - mean).powi(2)).sum::<f64>() / count;
    Nearest { hits, spread: Spread { rows: cosines.len() as u64, mean, deviation: variance.sqrt() } }
}

fn assert_alike(found: &Nearest, expected: &Nearest) {
    assert_eq!(found.hits, expected.hits);
    assert_eq!(found.spread.rows, expected.spread.rows);
    assert!((found.spread.mean - expected.spread.mean).abs() < 3e-6, "{found:?} {expected:?}");
    assert!((found.spread.deviation - expected.spread.deviation).abs() < 3e-6, "{found:?} {expected:?}");
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let embedding = prop_oneof![
        9 => (0..12u64).prop_map(vector),
        1 => Just(Embedding::zero(DIM)),
    ];
    let put = proptest::collection::vec((0..40u64, embedding), 0..12);
    let removed = proptest::collection::vec(0..40u64, 0..6);
    let write = (0..9u8, put, removed).prop_map(|(mark, put, removed)| Write {
        mark: mark.to_string(),
        put,
        removed,
    });
    proptest::collection::vec(write, 1..8)
}

proptest! {
    #[test]
    fn any_writes_give_what_a_map_gives(writes in writes(), count in 0..50usize, seed in 0..20u64, modulus in 1..5u64) {
        let folder = tempfile::tempdir().unwrap();
        let mut vectors = open(folder.path());
        let mut expected = Expected::default();
        for write in &writes {
            write.apply(&mut vectors).unwrap();
            expected.write(write);
        }
        prop_assert_eq!(&content(&vectors), &expected);
        let keep = |id: u64| id.is_multiple_of(modulus);
        let plain = plain(&expected.rows, &vector(seed), count, keep);
        assert_alike(&vectors.top(&vector(seed), count, keep), &plain);

        // One row after the other, backwards, and copied: the very same answer.
        let other = tempfile::tempdir().unwrap();
        let mut again = open(other.path());
        let kept: Vec<(u64, Embedding)> = vectors.ids().map(|id| (id, vectors.sum(&[id]))).collect();
        for (id, vector) in kept.iter().rev() {
            again.write("x", &[(*id, vector)], &[]).unwrap();
        }
        again.copy().unwrap();
        prop_assert_eq!(again.top(&vector(seed), count, keep), vectors.top(&vector(seed), count, keep));
    }
}

#[test]
fn many_threads_find_what_one_finds() {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = open(folder.path());
    // Enough rows for several threads, with many equal vectors.
    let rows: Vec<(u64, Embedding)> = (0..140_000).map(|id| (id, vector(id % 1009))).collect();
    for part in rows.chunks(50_000) {
        let put: Vec<(u64, &Embedding)> = part.iter().map(|(id, vector)| (*id, vector)).collect();
        vectors.write("m", &put, &[]).unwrap();
    }
    vectors.write("m", &[(5, &vector(2000))], &[0, 1009, 70_000]).unwrap();
    let mut expected = Expected::default();
    expected.write(&Write { mark: "m".into(), put: rows, removed: vec![] });
    expected.write(&Write { mark: "m".into(), put: vec![(5, vector(2000))], removed: vec![0, 1009, 70_000] });
    for count in [1, 10, 500] {
        let keep = |id: u64| id % 3 != 1;
        let plain = plain(&expected.rows, &vector(1), count, keep);
        assert_alike(&vectors.top(&vector(1), count, keep), &plain);
    }
}

#[test]
fn nothing_is_kept_or_nothing_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let mut vectors = open(folder.path());
    vectors.write("m", &[(1, &vector(1))], &[]).unwrap();
    assert_eq!(vectors.top(&vector(1), 5, |_| false), Nearest::default());
    let none = vectors.top(&vector(1), 0, |_| true);
    assert!(none.hits.is_empty() && none.spread.rows == 1);
    assert!(vectors.top(&Embedding::zero(DIM), 5, |_| true).hits.is_empty());
}
