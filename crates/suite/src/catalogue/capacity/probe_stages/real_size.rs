//! The real size: narrowed down between the last place that keeps data and the first that does not.

use device::Extent;
use record::units::{KIB, MIB};

use super::ProbeStages;
use crate::catalogue::capacity::block_content::tail;
use crate::catalogue::capacity::prober::StepOutcome;

/// Bytes of the remaining range that are written completely.
pub(super) const WINDOW_BYTES: u64 = 16 * MIB;
const WINDOW_PIECE_BYTES: u64 = 256 * KIB;

impl ProbeStages<'_, '_, '_> {
    /// Finds the real size between data kept up to `kept` and lost from `lost` on, to the sector.
    pub(super) fn narrow_down(
        &mut self,
        mut kept: u64,
        mut lost: u64,
        cached_bytes: u64,
    ) -> StepOutcome<u64> {
        let at_once = self.marks_at_once(cached_bytes);
        let (kept_at_first, failed) = (kept, self.prober.failed_places());
        self.found.real_bytes = Some([kept, lost]);
        while lost - kept > WINDOW_BYTES.max(cached_bytes / 2) {
            // Beyond the marks there is to be room for what empties a memory of them.
            let above_bytes = self.prober.span.end() - lost;
            let room_bytes = cached_bytes.saturating_sub(above_bytes).min((lost - kept) / 2);
            let room_bytes = if self.prober.is_keeping() { 0 } else { room_bytes };
            let between = Extent::new(kept, lost - kept - room_bytes);
            let points = self.marked(between, at_once, cached_bytes)?;
            let (up_to, from, _) = self.split(&points, kept);
            (kept, lost) = (up_to, from.unwrap_or(lost));
            self.evidence.extend(points);
            self.found.real_bytes = Some([kept, lost]);
        }
        let real_bytes = self.window(kept, lost, cached_bytes)?;
        // What could not be written did not empty a memory, which may still have the marks.
        let fails = self.prober.failed_places() > failed;
        let least_bytes = if fails { kept_at_first.min(real_bytes) } else { real_bytes };
        self.found.real_bytes = Some([least_bytes, real_bytes]);
        Ok(real_bytes)
    }

    /// Number of marks of a round, from 8 to 128, for which the remaining range shrinks fastest in
    /// the time of marks and cache fills.
    fn marks_at_once(&self, cached_bytes: u64) -> u64 {
        let cache_fill_ns =
            cached_bytes as f64 * self.ramp_ns as f64 / self.ramp_bytes.max(1) as f64;
        let cost =
            |marks: &u64| (*marks as f64 * self.mark_ns + cache_fill_ns) / (*marks as f64).ln();
        [8, 16, 32, 64, 128]
            .into_iter()
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))
            .expect("there are five to choose from")
    }

    /// Writes a small range completely and reads it sector by sector; returns the beginning of its
    /// lost tail.
    pub(super) fn window(&mut self, kept: u64, lost: u64, cached_bytes: u64) -> StepOutcome<u64> {
        let logical = self.prober.context.target.facts.logical_block_bytes.max(512);
        // The block that was lost may be there in part. Beyond the wrap distance there are the
        // first bytes of the medium again.
        let end = (lost + self.prober.block_bytes)
            .min(self.prober.wrap_bytes.unwrap_or(self.prober.span.end()));
        let range = Extent::new(kept, end.saturating_sub(kept) / logical * logical);
        if range.bytes == 0 {
            return Ok(end);
        }
        let pieces = (0..range.bytes.div_ceil(WINDOW_PIECE_BYTES)).map(|piece| {
            let at = piece * WINDOW_PIECE_BYTES;
            Extent::new(kept + at, WINDOW_PIECE_BYTES.min(range.bytes - at))
        });
        let pass = self.prober.new_data();
        let failed = self.prober.failed_places();
        self.prober.write("narrowing down", pass, WINDOW_PIECE_BYTES, pieces)?;
        self.prober.fill_cache(cached_bytes, range)?;
        let present = self.prober.sectors("narrowing down", pass, range, WINDOW_PIECE_BYTES)?;
        let (cut, _) = tail(&present);
        // What fails, fails as a whole piece.
        if self.prober.failed_places() > failed {
            self.uncertain_bytes = WINDOW_PIECE_BYTES;
        }
        Ok(if cut == present.len() { end } else { kept + cut as u64 * 512 })
    }
}
