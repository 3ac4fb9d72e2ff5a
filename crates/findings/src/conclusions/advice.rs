//! Advice: partition alignment, file system, scheduler, reserve, trim, place of logs. Commands are
//! printed, never run, and name no device: the reader replaces `/dev/DEVICE`, so that a published
//! page formats nobody's disk.

use record::units::{GIB, KIB, MIB};
use record::{Finding, MediumKind, Record};

use crate::conclusions::geometry;
use crate::conclusions::health::wear::WearEstimate;
use crate::figures::Figures;
use crate::figures::figure::{UsableEstimate, size};
use crate::finding_builder::FindingBuilder;
use record::figures::DISK_IOPS;

/// Placeholders in commands for the medium and its first partition.
const DEVICE: &str = "/dev/DEVICE";
const PARTITION: &str = "/dev/DEVICE-PARTITION";

/// All advice that the record supports, each as a finding of its own. Empty without any figure of
/// random writes, as then nothing is known.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    let Some(writes) = Figures::of(record).weaker_small_write() else { return Vec::new() };
    let slow = writes.value < DISK_IOPS && record.medium.rotational != Some(true);
    let mut findings: Vec<Finding> = [alignment(record)].into_iter().flatten().collect();
    if slow {
        findings.extend(
            [file_system(record, &writes), logs(record, &writes), reserve(record, &writes)]
                .into_iter()
                .flatten(),
        );
    }
    findings.extend([scheduler(record, &writes), trim(record)].into_iter().flatten());
    findings
}

/// Alignment of partitions: to multiples of the measured or declared allocation unit, and of 1 MiB.
fn alignment(record: &Record) -> Option<Finding> {
    let Some(au) = geometry::au_bytes(record) else { return Some(unaligned()) };
    let align = aligned(au);
    let begins =
        record.target.filesystem.as_ref().and_then(|filesystem| filesystem.partition_offset_bytes);
    let whole = size(align);
    let command =
        format!("parted -s -a none {DEVICE} mklabel gpt mkpart data {}MiB 100%", align / MIB);
    let why = format!(
        "An erase block (allocation unit) is {}; a partition that starts inside one shares it with its neighbour.",
        size(au)
    );
    Some(
        match begins {
            Some(offset) if !offset.is_multiple_of(au) => FindingBuilder::warning(
                "advice-alignment",
                format!("{why} This partition starts at {}, {} into an erase block: create it anew at {whole}.", size(offset), size(offset % au)),
            ),
            Some(offset) => FindingBuilder::info(
                "advice-alignment",
                format!("The partition starts at {}, aligned to the erase block of {}, as it should.", size(offset), size(au)),
            ),
            None => FindingBuilder::info("advice-alignment", format!("Start partitions at multiples of {whole}. {why}")),
        }
        .note(format!("command (erases everything): {command}"))
        .note("docs/field/allocation-units.md#known-sizes")
        .done(),
    )
}

/// The smallest multiple of an allocation unit that is whole MiB.
fn aligned(au_bytes: u64) -> u64 {
    let multiples = (1..=MIB / (16 * KIB)).filter_map(|times| au_bytes.checked_mul(times));
    multiples
        .into_iter()
        .find(|bytes| bytes.is_multiple_of(MIB))
        .unwrap_or(au_bytes.next_multiple_of(MIB))
}

/// Advice if no unit is known: it has no number.
fn unaligned() -> Finding {
    let statement = "Its erase block (allocation unit) was not found: start partitions at a multiple of the size that the maker states.";
    FindingBuilder::info("advice-alignment", statement)
        .note("docs/field/allocation-units.md#known-sizes")
        .done()
}

/// Size of an F2FS segment; a section is a number of segments.
const SEGMENT_BYTES: u64 = 2 * MIB;

/// The smallest section of whole segments and whole allocation units, in segments; `None` if there
/// is none of a usable size.
fn segments(au_bytes: u64) -> Option<u64> {
    let (mut a, mut b) = (au_bytes, SEGMENT_BYTES);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    let section_bytes = (au_bytes / a.max(1)).checked_mul(SEGMENT_BYTES)?;
    (au_bytes > 0 && section_bytes <= GIB).then_some(section_bytes / SEGMENT_BYTES)
}

/// File system and its options. Numbers that follow from the allocation unit are given only if it
/// is known.
fn file_system(record: &Record, writes: &UsableEstimate) -> Option<Finding> {
    let au = geometry::au_bytes(record);
    let statement = format!(
        "If a system must run on this medium: F2FS, which writes sequentially, or ext4 with its erase block set and rare commits. Random writes of {} reach only {}.",
        size(writes.cell.params.block_bytes?),
        writes.with_interval()
    );
    let draft = FindingBuilder::info("advice-file-system", statement).figure(writes);
    let draft = match au.and_then(|au| Some((au, segments(au)?))) {
        Some((au, sections)) => draft.note(format!("command (erases the partition): mkfs.f2fs -s {sections} {PARTITION}")).note(format!(
            "  why: sections of {} are whole erase blocks of {}, so cleaning copies no part of one; mount with -o noatime",
            size(sections * SEGMENT_BYTES),
            size(au)
        )),
        None => draft
            .note(format!("command (erases the partition): mkfs.f2fs {PARTITION}"))
            .note("  why: it writes sequentially; the erase block was not found, so the section size is left at its default"),
    };
    Some(
        ext4(record, au, draft)
            .note("command: mount -o noatime,commit=60 (a power cut loses the last minute)")
            .note("  why: reading a file then writes nothing, and metadata is written once a minute instead of every five seconds")
            .note("not measured here: flashmark matrix measures file systems and schedulers on the medium itself")
            .done(),
    )
}

/// Options of ext4 for the known page and allocation unit.
fn ext4(record: &Record, au: Option<u64>, draft: FindingBuilder) -> FindingBuilder {
    let page = geometry::page_bytes(record).filter(|page| page.is_multiple_of(4 * KIB));
    let au = au.filter(|au| au.is_multiple_of(4 * KIB));
    let options = [("stride", page), ("stripe_width", au)]
        .into_iter()
        .filter_map(|(name, bytes)| Some(format!("{name}={}", bytes? / 4096)));
    let options = ["discard".to_owned()].into_iter().chain(options).collect::<Vec<_>>().join(",");
    let known: Vec<String> = [page, au].into_iter().flatten().map(size).collect();
    let pieces = (!known.is_empty()).then(|| {
        let known = known.join(" and ");
        format!(
            "; it programs and erases in pieces of {known}, and the allocator then aligns to them"
        )
    });
    draft
        .note(format!("command (erases the partition): mkfs.ext4 -b 4096 -E {options} {PARTITION}"))
        .note(format!(
            "  why: discarded blocks are free to it again, where it takes discards{}",
            pieces.unwrap_or_default()
        ))
}

/// Place of logs and temporary files.
fn logs(record: &Record, writes: &UsableEstimate) -> Option<Finding> {
    let statement = "Keep logs and temporary files in memory or on another medium: each flushed line costs at least one random write.";
    Some(
        FindingBuilder::info("advice-logs", statement)
            .figure(writes)
            .note("line for /etc/fstab: tmpfs /var/log tmpfs nodev,nosuid,size=64M 0 0")
            .note("line for /etc/systemd/journald.conf: Storage=volatile")
            .note("line for /etc/fstab: tmpfs /tmp tmpfs nodev,nosuid,size=128M 0 0")
            .notes(
                WearEstimate::of(record)
                    .map(|wear| format!("wear by small writes: this run {}", wear.text())),
            )
            .done(),
    )
}

/// Advice to leave space unused, which the controller needs for garbage collection.
fn reserve(record: &Record, writes: &UsableEstimate) -> Option<Finding> {
    let capacity = record.medium.capacity_bytes.filter(|bytes| *bytes >= GIB)?;
    let kind = matches!(
        record.medium.kind,
        MediumKind::Ssd
            | MediumKind::Nvme
            | MediumKind::Emmc
            | MediumKind::Simulated
            | MediumKind::Sd
            | MediumKind::Usb
    );
    let discards = record
        .target
        .queue
        .as_ref()
        .and_then(|queue| queue.discard_granularity_bytes)
        .is_some_and(|bytes| bytes > 0);
    // If the unit is not known, ends on whole MiB claim nothing about it.
    let known = geometry::au_bytes(record).map(aligned);
    let align = known.unwrap_or(MIB);
    let end = capacity / 10 * 9 / align * align / MIB;
    let unknown = known
        .is_none()
        .then(|| "its erase block was not found, so the ends may not be aligned to one".to_owned());
    let has_room = end > align / MIB;
    (kind && discards && has_room).then(|| {
        FindingBuilder::info(
            "advice-reserve",
            "Leave a tenth of it unpartitioned and discard that part once: the controller then has free erase blocks to write to.",
        )
        .figure(writes)
        .note(format!("command (erases everything): blkdiscard {DEVICE}"))
        .note(format!("command (erases everything): parted -s -a none {DEVICE} mklabel gpt mkpart data {}MiB {end}MiB", align / MIB))
        .notes(unknown)
        .done()
    })
}

/// `advice-scheduler`: bfq for a medium that stalls, none for one that is fast.
fn scheduler(record: &Record, writes: &UsableEstimate) -> Option<Finding> {
    let queue = record.target.queue.as_ref()?;
    let now = queue.scheduler.as_deref()?;
    let offered = |name: &str| queue.schedulers.iter().any(|scheduler| scheduler == name);
    let stalls = crate::conclusions::speed::stalls::longest_small_writes(record)
        .and_then(|stalls| stalls.lasting())
        .is_some_and(|third| third.ns > 100_000_000);
    let (better, why) = if stalls && offered("bfq") {
        ("bfq", "single writes stall for long, and bfq lets reads go first")
    } else if !stalls && writes.value > 10_000.0 && offered("none") {
        ("none", "the medium answers faster than a scheduler can sort")
    } else {
        return None;
    };
    (now != better).then(|| {
        FindingBuilder::info(
            "advice-scheduler",
            format!("Try the scheduler {better} instead of {now}: {why}."),
        )
        .figure(writes)
        .note(format!("command: echo {better} > /sys/block/DEVICE/queue/scheduler"))
        .note("not measured here: flashmark matrix measures schedulers on the medium itself")
        .done()
    })
}

/// Advice to tell the medium about unused blocks.
fn trim(record: &Record) -> Option<Finding> {
    let granularity = record.target.queue.as_ref()?.discard_granularity_bytes?;
    if record.medium.rotational == Some(true) {
        return None;
    }
    Some(if granularity > 0 {
        FindingBuilder::info(
            "advice-trim",
            "It accepts discards: let the system trim it once a week, so that the controller does not copy deleted data.",
        )
        .note(format!("discard granularity {}", size(granularity)))
        .note("command: systemctl enable --now fstrim.timer")
        .note("command: fstrim -v /MOUNT-POINT")
        .done()
    } else {
        FindingBuilder::info("advice-trim", "It accepts no discards here: deleted data stays in use for its controller. In another reader the same card may accept them.").done()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Partitions begin at whole MiB of erase blocks, sections of F2FS are whole ones.
    #[test]
    fn what_is_advised_is_whole_erase_blocks() {
        for (au, begins, section) in [
            (16 * KIB, MIB, 1),
            (48 * KIB, 3 * MIB, 3),
            (512 * KIB, MIB, 1),
            (MIB, MIB, 1),
            (1536 * KIB, 3 * MIB, 3),
            (2 * MIB, 2 * MIB, 1),
            (3 * MIB, 3 * MIB, 3),
            (4 * MIB, 4 * MIB, 2),
            (6 * MIB, 6 * MIB, 3),
            (8 * MIB, 8 * MIB, 4),
            (24 * MIB, 24 * MIB, 12),
        ] {
            assert_eq!((aligned(au), segments(au)), (begins, Some(section)), "{au}");
        }
        // No multiple that is small enough.
        assert_eq!(aligned(MIB / 2 + 512), MIB);
        assert_eq!((segments(0), segments(GIB + 1)), (None, None));
    }
}
