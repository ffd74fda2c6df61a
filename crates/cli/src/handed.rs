//! Reads standard input from another program.

use std::io::Read;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Bytes read at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// Reads standard input to its end, but no more than `bytes_max`, and for no longer than
/// `patience`: a program that keeps it open must not block retro. Returns the bytes read until
/// then.
pub fn handed_over(bytes_max: usize, patience: Duration) -> Vec<u8> {
    let (send, pieces) = mpsc::sync_channel::<Vec<u8>>(1);
    std::thread::spawn(move || {
        let mut input = std::io::stdin();
        let mut piece = vec![0; PIECE_BYTES];
        while let Ok(count @ 1..) = input.read(&mut piece) {
            if send.send(piece.get(..count).unwrap_or_default().to_vec()).is_err() {
                return;
            }
        }
    });
    let until = Instant::now() + patience;
    let mut bytes = Vec::new();
    while bytes.len() < bytes_max {
        match pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(piece) => bytes.extend(piece),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    bytes.truncate(bytes_max);
    bytes
}
