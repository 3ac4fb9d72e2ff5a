//! Program that loads the processors and the disk in bursts, beside a measurement.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;
use stats::Random;

/// Shortest and longest time of bursts and of the pauses between them, in milliseconds.
const LASTS_MS: [u64; 2] = [200, 3000];
/// Bytes of each write to the disk; each is synced.
const PIECE_BYTES: usize = 4 << 20;
const FILE_PIECES: u64 = 16;

/// Running load; it ends when dropped.
pub struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts as many counting threads as there are processors, and one that writes a file in
    /// `directory` and syncs it; all in bursts.
    pub fn begin(directory: &Path, seed: u64) -> Result<Load> {
        let file = tempfile::tempfile_in(directory)?;
        let mut load = Load { stop: Arc::new(AtomicBool::new(false)), threads: Vec::new() };
        let is_on = Arc::new(AtomicBool::new(false));
        for _ in 0..thread::available_parallelism()?.get() {
            load.add(&is_on, count);
        }
        let mut piece = 0;
        load.add(&is_on, move || write(&file, &mut piece));
        let stop = load.stop.clone();
        load.threads.push(thread::spawn(move || switch(&is_on, &stop, seed)));
        Ok(load)
    }

    /// Starts a thread that repeats `work` while a burst is on.
    fn add(&mut self, is_on: &Arc<AtomicBool>, mut work: impl FnMut() + Send + 'static) {
        let (stop, is_on) = (self.stop.clone(), is_on.clone());
        self.threads.push(thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                if is_on.load(Ordering::Relaxed) {
                    work()
                } else {
                    thread::sleep(Duration::from_millis(2))
                }
            }
        }));
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                eprintln!("a thread of the load has panicked");
            }
        }
    }
}

/// Keeps a processor busy for a millisecond.
fn count() {
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1) {
        std::hint::black_box(
            (0..1000u64).fold(0, |sum: u64, number| sum.wrapping_mul(31) ^ number),
        );
    }
}

fn write(file: &File, piece: &mut u64) {
    let data = vec![*piece as u8; PIECE_BYTES];
    // A full disk does not matter to the load: it goes on.
    let _ = file
        .write_all_at(&data, *piece % FILE_PIECES * PIECE_BYTES as u64)
        .and_then(|()| file.sync_data());
    *piece += 1;
}

/// Turns the bursts on and off.
fn switch(is_on: &AtomicBool, stop: &AtomicBool, seed: u64) {
    let mut random = Random::for_purpose(seed, "bursts");
    while !stop.load(Ordering::Relaxed) {
        is_on.fetch_not(Ordering::Relaxed);
        let ends = Instant::now()
            + Duration::from_millis(LASTS_MS[0] + random.below(LASTS_MS[1] - LASTS_MS[0]));
        while Instant::now() < ends && !stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
    }
    is_on.store(false, Ordering::Relaxed);
}
