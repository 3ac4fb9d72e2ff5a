use crate::drift::{Drift, ROUNDS, drift};

/// What a rate did over a run, in at most `limit` windows of equal event counts; neighbours are merged in pairs when
/// the limit is reached, so memory stays constant whatever the length of the run.
///
/// The weight of an event is whatever the rate counts: 1 for operations, the size for bytes.
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
        if self.ns == 0 {
            f64::INFINITY
        } else {
            self.weight * 1e9 / self.ns as f64
        }
    }
}

impl Windows {
    /// At most `limit` windows (rounded up to an even number, at least 2).
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

    fn close(&mut self) {
        if self.full.len() == self.limit {
            self.full = self
                .full
                .chunks_exact(2)
                .map(|pair| pair[0].join(pair[1]))
                .collect();
            self.events_per_window *= 2;
            return; // the open window is now half full
        }
        self.full.push(std::mem::take(&mut self.open));
    }

    /// For each window in order: the weight from the start of the run to its end, and its weight per second.
    /// A tail shorter than half a window is counted with the window before it.
    pub fn rates(&self) -> Vec<(f64, f64)> {
        let mut done = 0.0;
        let mut rates = Vec::with_capacity(self.full.len() + 1);
        for window in self.with_tail() {
            done += window.weight;
            rates.push((done, window.per_second()));
        }
        rates
    }

    /// The drift of the whole run: SNIA's test on its five fifths, to which the windows are joined. `None` below ten
    /// windows. Fifths of the run are what [`crate::StopRule::judge`] wants: they average out more of the noise than the last
    /// five of many short windows, and cover all that the rate is made from.
    pub fn drift(&self) -> Option<Drift> {
        let windows = self.with_tail();
        if windows.len() < 2 * ROUNDS {
            return None;
        }
        let bound = |part: usize| windows.len() * part / ROUNDS;
        let fifth = |part: usize| {
            windows[bound(part)..bound(part + 1)]
                .iter()
                .copied()
                .reduce(Window::join)
        };
        let rates: Vec<f64> = (0..ROUNDS)
            .filter_map(fifth)
            .map(Window::per_second)
            .collect();
        drift(&rates)
    }

    fn with_tail(&self) -> Vec<Window> {
        let mut windows = self.full.clone();
        if self.open.events > 0 {
            match windows.last_mut() {
                Some(last) if self.open.events * 2 < self.events_per_window => {
                    *last = last.join(self.open)
                }
                _ => windows.push(self.open),
            }
        }
        windows
    }
}
