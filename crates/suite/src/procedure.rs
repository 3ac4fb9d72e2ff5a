//! A test with typed settings and typed numbers of its cells.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use device::Extent;
use record::units::Bytes;
use record::{Content, Direction, Params, Pattern, PlannedCell, Region};

use crate::spec::CellSpec;
use crate::typed_settings::{TypedSettings, WantedSpan};
use crate::{
    CellContext, CellList, CellOutcome, Needs, Setting, SettingError, TargetInfo, Test,
    TestSettings, span_of,
};

/// Catalogue entry of a test.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name on the command line and in records.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Section of the domain notes, and so the article or tool, that defines its semantics.
    pub source: &'static str,
    /// Requirements on the target.
    pub needs: Needs,
}

/// Result of planning: an `Err` names the invalid setting.
pub type Planned = Result<(), SettingError>;

/// A test: its settings, its plan, and the run of a cell of the plan.
pub trait Procedure: Sync {
    /// Its settings.
    type Settings: TypedSettings;
    /// The numbers that `plan` leaves for `run`.
    type Spec: CellSpec;
    /// Its catalogue entry.
    fn entry(&self) -> Entry;
    /// Plans the cells for the target of `cells`.
    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, Self::Spec>) -> Planned;
    /// Runs one cell. An error of the medium is in the outcome, with all results before it.
    fn run(&self, cell: &TypedCell<Self::Spec>, context: &mut CellContext<'_>) -> CellOutcome;
    /// Shortens the numbers of a cell to a round: to `round_ns` nanoseconds, or to the bytes of
    /// that time at `bps` bytes per second. Returns by how many bytes fewer it then writes.
    fn shorten(&self, _spec: &mut Self::Spec, _round_ns: u64, _bps: f64) -> u64 {
        0
    }
}

impl<P: Procedure> Test for P {
    fn name(&self) -> &'static str {
        self.entry().name
    }
    fn about(&self) -> &'static str {
        self.entry().about
    }
    fn source(&self) -> &'static str {
        self.entry().source
    }
    fn settings(&self) -> &'static [Setting] {
        P::Settings::LIST
    }
    fn needs(&self) -> Needs {
        self.entry().needs
    }
    fn plan(
        &self,
        settings: &TestSettings,
        target: &TargetInfo,
        list: &mut CellList<'_>,
    ) -> Planned {
        let settings = P::Settings::read(settings)?;
        let has_region = P::Settings::LIST.iter().any(|setting| setting.name == "region");
        let mut cells = Cells { list: list.part(), target, has_region, of: PhantomData };
        Procedure::plan(self, &settings, &mut cells)
    }
    fn run(&self, cell: &PlannedCell, context: &mut CellContext<'_>) -> CellOutcome {
        match TypedCell::read(cell) {
            Ok(cell) => Procedure::run(self, &cell, context),
            Err(name) => CellOutcome::failed(
                cell,
                format!("the plan has no {name} for {}; another version made it", cell.test),
            ),
        }
    }
    fn shorten(&self, cell: &mut PlannedCell, round_ns: u64, bps: f64) {
        if let Ok(mut spec) = P::Spec::read(&cell.params.other) {
            let fewer_bytes = Procedure::shorten(self, &mut spec, round_ns, bps);
            spec.write(&mut cell.params.other);
            cell.max_written_bytes = cell.max_written_bytes.saturating_sub(fewer_bytes);
        }
    }
}

/// The cells of one test while it plans them.
pub struct Cells<'a, S> {
    /// Target of the cells.
    pub target: &'a TargetInfo,
    list: CellList<'a>,
    /// True if the test has the setting `region`.
    has_region: bool,
    of: PhantomData<S>,
}

impl<S: CellSpec> Cells<'_, S> {
    /// Plans a cell that takes at most `max_ns` and writes at most `max_written_bytes`. Leaves out
    /// a block smaller than the medium's logical block.
    pub fn add(&mut self, mut params: Params, spec: &S, max_ns: u64, max_written_bytes: u64) {
        spec.write(&mut params.other);
        self.list.add(params, max_ns, max_written_bytes);
    }

    /// Parameters of writes of incompressible data of this size in `span`, at queue depth 1.
    pub fn writes(
        &self,
        region: Region,
        span: Extent,
        pattern: Pattern,
        block_bytes: u64,
    ) -> Params {
        Params {
            direction: Some(Direction::Write),
            content: Some(Content::Incompressible),
            ..self.reads(region, span, pattern, block_bytes)
        }
    }

    /// Parameters of reads of this size in `span`, at queue depth 1.
    pub fn reads(
        &self,
        region: Region,
        span: Extent,
        pattern: Pattern,
        block_bytes: u64,
    ) -> Params {
        Params {
            direction: Some(Direction::Read),
            pattern: Some(pattern),
            block_bytes: Some(block_bytes),
            region: Some(self.target.region_name(region)),
            span_offset_bytes: Some(span.offset_bytes),
            span_bytes: Some(span.bytes),
            queue_depth: 1,
            threads: 1,
            ..Params::default()
        }
    }

    /// The allocation unit that the medium declares, otherwise `otherwise_bytes`, in bytes.
    pub fn assumed_au(&self, otherwise_bytes: u64) -> u64 {
        let declared = self.target.au_bytes;
        declared
            .filter(|au| *au >= self.target.facts.logical_block_bytes)
            .unwrap_or(otherwise_bytes)
    }

    /// True if I/Os can be shifted by so many bytes; otherwise they are skipped.
    pub fn can_shift(&mut self, shift_bytes: u64) -> bool {
        let unit_bytes = self.target.facts.logical_block_bytes;
        let can = shift_bytes.is_multiple_of(unit_bytes);
        if !can {
            let (shift, unit) = (Bytes(shift_bytes), Bytes(unit_bytes));
            self.skip(format!("shifted by {shift}: the medium addresses units of {unit}"));
        }
        can
    }

    /// True if a block fits into so many bytes; otherwise it is skipped.
    pub fn fits(&mut self, block_bytes: u64, span_bytes: u64) -> bool {
        let fits = block_bytes <= span_bytes;
        if !fits {
            let (block, span) = (Bytes(block_bytes), Bytes(span_bytes));
            self.skip(format!("{block} blocks do not fit into {span}"));
        }
        fits
    }

    /// The chosen span, in this region; `None` if there is no room for it: then the test is
    /// skipped. If a user chose one that does not fit, that is an error; one of a suite is reduced
    /// to the room that there is.
    pub fn span(
        &mut self,
        wanted: &WantedSpan,
        region: Region,
    ) -> Result<Option<Extent>, SettingError> {
        let Some(span) = self.region(region, wanted.bytes) else { return Ok(None) };
        let block_bytes = self.target.facts.logical_block_bytes.max(1);
        let is_short = span.bytes < wanted.bytes / block_bytes * block_bytes;
        if !wanted.is_asked || region == Region::Whole || !is_short {
            return Ok(Some(span));
        }
        let (there, test) = (Bytes(span.bytes), self.list.test);
        let rest = match self.has_region {
            true => format!("; {test}.region=whole takes all of it"),
            false => String::new(),
        };
        Err(self.bad("span", format!("there are only {there} in this part of the medium{rest}")))
    }

    /// At most so many bytes of the region; `None` if it has no room: then the test is skipped.
    pub fn region(&mut self, region: Region, wanted_bytes: u64) -> Option<Extent> {
        self.list.or_skip(self.target.region(region, wanted_bytes))
    }
}

impl<'a, S> Deref for Cells<'a, S> {
    type Target = CellList<'a>;
    fn deref(&self) -> &CellList<'a> {
        &self.list
    }
}

impl<'a, S> DerefMut for Cells<'a, S> {
    fn deref_mut(&mut self) -> &mut CellList<'a> {
        &mut self.list
    }
}

/// A planned cell and its numbers.
#[derive(Clone, Debug)]
pub struct TypedCell<S> {
    planned: PlannedCell,
    /// The numbers that its test planned.
    pub spec: S,
}

impl<S: CellSpec> TypedCell<S> {
    /// Reads the numbers of a planned cell; an `Err` names a missing one.
    pub fn read(planned: &PlannedCell) -> Result<TypedCell<S>, &'static str> {
        Ok(TypedCell { planned: planned.clone(), spec: S::read(&planned.params.other)? })
    }

    /// The same cell with other parameters and numbers, for its result.
    pub fn with(&self, change: impl FnOnce(&mut Params, &mut S)) -> TypedCell<S> {
        let mut cell = self.clone();
        change(&mut cell.planned.params, &mut cell.spec);
        cell.spec.write(&mut cell.planned.params.other);
        cell
    }

    /// The cell in the form of a plan.
    pub fn into_planned(self) -> PlannedCell {
        self.planned
    }

    /// The address range that it touches.
    pub fn span(&self) -> Extent {
        span_of(&self.planned)
    }

    /// Form of the test; empty if it has only one.
    pub fn form(&self) -> &str {
        self.planned.params.form.as_deref().unwrap_or_default()
    }
}

impl<S> Deref for TypedCell<S> {
    type Target = PlannedCell;
    fn deref(&self) -> &PlannedCell {
        &self.planned
    }
}
