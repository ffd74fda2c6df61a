//! A limit on the bytes held at once, shared by all threads.

use std::sync::{Condvar, Mutex, PoisonError};

/// Source bytes of sessions that a sync holds at the same time. A larger session is read alone.
pub(crate) const HELD_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A number of bytes that threads take shares of.
pub(crate) struct Budget {
    all: u64,
    free: Mutex<u64>,
    freed: Condvar,
}

/// A share of the budget, given back when it is dropped.
pub(crate) struct Share<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    pub(crate) fn new(bytes: u64) -> Budget {
        Budget { all: bytes, free: Mutex::new(bytes), freed: Condvar::new() }
    }

    /// Waits until this many bytes are free.
    pub(crate) fn take(&self, bytes: u64) -> Share<'_> {
        let bytes = bytes.min(self.all);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free < bytes {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= bytes;
        Share { budget: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.budget.free.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn threads_never_hold_more_than_the_budget() {
        let (budget, held, most) = (Budget::new(HELD_BYTES_MAX), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8u64 {
                let (budget, held, most) = (&budget, &held, &most);
                scope.spawn(move || {
                    for round in 0..200u64 {
                        let bytes = (thread * 7 + round * 13) % 17 * 1024 * 1024;
                        let _share = budget.take(bytes);
                        let now = held.fetch_add(bytes, Ordering::SeqCst) + bytes;
                        most.fetch_max(now, Ordering::SeqCst);
                        held.fetch_sub(bytes, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= HELD_BYTES_MAX);
    }
}
