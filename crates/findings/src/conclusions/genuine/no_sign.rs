//! "No sign of a fake": what a probe of the capacity wrote and read back, what it cannot see, and the
//! test that is certain.

use record::collection::HeadlineFigure;
use record::text::printable;
use record::units::{Bytes, decimal};
use record::{Cell, Record, TargetKind, metric, test};

use crate::figures::Figures;
use crate::figures::genuineness::{Marks, capacity_verdict};
use crate::figures::sectors::number;

fn bytes(cell: &Cell, name: &str) -> Option<u64> {
    number(cell, name).map(|bytes| bytes as u64)
}

/// What a probe found, as a sentence, and what it cannot see.
pub(crate) fn statement(record: &Record, probe: &Cell) -> String {
    let lead = match record.target.part_of {
        Some(_) => "This partition keeps what is written",
        None => "No sign of a fake",
    };
    format!("{lead}: {} {}", seen(record, probe), unseen(probe))
}

/// "70.0 MB were written and 36.7 MB read back at 280 places of its 32 GiB."
fn seen(record: &Record, probe: &Cell) -> String {
    let size = record.medium.capacity_bytes.or(probe.params.span_bytes);
    let size = size.map_or("capacity".into(), |bytes| Bytes(bytes).to_string());
    let amounts =
        [metric::PROBE_WRITTEN_BYTES, metric::PROBE_READ_BYTES].map(|of| bytes(probe, of));
    match (amounts, Marks::of(probe).all) {
        ([Some(written), Some(read)], places) => format!(
            "{} were written and {} read back at {places} places of its {size}.",
            decimal(written),
            decimal(read)
        ),
        (_, 0) => format!("a probe of its {size} found nothing missing."),
        (_, places) => format!("{places} places of its {size} were read back as written."),
    }
}

/// What such a probe cannot see.
fn unseen(probe: &Cell) -> String {
    match bytes(probe, metric::FAR_BYTES).filter(|far| *far > 0) {
        Some(far) => format!(
            "A memory of up to {} beyond the end was looked for; a fake that stores what is written until it is full was not.",
            Bytes(far)
        ),
        None => "A memory of the controller, or a fake that stores what is written until it is full, was not looked for.".into(),
    }
}

/// The reason of this answer, with the test that is certain.
pub(crate) fn reason(record: &Record) -> String {
    let Some((probe, _)) = capacity_verdict(record) else { return String::new() };
    let time = time(record).map(|time| format!(" and takes {time}")).unwrap_or_default();
    let certain = match command(record) {
        Some(words) => format!("`flashmark {}`, which erases it{time}", words.join(" ")),
        None => format!("the test `verify`, which writes all of it{time}"),
    };
    format!("{} {} Certain only: {certain}.", seen(record, probe), unseen(probe))
}

/// Words of the command behind `flashmark` that writes and reads back all of a raw medium. `None` for
/// another target, and without a name of plain letters for `--erase`.
pub(crate) fn command(record: &Record) -> Option<Vec<String>> {
    let is_plain = |word: &&String| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
        !word.is_empty() && word.chars().all(is_plain)
    };
    let (medium, target) = (&record.medium, &record.target);
    let node = target.device.as_ref().map(|device| format!("/dev/{}", device.replace('!', "/")));
    let path = Some(&target.path).filter(is_plain)?;
    // A medium without a name of its own answers to its node (`host::InventoryEntry::ids_for`).
    let own = [&medium.cid, &medium.serial].into_iter().flatten().chain(&medium.by_id);
    let has_own = own.clone().next().is_some();
    let id = own.chain(node.as_ref().filter(|_| !has_own)).find(is_plain)?;
    let words = ["run", path, "--only", test::VERIFY, "--erase", id].map(str::to_owned);
    (target.kind == TargetKind::Block).then(|| words.to_vec())
}

/// "about 3 h": time to write, then read, all of it, at the rates of this run.
pub(crate) fn time(record: &Record) -> Option<String> {
    let rate = |wanted| Figures::of(record).sound(wanted).map(|figure| figure.value);
    let capacity = record.medium.capacity_bytes? as f64;
    let seconds = capacity / rate(HeadlineFigure::SequentialWrite)?
        + capacity / rate(HeadlineFigure::SequentialRead)?;
    Some(match seconds {
        0.0..5_400.0 => format!("about {:.0} min", (seconds / 60.0).ceil()),
        _ => format!("about {:.0} h", seconds / 3_600.0),
    })
}

/// "only a partition was tested, 699 MiB of 4 GiB; type `flashmark check /dev/sdb`." A partition of a
/// fake is as good as any while it lies within its flash.
pub(crate) fn of_a_partition(record: &Record) -> Option<String> {
    let whole = record.target.part_of.as_ref()?;
    let part =
        record.medium.capacity_bytes.map_or("a part".into(), |bytes| Bytes(bytes).to_string());
    Some(format!(
        "only a partition was tested, {part} of {}; type `flashmark check /dev/{}`.",
        Bytes(whole.capacity_bytes),
        printable(&whole.device)
    ))
}
