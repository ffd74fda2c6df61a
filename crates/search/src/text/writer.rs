//! Writing the text index: passages put and removed, one commit at a time.

use std::path::{Path, PathBuf};
use tantivy::indexer::UserOperation;
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use super::{Fields, Info, Numbered, create_index, numbered, open_index, seal};
use crate::Error;
use crate::passages::time_ms;

/// Memory that tantivy collects postings in, for each of its threads.
const THREAD_BYTES: usize = 64 * 1024 * 1024;

/// The least that tantivy accepts.
const THREAD_BYTES_MIN: usize = 16 * 1024 * 1024;

/// More passages than this are written by several threads.
const MANY: usize = 2_000;

/// Writes to the index in a folder. Whatever happens before [`TextWriter::commit`] returns,
/// the index is the old one or the new one.
pub struct TextWriter {
    folder: PathBuf,
    number: u64,
    index: Index,
    writer: IndexWriter,
    fields: Fields,
    is_new: bool,
}

impl TextWriter {
    /// The mark of the index in a folder; nothing if there is none that can be trusted.
    pub fn mark(folder: &Path) -> Option<String> {
        let current = seal::current(folder)?;
        if let Some(mark) = seal::check(&current) {
            return Some(mark);
        }
        // Killed between a commit and its seal, or touched by somebody: the checksums know.
        if !seal::is_openable(&current) {
            return None;
        }
        let index = open_index(&current).ok()?;
        let is_whole = index.validate_checksum().is_ok_and(|bad| bad.is_empty());
        let mark = index.load_metas().ok()?.payload.filter(|_| is_whole)?;
        seal::seal(&current, &mark).ok()?;
        Some(mark)
    }

    /// Goes on with the index in a folder, from its [mark](TextWriter::mark); nothing if there
    /// is none that can be trusted. `passages` says how many will be written.
    pub fn resume(folder: &Path, passages: usize) -> Option<TextWriter> {
        TextWriter::mark(folder)?;
        let number = seal::current_number(folder)?;
        let index = open_index(&numbered(folder, number)).ok()?;
        TextWriter::of(folder, number, index, passages, false).ok()
    }

    /// Starts an empty index beside the one that is there, which stays in use until the
    /// first commit.
    pub fn start_over(folder: &Path, passages: usize) -> Result<TextWriter, Error> {
        if std::fs::symlink_metadata(folder).is_ok() && !seal::is_own(folder) {
            let what = "it is no folder, and links are not followed".to_owned();
            return Err(Error::Other { path: folder.to_owned(), what });
        }
        let number = seal::current_number(folder).unwrap_or(0) + 1;
        let beside = numbered(folder, number);
        match std::fs::remove_dir_all(&beside) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::Io { path: beside, source });
            }
            _ => {}
        }
        let index = create_index(&beside)?;
        TextWriter::of(folder, number, index, passages, true)
    }

    fn of(
        folder: &Path,
        number: u64,
        index: Index,
        passages: usize,
        is_new: bool,
    ) -> Result<TextWriter, Error> {
        let error = Error::text(folder);
        let (threads, bytes) = if passages > MANY {
            let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
            (threads, threads * THREAD_BYTES)
        } else {
            (1, THREAD_BYTES_MIN)
        };
        let writer = index.writer_with_num_threads(threads, bytes).map_err(&error)?;
        let fields = Fields::of(&index.schema()).ok_or_else(|| Error::Other {
            path: folder.to_owned(),
            what: "the index has other fields".to_owned(),
        })?;
        Ok(TextWriter { folder: folder.to_owned(), number, index, writer, fields, is_new })
    }

    /// Puts a passage in the place of the one with the same number.
    pub fn put(&mut self, passage: &Numbered) -> Result<(), Error> {
        if !self.is_new {
            self.remove(passage.number);
        }
        let mut documents = Vec::with_capacity(passage.passage.pieces.len());
        for at in 0..passage.passage.pieces.len() {
            documents.extend(self.document(passage, at).map(UserOperation::Add));
        }
        // As one operation: the pieces of a passage stay together.
        self.writer.run(documents).map_err(Error::text(&self.folder)).map(drop)
    }

    fn document(&self, passage: &Numbered, at: usize) -> Option<TantivyDocument> {
        let piece = passage.passage.pieces.get(at)?;
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
        Some(document)
    }

    /// Removes a passage.
    pub fn remove(&mut self, number: u64) {
        self.writer.delete_term(Term::from_field_u64(self.fields.passage, number));
    }

    /// Makes everything since the start durable under a new mark.
    pub fn commit(self, mark: &str) -> Result<(), Error> {
        let TextWriter { folder, number, index, mut writer, is_new, .. } = self;
        let error = Error::text(&folder);
        let mut prepared = writer.prepare_commit().map_err(&error)?;
        prepared.set_payload(mark);
        prepared.commit().map_err(&error)?;
        writer.wait_merging_threads().map_err(&error)?;
        drop(index);
        seal::seal(&numbered(&folder, number), mark)?;
        if is_new {
            seal::make_current(&folder, number)?;
            remove_others(&folder, number);
        }
        Ok(())
    }
}

/// Removes folders that are no longer in use. Readers that have one open keep its files
/// where the system allows it; what cannot be removed now goes the next time.
fn remove_others(folder: &Path, number: u64) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let other = entry.file_name().to_str().and_then(|name| name.parse::<u64>().ok());
        if other.is_some_and(|other| other != number) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
