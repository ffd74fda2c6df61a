//! Prefetches memory before it is needed.

/// The size of a processor's cache line.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Prefetches these values into the cache. Has no other effect, and does nothing on processors
/// without the instruction.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "the function of the standard library takes a pointer, though it never reads it"
)]
pub(super) fn fetch(values: &[i8]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for line in values.chunks(LINE_BYTES) {
        // SAFETY: a hint reads nothing for the program and cannot fail, whatever it points to;
        // this one points into a slice. Each x86-64 processor has the instruction.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr()) };
    }
}

/// Does nothing: safe Rust has no prefetch for this processor.
#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn fetch(_: &[i8]) {}
