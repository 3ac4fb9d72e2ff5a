//! Imports of every test.

pub(super) use record::units::{Bytes, KIB, MIB, MILLISECOND_NS, SECOND_NS};
pub(super) use record::{Direction, Params, Pattern, Region, metric, test};

pub(super) use crate::procedure::{Cells, Entry, Planned, Procedure, TypedCell};
pub(super) use crate::spec::spec;
pub(super) use crate::typed_settings::settings;
pub(super) use crate::{CellContext, CellOutcome, Needs};
