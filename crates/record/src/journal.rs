//! Description and events of a run, as the lines of its journal have them.

use serde::{Deserialize, Serialize};

use crate::{
    Cell, Ended, Fingerprint, FingerprintMark, Flag, Health, Host, Medium, PlannedCell, Run, Skip,
    Software, Target, Temperature,
};

/// Description of a run, known before its first cell: the first line of its journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// This execution, as far as it is known then.
    pub run: Run,
    /// The thing under test.
    pub medium: Medium,
    /// The machine; none for a simulated medium.
    pub host: Option<Host>,
    /// The way to the medium.
    pub target: Target,
    /// Cells to be measured, in order.
    pub plan: Vec<PlannedCell>,
    /// Tests and cells that are left out from the start.
    pub skipped: Vec<Skip>,
    /// Caveats from the start.
    pub flags: Vec<Flag>,
    /// Request of the caller, with which it plans the rest again; this crate does not read it.
    pub command: serde_json::Value,
    /// Content by which `resume` recognises the medium; `None` where there is no raw medium.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
}

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalEntry {
    /// A cell has ended.
    Cell(Box<Cell>),
    /// Something will not be run.
    Skip(Skip),
    /// A caveat about the run as a whole.
    Flag(Flag),
    /// The run was resumed after an interruption.
    Resumed(Box<Resumed>),
    /// The run has ended, for now or for good.
    Ended(Ending),
    /// A cell that writes has begun, by its id. If it is cut short, its span holds what it wrote by
    /// then.
    Begun(String),
    /// Content of some places that this run had written, read after the last cell.
    Marked(Vec<FingerprintMark>),
}

macro_rules! entry {
    ($($of:ident => $entry:expr;)*) => {$(
        impl From<$of> for JournalEntry {
            fn from(of: $of) -> Self {
                $entry(of)
            }
        }
    )*};
}
entry! {
    Cell => |it| JournalEntry::Cell(Box::new(it));
    Skip => JournalEntry::Skip;
    Flag => JournalEntry::Flag;
    Resumed => |it| JournalEntry::Resumed(Box::new(it));
    Ending => JournalEntry::Ended;
}

/// Time, host and program of a resumption.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resumed {
    /// RFC 3339; none for a simulated medium.
    pub started: Option<String>,
    /// The machine now; none for a simulated medium.
    pub host: Option<Host>,
    /// The program that resumed it, with its version.
    pub software: Software,
}

/// State and time at the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// State of the run: complete, interrupted or failed.
    pub ended: Ended,
    /// RFC 3339; none for a simulated medium.
    pub finished: Option<String>,
    /// Nanoseconds by the device's clock, all sessions of a resumed run together.
    pub elapsed_ns: u64,
    /// Temperatures at the end; matched by sensor to those of the start.
    pub temperatures: Vec<Temperature>,
    /// Health that the medium reported at the end.
    #[serde(default)]
    pub health: Option<Health>,
}
