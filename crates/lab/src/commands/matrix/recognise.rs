//! Recognising a matrix's medium. The files that works leave carry no data of ours. So the medium
//! is recognised by what was read from it after the last try or, if a try was cut short, by the
//! label of its file system.

use device::Device;
use host::{BlockTarget, Roots};
use record::{Fingerprint, FingerprintMark};
use stats::Random;
use store::JournalFingerprints;
use suite::fingerprint::{self, Recognition};

use program::exit::{OrExit, Result};
use session::target::device_of;

/// Label of every file system that this run makes: 10 letters and digits, which all of them accept.
pub fn label(seed: u64) -> String {
    format!("FM{:08X}", Random::for_purpose(seed, "name of the file systems").bits() as u32)
}

/// Fingerprint of the medium before anything is made on it.
pub fn before(block: &BlockTarget, diskseq: Option<u64>, seed: u64) -> Result<Fingerprint> {
    let roots = Roots::default();
    let contents = host::contents_of(&roots, block).identity_lines();
    Ok(Fingerprint {
        diskseq,
        boot_id: host::boot_id(&roots),
        contents,
        marks: marks(block, seed)?,
    })
}

/// Reads the places by which the medium is recognised. Nothing may be mounted on it.
pub fn marks(block: &BlockTarget, seed: u64) -> Result<Vec<FingerprintMark>> {
    let mut device = device_of(block, false).or_io()?;
    let places = fingerprint::places(&device.facts().clone(), &[], &[], seed);
    fingerprint::read_marks(&mut device, &places, None).or_io()
}

/// Recognises the medium as the run left it.
pub fn recognise(
    block: &BlockTarget,
    traces: &JournalFingerprints,
    seed: u64,
) -> Result<Recognition> {
    let Some(fingerprint) = &traces.fingerprint else {
        return Ok(Recognition::CannotTell {
            why: "the run has kept nothing by which the medium could be known again".into(),
        });
    };
    let now = marks(block, seed)?;
    let history: Vec<&FingerprintMark> = fingerprint.marks.iter().chain(&traces.marks).collect();
    let contents = host::contents_of(&Roots::default(), block);
    let name = label(seed);
    let is_labelled = contents.items.iter().any(|item| item.label.as_ref() == Some(&name));
    Ok(judge(&now, &history, is_labelled, contents.is_empty() == Some(true)))
}

/// Judges a medium by the marks read from it; `history` holds all that were ever read, the latest
/// last.
fn judge(
    now: &[FingerprintMark],
    history: &[&FingerprintMark],
    is_labelled: bool,
    is_empty: bool,
) -> Recognition {
    let at = |mark: &FingerprintMark| {
        history
            .iter()
            .filter(|known| known.offset_bytes == mark.offset_bytes)
            .copied()
            .collect::<Vec<_>>()
    };
    let differs =
        |mark: &&FingerprintMark| at(mark).last().is_some_and(|last| last.crc32c != mark.crc32c);
    let Some(first) = now.iter().find(differs) else { return Recognition::Ours };
    // Cut short in the middle of making a file system there is none yet, and what is not as it was
    // is empty, or as it was before.
    let explained = |mark: &FingerprintMark| {
        fingerprint::is_empty(mark) || at(mark).iter().any(|known| known.crc32c == mark.crc32c)
    };
    if is_labelled || is_empty && now.iter().filter(differs).all(explained) {
        return Recognition::Ours;
    }
    let why = format!(
        "at {} there is other data than the matrix left",
        record::units::Bytes(first.offset_bytes)
    );
    Recognition::Strange {
        why,
        foreign: vec![device::Extent::new(first.offset_bytes, first.bytes)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(offset_bytes: u64, crc32c: u32) -> FingerprintMark {
        FingerprintMark { offset_bytes, bytes: 4096, crc32c, ours: false }
    }

    #[test]
    fn a_medium_is_ours_as_it_was_left_and_in_the_middle_of_a_try_by_the_name_of_its_file_system() {
        let [old, new, other] =
            [[mark(0, 1), mark(4096, 2)], [mark(0, 3), mark(4096, 2)], [mark(0, 9), mark(4096, 2)]];
        let zeros = fingerprint::empty_mark(0, 4096);
        let history: Vec<&FingerprintMark> = old.iter().chain(&new).collect();
        let is_ours = |now: &[FingerprintMark], labelled, empty| {
            judge(now, &history, labelled, empty) == Recognition::Ours
        };
        assert!(is_ours(&new, false, false), "as it was left");
        assert!(is_ours(&other, true, false), "a file system of ours");
        assert!(!is_ours(&other, false, false) && !is_ours(&other, false, true), "somebody's data");
        assert!(!is_ours(&old, false, false), "a copy from before, with what it held");
        assert!(is_ours(&[zeros, old[1]], false, true), "wiped by a mkfs that was cut short");
    }

    #[test]
    fn the_name_of_a_file_system_fits_everywhere() {
        for seed in [0, 1, u64::MAX] {
            let name = label(seed);
            assert!(
                name.len() <= 11
                    && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()),
                "{name}"
            );
        }
        assert_ne!(label(1), label(2));
    }
}
