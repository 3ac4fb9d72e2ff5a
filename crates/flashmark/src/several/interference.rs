//! Interference between media that share no bus: reads each for a moment alone, then all at once.
//! Nothing is written.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use record::units::significant;
use rustix::fs::OFlags;

use super::OneTarget;
use program::say;

/// Time for which each is read.
const MOMENT: Duration = Duration::from_millis(400);
/// Smallest share of its rate that a medium must keep to be measured beside others.
const MIN_SHARE: f64 = 0.9;
/// Longest time to wait for the reads of a medium.
const PATIENCE: Duration = Duration::from_secs(5);
const BLOCK_BYTES: usize = 1 << 20;
/// Alignment in bytes of a buffer for O_DIRECT.
const ALIGNED: usize = 4096;

/// The groups unchanged if their first members keep their rates when read at once; else all in one
/// group, whose members take turns. Prints the reason.
pub fn take_turns_if_needed(groups: Vec<Vec<&OneTarget>>, is_quiet: bool) -> Vec<Vec<&OneTarget>> {
    let paths: Vec<&Path> =
        groups.iter().filter_map(|group| group[0].readable.as_deref()).collect();
    if paths.len() < 2 {
        return groups;
    }
    let alone: Vec<f64> = paths.iter().flat_map(|path| rates(&[path])).collect();
    let together = rates(&paths);
    let share = least_share(&alone, &together);
    let is_free = share.is_none_or(|share| share >= MIN_SHARE);
    if let Some(share) = share.filter(|_| !is_quiet) {
        let percent = significant(share * 100.0);
        let how = if is_free { "side by side" } else { "one after another" };
        say!(
            "read at once, the slowest keeps {percent} % of its rate alone: they are measured {how}"
        );
    }
    if is_free { groups } else { vec![groups.into_iter().flatten().collect()] }
}

/// Smallest share of its rate that a medium keeps; `None` if none could be read.
fn least_share(alone: &[f64], together: &[f64]) -> Option<f64> {
    let shares = alone.iter().zip(together).filter(|(alone, _)| **alone > 0.0);
    shares.map(|(alone, together)| together / alone).reduce(f64::min)
}

/// Bytes per second of each medium, all read at once; 0 if it cannot be read or does not answer.
/// The thread of one that does not answer is left alone.
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

/// Bytes per second of direct reads from the beginning on, again and again.
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
