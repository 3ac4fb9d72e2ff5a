//! Controllers that are fast for benchmarks: compression (docs/field/cheats.md#cheats-and-caches).

use record::Content;

use crate::profile::spec;
use crate::profile::units::Rate;

/// Effect of a compressing controller on the time of writes.
#[derive(Debug)]
pub(crate) struct Compression {
    /// Share of the streaming time that zeros take.
    zeros_ease: f64,
    zeros_ns_per_byte: f64,
    repeats: bool,
    zeros_write_ns: Option<f64>,
}

impl Compression {
    pub(crate) fn new(compression: &spec::CompressionSpec, usual: Rate) -> Compression {
        Compression {
            zeros_ease: usual.0 / compression.zeros_rate.0,
            zeros_ns_per_byte: compression.zeros_rate.ns_per_byte(),
            repeats: compression.repeats,
            zeros_write_ns: compression.zeros_write.map(|time| time.0),
        }
    }

    /// Share of the streaming time that this content takes.
    pub(crate) fn ease(&self, content: Content) -> f64 {
        1.0 - self.compressible(content) * (1.0 - self.zeros_ease)
    }

    /// Time in nanoseconds of a write of which nothing needs to be stored; `None` for any other
    /// write.
    pub(crate) fn shortcut(&self, content: Content, bytes: u64) -> Option<f64> {
        let command_ns = self.zeros_write_ns.filter(|_| self.compressible(content) == 1.0)?;
        Some(command_ns + bytes as f64 * self.zeros_ns_per_byte)
    }

    fn compressible(&self, content: Content) -> f64 {
        match content {
            Content::Zeros | Content::Byte(_) => 1.0,
            Content::Repeated => f64::from(u8::from(self.repeats)),
            Content::Compressible(percent) => f64::from(percent.min(100)) / 100.0,
            Content::Incompressible => 0.0,
        }
    }
}

/// Kind of data as a compressing controller sees it: one byte over and over, partly zeros, or
/// neither.
pub(crate) fn classify(bytes: &[u8]) -> Content {
    let first = bytes.first().copied().unwrap_or(0);
    if bytes.iter().all(|byte| *byte == first) {
        return if first == 0 { Content::Zeros } else { Content::Byte(first) };
    }
    // Runs of 64 zero bytes are what a compressor sees of a block that is partly zeros; single
    // zeros in random data are not.
    let zero_runs = bytes.chunks(64).filter(|chunk| chunk.iter().all(|byte| *byte == 0)).count();
    match zero_runs * 64 * 100 / bytes.len() {
        0 => Content::Incompressible,
        percent => Content::Compressible(percent as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_taken_for_what_it_is() {
        let mut half = vec![0u8; 4096];
        (0..2048).for_each(|i| half[i] = (i * 7 + 1) as u8 | 1);
        let random: Vec<u8> = (0..512u64).flat_map(|i| crate::rng::mix(i).to_le_bytes()).collect();
        let seen = [vec![0; 512], vec![9; 512], half, random].map(|bytes| classify(&bytes));
        assert_eq!(
            seen,
            [Content::Zeros, Content::Byte(9), Content::Compressible(50), Content::Incompressible]
        );
    }
}
