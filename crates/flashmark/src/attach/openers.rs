//! Who has a block device open without holding it: the kernel tells only by the files of each
//! process.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// The first process, other than this one, that has the device or a partition of it open: "dd
/// (process 812)". Processes that this one cannot see are missed.
pub fn of(node: &Path) -> Option<String> {
    let numbers = numbers(node);
    let processes = fs::read_dir("/proc")
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let others = processes.filter(|process| *process != std::process::id());
    others.into_iter().find(|process| has_open(*process, &numbers)).map(words)
}

/// Device numbers of a disk and of its partitions.
fn numbers(node: &Path) -> BTreeSet<u64> {
    let of_disk = fs::metadata(node).map(|metadata| metadata.rdev());
    let name = node.file_name().unwrap_or_default();
    let parts = fs::read_dir(Path::new("/sys/block").join(name)).into_iter().flatten().flatten();
    let nodes = parts
        .filter(|part| part.path().join("partition").exists())
        .map(|part| Path::new("/dev").join(part.file_name()));
    let of_parts = nodes.filter_map(|part| fs::metadata(part).ok()).map(|metadata| metadata.rdev());
    of_disk.into_iter().chain(of_parts).collect()
}

fn has_open(process: u32, numbers: &BTreeSet<u64>) -> bool {
    let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let mut found = files.filter_map(|file| fs::metadata(file.path()).ok());
    found.any(|metadata| {
        metadata.file_type().is_block_device() && numbers.contains(&metadata.rdev())
    })
}

fn words(process: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    format!("{} (process {process})", report::words::clean(name.trim()))
}
