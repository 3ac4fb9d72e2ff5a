//! `record-ops`: operations per second as `iozone -i 0 -i 2 -r 4k -s 512m -o -O -I` measures them
//! (docs/field/iozone.md#single-file): write, rewrite, random read and random write of the records
//! of one file, with O_DIRECT and O_SYNC, in iozone's own order; and the raw-device form of the
//! random ones (fio's `rw=randwrite bs=4k size=512m`,
//! docs/field/classic-tools.md#the-same-with-fio), because O_SYNC on a file system writes more than
//! the data.
//!
//! Each form is a cell. A cell leaves its file for the next one ([`KeptFile`]), so that a run
//! writes it once, as iozone does. A cell without a file, because it is run alone or on resume, or
//! because time was up before `write` was complete, first writes the missing part, fast and without
//! counting it. Records are visited in the published order of the whole file; missing ones are left
//! out.

use device::{Device, Extent};
use record::{Content, Flag, Stop, Sync};
use stats::StopRule;

use super::prelude::*;
use crate::catalogue::preconditioned_span::preconditioned_span;
use crate::io_loop::{IoLoad, LoopLimits, flush};
use crate::offsets::{iozone_permutation, listed, pieces, sequential};
use crate::stage::KeptFile;
use crate::stop_rule::Precision;
use crate::{FileStageError, IoTally, TargetInfo};
use stats::inverse;

settings! {
    RecordOpsSettings {
        forms: Words(FORMS.map(|form| form.name)) =
            "write,rewrite,random-read,random-write,raw-random-read,raw-random-write",
            "what to measure";
        size: Size = "512MiB", "size of the file";
        block: Block = "4KiB", "size of a record";
        sync: Word(["none", "data", "file"]) = "file",
            "when a write counts as done: none, data (O_DSYNC) or file (O_SYNC)";
        certainty: Share = "0%",
            "stop when the interval is this narrow; 0% goes through all records";
        min_time: Time = "3s", "least time per form, where the interval ends it";
        max_time: Time = "40h", "time limit per form";
    }
}

spec! {
    /// Numbers of a file and its records.
    RecordOpsSpec {
        file_bytes: u64,
        ..precision: Precision,
    }
}

type RecordOpsCell = TypedCell<RecordOpsSpec>;

/// Writes and reads the records of a file as iozone does, a cell for each form.
pub struct RecordOps;

/// A form of the test, by its name.
struct Form {
    name: &'static str,
    direction: Direction,
    pattern: Pattern,
    target: RecordTarget,
}

/// What is written; iozone repeats this byte.
const CONTENT: Content = Content::Byte(165);

#[derive(PartialEq)]
enum RecordTarget {
    NewFile,
    File,
    Raw,
}

const fn form(
    name: &'static str,
    direction: Direction,
    pattern: Pattern,
    target: RecordTarget,
) -> Form {
    Form { name, direction, pattern, target }
}

const FORMS: [Form; 6] = [
    form("write", Direction::Write, Pattern::Sequential, RecordTarget::NewFile),
    form("rewrite", Direction::Write, Pattern::Sequential, RecordTarget::File),
    form("random-read", Direction::Read, Pattern::Permutation, RecordTarget::File),
    form("random-write", Direction::Write, Pattern::Permutation, RecordTarget::File),
    form("raw-random-read", Direction::Read, Pattern::Permutation, RecordTarget::Raw),
    form("raw-random-write", Direction::Write, Pattern::Permutation, RecordTarget::Raw),
];

/// Size in bytes of the writes that create the file.
const LAYING_BLOCK_BYTES: u64 = MIB;
/// Most records of a file: their order is kept in memory.
const MAX_RECORDS: u64 = 1 << 24;
/// Fewest records measured if precision ends a form.
const MIN_RECORDS: u64 = 300;

impl Procedure for RecordOps {
    type Settings = RecordOpsSettings;
    type Spec = RecordOpsSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::RECORD_OPS,
            about: "writes and reads the records of a file like iozone, beside the raw device: operations per second",
            source: "docs/field/iozone.md#single-file, docs/field/classic-tools.md#the-same-with-fio",
            needs: Needs::WRITING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, RecordOpsSpec>) -> Planned {
        let (target, block_bytes) = (cells.target, settings.block);
        let size_bytes = settings.size / block_bytes * block_bytes;
        if !(1..=MAX_RECORDS).contains(&(size_bytes / block_bytes)) {
            let why = format!("must be 1 to {MAX_RECORDS} records of {block_bytes} bytes");
            return Err(cells.bad("size", why));
        }
        let sync = match settings.sync {
            "none" => Sync::None,
            "data" => Sync::Data,
            _ => Sync::File,
        };
        let precision = Precision { certainty: settings.certainty, min_ns: settings.min_time };
        for form in settings.forms.iter().filter_map(|name| find(name)) {
            let found = place(form, target, size_bytes, block_bytes);
            let Some((span, file_bytes)) = cells.or_skip(found) else { continue };
            let (is_raw, is_writing) =
                (form.target == RecordTarget::Raw, form.direction == Direction::Write);
            let region = if is_raw { target.region_name(Region::Middle) } else { Region::File };
            let params = Params {
                direction: Some(form.direction),
                region: Some(region),
                sync: if is_writing && !is_raw { sync } else { Sync::None },
                content: Some(CONTENT),
                form: Some(form.name.into()),
                ..cells.writes(region, span, form.pattern, block_bytes)
            };
            let measured_bytes = if is_writing { file_bytes } else { 0 };
            let laid_bytes = if form.target == RecordTarget::File { file_bytes } else { 0 };
            let spec = RecordOpsSpec { file_bytes, precision };
            cells.add(params, &spec, settings.max_time, measured_bytes + laid_bytes);
        }
        Ok(())
    }

    /// Metrics: `iops` (iozone's operations per second), `bps`, `latency_ns`, `full_pass_s`
    /// (seconds for all records at this rate).
    fn run(&self, cell: &RecordOpsCell, context: &mut CellContext<'_>) -> CellOutcome {
        let Some(form) = find(cell.form()) else {
            return CellOutcome::failed(cell, "unknown form");
        };
        match form.target {
            RecordTarget::Raw => raw(form, cell, context),
            RecordTarget::File | RecordTarget::NewFile => on_file(form, cell, context),
        }
    }
}

fn find(name: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.name == name)
}

/// The range of the target that a form uses, and the size of its file: the wanted one, or the room
/// that there is.
fn place(
    form: &Form,
    target: &TargetInfo,
    size_bytes: u64,
    block_bytes: u64,
) -> Result<(Extent, u64), String> {
    if form.target == RecordTarget::Raw && target.is_file() {
        return Err(
            "the raw forms need a raw medium; name the device itself, for example /dev/sdX".into(),
        );
    }
    if form.target != RecordTarget::Raw {
        target.files.clone()?;
    }
    // On a raw medium the file system needs room for itself.
    let own_bytes = |bytes: u64| {
        if form.target == RecordTarget::Raw || target.is_file() { 0 } else { bytes / 8 + 16 * MIB }
    };
    let span = target.region(
        Region::Middle,
        (size_bytes + own_bytes(size_bytes)).next_multiple_of(target.alignment_bytes().min(MIB)),
    )?;
    let room_bytes =
        size_bytes.min(span.bytes.saturating_sub(own_bytes(span.bytes.min(size_bytes))));
    match room_bytes / block_bytes * block_bytes {
        0 => Err(format!(
            "no room for a file beside its file system in {}",
            record::units::Bytes(span.bytes)
        )),
        file_bytes => Ok((
            if form.target == RecordTarget::Raw {
                Extent::new(span.offset_bytes, file_bytes)
            } else {
                span
            },
            file_bytes,
        )),
    }
}

/// The records of this form in their order, as far as they are in the first `there_bytes`.
fn places(
    form: &Form,
    cell: &RecordOpsCell,
    start_bytes: u64,
    there_bytes: u64,
) -> Box<dyn FnMut(u32) -> Option<Extent>> {
    let block_bytes = cell.block_bytes();
    let span = Extent::new(start_bytes, there_bytes / block_bytes * block_bytes);
    match form.pattern {
        Pattern::Permutation => {
            let records = cell.spec.file_bytes / block_bytes;
            let mut order = iozone_permutation(records as u32);
            order.retain(|record| u64::from(*record) < span.bytes / block_bytes);
            Box::new(listed(span, block_bytes, order))
        }
        _ => Box::new(sequential(span, block_bytes)),
    }
}

fn load(form: &Form, cell: &RecordOpsCell) -> IoLoad {
    IoLoad {
        direction: form.direction,
        sync: cell.params.sync,
        content: cell.params.content.unwrap_or(Content::Incompressible),
        fresh: true,
        ..IoLoad::read(cell.block_bytes())
    }
}

fn limits(cell: &RecordOpsCell, allotted_ns: u64, left_ns: u64) -> LoopLimits {
    let precision = cell.spec.precision;
    if precision.certainty == 0.0 {
        return LoopLimits::time(left_ns.max(1));
    }
    let rule = StopRule { min_events: MIN_RECORDS, ..precision.rule(allotted_ns) };
    LoopLimits::certain(rule, left_ns.max(1))
}

fn raw(form: &Form, cell: &RecordOpsCell, context: &mut CellContext<'_>) -> CellOutcome {
    // A file of ours may lie on this very range.
    context.kept.take();
    let planned = cell.span();
    let (span, caveat) = preconditioned_span(cell, context);
    let shrunk = (span.bytes < planned.bytes)
        .then_some(Flag::PartlyPrimed { primed_bytes: span.bytes, wanted_bytes: planned.bytes });
    let limits = limits(cell, context.allotted_ns, context.time_left_ns());
    let tally = context.drive(
        "measuring",
        &load(form, cell),
        &limits,
        &mut places(form, cell, span.offset_bytes, span.bytes),
    );
    let mut outcome = finish(cell, tally);
    outcome.cell.params.span_bytes = Some(span.bytes);
    outcome.cell.flags.extend(caveat.or(shrunk));
    outcome
}

fn on_file(form: &Form, cell: &RecordOpsCell, context: &mut CellContext<'_>) -> CellOutcome {
    let mut kept = match file(form, cell, context) {
        Ok(kept) => kept,
        Err(FileStageError::Unavailable(reason)) => return CellOutcome::left_out(cell, reason),
        Err(FileStageError::Failed(reason)) => return CellOutcome::failed(cell, reason),
    };
    let file_bytes = cell.spec.file_bytes.min(kept.file.device.facts().capacity_bytes);
    let mut clock = FileClock::new(&mut *kept.file.device, context.allotted_ns);
    if form.target == RecordTarget::File
        && let Err(outcome) = lay_down(&mut kept, file_bytes, cell, context, &mut clock)
    {
        return *outcome;
    }
    // iozone syncs the file before it looks at the clock.
    if let Err(error) = flush(&mut *kept.file.device) {
        let mut outcome = CellOutcome::new(cell);
        outcome.end(Stop::Error, Some(error));
        return outcome;
    }
    let there_bytes =
        if form.target == RecordTarget::NewFile { file_bytes } else { kept.laid_bytes };
    let limits = limits(cell, context.allotted_ns, clock.left_ns(&mut *kept.file.device, context));
    context.part(1.0 - limits.max_ns as f64 / context.allotted_ns.max(1) as f64, 1.0);
    let tally = context.drive_on(
        &mut *kept.file.device,
        "measuring",
        &load(form, cell),
        &limits,
        &mut places(form, cell, 0, there_bytes),
    );
    if form.target == RecordTarget::NewFile {
        kept.laid_bytes = tally.bytes;
    }
    let mut outcome = finish(cell, tally);
    outcome.cell.on = Some(kept.file.on.clone());
    if there_bytes < file_bytes {
        outcome
            .cell
            .flags
            .push(Flag::PartlyPrimed { primed_bytes: there_bytes, wanted_bytes: file_bytes });
    }
    if !outcome.is_over() {
        *context.kept = Some(kept);
    }
    outcome
}

/// The file of the cell before, or a new one.
fn file(
    form: &Form,
    cell: &RecordOpsCell,
    context: &mut CellContext<'_>,
) -> Result<KeptFile, FileStageError> {
    let made_for = (cell.spec.file_bytes, cell.span());
    match context.kept.take() {
        Some(kept) if kept.made_for == made_for && form.target == RecordTarget::File => Ok(kept),
        // The old one goes before the new one comes: they may have the same place.
        old => {
            drop(old);
            let file = context.stage.file(made_for.0, made_for.1)?;
            Ok(KeptFile { file, test: cell.test.clone(), made_for, laid_bytes: 0 })
        }
    }
}

/// Writes the missing part of the file, without measuring, in half of the cell's time at most.
/// `Err` is the outcome if that failed.
fn lay_down(
    kept: &mut KeptFile,
    file_bytes: u64,
    cell: &RecordOpsCell,
    context: &mut CellContext<'_>,
    clock: &mut FileClock,
) -> Result<(), Box<CellOutcome>> {
    let missing = Extent::new(kept.laid_bytes, file_bytes.saturating_sub(kept.laid_bytes));
    if missing.bytes == 0 {
        return Ok(());
    }
    let content = cell.params.content.unwrap_or(Content::Incompressible);
    let load = IoLoad { content, ..IoLoad::write(LAYING_BLOCK_BYTES.max(cell.block_bytes())) };
    let limits = LoopLimits::time(clock.left_ns(&mut *kept.file.device, context) / 2);
    context.part(0.0, 0.5);
    let mut places = pieces(missing, load.block_bytes);
    let tally = context.drive_on(
        &mut *kept.file.device,
        "laying down the file",
        &load,
        &limits,
        &mut places,
    );
    kept.laid_bytes += tally.bytes;
    if tally.stop.cut_short() {
        let mut outcome = CellOutcome::new(cell);
        outcome.end(tally.stop, tally.error);
        return Err(Box::new(outcome));
    }
    Ok(())
}

fn finish(cell: &RecordOpsCell, tally: IoTally) -> CellOutcome {
    let mut outcome = tally.outcome(cell);
    let records = cell.spec.file_bytes as f64 / cell.block_bytes() as f64;
    if let Some(iops) = outcome.cell.metrics.iops {
        outcome.cell.metrics.add(metric::FULL_PASS_S, inverse(records, iops));
    }
    outcome
}

/// Remaining time of the cell by the file's own clock, which in simulations is not the medium's.
struct FileClock {
    ends_ns: u64,
}

impl FileClock {
    fn new(file: &mut dyn Device, allotted_ns: u64) -> FileClock {
        FileClock { ends_ns: file.now().saturating_add(allotted_ns) }
    }

    fn left_ns(&self, file: &mut dyn Device, context: &mut CellContext<'_>) -> u64 {
        self.ends_ns.saturating_sub(file.now()).min(context.time_left_ns())
    }
}

#[cfg(test)]
mod tests;
/// True if this cell uses a file in a file system: the file system then decides on the contents of
/// its span.
pub(crate) fn is_staged(cell: &record::PlannedCell) -> bool {
    cell.test == test::RECORD_OPS
        && cell
            .params
            .form
            .as_deref()
            .and_then(find)
            .is_none_or(|form| form.target != RecordTarget::Raw)
}
