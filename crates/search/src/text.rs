//! The text index, which maps words to pieces.
//!
//! It is a projection of the passages in the database, stored by tantivy: postings with positions,
//! and a few columns per piece. It does not rank (`rank.rs` does) and stores no text. Its folder
//! has a *mark*: the last change of the passages it includes, and the version of this code.

mod columns;
mod directory;
mod folder;
mod gather;
mod list;
mod queued;
mod seal;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tantivy::directory::{Directory, MmapDirectory};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy, SegmentReader, TantivyError};

pub use folder::TextFolder;
pub(crate) use gather::Finder;
pub use writer::TextWriter;

use crate::Place;
use crate::words::Words;
use columns::Columns;
use directory::Written;
use retro_model::{Passage, PieceKind};

/// Version of the index. Increment it when terms or columns change.
pub const TEXT_VERSION: u32 = 2;

const TOKENIZER: &str = "retro";

/// The index as of the moment it was opened.
pub struct TextIndex {
    reader: IndexReader,
    fields: Fields,
    mark: String,
    /// The columns of each segment, opened on first use.
    columns: Vec<OnceLock<Columns>>,
}

#[derive(Debug, Clone, Copy)]
struct Fields {
    words: Field,
    labels: Field,
    passage: Field,
    place: Field,
    info: Field,
    at: Field,
}

impl TextIndex {
    /// Opens the index in a folder. `None` if there is none, or if its files changed since they
    /// were sealed.
    pub fn open(folder: &Path) -> Option<TextIndex> {
        // A writer may swap files during the first attempt. The second one succeeds.
        TextIndex::open_once(folder).or_else(|| TextIndex::open_once(folder))
    }

    fn open_once(folder: &Path) -> Option<TextIndex> {
        let current = seal::current(folder)?;
        let mark = seal::check(&current)?;
        let index = open_index(MmapDirectory::open(&current).ok()?).ok()?;
        let fields = Fields::of(&index.schema())?;
        let reader: IndexReader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().ok()?;
        let columns = reader.searcher().segment_readers().iter().map(|_| OnceLock::new()).collect();
        Some(TextIndex { reader, fields, mark, columns })
    }

    /// The columns of the segment at this index.
    fn columns(&self, at: usize, segment: &SegmentReader) -> tantivy::Result<&Columns> {
        let Some(kept) = self.columns.get(at) else {
            return Err(TantivyError::SystemError("the segments of an open index changed".to_owned()));
        };
        match kept.get() {
            Some(columns) => Ok(columns),
            None => Columns::open(segment, &self.fields).map(|columns| kept.get_or_init(|| columns)),
        }
    }

    /// The mark set by the last write.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// The number of pieces in the index.
    pub fn pieces(&self) -> u64 {
        self.reader.searcher().num_docs()
    }
}

impl Fields {
    fn schema() -> Schema {
        let mut schema = Schema::builder();
        let text = |tokenizer: &str, option: IndexRecordOption| {
            let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_fieldnorms(false);
            TextOptions::default().set_indexing_options(indexing.set_index_option(option))
        };
        schema.add_text_field("words", text(TOKENIZER, IndexRecordOption::WithFreqsAndPositions));
        schema.add_text_field("labels", text("raw", IndexRecordOption::Basic));
        schema.add_u64_field("passage", NumericOptions::default() | INDEXED | FAST);
        schema.add_u64_field("place", FAST);
        schema.add_u64_field("info", FAST);
        schema.add_i64_field("at", FAST);
        schema.build()
    }

    fn of(schema: &Schema) -> Option<Fields> {
        let field = |name: &str| schema.get_field(name).ok();
        Some(Fields {
            words: field("words")?,
            labels: field("labels")?,
            passage: field("passage")?,
            place: field("place")?,
            info: field("info")?,
            at: field("at")?,
        })
    }
}

fn open_index(directory: impl Into<Box<dyn Directory>>) -> tantivy::Result<Index> {
    let index = Index::open(directory)?;
    index.tokenizers().register(TOKENIZER, IndexedWords::default());
    Ok(index)
}

fn create_index(directory: Written) -> tantivy::Result<Index> {
    let index = Index::create(directory, Fields::schema(), IndexSettings::default())?;
    index.tokenizers().register(TOKENIZER, IndexedWords::default());
    Ok(index)
}

/// The column data of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Info {
    pub kind: PieceKind,
    pub live: bool,
    /// The index of the piece in its passage.
    pub piece: u8,
    /// How many bytes its text has. Lengths are only ever compared with each other, and bytes
    /// need no tokenizer.
    pub len: u32,
}

impl Info {
    fn pack(self) -> u64 {
        let kind = PieceKind::ALL.iter().position(|kind| *kind == self.kind).unwrap_or(0) as u64;
        kind | u64::from(self.live) << 4 | u64::from(self.piece) << 8 | u64::from(self.len) << 16
    }

    fn unpack(bits: u64) -> Info {
        let kind = PieceKind::ALL.get((bits & 15) as usize).copied().unwrap_or(PieceKind::Output);
        Info { kind, live: bits >> 4 & 1 == 1, piece: (bits >> 8) as u8, len: (bits >> 16) as u32 }
    }
}

/// A passage and its numbers in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered {
    /// The passage's number.
    pub number: u64,
    /// The session's number.
    pub session: u32,
    /// The thread's number within the session, from 0.
    pub line: u32,
    /// The passage itself.
    pub passage: Passage,
}

impl Numbered {
    /// The place of one of its pieces.
    pub(crate) fn place(&self, piece: usize) -> Place {
        Place::new(self.session, self.line, self.passage.first.saturating_add(piece as u32))
    }

    /// True if the passage contains the piece at a place.
    pub(crate) fn has(&self, place: Place) -> bool {
        let after = place.position().checked_sub(self.passage.first);
        (self.session, self.line) == (place.session(), place.line())
            && after.is_some_and(|after| (after as usize) < self.passage.pieces.len())
    }
}

/// The tokenizer that tantivy calls.
#[derive(Clone, Default)]
struct IndexedWords {
    words: Words,
    terms: String,
    tokens: Vec<(usize, usize, u32)>,
}

/// The terms of one text, one by one.
struct IndexedTerms<'a> {
    of: &'a mut IndexedWords,
    next: usize,
    token: Token,
}

impl Tokenizer for IndexedWords {
    type TokenStream<'a> = IndexedTerms<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> IndexedTerms<'a> {
        let IndexedWords { words, terms, tokens } = self;
        terms.clear();
        tokens.clear();
        words.each(text, |term| {
            let start = terms.len();
            terms.push_str(term.text);
            tokens.push((start, terms.len(), term.position));
        });
        IndexedTerms { of: self, next: 0, token: Token::default() }
    }
}

impl TokenStream for IndexedTerms<'_> {
    fn advance(&mut self) -> bool {
        let Some(&(start, end, position)) = self.of.tokens.get(self.next) else { return false };
        self.next += 1;
        self.token.text.clear();
        self.token.text.push_str(self.of.terms.get(start..end).unwrap_or_default());
        self.token.position = position as usize;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// A numbered folder inside the index folder.
fn numbered(folder: &Path, number: u64) -> PathBuf {
    folder.join(number.to_string())
}
