//! Units, the versioned run record and its published subset, latency histogram and series.
//!
//! A record holds plan, medium, host, software version and raw histograms and series, so that every
//! table, finding and report can be redone without measuring again. This crate knows nothing of
//! files, clocks, threads, command lines, HTML or HTTP.

/// Declares constants of these names, and `ALL` of them.
macro_rules! names {
    ($($constant:ident = $name:literal,)*) => {
        $(#[doc = concat!("`", $name, "`")] pub const $constant: &str = $name;)*

        /// All names, in this order.
        pub const ALL: &[&str] = &[$($constant),*];
    };
}
use names;

/// Declares kinds that have a name in JSON, addresses and downloads.
macro_rules! named {
    ($(#[$of_all:meta])* $kind:ident { $($(#[$of_one:meta])* $one:ident = $name:literal,)* }) => {
        $(#[$of_all])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $kind { $($(#[$of_one])* #[serde(rename = $name)] $one,)* }

        impl $kind {
            /// All of them, in this order.
            pub const ALL: [$kind; [$($kind::$one),*].len()] = [$($kind::$one),*];

            /// Name in JSON, addresses and downloads.
            pub const fn name(self) -> &'static str {
                match self { $($kind::$one => $name,)* }
            }

            /// The one of that name.
            pub fn named(name: &str) -> Option<$kind> {
                match name { $($name => Some($kind::$one),)* _ => None }
            }
        }
    };
}
use named;

pub mod alike;
mod capacity_kind;
#[cfg(test)]
#[path = "../../../tests/cases.rs"]
#[allow(clippy::disallowed_methods, reason = "the cases are a file")]
mod cases;
mod cell;
mod cell_error;
pub mod classes;
pub mod collection;
mod columns;
mod combination;
mod diskstats;
pub mod figures;
mod finding;
mod fingerprint;
mod fitness;
mod flag;
mod histogram;
mod host_state;
mod io_accounting;
mod journal;
pub mod json;
pub mod limits;
mod medium;
pub mod metric;
mod moment;
mod params;
mod published;
mod quantity;
mod reading;
mod rounds;
mod run;
mod series;
mod summary;
pub mod test;
pub mod text;
pub mod units;
mod uses;
mod wait;
mod write_cache;

pub use capacity_kind::CapacityKind;
pub use cell::{
    CHECKPOINT_COMMITS, Cell, CountUnit, Estimate, FAILED_BY, IoAccounting, Latency, Metrics,
    OPEN_INTERVAL, ROUNDING, Round, Stop,
};
pub use cell_error::{CellError, IoErrorKind};
pub use columns::{
    ALL_COLUMNS, COLUMN_FAMILIES, FigureColumn, UnknownColumn, chosen_columns, column_choice,
    column_named, columns, columns_of,
};
pub use combination::Combination;
pub use diskstats::{Activity, Counters, Flushed, IoCounters, Sample, Served};
pub use figures::{FIGURES, Figure};
pub use finding::{Evidence, EvidenceNumber, Finding, Outcome, Severity, UseLevel};
pub use fingerprint::{Fingerprint, FingerprintMark};
pub use fitness::{Condition, Fitness};
pub use flag::{Bound, Flag, HANGS_NS, IoLimitKind};
pub use histogram::{Histogram, HistogramError};
pub use host_state::{HostStall, HostState, MAX_HOST_STALL_SHARE};
pub use io_accounting::not_medium_reason;
pub use journal::{Ending, JournalEntry, Opening, Resumed};
pub use medium::{
    Claims, Filesystem, Health, Host, Link, Medium, MediumKind, Queue, SpeedClasses, Target,
    TargetKind, Temperature, WholeMedium,
};
pub use moment::Moment;
pub use params::{Content, Direction, Params, Path, Pattern, Region, Sync};
pub use published::Published;
pub use quantity::{QuantityFigure, nearest_command, quantities, thread_views};
pub use reading::{MAX_RECORD_BYTES, RecordError, UnpackError, unpacked};
pub use rounds::{MIN_ROUNDS, UnsteadyRounds};
pub use run::{Ended, PlannedCell, Record, Run, SCHEMA, Skip, Software};
pub use series::{Series, SeriesAxis};
pub use summary::{Answer, Summary};
pub use uses::{Use, UseError};
pub use wait::{Asked, SLOW_NS, SilentError, Wait};
pub use write_cache::{WIDE_BYTES, may_be_cached};
