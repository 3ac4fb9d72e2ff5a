//! Temperature: work warms the medium, and a hot one is slow
//! (docs/field/cheats.md#cheats-and-caches, "thermal throttling").

use crate::profile::spec;

/// Temperature of a medium, in degrees Celsius, and its rules.
#[derive(Debug)]
pub(crate) struct Heat {
    ambient: f64,
    limit: f64,
    resume: f64,
    per_byte: f64,
    per_ns: f64,
    cooling_ns: f64,
    slowdown: f64,
    celsius: f64,
    hot: bool,
}

impl Heat {
    pub(crate) fn new(heat: &spec::HeatSpec) -> Heat {
        Heat {
            ambient: heat.ambient,
            limit: heat.limit,
            resume: heat.resume,
            per_byte: heat.per_gib / (1u64 << 30) as f64,
            per_ns: heat.per_minute / 60e9,
            cooling_ns: heat.cooling.0,
            slowdown: heat.slowdown,
            celsius: heat.ambient,
            hot: false,
        }
    }

    pub(crate) fn celsius(&self) -> f64 {
        self.celsius
    }

    /// Warms the medium by an I/O of this length; returns its time in nanoseconds at the present
    /// temperature.
    pub(crate) fn work(&mut self, service_ns: f64, bytes: u64) -> f64 {
        self.hot = if self.hot { self.celsius > self.resume } else { self.celsius >= self.limit };
        let ns = if self.hot { service_ns * self.slowdown } else { service_ns };
        self.cool(ns);
        self.celsius += bytes as f64 * self.per_byte + service_ns * self.per_ns;
        ns
    }

    /// Cools the medium for this many nanoseconds.
    pub(crate) fn cool(&mut self, ns: f64) {
        self.celsius = self.ambient + (self.celsius - self.ambient) * (-ns / self.cooling_ns).exp();
    }
}
