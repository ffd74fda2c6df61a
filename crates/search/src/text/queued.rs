//! Documents on their way to the threads of tantivy, which lets ten thousand of them wait
//! however large they are. Here their bytes decide.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tantivy::TantivyDocument;
use tantivy::schema::document::Document;

/// Bytes of text that may wait.
const WAITING_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A thread that does not get on for so long has failed: tantivy says so when more comes.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many bytes wait, and a way to learn that they became fewer.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Mutex<usize>,
    fewer: Condvar,
}

/// Everything that waits.
#[derive(Debug, Default)]
pub(super) struct Queue(Arc<Waiting>);

impl Queue {
    /// A document to be sent, as soon as there is room for it.
    pub(super) fn add(&self, document: TantivyDocument, bytes: usize) -> Queued {
        let waiting = self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |waiting: &mut usize| *waiting > WAITING_BYTES_MAX;
        let room = self.0.fewer.wait_timeout_while(waiting, PATIENCE, is_full);
        let (mut waiting, _) = room.unwrap_or_else(PoisonError::into_inner);
        *waiting += bytes;
        Queued { document, bytes, waiting: Arc::clone(&self.0) }
    }
}

/// A document that counts as waiting until a thread has taken it in.
#[derive(Debug)]
pub(super) struct Queued {
    document: TantivyDocument,
    bytes: usize,
    waiting: Arc<Waiting>,
}

impl Drop for Queued {
    fn drop(&mut self) {
        *self.waiting.bytes.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.waiting.fewer.notify_one();
    }
}

impl Document for Queued {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }
}
