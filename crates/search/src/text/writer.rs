//! Writes the text index: adds and removes passages, one commit at a time.

use retro_model::Piece;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, UserOperation};
use tantivy::{Index, IndexWriter, TantivyDocument, TantivyError, Term};

use super::directory::Written;
use super::queued::{Queue, Queued};
use super::{Fields, Info, Numbered, TextFolder, numbered, seal};
use crate::Error;
use crate::passages::time_ms;

/// Memory in which each tantivy thread collects postings, close to its minimum. Twice as much is no
/// faster.
const THREAD_BYTES: usize = 16 * 1024 * 1024;

/// More passages than this are written by several threads.
const MANY: usize = 2_000;

/// Larger segments are not merged. A merge maps all its input, so this limits the memory of a sync.
const MERGED_PIECES_MAX: usize = 100_000;

/// Writes to the index in a folder. Until [`TextWriter::commit`] returns, the index is either the
/// old or the new one, even after a crash.
pub struct TextWriter {
    folder: TextFolder,
    number: u64,
    directory: Written,
    index: Index,
    writer: IndexWriter<Queued>,
    queue: Queue,
    fields: Fields,
    is_new: bool,
}

impl TextWriter {
    /// Writes about this many passages to an existing index.
    pub(super) fn of(
        folder: &TextFolder,
        number: u64,
        (directory, index): (Written, Index),
        passages: usize,
        is_new: bool,
    ) -> Result<TextWriter, Error> {
        let threads = match passages > MANY {
            true => std::thread::available_parallelism().map_or(1, usize::from).min(4),
            false => 1,
        };
        let options = IndexWriterOptions::builder()
            .num_worker_threads(threads)
            .memory_budget_per_thread(THREAD_BYTES)
            .num_merge_threads(1)
            .build();
        let writer: IndexWriter<Queued> =
            index.writer_with_options(options).map_err(|error| failed(folder, &directory, error))?;
        let mut merges = LogMergePolicy::default();
        merges.set_max_docs_before_merge(MERGED_PIECES_MAX);
        writer.set_merge_policy(Box::new(merges));
        let fields = Fields::of(&index.schema()).ok_or_else(|| Error::Other {
            path: folder.path.clone(),
            what: "the index has other fields".to_owned(),
        })?;
        let queue = Queue::default();
        Ok(TextWriter { folder: folder.clone(), number, directory, index, writer, queue, fields, is_new })
    }

    /// Replaces the passage with the same number.
    pub fn put(&mut self, passage: &Numbered) -> Result<(), Error> {
        if !self.is_new {
            self.remove(passage.number);
        }
        let mut documents = Vec::with_capacity(passage.passage.pieces.len());
        for (at, piece) in passage.passage.pieces.iter().enumerate() {
            let document = self.document(passage, at, piece);
            documents.push(UserOperation::Add(self.queue.add(document, piece.text.len())));
        }
        // One operation, so that the pieces of a passage stay together.
        let put = self.writer.run(documents);
        put.map(drop).map_err(|error| failed(&self.folder, &self.directory, error))
    }

    fn document(&self, passage: &Numbered, at: usize, piece: &Piece) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        let Fields { words, labels, passage: number, place, info, at: time } = self.fields;
        document.add_text(words, &piece.text);
        piece.labels.iter().for_each(|label| document.add_text(labels, label));
        document.add_u64(number, passage.number);
        document.add_u64(place, passage.place(at).bits());
        let bits = Info {
            kind: piece.kind,
            live: passage.passage.live,
            piece: at as u8,
            len: piece.text.len() as u32,
        };
        document.add_u64(info, bits.pack());
        document.add_i64(time, time_ms(piece.at));
        document
    }

    /// Removes a passage.
    pub fn remove(&mut self, number: u64) {
        self.writer.delete_term(Term::from_field_u64(self.fields.passage, number));
    }

    /// Makes all changes durable under a new mark.
    pub fn commit(self, mark: &str) -> Result<(), Error> {
        let TextWriter { folder, number, directory, index, mut writer, is_new, .. } = self;
        let error = |error| failed(&folder, &directory, error);
        let mut prepared = writer.prepare_commit().map_err(error)?;
        prepared.set_payload(mark);
        prepared.commit().map_err(error)?;
        writer.wait_merging_threads().map_err(error)?;
        drop(index);
        seal::seal(folder.disk.as_ref(), &numbered(&folder.path, number), mark)?;
        if is_new {
            seal::make_current(folder.disk.as_ref(), &folder.path, number)?;
            folder.remove_others(number);
        }
        Ok(())
    }
}

/// The disk's error if there is one, else tantivy's.
pub(super) fn failed(folder: &TextFolder, directory: &Written, error: TantivyError) -> Error {
    match directory.refused() {
        Some((path, source)) => Error::Io { path, source },
        None => Error::Text { path: folder.path.clone(), source: Box::new(error) },
    }
}
