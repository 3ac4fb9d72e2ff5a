//! The page of a matrix: recommendation, heat maps, tables, commands.

use askama::Template;
use findings::matrix::{CombinationResult, ContestRank, Matrix, MatrixCombination, WorkPlaces};
use record::Record;
use record::text::{capitalised, printable};

use super::super::PageHead;
use super::TableView;
use super::cover::Cover;
use crate::{matrix, words};

/// Data of `matrix.html`, the page of a matrix.
#[derive(Template)]
#[template(path = "matrix.html")]
pub(in crate::html) struct MatrixPage {
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
    let combinations: Vec<&MatrixCombination> = work
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
            let is_it = |combination: &MatrixCombination| {
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
        by_scheduler: TableView::new(matrix::by_scheduler(work), format!("{title}: by scheduler")),
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
    let figure = record::units::significant(place.centre);
    let unit = if work.larger_is_better { "/s" } else { " s" };
    HeatCell {
        class: format!("h{level}{equal}"),
        share: format!("{:.0} %", place.relative * 100.0),
        figure: format!("{figure}{unit}"),
    }
}

fn empty(why: &str) -> HeatCell {
    HeatCell { class: "none".to_owned(), share: String::new(), figure: why.to_owned() }
}
