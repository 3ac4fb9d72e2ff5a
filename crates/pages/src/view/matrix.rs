//! The page of a matrix: recommendation, heat maps, tables, commands.

use askama::Template;
use findings::matrix::{CombinationResult, ContestRank, Matrix, WorkPlaces};
use record::text::{capitalised, printable};
use record::units::significant;
use record::{Combination, Record};
use report::tables::Table;
use report::{matrix, words};

use super::TableView;
use super::cover::Cover;
use crate::{PageHead, filters};

/// Data of `matrix.html`, the page of a matrix.
#[derive(Template)]
#[template(path = "matrix.html")]
pub(crate) struct MatrixPage {
    cover: Cover,
    statements: Vec<String>,
    works: Vec<WorkView>,
    fragmentation: Option<TableView>,
    threads: Option<TableView>,
    recommended: String,
    commands: Vec<(&'static str, String)>,
}

/// The results of one work: heat map, tables, and what failed.
struct WorkView {
    title: String,
    unit: &'static str,
    schedulers: Vec<String>,
    rows: Vec<HeatRow>,
    ranking: TableView,
    by_scheduler: TableView,
    failed: Vec<String>,
}

/// A row of the heat map: a file system, with a cell for each scheduler.
struct HeatRow {
    label: String,
    cells: Vec<HeatCell>,
}

/// A combination in the heat map, or the reason why it has no figure.
struct HeatCell {
    class: String,
    share: String,
    figure: String,
}

impl MatrixPage {
    /// The whole page.
    pub fn of(record: &Record, matrix: &Matrix) -> MatrixPage {
        let overall = matrix.overall.first().map(findings::matrix::Overall::statement);
        let (recommended, commands) = matrix::commands(record, matrix).unwrap_or_default();
        MatrixPage {
            cover: Cover::of(record, record::test::MATRIX, matrix::state(record)),
            statements: matrix
                .works
                .iter()
                .map(WorkPlaces::statement)
                .chain(overall)
                .map(|text| printable(&text))
                .collect(),
            works: matrix.works.iter().map(work).collect(),
            fragmentation: matrix::fragmentation(matrix)
                .map(|table| TableView::new(table, "Extents of the files".to_owned())),
            threads: matrix::threads(record)
                .map(|table| TableView::new(table, "Rates of the threads, MB/s".to_owned())),
            recommended: printable(&recommended),
            commands: commands.into_iter().map(|(what, line)| (what, printable(&line))).collect(),
        }
    }
}

fn work(work: &WorkPlaces) -> WorkView {
    let combinations: Vec<&Combination> = work
        .places
        .iter()
        .map(|place| &place.combination)
        .chain(work.failed.iter().map(|(combination, _)| combination))
        .collect();
    let mut schedulers =
        distinct(combinations.iter().map(|combination| combination.scheduler.clone()));
    // the same order for every work, so that columns can be compared
    schedulers.sort_by_key(|name| (name != "none", name.clone()));
    let one_mount =
        distinct(combinations.iter().map(|combination| combination.mount_options.clone())).len()
            < 2;
    let rows =
        distinct(combinations.iter().map(|combination| {
            (combination.filesystem_words(), combination.mount_options.clone())
        }));
    let row = |(filesystem, mount_options): &(String, String)| {
        let cell = |scheduler: &String| {
            let is_it = |combination: &Combination| {
                combination.filesystem_words() == *filesystem
                    && combination.mount_options == *mount_options
                    && combination.scheduler == *scheduler
            };
            match work.places.iter().find(|place| is_it(&place.combination)) {
                Some(place) => heat(work, place),
                None if work.failed.iter().any(|(combination, _)| is_it(combination)) => {
                    empty("failed")
                }
                None => empty("not tried"),
            }
        };
        let label =
            if one_mount { filesystem.clone() } else { format!("{filesystem}, {mount_options}") };
        HeatRow { label: printable(&label), cells: schedulers.iter().map(cell).collect() }
    };
    let title = capitalised(&words::test(&work.work));
    WorkView {
        ranking: TableView::new(matrix::ranking(work), format!("{title}: all combinations")),
        by_scheduler: TableView::new(by_scheduler(work), format!("{title}: by scheduler")),
        title,
        unit: if work.larger_is_better {
            "per second; more is better"
        } else {
            "seconds; less is better"
        },
        rows: rows.iter().map(row).collect(),
        failed: work
            .failed
            .iter()
            .map(|(combination, reason)| printable(&format!("{}: {reason}", combination.words())))
            .collect(),
        schedulers: schedulers.iter().map(|name| printable(name)).collect(),
    }
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut kept, one| {
        if !kept.contains(&one) {
            kept.push(one);
        }
        kept
    })
}

/// A cell coloured by its ratio to the best; framed if it may be equally good.
fn heat(work: &WorkPlaces, place: &CombinationResult) -> HeatCell {
    let level = (place.relative * 10.0).round().clamp(0.0, 10.0) as u32;
    let equal = if place.rank == ContestRank::Worse { "" } else { " equal" };
    let figure = significant(place.centre);
    let unit = if work.larger_is_better { "/s" } else { " s" };
    HeatCell {
        class: format!("h{level}{equal}"),
        share: format!("{:.0} %", place.relative * 100.0),
        figure: format!("{figure}{unit}"),
    }
}

/// Each scheduler over all file systems: ratio to the best at its best and on average, fairness,
/// and longest stall.
fn by_scheduler(work: &WorkPlaces) -> Table {
    let mut table = Table::new(&[
        "Scheduler",
        "#Of the best speed, at its best",
        "#On average",
        "#Fairness",
        "#Slowest",
    ]);
    let mut names: Vec<&str> = Vec::new();
    for place in &work.places {
        if !names.contains(&place.combination.scheduler.as_str()) {
            names.push(&place.combination.scheduler);
        }
    }
    for name in names {
        let places: Vec<&CombinationResult> =
            work.places.iter().filter(|place| place.combination.scheduler == name).collect();
        let mean = |values: Vec<f64>| {
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let best = places.iter().map(|place| place.relative).max_by(f64::total_cmp);
        let average = mean(places.iter().map(|place| place.relative.ln()).collect()).map(f64::exp);
        let fairness = mean(places.iter().filter_map(|place| place.fairness).collect());
        let worst = places.iter().filter_map(|place| place.worst_stall_ns).max_by(f64::total_cmp);
        let shown = |value: Option<f64>| value.map(significant).unwrap_or_else(|| "-".to_owned());
        let worst = worst.map(words::stall).unwrap_or_else(|| "-".to_owned());
        table.push(
            vec![printable(name), shown(best), shown(average), shown(fairness), worst],
            Vec::new(),
        );
    }
    table
}

fn empty(why: &str) -> HeatCell {
    HeatCell { class: "none".to_owned(), share: String::new(), figure: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use record::{Cell, Ended, Estimate, Params, PlannedCell, TargetKind};

    use report::matrix::{commands, state};

    use super::*;
    use crate::demo;

    fn cell(filesystem: &str, scheduler: &str, repeat: u32, figure: f64) -> Cell {
        let mut cell = Cell::begun(
            format!("untar/{filesystem}/{scheduler}#{repeat}"),
            "untar",
            Params::default(),
        );
        cell.metrics.iops = Some(Estimate { value: figure, ci95: None, n: 1 });
        cell.metrics
            .other
            .insert("worst_stall_ns".to_owned(), Estimate { value: 2e6, ci95: None, n: 1 });
        cell.metrics
            .other
            .insert("extents_per_file_after".to_owned(), Estimate { value: 1.5, ci95: None, n: 1 });
        let labels = [
            ("work", "untar"),
            ("filesystem", filesystem),
            ("align", "no"),
            ("mount_options", "noatime"),
            ("scheduler", scheduler),
        ];
        cell.labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        cell.labels.insert("repeat".to_owned(), repeat.to_string());
        cell.labels.insert("mkfs".to_owned(), format!("mkfs.{filesystem} DEVICE"));
        cell
    }

    fn record() -> Record {
        let mut record = demo::good();
        let figures = [
            ("ext4", "none", 100.0),
            ("ext4", "bfq", 50.0),
            ("xfs", "none", 70.0),
            ("xfs", "bfq", 40.0),
        ];
        record.cells = figures
            .iter()
            .flat_map(|(fs, scheduler, figure)| {
                (1..=3).map(move |repeat| cell(fs, scheduler, repeat, figure + f64::from(repeat)))
            })
            .collect();
        let planned = |cell: &Cell| PlannedCell {
            id: cell.id.clone(),
            test: cell.test.clone(),
            params: Params::default(),
            max_ns: 0,
            max_written_bytes: 0,
        };
        record.plan = record.cells.iter().map(planned).collect();
        record.findings = Vec::new();
        record.skipped = Vec::new();
        record.medium.serial = Some("42\"".to_owned());
        record.medium.cid = None;
        record.target.device = Some("sdb".to_owned());
        record.target.kind = TargetKind::Block;
        record
    }

    #[test]
    fn the_best_comes_first_and_with_the_lines_to_type() {
        let record = record();
        let matrix = findings::matrix::of(&record).unwrap();
        let screen = report::text::summary(&record, 80, false);
        assert!(screen.lines().count() <= 24, "{screen}");
        assert!(screen.contains("ext4 (noatime) with none is best"), "{screen}");
        let text = report::text::details(&record, &record.run.id, 80, false);
        assert!(
            text.contains("untar: ext4 (noatime) with none is best: 102 per second, 1.42x faster"),
            "{text}"
        );
        let (combination, lines) = commands(&record, &matrix).unwrap();
        assert_eq!(
            (combination.as_str(), lines[0].1.as_str()),
            ("ext4 (noatime) with none", "mkfs.ext4 /dev/sdb")
        );
        insta::assert_snapshot!(lines[1].1, @"UUID=THE-UUID  /MOUNT/POINT  ext4  noatime  0  2");
        insta::assert_snapshot!(lines[2].1, @r#"ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ENV{ID_SERIAL_SHORT}=="42?", ATTR{queue/scheduler}="none""#);
    }

    #[test]
    fn the_page_has_a_heat_map_and_lets_nothing_out() {
        let mut record = record();
        record.cells[0].labels.insert("scheduler".to_owned(), "<b>evil</b>".to_owned());
        let page = crate::page(&record);
        assert!(page.contains("<table class=\"heat\">") && page.contains("h10 equal"), "{page}");
        assert!(!page.contains("<b>evil"), "markup from a record");
        // Only classes carry style: the policy of the page blocks inline styles.
        assert!(!page.contains("style=\""));
    }

    #[test]
    fn an_unfinished_one_counts_tries() {
        let mut record = record();
        record.run.ended = Ended::Interrupted;
        record.cells.truncate(5);
        assert_eq!(
            state(&record).unwrap(),
            "The matrix was interrupted: 5 of 12 planned tries are done; flashmark resume continues it."
        );
        record.plan.truncate(3);
        assert!(state(&record).unwrap().contains("3 of 3 planned tries are done, and 2 of those"));
    }
}
