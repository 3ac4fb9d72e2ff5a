use device::content::DataGenerator;
use device::fault::{FaultDuration, FaultInjection, FaultWindow, InjectedFault};
use device::{Device, Extent, IoErrorKind, MemoryDevice, Request, do_io};
use record::Content;

use super::failing::{BackupCall, FailingBackup};
use super::restore::{PresentData, RestoreDecision, judge};
use super::*;

const MEDIUM_BYTES: usize = 1 << 20;
const PIECE: u64 = 16 << 10;
const SEED: u64 = 77;

/// Original data of the medium: no two sectors are the same, and none is data of a run.
fn original() -> Vec<u8> {
    let mut data = vec![0; MEDIUM_BYTES];
    DataGenerator::new(!SEED).fill(&mut data, Content::Incompressible, 1, 0);
    data
}

/// The medium after every second piece was backed up and overwritten.
fn backed_up(backup: &mut dyn Backup) -> MemoryDevice {
    let mut medium = MemoryDevice::new(MEDIUM_BYTES as u64);
    medium.data().copy_from_slice(&original());
    for at in (0..MEDIUM_BYTES as u64).step_by(2 * PIECE as usize) {
        let range = at as usize..(at + PIECE) as usize;
        backup.keep(at, &original()[range.clone()]).unwrap();
        let ours = DataGenerator::new(SEED);
        ours.fill(&mut medium.data()[range], Content::Incompressible, 5, at);
    }
    medium
}

fn back(device: &mut dyn Device, backup: &mut dyn Backup, trust: Trust) -> Restored {
    restore(device, backup, trust, &DataGenerator::new(SEED), &mut |step| {
        assert!((0.0..=1.0).contains(&step.share));
        true
    })
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
fn what_is_whole_is_restored_and_the_log_is_cleared() {
    for trust in [Trust::Held, Trust::Look] {
        let mut backup = MemoryBackup::default();
        let mut medium = backed_up(&mut backup);
        let found = back(&mut medium, &mut backup, trust);
        let whole = Restored { bytes: MEDIUM_BYTES as u64 / 2, ..Restored::default() };
        assert_eq!((found, wrong(&mut medium), backup.places()), (whole, None, Vec::new()));
    }
}

/// What fails at a medium or in its log during a restore, and the places that are lost by it. The
/// others are restored, and the log stays.
#[test]
fn only_what_fails_by_itself_is_lost_and_it_is_named_and_stays_in_the_log() {
    let place = |at, bytes| Extent::new(4 * PIECE + at, bytes);
    let is_refused = |why: &NotRestoredReason| matches!(why, NotRestoredReason::Refused(_));
    let is_not_kept = |why: &NotRestoredReason| *why == NotRestoredReason::NotKept;
    let is_damaged = |why: &NotRestoredReason| *why == NotRestoredReason::Damaged("torn".into());
    type IsReason<'a> = &'a dyn Fn(&NotRestoredReason) -> bool;
    let rows: [(_, _, IsReason<'_>); 3] = [
        (
            Some(InjectedFault::EioAt(place(0, 512), FaultDuration::Forever)),
            place(0, PIECE),
            &is_refused,
        ),
        (Some(InjectedFault::LostWrites(place(1024, 512))), place(0, PIECE), &is_not_kept),
        (None, place(0, PIECE), &is_damaged),
    ];
    for (fault, expected, is_reason) in rows {
        let is_torn = fault.is_none();
        let mut backup = FailingBackup::new(move |call| {
            (is_torn && matches!(call, BackupCall::Read(2))).then_some("torn")
        });
        let mut device = FaultInjection::new(backed_up(&mut backup), fault);
        let found = back(&mut device, &mut backup, Trust::Held);
        let [LostPlace { place: Some(lost), why }] = &found.lost[..] else { panic!("{found:?}") };
        assert!(*lost == expected && is_reason(why) && found.interrupted.is_none(), "{found:?}");
        assert_eq!(found.bytes, MEDIUM_BYTES as u64 / 2 - expected.bytes);
        assert_eq!(wrong(&mut device.into_inner()), Some(expected));
        assert!(!backup.places().is_empty());
    }
}

/// A medium that fails as a whole, from any operation on and for any number of them: nothing is
/// reported lost, the log stays, and the next restore is complete.
#[test]
fn a_medium_that_is_gone_or_refuses_writes_is_waited_for_and_loses_nothing() {
    type Fault = fn(FaultWindow) -> InjectedFault;
    let faults: [(Fault, _); 3] = [
        (InjectedFault::GoneDuring, IoErrorKind::Gone),
        (InjectedFault::RefusesWritesDuring, IoErrorKind::ReadOnly),
        (InjectedFault::FailsWritesDuring, IoErrorKind::ReadOnly),
    ];
    for (fault, kind) in faults {
        // Before the first write was accepted, a short failure looks like that of its place.
        let short = (1..70).flat_map(|from| (1..5).map(move |many| (Trust::Held, from, many)));
        let long = [0, 1, 17, 30].map(|from| (Trust::Held, from, 1000));
        let looked = [0, 20].map(|from| (Trust::Look, from, 1000));
        for (trust, from, many) in short.chain(long).chain(looked) {
            let mut backup = MemoryBackup::default();
            let window = FaultWindow::Ops(from, from + many);
            let mut device = FaultInjection::new(backed_up(&mut backup), [fault(window)]);
            let found = back(&mut device, &mut backup, trust);
            let ended = match &found.interrupted {
                Some(Interruption::Medium(error)) => Some(error.kind),
                _ => None,
            };
            let case = format!("{kind:?}, {trust:?} from {from}, {many}: {found:?}");
            // A medium that fails for long strikes every write.
            assert!(many < 1000 || ended == Some(kind), "{case}");
            assert!(found.lost.is_empty() && (ended.is_some() || found.is_whole()), "{case}");
            let left = (MEDIUM_BYTES as u64 / 2, Some(0));
            assert!(found.is_whole() || (found.left_bytes, found.first_left_bytes) == left);
            assert_eq!(backup.places().is_empty(), found.is_whole(), "{case}");
            let mut medium = device.into_inner();
            assert!(back(&mut medium, &mut backup, trust).is_whole());
            assert_eq!(wrong(&mut medium), None, "{case}");
        }
    }
}

#[test]
fn what_somebody_has_written_meanwhile_stays_and_is_named() {
    let mut backup = MemoryBackup::default();
    let mut medium = backed_up(&mut backup);
    let theirs = Extent::new(4096, 1024);
    medium.data()[4096..5120].fill(0x55);
    medium.data()[..512].fill(0);
    medium.data()[512..1024].fill(0xff);
    medium.data()[1024..1536].copy_from_slice(&original()[1024..1536]);
    // Where a place cannot be read, the rest of its piece is still looked at.
    let short = InjectedFault::ShortRead(Extent::new(12 << 10, 512), FaultDuration::Once);
    let mut device = FaultInjection::new(medium, [short]);
    for _ in 0..2 {
        let found = back(&mut device, &mut backup, Trust::Look);
        assert_eq!(found.lost, [LostPlace { place: Some(theirs), why: NotRestoredReason::Newer }]);
        assert!(!backup.places().is_empty());
    }
    let mut medium = device.into_inner();
    assert_eq!(wrong(&mut medium), Some(theirs));
    assert!(medium.data()[4096..5120].iter().all(|byte| *byte == 0x55));
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
        let now = PresentData { data, unreadable: Vec::new() };
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
                do_io(&mut medium, Request::read(0, sector * 512, 512)).unwrap();
                if !std::mem::replace(&mut known[sector as usize], true) {
                    let data = medium.buffer(0)[..512].to_vec();
                    backup.keep(sector * 512, &data).unwrap();
                    is_kept[(sector % module) as usize] = true;
                }
                generator.fill(&mut medium.buffer(0)[..512], Content::Incompressible, pass as u32, sector * 512);
                do_io(&mut medium, Request::write(0, sector * 512, 512)).unwrap();
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
    device::forward!(facts now prepare buffer reap idle drop_caches cpu_ns);

    fn submit(&mut self, request: Request) -> Result<(), device::IoError> {
        let folded = request.offset_bytes / 512 % self.module * 512;
        self.inner.submit(Request { offset_bytes: folded, ..request })
    }
}
