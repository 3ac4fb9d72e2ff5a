//! Effects of host settings on a medium: short reads under a setting as it is (A) and changed (B),
//! in the order A B B A, so that a steady drift affects both alike.
//!
//! The host and the medium are behind [`HostUnderTest`]; nothing is written to a medium.

use std::sync::atomic::{AtomicBool, Ordering};

use record::{Cell, Direction, Estimate, Params, Path, Pattern, Stop, test};

mod reader;

pub use reader::{RANDOM_BLOCK_BYTES, SEQUENTIAL_BLOCK_BYTES, TimedReader};

/// Kind of read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    /// Sequential reads through the page cache, as programs read.
    Sequential,
    /// Random reads of 4 KiB, past the page cache.
    Random,
}

/// Change of one setting to another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingChange {
    /// Name of the setting.
    pub setting: String,
    /// Value before the change.
    pub before: String,
    /// Value to try.
    pub value: String,
}

/// A medium in a host whose settings can be changed.
pub trait HostUnderTest {
    /// Changes a setting.
    ///
    /// # Errors
    /// The reason in words; the setting is then unchanged.
    fn set(&mut self, setting: &str, value: &str) -> Result<(), String>;

    /// Reads for a moment. `None` if this kind of read is not possible here.
    ///
    /// # Errors
    /// The medium fails; the reason in words.
    fn read(&mut self, kind: ReadKind) -> Result<Option<ReadFigures>, String>;
}

/// Counts and time of the reads of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadFigures {
    /// Number of reads.
    pub ops: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Time from the first read to the last, in nanoseconds.
    pub elapsed_ns: u64,
}

/// Event while changes are tried.
#[derive(Debug)]
pub enum EffectsEvent<'a> {
    /// Result of one turn of reading.
    Measured(Box<Cell>),
    /// Change that the host refuses, and the reason.
    Refused(&'a SettingChange, String),
}

/// End of the trials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EffectsEnd {
    /// Everything was tried.
    Complete,
    /// Someone pressed Ctrl-C.
    Interrupted,
    /// The medium or the host failed, in words.
    Failed(String),
}

/// Tries each change in so many rounds of A B B A and restores the setting. A refused change is
/// reported, and the next one is tried.
pub fn try_changes(
    changes: &[SettingChange],
    rounds: u32,
    host: &mut dyn HostUnderTest,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(EffectsEvent<'_>) -> Result<(), String>,
) -> EffectsEnd {
    for change in changes {
        let tried = one(change, rounds, host, stop, on_event);
        let back = host.set(&change.setting, &change.before);
        match (tried, back) {
            (Err(why), _) | (Ok(_), Err(why)) => return EffectsEnd::Failed(why),
            (Ok(false), Ok(())) => return EffectsEnd::Interrupted,
            (Ok(true), Ok(())) => {}
        }
    }
    EffectsEnd::Complete
}

/// Tries one change; true unless it was interrupted.
fn one(
    change: &SettingChange,
    rounds: u32,
    host: &mut dyn HostUnderTest,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(EffectsEvent<'_>) -> Result<(), String>,
) -> Result<bool, String> {
    for round in 1..=rounds {
        for (turn, is_changed) in [false, true, true, false].into_iter().enumerate() {
            let value = if is_changed { &change.value } else { &change.before };
            if let Err(why) = host.set(&change.setting, value) {
                return on_event(EffectsEvent::Refused(change, why)).map(|()| true);
            }
            for kind in [ReadKind::Sequential, ReadKind::Random] {
                if stop.load(Ordering::Relaxed) {
                    return Ok(false);
                }
                if let Some(figures) = host.read(kind)? {
                    let number = (round - 1) * 4 + turn as u32 + 1;
                    let cell = cell(change, is_changed, number, kind, figures);
                    on_event(EffectsEvent::Measured(Box::new(cell)))?;
                }
            }
        }
    }
    Ok(true)
}

fn cell(
    change: &SettingChange,
    is_changed: bool,
    number: u32,
    kind: ReadKind,
    figures: ReadFigures,
) -> Cell {
    let is_random = kind == ReadKind::Random;
    let form = if is_random { "random" } else { "sequential" };
    let SettingChange { setting, before, value } = change;
    let params = Params {
        direction: Some(Direction::Read),
        pattern: Some(if is_random { Pattern::Uniform } else { Pattern::Sequential }),
        block_bytes: Some(if is_random { RANDOM_BLOCK_BYTES } else { SEQUENTIAL_BLOCK_BYTES }),
        path: if is_random { Path::Direct } else { Path::Buffered },
        queue_depth: 1,
        threads: 1,
        form: Some(form.to_owned()),
        ..Params::default()
    };
    let id = format!("{}/{setting}/{value}/{form}#{number}", test::HOST_EFFECTS);
    let mut cell = Cell::begun(id, test::HOST_EFFECTS, params);
    let rate = |many: u64| many as f64 * 1e9 / figures.elapsed_ns.max(1) as f64;
    let estimate = |value: f64| Some(Estimate { value, ci95: None, n: 1 });
    cell.metrics.iops = estimate(rate(figures.ops)).filter(|_| is_random);
    cell.metrics.bps = estimate(rate(figures.bytes));
    (cell.ops, cell.bytes, cell.elapsed_ns) = (figures.ops, figures.bytes, figures.elapsed_ns);
    cell.stop = Stop::Time;
    let side = if is_changed { value } else { before };
    let labels = [("setting", setting), ("before", before), ("value", value), ("is", side)];
    cell.labels = labels.map(|(name, value)| (name.to_owned(), value.clone())).into();
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host whose read-ahead doubles the rate, and which notes its calls.
    #[derive(Default)]
    struct Noting {
        now: String,
        asked: Vec<String>,
        refuses: Option<&'static str>,
        fails_at: Option<usize>,
    }

    impl HostUnderTest for Noting {
        fn set(&mut self, _: &str, value: &str) -> Result<(), String> {
            if self.refuses == Some(value) {
                return Err("the kernel refuses".to_owned());
            }
            self.now = value.to_owned();
            Ok(())
        }

        fn read(&mut self, kind: ReadKind) -> Result<Option<ReadFigures>, String> {
            if kind == ReadKind::Random {
                return Ok(None);
            }
            self.asked.push(self.now.clone());
            if self.fails_at == Some(self.asked.len()) {
                return Err("it is gone".to_owned());
            }
            let bytes = if self.now == "4096" { 200 } else { 100 };
            Ok(Some(ReadFigures { ops: 1, bytes, elapsed_ns: 1_000 }))
        }
    }

    fn change() -> Vec<SettingChange> {
        vec![SettingChange {
            setting: "read_ahead_kb".into(),
            before: "128".into(),
            value: "4096".into(),
        }]
    }

    fn run(host: &mut Noting, stop: bool) -> (EffectsEnd, Vec<Cell>, Vec<String>) {
        let (mut cells, mut refused) = (Vec::new(), Vec::new());
        let end = try_changes(&change(), 2, host, &AtomicBool::new(stop), &mut |event| {
            match event {
                EffectsEvent::Measured(cell) => cells.push(*cell),
                EffectsEvent::Refused(_, why) => refused.push(why),
            }
            Ok(())
        });
        (end, cells, refused)
    }

    #[test]
    fn changes_are_tried_in_pairs_both_ways_round_and_set_back() {
        let mut host = Noting::default();
        let (end, cells, _) = run(&mut host, false);
        assert_eq!(end, EffectsEnd::Complete);
        let round = ["128", "4096", "4096", "128"];
        assert_eq!(host.asked, [round, round].concat());
        assert_eq!((host.now.as_str(), cells.len()), ("128", 8));
        let bps = |at: usize| cells[at].metrics.bps.unwrap().value;
        assert_eq!([bps(0), bps(1)], [1e8, 2e8]);
        assert_eq!((cells[1].label("is"), cells[1].label("before")), ("4096", "128"));
    }

    #[test]
    fn it_is_set_back_after_a_refusal_a_failure_and_an_interruption() {
        let mut refusing = Noting { refuses: Some("4096"), ..Noting::default() };
        let (end, cells, refused) = run(&mut refusing, false);
        assert_eq!((end, cells.len(), refused.len()), (EffectsEnd::Complete, 1, 1));
        let mut failing = Noting { fails_at: Some(2), ..Noting::default() };
        let (end, ..) = run(&mut failing, false);
        assert_eq!((end, failing.now.as_str()), (EffectsEnd::Failed("it is gone".into()), "128"));
        let mut host = Noting::default();
        let (end, cells, _) = run(&mut host, true);
        assert_eq!((end, cells.len(), host.now.as_str()), (EffectsEnd::Interrupted, 0, "128"));
    }
}
