//! A record small enough for a repository that keeps every version of everything for ever.

use std::io::Write;

use anyhow::{Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use record::{Cell, Published, Series};

/// Bytes of a packed record.
pub const MOST_PACKED: usize = 100_000;
/// Points that a curve keeps at least.
const FEWEST: usize = 16;

/// The record as it lies in a repository, and its bytes: JSON, packed with gzip, at most
/// [`MOST_PACKED`] bytes. Figures, intervals and histograms stay as they are. Where the record is
/// too large, what the kernel counted goes first; then curves lose every second point, the first and
/// the last excepted, until it fits.
///
/// # Errors
/// Where it is too large even so.
pub fn packed(run: &Published) -> Result<(Published, Vec<u8>)> {
    let mut run = run.clone();
    run.findings.clear();
    let mut bytes = pack(&run)?;
    if bytes.len() > MOST_PACKED {
        run.cells.iter_mut().for_each(|cell| cell.activity.clear());
        bytes = pack(&run)?;
    }
    while bytes.len() > MOST_PACKED {
        let curves = run.cells.iter_mut().flat_map(|cell| &mut cell.series);
        let thinned = curves.filter(|series| series.points.len() > FEWEST).map(thin).count();
        if thinned == 0 {
            bail!(
                "the record has {} bytes packed; a repository takes {MOST_PACKED} at most",
                bytes.len()
            );
        }
        bytes = pack(&run)?;
    }
    Ok((run, bytes))
}

/// The cells of a run as the file of a site has them: without what the kernel counted, and with
/// curves that lost every second point until they have [`FEWEST`] or fewer. A site would be ten
/// times as large with all of their digits.
pub fn thinned(cells: &mut [Cell]) {
    for cell in cells {
        cell.activity.clear();
        for series in &mut cell.series {
            while series.points.len() > FEWEST {
                thin(series);
            }
        }
    }
}

/// Leaves out every second point of a curve.
fn thin(series: &mut Series) {
    let last = series.points.len() - 1;
    let mut at = 0;
    series.points.retain(|_| {
        at += 1;
        at % 2 == 1 || at == last + 1
    });
}

/// The same bytes for the same record: no time stands in the head.
fn pack(run: &Published) -> Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packer, run)?;
    packer.write_all(b"\n")?;
    Ok(packer.finish()?)
}

#[cfg(test)]
mod tests {
    use record::SeriesAxis;

    use super::*;

    fn run(points: usize) -> Published {
        let text = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
        let mut run = Published::from(&record::Record::from_json(text).unwrap());
        // Digits without a pattern, as measured ones are.
        let digits = |at: usize| ((at as f64 * 0.754_877_666).fract() * 1e9).round();
        run.cells[0].series = vec![Series {
            name: "rate".into(),
            x: SeriesAxis::Bytes,
            y: SeriesAxis::Bps,
            points: (0..points).map(|at| [at as f64, digits(at)]).collect(),
        }];
        run
    }

    #[test]
    fn a_small_record_keeps_every_point_and_a_large_one_its_ends() {
        let small = run(100);
        let (kept, bytes) = packed(&small).unwrap();
        assert_eq!((&kept.cells, bytes), (&small.cells, packed(&small).unwrap().1));
        let large = run(200_000);
        let (kept, bytes) = packed(&large).unwrap();
        let points = &kept.cells[0].series[0].points;
        assert!(
            bytes.len() <= MOST_PACKED && points.len() > 1000,
            "{} {}",
            bytes.len(),
            points.len()
        );
        assert_eq!(
            (points[0], points[points.len() - 1]),
            (large.cells[0].series[0].points[0], large.cells[0].series[0].points[199_999])
        );
        assert_eq!(kept.cells[0].histogram, large.cells[0].histogram);
        assert!(collection::judge(kept).is_ok());
    }
}
