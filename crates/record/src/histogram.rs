//! Every latency of a cell in a few kilobytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// Longest latency told apart, in nanoseconds (one hour); longer ones count as this.
const CEILING_NS: u64 = 3_600_000_000_000;

/// A latency histogram in nanoseconds with three significant digits (HdrHistogram): 1 ns to one hour.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: hdrhistogram::Histogram<u64>,
    /// The text it was read from, as long as nothing was added: what is only passed on is not encoded again, which takes a thousand times as
    /// long as copying it.
    text: Option<Box<str>>,
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        self.counts == other.counts
    }
}

/// A histogram's text could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a latency histogram: {0}")]
pub struct HistogramError(String);

impl Default for Histogram {
    fn default() -> Self {
        let counts = hdrhistogram::Histogram::new_with_bounds(1, CEILING_NS, 3).expect("1, one hour and 3 digits are valid bounds");
        Histogram { counts, text: None }
    }
}

impl Histogram {
    /// Counts one latency. Zero counts as 1 ns; the caller flags it.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.text = None;
        self.counts.saturating_record(latency_ns.max(1));
    }

    /// Counts so many of one latency at once.
    pub fn record_n(&mut self, latency_ns: u64, n: u64) {
        self.text = None;
        self.counts.saturating_record_n(latency_ns.max(1), n);
    }

    /// Adds all of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        self.text = None;
        self.counts.add(&other.counts).expect("both have the same bounds");
    }

    /// Samples.
    pub fn len(&self) -> u64 {
        self.counts.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Smallest sample.
    pub fn min(&self) -> u64 {
        self.counts.min()
    }

    /// Largest sample, to three digits.
    pub fn max(&self) -> u64 {
        self.counts.max()
    }

    /// Mean of the samples.
    pub fn mean(&self) -> f64 {
        self.counts.mean()
    }

    /// The sample below which this share (0 to 1) lies.
    pub fn quantile(&self, share: f64) -> u64 {
        self.counts.value_at_quantile(share)
    }

    /// The `rank`-th smallest sample, counted from 1.
    pub fn order_statistic(&self, rank: u64) -> u64 {
        let mut seen = 0;
        for bucket in self.counts.iter_recorded() {
            seen += bucket.count_at_value();
            if seen >= rank {
                return bucket.value_iterated_to();
            }
        }
        self.max()
    }

    /// Samples longer than this.
    pub fn count_above(&self, latency_ns: u64) -> u64 {
        self.counts.len() - self.counts.count_between(0, latency_ns)
    }

    /// The buckets that are not empty: (largest value in it, in ns; samples).
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter_recorded().map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
    }

    /// The text form kept in a record.
    pub fn encode(&self) -> String {
        if let Some(text) = &self.text {
            return text.to_string();
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.counts, &mut bytes).expect("writing to memory does not fail");
        STANDARD.encode(bytes)
    }

    /// Reads the text form. Hostile input is an error, never a panic.
    pub fn decode(text: &str) -> Result<Self, HistogramError> {
        // An empty histogram of ours encodes to well under 64 kB; anything much larger was not made by us.
        if text.len() > 1 << 20 {
            return Err(HistogramError("it is longer than 1 MiB".into()));
        }
        let bytes = STANDARD.decode(text).map_err(|e| HistogramError(e.to_string()))?;
        let read: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|e| HistogramError(e.to_string()))?;
        if (read.low(), read.high(), read.sigfig()) == (1, CEILING_NS, 3) {
            return Ok(Histogram { counts: read, text: Some(text.into()) });
        }
        let mut ours = Histogram::default();
        ours.counts.add(&read).map_err(|e| HistogramError(e.to_string()))?;
        Ok(ours)
    }
}

impl serde::Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.encode())
    }
}

impl<'de> serde::Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Histogram::decode(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
