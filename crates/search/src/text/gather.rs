//! Reading postings: which pieces hold the words of a query, and how often.

use hashbrown::{HashMap, HashSet};
use std::sync::Arc;
use tantivy::columnar::ColumnValues;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EnableScoring, PhraseQuery, Query as _};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Searcher, SegmentReader, TERMINATED, Term};

use super::{Fields, Info, TextIndex};
use crate::best::{Best, Seen, Sought};
use crate::query::Phrase;
use crate::rank::Hit;
use crate::{Error, Place};

/// Asks the index. Passages that were replaced since it was written are as if they were not
/// there.
pub(crate) struct Finder<'a> {
    index: &'a TextIndex,
    searcher: Searcher,
    segments: Vec<Segment>,
}

/// A segment, and which of its pieces are gone.
struct Segment {
    reader: SegmentReader,
    /// Pieces of hidden passages, sorted.
    hidden: HashSet<u32>,
}

/// A piece of a segment, a term, and how often the piece holds it.
type Held = (u32, u8, u32);

/// What a segment has of every piece.
struct Columns {
    places: Arc<dyn ColumnValues<u64>>,
    infos: Arc<dyn ColumnValues<u64>>,
    times: Arc<dyn ColumnValues<i64>>,
    numbers: Arc<dyn ColumnValues<u64>>,
}

/// Pieces that are looked at together.
const DOCS_AT_ONCE: usize = 16_384;

impl Segment {
    fn has_gone(&self) -> bool {
        self.reader.has_deletes() || !self.hidden.is_empty()
    }

    fn is_there(&self, doc: u32) -> bool {
        !self.reader.is_deleted(doc) && (self.hidden.is_empty() || !self.hidden.contains(&doc))
    }
}

impl<'a> Finder<'a> {
    /// Over an index, without the passages with these numbers.
    pub(crate) fn new(index: &'a TextIndex, hidden: &[u64]) -> Result<Finder<'a>, Error> {
        let searcher = index.reader.searcher();
        let mut segments = Vec::new();
        for reader in searcher.segment_readers() {
            let mut segment = Segment { reader: reader.clone(), hidden: HashSet::new() };
            let inverted = reader.inverted_index(index.fields.passage).map_err(error)?;
            for number in hidden {
                let term = Term::from_field_u64(index.fields.passage, *number);
                let found = inverted.read_postings(&term, IndexRecordOption::Basic).map_err(io)?;
                segment.hidden.extend(found.into_iter().flat_map(docs));
            }
            segments.push(segment);
        }
        Ok(Finder { index, searcher, segments })
    }

    /// How many pieces hold a term.
    pub(crate) fn count(&self, term: &str) -> Result<u64, Error> {
        let mut count = 0;
        for segment in &self.segments {
            let Some(found) = self.postings(segment, term)? else { continue };
            count += match segment.has_gone() {
                true => docs(found).filter(|doc| segment.is_there(*doc)).count() as u64,
                false => u64::from(found.doc_freq()),
            };
        }
        Ok(count)
    }

    /// Every piece that holds one of the essential terms, with how often it holds each of all
    /// terms.
    pub(crate) fn hits(&self, sought: &Sought<'_>, best: &mut Best<'_>) -> Result<(), Error> {
        for segment in &self.segments {
            let mut found: Vec<Held> = Vec::new();
            for (at, term) in sought.terms.iter().enumerate().take(sought.essential) {
                let Some(mut postings) = self.postings(segment, term)? else { continue };
                let mut doc = postings.doc();
                while doc != TERMINATED {
                    found.push((doc, at as u8, postings.term_freq()));
                    doc = postings.advance();
                }
            }
            // Runs that are sorted each: merging them is all there is to do.
            found.sort_by_key(|(doc, ..)| *doc);
            let mut others = Vec::new();
            for (at, term) in sought.terms.iter().enumerate().skip(sought.essential) {
                others.extend(self.postings(segment, term)?.map(|postings| (at as u8, postings)));
            }
            let columns = self.columns(segment)?;
            let mut rest = found.as_slice();
            while !rest.is_empty() {
                let part = first_docs(&mut rest, DOCS_AT_ONCE);
                let (docs, mut hits) = hits_of(segment, &columns, part, sought, best);
                others.iter_mut().for_each(|(term, postings)| look_up(postings, &docs, *term, &mut hits));
                best.extend(hits);
            }
        }
        Ok(())
    }

    fn columns(&self, segment: &Segment) -> Result<Columns, Error> {
        let columns = segment.reader.fast_fields();
        let schema = self.searcher.schema();
        let name = |field| schema.get_field_name(field);
        let Fields { place, info, at, passage, .. } = self.index.fields;
        Ok(Columns {
            places: columns.u64(name(place)).map_err(error)?.values,
            infos: columns.u64(name(info)).map_err(error)?.values,
            times: columns.i64(name(at)).map_err(error)?.values,
            numbers: columns.u64(name(passage)).map_err(error)?.values,
        })
    }

    /// Numbers of the passages that have a piece with this label.
    pub(crate) fn labelled(&self, label: &str, into: &mut HashSet<u64>) -> Result<(), Error> {
        let term = Term::from_field_text(self.index.fields.labels, label);
        self.each_segment(into, |segment| {
            let inverted = segment.reader.inverted_index(self.index.fields.labels).map_err(error)?;
            let found = inverted.read_postings(&term, IndexRecordOption::Basic).map_err(io)?;
            Ok(found.map(docs).into_iter().flatten().collect())
        })
    }

    /// Numbers of the passages that have a piece with these words in this order.
    pub(crate) fn with_phrase(&self, phrase: &Phrase, into: &mut HashSet<u64>) -> Result<(), Error> {
        let field = self.index.fields.words;
        if let [(_, only)] = phrase.terms.as_slice() {
            return self.each_segment_of_kind(phrase, into, |segment| {
                Ok(self.postings(segment, only)?.map(docs).into_iter().flatten().collect())
            });
        }
        let terms =
            phrase.terms.iter().map(|(offset, term)| (*offset as usize, Term::from_field_text(field, term)));
        let query = PhraseQuery::new_with_offset(terms.collect());
        let weight = query.weight(EnableScoring::disabled_from_searcher(&self.searcher)).map_err(error)?;
        self.each_segment_of_kind(phrase, into, |segment| {
            let mut found = weight.scorer(&segment.reader, 1.0).map_err(error)?;
            let mut docs = Vec::new();
            while found.doc() != TERMINATED {
                docs.push(found.doc());
                found.advance();
            }
            Ok(docs)
        })
    }

    fn each_segment_of_kind(
        &self,
        phrase: &Phrase,
        into: &mut HashSet<u64>,
        docs: impl Fn(&Segment) -> Result<Vec<u32>, Error>,
    ) -> Result<(), Error> {
        self.each_segment(into, |segment| {
            let mut docs = docs(segment)?;
            if phrase.only_commands {
                let name = self.searcher.schema().get_field_name(self.index.fields.info);
                let infos = segment.reader.fast_fields().u64(name).map_err(error)?.values;
                docs.retain(|doc| Info::unpack(infos.get_val(*doc)).kind == retro_model::PieceKind::Command);
            }
            Ok(docs)
        })
    }

    /// Collects the passages of pieces that a search of each segment gives.
    fn each_segment(
        &self,
        into: &mut HashSet<u64>,
        docs: impl Fn(&Segment) -> Result<Vec<u32>, Error>,
    ) -> Result<(), Error> {
        let name = self.searcher.schema().get_field_name(self.index.fields.passage);
        for segment in &self.segments {
            let numbers = segment.reader.fast_fields().u64(name).map_err(error)?.values;
            let found = docs(segment)?.into_iter().filter(|doc| segment.is_there(*doc));
            into.extend(found.map(|doc| numbers.get_val(doc)));
        }
        Ok(())
    }

    /// Terms of the index that start like this one, with how many pieces hold each.
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

    fn postings(&self, segment: &Segment, term: &str) -> Result<Option<SegmentPostings>, Error> {
        let inverted = segment.reader.inverted_index(self.index.fields.words).map_err(error)?;
        let term = Term::from_field_text(self.index.fields.words, term);
        inverted.read_postings(&term, IndexRecordOption::WithFreqs).map_err(io)
    }
}

/// The first of what was found, so many pieces of it.
fn first_docs<'f>(rest: &mut &'f [Held], count: usize) -> &'f [Held] {
    let of_last = |at: usize| rest.get(at).map(|(doc, ..)| *doc);
    let mut end = count.min(rest.len());
    while end < rest.len() && of_last(end) == of_last(end - 1) {
        end += 1;
    }
    let (first, after) = rest.split_at(end);
    *rest = after;
    first
}

/// Makes hits of what the postings of one segment hold, with their numbers there.
fn hits_of(
    segment: &Segment,
    columns: &Columns,
    found: &[Held],
    sought: &Sought<'_>,
    best: &Best<'_>,
) -> (Vec<u32>, Vec<Hit>) {
    let has_gone = segment.has_gone();
    let groups = found.chunk_by(|(a, ..), (b, ..)| a == b);
    let groups = groups.filter_map(|group| Some((group.first()?.0, group)));
    let (mut docs, mut groups): (Vec<u32>, Vec<&[Held]>) =
        groups.filter(|(doc, _)| !has_gone || segment.is_there(*doc)).unzip();
    if !best.has_room() {
        // Those that cannot be among the best are known by their lengths.
        let infos = values(&*columns.infos, &docs);
        let all = docs.into_iter().zip(groups).zip(infos);
        let may_be = |group: &[Held], info: u64| {
            best.may_be(Info::unpack(info).len, group.iter().map(|(_, term, count)| (*term, *count)))
        };
        (docs, groups) = all.filter(|((_, group), info)| may_be(group, *info)).map(|(one, _)| one).unzip();
    }
    let known = values(&*columns.places, &docs).into_iter().zip(values(&*columns.infos, &docs));
    let dated = values(&*columns.times, &docs).into_iter().zip(values(&*columns.numbers, &docs));
    let (mut kept, mut hits) = (Vec::with_capacity(docs.len()), Vec::with_capacity(docs.len()));
    for ((doc, group), ((place, info), (at_ms, passage))) in
        docs.into_iter().zip(groups).zip(known.zip(dated))
    {
        let known = Seen { place: Place::from_bits(place), passage, info: Info::unpack(info), at_ms };
        if (sought.keep)(&known) {
            hits.push(with(known.hit(), group));
            kept.push(doc);
        }
    }
    (kept, hits)
}

/// A hit with what it holds.
fn with(mut hit: Hit, held: &[Held]) -> Hit {
    held.iter().for_each(|(_, term, count)| hit.add(*term, *count));
    hit
}

/// Adds how often each of `docs` (sorted) holds a term.
fn look_up(postings: &mut SegmentPostings, docs: &[u32], term: u8, hits: &mut [Hit]) {
    for (doc, hit) in docs.iter().zip(hits) {
        if postings.doc() < *doc && postings.seek(*doc) == TERMINATED {
            return;
        }
        if postings.doc() == *doc {
            hit.add(term, postings.term_freq());
        }
    }
}

/// What a column has for each of these pieces. One call for all of them.
fn values<T>(column: &dyn ColumnValues<T>, docs: &[u32]) -> Vec<T>
where
    T: Copy + Default + PartialOrd + std::fmt::Debug + Send + Sync + 'static,
{
    let mut found = vec![T::default(); docs.len()];
    column.get_vals(docs, &mut found);
    found
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
