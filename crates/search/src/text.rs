//! The text index: which pieces hold which words.
//!
//! It is a projection of the passages in the database, kept by tantivy: postings with
//! positions, and a few columns a piece. It ranks nothing (`rank.rs` does) and stores no
//! text. A folder of it carries a *mark*: how far it follows the passages, and by which
//! version of this code.

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

/// Number of this form of the index. Raise it when terms or columns change.
pub const TEXT_VERSION: u32 = 2;

const TOKENIZER: &str = "retro";

/// The index as it was when it was opened.
pub struct TextIndex {
    reader: IndexReader,
    fields: Fields,
    mark: String,
    /// One for each segment, opened when it is first needed.
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
    /// Opens the index in a folder; nothing if there is none, or one that is not as it was
    /// left.
    pub fn open(folder: &Path) -> Option<TextIndex> {
        // A writer may swap files in the middle of it; the second time it is done.
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

    /// The columns of the segment with this number.
    fn columns(&self, at: usize, segment: &SegmentReader) -> tantivy::Result<&Columns> {
        let Some(kept) = self.columns.get(at) else {
            return Err(TantivyError::SystemError("the segments of an open index changed".to_owned()));
        };
        match kept.get() {
            Some(columns) => Ok(columns),
            None => Columns::open(segment, &self.fields).map(|columns| kept.get_or_init(|| columns)),
        }
    }

    /// The mark that was given with the last write.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// How many pieces it holds.
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

/// What a column says of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Info {
    pub kind: PieceKind,
    pub live: bool,
    /// Which piece of its passage.
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

/// A passage with the numbers it has in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered {
    /// The number of the passage.
    pub number: u64,
    /// The number of its session.
    pub session: u32,
    /// The number of its thread within the session, 0 for the first.
    pub line: u32,
    /// Its words.
    pub passage: Passage,
}

impl Numbered {
    /// Where one of its pieces stands.
    pub(crate) fn place(&self, piece: usize) -> Place {
        Place::new(self.session, self.line, self.passage.first.saturating_add(piece as u32))
    }

    /// Whether the piece at a place is one of its.
    pub(crate) fn has(&self, place: Place) -> bool {
        let after = place.position().checked_sub(self.passage.first);
        (self.session, self.line) == (place.session(), place.line())
            && after.is_some_and(|after| (after as usize) < self.passage.pieces.len())
    }
}

/// Our tokenizer, as tantivy calls it.
#[derive(Clone, Default)]
struct IndexedWords {
    words: Words,
    terms: String,
    tokens: Vec<(usize, usize, u32)>,
}

/// Terms of one text, handed over one by one.
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

/// A folder inside that of the index.
fn numbered(folder: &Path, number: u64) -> PathBuf {
    folder.join(number.to_string())
}
