//! Speed of memory: a read rate above it cannot be one of a medium.

use std::hint::black_box;

use crate::clock::now_ns;

/// Bytes of each copy: too large for processor caches, small enough for any machine.
const BUFFER_BYTES: usize = 8 << 20;

/// Number of copies; the fastest counts, because the machine's best is asked for.
const COPIES: u32 = 8;

/// Rate in bytes per second at which one core copies memory, measured now (some 20 ms). A read from
/// a medium is at least one such copy by the device, so a higher rate has another source.
pub fn memory_copy_bps() -> f64 {
    let from = vec![1u8; BUFFER_BYTES];
    let mut to = vec![0u8; BUFFER_BYTES];
    let fastest_ns =
        (0..COPIES).map(|_| copy_ns(&from, &mut to)).min().expect("at least one copy is made");
    BUFFER_BYTES as f64 * 1e9 / fastest_ns.max(1) as f64
}

fn copy_ns(from: &[u8], to: &mut [u8]) -> u64 {
    let before = now_ns();
    to.copy_from_slice(black_box(from));
    black_box(to);
    now_ns() - before
}

#[cfg(test)]
mod tests {
    #[test]
    fn memory_is_not_infinitely_fast() {
        let bps = super::memory_copy_bps();
        assert!(bps.is_finite() && bps > 0.0, "{bps}");
    }
}
