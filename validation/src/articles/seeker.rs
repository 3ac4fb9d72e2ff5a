//! What seeker does, as its article describes it, and IOTest with several processes: 512 bytes at
//! uniformly random places of a device, for a time; then the line that seeker prints.

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::fs::OFlags;
use stats::Random;

/// Bytes of a read.
const BLOCK: usize = 512;

/// What is read, and for how long.
#[derive(clap::Args)]
pub struct Seeks {
    device: PathBuf,
    seconds: u64,
    /// One thread reads through the page cache, as seeker does; several go past it.
    threads: u64,
}

/// Reads, and prints the number of reads a second.
///
/// # Errors
/// If a read fails.
pub fn seek(flags: &Seeks) -> Result<()> {
    let time = Duration::from_secs(flags.seconds);
    let seeks = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..flags.threads)
            .map(|seed| scope.spawn(move || of_thread(flags, time, seed)))
            .collect();
        let counts = threads.into_iter().map(|it| it.join().ok().context("a thread panicked")?);
        counts.sum::<Result<u64>>()
    })?;
    let rate = seeks as f64 / time.as_secs_f64();
    println!("Results: {rate:.0} seeks/second, {:.2} ms random access time", 1e3 / rate);
    Ok(())
}

fn of_thread(flags: &Seeks, time: Duration, seed: u64) -> Result<u64> {
    let direct = if flags.threads > 1 { OFlags::DIRECT.bits() as i32 } else { 0 };
    let device = OpenOptions::new().read(true).custom_flags(direct).open(&flags.device)?;
    let blocks = rustix::fs::seek(&device, rustix::fs::SeekFrom::End(0))? / BLOCK as u64;
    let mut memory = vec![0; 2 * BLOCK];
    let start = memory.as_ptr().align_offset(BLOCK);
    let buffer = &mut memory[start..start + BLOCK];
    let (mut random, begun) = (Random::new(seed), Instant::now());
    let mut count = 0;
    while begun.elapsed() < time {
        device.read_exact_at(buffer, random.below(blocks) * BLOCK as u64)?;
        count += 1;
    }
    Ok(count)
}
