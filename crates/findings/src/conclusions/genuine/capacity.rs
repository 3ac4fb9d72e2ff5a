//! Capacity against the declared one, from the probe and from a full verification
//! (docs/field/counterfeits.md#f3probe, docs/field/peers.md#wishes).

use record::text::capitalised;
use record::units::{Bytes, saturating_sum};
use record::{CapacityKind, Cell, EvidenceNumber, Finding, Record, Severity, Stop, metric, test};

use crate::conclusions::genuine::no_sign;
use crate::conclusions::health::damaged_places::{DamageExtent, DamagedPlaces, like};
use crate::conclusions::health::failing::fails_beyond;
use crate::figures::genuineness::{self, Genuineness, Marks, capacity_verdict, is_hashed};
use crate::figures::sectors::{Kept, MOST, SECTOR_BYTES, Sectors, number};
use crate::figures::usability;
use crate::finding_builder::FindingBuilder;
use crate::phrases::{COPY_NOW, DAMAGED_OR_FAKE, IS_FAKE};

/// The findings `capacity`, from the probe, and `verify`. What a probe of some places found is left
/// out where all of it was read back, and so is damage that is a fake's.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    let probed = probe(record).filter(|(_, kind)| match genuineness::of(record) {
        Genuineness::Fake => kind.is_none_or(CapacityKind::is_fake),
        Genuineness::Proven => false,
        _ => true,
    });
    probed.map(|(finding, _)| finding).into_iter().chain(verify(record)).collect()
}

/// The finding of the probe, and its kind if it has one.
fn probe(record: &Record) -> Option<(Finding, Option<CapacityKind>)> {
    let changed = elsewhere_changed(record);
    let Some((cell, kind)) = capacity_verdict(record) else {
        let lost = genuineness::lost_places(record)
            .map(|(_, marks)| format!("{} The probe was not finished: {UNTOLD}", not_kept(&marks)));
        let severity = if changed.is_some() { Severity::Failure } else { Severity::Warning };
        let statement = lost.into_iter().chain(changed).collect::<Vec<_>>().join(" ");
        return (!statement.is_empty())
            .then(|| (FindingBuilder::new("capacity", severity, statement).done(), None));
    };
    let real = number(cell, metric::REAL_BYTES).map(|bytes| bytes as u64);
    let declared = record.medium.capacity_bytes.or(cell.params.span_bytes);
    let has = has(cell, kind, declared);
    let fake = |how: &str| format!("{IS_FAKE} {}, {has}. {how}", says(declared));
    let statement = match kind {
        CapacityKind::Good if changed.is_some() => String::new(),
        CapacityKind::Good => no_sign::statement(record, cell),
        CapacityKind::Damaged if genuineness::failed_again(cell) == Some(false) => passed(cell),
        CapacityKind::Damaged => damaged(record, cell, real),
        CapacityKind::Limbo => fake("Data written beyond that is lost without an error."),
        _ if genuineness::is_hashed(cell, kind) => {
            fake("What is written to some places overwrites data at others, without an error.")
        }
        CapacityKind::Wraparound => {
            fake("Data written beyond that overwrites data at the front, without an error.")
        }
        CapacityKind::Filling => {
            fake("It keeps no more than that of what is written, wherever it is.")
        }
        CapacityKind::Chain => {
            fake("Data written beyond that is partly lost and partly overwrites data at the front.")
        }
    };
    let severity = match kind {
        CapacityKind::Good if changed.is_none() => Severity::Info,
        CapacityKind::Damaged
            if genuineness::failed_again(cell) != Some(true) && changed.is_none() =>
        {
            Severity::Warning
        }
        _ => Severity::Failure,
    };
    let statement = [statement, changed.unwrap_or_default()].join(" ").trim().to_owned();
    let notes = [metric::REAL_BYTES, metric::CACHE_BYTES, metric::WRAP_BYTES].into_iter();
    let notes = notes.filter_map(|name| {
        let bytes = number(cell, name).filter(|bytes| *bytes > 0.0)?;
        Some(EvidenceNumber::of(cell, name, bytes))
    });
    let draft = FindingBuilder::new("capacity", severity, statement);
    Some((draft.notes(notes).notes(how(cell)).done(), Some(kind)))
}

/// "it says 32 GiB, it has 8 GiB": the sizes of a fake, as far as its probe found them.
pub(crate) fn sizes_of_a_fake(record: &Record) -> Option<String> {
    let (cell, kind) = capacity_verdict(record).filter(|(_, kind)| kind.is_fake())?;
    let declared = record.medium.capacity_bytes.or(cell.params.span_bytes);
    Some(format!("{}, {}.", says(declared), has(cell, kind, declared)))
}

/// "it says 32 GiB": what a fake declares.
fn says(declared: Option<u64>) -> String {
    declared.map_or("it declares more".into(), |bytes| format!("it says {}", Bytes(bytes)))
}

/// "8 of 64 places were not read back as written."
fn not_kept(marks: &Marks) -> String {
    format!("{} of {} places were not read back as written.", marks.lost, marks.all)
}

/// What is said of damage that was seen once.
const UNTOLD: &str = "whether it is damaged cannot be told. Copy what can still be read first, \
                      then measure it again: this was not tried twice.";

/// Places that were not written and changed, such as those whose data a fake gave up for new data.
fn elsewhere_changed(record: &Record) -> Option<String> {
    let (changed, places) = genuineness::elsewhere(record).filter(|(changed, _)| *changed > 0)?;
    Some(format!(
        "Data elsewhere changed: {changed} of {places} places that were not written hold other data than before."
    ))
}

/// Statement on a damaged medium: the advice for its data, and the extent of the damage.
fn damaged(record: &Record, cell: &Cell, real: Option<u64>) -> String {
    let extent = DamagedPlaces::of(record, []).extent();
    let place = match extent {
        DamageExtent::Beyond(at) if CapacityKind::is_by_errors(cell) => {
            return format!("{} {COPY_NOW}", fails_beyond(record, &at));
        }
        _ if real == Some(0) => return nothing_kept(cell),
        DamageExtent::Beyond(at) => format!("beyond {at}, "),
        DamageExtent::Area(at) | DamageExtent::Range(at) => format!("{at}, "),
        DamageExtent::AllOver => "in places all over it, ".into(),
        DamageExtent::Unknown => String::new(),
    };
    let between = between(cell).filter(|_| !CapacityKind::is_by_errors(cell));
    if between.is_some() {
        let has = has(cell, CapacityKind::Damaged, record.medium.capacity_bytes);
        let lost = not_kept(&Marks::of(cell));
        return format!("{lost} As far as was found, {has}. {DAMAGED_OR_FAKE} {COPY_NOW}");
    }
    let what = if CapacityKind::is_by_errors(cell) {
        "reads or writes failed with errors"
    } else {
        "data was not read back as written"
    };
    match genuineness::failed_again(cell) {
        Some(true) => format!("It is damaged: {place}{what}. {THROW_AWAY}"),
        _ => format!("{}: {UNTOLD}", capitalised(&format!("{place}{what}"))),
    }
}

const THROW_AWAY: &str = "Copy what can still be read first, then throw it away.";

/// Statement on a probe that failed, and not when it was repeated at the end of the run.
fn passed(cell: &Cell) -> String {
    let Marks { lost, failed, all } = Marks::of(cell);
    format!(
        "{} of {all} places failed at first, and none when it was tried again at the end: whether \
         it is damaged cannot be told. Copy what is on it first, then measure it again in another \
         reader or port.",
        lost + failed
    )
}

/// Statement on a medium of which nothing was read back as written. If all restored data is as
/// before, no write has changed anything.
fn nothing_kept(cell: &Cell) -> String {
    let is_zero = |name: &str| number(cell, name).is_none_or(|n| n == 0.0);
    let kept_old = number(cell, metric::RESTORED_BYTES).is_some_and(|bytes| bytes > 0.0)
        && ["marks_good", "marks_changed", "marks_stale", "marks_unusable"]
            .into_iter()
            .all(is_zero)
        && [metric::UNRESTORED_BYTES, "owed_bytes"].into_iter().all(is_zero);
    if kept_old {
        return "It ignored all writes (worn out, read-only, or a bad contact). What was on it can still be read: copy it now.".to_owned();
    }
    let is_by_errors = CapacityKind::is_by_errors(cell);
    match genuineness::failed_again(cell) == Some(true) {
        true if is_by_errors => format!(
            "It is damaged: reads or writes failed with errors wherever it was tested. {THROW_AWAY}"
        ),
        true => format!(
            "Nothing that was written could be read back: writes are accepted and have no effect (worn out or read-only), or it keeps no data at all. {THROW_AWAY}"
        ),
        false if is_by_errors => {
            format!("Reads or writes failed with errors wherever it was tested: {UNTOLD}")
        }
        false => format!("Nothing that was written could be read back: {UNTOLD}"),
    }
}

/// Reason why only a bound of the real capacity is known.
const NOT_FOUND: &str = "was not found in this time";

/// Bounds of a real capacity that was not found to the sector.
fn between(cell: &Cell) -> Option<[u64; 2]> {
    let [low, high] = cell.metrics.other.get(metric::REAL_BYTES)?.ci95?;
    let is_known = |bytes: f64| (0.0..MOST).contains(&bytes);
    (low < high && is_known(low) && is_known(high)).then_some([low as u64, high as u64])
}

/// Real capacity in words, in the units of the declared one: exact to the sector, or between what
/// kept data and what did not if the time was up.
fn has(cell: &Cell, kind: CapacityKind, declared: Option<u64>) -> String {
    let size_text = |bytes: u64| like(bytes, declared);
    let Some([low, high]) = between(cell) else {
        let real = number(cell, metric::REAL_BYTES).filter(|_| !is_hashed(cell, kind));
        return real
            .map_or("it has less".into(), |real| format!("it has {}", size_text(real as u64)));
    };
    if low >= high / 4 {
        return format!("it has between {} and {}", size_text(low), size_text(high));
    }
    if declared.is_some_and(|declared| high >= declared) {
        return format!("it has less, and how much {NOT_FOUND}");
    }
    // The modulus of the addresses is known to the byte, but not that all of this range exists.
    let repeats = number(cell, metric::WRAP_BYTES) == Some(high as f64);
    let why = if repeats { " (its addresses repeat from there on)" } else { "" };
    format!("it has no more than {}{why}, and how much less {NOT_FOUND}", size_text(high))
}

/// Description of the probe, and of what it restored.
fn how(cell: &Cell) -> Vec<String> {
    let bytes = |name| number(cell, name).map(|bytes| bytes as u64);
    let read = bytes(metric::OVERWHELMED_BYTES).map_or_else(
        || "marks at random places all over the medium were read back (docs/field/counterfeits.md#f3probe)".to_owned(),
        |cache| {
            format!(
                "marks at random places all over the medium were read back after {} had been written elsewhere; a fake with a larger cache would escape (docs/field/counterfeits.md#f3probe)",
                Bytes(cache)
            )
        },
    );
    let restored =
        bytes(metric::RESTORED_BYTES).map(|restored| match bytes(metric::UNRESTORED_BYTES) {
            Some(lost) if lost > 0 => {
                format!(
                    "of {} that were overwritten, {} could not be restored",
                    Bytes(restored.saturating_add(lost)),
                    Bytes(lost)
                )
            }
            _ => format!("{} that were overwritten were restored", Bytes(restored)),
        });
    [Some(read), restored].into_iter().flatten().collect()
}

fn verify(record: &Record) -> Option<Finding> {
    let is_read = |cell: &&Cell| {
        cell.params.form.as_deref() == Some("read") && number(cell, metric::GOOD_SECTORS).is_some()
    };
    let cells: Vec<&Cell> = record
        .cells_of(test::VERIFY)
        .filter(is_read)
        .filter(|cell| !usability::is_impossible(cell))
        .collect();
    let sectors = Sectors::of(cells.iter().copied());
    let all = sectors.good.saturating_add(sectors.bad());
    if all == 0 {
        return None;
    }
    let planned = record
        .plan
        .iter()
        .filter(|cell| cell.test == test::VERIFY && cell.params.form.as_deref() == Some("read"));
    let planned_bytes = saturating_sum(planned.map(|cell| cell.params.span_bytes.unwrap_or(0)));
    let left_bytes = planned_bytes.saturating_sub(sectors.span_bytes);
    let is_partial = sectors.is_partial || left_bytes > 0;
    let draft = if let Some(fake) = fake_by_reading(record, &sectors) {
        FindingBuilder::failure("verify", fake)
    } else if sectors.bad() == 0 {
        let so_far = if is_partial { " so far" } else { "" };
        let is_unread = cells.iter().any(|cell| cell.stop == Stop::Error);
        let statement = if is_unread {
            format!("Of what could be read, {all} sectors, nothing is damaged; the rest failed.")
        } else {
            format!("All {all} sectors that were written and read back{so_far} are correct.")
        };
        FindingBuilder::info("verify", statement)
    } else {
        let at = sectors
            .first_bad_bytes
            .map(|at| format!(", the first at {}", Bytes(at)))
            .unwrap_or_default();
        let what = if sectors.is_only_unreadable() {
            "Some of it cannot be read"
        } else {
            "It loses data"
        };
        FindingBuilder::failure(
            "verify",
            format!("{what}: of {all} sectors {}{at}. Do not store data on it.", sectors.list()),
        )
    };
    let parts = format!(
        "verify, {} of {} parts read back: {} good",
        cells.len(),
        cells.len().max(planned_parts(record)),
        sectors.good
    );
    let bad = (sectors.bad() > 0).then(|| {
        format!(
            "{}; of the corrupted {} are zeros, {} are 0xFF; unreadable ones gave errors, and count \
             among corrupted_sectors in the record",
            sectors.list(),
            sectors.zero,
            sectors.blank
        )
    });
    let folded = (sectors.overwritten > 0).then(|| {
        "overwritten sectors hold data of another address or of an earlier write: a sign of a medium that is smaller than it says".to_owned()
    });
    let left = (left_bytes > 0).then(|| format!("not read back: {}", Bytes(left_bytes)));
    Some(
        draft
            .note(parts)
            .notes([bad, folded, left].into_iter().flatten())
            .note("sectors of 512 bytes (docs/field/counterfeits.md#f3probe)")
            .done(),
    )
}

/// Statement on a medium that keeps one end of what is written.
fn fake_by_reading(record: &Record, sectors: &Sectors) -> Option<String> {
    let declared = record.medium.capacity_bytes;
    let size_text = |bytes: u64| like(bytes, declared);
    let has = match Kept::of(record)? {
        Kept::First([low, high]) if low == high => format!("it has {}", size_text(low)),
        Kept::First([low, high]) => {
            format!("it has between {} and {}", size_text(low), size_text(high))
        }
        Kept::Last => {
            let [kept, all] = [sectors.good, sectors.good.saturating_add(sectors.bad())]
                .map(|sectors| size_text(sectors.saturating_mul(SECTOR_BYTES)));
            format!("it holds {kept} of {all} that were written")
        }
    };
    let (says, lost) = (says(declared), sectors.list());
    Some(format!("{IS_FAKE} {says}, {has}. The rest is lost without an error: {lost} sectors."))
}

/// Parts that were to be read back.
fn planned_parts(record: &Record) -> usize {
    record
        .plan
        .iter()
        .filter(|cell| cell.test == test::VERIFY && cell.params.form.as_deref() == Some("read"))
        .count()
}
