//! A disk that forgets what was not flushed when its power is cut.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use stats::Random;

use crate::failing::{Content, Mounted};

/// A disk with a cache that loses its contents when the power is cut: writes stay in memory until a
/// flush. Unmounted when dropped.
pub struct ForgetfulDisk {
    mounted: Mounted,
    cached: Arc<Mutex<Cached>>,
}

/// Durable content, and the writes since the last flush in their order.
struct Cached {
    safe: File,
    bytes: u64,
    unsafe_writes: Vec<(u64, Vec<u8>)>,
    power: Power,
}

/// State of the power of a [`ForgetfulDisk`].
#[derive(Clone, Copy, PartialEq)]
enum Power {
    On,
    /// Failing: the next flush does not end.
    Failing,
    /// In the flush that does not end.
    Flushing,
    Off,
}

impl ForgetfulDisk {
    /// Disk over a file, which holds the durable content.
    pub fn over(image: &Path, at: &Path) -> Option<ForgetfulDisk> {
        let safe = OpenOptions::new().read(true).write(true).open(image).unwrap();
        let bytes = safe.metadata().unwrap().len();
        let cached = Arc::new(Mutex::new(Cached {
            safe,
            bytes,
            unsafe_writes: Vec::new(),
            power: Power::On,
        }));
        Some(ForgetfulDisk {
            mounted: Mounted::serving(at, "fuse.forgetful", Forgetful(Arc::clone(&cached)))?,
            cached,
        })
    }

    /// The file.
    pub fn file(&self) -> PathBuf {
        self.mounted.file()
    }

    /// Begins a power failure: the next flush does not end, and every later request waits.
    pub fn fails(&self) {
        self.cached.lock().unwrap().power = Power::Failing;
    }

    /// True during the flush that does not end.
    pub fn is_flushing(&self) -> bool {
        self.cached.lock().unwrap().power == Power::Flushing
    }

    /// Cuts the power: some of the writes that were not flushed are on the disk, some in part, and
    /// the others are lost. Returns the number of writes lost in full or in part.
    pub fn goes_off(&self, chance: &mut Random) -> u64 {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.power = Power::Off;
        let (mut lost, kept_in_ten) = (0, chance.below(11));
        for (offset, data) in std::mem::take(&mut cached.unsafe_writes) {
            let torn = chance.below(4) == 0;
            let sectors = match chance.below(10) < kept_in_ten {
                true if torn => chance.below(data.len() as u64 / 512 + 1),
                true => data.len() as u64 / 512,
                false => 0,
            };
            let kept = sectors as usize * 512;
            lost += u64::from(kept < data.len());
            cached.safe.write_all_at(&data[..kept], offset).unwrap();
        }
        lost
    }
}

struct Forgetful(Arc<Mutex<Cached>>);

impl Content for Forgetful {
    fn size(&self) -> u64 {
        self.0.lock().unwrap().bytes
    }

    fn read(&mut self, offset: u64, bytes: u64) -> Result<Vec<u8>, Errno> {
        let cached = self.0.lock().unwrap();
        let end = (offset + bytes).min(cached.bytes);
        let mut read = vec![0; end.saturating_sub(offset) as usize];
        cached.safe.read_exact_at(&mut read, offset).map_err(|_| Errno::IO)?;
        for (at, data) in &cached.unsafe_writes {
            let (from, to) = (offset.max(*at), end.min(at + data.len() as u64));
            if from < to {
                read[(from - offset) as usize..(to - offset) as usize]
                    .copy_from_slice(&data[(from - at) as usize..(to - at) as usize]);
            }
        }
        Ok(read)
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Errno> {
        let mut cached = self.0.lock().unwrap();
        if offset + data.len() as u64 > cached.bytes || cached.power == Power::Off {
            return Err(Errno::IO);
        }
        cached.unsafe_writes.push((offset, data.to_vec()));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Errno> {
        let mut cached = self.0.lock().unwrap();
        if cached.power == Power::Failing {
            cached.power = Power::Flushing;
        }
        while cached.power == Power::Flushing {
            drop(cached);
            std::thread::sleep(Duration::from_millis(1));
            cached = self.0.lock().unwrap();
        }
        if cached.power == Power::Off {
            return Err(Errno::IO);
        }
        for (offset, data) in std::mem::take(&mut cached.unsafe_writes) {
            cached.safe.write_all_at(&data, offset).map_err(|_| Errno::IO)?;
        }
        Ok(())
    }
}
