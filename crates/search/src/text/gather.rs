//! Reads postings: the pieces that contain the words of a query, and how often.

use hashbrown::{HashMap, HashSet};
use retro_model::PieceKind;
use std::ops::Range;
use tantivy::postings::SegmentPostings;
use tantivy::query::{EnableScoring, PhraseQuery, Query as _};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Searcher, SegmentReader, TERMINATED, Term};

use super::columns::{Columns, values};
use super::list::List;
use super::{Info, TextIndex};
use crate::best::{Best, Seen, Sought};
use crate::query::Phrase;
use crate::rank::{Counts, Hit, Partial};
use crate::{Error, Place};

/// Queries the index. Ignores passages that were replaced since it was written.
pub(crate) struct Finder<'a> {
    index: &'a TextIndex,
    searcher: Searcher,
    segments: Vec<Segment<'a>>,
}

/// A segment, and its deleted or hidden pieces.
struct Segment<'a> {
    reader: SegmentReader,
    columns: &'a Columns,
    /// Pieces of hidden passages.
    hidden: HashSet<u32>,
    /// Hidden and deleted pieces, ascending.
    gone: Vec<u32>,
}

/// A piece of a segment, a term, and how often the piece contains it.
type Held = (u32, u8, u32);

/// Pieces of a common term that are processed together.
const DOCS_AT_ONCE: usize = 4_096;

impl Segment<'_> {
    fn new(reader: SegmentReader, columns: &Columns, hidden: HashSet<u32>) -> Segment<'_> {
        let has_gone = reader.has_deletes() || !hidden.is_empty();
        let mut segment = Segment { reader, columns, hidden, gone: Vec::new() };
        if has_gone {
            let all = 0..segment.reader.max_doc();
            segment.gone = all.filter(|doc| !segment.is_there(*doc)).collect();
        }
        segment
    }

    fn has_gone(&self) -> bool {
        !self.gone.is_empty()
    }

    fn is_there(&self, doc: u32) -> bool {
        !self.reader.is_deleted(doc) && (self.hidden.is_empty() || !self.hidden.contains(&doc))
    }
}

impl<'a> Finder<'a> {
    /// Queries an index, without the passages with these numbers.
    pub(crate) fn new(index: &'a TextIndex, hidden: &[u64]) -> Result<Finder<'a>, Error> {
        let searcher = index.reader.searcher();
        let mut segments = Vec::new();
        for (at, reader) in searcher.segment_readers().iter().enumerate() {
            let mut gone = HashSet::new();
            let inverted = reader.inverted_index(index.fields.passage).map_err(error)?;
            for number in hidden {
                let term = Term::from_field_u64(index.fields.passage, *number);
                let found = inverted.read_postings(&term, IndexRecordOption::Basic).map_err(io)?;
                gone.extend(found.into_iter().flat_map(docs));
            }
            let columns = index.columns(at, reader).map_err(error)?;
            segments.push(Segment::new(reader.clone(), columns, gone));
        }
        Ok(Finder { index, searcher, segments })
    }

    /// The number of pieces that contain a term.
    pub(crate) fn count(&self, term: &str) -> Result<u64, Error> {
        let mut count = 0;
        for segment in &self.segments {
            let Some(mut list) = self.list(segment, term)? else { continue };
            // Few pieces are gone, and very many contain a common word.
            let all = u64::from(list.len());
            count += all - segment.gone.iter().filter(|doc| list.count_in(**doc) > 0).count() as u64;
        }
        Ok(count)
    }

    /// Every piece that contains one of the essential terms, with the counts of all terms.
    pub(crate) fn hits(&self, sought: &Sought<'_>, best: &mut Best<'_>) -> Result<(), Error> {
        for segment in &self.segments {
            let mut essential = self.lists(segment, sought, 0..sought.essential)?;
            let others = self.lists(segment, sought, sought.essential..sought.terms.len())?;
            let mut pieces = Pieces { segment, others, sought };
            match essential.as_mut_slice() {
                // Millions of pieces may contain it.
                [(term, list)] => while pieces.take_next(*term, list, best) {},
                // Together they are in few pieces.
                lists => pieces.take_all(lists, best),
            }
        }
        Ok(())
    }

    /// The postings of a segment for each of these terms.
    fn lists(
        &self,
        segment: &Segment<'_>,
        sought: &Sought<'_>,
        terms: Range<usize>,
    ) -> Result<Vec<(u8, List)>, Error> {
        let terms = sought.terms.iter().enumerate().skip(terms.start).take(terms.len());
        let list = |(at, term): (usize, &&str)| Ok(self.list(segment, term)?.map(|list| (at as u8, list)));
        terms.filter_map(|term| list(term).transpose()).collect()
    }

    fn list(&self, segment: &Segment<'_>, term: &str) -> Result<Option<List>, Error> {
        let inverted = segment.reader.inverted_index(self.index.fields.words).map_err(error)?;
        let term = Term::from_field_text(self.index.fields.words, term);
        let found = inverted.read_block_postings(&term, IndexRecordOption::WithFreqs).map_err(io)?;
        Ok(found.map(List::new))
    }

    /// Numbers of the passages with a piece that has this label.
    pub(crate) fn labelled(&self, label: &str, into: &mut HashSet<u64>) -> Result<(), Error> {
        let term = Term::from_field_text(self.index.fields.labels, label);
        self.each_segment(None, into, |segment| {
            let inverted = segment.reader.inverted_index(self.index.fields.labels).map_err(error)?;
            let found = inverted.read_postings(&term, IndexRecordOption::Basic).map_err(io)?;
            Ok(found.map(docs).into_iter().flatten().collect())
        })
    }

    /// The maximum number of pieces with these words in this order.
    pub(crate) fn most_with(&self, phrase: &Phrase) -> Result<u64, Error> {
        let counts: Result<Vec<u64>, Error> = phrase.terms.iter().map(|(_, term)| self.count(term)).collect();
        Ok(counts?.into_iter().min().unwrap_or(0))
    }

    /// Numbers of the passages, out of `of` or all, with a piece that has these words in this
    /// order.
    pub(crate) fn with_phrase(
        &self,
        phrase: &Phrase,
        of: Option<&HashSet<u64>>,
        into: &mut HashSet<u64>,
    ) -> Result<(), Error> {
        let field = self.index.fields.words;
        if let [(_, only)] = phrase.terms.as_slice() {
            return self.each_segment(of, into, |segment| {
                let mut docs = Vec::new();
                if let Some(mut list) = self.list(segment, only)? {
                    list.next(usize::MAX, |doc, _| docs.push(doc));
                }
                Ok(of_kind(segment, phrase, docs))
            });
        }
        let terms =
            phrase.terms.iter().map(|(offset, term)| (*offset as usize, Term::from_field_text(field, term)));
        let query = PhraseQuery::new_with_offset(terms.collect());
        let weight = query.weight(EnableScoring::disabled_from_searcher(&self.searcher)).map_err(error)?;
        self.each_segment(of, into, |segment| {
            let mut found = weight.scorer(&segment.reader, 1.0).map_err(error)?;
            let mut docs = Vec::new();
            while found.doc() != TERMINATED {
                docs.push(found.doc());
                found.advance();
            }
            Ok(of_kind(segment, phrase, docs))
        })
    }

    /// Runs a search over each segment, and collects the passages of its pieces, out of `of` or
    /// all.
    fn each_segment(
        &self,
        of: Option<&HashSet<u64>>,
        into: &mut HashSet<u64>,
        docs: impl Fn(&Segment<'_>) -> Result<Vec<u32>, Error>,
    ) -> Result<(), Error> {
        for segment in &self.segments {
            let mut docs = docs(segment)?;
            docs.retain(|doc| segment.is_there(*doc));
            let mut last = None;
            for number in values(&*segment.columns.numbers, &docs) {
                // The pieces of a passage are adjacent.
                if last.replace(number) != Some(number) && of.is_none_or(|of| of.contains(&number)) {
                    into.insert(number);
                }
            }
        }
        Ok(())
    }

    /// Terms of the index with this prefix, with the number of pieces that contain each.
    pub(crate) fn starting_with(&self, start: &str, limit: usize) -> Result<HashMap<String, u64>, Error> {
        let mut found: HashMap<String, u64> = HashMap::new();
        let field = self.index.fields.words;
        for segment in &self.segments {
            let inverted = segment.reader.inverted_index(field).map_err(error)?;
            let mut terms = inverted.terms().range().ge(start).into_stream().map_err(io)?;
            let mut left = limit;
            while left > 0 && terms.advance() {
                let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
                if !term.starts_with(start) {
                    break;
                }
                *found.entry(term.to_owned()).or_default() += u64::from(terms.value().doc_freq);
                left -= 1;
            }
        }
        Ok(found)
    }
}

/// Turns the pieces of a segment into hits.
struct Pieces<'a> {
    segment: &'a Segment<'a>,
    /// The terms that are not essential.
    others: Vec<(u8, List)>,
    sought: &'a Sought<'a>,
}

impl Pieces<'_> {
    /// Takes every piece in any of these lists.
    fn take_all(&mut self, lists: &mut [(u8, List)], best: &mut Best<'_>) {
        let all: u32 = lists.iter().map(|(_, list)| list.len()).sum();
        let mut found: Vec<Held> = Vec::with_capacity(all as usize);
        for (term, list) in lists {
            list.next(usize::MAX, |doc, count| found.push((doc, *term, count)));
        }
        found.retain(|(doc, ..)| self.segment.is_there(*doc));
        // Each list is sorted already, so the sort only merges them.
        found.sort_by_key(|(doc, ..)| *doc);
        let (mut docs, mut held) = (Vec::with_capacity(found.len()), Vec::with_capacity(found.len()));
        for group in found.chunk_by(|(a, ..), (b, ..)| a == b) {
            docs.extend(group.first().map(|(doc, ..)| *doc));
            held.push(counts(group));
        }
        self.take(docs, held, best);
    }

    /// Takes the next pieces of a list. False at its end.
    fn take_next(&mut self, term: u8, list: &mut List, best: &mut Best<'_>) -> bool {
        let longest = best.longest(term, self.sought.essential);
        let (mut docs, mut counts) = (Vec::with_capacity(DOCS_AT_ONCE), Vec::with_capacity(DOCS_AT_ONCE));
        let has_gone = self.segment.has_gone();
        let taken = list.next(DOCS_AT_ONCE, |doc, count| {
            if longest.of(count) > 0 && (!has_gone || self.segment.is_there(doc)) {
                docs.push(doc);
                counts.push(count);
            }
        });
        if best.has_room() {
            let counts = counts.into_iter().map(|count| Counts::of_one(term, count)).collect();
            self.take(docs, counts, best);
        } else {
            let infos = values(&*self.segment.columns.infos, &docs);
            let mut known = Vec::with_capacity(docs.len());
            known.extend(docs.into_iter().zip(counts).zip(infos).filter_map(|((doc, count), info)| {
                let len = Info::unpack(info).len;
                (len <= longest.of(count)).then(|| {
                    let mut partial = best.partial(len);
                    best.add(&mut partial, term, count);
                    (doc, partial, Counts::of_one(term, count))
                })
            }));
            let (docs, counts) = self.good_enough(known, best);
            best.extend(self.hits(docs, counts).1);
        }
        taken > 0
    }

    /// Takes pieces with their counts of the essential terms.
    fn take(&mut self, docs: Vec<u32>, counts: Vec<Counts>, best: &mut Best<'_>) {
        let (docs, mut hits) = self.hits(docs, counts);
        for (term, list) in &mut self.others {
            docs.iter().zip(&mut hits).for_each(|(doc, hit)| hit.add(*term, list.count_in(*doc)));
        }
        best.extend(hits);
    }

    /// The pieces that may be among the best, adding one term after the other.
    fn good_enough(
        &mut self,
        mut known: Vec<(u32, Partial, Counts)>,
        best: &Best<'_>,
    ) -> (Vec<u32>, Vec<Counts>) {
        for (term, list) in &mut self.others {
            let least = best.least(usize::from(*term) + 1);
            known.retain_mut(|(doc, partial, counts)| {
                let count = list.count_in(*doc);
                counts.add(*term, count);
                best.add(partial, *term, count);
                partial.score >= least
            });
        }
        known.into_iter().map(|(doc, _, counts)| (doc, counts)).unzip()
    }

    /// Hits of the pieces in scope, with their numbers in the segment.
    fn hits(&self, docs: Vec<u32>, counts: Vec<Counts>) -> (Vec<u32>, Vec<Hit>) {
        let Columns { places, infos, times, numbers } = self.segment.columns;
        let known = values(&**places, &docs).into_iter().zip(values(&**infos, &docs));
        let dated = values(&**times, &docs).into_iter().zip(values(&**numbers, &docs));
        let (mut kept, mut hits) = (Vec::with_capacity(docs.len()), Vec::with_capacity(docs.len()));
        for ((doc, counts), ((place, info), (at_ms, passage))) in
            docs.into_iter().zip(counts).zip(known.zip(dated))
        {
            let known = Seen { place: Place::from_bits(place), passage, info: Info::unpack(info), at_ms };
            if (self.sought.keep)(&known) {
                hits.push(known.hit(counts));
                kept.push(doc);
            }
        }
        (kept, hits)
    }
}

/// How often a piece contains each term.
fn counts(held: &[Held]) -> Counts {
    let mut counts = Counts::default();
    held.iter().for_each(|(_, term, count)| counts.add(*term, *count));
    counts
}

/// The pieces of the kind in which a phrase may occur.
fn of_kind(segment: &Segment<'_>, phrase: &Phrase, mut docs: Vec<u32>) -> Vec<u32> {
    if phrase.only_commands {
        docs.retain(|doc| segment.columns.info(*doc).kind == PieceKind::Command);
    }
    docs
}

fn docs(mut postings: SegmentPostings) -> impl Iterator<Item = u32> {
    let mut next = postings.doc();
    std::iter::from_fn(move || {
        let doc = next;
        (doc != TERMINATED).then(|| {
            next = postings.advance();
            doc
        })
    })
}

fn error(source: tantivy::TantivyError) -> Error {
    Error::Text { path: "index/text".into(), source: Box::new(source) }
}

fn io(source: std::io::Error) -> Error {
    Error::Io { path: "index/text".into(), source }
}
