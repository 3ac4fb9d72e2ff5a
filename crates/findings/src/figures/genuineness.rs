//! Detection of fakes: does the medium have its declared capacity? The evidence is the probe of the
//! capacity (`suite/src/catalogue/capacity/probe_stages.rs` determines the kind) and a full
//! verification. The sentences are in `capacity.rs`.

use record::units::saturating_sum;
use record::{CapacityKind, Cell, Record, Stop, metric, test};

use crate::figures::cell_usability;
use crate::figures::sectors::{Kept, Sectors, number, read_parts};

/// What a record shows of the capacity of its medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Genuineness {
    /// The real capacity is less than declared.
    Fake,
    /// Data is lost, and whether capacity is missing cannot be told.
    Damaged,
    /// All of it was written, then read back as written.
    Proven,
    /// A probe found nothing missing at the places that it wrote.
    NoSign,
    /// Nothing is known; a partition says nothing of the rest of its medium.
    Unknown,
}

/// Share of the medium that must be read back as written for its capacity to be real; suites leave
/// out the rest at the end.
const WHOLE: f64 = 0.99;

/// What the probes and a verification show together: a loss counts before all that was kept, and
/// more of the medium before a probe of it. Fake is also one of which at least 1 % (our choice)
/// returned data that was written to another address; damage alone does not cause that.
pub(crate) fn of(record: &Record) -> Genuineness {
    let probed = capacity_verdict(record).map(|(_, kind)| kind);
    let sectors = Sectors::of(read_parts(record));
    let is_damaged = probed == Some(CapacityKind::Damaged);
    let folded = sectors.overwritten > 0
        && sectors.overwritten.saturating_mul(100) >= sectors.good.saturating_add(sectors.bad());
    if probed.is_some_and(CapacityKind::is_fake)
        || folded && !is_damaged
        || Kept::of(record).is_some()
    {
        return Genuineness::Fake;
    }
    let changed = elsewhere(record).is_some_and(|(changed, _)| changed > 0);
    if is_damaged || sectors.bad() > 0 || lost_places(record).is_some() || changed {
        return Genuineness::Damaged;
    }
    let is_whole = record
        .medium
        .capacity_bytes
        .is_some_and(|bytes| bytes > 0 && sectors.span_bytes as f64 >= WHOLE * bytes as f64);
    match probed {
        _ if record.target.part_of.is_some() => Genuineness::Unknown,
        _ if is_whole && sectors.good > 0 => Genuineness::Proven,
        Some(_) => Genuineness::NoSign,
        None => Genuineness::Unknown,
    }
}

/// True if the real capacity is less than declared.
pub(crate) fn is_fake(record: &Record) -> bool {
    of(record) == Genuineness::Fake
}

/// True if the cell was completed. The whole run is not checked: evidence of a fake is by
/// definition from a fake. Nor is the speed of the host, which changes no data.
fn is_sound(cell: &Cell) -> bool {
    cell_usability::of_any(cell).is_none()
}

/// Result of the probes. A suite may have a short and a thorough one, and a medium may deceive only
/// one of them: a probe that finds a fault counts before one that does not, and then the later one.
pub(crate) fn capacity_verdict(record: &Record) -> Option<(&Cell, CapacityKind)> {
    let kinds = record
        .cells_of(test::CAPACITY)
        .chain(record.cells_of(test::SUSTAINED))
        .filter_map(|cell| Some((cell, result(cell)?)));
    kinds.max_by_key(|(_, kind)| *kind != CapacityKind::Good)
}

fn result(probe: &Cell) -> Option<CapacityKind> {
    CapacityKind::of_probe(probe).filter(|_| is_sound(probe))
}

/// Kind of the medium according to the probe itself.
pub(crate) fn code(cell: &Cell) -> Option<CapacityKind> {
    CapacityKind::of_code(number(cell, "type")?)
}

/// True if the capacity was probed, but the probe was not completed.
pub(crate) fn is_probe_cut(record: &Record) -> bool {
    capacity_verdict(record).is_none() && record.cells_of(test::CAPACITY).next().is_some()
}

/// True if the addresses of a fake are hashed: some of them are the same place, at no distance that
/// repeats, so that there is no size up to which it keeps data.
pub(crate) fn is_hashed(probe: &Cell, kind: CapacityKind) -> bool {
    let folds = matches!(kind, CapacityKind::Wraparound | CapacityKind::Chain);
    folds && number(probe, metric::WRAP_BYTES).is_none_or(|bytes| bytes == 0.0)
}

/// Least and largest real capacity of a fake in bytes, as far as its probe found it.
pub(crate) fn real_bytes(record: &Record) -> Option<[u64; 2]> {
    let (kind, ends) = size(record)?;
    kind.is_fake().then(|| ends.map(|bytes| bytes as u64))
}

/// Least and largest real capacity in bytes that the probe found, and its kind; `None` without a
/// completed probe, and for a fake without a size.
fn size(record: &Record) -> Option<(CapacityKind, [f64; 2])> {
    let (cell, kind) = capacity_verdict(record).filter(|(cell, kind)| !is_hashed(cell, *kind))?;
    let size = cell.metrics.other.get(metric::REAL_BYTES)?;
    Some((kind, size.ci95.unwrap_or([size.value; 2])))
}

/// Real capacity in bytes found by the probe, if all of what it may be is on one side of `promised`
/// bytes: the end that is nearest to it. `None` without a completed probe, and for a fake without a
/// size.
pub(crate) fn real_bytes_against(record: &Record, promised: f64) -> Option<u64> {
    let (_, [low, high]) = size(record)?;
    let nearest = if low >= promised { Some(low) } else { Some(high).filter(|it| *it < promised) };
    nearest.map(|bytes| bytes as u64)
}

/// True if the real capacity of a fake is known as exactly as it can be.
pub(crate) fn is_size_found(record: &Record) -> bool {
    let probed = capacity_verdict(record).filter(|(_, kind)| kind.is_fake());
    probed.map_or(Kept::of(record).is_some(), |(cell, kind)| {
        let size = cell.metrics.other.get(metric::REAL_BYTES);
        size.map_or(is_hashed(cell, kind), |size| size.ci95.is_none_or(|[low, high]| low >= high))
    })
}

/// Places of a probe by what they gave in the end.
pub(crate) struct Marks {
    /// Other data than was written, without an error.
    pub(crate) lost: u64,
    /// Errors.
    pub(crate) failed: u64,
    /// All places.
    pub(crate) all: u64,
}

impl Marks {
    pub(crate) fn of(probe: &Cell) -> Marks {
        let count = |kinds: &[&str]| {
            let counts = kinds.iter().filter_map(|kind| number(probe, &format!("marks_{kind}")));
            counts.sum::<f64>() as u64
        };
        let lost = count(&["changed", "stale", "elsewhere", "lost"]);
        let failed = count(&["unusable"]);
        Marks { lost, failed, all: count(&["good"]).saturating_add(lost).saturating_add(failed) }
    }
}

/// Places of the probes that gave errors.
pub(crate) fn failed_places(record: &Record) -> u64 {
    saturating_sum(record.cells_of(test::CAPACITY).map(|cell| Marks::of(cell).failed))
}

/// Whether a probe that found damage failed again at the end of the run; `None` if it was not
/// repeated.
pub(crate) fn failed_again(probe: &Cell) -> Option<bool> {
    number(probe, metric::FAILED_AGAIN).map(|failed| failed > 0.0)
}

/// True if a probe found damage and was not repeated: a loose contact or a weak supply may have
/// caused that.
pub(crate) fn is_damage_open(record: &Record) -> bool {
    let is_open = |(cell, kind)| kind == CapacityKind::Damaged && failed_again(cell).is_none();
    of(record) == Genuineness::Damaged
        && capacity_verdict(record).map_or(lost_places(record).is_some(), is_open)
}

/// A probe that came to no result, but has seen places that lost what was written to them: such a
/// loss is not forgotten. Where there were errors too, the medium may have been gone for a time.
pub(crate) fn lost_places(record: &Record) -> Option<(&Cell, Marks)> {
    let open = record.cells_of(test::CAPACITY).filter(|cell| {
        result(cell).is_none() && !cell_usability::is_impossible(cell) && cell.stop != Stop::Error
    });
    open.map(|cell| (cell, Marks::of(cell))).find(|(_, marks)| marks.lost > 0 && marks.failed == 0)
}

/// Places that were not written and hold other data than before, and all that were looked at.
pub(crate) fn elsewhere(record: &Record) -> Option<(u64, u64)> {
    let of = |cell: &Cell| {
        let count = |name| number(cell, name).map(|places| places as u64);
        Some((count(metric::ELSEWHERE_CHANGED)?, count(metric::ELSEWHERE_PLACES)?))
    };
    record.cells_of(test::CAPACITY).filter_map(of).max()
}
