//! `sequential-read` and `sequential-write`: the dd sweep, 4 KiB to 1 MiB and 120 KiB, O_DIRECT, one at a time (flash.md A4).

use device::Device;
use record::{Content, Direction, Flag, Params, Pattern, PlannedCell, Region};

use crate::drive::{Limits, Load};
use crate::plan::span_of;
use crate::offsets::cyclic;
use crate::certainty;
use crate::{Bench, CellList, Needs, Outcome, Setting, SettingError, Settings, Site, Test};

/// The test, in one direction.
pub struct Sequential(Direction);

impl Sequential {
    /// `sequential-read`.
    pub const READ: Sequential = Sequential(Direction::Read);
    /// `sequential-write`.
    pub const WRITE: Sequential = Sequential(Direction::Write);
}

impl Test for Sequential {
    fn name(&self) -> &'static str {
        match self.0 {
            Direction::Read => "sequential-read",
            Direction::Write => "sequential-write",
        }
    }
    fn about(&self) -> &'static str {
        match self.0 {
            Direction::Read => "reads one block after the other, by block size",
            Direction::Write => "writes one block after the other, by block size and kind of data",
        }
    }
    fn source(&self) -> &'static str {
        "flash.md A4"
    }
    fn settings(&self) -> &'static [Setting] {
        &[
            Setting { name: "block", default: "4KiB,8KiB,16KiB,32KiB,64KiB,120KiB,128KiB,256KiB,512KiB,1MiB", about: "block sizes" },
            Setting { name: "span", default: "512MiB", about: "how much of the medium" },
            Setting { name: "total", default: "512MiB", about: "at most this much a block size" },
            Setting { name: "region", default: "middle", about: "middle, front" },
            Setting { name: "content", default: "incompressible", about: "zeros, repeated, incompressible (writing)" },
            Setting { name: "certainty", default: "2%", about: "stop when the rate is this certain" },
            Setting { name: "min_time", default: "3s", about: "at least this long a block size" },
            Setting { name: "max_time", default: "60s", about: "at most this long a block size" },
        ]
    }
    fn needs(&self) -> Needs {
        Needs { writing: self.0 == Direction::Write, ..Needs::default() }
    }

    fn plan(&self, settings: &Settings, site: &Site, cells: &mut CellList<'_>) -> Result<(), SettingError> {
        let total_bytes = settings.size("total")?;
        let contents = match self.0 {
            Direction::Read => vec![None],
            Direction::Write => settings.contents("content")?.into_iter().map(Some).collect(),
        };
        for region in settings.choices("region", &["middle", "front"])? {
            let region = if region == "front" { Region::Front } else { Region::Middle };
            let span = match site.region(region, settings.size("span")?) {
                Ok(span) => span,
                Err(reason) => {
                    cells.skip(reason);
                    continue;
                }
            };
            for &content in &contents {
                for block_bytes in settings.blocks("block")? {
                    let mut params = Params {
                        direction: Some(self.0),
                        pattern: Some(Pattern::Sequential),
                        block_bytes: Some(block_bytes),
                        region: Some(site.region_name(region)),
                        span_offset_bytes: Some(span.offset_bytes),
                        span_bytes: Some(span.bytes),
                        queue_depth: 1,
                        threads: 1,
                        content,
                        ..Params::default()
                    };
                    params.other.insert("total_bytes".into(), total_bytes as f64);
                    params.other.insert("certainty".into(), settings.share("certainty")?);
                    params.other.insert("min_ns".into(), settings.duration_ns("min_time")? as f64);
                    let written = if self.0 == Direction::Write { total_bytes } else { 0 };
                    cells.add(params, settings.duration_ns("max_time")?, written);
                }
            }
        }
        Ok(())
    }

    fn run(&self, cell: &PlannedCell, bench: &mut Bench<'_>) -> Outcome {
        let planned = span_of(cell);
        let primed = bench.primed(planned);
        let span = primed.unwrap_or(planned);
        let load = match self.0 {
            Direction::Read => Load::read(cell.block_bytes()),
            // A pass number of its own per block size, so that no size writes what lies there already.
            Direction::Write => Load {
                content: cell.params.content.unwrap_or(Content::Incompressible),
                pass: 1000 + (cell.block_bytes() / 512) as u32,
                ..Load::write(cell.block_bytes())
            },
        };
        let rule = certainty(cell.setting("certainty"), (cell.setting("min_ns") as u64).min(bench.allotted_ns / 2));
        let limits = Limits { max_bytes: cell.setting("total_bytes") as u64, ..Limits::certain(rule, bench.time_left_ns()) };
        if self.0 == Direction::Read && let Err(error) = bench.medium.drop_caches() {
            return Outcome::broken(cell, error);
        }
        let tally = bench.drive("measuring", &load, &limits, &mut cyclic(span, cell.block_bytes()));
        let mut outcome = tally.outcome(cell);
        outcome.cell.params.span_bytes = Some(span.bytes);
        if primed.is_none() && self.0 == Direction::Read {
            outcome.cell.flags.push(Flag::NotPrimed);
        }
        outcome
    }
}
