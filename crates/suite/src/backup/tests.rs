use device::content::DataGenerator;
use device::fault::{FaultDuration, FaultInjection, FaultWindow, InjectedFault};
use device::{Device, Extent, IoErrorKind, MemoryDevice, Request};
use record::Content;

use super::failing::{BackupCall, FailingBackup};
use super::range_read::{RangeRead, RestoreDecision, judge};
use super::*;

const MEDIUM_BYTES: usize = 4 << 20;
const PIECE: usize = 64 << 10;
const SEED: u64 = 77;

/// Original data of the medium: no two sectors are the same, and none is data of a run.
fn original() -> Vec<u8> {
    let mut data = vec![0; MEDIUM_BYTES];
    DataGenerator::new(!SEED).fill(&mut data, Content::Incompressible, 1, 0);
    data
}

/// The medium after every second piece was backed up and overwritten, and the log.
fn backed_up() -> (MemoryDevice, MemoryBackup) {
    let mut backup = MemoryBackup::default();
    (backed_up_in_pieces_of(PIECE, &mut backup), backup)
}

fn backed_up_in_pieces_of(piece: usize, backup: &mut dyn Backup) -> MemoryDevice {
    let mut medium = MemoryDevice::new(MEDIUM_BYTES as u64);
    medium.data().copy_from_slice(&original());
    for at in (0..MEDIUM_BYTES).step_by(2 * piece) {
        let range = at..(at + piece).min(MEDIUM_BYTES);
        backup.keep(at as u64, &original()[range.clone()]).unwrap();
        let ours = DataGenerator::new(SEED);
        ours.fill(&mut medium.data()[range], Content::Incompressible, 5, at as u64);
    }
    medium
}

fn back(device: &mut dyn Device, backup: &mut dyn Backup, trust: Trust) -> Restored {
    restore(device, backup, trust, &DataGenerator::new(SEED), &mut |_| true)
}

fn kind(found: &Restored) -> Option<IoErrorKind> {
    match &found.interrupted {
        Some(Interruption::Medium(error)) => Some(error.kind),
        _ => None,
    }
}

/// Range of the sectors that differ from the original.
fn wrong(medium: &mut MemoryDevice) -> Option<Extent> {
    let before = original();
    let bad: Vec<usize> = (0..MEDIUM_BYTES)
        .step_by(512)
        .filter(|at| medium.data()[*at..at + 512] != before[*at..at + 512])
        .collect();
    Some(Extent::new(*bad.first()? as u64, (bad.last()? + 512 - bad.first()?) as u64))
}

#[test]
fn pieces_of_any_size_are_restored_where_they_lay_and_the_log_is_cleared() {
    let large = [PIECE_BYTES, PIECE_BYTES + 512, 2 * PIECE_BYTES - 512, 2 * PIECE_BYTES + 512];
    for piece in [PIECE as u64].into_iter().chain(large) {
        for trust in [Trust::Held, Trust::Look] {
            let mut backup = MemoryBackup::default();
            let mut medium = backed_up_in_pieces_of(piece as usize, &mut backup);
            let found = back(&mut medium, &mut backup, trust);
            assert_eq!((found.is_whole(), backup.pieces()), (true, 0), "{piece}");
            assert!(piece > PIECE as u64 || found.bytes == MEDIUM_BYTES as u64 / 2);
            assert_eq!(wrong(&mut medium), None, "{piece}");
        }
    }
}

/// A medium that fails at any moment in any way: nothing is reported lost, the log stays, and the
/// next restore is complete.
fn interrupted(fault: impl Fn(FaultWindow) -> InjectedFault, expected: IoErrorKind) {
    let held = [0, 1, 17, 40].map(|from| (Trust::Held, from));
    for (trust, from) in held.into_iter().chain([(Trust::Look, 0), (Trust::Look, 20)]) {
        let (medium, mut backup) = backed_up();
        let pieces = backup.pieces();
        let mut device = FaultInjection::new(medium, [fault(FaultWindow::Ops(from, u64::MAX))]);
        let found = back(&mut device, &mut backup, trust);
        // What is only read back needs no writes; a fault that begins then strikes nobody.
        if from == 40 && expected == IoErrorKind::ReadOnly {
            assert!(found.is_whole(), "{found:?}");
            continue;
        }
        let left = (kind(&found), found.lost.len(), backup.pieces());
        assert_eq!(left, (Some(expected), 0, pieces), "{trust:?} from {from}: {found:?}");
        assert_eq!((found.left_bytes, found.first_left_bytes), (MEDIUM_BYTES as u64 / 2, Some(0)));
        let mut medium = device.into_inner();
        assert!(back(&mut medium, &mut backup, trust).is_whole());
        assert_eq!((wrong(&mut medium), backup.pieces()), (None, 0));
    }
}

#[test]
fn a_medium_that_is_gone_or_refuses_writes_is_waited_for() {
    interrupted(InjectedFault::GoneDuring, IoErrorKind::Gone);
    interrupted(InjectedFault::RefusesWritesDuring, IoErrorKind::ReadOnly);
    interrupted(InjectedFault::FailsWritesDuring, IoErrorKind::ReadOnly);
}

/// A medium that came back between a failed write and the trial of another place lost that place.
#[test]
fn a_medium_that_is_away_for_a_few_requests_loses_nothing() {
    for (from, requests) in (1..70).flat_map(|from| (1..5).map(move |many| (from, many))) {
        let window = FaultWindow::Ops(from, from + requests);
        let (medium, mut backup) = backed_up();
        let mut device = FaultInjection::new(medium, [InjectedFault::FailsWritesDuring(window)]);
        let found = back(&mut device, &mut backup, Trust::Held);
        assert!(found.lost.is_empty(), "{from}, {requests}: {found:?}");
        let mut medium = device.into_inner();
        assert!(back(&mut medium, &mut backup, Trust::Held).is_whole());
        assert_eq!(wrong(&mut medium), None, "{from}, {requests}");
    }
}

#[test]
fn a_place_that_fails_alone_is_named_and_stays_in_the_log() {
    let (medium, mut backup) = backed_up();
    let bad = Extent::new(4 * PIECE as u64, 512);
    let mut device =
        FaultInjection::new(medium, [InjectedFault::EioAt(bad, FaultDuration::Forever)]);
    let found = back(&mut device, &mut backup, Trust::Held);
    assert_eq!(found.lost.len(), 1);
    assert_eq!(found.lost[0].place, Some(Extent::new(bad.offset_bytes, PIECE as u64)));
    assert!(
        matches!(found.lost[0].why, NotRestoredReason::Refused(_)) && found.interrupted.is_none()
    );
    assert_eq!(wrong(&mut device.into_inner()), found.lost[0].place);
    assert!(backup.pieces() > 0, "what is not back may be wanted from the log");
}

#[test]
fn lost_writes_are_reported() {
    let (medium, mut backup) = backed_up();
    let bad = Extent::new(4 * PIECE as u64 + 1024, 512);
    let mut device = FaultInjection::new(medium, [InjectedFault::SilentCorruption(bad)]);
    let found = back(&mut device, &mut backup, Trust::Held);
    assert_eq!(found.lost, [LostPlace { place: Some(bad), why: NotRestoredReason::NotKept }]);
    assert_eq!(found.bytes, MEDIUM_BYTES as u64 / 2 - 512);
    assert!(backup.pieces() > 0);
}

#[test]
fn a_damaged_piece_is_named_and_the_others_are_restored() {
    let mut backup = FailingBackup::new(|call| {
        matches!(call, BackupCall::Read(3)).then_some("its checksum does not match")
    });
    let mut medium = backed_up_in_pieces_of(PIECE, &mut backup);
    let found = back(&mut medium, &mut backup, Trust::Look);
    let place = Extent::new(6 * PIECE as u64, PIECE as u64);
    let why = NotRestoredReason::Damaged("its checksum does not match".into());
    assert_eq!(found.lost, [LostPlace { place: Some(place), why }]);
    assert_eq!(wrong(&mut medium), Some(place));
    assert!(backup.pieces() > 0);
}

#[test]
fn what_somebody_has_written_meanwhile_stays_and_is_named() {
    let (mut medium, mut backup) = backed_up();
    let theirs = Extent::new(2 * PIECE as u64 + 4096, 1024);
    let range = theirs.offset_bytes as usize..theirs.end() as usize;
    medium.data()[range.clone()].fill(0x55);
    medium.data()[..512].fill(0);
    medium.data()[512..1024].fill(0xff);
    medium.data()[1024..1536].copy_from_slice(&original()[1024..1536]);
    for _ in 0..2 {
        let found = back(&mut medium, &mut backup, Trust::Look);
        assert_eq!(found.lost, [LostPlace { place: Some(theirs), why: NotRestoredReason::Newer }]);
        assert!(medium.data()[range.clone()].iter().all(|byte| *byte == 0x55));
        assert_eq!(wrong(&mut medium), Some(theirs));
        assert!(backup.pieces() > 0);
    }
}

#[test]
fn where_a_place_cannot_be_read_the_rest_of_its_piece_is_still_looked_at() {
    let (mut medium, mut backup) = backed_up();
    let theirs = Extent::new(4096, 4096);
    medium.data()[4096..8192].fill(0x55);
    let short = InjectedFault::ShortRead(Extent::new(32 << 10, 512), FaultDuration::Forever);
    let mut device = FaultInjection::new(medium, [short]);
    let lost = back(&mut device, &mut backup, Trust::Look).lost;
    let newer = LostPlace { place: Some(theirs), why: NotRestoredReason::Newer };
    assert!(lost.contains(&newer), "{lost:?}");
    // What could not be read was written all the same.
    assert_eq!(wrong(&mut device.into_inner()), Some(theirs));
}

#[test]
fn the_observer_can_stop_a_restore_without_loss() {
    let (mut medium, mut backup) = backed_up();
    let mut steps = 0;
    let mut observer = |step: RestoreProgress| {
        steps += 1;
        assert!((0.0..=1.0).contains(&step.share));
        steps < 5
    };
    let ours = DataGenerator::new(SEED);
    let found = restore(&mut medium, &mut backup, Trust::Held, &ours, &mut observer);
    assert_eq!((found.interrupted, found.lost.len()), (Some(Interruption::Stopped), 0));
    assert!(back(&mut medium, &mut backup, Trust::Held).is_whole());
}

/// A fault of a restore, of some kinds or none: at a place, or from an operation on.
fn fault(kind: u8, at: u64, many: u64) -> Option<InjectedFault> {
    let (place, window) = (Extent::new(at * 512, many * 512), FaultWindow::Ops(at, at + many));
    match kind {
        0 => Some(InjectedFault::EioAt(place, FaultDuration::Once)),
        1 => Some(InjectedFault::EioAt(place, FaultDuration::Forever)),
        2 => Some(InjectedFault::FailsWritesDuring(window)),
        3 => Some(InjectedFault::RefusesWritesDuring(window)),
        4 => Some(InjectedFault::GoneDuring(window)),
        5 => Some(InjectedFault::LostWrites(place)),
        _ => None,
    }
}

proptest::proptest! {
    /// A medium that folds at any number of sectors, with any writes in any order and some of others
    /// after them; its restore is interrupted at any step or meets a fault, and is started again:
    /// everything has its original data, but for what others wrote, and nothing else is touched.
    #[test]
    fn folded_places_are_restored_by_a_later_process_too(
        writes in proptest::collection::vec((0u64..60, 1u64..12), 1..20),
        theirs in proptest::collection::vec(0u64..60, 0..4),
        module in 1u64..60,
        (kind, at, many) in (0u8..10, 0u64..40, 1u64..30),
        ends in 0u64..60,
        held: bool,
    ) {
        let mut medium = Folding { inner: MemoryDevice::new(64 << 10), module };
        DataGenerator::new(!SEED).fill(medium.inner.data(), Content::Incompressible, 1, 0);
        let before = medium.inner.data().to_vec();
        let (mut backup, generator, mut known) = (MemoryBackup::default(), DataGenerator::new(SEED), [false; 128]);
        let mut is_kept = [false; 128];
        medium.prepare(1, 512).unwrap();
        for (pass, (at, sectors)) in writes.into_iter().enumerate() {
            for sector in at..at + sectors {
                range_read::transfer(&mut medium, Request::read(0, sector * 512, 512)).unwrap();
                if !std::mem::replace(&mut known[sector as usize], true) {
                    let data = medium.buffer(0)[..512].to_vec();
                    backup.keep(sector * 512, &data).unwrap();
                    is_kept[(sector % module) as usize] = true;
                }
                generator.fill(&mut medium.buffer(0)[..512], Content::Incompressible, pass as u32, sector * 512);
                range_read::transfer(&mut medium, Request::write(0, sector * 512, 512)).unwrap();
            }
        }
        for sector in &theirs {
            medium.inner.data()[(sector % module * 512) as usize..][..512].fill(0x55);
        }
        let changed = medium.inner.data().to_vec();
        let trust = if held { Trust::Held } else { Trust::Look };
        let mut left = ends;
        let mut faulty = FaultInjection::new(medium, fault(kind, at, many));
        restore(&mut faulty, &mut backup, trust, &generator, &mut |_| { left = left.saturating_sub(1); left > 0 });
        let mut medium = faulty.into_inner();
        let found = restore(&mut medium, &mut backup, trust, &generator, &mut |_| true);
        assert!(found.is_whole() || kind < 6 || !theirs.is_empty(), "{found:?}");
        for (sector, now) in medium.inner.data().chunks(512).enumerate() {
            let [before, changed] = [&before, &changed].map(|data| &data[sector * 512..][..512]);
            let is_theirs = theirs.iter().any(|at| at % module == sector as u64) && !held;
            let is_untouched = now == changed && (!is_kept[sector] || is_theirs);
            assert!(is_untouched || is_kept[sector] && now == before, "{sector}: {found:?}");
        }
    }
}

/// A medium whose addresses are taken modulo so many sectors. One sector at a time.
struct Folding {
    inner: MemoryDevice,
    module: u64,
}

impl Device for Folding {
    fn facts(&self) -> &device::Facts {
        self.inner.facts()
    }
    fn now(&mut self) -> u64 {
        self.inner.now()
    }
    fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), device::IoError> {
        self.inner.prepare(slots, slot_bytes)
    }
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.inner.buffer(slot)
    }
    fn submit(&mut self, request: Request) -> Result<(), device::IoError> {
        let folded = request.offset_bytes / 512 % self.module * 512;
        self.inner.submit(Request { offset_bytes: folded, ..request })
    }
    fn reap(
        &mut self,
        min: usize,
        done: &mut Vec<device::Completion>,
    ) -> Result<(), device::IoError> {
        self.inner.reap(min, done)
    }
    fn idle(&mut self, duration_ns: u64) {
        self.inner.idle(duration_ns);
    }
    fn drop_caches(&mut self) -> Result<(), device::IoError> {
        self.inner.drop_caches()
    }
    fn cpu_ns(&mut self) -> Option<u64> {
        None
    }
}

/// A block of eight sectors, some of which hold data of somebody else, before and after.
#[test]
fn a_block_in_which_only_this_run_has_written_is_restored() {
    let (ours, theirs) = (DataGenerator::new(SEED), DataGenerator::new(!SEED));
    let block = |generator: &DataGenerator| {
        let mut data = vec![0; 4096];
        generator.fill(&mut data, Content::Incompressible, 0, 8192);
        data
    };
    let kept = block(&theirs);
    let decision = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut data = kept.clone();
        change(&mut data);
        let now = RangeRead { data, unreadable: Vec::new() };
        let parts = judge(&ours, Extent::new(8192, 4096), &kept, &now, 4096);
        assert_eq!(parts.iter().map(|(part, _)| part.bytes).collect::<Vec<_>>(), [4096]);
        parts[0].1
    };
    assert_eq!(decision(&|_| ()), RestoreDecision::Keep);
    assert_eq!(
        decision(&|now| now[2560..3072].copy_from_slice(&block(&ours)[2560..3072])),
        RestoreDecision::Restore
    );
    assert_eq!(decision(&|now| now[3584..].fill(0)), RestoreDecision::Restore);
    assert_eq!(decision(&|now| now[4000] ^= 1), RestoreDecision::KeepNewer);
}
