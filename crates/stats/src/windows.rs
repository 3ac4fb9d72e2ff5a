use crate::drift::{Drift, ROUNDS, drift};

/// Shortest window that has a rate of its own, in nanoseconds: I/Os in flight together end in bunches,
/// and between two of a bunch hardly any time passes (our choice).
pub const SHORTEST_NS: f64 = 1e6;

/// The weight from the start to the end of each window, and its weight per second; windows are in
/// order, as weight and nanoseconds. One that is too short is joined to the next, the last to the one
/// before. A run in which no time passed at all has no rate.
pub fn rates_of(windows: impl IntoIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (weight, ns) in windows {
        match joined.last_mut().filter(|last| last.1 < SHORTEST_NS) {
            Some(last) => *last = (last.0 + weight, last.1 + ns),
            None => joined.push((weight, ns)),
        }
    }
    if let Some((weight, ns)) = joined.pop_if(|last| last.1 < SHORTEST_NS) {
        match joined.last_mut() {
            Some(last) => *last = (last.0 + weight, last.1 + ns),
            None => joined.extend((ns > 0.0).then_some((weight, ns))),
        }
    }
    let mut done = 0.0;
    let rate = |(weight, ns): (f64, f64)| {
        done += weight;
        (done, weight * 1e9 / ns)
    };
    joined.into_iter().map(rate).collect()
}

/// The course of a rate over a run, in at most `limit` windows of equal event counts; neighbours
/// are merged in pairs when the limit is reached, so memory stays constant for a run of any length.
///
/// The weight of an event is the unit of the rate: 1 for operations, the size for bytes.
#[derive(Debug, Clone)]
pub struct Windows {
    limit: usize,
    full: Vec<Window>,
    events_per_window: u64,
    open: Window,
}

#[derive(Debug, Clone, Copy, Default)]
struct Window {
    events: u64,
    weight: f64,
    ns: u64,
}

impl Window {
    fn join(self, later: Window) -> Window {
        Window {
            events: self.events + later.events,
            weight: self.weight + later.weight,
            ns: self.ns + later.ns,
        }
    }

    fn per_second(self) -> f64 {
        self.weight * 1e9 / self.ns as f64
    }
}

impl Windows {
    /// Windows without events, at most `limit` of them (rounded up to an even number, at least 2).
    pub fn new(limit: usize) -> Self {
        let limit = limit.max(2).next_multiple_of(2);
        Windows {
            limit,
            full: Vec::with_capacity(limit),
            events_per_window: 1,
            open: Window::default(),
        }
    }

    /// One event of `weight` that ended `elapsed_ns` after the event before it.
    #[inline]
    pub fn push(&mut self, weight: f64, elapsed_ns: u64) {
        self.open.events += 1;
        self.open.weight += weight;
        self.open.ns += elapsed_ns;
        if self.open.events == self.events_per_window {
            self.close();
        }
    }

    /// Adds so many events of `weight` each that ended together with the one before.
    pub fn push_together(&mut self, weight: f64, mut events: u64) {
        while events > 0 {
            let step = events.min(self.events_per_window - self.open.events);
            self.open.events += step;
            self.open.weight += weight * step as f64;
            events -= step;
            if self.open.events == self.events_per_window {
                self.close();
            }
        }
    }

    fn close(&mut self) {
        if self.full.len() == self.limit {
            self.full = self.full.chunks_exact(2).map(|pair| pair[0].join(pair[1])).collect();
            self.events_per_window *= 2;
            return; // the open window is now half full
        }
        self.full.push(std::mem::take(&mut self.open));
    }

    /// The course in at most `most` windows of equal length: for each in order the weight from the start
    /// of the run to its end, and its weight per second. A tail shorter than half a window is counted with the window before it, and a
    /// window shorter than [`SHORTEST_NS`] with the one after it.
    pub fn rates(&self, most: usize) -> Vec<(f64, f64)> {
        let windows = self.with_tail();
        let joined = windows.chunks(windows.len().div_ceil(most.max(1)).max(1));
        let joined = joined.filter_map(|some| some.iter().copied().reduce(Window::join));
        rates_of(joined.map(|window| (window.weight, window.ns as f64)))
    }

    /// The drift of the whole run: SNIA's test on its five fifths, to which the windows are joined.
    /// `None` below ten windows. [`crate::StopRule::judge`] needs fifths of the run: they average
    /// out more of the noise than the last five of many short windows, and cover everything that
    /// the rate is computed from.
    pub fn drift(&self) -> Option<Drift> {
        let windows = self.with_tail();
        if windows.len() < 2 * ROUNDS || windows.iter().any(|window| window.ns == 0) {
            return None;
        }
        let bound = |part: usize| windows.len() * part / ROUNDS;
        let fifth = |part: usize| {
            windows[bound(part)..bound(part + 1)].iter().copied().reduce(Window::join)
        };
        let rates: Vec<f64> = (0..ROUNDS).filter_map(fifth).map(Window::per_second).collect();
        drift(&rates)
    }

    /// The windows with the open one. A window in which no time passed (events that ended together)
    /// has no rate: it is counted with its neighbour.
    fn with_tail(&self) -> Vec<Window> {
        let mut windows: Vec<Window> = Vec::with_capacity(self.full.len() + 1);
        for &window in &self.full {
            match windows.last_mut() {
                Some(last) if last.ns == 0 || window.ns == 0 => *last = last.join(window),
                _ => windows.push(window),
            }
        }
        if self.open.events > 0 {
            match windows.last_mut() {
                Some(last)
                    if self.open.events * 2 < self.events_per_window
                        || last.ns == 0
                        || self.open.ns == 0 =>
                {
                    *last = last.join(self.open);
                }
                _ => windows.push(self.open),
            }
        }
        windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn windows_merge_in_pairs_and_keep_their_order() {
        let mut windows = Windows::new(4);
        for n in 0..5 {
            windows.push(1.0, 1_000_000_000 << n);
        }
        // Two pairs and a tail of one, half of a window.
        assert_eq!(windows.rates(240), [(2.0, 2.0 / 3.0), (4.0, 2.0 / 12.0), (5.0, 1.0 / 16.0)]);
    }

    #[test]
    fn events_pushed_together_equal_events_of_zero_time() {
        for (limit, events) in [(2, 0), (2, 1), (4, 7), (6, 64), (240, 10_000)] {
            let (mut together, mut single) = (Windows::new(limit), Windows::new(limit));
            for windows in [&mut together, &mut single] {
                (1..20).for_each(|ns| windows.push(4096.0, ns));
            }
            together.push_together(4096.0, events);
            (0..events).for_each(|_| single.push(4096.0, 0));
            for windows in [&mut together, &mut single] {
                windows.push(512.0, 9);
            }
            assert_eq!(format!("{together:?}"), format!("{single:?}"), "{limit} {events}");
        }
    }

    #[test]
    fn a_short_tail_is_counted_with_the_window_before() {
        let mut windows = Windows::new(2);
        for _ in 0..9 {
            windows.push(2.0, 500_000_000);
        }
        // Windows of four events, and one event more.
        assert_eq!(windows.rates(240), [(8.0, 4.0), (18.0, 4.0)]);
    }

    /// Regression: 32 threads on a disk had a curve that ended at 18 TB/s, because the last of a bunch
    /// of reads ended together.
    #[test]
    fn a_window_in_which_hardly_any_time_passed_has_no_rate_of_its_own() {
        let mut windows = Windows::new(4);
        [2_000_000, 500_000, 700_000, 17].iter().for_each(|&ns| windows.push(1e6, ns));
        let rates = windows.rates(240).into_iter().map(|(end, bps)| (end / 1e6, bps.round()));
        assert_eq!(rates.collect::<Vec<_>>(), [(1.0, 5e8), (4.0, 2_499_964_584.0)]);
        let mut short = Windows::new(4);
        [7, 0, 0].iter().for_each(|&ns| short.push(1.0, ns));
        assert_eq!(short.rates(240), [(3.0, 3e9 / 7.0)]);
    }

    #[test]
    fn drift_is_of_the_fifths_of_the_whole_run() {
        let mut windows = Windows::new(40);
        for n in 0..1000 {
            windows.push(1.0, if n < 500 { 1_000_000 } else { 2_000_000 });
        }
        let drift = windows.drift().expect("enough windows");
        assert!(drift.slope < -0.5 && !drift.is_steady_within(0.0), "{drift:?}");
    }

    proptest! {
        #[test]
        fn weight_and_time_are_all_there(events in proptest::collection::vec((0.1..9.0, 1u64..1_000_000), 1..300), limit in 0usize..20) {
            let mut windows = Windows::new(limit);
            events.iter().for_each(|&(weight, ns)| windows.push(weight, ns));
            let rates = windows.rates(240);
            let weight: f64 = events.iter().map(|e| e.0).sum();
            let ns: u64 = events.iter().map(|e| e.1).sum();
            let last = rates.last().map_or(0.0, |r| r.0);
            prop_assert!((last - weight).abs() < 1e-9 * weight);
            let starts = std::iter::once(0.0).chain(rates.iter().map(|r| r.0));
            let seconds: f64 = starts.zip(&rates).map(|(start, (end, rate))| (end - start) / rate).sum();
            prop_assert!((seconds * 1e9 / ns as f64 - 1.0).abs() < 1e-9);
            prop_assert!(rates.len() <= limit.max(2).next_multiple_of(2) + 1);
        }
    }

    #[test]
    fn drift_takes_ten_windows_in_each_of_which_time_passed() {
        let of = |windows: usize, still: usize| {
            let mut all = Windows::new(40);
            for n in 0..windows {
                all.push(1.0, if n < still { 0 } else { 1_000_000 });
            }
            all.drift()
        };
        assert!(of(9, 0).is_none() && of(10, 0).is_some());
        assert!(of(30, 30).is_none());
        assert_eq!((Windows::new(10).rates(240), of(0, 0)), (vec![], None));
    }
}
