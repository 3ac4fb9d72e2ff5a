//! What to do about it: partition alignment, file system, scheduler, reserve, trim, where logs go. Commands are printed, never run, and name
//! no device: `/dev/DEVICE` is for the reader to fill in, so that a published page formats nobody's disk.

use record::units::{GIB, KIB, MIB};
use record::{Finding, MediumKind, Record};

use crate::draft::Draft;
use crate::figure::{self, Figure, size};
use crate::geometry;
use crate::verdict::DISK_IOPS;
use crate::wear::Wear;

/// Where a command names the medium and its first partition.
const DEVICE: &str = "/dev/DEVICE";
const PARTITION: &str = "/dev/DEVICE-PARTITION";

/// All advice that the record supports, each a finding of its own. Without any figure of random writes there is none: nothing is known.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    let Some(writes) = weaker_write(record) else { return Vec::new() };
    let slow = writes.value < DISK_IOPS && record.medium.rotational != Some(true);
    let mut findings: Vec<Finding> = [alignment(record)].into_iter().flatten().collect();
    if slow {
        findings.extend([file_system(record, &writes), logs(record, &writes), reserve(record, &writes)].into_iter().flatten());
    }
    findings.extend([scheduler(record, &writes), trim(record)].into_iter().flatten());
    findings
}

/// The weaker of random writes of 4 and 16 KiB.
fn weaker_write(record: &Record) -> Option<Figure<'_>> {
    [4 * KIB, 16 * KIB].into_iter().filter_map(|block| figure::random_write(record, block)).min_by(|a, b| a.value.total_cmp(&b.value))
}

/// Where partitions should begin: at a multiple of the allocation unit, measured or declared, and of 1 MiB.
fn alignment(record: &Record) -> Option<Finding> {
    let au = geometry::au_bytes(record)?;
    let mut align = au.max(MIB);
    while !align.is_multiple_of(MIB) {
        align = align.checked_mul(2)?;
    }
    let begins = record.target.filesystem.as_ref().and_then(|filesystem| filesystem.partition_offset_bytes);
    let whole = size(align);
    let command = format!("parted -s -a none {DEVICE} mklabel gpt mkpart data {}MiB 100%", align / MIB);
    let why = format!("An allocation unit is {}; a partition that begins inside one shares it with what is before.", size(au));
    Some(
        match begins {
            Some(offset) if !offset.is_multiple_of(au) => Draft::warning(
                "advice-alignment",
                format!("{why} This one begins at {}, {} into a unit: make it anew at {whole}.", size(offset), size(offset % au)),
            ),
            Some(offset) => Draft::info(
                "advice-alignment",
                format!("The partition begins at {}, at the edge of an allocation unit of {}, as it should.", size(offset), size(au)),
            ),
            None => Draft::info("advice-alignment", format!("Let partitions begin at multiples of {whole}. {why}")),
        }
        .note(format!("command (erases everything): {command}"))
        .note("flash.md B2")
        .done(),
    )
}

/// Which file system, with which options.
fn file_system(record: &Record, writes: &Figure) -> Option<Finding> {
    let au = geometry::au_bytes(record).unwrap_or(4 * MIB);
    let unit = geometry::page_bytes(record).unwrap_or(16 * KIB).max(4 * KIB);
    let sections = (au.div_ceil(2 * MIB)).next_power_of_two();
    let statement = format!(
        "For a system on this medium use a file system that writes in sequence (F2FS), or ext4 told of its units and committing seldom: it does {} out of sequence.",
        writes.text()
    );
    Some(
        Draft::info("advice-file-system", statement)
            .figure(writes)
            .note(format!("command (erases the partition): mkfs.f2fs -s {sections} {PARTITION}"))
            .note(format!(
                "  why: sections of {} are whole allocation units, so cleaning copies none in part; mount with -o noatime",
                size(sections * 2 * MIB)
            ))
            .note(format!(
                "command (erases the partition): mkfs.ext4 -b 4096 -E stride={},stripe_width={} {PARTITION}",
                unit / 4096,
                au / 4096
            ))
            .note(format!(
                "  why: {} and {} are the pieces it programs and manages; the allocator then keeps to them",
                size(unit),
                size(au)
            ))
            .note("command: mount -o noatime,commit=60 (the last minute is lost when the power goes)")
            .note("  why: reading a file then writes nothing, and metadata is written once a minute rather than every five seconds")
            .note("not measured here: flashmark matrix measures file systems and schedulers on the medium itself")
            .done(),
    )
}

/// Where logs and temporary files go.
fn logs(record: &Record, writes: &Figure) -> Option<Finding> {
    let statement =
        "Keep logs and temporary files in memory or on another medium: each line written and flushed costs a random write or more.";
    Some(
        Draft::info("advice-logs", statement)
            .figure(writes)
            .note("line for /etc/fstab: tmpfs /var/log tmpfs nodev,nosuid,size=64M 0 0")
            .note("line for /etc/systemd/journald.conf: Storage=volatile")
            .note("line for /etc/fstab: tmpfs /tmp tmpfs nodev,nosuid,size=128M 0 0")
            .notes(Wear::of(record).map(|wear| format!("what small writes wear: this run {}", wear.text())))
            .done(),
    )
}

/// Space left unused gives the controller room to collect.
fn reserve(record: &Record, writes: &Figure) -> Option<Finding> {
    let capacity = record.medium.capacity_bytes.filter(|bytes| *bytes >= GIB)?;
    let kind = matches!(
        record.medium.kind,
        MediumKind::Ssd | MediumKind::Nvme | MediumKind::Emmc | MediumKind::Simulated | MediumKind::Sd | MediumKind::Usb
    );
    let discards = record.target.queue.as_ref().and_then(|queue| queue.discard_granularity_bytes).is_some_and(|bytes| bytes > 0);
    let au = geometry::au_bytes(record).unwrap_or(4 * MIB).max(MIB);
    let end = capacity / 10 * 9 / au * au / MIB;
    (kind && discards).then(|| {
        Draft::info(
            "advice-reserve",
            "Leave a tenth of it without a partition, and discard that part once: the controller then has free units to write to.",
        )
        .figure(writes)
        .note(format!("command (erases everything): blkdiscard {DEVICE}"))
        .note(format!("command (erases everything): parted -s -a none {DEVICE} mklabel gpt mkpart data {}MiB {end}MiB", (au / MIB).max(1)))
        .done()
    })
}

/// The scheduler.
fn scheduler(record: &Record, writes: &Figure) -> Option<Finding> {
    let queue = record.target.queue.as_ref()?;
    let now = queue.scheduler.as_deref()?;
    let offered = |name: &str| queue.schedulers.iter().any(|scheduler| scheduler == name);
    let stalls = crate::stalls::worst(record, 64 * KIB).is_some_and(|worst| worst.ns > 100_000_000);
    let (better, why) = if stalls && offered("bfq") {
        ("bfq", "single writes stall for long, and bfq lets reads go first meanwhile")
    } else if !stalls && writes.value > 10_000.0 && offered("none") {
        ("none", "the medium answers faster than a scheduler can sort")
    } else {
        return None;
    };
    (now != better).then(|| {
        Draft::info("advice-scheduler", format!("Try the scheduler {better} instead of {now}: {why}."))
            .figure(writes)
            .note(format!("command: echo {better} > /sys/block/DEVICE/queue/scheduler"))
            .note("not measured here: flashmark matrix measures schedulers on the medium itself")
            .done()
    })
}

/// Telling the medium what is free.
fn trim(record: &Record) -> Option<Finding> {
    let granularity = record.target.queue.as_ref()?.discard_granularity_bytes?;
    if record.medium.rotational == Some(true) {
        return None;
    }
    Some(if granularity > 0 {
        Draft::info(
            "advice-trim",
            "It takes discards: let the system trim once a week, so that the controller need not copy what was deleted.",
        )
        .note(format!("discard granularity {}", size(granularity)))
        .note("command: systemctl enable --now fstrim.timer")
        .note("command: fstrim -v /MOUNT-POINT")
        .done()
    } else {
        Draft::info("advice-trim", "It takes no discards here: what was deleted stays occupied for its controller. Where the same card sits in another reader it may take them.").done()
    })
}
