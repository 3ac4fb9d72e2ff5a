//! Whether media that share no bus slow each other down all the same: read for a moment alone, then
//! all at once. Nothing is written.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use record::units::significant;
use rustix::fs::OFlags;

use super::OneTarget;
use crate::say;

/// So long each is read.
const MOMENT: Duration = Duration::from_millis(400);
/// A medium that keeps this share of its rate is measured beside others.
const LEAST_SHARE: f64 = 0.9;
/// A medium that does not answer for so long is left to its own process.
const PATIENCE: Duration = Duration::from_secs(5);
const BLOCK_BYTES: usize = 1 << 20;
/// What a buffer for O_DIRECT begins at a multiple of.
const ALIGNED: usize = 4096;

/// The groups as they are where their first members keep their rate beside one another; else all in
/// one, which take turns. Says what was found.
pub fn take_turns_if_needed(groups: Vec<Vec<&OneTarget>>, is_quiet: bool) -> Vec<Vec<&OneTarget>> {
    let paths: Vec<&Path> =
        groups.iter().filter_map(|group| group[0].readable.as_deref()).collect();
    if paths.len() < 2 {
        return groups;
    }
    let alone: Vec<f64> = paths.iter().flat_map(|path| rates(&[path])).collect();
    let together = rates(&paths);
    let share = least_share(&alone, &together);
    let is_free = share.is_none_or(|share| share >= LEAST_SHARE);
    if let Some(share) = share.filter(|_| !is_quiet) {
        let percent = significant(share * 100.0);
        let how = if is_free { "side by side" } else { "one after another" };
        say!(
            "read at once, the slowest keeps {percent} % of its rate alone: they are measured {how}"
        );
    }
    if is_free { groups } else { vec![groups.into_iter().flatten().collect()] }
}

/// The smallest share that one keeps of its rate; `None` where none could be read.
fn least_share(alone: &[f64], together: &[f64]) -> Option<f64> {
    let shares = alone.iter().zip(together).filter(|(alone, _)| **alone > 0.0);
    shares.map(|(alone, together)| together / alone).reduce(f64::min)
}

/// Bytes a second of each, read at once; 0 of one that cannot be read or does not answer, which is
/// left behind.
fn rates(paths: &[&Path]) -> Vec<f64> {
    let readers: Vec<_> = paths
        .iter()
        .map(|path| {
            let (path, (sender, receiver)) = (path.to_path_buf(), channel());
            std::thread::spawn(move || sender.send(rate(&path).unwrap_or(0.0)));
            receiver
        })
        .collect();
    readers.iter().map(|reader| reader.recv_timeout(PATIENCE).unwrap_or(0.0)).collect()
}

/// Bytes a second of direct reads from the beginning on, again and again.
fn rate(path: &Path) -> io::Result<f64> {
    let direct = i32::try_from(OFlags::DIRECT.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(direct).open(path)?;
    let mut buffer = vec![0; BLOCK_BYTES + ALIGNED];
    let begin = buffer.as_ptr().align_offset(ALIGNED);
    let block = &mut buffer[begin..begin + BLOCK_BYTES];
    let (began, mut at, mut bytes) = (Instant::now(), 0, 0_u64);
    while began.elapsed() < MOMENT {
        let read = file.read_at(block, at)? as u64;
        if read == 0 && at == 0 {
            break;
        }
        bytes += read;
        at = if read == BLOCK_BYTES as u64 { at + read } else { 0 };
    }
    Ok(bytes as f64 / began.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_loses_most_decides() {
        assert_eq!(least_share(&[100.0, 20.0], &[95.0, 12.0]), Some(0.6));
        assert_eq!(least_share(&[0.0, 20.0], &[0.0, 19.0]), Some(0.95));
        assert_eq!(least_share(&[0.0], &[1.0]), None);
    }
}
