//! Rows of the table: count, target and result.

/// Target of a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At least this share, in percent.
    AtLeast(f64),
    /// Less than this share, in percent.
    Below(f64),
    /// At most this many seconds.
    Seconds(f64),
    /// No target: for comparison.
    None,
}

/// A row of the table in docs/truth.md.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Description for the first column.
    pub what: String,
    /// Target of the result.
    pub target: Target,
    /// Number of cases that count; or seconds.
    pub of: f64,
    /// Number of all cases.
    pub n: u64,
}

impl Row {
    /// Makes a row with a share of all cases.
    pub fn share(
        what: impl Into<String>,
        target: Target,
        each: impl IntoIterator<Item = bool>,
    ) -> Row {
        let (of, n) =
            each.into_iter().fold((0u64, 0u64), |(of, n), is_so| (of + u64::from(is_so), n + 1));
        Row { what: what.into(), target, of: of as f64, n }
    }

    /// Makes a row with the longest time of all, in seconds.
    pub fn longest(
        what: impl Into<String>,
        seconds: f64,
        took_ns: impl IntoIterator<Item = u64>,
    ) -> Row {
        let (longest_ns, n) =
            took_ns.into_iter().fold((0, 0), |(longest, n), ns| (ns.max(longest), n + 1));
        Row { what: what.into(), target: Target::Seconds(seconds), of: longest_ns as f64 / 1e9, n }
    }

    /// True if the target is met; false without any case.
    pub fn holds(&self) -> bool {
        let percent = 100.0 * self.of / self.n as f64;
        self.n > 0
            && match self.target {
                Target::AtLeast(least) => percent >= least,
                Target::Below(most) => percent < most,
                Target::Seconds(most) => self.of <= most,
                Target::None => true,
            }
    }

    /// Line in the table.
    pub fn line(&self) -> String {
        let percent = 100.0 * self.of / self.n.max(1) as f64;
        let (target, result) = match self.target {
            Target::AtLeast(least) => (format!("{least} %"), format!("{percent:.1} %")),
            Target::Below(most) => (format!("under {most} %"), format!("{percent:.2} %")),
            Target::Seconds(most) => (format!("{most} s"), format!("{:.0} s", self.of)),
            Target::None => ("-".to_owned(), format!("{percent:.2} %")),
        };
        let verdict = if self.holds() { "holds" } else { "**missed**" };
        format!("| {} | {target} | {result} | {} | {verdict} |\n", self.what, self.n)
    }
}
