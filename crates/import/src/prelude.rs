//! What the table of a tool is made of.

pub(crate) use record::units::{GIB, KIB, MIB, SECOND_NS, saturating_sum};
pub(crate) use record::{
    Cell, Content, Direction, Flag, Host, Latency, MediumKind, Path, Pattern, Region, Series,
    SeriesAxis, Stop, Sync, TargetKind, metric, test,
};

pub(crate) use crate::imported_run::{
    BUFFERED, Fill, ImportedRun, cell, of_sectors, our_test, over_files, whole_ns, word,
};
pub(crate) use crate::reading::Reading;
pub(crate) use crate::table::{Known, Made, Tool, tool};
pub(crate) use crate::text::{
    ImportText, decimal, group, moment, number, prefix, rate_in, re, scaled, short, size, time,
    time_ns, wanted, whole, with_unit,
};
