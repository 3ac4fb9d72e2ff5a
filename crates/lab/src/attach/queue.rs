//! Limits of a loop device's queue, set to what the medium would state.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sim::Profile;

use super::timeline::LONGEST_BYTES;

/// Limits of a loop device, restored when dropped: some outlive the medium, and the next user of
/// the device needs its flushes.
#[derive(Debug)]
pub struct LoopQueueLimits {
    node: PathBuf,
}

impl LoopQueueLimits {
    /// Sets the limits that the kernel would learn from a real medium like this.
    pub fn describe(node: &Path, profile: &Profile) -> Result<LoopQueueLimits> {
        let queue = LoopQueueLimits { node: node.to_owned() };
        let longest_kib = LONGEST_BYTES as u64 / 1024;
        let allowed_kib = fs::read_to_string(attribute(node, "max_hw_sectors_kb"))?;
        let allowed_kib: u64 = allowed_kib.trim().parse().unwrap_or(longest_kib);
        // A longer one would be split by FUSE, out of our sight.
        queue.set("max_sectors_kb", &longest_kib.min(allowed_kib).to_string())?;
        // The kernel sends no flush to a medium without a cache, as to a real one.
        let cached = profile.spec().cache.is_some();
        queue.set("write_cache", if cached { "write back" } else { "write through" })?;
        queue.set("rotational", if profile.spec().disk.is_some() { "1" } else { "0" })?;
        // Not "discard_max_bytes": a loop device that was told 0 takes no discard ever again,
        // whoever uses it. A medium without discards refuses each, of which the kernel makes one
        // that is done and changes nothing.
        Ok(queue)
    }

    fn set(&self, name: &str, value: &str) -> Result<()> {
        let path = attribute(&self.node, name);
        fs::write(&path, value)
            .with_context(|| format!("cannot write {value} to {}", path.display()))
    }
}

impl Drop for LoopQueueLimits {
    fn drop(&mut self) {
        restore(&self.node);
    }
}

/// Restores the limits that would outlive the medium.
pub fn restore(node: &Path) {
    for (name, usual) in [("write_cache", "write back"), ("max_sectors_kb", "0")] {
        // A device that is gone has nothing to restore, and older kernels have limits that only
        // shrink.
        let _ = fs::write(attribute(node, name), usual);
    }
}

fn attribute(node: &Path, name: &str) -> PathBuf {
    let device = node.file_name().unwrap_or_default();
    Path::new("/sys/block").join(device).join("queue").join(name)
}
