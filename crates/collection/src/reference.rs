//! Figures that others have published.

use record::Published;
use record::collection::RunHeadline;

/// The line of a published run: only the figures of `drawn`, which was computed from its cells. No
/// other conclusions are drawn, as published figures are few and were measured differently. The
/// medium is marked as a fake if its source calls it one.
pub fn reference_headline(run: &Published, drawn: RunHeadline) -> RunHeadline {
    let model = run.model.as_deref().unwrap_or_default().to_lowercase();
    let is_fake = ["counterfeit", "fake"].iter().any(|word| model.contains(word));
    RunHeadline { figures: drawn.figures, is_fake, ..RunHeadline::default() }
}

#[cfg(test)]
mod tests {
    use record::collection::HeadlineFigure;

    use super::*;

    #[test]
    fn only_figures_are_concluded_from_what_others_published() {
        let text = include_str!("../../../fixtures/records/check-a1.json");
        let mut run = Published::from(&record::Record::from_json(text).unwrap());
        let drawn = RunHeadline {
            figures: [(HeadlineFigure::RandomWrite4k, 7.0)].into(),
            verdict: Some("Good for a root disk.".to_owned()),
            faults: vec!["capacity-fake".to_owned()],
            is_fake: true,
            ..RunHeadline::default()
        };
        let of = |run: &Published| reference_headline(run, drawn.clone());
        assert_eq!(
            of(&run),
            RunHeadline { figures: drawn.figures.clone(), ..RunHeadline::default() }
        );
        run.model = Some("64 GB announced, Counterfeit".to_owned());
        assert!(of(&run).is_fake);
    }

    /// The line of the published record with a row.
    fn line_of(row: &str) -> RunHeadline {
        let mut runs = report::reference::runs().into_iter();
        let run = runs.find(|run| run.cells.iter().any(|cell| cell.label("row") == row)).unwrap();
        let upload = crate::judge(run).unwrap();
        reference_headline(&upload.run, upload.headline)
    }

    #[test]
    fn figures_are_those_of_a_collection_only_where_they_really_are() {
        for printed in [
            // A CF card: dd past the cache and iozone, of one comment.
            "article-00056: random-write-4k 133, sequential-write 9600000, random-read-4k 1172, sequential-read 8500000",
            // The author's own benchmark: fills, and milliseconds a sector.
            "article-00272: random-write-512 46.51162790697674, random-fill 27420000, zero-fill 27580000",
            // iozone in KiB/s.
            "izp-00128: random-write-4k 1506.5, random-write-16k 1125.875, sequential-write 58750976, random-read-4k 3281.25, sequential-read 65987584",
            // hdparm (MB of 2^20 bytes), dd with an fsync, iozone 4K.
            "pid-00008: random-write-4k 261.23046875, sequential-write 14500000, random-read-4k 1218.26171875, sequential-read 33260830.72",
            // 64 I/Os in flight are not queue depth 1; CrystalDiskMark shows the best of five; reads
            // from the page cache are left out.
            "jac-00001: random-write-4k 3203, sequential-write 33500000, random-read-4k 2927.25",
            "smt-00060: ",
        ] {
            let row = printed.split(':').next().unwrap();
            let found = line_of(row).figures;
            let text = found.iter().map(|(figure, value)| format!("{} {value}", figure.name()));
            assert_eq!(format!("{row}: {}", text.collect::<Vec<_>>().join(", ")), printed);
        }
        assert!(line_of("ssp-00107").is_fake && !line_of("ssp-00001").is_fake);
    }
}
