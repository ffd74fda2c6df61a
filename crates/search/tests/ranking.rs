//! The ranking against a plain reference: every score is computed from the texts, without an
//! index, without bounds and without a thought for time.
#![allow(clippy::unwrap_used)]

use hashbrown::{HashMap, HashSet};
use jiff::civil::date;
use proptest::prelude::*;
use retro_disk::RealDisk;
use retro_model::{Passage, Piece, PieceKind, Timestamp};
use retro_search::{
    Ask, Extent, Found, Library, Meaning, Mode, Nearest, Numbered, Numbers, Place, Query, Ranker, Scope,
    Tail, TextFolder, TextIndex, Words, search,
};
use std::path::Path;
use std::sync::Arc;

const NOW_MS: i64 = 1_790_000_000_000;
const DAY_MS: i64 = 86_400_000;

/// A piece as the reference sees it.
#[derive(Debug, Clone)]
struct Plain {
    session: u32,
    position: i64,
    passage: u64,
    kind: PieceKind,
    text: String,
}

/// All pieces, how near each passage is to the question, and the folder of the question.
#[derive(Debug, Clone)]
struct Store {
    pieces: Vec<Plain>,
    cosines: Vec<f64>,
    here: u32,
}

impl Store {
    fn of_session(&self, session: u32) -> impl Iterator<Item = &Plain> {
        self.pieces.iter().filter(move |piece| piece.session == session)
    }

    fn sessions(&self) -> Vec<u32> {
        let mut sessions: Vec<u32> = self.pieces.iter().map(|piece| piece.session).collect();
        sessions.dedup();
        sessions
    }

    fn at_ms(session: u32) -> i64 {
        NOW_MS - i64::from(session) * 3 * DAY_MS
    }

    fn numbered(&self) -> Vec<Numbered> {
        let passage = |pieces: &[Plain]| {
            let first = &pieces[0];
            let piece = |plain: &Plain| Piece {
                kind: plain.kind,
                event: format!("m:{}", plain.position),
                at: Timestamp::from_millis(Store::at_ms(plain.session)),
                text: plain.text.clone(),
                labels: Vec::new(),
            };
            let passage = Passage {
                thread: "main".to_owned(),
                turn: 1,
                first: first.position as u32,
                live: true,
                pieces: pieces.iter().map(piece).collect(),
            };
            Numbered { number: first.passage, session: first.session, line: 0, passage }
        };
        self.pieces.chunk_by(|a, b| a.passage == b.passage).map(passage).collect()
    }
}

impl Library for Store {
    fn extent(&self) -> Extent {
        let bytes = self.pieces.iter().map(|piece| piece.text.len() as u64).sum();
        Extent { pieces: self.pieces.len() as u64, bytes }
    }

    fn session_extent(&self, session: u32) -> Extent {
        let bytes = self.of_session(session).map(|piece| piece.text.len() as u64).sum();
        Extent { pieces: self.of_session(session).count() as u64, bytes }
    }

    fn sessions(&self) -> u64 {
        Store::sessions(self).len() as u64
    }

    fn passage(&self, number: u64) -> Option<Numbered> {
        self.numbered().into_iter().find(|numbered| numbered.number == number)
    }

    fn passage_at(&self, place: Place) -> Option<u64> {
        let at = i64::from(place.position());
        self.of_session(place.session()).find(|piece| piece.position == at).map(|piece| piece.passage)
    }

    fn within(&self, _: &Scope) -> Option<HashSet<u64>> {
        None
    }

    fn rewound(&self) -> HashSet<u64> {
        HashSet::new()
    }

    fn containing(&self, _: &str) -> HashSet<u64> {
        HashSet::new()
    }
}

/// Cosines that were made up. That of several passages is their mean.
impl Meaning for Store {
    fn nearest(&self, count: usize, keep: &(dyn Fn(u64) -> bool + Sync)) -> Nearest {
        let mut passages: Vec<(u64, f64)> =
            self.cosines.iter().enumerate().map(|(at, cosine)| (at as u64, *cosine)).collect();
        passages.retain(|(number, _)| keep(*number));
        passages.sort_by(|a, b| b.1.total_cmp(&a.1));
        passages.truncate(count);
        let (mean, deviation) = mean_and_deviation(&self.cosines, self.cosines.len());
        Nearest { passages, mean, deviation, share: 1.0, unrelated: None }
    }

    fn cosine(&self, passages: &[u64]) -> Option<f64> {
        let sum: f64 = passages.iter().map(|number| self.cosines[*number as usize]).sum();
        Some(sum / passages.len() as f64)
    }
}

fn mean_and_deviation(values: &[f64], count: usize) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / count as f64;
    let squares = values.iter().map(|value| value * value).sum::<f64>() / count as f64;
    (mean, (squares - mean * mean).max(0.0).sqrt())
}

fn above((mean, deviation): (f64, f64), value: f64) -> f64 {
    if deviation < 1e-5 { 0.0 } else { (value - mean) / deviation }
}

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Words::default().each(text, |term| terms.push(term.text.to_owned()));
    terms
}

fn raised(score: f64, gain: f64) -> f64 {
    if score > 0.0 { score * (1.0 + gain) } else { score }
}

/// The reference.
struct Reference<'a> {
    store: &'a Store,
    numbers: &'a Numbers,
    question: Vec<String>,
    meaning: f64,
}

impl Reference<'_> {
    /// Pieces that hold a term.
    fn holding(&self, term: &String) -> f64 {
        self.store.pieces.iter().filter(|piece| terms(&piece.text).contains(term)).count() as f64
    }

    fn wanted(&self) -> Vec<String> {
        let mut wanted = self.question.clone();
        wanted.sort();
        wanted.dedup();
        wanted
    }

    fn weight(&self, term: &String) -> f64 {
        let (all, holding) = (self.store.pieces.len() as f64, self.holding(term));
        (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
    }

    fn weight_among_sessions(&self, term: &String) -> f64 {
        let all = self.store.sessions().len() as f64;
        let with = all * (1.0 - (-self.holding(term) / self.numbers.pieces_a_session / all).exp());
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    fn bm25(&self, texts: &[&str], length: f64, weight: impl Fn(&String) -> f64) -> f64 {
        let held: Vec<String> = texts.iter().flat_map(|text| terms(text)).collect();
        let Numbers { k1, b, .. } = *self.numbers;
        let of_term = |term: &String| {
            let count = held.iter().filter(|known| *known == term).count() as f64;
            weight(term) * count * (k1 + 1.0) / (count + k1 * (1.0 - b + b * length))
        };
        self.wanted().iter().map(of_term).sum()
    }

    fn mean_bytes(&self) -> f64 {
        let extent = Library::extent(self.store);
        extent.bytes as f64 / extent.pieces as f64
    }

    fn is_hit(&self, piece: &Plain) -> bool {
        terms(&piece.text).iter().any(|term| self.question.contains(term))
    }

    fn own(&self, piece: &Plain) -> f64 {
        self.bm25(&[&piece.text], piece.text.len() as f64 / self.mean_bytes(), |term| self.weight(term))
    }

    /// The score of a window around a place, where `last` is the last piece that counts.
    fn window(&self, session: u32, position: i64, last: i64) -> f64 {
        let reach = i64::from(self.numbers.reach);
        let places = (position - reach).max(0)..=(position + reach).min(last);
        let hits: Vec<&Plain> = self
            .store
            .of_session(session)
            .filter(|piece| places.contains(&piece.position) && self.is_hit(piece))
            .collect();
        let missing = places.count() - hits.len();
        let bytes =
            hits.iter().map(|hit| hit.text.len() as f64).sum::<f64>() + missing as f64 * self.mean_bytes();
        let texts: Vec<&str> = hits.iter().map(|hit| hit.text.as_str()).collect();
        let length = bytes / ((2 * reach + 1) as f64 * self.mean_bytes());
        self.bm25(&texts, length, |term| self.weight(term))
    }

    /// Places that hold a word or have a neighbour that does, those behind the end included.
    fn places(&self) -> Vec<(u32, i64)> {
        let reach = i64::from(self.numbers.reach);
        let mut places = Vec::new();
        for hit in self.store.pieces.iter().filter(|piece| self.is_hit(piece)) {
            let around = (hit.position - reach).max(0)..=hit.position + reach;
            places.extend(around.map(|position| (hit.session, position)));
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The share of the question's neighbouring words that are neighbours in a text.
    fn neighbours(&self, text: &str) -> f64 {
        let mut pairs: Vec<(&String, &String)> = Vec::new();
        for pair in self.question.windows(2) {
            if pair[0] != pair[1] && !pairs.contains(&(&pair[0], &pair[1])) {
                pairs.push((&pair[0], &pair[1]));
            }
        }
        let words = terms(text);
        let apart = self.numbers.neighbours_apart_max as usize;
        let (mut found, mut all) = (0.0, 0.0);
        for (first, next) in pairs {
            let weight = self.weight(first) + self.weight(next);
            all += weight;
            let follows = |at: usize| words.iter().skip(at + 1).take(apart).any(|word| word == next);
            if words.iter().enumerate().any(|(at, word)| word == first && follows(at)) {
                found += weight;
            }
        }
        if all > 0.0 { found / all } else { 0.0 }
    }

    fn mixed(&self, words: f64, meaning: f64) -> f64 {
        (1.0 - self.meaning) * words + self.meaning * meaning
    }

    fn by_meaning(&self, cosine: f64) -> f64 {
        above(mean_and_deviation(&self.store.cosines, self.store.cosines.len()), cosine)
    }

    /// Every session with its score.
    fn sessions(&self) -> HashMap<u32, f64> {
        let places = self.places();
        let far = i64::MAX / 2;
        let windows: Vec<f64> =
            places.iter().map(|(session, position)| self.window(*session, *position, far)).collect();
        let owns: Vec<f64> = self.store.pieces.iter().map(|piece| self.own(piece)).collect();
        let among = self.store.pieces.len().max(places.len());
        let scales = (mean_and_deviation(&windows, among), mean_and_deviation(&owns, among));
        let sessions = self.store.sessions();
        let wholes: Vec<f64> = sessions.iter().map(|session| self.whole(*session, Some(1.0))).collect();
        let whole = mean_and_deviation(&wholes, sessions.len());
        let is_asked =
            |session: &u32| self.meaning > 0.0 || self.of(*session).any(|piece| self.is_hit(piece));
        let asked = sessions.iter().filter(|session| is_asked(session));
        asked.map(|session| (*session, self.session(*session, &places, scales, whole))).collect()
    }

    fn of(&self, session: u32) -> impl Iterator<Item = &Plain> {
        self.store.of_session(session)
    }

    fn whole(&self, session: u32, length: Option<f64>) -> f64 {
        let all = Library::extent(self.store).bytes as f64 / self.store.sessions().len() as f64;
        let bytes = self.of(session).map(|piece| piece.text.len() as f64).sum::<f64>();
        let texts: Vec<&str> = self.of(session).map(|piece| piece.text.as_str()).collect();
        self.bm25(&texts, length.unwrap_or(bytes / all), |term| self.weight_among_sessions(term))
    }

    fn session(
        &self,
        session: u32,
        places: &[(u32, i64)],
        (windows, owns): ((f64, f64), (f64, f64)),
        whole: (f64, f64),
    ) -> f64 {
        let near = |piece: &&Plain| places.contains(&(session, piece.position));
        let mut pieces: Vec<&Plain> = self.of(session).filter(near).collect();
        if self.meaning > 0.0 {
            // A passage without such a piece is there for what it means, with its first in prose.
            for of_passage in self.of(session).collect::<Vec<_>>().chunk_by(|a, b| a.passage == b.passage) {
                if !of_passage.iter().any(&near) {
                    pieces.push(
                        of_passage.iter().find(|piece| piece.kind.is_prose()).unwrap_or(&of_passage[0]),
                    );
                }
            }
        }
        let last = self.of(session).count() as i64 - 1;
        let reach = i64::from(self.numbers.reach);
        let mut scored: Vec<(f64, bool)> = Vec::new();
        for piece in pieces {
            let mut around: Vec<u64> = self
                .of(session)
                .filter(|other| (other.position - piece.position).abs() <= reach)
                .map(|other| other.passage)
                .collect();
            around.dedup();
            let cosine = self.by_meaning(self.store.cosines[piece.passage as usize]);
            let window_cosine = self.by_meaning(self.store.cosine(&around).unwrap());
            let is_scored = near(&piece);
            let (by_window, by_own) = match is_scored {
                true => (self.window(session, piece.position, last), self.own(piece)),
                false => (0.0, 0.0),
            };
            let window = self.mixed(above(windows, by_window), window_cosine);
            let own = self.mixed(above(owns, by_own), cosine);
            let score = raised(window + self.numbers.own * own, self.numbers.kinds[&piece.kind] - 1.0);
            let score = raised(score, self.numbers.neighbours * self.neighbours(&piece.text));
            scored.push((score, piece.kind.is_prose()));
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let further = scored.iter().skip(1).filter(|(score, is_prose)| *is_prose && *score > 0.0).take(2);
        let by_pieces = scored[0].0 + self.numbers.further * further.map(|(score, _)| score).sum::<f64>();
        let cosine = self.of(session).map(|piece| self.store.cosines[piece.passage as usize]);
        let cosine = self.by_meaning(cosine.fold(f64::NEG_INFINITY, f64::max));
        let by_whole = self.mixed(above(whole, self.whole(session, None)), cosine);
        let held: f64 =
            self.wanted().iter().filter(|term| self.holds(session, term)).map(|t| self.weight(t)).sum();
        let asked: f64 = self.wanted().iter().map(|term| self.weight(term)).sum();
        let score = by_pieces + self.numbers.whole * by_whole;
        let score = raised(score, -self.numbers.held * (1.0 - held / asked));
        let days = (NOW_MS - Store::at_ms(session)) as f64 / DAY_MS as f64;
        let recent = self.numbers.recent * 0.5_f64.powf(days / self.numbers.recent_days);
        raised(score, recent + if session == self.store.here { self.numbers.here } else { 0.0 })
    }

    fn holds(&self, session: u32, term: &String) -> bool {
        self.of(session).any(|piece| terms(&piece.text).contains(term))
    }
}

/// What the program says, with the first passages in the index and the others beside it.
fn asked(store: &Store, question: &str, mode: Mode, ranker: &Ranker, indexed: usize) -> Found {
    let memory = Path::new("/dev/shm");
    let folder =
        if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() };
    let passages = store.numbered();
    let indexed = indexed.min(passages.len());
    let mut writer = TextFolder::new(folder.path(), Arc::new(RealDisk)).start_over(indexed).unwrap();
    passages.iter().take(indexed).for_each(|numbered| writer.put(numbered).unwrap());
    writer.commit("here").unwrap();
    let tail = Tail { passages: passages[indexed..].to_vec(), hidden: Vec::new() };
    let ask = Ask {
        query: &Query::parse(question, date(2026, 11, 17)),
        scope: &Scope::default(),
        mode,
        ranker,
        limit: 60,
        per_session: 200,
        exact: None,
        now_ms: NOW_MS,
        is_here: &|session| session == store.here,
    };
    search(TextIndex::open(folder.path()).as_ref(), &tail, store, Some(store), &ask).unwrap()
}

const WORDS: &[&str] = &["kiln", "harbour", "tax", "lock", "river", "comet", "bowl", "ship"];

/// Sessions of a few passages of a few pieces of a few words.
fn stores() -> impl Strategy<Value = Store> {
    let text = prop::collection::vec(0..WORDS.len(), 1..9);
    let piece = (0..PieceKind::ALL.len(), text);
    let session = prop::collection::vec(prop::collection::vec(piece, 1..5), 1..5);
    let cosines = prop::collection::vec(0.3..0.9_f64, 100);
    (prop::collection::vec(session, 1..12), cosines, 0..12_u32).prop_map(|(sessions, cosines, here)| {
        let mut pieces = Vec::new();
        let mut passage = 0;
        for (session, passages) in sessions.into_iter().enumerate() {
            let mut position = 0;
            for of_passage in passages {
                for (kind, words) in of_passage {
                    let text: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
                    let (kind, text) = (PieceKind::ALL[kind], text.join(" "));
                    pieces.push(Plain { session: session as u32, position, passage, kind, text });
                    position += 1;
                }
                passage += 1;
            }
        }
        let cosines = cosines[..passage as usize].to_vec();
        Store { pieces, cosines, here }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_session_scores_as_the_reference_says(
        store in stores(),
        question in prop::collection::vec(0..WORDS.len(), 1..6),
        is_hybrid: bool,
        indexed in 0..40_usize,
    ) {
        let question: Vec<&str> = question.into_iter().map(|word| WORDS[word]).collect();
        let question = question.join(" ");
        let ranker = Ranker::new().unwrap();
        let mode = if is_hybrid { Mode::Hybrid } else { Mode::Words };
        let reference = Reference {
            store: &store,
            numbers: ranker.numbers(),
            question: terms(&question),
            meaning: if is_hybrid { ranker.numbers().meaning } else { 0.0 },
        };
        let expected = reference.sessions();
        let found = asked(&store, &question, mode, &ranker, indexed);
        prop_assert_eq!(found.sessions.len(), expected.len());
        for session in &found.sessions {
            let wanted = expected[&session.session];
            let is_near = (session.score - wanted).abs() < 1e-3 * wanted.abs().max(1.0);
            prop_assert!(is_near, "session {}: {} and not {wanted}", session.session, session.score);
        }
        prop_assert!(found.sessions.is_sorted_by(|a, b| a.score >= b.score));
    }
}
