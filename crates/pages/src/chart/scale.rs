//! Axes: position of a value, choice of ticks, and their labels.

use record::units::Bytes;

/// Spacing of values along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Log,
}

impl Scale {
    /// True if such an axis can show the value; impossible values cannot be shown.
    pub(crate) fn takes(self, value: f64) -> bool {
        value.abs() < 1e30 && (self == Scale::Linear || value > 1e-30)
    }

    fn forward(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }
}

/// Unit of an axis, which decides the spacing and the labels of its ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisUnit {
    /// Block sizes: powers of two, "4 KiB".
    Blocks,
    /// Positions and amounts: "2 GB".
    Bytes,
    /// Bytes per second: "10 MB/s".
    Rate,
    /// Durations in nanoseconds: "10 ms".
    Time,
    /// I/Os per second: "100".
    Iops,
    /// A share of all I/Os, 0 to 1: "1 in 100".
    OneIn,
    /// A plain number with a unit after it.
    Plain(&'static str),
}

impl AxisUnit {
    /// Label of a tick.
    pub fn label(self, value: f64) -> String {
        self.label_to(value, 0)
    }

    /// Label of a tick, with this many decimals for large numbers.
    fn label_to(self, value: f64, decimals: usize) -> String {
        const RATES: [(f64, &str); 4] = [(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")];
        const AMOUNTS: [(f64, &str); 5] =
            [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")];
        const TIMES: [(f64, &str); 5] =
            [(3.6e12, "h"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
        match self {
            AxisUnit::Blocks => Bytes(value.round() as u64).to_string(),
            AxisUnit::Bytes => scaled(value, &AMOUNTS, decimals),
            AxisUnit::Rate => scaled(value, &RATES, decimals),
            AxisUnit::Time => scaled(value, &TIMES, decimals),
            AxisUnit::Iops => short(value, decimals),
            AxisUnit::OneIn if value >= 0.999 => "all".to_owned(),
            AxisUnit::OneIn => format!("1 in {}", short((1.0 / value).round(), 0)),
            AxisUnit::Plain(unit) => {
                format!("{} {unit}", short(value, decimals)).trim_end().to_owned()
            }
        }
    }
}

/// A value in the largest unit in which it is at least 1.
fn scaled(value: f64, units: &[(f64, &str)], decimals: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let (factor, unit) = units
        .iter()
        .find(|(factor, _)| value.abs() >= *factor * 0.9999)
        .or(units.last())
        .expect("there are units");
    format!("{} {unit}", short(value / factor, decimals))
}

/// A number with as few digits as needed: "0.25", "10", "12 000"; `decimals` applies from 100 on.
fn short(value: f64, decimals: usize) -> String {
    let text = if value.abs() >= 100.0 || value.fract().abs() < 1e-9 {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.fine$}", fine = decimals.max(3))
    };
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let digits = text.len();
    if digits < 5 || text.contains('.') || text.starts_with('-') {
        return text.to_owned();
    }
    let grouped = text.chars().enumerate().flat_map(|(at, c)| {
        (at > 0 && (digits - at) % 3 == 0).then_some('\u{202f}').into_iter().chain([c])
    });
    grouped.collect()
}

/// An axis with its range mapped to pixels.
pub(crate) struct AxisScale {
    scale: Scale,
    unit: AxisUnit,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl AxisScale {
    /// An axis over all these values. Its range is never empty, even over one value or none.
    pub fn over(scale: Scale, unit: AxisUnit, values: impl Iterator<Item = f64>) -> AxisScale {
        let (low, high) = values
            .filter(|&v| scale.takes(v))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = match scale {
            _ if low > high => (1.0, 10.0),
            Scale::Log if high / low < 1.5 => (low / 2.0, high * 2.0),
            Scale::Log if unit == AxisUnit::Blocks => (low, high),
            Scale::Log => (low / 1.15, high * 1.15),
            Scale::Linear if low < high => (low, high),
            Scale::Linear => (low - low.abs().max(1.0) / 2.0, low + low.abs().max(1.0) / 2.0),
        };
        AxisScale { scale, unit, low, high, from: 0.0, to: 1.0 }
    }

    /// Range for a vertical axis: linear amounts begin at zero, and there is room above the
    /// largest.
    pub fn upright(mut self) -> AxisScale {
        if self.scale == Scale::Linear {
            self.low = self.low.min(0.0);
            self.high += (self.high - self.low) * 0.06;
        }
        self
    }

    /// Pixel positions of both ends.
    pub fn laid(mut self, from: f64, to: f64) -> AxisScale {
        (self.from, self.to) = (from, to);
        self
    }

    /// Pixel position of a value; values beyond the ends are placed at the ends.
    pub fn at(&self, value: f64) -> f64 {
        let value =
            if self.scale.takes(value) { value.clamp(self.low, self.high) } else { self.low };
        let [low, high, value] = [self.low, self.high, value].map(|v| self.scale.forward(v));
        self.from + (value - low) / (high - low) * (self.to - self.from)
    }

    /// At most about `most` ticks, each with its label.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let values = match (self.scale, self.unit) {
            (Scale::Log, AxisUnit::Blocks) => self.powers_of_two(most),
            (Scale::Log, _) => self.decades(most),
            (Scale::Linear, _) => self.steps(most),
        };
        let labels = |decimals: usize| -> Vec<String> {
            values.iter().map(|value| self.unit.label_to(*value, decimals)).collect()
        };
        // A short range far from zero: as many decimals as distinguish neighbouring ticks.
        let differ = |labels: &Vec<String>| labels.windows(2).all(|pair| pair[0] != pair[1]);
        let labels = (0..=6).map(labels).find(differ).unwrap_or_else(|| labels(0));
        values.iter().copied().zip(labels).collect()
    }

    fn holds(&self, value: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low).abs();
        self.scale.takes(value) && (self.low - slack..=self.high + slack).contains(&value)
    }

    fn powers_of_two(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.log2().ceil() as i32, self.high.log2().floor() as i32);
        let step = (1..).find(|step| (last - first) / step < most as i32).unwrap_or(1);
        // Counted from 4 KiB, so that this common size always has a tick. The end of a range over a
        // single value may be outside the values that an axis can show.
        (first..=last)
            .filter(|power| (power - 12) % step == 0)
            .map(|power| 2f64.powi(power))
            .filter(|&tick| self.holds(tick))
            .collect()
    }

    fn decades(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let fine: Vec<f64> = (first..=last)
            .flat_map(|p| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(p)))
            .filter(|&v| self.holds(v))
            .collect();
        let coarse = |step: i32| -> Vec<f64> {
            (first..=last)
                .filter(|p| p % step == 0)
                .map(|p| 10f64.powi(p))
                .filter(|&v| self.holds(v))
                .collect()
        };
        if fine.len() <= most {
            return fine;
        }
        let coarse = (1..).map(coarse).find(|ticks| ticks.len() <= most).unwrap_or_default();
        if coarse.len() >= 2 {
            return coarse;
        }
        // Hardly a decade, or more decades than have room: some of the fine ticks, a few more than
        // asked for if needed.
        let step = fine.len().div_ceil(2 * most + 2).max(2);
        fine.into_iter().step_by(step).collect()
    }

    fn steps(&self, most: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / most.max(1) as f64;
        let decade = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|m| m * decade)
            .into_iter()
            .find(|&step| step >= rough * 0.999)
            .unwrap_or(decade * 10.0);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        // The ends of a range over a single value may be outside the values that an axis can show.
        (first..=last).map(|n| n as f64 * step).filter(|&tick| self.holds(tick)).collect()
    }
}
