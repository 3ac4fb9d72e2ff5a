/// A closed interval of one quantity, in the unit of that quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Half the width as a share of `centre` (0.05 = plus or minus 5 %); infinite around a centre of zero.
    pub fn relative_half_width(&self, centre: f64) -> f64 {
        if centre == 0.0 {
            f64::INFINITY
        } else {
            (self.high - self.low) / (2.0 * centre.abs())
        }
    }

    /// Is `x` inside, ends included?
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }
}
