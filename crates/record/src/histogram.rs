//! Histogram of all latencies of a cell, in a few kilobytes.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

mod text;

/// Longest latency that is distinguished, in nanoseconds (one hour); longer ones count as this.
const CEILING_NS: u64 = 3_600_000_000_000;

type Counts = hdrhistogram::Histogram<u64>;

/// A latency histogram in nanoseconds with three significant digits (HdrHistogram): 1 ns to one
/// hour.
#[derive(Clone, Debug)]
pub struct Histogram(Repr);

#[derive(Clone, Debug)]
enum Repr {
    Counted(Counts),
    Encoded(EncodedCounts),
}

/// A histogram as it was read. It is only decoded when something is added to it or it is added to
/// others: most histograms are only looked at and passed on. A run has seventy; decoding and
/// encoding each would take 270 kB and a fraction of a millisecond.
#[derive(Clone, Debug)]
struct EncodedCounts {
    /// Text as it was read; known to be one of our histograms.
    text: Box<str>,
    /// Counts that are not 0, with their indices.
    few: Box<[(u16, u64)]>,
}

impl EncodedCounts {
    /// Iterates as `hdrhistogram` does: largest value that counts as the same, in ns, and count.
    fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.few.iter().map(|(place, count)| (text::values(*place).1, *count))
    }

    fn len(&self) -> u64 {
        self.few.iter().map(|(_, count)| count).sum()
    }

    /// Mean as `hdrhistogram` computes it, to the last bit.
    fn mean(&self) -> f64 {
        let total = self.len() as f64;
        self.few.iter().fold(0.0, |sum, (place, count)| {
            let (low, high) = text::values(*place);
            let middle = low + (high - low).div_ceil(2);
            sum + middle as f64 * *count as f64 / total
        })
    }

    /// Quantile as `hdrhistogram` computes it, in ns.
    fn quantile(&self, share: f64) -> u64 {
        let rank = ((share.min(1.0) * self.len() as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let reached = self.few.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        reached.map_or(0, |(place, _)| {
            let (low, high) = text::values(*place);
            if share == 0.0 { low } else { high }
        })
    }

    fn counts(&self) -> Counts {
        // Its text was checked when it was read, and can be decoded.
        let plain = text::plain(&self.text).ok();
        plain.and_then(|plain| counts_of(&plain.bytes).ok()).unwrap_or_else(nothing)
    }
}

fn nothing() -> Counts {
    Counts::new_with_bounds(1, CEILING_NS, 3).expect("1, one hour and 3 digits are valid bounds")
}

fn counts_of(mut plain: &[u8]) -> Result<Counts, HistogramError> {
    Deserializer::new().deserialize(&mut plain).map_err(|e| HistogramError(e.to_string()))
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        match (&self.0, &other.0) {
            (Repr::Encoded(one), Repr::Encoded(two)) if one.text == two.text => true,
            _ => self.buckets().eq(other.buckets()),
        }
    }
}

/// A histogram's text could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a latency histogram: {0}")]
pub struct HistogramError(String);

impl Default for Histogram {
    fn default() -> Self {
        Histogram(Repr::Counted(nothing()))
    }
}

impl Histogram {
    #[inline]
    fn counts(&self) -> Cow<'_, Counts> {
        match &self.0 {
            Repr::Counted(counts) => Cow::Borrowed(counts),
            Repr::Encoded(encoded_counts) => Cow::Owned(encoded_counts.counts()),
        }
    }

    /// Counts to add to; the text is dropped, as it is no longer true.
    #[inline]
    fn counts_mut(&mut self) -> &mut Counts {
        if matches!(self.0, Repr::Encoded(_)) {
            self.make_counted();
        }
        match &mut self.0 {
            Repr::Counted(counts) => counts,
            Repr::Encoded(_) => unreachable!("it was replaced above"),
        }
    }

    /// Decodes the counts; kept apart from counting, which happens for every I/O.
    #[cold]
    #[inline(never)]
    fn make_counted(&mut self) {
        self.0 = Repr::Counted(self.counts().into_owned());
    }

    /// Counts one latency. Zero counts as 1 ns; the caller flags it.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.counts_mut().saturating_record(latency_ns.max(1));
    }

    /// Counts `n` samples of one latency.
    pub fn record_n(&mut self, latency_ns: u64, n: u64) {
        self.counts_mut().saturating_record_n(latency_ns.max(1), n);
    }

    /// Removes one latency that was counted.
    pub fn forget(&mut self, latency_ns: u64) {
        let mut one = nothing();
        one.saturating_record(latency_ns.max(1));
        // There is a sample to remove, as it was counted; a latency that never was removes nothing.
        let _ = self.counts_mut().subtract(&one);
    }

    /// Adds all samples of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        self.counts_mut().add(&*other.counts()).expect("both have the same bounds");
    }

    /// Number of samples that were counted.
    pub fn len(&self) -> u64 {
        match &self.0 {
            Repr::Counted(counts) => counts.len(),
            Repr::Encoded(encoded_counts) => encoded_counts.len(),
        }
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Smallest sample in nanoseconds, to three digits; 0 where there is none.
    pub fn min(&self) -> u64 {
        match &self.0 {
            Repr::Counted(counts) => counts.min(),
            Repr::Encoded(encoded_counts) => {
                encoded_counts.few.first().map_or(0, |(place, _)| text::values(*place).0)
            }
        }
    }

    /// Largest sample in nanoseconds, to three digits.
    pub fn max(&self) -> u64 {
        match &self.0 {
            Repr::Counted(counts) => counts.max(),
            Repr::Encoded(encoded_counts) => {
                encoded_counts.few.last().map_or(0, |(place, _)| text::values(*place).1)
            }
        }
    }

    /// Mean of the samples in nanoseconds.
    pub fn mean(&self) -> f64 {
        match &self.0 {
            Repr::Counted(counts) => counts.mean(),
            Repr::Encoded(encoded_counts) => encoded_counts.mean(),
        }
    }

    /// Sample in nanoseconds below which this share (0 to 1) of the samples is.
    pub fn quantile(&self, share: f64) -> u64 {
        match &self.0 {
            Repr::Counted(counts) => counts.value_at_quantile(share),
            Repr::Encoded(encoded_counts) => encoded_counts.quantile(share),
        }
    }

    /// The `rank`-th smallest sample in nanoseconds, counted from 1.
    pub fn order_statistic(&self, rank: u64) -> u64 {
        let mut seen = 0;
        for (value, count) in self.buckets() {
            seen += count;
            if seen >= rank {
                return value;
            }
        }
        self.max()
    }

    /// Number of samples longer than this.
    pub fn count_above(&self, latency_ns: u64) -> u64 {
        match &self.0 {
            Repr::Counted(counts) => counts.len() - counts.count_between(0, latency_ns),
            Repr::Encoded(encoded_counts) => encoded_counts
                .few
                .iter()
                .filter(|(place, _)| text::values(*place).0 > latency_ns)
                .map(|(_, count)| count)
                .sum(),
        }
    }

    /// Buckets that are not empty: (largest value in it, in ns; samples).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (counted, encoded_counts) = match &self.0 {
            Repr::Counted(counts) => (Some(counts), None),
            Repr::Encoded(encoded_counts) => (None, Some(encoded_counts)),
        };
        let counted = counted.into_iter().flat_map(|counts| counts.iter_recorded());
        let counted = counted.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()));
        counted.chain(encoded_counts.into_iter().flat_map(EncodedCounts::buckets))
    }

    /// Buckets that are not empty: (place, samples). Places up to 2047 are one nanosecond each, then a
    /// thousandth of their value.
    pub fn places(&self) -> Vec<(u16, u64)> {
        match &self.0 {
            Repr::Encoded(encoded_counts) => encoded_counts.few.to_vec(),
            Repr::Counted(counts) => {
                text::plain(&encoded(counts)).map(|plain| plain.counts).unwrap_or_default()
            }
        }
    }

    /// Text form for a record. A histogram that was read and not changed keeps its text.
    pub fn encode(&self) -> String {
        match &self.0 {
            Repr::Encoded(encoded_counts) => encoded_counts.text.to_string(),
            Repr::Counted(counts) => encoded(counts),
        }
    }

    /// Parses the text form. Hostile input is an error, never a panic, and takes at most a few
    /// megabytes.
    pub fn decode(text: &str) -> Result<Self, HistogramError> {
        Histogram::read(text.into())
    }

    fn read(text: Box<str>) -> Result<Self, HistogramError> {
        let plain = text::plain(&text)?;
        if plain.is_ours {
            return Ok(Histogram(Repr::Encoded(EncodedCounts { text, few: plain.counts.into() })));
        }
        let mut ours = nothing();
        ours.add(&counts_of(&plain.bytes)?).map_err(|e| HistogramError(e.to_string()))?;
        // Few of its counts are not 0, and a record may have thousands of these.
        let text: Box<str> = encoded(&ours).into();
        let few = text::plain(&text)?.counts.into();
        Ok(Histogram(Repr::Encoded(EncodedCounts { text, few })))
    }
}

fn encoded(counts: &Counts) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(counts, &mut bytes)
        .expect("writing to memory does not fail");
    STANDARD.encode(bytes)
}

impl serde::Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Encoded(encoded_counts) => serializer.serialize_str(&encoded_counts.text),
            Repr::Counted(counts) => serializer.serialize_str(&encoded(counts)),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Histogram::read(String::deserialize(deserializer)?.into()).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::V2Serializer;

    use super::*;

    #[test]
    fn places_are_those_of_the_library() {
        assert_eq!(nothing().distinct_values() as u64, text::PLACES);
    }

    #[test]
    fn texts_beyond_a_limit_are_refused() {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&nothing(), &mut bytes).unwrap();
        let with = |at: usize, value: u32| {
            let mut hostile = bytes.clone();
            hostile[at..at + 4].copy_from_slice(&value.to_be_bytes());
            match Histogram::decode(&STANDARD.encode(&hostile)) {
                Ok(histogram) => format!("{} samples", histogram.len()),
                Err(error) => error.to_string().replace("not a latency histogram: ", ""),
            }
        };
        assert_eq!(with(4, 1 << 20), "failed to fill whole buffer");
        assert_eq!(with(4, (1 << 20) + 1), "its counts are longer than 1 MiB");
        assert_eq!(with(4, u32::MAX), "its counts are longer than 1 MiB");
        assert_eq!(with(8, 1), "it is shifted or scaled");
        assert_eq!(with(32, 0), "it is shifted or scaled");
        assert_eq!(with(12, 4), "it has 4 digits, more than 3");
        let refused = |text: String| Histogram::decode(&text).unwrap_err().to_string();
        assert!(refused("A".repeat((1 << 20) + 1)).ends_with("it is longer than 1 MiB"));
        assert!(!refused("A".repeat(1 << 20)).ends_with("it is longer than 1 MiB"));
        assert!(Histogram::default().is_empty());
    }

    #[test]
    fn only_bounds_of_ours_are_ours() {
        let is_ours = |high: u64, digits: u8| {
            let mut counts = Counts::new_with_bounds(1, high, digits).unwrap();
            counts.record(1_000).unwrap();
            text::plain(&encoded(&counts)).unwrap().is_ours
        };
        assert!(is_ours(3_600_000_000_000, 3));
        assert!(!is_ours(3_600_000_000_001, 3));
        assert!(!is_ours(3_600_000_000_000, 2));
        let mut one = Histogram::default();
        one.record(1_000);
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&*one.counts(), &mut bytes).unwrap();
        let plain = Histogram::decode(&STANDARD.encode(&bytes)).unwrap();
        assert_eq!(plain.encode(), one.encode(), "without compression: the same text");
    }

    #[test]
    fn a_count_has_nine_bytes_at_most() {
        let mut histogram = Histogram::default();
        let large = (1 << 62) - 1;
        histogram.record_n(1_000, large);
        assert_eq!(Histogram::decode(&histogram.encode()).unwrap().len(), large);
    }

    proptest::proptest! {
        #[test]
        fn survives_its_text_form(samples in proptest::collection::vec(0u64..10_000_000_000_000, 0..200)) {
            let mut histogram = Histogram::default();
            samples.iter().for_each(|&s| histogram.record(s));
            let back = Histogram::decode(&histogram.encode()).unwrap();
            assert_eq!(back.len(), samples.len() as u64);
            assert_eq!(back.buckets().collect::<Vec<_>>(), histogram.buckets().collect::<Vec<_>>());
        }

        #[test]
        fn what_is_read_is_passed_on_as_it_came(samples in proptest::collection::vec(1u64..1_000_000_000, 1..50)) {
            let mut histogram = Histogram::default();
            samples.iter().for_each(|&s| histogram.record(s));
            let text = histogram.encode();
            let mut back = Histogram::decode(&text).unwrap();
            assert_eq!((back.encode(), &back), (text.clone(), &histogram));
            back.record(samples[0]);
            assert_ne!(back.encode(), text, "what is added is not lost");
            assert_eq!(back.len(), histogram.len() + 1);
        }

        #[test]
        fn a_decoded_histogram_equals_the_encoded_one(
            samples in proptest::collection::vec(proptest::prop_oneof![0u64..5000, 0u64..10_000_000, 0u64..10_000_000_000_000], 0..80),
            asked in 0u64..10_000_000_000_000,
        ) {
            let mut counted = Histogram::default();
            samples.iter().for_each(|&s| counted.record(s));
            let encoded_counts = Histogram::decode(&counted.encode()).unwrap();
            assert_eq!((encoded_counts.len(), encoded_counts.min(), encoded_counts.is_empty()), (counted.len(), counted.min(), counted.is_empty()));
            assert_eq!(encoded_counts.buckets().collect::<Vec<_>>(), counted.buckets().collect::<Vec<_>>());
            for limit in samples.iter().copied().chain([asked, asked / 1_000_000, 0, u64::MAX]) {
                assert_eq!(encoded_counts.count_above(limit), counted.count_above(limit), "above {limit}");
            }
            assert_eq!((encoded_counts.max(), encoded_counts.mean()), (counted.max(), counted.mean()));
            for share in [0.0, 0.001, 0.5, 0.9, 1.0, 1.5] {
                assert_eq!(encoded_counts.quantile(share), counted.quantile(share), "{share}");
            }
            assert_eq!(encoded_counts, counted);
        }

        #[test]
        fn order_statistics_are_within_a_thousandth(mut samples in proptest::collection::vec(1u64..1_000_000_000, 1..100)) {
            let mut histogram = Histogram::default();
            samples.iter().for_each(|&s| histogram.record(s));
            samples.sort_unstable();
            for (rank, &sample) in samples.iter().enumerate() {
                let shown = histogram.order_statistic(rank as u64 + 1) as f64;
                assert!((shown - sample as f64).abs() <= sample as f64 / 1000.0 + 1.0, "{shown} for {sample}");
            }
        }

        #[test]
        fn hostile_text_is_refused(text in ".{0,200}") {
            let _ = Histogram::decode(&text);
        }

        /// Every text that the check accepts can be decoded, with the library's result; every
        /// histogram of ours that the library decodes is accepted.
        #[test]
        fn the_check_agrees_with_the_library(
            counts in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60),
            samples in proptest::collection::vec(1u64..10_000_000_000_000, 1..20),
            flips in proptest::collection::vec((0usize..400, 0u8..8), 0..3),
        ) {
            // A valid text with some bits flipped, and one with a valid head and any counts.
            let mut sound = Vec::new();
            let mut histogram = Histogram::default();
            samples.iter().for_each(|&s| histogram.record(s));
            V2Serializer::new().serialize(&*histogram.counts(), &mut sound).unwrap();
            let mut made = sound[..40].to_vec();
            made[4..8].copy_from_slice(&(counts.len() as u32).to_be_bytes());
            made.extend(&counts);
            // The length and the digits stay as they are, or the library would need gigabytes.
            for (at, bit) in flips {
                if at >= 16 && at < sound.len() {
                    sound[at] ^= 1 << bit;
                }
            }
            for bytes in [sound, made] {
                let ours = Histogram::decode(&STANDARD.encode(&bytes));
                let library = std::panic::catch_unwind(|| counts_of(&bytes));
                match (ours, library) {
                    (Ok(ours), Ok(Ok(theirs))) if (theirs.low(), theirs.high()) == (1, CEILING_NS) => assert_eq!(*ours.counts(), theirs),
                    (Ok(ours), library) => assert_eq!(library.ok().and_then(Result::ok).map(|theirs| theirs.len()), Some(ours.len())),
                    (Err(_), Ok(Ok(theirs))) => assert!(theirs.high() != CEILING_NS || theirs.low() != 1 || theirs.len() == u64::MAX),
                    (Err(_), _) => {}
                }
            }
        }
    }
}
