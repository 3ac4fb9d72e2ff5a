//! Metrics for Prometheus.

use std::sync::atomic::AtomicU64;
use std::time::Instant;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use store::collection::Counts;
use tokio::sync::Mutex;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct AnswerLabels {
    pub(crate) route: String,
    pub(crate) method: String,
    pub(crate) status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Route {
    pub(crate) route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Quota {
    quota: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StatusLabel {
    status: &'static str,
}

/// Counters and gauges of `/metrics`.
pub struct ServerMetrics {
    registry: Registry,
    pub(crate) answered: Family<AnswerLabels, Counter>,
    pub(crate) took: Family<Route, Histogram, fn() -> Histogram>,
    submissions: Family<Outcome, Counter>,
    over_quota: Family<Quota, Counter>,
    pub(crate) day_bytes: Gauge<u64, AtomicU64>,
    /// Connections closed at once because their address had too many.
    pub connections_refused: Counter,
    pages: Family<Outcome, Counter>,
    runs: Family<StatusLabel, Gauge<u64, AtomicU64>>,
    lines: Gauge<u64, AtomicU64>,
    pub(crate) cache_bytes: Gauge<u64, AtomicU64>,
    /// Open connections.
    pub connections: Gauge,
    pub(crate) counted: Mutex<Option<Instant>>,
}

/// Time buckets from a millisecond to half a minute.
fn times() -> Histogram {
    Histogram::new([
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
    ])
}

impl ServerMetrics {
    /// All counters at zero; their names begin with `flashmark_site`.
    pub fn new() -> ServerMetrics {
        let mut registry = Registry::with_prefix("flashmark_site");
        let answered = Family::default();
        let took: Family<Route, Histogram, fn() -> Histogram> = Family::new_with_constructor(times);
        let (submissions, pages, runs) = (Family::default(), Family::default(), Family::default());
        let (lines, cache_bytes, connections) =
            (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("requests", "Requests that were answered", answered.clone());
        registry.register("request_seconds", "Time until an answer began", took.clone());
        registry.register("submissions", "Submissions by what became of them", submissions.clone());
        let (over_quota, day_bytes) = (Family::default(), Gauge::default());
        let connections_refused = Counter::default();
        registry.register(
            "over_quota",
            "Submissions without a token that were refused by a quota of bytes a day",
            over_quota.clone(),
        );
        registry.register(
            "day_bytes",
            "Bytes kept within the last day of who has no token",
            day_bytes.clone(),
        );
        registry.register(
            "connections_refused",
            "Connections closed at once: their address has too many",
            connections_refused.clone(),
        );
        registry.register("pages", "Pages by whether they had to be made", pages.clone());
        registry.register("runs", "Runs of the collection by status", runs.clone());
        registry.register(
            "lines",
            "Lines of the table, all origins and fakes included",
            lines.clone(),
        );
        registry.register("cache_bytes", "Bytes of pages that are kept", cache_bytes.clone());
        registry.register("connections", "Connections that are open", connections.clone());
        let counted = Mutex::default();
        ServerMetrics {
            registry,
            answered,
            took,
            submissions,
            over_quota,
            day_bytes,
            connections_refused,
            pages,
            runs,
            lines,
            cache_bytes,
            connections,
            counted,
        }
    }

    /// Counts a checked submission: "accepted", "quarantined", "known", "replaced", "withdrawn", or
    /// the code of its rejection.
    pub fn submission(&self, outcome: &'static str) {
        self.submissions.get_or_create(&Outcome { outcome }).inc();
    }

    /// Counts a submission rejected by a quota: "address" or "all".
    pub fn over_quota(&self, quota: &'static str) {
        self.over_quota.get_or_create(&Quota { quota }).inc();
    }

    /// Counts a page that was sent; `was_kept` if it came from the cache.
    pub fn page(&self, was_kept: bool) {
        self.pages
            .get_or_create(&Outcome { outcome: if was_kept { "kept" } else { "made" } })
            .inc();
    }

    pub(crate) fn count(&self, counts: &Counts) {
        let of = [
            ("accepted", counts.accepted),
            ("quarantined", counts.quarantined),
            ("rejected", counts.rejected),
            ("withdrawn", counts.withdrawn),
        ];
        for (status, count) in of {
            self.runs.get_or_create(&StatusLabel { status }).set(count);
        }
        self.lines.set(counts.lines);
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)
            .expect("text is written into memory");
        text
    }
}

impl Default for ServerMetrics {
    fn default() -> ServerMetrics {
        ServerMetrics::new()
    }
}
