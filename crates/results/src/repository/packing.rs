//! Packs a record for a repository, which keeps every version of everything for ever, so that
//! records must be small.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use record::{Cell, Published, Series};

/// Most bytes of a packed record.
pub const MAX_PACKED: usize = 100_000;
/// Points that a curve keeps, unless the record is still too large.
const FEWEST: usize = 16;
/// Points that it keeps then: its ends.
const ENDS: usize = 2;

/// A record as a repository has it.
pub struct PackedRecord {
    /// The run without the parts that were left out.
    pub run: Published,
    /// JSON, packed with gzip, at most [`MAX_PACKED`] bytes.
    pub bytes: Vec<u8>,
    /// Cells that were left out because the record was too large.
    pub left_out: Vec<Cell>,
}

/// Packs a record for a repository. A record that is too large loses one part after the other,
/// until it fits: the kernel's counts; every second point of its curves, down to [`FEWEST`], then
/// down to their ends; tests, and then cells, on which neither its figures nor its verdict rest,
/// the largest first. Figures, intervals and histograms that are kept do not change.
///
/// # Errors
/// It is still too large.
pub fn packed(whole: &Published) -> Result<PackedRecord> {
    let mut run = whole.clone();
    run.findings.clear();
    let mut bytes = pack(&run)?;
    if bytes.len() > MAX_PACKED {
        run.cells.iter_mut().for_each(|cell| cell.activity.clear());
        bytes = pack(&run)?;
    }
    for fewest in [FEWEST, ENDS] {
        while bytes.len() > MAX_PACKED && thin_all(&mut run.cells, fewest) {
            bytes = pack(&run)?;
        }
    }
    if bytes.len() > MAX_PACKED {
        let of_tests = |cell: &Cell| cell.test.clone();
        bytes = leave_out(&mut run, bytes, of_tests)?;
        bytes = leave_out(&mut run, bytes, |cell| cell.id.clone())?;
    }
    if bytes.len() > MAX_PACKED {
        let bytes = bytes.len();
        bail!("the record has {bytes} bytes packed; a repository takes {MAX_PACKED} at most");
    }
    let is_kept = |cell: &&Cell| run.cells.iter().any(|kept| kept.id == cell.id);
    let left_out = whole.cells.iter().filter(|cell| !is_kept(cell)).cloned().collect();
    Ok(PackedRecord { run, bytes, left_out })
}

/// Leaves out groups of cells with the same `name_of`, the largest first, as long as the record is
/// too large and its line does not change.
fn leave_out(
    run: &mut Published,
    mut bytes: Vec<u8>,
    name_of: impl Fn(&Cell) -> String,
) -> Result<Vec<u8>> {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for cell in &run.cells {
        *sizes.entry(name_of(cell)).or_default() += cell.encode().len();
    }
    let mut largest: Vec<(String, usize)> = sizes.into_iter().collect();
    largest.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    let mut record = run.to_record("packed");
    let line = findings::headline(&record);
    for (name, _) in largest {
        if bytes.len() <= MAX_PACKED {
            break;
        }
        let all = record.cells.clone();
        record.cells.retain(|cell| name_of(cell) != name);
        if record.cells.is_empty() || findings::headline(&record) != line {
            record.cells = all;
            continue;
        }
        run.cells.clone_from(&record.cells);
        bytes = pack(run)?;
    }
    Ok(bytes)
}

/// Thins the cells of a run for the file of a site: without the kernel's counts, and with curves
/// that lost every second point until they have [`FEWEST`] or fewer. A site would be ten times as
/// large with all of their digits.
pub fn thinned(cells: &mut [Cell]) {
    cells.iter_mut().for_each(|cell| cell.activity.clear());
    while thin_all(cells, FEWEST) {}
}

/// Thins all curves with more points than that once; true if there was one.
fn thin_all(cells: &mut [Cell], fewest: usize) -> bool {
    let curves = cells.iter_mut().flat_map(|cell| &mut cell.series);
    curves.filter(|series| series.points.len() > fewest).map(thin).count() > 0
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

/// Packs the JSON of a run. The same record gives the same bytes, as the head has no time.
fn pack(run: &Published) -> Result<Vec<u8>> {
    write_packed(Vec::new(), Compression::best(), &run.encode())
}

/// Writes a line of JSON, packed with gzip.
pub fn write_packed<W: Write>(to: W, level: Compression, json: &str) -> Result<W> {
    let mut packer = GzEncoder::new(to, level);
    packer.write_all(json.as_bytes())?;
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
        let PackedRecord { run: kept, bytes, .. } = fits(&small);
        assert_eq!((&kept.cells, bytes), (&small.cells, packed(&small).unwrap().bytes));
        let large = run(200_000);
        let kept = fits(&large).run;
        let [points, all] = [&kept, &large].map(|run| &run.cells[0].series[0].points);
        assert!(points.len() > 1000, "{}", points.len());
        assert_eq!([points.first(), points.last()], [all.first(), all.last()]);
        assert_eq!(kept.cells[0].histogram, large.cells[0].histogram);
    }

    /// Packs a record and checks the rules of a repository: it is small enough, judged as the whole
    /// record is, and has the same line.
    fn fits(run: &Published) -> PackedRecord {
        let PackedRecord { run: kept, bytes, left_out } = packed(run).unwrap();
        assert!(bytes.len() <= MAX_PACKED, "{} bytes", bytes.len());
        let line = |run: &Published| findings::headline(&run.to_record("a"));
        assert_eq!(line(&kept), line(run));
        let taken = |run: &Published| collection::judge(run.clone()).map(|upload| upload.caveats);
        assert_eq!(taken(&kept), taken(run));
        PackedRecord { run: kept, bytes, left_out }
    }

    #[test]
    fn every_kept_record_of_ours_fits() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/records");
        let mut records = 0;
        for entry in std::fs::read_dir(dir).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let Ok(record) = record::Record::from_json(&text) else { continue };
            let PackedRecord { run, left_out, .. } = fits(&Published::from(&record));
            assert!(collection::judge(run).is_ok() && left_out.is_empty(), "{left_out:?}");
            records += 1;
        }
        assert!(records > 20, "{records}");
    }

    #[test]
    fn a_record_of_hundreds_of_large_cells_keeps_those_of_its_line() {
        let text = include_str!("../../../../fixtures/records/check-a1.json");
        let mut run = Published::from(&record::Record::from_json(text).unwrap());
        let model = run.cells.iter().find(|cell| cell.histogram.is_some()).unwrap().clone();
        for number in 0..400u64 {
            let mut histogram = record::Histogram::default();
            let mut state = number;
            for _ in 0..3000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                histogram.record(100_000 + (state >> 44));
            }
            run.cells.push(Cell {
                id: format!("replay/{number}"),
                test: "replay".into(),
                ops: histogram.len(),
                metrics: record::Metrics::default(),
                histogram: Some(histogram),
                ..model.clone()
            });
        }
        let PackedRecord { run: kept, left_out, .. } = fits(&run);
        assert!(left_out.len() == 400 && left_out.iter().all(|cell| cell.test == "replay"));
        assert!(kept.cells.len() < run.cells.len());
    }
}
