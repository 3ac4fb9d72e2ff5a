//! Test of random media with ranges that were backed up, overwritten and then restored, with faults
//! of the medium, writes by others, and restores that were cut short.

use device::content::DataGenerator;
use device::fault::{FaultDuration, FaultInjection, FaultWindow, InjectedFault};
use device::{Extent, MemoryDevice};
use record::Content;
use record::units::KIB;
use stats::Random;

use super::one_in;
use crate::backup::{Backup, MemoryBackup, Restored, Trust, restore};

/// Number of random media.
const DRAWN: u64 = 480;
const CAPACITY: u64 = 1 << 20;

/// A random range of up to so many bytes, in whole sectors.
fn somewhere(random: &mut Random, most_bytes: u64) -> Extent {
    let sectors = 1 + random.below(most_bytes / 512);
    let first = random.below(CAPACITY / 512 - sectors);
    Extent::new(first * 512, sectors * 512)
}

fn bytes_of(place: Extent) -> std::ops::Range<usize> {
    place.offset_bytes as usize..place.end() as usize
}

fn fill(medium: &mut MemoryDevice, seed: u64, place: Extent, content: Content, pass: u32) {
    let data = &mut medium.data()[bytes_of(place)];
    DataGenerator::new(seed).fill(data, content, pass, place.offset_bytes);
}

fn fault(random: &mut Random) -> Option<InjectedFault> {
    let (from, place) = (random.below(12), somewhere(random, 64 * KIB));
    let window = FaultWindow::Ops(from, from + random.below(30));
    match random.below(8) {
        0 => Some(InjectedFault::EioAt(
            place,
            *random.pick(&[FaultDuration::Once, FaultDuration::Forever]),
        )),
        1 => Some(InjectedFault::FailsWritesDuring(window)),
        2 => Some(InjectedFault::RefusesWritesDuring(window)),
        3 => Some(InjectedFault::GoneDuring(window)),
        4 => Some(InjectedFault::LostWrites(place)),
        _ => None,
    }
}

/// A medium, its contents at three moments, and the result.
struct RestoreTrial {
    /// Sectors that were backed up.
    is_backed_up: Vec<bool>,
    /// Sectors that others wrote afterwards.
    is_others: Vec<bool>,
    backed_up: Vec<u8>,
    before_restore: Vec<u8>,
    after: Vec<u8>,
    found: Restored,
    pieces_left: usize,
    trust: Trust,
}

fn sectors_of(all: &mut [bool], place: Extent) -> &mut [bool] {
    let bytes = bytes_of(place);
    &mut all[bytes.start / 512..bytes.end / 512]
}

fn restored(number: u64) -> RestoreTrial {
    let mut random = Random::after(2026, number << 32);
    let mut medium = MemoryDevice::new(CAPACITY);
    for _ in 0..random.below(12) {
        let place = somewhere(&mut random, 256 * KIB);
        fill(&mut medium, 55, place, Content::Incompressible, 2);
    }
    let backed_up = medium.data().to_vec();
    let mut backup = MemoryBackup::default();
    let sectors = (CAPACITY / 512) as usize;
    let (mut is_backed_up, mut is_others) = (vec![false; sectors], vec![false; sectors]);
    for _ in 0..random.below(6) {
        let most_bytes = *random.pick(&[4 * KIB, 64 * KIB, 600 * KIB]);
        let place = somewhere(&mut random, most_bytes);
        // No sector is kept twice.
        if sectors_of(&mut is_backed_up, place).contains(&true) {
            continue;
        }
        backup.keep(place.offset_bytes, &medium.data()[bytes_of(place)]).expect("memory keeps it");
        sectors_of(&mut is_backed_up, place).fill(true);
        fill(&mut medium, 7, place, Content::Incompressible, 1);
    }
    for _ in 0..random.below(3) {
        let place = somewhere(&mut random, 16 * KIB);
        sectors_of(&mut is_others, place).fill(true);
        fill(&mut medium, 99, place, Content::Incompressible, 0);
    }
    let before_restore = medium.data().to_vec();
    let fault = fault(&mut random);
    let mut faulty = FaultInjection::new(medium, fault);
    let trust = *random.pick(&[Trust::Held, Trust::Look]);
    let ends_at = one_in(&mut random, 6).then(|| random.below(5));
    let mut steps = 0;
    let found = restore(&mut faulty, &mut backup, trust, &DataGenerator::new(7), &mut |_| {
        steps += 1;
        ends_at.is_none_or(|at| steps <= at)
    });
    let after = faulty.into_inner().data().to_vec();
    let pieces_left = backup.pieces();
    RestoreTrial {
        is_backed_up,
        is_others,
        backed_up,
        before_restore,
        after,
        found,
        pieces_left,
        trust,
    }
}

impl RestoreTrial {
    fn assert_safe(&self, number: u64) {
        let context = format!("medium {number}: {:?}", self.found);
        for (at, is_backed_up) in self.is_backed_up.iter().enumerate() {
            let sector = |data: &Vec<u8>| data[at * 512..(at + 1) * 512].to_vec();
            let (now, before) = (sector(&self.after), sector(&self.before_restore));
            if !is_backed_up {
                assert_eq!(now, before, "{context}: sector {at} was not backed up");
                continue;
            }
            let original = sector(&self.backed_up);
            assert!(now == original || now == before, "{context}: sector {at} is neither");
            let may_stay = self.is_others[at] && self.trust == Trust::Look;
            let must_be_back = self.found.is_whole() && !may_stay;
            assert!(!must_be_back || now == original, "{context}: sector {at} is not restored");
        }
        if self.found.interrupted.is_some() {
            assert!(self.pieces_left > 0, "{context}: what is left is forgotten");
        }
    }
}

#[test]
fn overwritten_data_is_restored_or_named_and_nothing_else_is_touched() {
    let mut whole = 0;
    for number in 0..DRAWN {
        let restored = restored(number);
        restored.assert_safe(number);
        whole += u64::from(restored.found.is_whole());
    }
    assert!((DRAWN / 4..DRAWN).contains(&whole), "{whole} of {DRAWN} are restored");
}
