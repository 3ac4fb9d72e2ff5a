//! The decision: state of each place, and the conclusion from all of them. Pure functions.

use std::collections::BTreeMap;

use device::Extent;
use device::content::{BLOCK_BYTES, DataGenerator, zeros_in_block};
use device::stamp::SectorVerdict;
use record::units::Bytes;
use record::{Content, FingerprintMark};

use super::{CRC, FingerprintHistory, PlaceRead, Recognition, UnfinishedCell, is_ours};

const SECTOR_BYTES: u64 = 512;

/// State of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its content is that of the last read.
    AsMarked,
    /// It holds data of the run, written by a cell that was begun since.
    Newer,
    /// It proves nothing: it is empty, or a cell begun since may have written it.
    Neutral,
    /// It holds data that a cell begun since writes elsewhere, which may be here on a medium whose
    /// addresses fold.
    Folded,
    /// Its content is that of an earlier read, and not of the last.
    Earlier,
    /// It holds data that the run has not written.
    Foreign,
}

/// All marks of a place, the latest last; each with the number of writing cells begun by then.
type Histories<'a> = BTreeMap<(u64, u64), Vec<(usize, &'a FingerprintMark)>>;

pub(super) fn judge(
    generator: &DataGenerator,
    traces: &FingerprintHistory,
    found: &[PlaceRead],
) -> Recognition {
    let mut histories = Histories::new();
    let before = traces.before.iter().map(|mark| (0, mark));
    for (begun, mark) in before.chain(traces.later.iter().map(|(begun, mark)| (*begun, mark))) {
        histories.entry((mark.offset_bytes, mark.bytes)).or_default().push((begun, mark));
    }
    if histories.is_empty() {
        return Recognition::CannotTell {
            why: "the run has kept nothing by which the medium could be known again".into(),
        };
    }
    let states: Vec<JudgedPlace<'_>> = found
        .iter()
        .filter_map(|found| {
            let history = histories.get(&(found.place.offset_bytes, found.place.bytes))?;
            let (begun, last) = *history.last()?;
            let look = SectorJudge {
                generator,
                earlier: &traces.writers,
                later: traces.writers.get(begun..).unwrap_or_default(),
            };
            let is_empty = is_all(&found.data, 0) || is_all(&found.data, 0xff);
            Some(JudgedPlace {
                place: found.place,
                is_empty,
                state: look.state(found, history),
                last,
                later: look.later,
            })
        })
        .collect();
    if states.is_empty() {
        return Recognition::CannotTell {
            why: "none of the places by which the medium could be known again can be read".into(),
        };
    }
    conclude(&states, &traces.writers)
}

struct JudgedPlace<'a> {
    place: Extent,
    is_empty: bool,
    state: State,
    last: &'a FingerprintMark,
    later: &'a [UnfinishedCell],
}

fn conclude(seen: &[JudgedPlace<'_>], writers: &[UnfinishedCell]) -> Recognition {
    // An empty medium looks as if zeros had come over all of it by folding; one that folds still
    // shows something of what was there.
    let shows_data = |seen: &JudgedPlace<'_>| match seen.state {
        State::Newer => true,
        State::AsMarked | State::Folded => !seen.is_empty,
        State::Neutral | State::Earlier | State::Foreign => false,
    };
    let is_empty = !seen.iter().any(shows_data);
    let is_wrong = |seen: &&JudgedPlace<'_>| match seen.state {
        State::Foreign | State::Earlier => true,
        State::Folded => is_empty,
        State::AsMarked | State::Newer | State::Neutral => false,
    };
    let wrong: Vec<&JudgedPlace<'_>> = seen.iter().filter(is_wrong).collect();
    if let Some(first) = wrong.iter().find(|seen| seen.state == State::Foreign).or(wrong.first()) {
        let at = Bytes(first.place.offset_bytes);
        let was_written = writers.iter().any(|writer| writer.span.overlaps(&first.place));
        let why = match first.state {
            State::Earlier => format!(
                "{at} holds older data than this run left there: a copy, or writes were lost"
            ),
            _ if was_written => format!("{at} holds data that this run has not written"),
            _ => {
                format!("{at}, which this run has not written, holds other data than when it began")
            }
        };
        let more = wrong.len() - 1;
        let why = if more == 0 {
            why
        } else {
            format!("{why}; so do {more} more of {} places", seen.len())
        };
        return Recognition::Strange {
            why,
            foreign: wrong.iter().map(|seen| seen.place).collect(),
        };
    }
    let candidates: Vec<&JudgedPlace<'_>> = seen.iter().filter(|seen| seen.last.ours).collect();
    let is_proof = |seen: &&JudgedPlace<'_>| matches!(seen.state, State::AsMarked | State::Newer);
    // A cell of zeros that was begun since may have taken the proof away.
    let may_be_gone = |seen: &&JudgedPlace<'_>| {
        let wipes = |writer: &&UnfinishedCell| {
            !leaves_proof(writer) && (!is_empty || writer.span.overlaps(&seen.place))
        };
        seen.later.iter().any(|writer| wipes(&writer))
    };
    if candidates.is_empty()
        || candidates.iter().any(is_proof)
        || candidates.iter().all(may_be_gone)
    {
        return Recognition::Ours;
    }
    let first = Bytes(candidates[0].place.offset_bytes);
    let why = format!(
        "nothing of what this run has written is on it: of {} places, the first at {first}, all are empty",
        candidates.len()
    );
    Recognition::Strange { why, foreign: Vec::new() }
}

fn leaves_proof(writer: &UnfinishedCell) -> bool {
    matches!(
        writer.content,
        Some(Content::Incompressible | Content::Repeated | Content::Compressible(_))
    )
}

/// State of a sector by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sector {
    /// Data of the run that a later cell may have written there.
    Ours,
    /// Zeros or 0xFF where the run has written, or data without the run's seed that a later cell
    /// may have written there.
    Neutral,
    /// Written by a later cell, as its content alone shows.
    ByContent,
    /// The same, outside of the span of that cell.
    Folded,
    /// None of these: no cell that was begun since explains it.
    Strange,
}

struct SectorJudge<'a> {
    generator: &'a DataGenerator,
    /// All cells that were begun.
    earlier: &'a [UnfinishedCell],
    /// Cells that were begun since the place was read.
    later: &'a [UnfinishedCell],
}

impl SectorJudge<'_> {
    fn state(&self, found: &PlaceRead, history: &[(usize, &FingerprintMark)]) -> State {
        let crc32c = CRC.checksum(&found.data);
        if history.last().is_some_and(|(_, mark)| mark.crc32c == crc32c) {
            return State::AsMarked;
        }
        let verdicts = self.generator.verify(&found.data, 0, found.place.offset_bytes);
        let sectors: Vec<Sector> = verdicts
            .zip(found.data.chunks(SECTOR_BYTES as usize))
            .map(|((at, verdict), data)| self.sector(at, verdict, data))
            .collect();
        let has = |kind: Sector| sectors.contains(&kind);
        let is_as_earlier = || history.iter().any(|(_, mark)| mark.crc32c == crc32c);
        // Where only a part was written since, the rest is as it was; of that part alone there is
        // no checksum.
        match (has(Sector::Strange), has(Sector::Ours)) {
            (_, true) => State::Newer,
            (_, false) if has(Sector::Folded) => State::Folded,
            (false, false) if self.is_finished(found, history) && is_as_earlier() => State::Earlier,
            (false, false) => State::Neutral,
            (true, false) if has(Sector::ByContent) => State::Neutral,
            (true, false) if is_as_earlier() => State::Earlier,
            (true, false) => State::Foreign,
        }
    }

    /// True if data of the run was last read here, and no cell begun since writes here: a power cut
    /// can only undo later writes.
    fn is_finished(&self, found: &PlaceRead, history: &[(usize, &FingerprintMark)]) -> bool {
        history.last().is_some_and(|(_, mark)| mark.ours)
            && !self.later.iter().any(|writer| writer.span.overlaps(&found.place))
    }

    fn sector(&self, offset_bytes: u64, verdict: SectorVerdict, data: &[u8]) -> Sector {
        let here = Extent::new(offset_bytes, SECTOR_BYTES);
        let covers = |writers: &[UnfinishedCell], place: &Extent| {
            writers.iter().any(|writer| writer.span.overlaps(place))
        };
        let home = match verdict {
            SectorVerdict::Overwritten { by_offset_bytes, .. } => {
                Extent::new(by_offset_bytes, SECTOR_BYTES)
            }
            _ => here,
        };
        // On media whose addresses fold a cell writes beyond its span: its data says where it
        // belongs.
        if is_ours(verdict) && covers(self.later, &home) {
            return Sector::Ours;
        }
        let written = |sector| {
            self.later.iter().any(|writer| self.by_content(writer, here, data) == Some(sector))
        };
        if let Some(sector) = [Sector::Ours, Sector::ByContent, Sector::Folded]
            .into_iter()
            .find(|sector| written(*sector))
        {
            return sector;
        }
        let is_empty = matches!(verdict, SectorVerdict::Zero | SectorVerdict::Blank);
        if is_empty && covers(self.earlier, &here) { Sector::Neutral } else { Sector::Strange }
    }

    /// State of a sector that this cell may have written, by its kind of data; `None` if it cannot
    /// have.
    fn by_content(&self, writer: &UnfinishedCell, here: Extent, data: &[u8]) -> Option<Sector> {
        // Where addresses fold, a cell writes beyond its span, and in steps that are no multiple of
        // a block.
        let plain = if writer.span.overlaps(&here) { Sector::ByContent } else { Sector::Folded };
        match writer.content {
            None => (plain == Sector::ByContent).then_some(plain),
            Some(Content::Zeros) => is_all(data, 0).then_some(plain),
            Some(Content::Byte(value)) => is_all(data, value).then_some(plain),
            Some(Content::Repeated) => self.is_repeated(data).then_some(Sector::Ours),
            Some(Content::Compressible(percent)) => {
                // The sector in which the zeros end has lost its name.
                let zeros = zeros_in_block(percent) % SECTOR_BYTES as usize;
                (is_all(data, 0) || (zeros > 0 && is_all(&data[..zeros], 0))).then_some(plain)
            }
            Some(Content::Incompressible) => None,
        }
    }

    fn is_repeated(&self, data: &[u8]) -> bool {
        let mut block = vec![0; BLOCK_BYTES];
        self.generator.fill(&mut block, Content::Repeated, 0, 0);
        block.chunks(SECTOR_BYTES as usize).any(|sector| sector == data)
    }
}

fn is_all(data: &[u8], value: u8) -> bool {
    data.iter().all(|byte| *byte == value)
}
