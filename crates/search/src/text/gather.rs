//! Reading postings: which pieces hold the words of a query, and how often.

use hashbrown::{HashMap, HashSet};
use tantivy::columnar::ColumnValues;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EnableScoring, PhraseQuery, Query as _};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Searcher, SegmentReader, TERMINATED, Term};

use super::{Info, TextIndex};
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

    /// Every piece that holds one of the first `essential` terms, with how often it holds
    /// each of all terms.
    pub(crate) fn hits(
        &self,
        terms: &[&str],
        essential: usize,
        keep: &dyn Fn(Place, &Info, i64) -> bool,
        into: &mut Vec<Hit>,
    ) -> Result<(), Error> {
        for segment in &self.segments {
            let mut found: Vec<(u32, u8, u32)> = Vec::new();
            for (at, term) in terms.iter().enumerate().take(essential) {
                let Some(mut postings) = self.postings(segment, term)? else { continue };
                let mut doc = postings.doc();
                while doc != TERMINATED {
                    found.push((doc, at as u8, postings.term_freq()));
                    doc = postings.advance();
                }
            }
            // Runs that are sorted each: merging them is all there is to do.
            found.sort_by_key(|(doc, ..)| *doc);
            let first = into.len();
            let docs = self.hits_of(segment, &found, keep, into)?;
            for (at, term) in terms.iter().enumerate().skip(essential) {
                let Some(postings) = self.postings(segment, term)? else { continue };
                look_up(postings, &docs, at as u8, into.get_mut(first..).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Makes hits of what the postings of one segment hold. Returns their numbers there.
    fn hits_of(
        &self,
        segment: &Segment,
        found: &[(u32, u8, u32)],
        keep: &dyn Fn(Place, &Info, i64) -> bool,
        into: &mut Vec<Hit>,
    ) -> Result<Vec<u32>, Error> {
        let columns = segment.reader.fast_fields();
        let schema = self.searcher.schema();
        let name = |field| schema.get_field_name(field);
        let places = columns.u64(name(self.index.fields.place)).map_err(error)?.values;
        let infos = columns.u64(name(self.index.fields.info)).map_err(error)?.values;
        let times = columns.i64(name(self.index.fields.at)).map_err(error)?.values;
        let numbers = columns.u64(name(self.index.fields.passage)).map_err(error)?.values;
        let has_gone = segment.has_gone();
        let groups = found.chunk_by(|(a, ..), (b, ..)| a == b);
        let groups = groups.filter_map(|group| Some((group.first()?.0, group)));
        let (docs, groups): (Vec<u32>, Vec<_>) =
            groups.filter(|(doc, _)| !has_gone || segment.is_there(*doc)).unzip();
        let known = values(&*places, &docs).into_iter().zip(values(&*infos, &docs));
        let dated = values(&*times, &docs).into_iter().zip(values(&*numbers, &docs));
        let mut kept = Vec::with_capacity(docs.len());
        into.reserve(docs.len());
        for ((doc, group), ((place, info), (at_ms, number))) in
            docs.into_iter().zip(groups).zip(known.zip(dated))
        {
            let (place, info) = (Place::from_bits(place), Info::unpack(info));
            if !keep(place, &info, at_ms) {
                continue;
            }
            let mut hit = Hit::new(place, number, info, at_ms);
            group.iter().for_each(|(_, term, count)| hit.add(*term, *count));
            into.push(hit);
            kept.push(doc);
        }
        Ok(kept)
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

/// Adds how often each of `docs` (sorted) holds a term.
fn look_up(mut postings: SegmentPostings, docs: &[u32], term: u8, hits: &mut [Hit]) {
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
