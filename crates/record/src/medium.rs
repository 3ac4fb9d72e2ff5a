//! Medium, host and target of a measurement. Unknown values are null, never guessed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, significant};

macro_rules! data {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident : $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
    };
}

crate::named! {
/// Kind of a medium.
MediumKind {
    /// SD or microSD card in a host slot.
    Sd = "sd",
    /// eMMC chip or module, on an MMC bus.
    Emmc = "emmc",
    /// USB stick, or a card behind a USB reader.
    Usb = "usb",
    /// CompactFlash or another ATA flash module.
    CompactFlash = "compact-flash",
    /// SATA solid state disk.
    Ssd = "ssd",
    /// NVMe solid state disk.
    Nvme = "nvme",
    /// Hard disk with turning platters.
    Disk = "disk",
    /// Virtual disk of a virtual machine.
    Virtual = "virtual",
    /// Loop device over a file.
    Loop = "loop",
    /// Simulated medium, made from a profile.
    Simulated = "simulated",
    /// Kind that could not be determined.
    #[default]
    Unknown = "unknown",
}
}

impl MediumKind {
    /// Name for people.
    pub const fn words(self) -> &'static str {
        match self {
            MediumKind::Sd => "SD card",
            MediumKind::Emmc => "eMMC",
            MediumKind::Usb => "USB medium",
            MediumKind::CompactFlash => "CompactFlash card",
            MediumKind::Ssd => "SSD",
            MediumKind::Nvme => "NVMe SSD",
            MediumKind::Disk => "disk",
            MediumKind::Virtual => "virtual disk",
            MediumKind::Loop => "loop device",
            MediumKind::Simulated => "simulated medium",
            MediumKind::Unknown => "medium",
        }
    }
}

data! {
/// Claims of the box or the registers.
Claims {
    /// Capacity in bytes as printed.
    capacity_bytes: Option<u64>,
    /// Speed class C2 to C10.
    speed_class: Option<u32>,
    /// UHS speed grade U1, U3.
    uhs_grade: Option<u32>,
    /// Video speed class V6 to V90.
    video_class: Option<u32>,
    /// Application performance class A1, A2.
    app_class: Option<u32>,
    /// Sequential read in bytes a second.
    read_bps: Option<f64>,
    /// Sequential write in bytes a second.
    write_bps: Option<f64>,
    /// Random reads of 4 KiB a second, one at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    random_read_iops: Option<f64>,
    /// Random writes of 4 KiB a second, one at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    random_write_iops: Option<f64>,
    /// Time in nanoseconds that 99 of 100 of these writes do not exceed.
    #[serde(skip_serializing_if = "Option::is_none")]
    write_p99_ns: Option<u64>,
    /// Time in nanoseconds that none of these writes exceeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    write_max_ns: Option<u64>,
}}

data! {
/// Speed classes in the SD status register (docs/field/identity.md#registers).
SpeedClasses {
    /// SPEED_CLASS, as 2, 4, 6, 10.
    speed_class: Option<u32>,
    /// UHS_SPEED_GRADE, such as 1 or 3; null where it is 0.
    uhs_grade: Option<u32>,
    /// VIDEO_SPEED, such as 6 or 90; null where it is 0.
    video_class: Option<u32>,
    /// APP_PERF_CLASS: 1 for A1, 2 for A2; null where it is 0.
    app_class: Option<u32>,
    /// AU_SIZE, decoded to bytes; null where it is not defined.
    au_bytes: Option<u64>,
    /// UHS_AU_SIZE, decoded to bytes; null where it is not defined.
    uhs_au_bytes: Option<u64>,
}}

data! {
/// Health as the medium reports it.
Health {
    /// Share of the rated life used, in percent (eMMC life time A/B as the upper end of its 10 %
    /// step; NVMe percentage used).
    used_percent: Option<f64>,
    /// eMMC PRE_EOL_INFO: 1 normal, 2 80 % of the reserve used, 3 urgent.
    pre_eol: Option<u32>,
    /// Bytes the host has written in its life.
    written_bytes: Option<u64>,
    /// Media errors that an NVMe disk has counted in its life.
    media_errors: Option<u64>,
    /// Source of these values ("sysfs", "smartctl 7.3").
    source: Option<String>,
}}

impl Health {
    /// What it says, a phrase each: "3 % of the rated life used", "2 media errors".
    pub fn words(&self) -> Vec<String> {
        let used = self.used_percent.filter(|used| used.is_finite());
        let used = used.map(|used| format!("{} % of the rated life used", significant(used)));
        let state =
            |state| format!("spare blocks: state {state} (1 normal, 2 80 % used, 3 urgent)");
        let written = |bytes| format!("{} written in its life", Bytes(bytes));
        let errors = |errors| format!("{errors} media errors");
        let all = [used, self.pre_eol.map(state), self.written_bytes.map(written)];
        all.into_iter().chain([self.media_errors.map(errors)]).flatten().collect()
    }
}

data! {
/// The thing under test.
Medium {
    /// Kind of medium.
    kind: MediumKind,
    /// Maker, as the medium reports it.
    vendor: Option<String>,
    /// Model or product name.
    model: Option<String>,
    /// Firmware revision, as the medium reports it.
    firmware: Option<String>,
    /// Serial number (never published).
    serial: Option<String>,
    /// Size in bytes, as the medium announces it.
    capacity_bytes: Option<u64>,
    /// "mmc", "usb", "ata", "nvme", "scsi", "virtio", "loop", "sim".
    interface: Option<String>,
    /// SD or MMC card identification register, hex (holds the serial number; never published).
    cid: Option<String>,
    /// Card specific data register, hex.
    csd: Option<String>,
    /// SD configuration register, hex.
    scr: Option<String>,
    /// SD status register, hex.
    ssr: Option<String>,
    /// Manufacturer id of the CID, with its usual name.
    manufacturer: Option<String>,
    /// OEM id of the CID as text.
    oem: Option<String>,
    /// Month of manufacture, "2019-07".
    made: Option<String>,
    /// Allocation unit in bytes as the registers declare it.
    au_bytes: Option<u64>,
    /// Speed classes as the registers declare them.
    classes: Option<SpeedClasses>,
    /// The card sits behind a reader that hides its registers; identity is the reader's.
    behind_reader: Option<bool>,
    /// True if it has turning platters; null if unknown.
    rotational: Option<bool>,
    /// True if it can be taken out.
    removable: Option<bool>,
    /// Stable names under /dev/disk/by-id (hold the serial number; never published).
    by_id: Vec<String>,
    /// Claims of the box, as the user gives them.
    claims: Option<Claims>,
    /// Health before the run.
    health: Option<Health>,
    /// Health after the run.
    health_after: Option<Health>,
    /// Name of the simulated profile, for a simulated medium.
    profile: Option<String>,
}}

impl Medium {
    /// Its health after the run, or before it.
    pub fn last_health(&self) -> Option<&Health> {
        self.health_after.as_ref().or(self.health.as_ref())
    }
}

data! {
/// Attachment of the medium.
Link {
    /// "usb-storage", "uas", "sdhci-iproc", "ahci", "nvme", "virtio_blk".
    driver: Option<String>,
    /// Bus mode in words: "sd uhs SDR104, 4 bit, 200 MHz", "480 Mbit/s".
    mode: Option<String>,
    /// Most that the link can transfer, in bytes a second, if known.
    max_bps: Option<f64>,
    /// USB vendor and product id, "0781:5580".
    usb_id: Option<String>,
    /// USB manufacturer and product strings.
    usb_name: Option<String>,
    /// Number of commands that the device takes at once.
    queue_depth: Option<u32>,
    /// True if command queueing of an SD or MMC card is on.
    command_queue: Option<bool>,
}}

data! {
/// Limits of the block layer queue (docs/field/linux-io.md#queue-attributes).
Queue {
    /// I/O scheduler in use, such as "mq-deadline" or "none".
    scheduler: Option<String>,
    /// I/O schedulers that the kernel offers for the device.
    schedulers: Vec<String>,
    /// Number of requests that may wait.
    nr_requests: Option<u64>,
    /// Largest command that is sent now, in KiB.
    max_sectors_kb: Option<u64>,
    /// Largest command that the hardware takes, in KiB.
    max_hw_sectors_kb: Option<u64>,
    /// Smallest unit that can be addressed, in bytes.
    logical_block_bytes: Option<u64>,
    /// Unit without read-modify-write, as declared.
    physical_block_bytes: Option<u64>,
    /// Smallest I/O that the device declares to be efficient, in bytes.
    minimum_io_bytes: Option<u64>,
    /// Size of I/O that the device declares to be best, in bytes; 0 where it declares none.
    optimal_io_bytes: Option<u64>,
    /// Discard granularity in bytes; 0 if there is none.
    discard_granularity_bytes: Option<u64>,
    /// "write back" or "write through".
    write_cache: Option<String>,
    /// True if it takes writes with forced unit access, which are durable without a flush.
    fua: Option<bool>,
    /// Read-ahead of the kernel through the page cache, in KiB.
    read_ahead_kb: Option<u64>,
    /// Merging of requests: 0 as usual, 1 simple merges only, 2 none.
    nomerges: Option<u64>,
    /// Latency target of write throttling, in microseconds.
    wbt_lat_usec: Option<i64>,
    /// Zone model: "none", "host-aware" or "host-managed".
    zoned: Option<String>,
}}

data! {
/// File system of a directory or file.
Filesystem {
    /// Type of the file system: "ext4", "xfs", "vfat".
    kind: Option<String>,
    /// Options of mount and file system, separated by commas.
    options: Option<String>,
    /// Mounted device, such as "/dev/sda1".
    source: Option<String>,
    /// Size of the file system in bytes.
    size_bytes: Option<u64>,
    /// Free space for this user, in bytes.
    free_bytes: Option<u64>,
    /// Offset of the partition on the medium, in bytes.
    partition_offset_bytes: Option<u64>,
}}

/// Kind of the target that the user named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A directory: a test file is made in it.
    #[default]
    Directory,
    /// A regular file: I/O goes to the file itself.
    File,
    /// A block device: a whole medium or a partition.
    Block,
    /// A simulated medium, named as `sim:PROFILE`.
    Simulated,
}

data! {
/// A medium of which only a partition is the target.
WholeMedium {
    /// Its kernel name ("mmcblk0", "sda").
    device: String,
    /// Its size in bytes, as declared.
    capacity_bytes: u64,
}}

data! {
/// The way to the medium.
Target {
    /// Kind of the target: a directory, a file, a block device or a simulated medium.
    kind: TargetKind,
    /// Target as the user named it (never published).
    path: String,
    /// The whole medium, where a partition of it was named.
    part_of: Option<WholeMedium>,
    /// Kernel name of the block device below ("mmcblk0", "sda").
    device: Option<String>,
    /// Major and minor number of that block device, such as "179:0".
    device_number: Option<String>,
    /// Kernel's disk sequence number: another medium in the same slot has another one.
    diskseq: Option<u64>,
    /// File system of the target, if it is on one.
    filesystem: Option<Filesystem>,
    /// Block queue of that block device.
    queue: Option<Queue>,
    /// Attachment of the medium.
    link: Option<Link>,
    /// "io_uring", "pread/pwrite", "virtual time".
    engine: Option<String>,
    /// File behind a loop device, and the way it is read: directly or not (path never published).
    backing: Option<String>,
}}

data! {
/// Values of one thermometer at the start and at the end of a run.
Temperature {
    /// Name of the thermometer, such as "cpu-thermal".
    sensor: String,
    /// Temperature at the start, in degrees Celsius.
    start_celsius: Option<f64>,
    /// Temperature at the end, in degrees Celsius.
    end_celsius: Option<f64>,
}}

data! {
/// The machine that measured (docs/field/identity.md#host-facts).
Host {
    /// Release of the kernel, as `uname -r` prints it.
    kernel: Option<String>,
    /// Number by which this program recognises the machine, made from its serial number or its
    /// /etc/machine-id: 32 hexadecimal digits. It is never published.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Architecture of the processor: "x86_64", "aarch64".
    arch: Option<String>,
    /// Board or product name.
    board: Option<String>,
    /// Model of the processor, from /proc/cpuinfo.
    cpu: Option<String>,
    /// Number of processors that are online.
    cpus: Option<u32>,
    /// Frequency governor of the first processor, such as "ondemand".
    governor: Option<String>,
    /// Frequency limits in kHz.
    cpu_khz: Option<[u64; 2]>,
    /// Memory that the kernel has, in bytes.
    memory_bytes: Option<u64>,
    /// Rate of a copy in memory, measured at the start, in bytes a second.
    memory_bps: Option<f64>,
    /// Load average over one minute at the start.
    load: Option<f64>,
    /// Clock source of the kernel, such as "tsc".
    clocksource: Option<String>,
    /// Name of the hypervisor, "none" if there is none; null if unknown.
    virtualised: Option<String>,
    /// Kernel command line words that matter for storage.
    kernel_options: Vec<String>,
    /// Writeback limits: name to value.
    vm: BTreeMap<String, u64>,
    /// Throttling that was seen (Raspberry Pi firmware flags).
    throttled: Option<String>,
    /// All thermometers of the machine, read at the start and at the end.
    temperatures: Vec<Temperature>,
}}
