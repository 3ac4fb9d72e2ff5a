//! Rows of the table: count, target and result.

/// Target of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At least this share is right, in percent.
    AtLeast(f64),
    /// Less than this share is wrong, in percent.
    Below(f64),
    /// At most this many seconds.
    Seconds(f64),
}

/// A row of the table in docs/truth.md.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Description for the first column.
    pub what: String,
    /// Target of the result.
    pub target: Target,
    /// Number of cases that count, right or wrong; or seconds.
    pub of: f64,
    /// Number of all cases.
    pub n: usize,
}

impl Row {
    fn percent(&self) -> f64 {
        100.0 * self.of / self.n.max(1) as f64
    }

    /// True if the target is met; false without any case.
    pub fn holds(&self) -> bool {
        self.n > 0
            && match self.target {
                Target::AtLeast(least) => self.percent() >= least,
                Target::Below(most) => self.percent() < most,
                Target::Seconds(most) => self.of <= most,
            }
    }

    /// Line in the table.
    pub fn line(&self) -> String {
        let percent = self.percent();
        let (target, result) = match self.target {
            Target::AtLeast(least) => (format!("{least} %"), format!("{percent:.1} %")),
            Target::Below(most) => (format!("under {most} %"), format!("{percent:.2} %")),
            Target::Seconds(most) => (format!("{most} s"), format!("{:.0} s", self.of)),
        };
        let verdict = if self.holds() { "holds" } else { "**missed**" };
        format!("| {} | {target} | {result} | {} | {verdict} |\n", self.what, self.n)
    }
}
