//! Media drawn at random, written by cells drawn at random and changed behind their back: where
//! they are looked at, what they are taken for, and what is put back on them.

use device::content::Filler;
use device::fault::{FaultInjection, FaultWindow, InjectedFault, Lasts};
use device::{Device, Extent, Facts, MemoryDevice};
use record::units::KIB;
use record::{Content, Params, PlannedCell};
use stats::Random;

use super::{one_in, sum_of, table_of};
use crate::fingerprint::{
    FingerprintHistory, UnfinishedCell, places, read_marks, recognise, written_places,
};
use crate::undo::{MemoryUndo, Trust, Undo, put_back};

/// Media that are drawn.
const DRAWN: u64 = 480;
/// Lines of the snapshot: each holds what came of so many.
const A_LINE: u64 = 10;
const CAPACITY: u64 = 1 << 20;
const CONTENTS: [Content; 8] = [
    Content::Incompressible,
    Content::Incompressible,
    Content::Zeros,
    Content::Zeros,
    Content::Byte(0xff),
    Content::Byte(0x41),
    Content::Repeated,
    Content::Compressible(30),
];

/// Up to so many bytes somewhere, in whole sectors.
fn somewhere(random: &mut Random, most_bytes: u64) -> Extent {
    let sectors = 1 + random.below(most_bytes / 512);
    let first = random.below(CAPACITY / 512 - sectors);
    Extent::new(first * 512, sectors * 512)
}

fn cells(random: &mut Random) -> Vec<PlannedCell> {
    let many = random.below(10);
    let mut cell = |index: u64| {
        let span = somewhere(random, 256 * KIB);
        PlannedCell {
            id: format!("{}/{index}", if one_in(random, 6) { "record-ops" } else { "job" }),
            test: if one_in(random, 6) { "record-ops" } else { "job" }.into(),
            params: Params {
                content: (!one_in(random, 4)).then(|| *random.pick(&CONTENTS)),
                span_offset_bytes: Some(span.offset_bytes),
                span_bytes: Some(span.bytes),
                ..Params::default()
            },
            max_ns: 0,
            max_written_bytes: if one_in(random, 5) { 0 } else { span.bytes },
        }
    };
    (0..many).map(&mut cell).collect()
}

fn fill(medium: &mut MemoryDevice, seed: u64, place: Extent, content: Content, pass: u32) {
    let bytes = place.offset_bytes as usize..place.end() as usize;
    Filler::new(seed).fill(&mut medium.data()[bytes], content, pass, place.offset_bytes);
}

fn facts(random: &mut Random, medium: &MemoryDevice) -> Facts {
    let capacity_bytes =
        *random.pick(&[CAPACITY, 0, 512, 4096, 4608, 65_536, 1 << 30, (1 << 30) + 512, 64 << 30]);
    let logical_block_bytes = *random.pick(&[512, 4096, 16_384]);
    Facts { capacity_bytes, logical_block_bytes, ..medium.facts().clone() }
}

/// Where media of all sizes are looked at.
fn looked_at(random: &mut Random, plan: &[PlannedCell], medium: &MemoryDevice) -> String {
    let facts = facts(random, medium);
    let end = facts.capacity_bytes;
    let mut plan = plan.to_vec();
    if let Some(cell) = plan.first_mut().filter(|_| one_in(random, 4)) {
        // Next to nothing is left to draw from.
        (cell.params.span_offset_bytes, cell.params.span_bytes) = (Some(0), Some(end / 1000 * 999));
        cell.max_written_bytes = 1;
    }
    let start = |random: &mut Random| {
        let anywhere = random.below(1 << 31);
        *random.pick(&[anywhere, end, end + 1, end.saturating_sub(4096)])
    };
    let starts: Vec<u64> = (0..random.below(12)).map(|_| start(random)).collect();
    let mut last: Vec<Extent> = (0..random.below(4)).map(|_| somewhere(random, 8 * KIB)).collect();
    last.push(Extent::new(start(random), 512));
    let span = somewhere(random, 512 * KIB);
    format!(
        "{:?}\n{:?}\n",
        places(&facts, &plan, &starts, random.below(9)),
        written_places(&facts, span, &last, random.below(9))
    )
}

/// What a medium is taken for that the cells have written and others have changed.
fn taken_for(random: &mut Random, plan: &[PlannedCell], medium: &mut MemoryDevice) -> String {
    let (seed, filler) = (7, Filler::new(7));
    let chosen = places(&medium.facts().clone(), plan, &[64 * KIB], seed);
    let mut traces = FingerprintHistory {
        before: read_marks(medium, &chosen, None).expect("it can be read"),
        ..FingerprintHistory::default()
    };
    let earlier = medium.data().to_vec();
    let finished = random.below(plan.len() as u64 + 1) as usize;
    for (index, cell) in plan.iter().enumerate().filter(|(_, cell)| cell.max_written_bytes > 0) {
        let writer = UnfinishedCell::of(cell);
        let (span, content) = (writer.span, writer.content.unwrap_or(Content::Byte(3)));
        traces.writers.push(writer);
        let written = if index < finished { span } else { somewhere(random, 32 * KIB) };
        fill(medium, seed, written, content, random.below(3) as u32);
        if index < finished {
            let chosen = written_places(&medium.facts().clone(), span, &[], seed);
            let marks = read_marks(medium, &chosen, Some(&filler)).expect("it can be read");
            let begun = traces.writers.len();
            traces.later.extend(marks.into_iter().map(|mark| (begun, mark)));
        }
    }
    for _ in 0..random.below(4) {
        let place = somewhere(random, 64 * KIB);
        let bytes = place.offset_bytes as usize..place.end() as usize;
        match random.below(8) {
            0 => medium.data()[bytes.clone()].copy_from_slice(&earlier[bytes]),
            1 => medium.data()[bytes].fill(0),
            2 | 6 | 7 => medium.data().fill(*random.pick(&[0, 0xff])),
            3 => fill(medium, 99, place, Content::Incompressible, 0),
            4 => fill(medium, seed, place, *random.pick(&CONTENTS), 1),
            _ => medium.data().copy_from_slice(&earlier),
        }
    }
    let unreadable = somewhere(random, 512 * KIB);
    let copy = std::mem::replace(medium, MemoryDevice::new(CAPACITY));
    let fault = InjectedFault::EioAt(unreadable, Lasts::Forever);
    let mut faulty = FaultInjection::new(copy, one_in(random, 4).then_some(fault));
    format!("{:?}\n", recognise(&mut faulty, &filler, &traces))
}

/// What is put back on a medium of which pieces were lent.
fn put_right(random: &mut Random, mut medium: MemoryDevice) -> String {
    let mut undo = MemoryUndo::default();
    for _ in 0..random.below(6) {
        let most_bytes = *random.pick(&[4 * KIB, 64 * KIB, 600 * KIB]);
        let place = somewhere(random, most_bytes);
        let bytes = place.offset_bytes as usize..place.end() as usize;
        undo.keep(place.offset_bytes, &medium.data()[bytes]).expect("memory keeps it");
        fill(&mut medium, 7, place, Content::Incompressible, 1);
    }
    for _ in 0..random.below(3) {
        fill(&mut medium, 99, somewhere(random, 16 * KIB), *random.pick(&CONTENTS), 0);
    }
    let (from, place) = (random.below(12), somewhere(random, 64 * KIB));
    let window = FaultWindow::Ops(from, from + random.below(30));
    let fault = match random.below(8) {
        0 => Some(InjectedFault::EioAt(place, *random.pick(&[Lasts::Once, Lasts::Forever]))),
        1 => Some(InjectedFault::FailsWritesDuring(window)),
        2 => Some(InjectedFault::RefusesWritesDuring(window)),
        3 => Some(InjectedFault::GoneDuring(window)),
        4 => Some(InjectedFault::LostWrites(place)),
        _ => None,
    };
    let mut faulty = FaultInjection::new(medium, fault);
    let trust = *random.pick(&[Trust::Held, Trust::Look]);
    let ends_at = one_in(random, 6).then(|| random.below(5));
    let (mut steps, mut heard) = (0, String::new());
    let found = put_back(&mut faulty, &mut undo, trust, &Filler::new(7), &mut |step| {
        steps += 1;
        heard += &format!("{} {:.4}\n", step.written_bytes, step.share);
        ends_at.is_none_or(|at| steps <= at)
    });
    let left = sum_of(faulty.into_inner().data());
    format!("{heard}{found:?} {} {} {left:016x}\n", found.is_whole(), undo.pieces())
}

fn told(number: u64) -> String {
    let mut random = Random::after(2026, number << 32);
    let mut medium = MemoryDevice::new(CAPACITY);
    for _ in 0..random.below(12) {
        let place = somewhere(&mut random, 256 * KIB);
        fill(&mut medium, 55, place, Content::Incompressible, 2);
    }
    let whole = medium.data().to_vec();
    let plan = cells(&mut random);
    let mut text = looked_at(&mut random, &plan, &medium);
    text += &taken_for(&mut random, &plan, &mut medium);
    medium.data().copy_from_slice(&whole);
    text + &put_right(&mut random, medium)
}

#[test]
fn what_drawn_media_are_taken_for_is_what_they_were_taken_for() {
    insta::assert_snapshot!(table_of(DRAWN, A_LINE, told));
}
