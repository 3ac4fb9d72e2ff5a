use std::sync::atomic::AtomicBool;

use device::MemoryDevice;
use device::fault::{FaultDuration, FaultInjection, InjectedFault};
use proptest::prelude::*;
use record::units::{KIB, MIB};
use record::{Params, TargetKind};

use super::*;
use crate::catalogue::testing::TestBench;
use crate::{NoStage, RunEvent, RunListener, RunOptions, run};
use stats::Random;

const SEED: u64 = 4711;
const CAPACITY: u64 = 2 * MIB;
const SECTORS: u64 = CAPACITY / 512;

/// A medium with its real flash: sectors are taken modulo `module`, and only the first `real` of
/// them exist.
#[derive(Clone)]
struct Card {
    flash: Vec<u8>,
    module: u64,
    real: u64,
}

impl Card {
    /// A used card: two thirds of its blocks hold data of its owner.
    fn used(seed: u64) -> Card {
        let mut flash = vec![0; CAPACITY as usize];
        let mut random = Random::for_purpose(seed, "what lies there");
        for (index, block) in flash.chunks_mut(4096).enumerate() {
            if index == 0 || random.below(3) > 0 {
                let theirs = DataGenerator::new(seed ^ 99);
                theirs.fill(block, Content::Incompressible, 3, index as u64 * 4096);
            }
        }
        Card { flash, module: SECTORS, real: SECTORS }
    }

    fn blank() -> Card {
        Card { flash: vec![0; CAPACITY as usize], module: SECTORS, real: SECTORS }
    }

    fn behind(&self, sector: u64) -> Option<usize> {
        let folded = sector % self.module;
        (folded < self.real).then_some(folded as usize * 512)
    }

    fn write(&mut self, offset_bytes: u64, data: &[u8]) {
        for (sector, data) in (offset_bytes / 512..).zip(data.chunks(512)) {
            if let Some(at) = self.behind(sector) {
                self.flash[at..at + 512].copy_from_slice(data);
            }
        }
    }

    /// The contents of all addresses of the medium.
    fn seen(&self) -> MemoryDevice {
        let mut device = MemoryDevice::new(CAPACITY);
        for (sector, data) in device.data().chunks_mut(512).enumerate() {
            match self.behind(sector as u64) {
                Some(at) => data.copy_from_slice(&self.flash[at..at + 512]),
                None => data.fill(0),
            }
        }
        device
    }
}

/// A cell of a made-up plan.
#[derive(Clone, Debug)]
struct Job {
    span: Extent,
    content: Content,
    block_bytes: u64,
    in_order: bool,
    pass: u32,
}

/// Whole sectors of incompressible data, in order.
fn job(at: u64, bytes: u64) -> Job {
    let span = Extent::new(at, bytes);
    Job { span, content: Content::Incompressible, block_bytes: 512, in_order: true, pass: 0 }
}

fn any_job() -> impl Strategy<Value = Job> {
    let content = prop_oneof![
        4 => Just(Content::Incompressible),
        1 => Just(Content::Zeros),
        1 => Just(Content::Byte(0xa5)),
        1 => Just(Content::Repeated),
        1 => Just(Content::Compressible(30)),
    ];
    let block = prop_oneof![Just(512), Just(4 * KIB), Just(64 * KIB)];
    (0u64..28, 1u64..8, content, block, any::<bool>(), 0u32..3).prop_map(
        |(at, length, content, block_bytes, in_order, pass)| {
            let span = Extent::new(at * 64 * KIB, length.min(32 - at) * 64 * KIB);
            Job { span, content, block_bytes, in_order, pass }
        },
    )
}

fn planned(jobs: &[Job]) -> Vec<PlannedCell> {
    let cell = |(index, job): (usize, &Job)| PlannedCell {
        id: format!("job/{index}"),
        test: "job".into(),
        params: Params {
            content: Some(job.content),
            span_offset_bytes: Some(job.span.offset_bytes),
            span_bytes: Some(job.span.bytes),
            ..Params::default()
        },
        max_ns: 0,
        max_written_bytes: job.span.bytes,
    };
    jobs.iter().enumerate().map(cell).collect()
}

/// A run up to some point.
struct Story {
    card: Card,
    traces: FingerprintHistory,
    /// The medium at the end of each finished cell; the first is before the run.
    states: Vec<Card>,
    /// Cells that were finished.
    finished: usize,
}

/// Runs the jobs on a card until `writes` are made. With `power_lost` some of the writes since the
/// last flush are lost.
fn story(card: Card, jobs: &[Job], mut writes: u64, power_lost: bool, seed: u64) -> Story {
    let (plan, generator) = (planned(jobs), DataGenerator::new(SEED));
    let mut story = Story {
        states: vec![card.clone()],
        card,
        traces: FingerprintHistory::default(),
        finished: 0,
    };
    let facts = story.card.seen().facts().clone();
    let chosen = places(&facts, &plan, &[MIB], SEED);
    story.traces.before = read_marks(&mut story.card.seen(), &chosen, None).unwrap();
    for (job, cell) in jobs.iter().zip(&plan) {
        story.traces.writers.push(UnfinishedCell::of(cell));
        let mut offsets: Vec<u64> =
            (job.span.offset_bytes..job.span.end()).step_by(job.block_bytes as usize).collect();
        if !job.in_order {
            Random::for_purpose(seed, &cell.id).shuffle(&mut offsets);
        }
        let mut last = Vec::new();
        let (durable, mut made) = (story.card.clone(), Vec::new());
        for offset_bytes in offsets {
            if writes == 0 {
                if power_lost {
                    let mut random = Random::for_purpose(seed, "power cut");
                    story.card = durable;
                    made.into_iter()
                        .filter(|_| random.below(2) == 0)
                        .for_each(|(at, data): (u64, Vec<u8>)| story.card.write(at, &data));
                }
                return story;
            }
            writes -= 1;
            let mut data = vec![0; job.block_bytes as usize];
            generator.fill(&mut data, job.content, job.pass, offset_bytes);
            story.card.write(offset_bytes, &data);
            last = vec![Extent::new(offset_bytes, job.block_bytes)];
            made.push((offset_bytes, data));
        }
        let chosen = written_places(&facts, job.span, &last, SEED);
        let marks = read_marks(&mut story.card.seen(), &chosen, Some(&generator)).unwrap();
        let begun = story.traces.writers.len();
        story.traces.later.extend(marks.into_iter().map(|mark| (begun, mark)));
        story.states.push(story.card.clone());
        story.finished += 1;
    }
    story
}

fn seen_as(card: &Card, story: &Story) -> Recognition {
    recognise(&mut card.seen(), &DataGenerator::new(SEED), &story.traces).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_same_medium_is_never_strange(
        jobs in proptest::collection::vec(any_job(), 1..6),
        writes in 0u64..800,
        power_lost: bool,
        module in 64u64..SECTORS,
        real in 64u64..SECTORS,
        kind in 0..4,
        seed: u64,
    ) {
        let used = Card::used(seed);
        // A fake so small that zeros come over all of it shows nothing any more, and is rightly not
        // known again.
        let wiped = |job: Job| Job { content: if job.content == Content::Zeros && kind != 0 { Content::Byte(0xa5) } else { job.content }, ..job };
        let jobs: Vec<Job> = jobs.into_iter().map(wiped).collect();
        let card = match kind {
            0 => used,
            1 => Card { module, ..used },
            2 => Card { real, ..used },
            _ => Card { module, real: real.min(module), ..used },
        };
        let story = story(card, &jobs, writes, power_lost, seed);
        prop_assert_eq!(seen_as(&story.card, &story), Recognition::Ours);
    }

    #[test]
    fn another_medium_is_never_ours(
        jobs in proptest::collection::vec(any_job(), 1..6),
        writes in 0u64..800,
        power_lost: bool,
        swap in 0..5,
        seed: u64,
    ) {
        let story = story(Card::used(seed), &jobs, writes, power_lost, seed);
        let mut foreign = story.card.clone();
        match swap {
            0 => foreign = Card::blank(),
            1 => foreign = Card::used(!seed),
            // Formatted: everything discarded, and the beginning of a file system written.
            2 => {
                foreign = Card::blank();
                foreign.flash[..64 << 10].copy_from_slice(&Card::used(!seed).flash[..64 << 10]);
            }
            // Some files changed at the front, in place of what was there.
            3 => foreign.flash[..128 << 10].copy_from_slice(&Card::used(!seed).flash[..128 << 10]),
            // A copy from before the run: it can be told once a cell has left its data.
            _ => {
                let left_proof = story.traces.later.iter().any(|(_, mark)| mark.ours);
                let is_wiped = story.traces.writers.iter().any(|writer| matches!(writer.content, Some(Content::Zeros | Content::Byte(_))));
                prop_assume!(left_proof && !is_wiped);
                foreign = story.states[0].clone();
            }
        }
        prop_assume!(foreign.flash != story.card.flash);
        let judged = seen_as(&foreign, &story);
        prop_assert!(matches!(judged, Recognition::Strange { .. }), "{:?}", judged);
    }

    #[test]
    fn a_copy_from_the_middle_of_the_run_is_not_ours_unless_a_cell_was_cut_short_since(
        jobs in proptest::collection::vec(any_job(), 2..6),
        copied in 1usize..5,
        seed: u64,
    ) {
        let jobs: Vec<Job> = jobs.into_iter().zip(0..).map(|(job, pass)| Job { pass, content: Content::Incompressible, ..job }).collect();
        let story = story(Card::used(seed), &jobs, u64::MAX, false, seed);
        prop_assume!(copied < story.finished);
        let judged = seen_as(&story.states[copied], &story);
        prop_assert!(matches!(judged, Recognition::Strange { .. }), "{:?}", judged);
    }
}

/// The place was empty before the last cell wrote: a copy from before that cell shows only that.
#[test]
fn a_copy_that_is_empty_where_the_last_cell_wrote_is_not_ours() {
    let last = Job { pass: 1, ..job(MIB, 512 * KIB) };
    let jobs = [job(0, 64 * KIB), last].map(|job| Job { in_order: false, ..job });
    let mut card = Card::used(7);
    card.flash[MIB as usize..].fill(0);
    let story = story(card, &jobs, u64::MAX, false, 7);
    let judged = seen_as(&story.states[1], &story);
    assert!(
        matches!(&judged, Recognition::Strange { why, .. } if why.contains("older data than this run left there")),
        "{judged:?}"
    );
    assert_eq!(seen_as(&story.card, &story), Recognition::Ours);
}

#[test]
fn findings_of_a_fingerprint_are_described_in_words() {
    let job = Job { block_bytes: 4096, ..job(MIB, 64 * KIB) };
    let story = story(Card::used(1), &[job], u64::MAX, false, 1);
    let why = |card: &Card| match seen_as(card, &story) {
        Recognition::Strange { why, .. } => why,
        other => format!("{other:?}"),
    };
    let mut changed = story.card.clone();
    changed.flash[64 << 10..65 << 10].fill(0x55);
    insta::assert_snapshot!(why(&changed), @"64 KiB, which this run has not written, holds other data than when it began");
    let mut emptied = story.card.clone();
    emptied.flash[1 << 20..(1 << 20) + (64 << 10)].fill(0xff);
    let nothing = why(&emptied);
    assert!(nothing.starts_with("nothing of what this run has written is on it: of "), "{nothing}");
    changed = story.card.clone();
    changed.flash[1 << 20..(1 << 20) + 4096].fill(0x55);
    assert_eq!(why(&changed), "1 MiB holds data that this run has not written");
    let nothing = Story { traces: FingerprintHistory::default(), ..story };
    assert!(matches!(seen_as(&nothing.card, &nothing), Recognition::CannotTell { .. }));
}

#[test]
fn a_medium_that_is_gone_is_an_error_and_a_place_that_cannot_be_read_is_left_out() {
    let chosen = places(MemoryDevice::new(CAPACITY).facts(), &[], &[MIB], 1);
    let marks = |fault: InjectedFault| {
        read_marks(&mut FaultInjection::new(Card::used(1).seen(), [fault]), &chosen, None)
    };
    let bad = marks(InjectedFault::EioAt(chosen[3], FaultDuration::Forever)).unwrap();
    assert_eq!(bad.len(), chosen.len() - 1);
    assert!(marks(InjectedFault::Vanish { after_ops: 5 }).unwrap_err().is_gone());
    let late = InjectedFault::HangFor { ns: PATIENCE_NS + 1, after_ops: 5 };
    assert_eq!(marks(late).unwrap(), []);
}

#[test]
fn places_lie_where_file_systems_are_known_by_and_inside_and_outside_of_what_is_written() {
    let mut facts = MemoryDevice::new(512).facts().clone();
    for (capacity_bytes, logical_block_bytes) in [
        (32_010_928_128, 512),
        (32_010_928_128, 4096),
        (MIB, 512),
        (4096, 512),
        (512, 512),
        (64 * MIB, 16384),
    ] {
        facts.capacity_bytes = capacity_bytes;
        facts.logical_block_bytes = logical_block_bytes;
        let job = job(capacity_bytes / 2, capacity_bytes / 4);
        let chosen = places(&facts, &planned(std::slice::from_ref(&job)), &[4 * MIB, 63 * 512], 1);
        let block = logical_block_bytes.max(4096);
        assert!(chosen.iter().all(|place| place.bytes == block
            && place.end() <= capacity_bytes
            && place.offset_bytes.is_multiple_of(block)));
        assert!(chosen.windows(2).all(|pair| pair[0].end() <= pair[1].offset_bytes));
        if capacity_bytes > 64 * MIB {
            for at in [0, 64 * KIB, MIB, 4 * MIB, 4 * MIB + 64 * KIB, capacity_bytes - 1] {
                assert!(chosen.iter().any(|place| place.contains(&Extent::new(at, 1))), "{at}");
            }
            let inside = chosen.iter().filter(|place| job.span.overlaps(place)).count();
            assert!(inside >= 7 && chosen.len() - inside >= 20, "{inside} of {}", chosen.len());
            assert!(chosen.len() <= 70);
        }
    }
}

/// Keeps the marks, as a journal does.
#[derive(Default)]
struct Journal {
    traces: FingerprintHistory,
    events: Vec<String>,
}

impl RunListener for Journal {
    fn on_event(&mut self, event: &RunEvent<'_>) -> Result<(), String> {
        match event {
            RunEvent::CellStarted { cell, .. } if cell.max_written_bytes > 0 => {
                self.traces.writers.push(UnfinishedCell::of(cell));
                self.events.push(format!("begun {}", cell.id));
            }
            RunEvent::Marked(marks) => {
                let begun = self.traces.writers.len();
                self.traces.later.extend(marks.iter().map(|mark| (begun, *mark)));
                let is_proof = marks.iter().any(|mark| mark.ours);
                let how = if is_proof { "with proof" } else { "without" };
                self.events.push(format!("marked {how}"));
            }
            RunEvent::CellFinished { cell, .. } => {
                self.events.push(format!("finished {}", cell.id))
            }
            _ => {}
        }
        Ok(())
    }
}

fn ran(kind: TargetKind) -> (Box<dyn Device>, Journal) {
    let device = MemoryDevice::new(64 * MIB);
    let mut bench = TestBench::raw(64 * MIB, |_, _| 0);
    (bench.target.kind, bench.target.facts) = (kind, device.facts().clone());
    let tests = ["prime span=8MiB passes=1", "seek time=1s", "zero-fill span=4MiB"];
    let plan = bench.plan(&tests).unwrap();
    let mut guarded = plan.guard(device);
    let mut journal = Journal::default();
    let chosen = places(guarded.facts(), &plan.cells, &[], SEED);
    journal.traces.before = read_marks(&mut guarded, &chosen, None).unwrap();
    let stop = AtomicBool::new(false);
    let options = RunOptions::new(SEED, &bench.target, &stop);
    run(&mut guarded, &mut NoStage, &plan, options, &mut journal);
    (guarded.into_inner(), journal)
}

#[test]
fn a_cell_that_wrote_is_marked_before_it_is_finished_and_the_medium_is_known_again() {
    let (mut device, journal) = ran(TargetKind::Block);
    let mut writing = journal.events.clone();
    writing.retain(|event| !event.contains("seek"));
    assert_eq!(
        writing.join(", "),
        "begun prime/1, marked with proof, finished prime/1, \
         begun zero-fill/1, marked without, finished zero-fill/1"
    );
    let known = |device: &mut dyn Device| {
        recognise(device, &DataGenerator::new(SEED), &journal.traces).unwrap()
    };
    assert_eq!(known(&mut *device), Recognition::Ours);
    let other = known(&mut MemoryDevice::new(64 * MIB));
    assert!(matches!(other, Recognition::Strange { .. }), "{other:?}");
    // A simulated medium ends with the process.
    let simulated = ran(TargetKind::Simulated).1.events;
    assert!(simulated.iter().all(|event| !event.starts_with("marked")));
}

#[test]
fn a_cell_that_was_begun_is_found_in_the_plan_by_its_name() {
    let second = Job { content: Content::Repeated, ..job(192 * KIB, 64 * KIB) };
    let plan = planned(&[job(64 * KIB, 64 * KIB), second]);
    let begun = UnfinishedCell::begun(&plan, &["job/1".into(), "job/9".into(), "job/0".into()]);
    let anything = UnfinishedCell { span: Extent::new(0, u64::MAX), content: None };
    assert_eq!(begun, [UnfinishedCell::of(&plan[1]), anything, UnfinishedCell::of(&plan[0])]);
    assert_eq!(begun[0].content, Some(Content::Repeated));
}

#[test]
fn a_mark_of_nothing_but_zeros_or_ones_is_empty() {
    let of = |data: &[u8]| {
        is_empty(&FingerprintMark { crc32c: CRC.checksum(data), ..empty_mark(0, 512) })
    };
    assert!(of(&[0; 512]) && of(&[0xff; 512]) && is_empty(&empty_mark(4096, 512)));
    assert!(!of(&[1; 512]) && !of(&[[0; 511].as_slice(), &[1]].concat()));
}
