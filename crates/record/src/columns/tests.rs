use std::collections::BTreeSet;

use super::*;
use crate::{Cell, Estimate, Params, quantities};

fn cell(test: &str, form: &str, threads: u32) -> Cell {
    let params = Params {
        block_bytes: Some(4096),
        form: Some(form.to_owned()),
        threads,
        queue_depth: 1,
        ..Params::default()
    };
    let mut cell = Cell::begun("x/1", test, params);
    (cell.metrics.iops, cell.metrics.bps) = (Some(figure(100.0)), Some(figure(409_600.0)));
    cell
}

fn figure(value: f64) -> Estimate {
    Estimate::of(value, 1)
}

/// Each column of a cell with its figure: "random-write-4k 100 IOPS".
fn column_texts(cell: &Cell) -> Vec<String> {
    let figures = quantities(cell).into_iter();
    figures.map(|(of, found)| format!("{} {} {}", of.name, found.value, of.unit)).collect()
}

#[test]
fn every_column_is_known_by_its_name_and_no_two_have_one() {
    let names: BTreeSet<&str> = columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names.len(), columns().len());
    let heads: BTreeSet<&str> = columns().iter().map(|column| column.head.as_str()).collect();
    assert_eq!(heads.len(), columns().len());
    for column in columns() {
        assert_eq!(column_named(&column.name).as_ref(), Some(column), "{}", column.name);
        assert!(COLUMN_FAMILIES.iter().any(|(name, _)| *name == column.family), "{column:?}");
    }
}

#[test]
fn columns_that_are_not_listed_have_names_too() {
    crate::cases::check_rows("src/columns/unlisted.txt", |name| match column_named(name) {
        Some(column) if column.name == name && !columns().contains(&column) => "a column".into(),
        Some(column) => format!("{column:?}"),
        None => "none".to_owned(),
    });
}

#[test]
fn each_form_of_a_format_and_of_a_fill_has_its_own_column() {
    let columns_of = |test: &str, form: &str| {
        let mut cell = cell(test, form, 1);
        cell.params.form = Some(form.to_owned()).filter(|form| !form.is_empty());
        cell.metrics.other.insert(metric::GROUPS_PER_S.to_owned(), figure(2.0));
        column_texts(&cell)
    };
    assert_eq!(columns_of(test::EXT2_FORMAT, "simple"), ["format-groups 2 groups/s"]);
    assert_eq!(columns_of(test::EXT2_FORMAT, "mke2fs"), ["format-groups-mke2fs 2 groups/s"]);
    assert_eq!(columns_of(test::EXT2_FILL, "async"), ["ext2-fill 0.4096 MB/s"]);
    assert_eq!(columns_of(test::EXT2_FILL, "sync"), ["ext2-fill-sync 0.4096 MB/s"]);
    assert_eq!(columns_of(test::EXT2_FILL, ""), ["ext2-fill 0.4096 MB/s"], "no order published");
    let command = |name: &str| column_named(name).unwrap().command;
    assert_eq!(
        command("format-groups"),
        "run TARGET --only ext2-format --set ext2-format.form=simple"
    );
    assert_eq!(command("ext2-fill-sync"), "run TARGET --only ext2-fill --set ext2-fill.order=sync");
}

#[test]
fn iozones_threads_and_ours_are_the_same_columns() {
    let mut printed = cell("iozone", "random-write", 4);
    let mut ours = cell("threads", "published-random-write", 4);
    for (cell, names, factor) in [
        (&mut printed, ["slowest_thread_bps", "fastest_thread_bps", "parent_bps"], 4096.0),
        (&mut ours, ["thread_min_iops", "thread_max_iops", "parent_iops"], 1.0),
    ] {
        for (name, iops) in names.into_iter().zip([250.0, 500.0, 750.0]) {
            cell.metrics.other.insert(name.to_owned(), figure(iops * factor));
        }
    }
    let want = [
        "threads-random-write-4k-4-children 0.4096 MB/s",
        "threads-random-write-4k-4-minimum 1.024 MB/s",
        "threads-random-write-4k-4-maximum 2.048 MB/s",
        "threads-random-write-4k-4-parent 3.072 MB/s",
    ];
    assert_eq!(column_texts(&printed), want);
    assert_eq!(column_texts(&ours), want);
    ours.params.form = Some("honest-random-write".to_owned());
    assert!(
        column_texts(&ours)[0].starts_with("threads-honest-random-write-4k-4-children"),
        "{ours:?}"
    );
}

#[test]
fn a_poll_of_ours_stands_beside_the_published_completion_times() {
    let labelled = |cell: &mut Cell, fs: &str, scheduler: &str| {
        for (name, value) in [("filesystem", fs), ("scheduler", scheduler)] {
            cell.labels.insert(name.to_owned(), value.to_owned());
        }
    };
    let mut published = Cell::begun("", "cacti:app-update", Params::default());
    labelled(&mut published, "xfs", "cfq");
    published.labels.insert("tool".to_owned(), "Cacti".to_owned());
    published.metrics.other.insert("completion_time_ns".to_owned(), figure(97e9));
    assert_eq!(column_texts(&published), ["completion-xfs-nolazy-bfq 97 s"]);
    let mut ours = cell("rrd", "buffered", 1);
    (ours.metrics.iops, ours.metrics.bps) = (None, None);
    ours.elapsed_ns = 60_000_000_000;
    ours.metrics.other.insert("poll_ns".to_owned(), figure(10e9));
    labelled(&mut ours, "xfs-nolazy", "bfq");
    assert_eq!(
        column_texts(&ours),
        ["completion-xfs-nolazy-bfq 10 s"],
        "of one poll, not of all six"
    );
    ours.params.form = Some("page".to_owned());
    assert_eq!(column_texts(&ours), [""; 0]);
}

#[test]
fn cpu_use_is_a_share_of_one_processor() {
    let mut cell = cell(test::RANDOM_WRITE, "", 1);
    cell.metrics.other.insert(metric::CPU_NS_PER_IO.to_owned(), figure(50_000.0));
    assert_eq!(column_texts(&cell), ["random-write-4k 100 IOPS", "cpu-random-write-4k 0.5 %"]);
    cell.params.queue_depth = 8;
    assert_eq!(column_texts(&cell), [""; 0], "what several do at once is another quantity");
}

#[test]
fn a_typo_gets_the_nearest_names() {
    let near = |text: &str| chosen_columns(text).expect_err("a typo").near;
    assert_eq!(near("dd-wirte-64k")[0], "dd-write-64k");
    assert_eq!(near("random-write-4k,iozne")[0], "iozone");
    assert_eq!(near("<script>"), [""; 0]);
    assert_eq!(chosen_columns("dd, seeks,,dd").unwrap(), ["dd", "seeks"]);
}

#[test]
fn a_choice_keeps_its_order_and_a_family_what_is_known_of_it() {
    let known: Vec<FigureColumn> =
        ["seeks", "dd-read-4k", "dd-write-1m", "dd-write-4k", "hdparm-cache", "hdparm"]
            .map(|name| column_named(name).unwrap())
            .into();
    let names = |choice: &[&str]| -> Vec<String> {
        columns_of(choice.iter().copied(), &known).into_iter().map(|it| it.name).collect()
    };
    assert_eq!(names(&["seeks", "dd"]), ["seeks", "dd-write-4k", "dd-write-1m", "dd-read-4k"]);
    assert_eq!(names(&["dd-read-4k", "dd"])[..2], ["dd-read-4k", "dd-write-4k"]);
    assert_eq!(names(&["random-write-4k", "nonsense"]), ["random-write-4k"], "though not known");
    assert_eq!(names(&["hdparm"]), ["hdparm", "hdparm-cache"]);
    assert_eq!(names(&["all"]).len(), known.len());
}

/// Regression: 66048 bytes became "66.0kB", which was read as 66000 and refused.
#[test]
fn a_command_names_its_block_to_the_byte() {
    for bytes in [512, 1536, 4 * KIB, 66_048, 122_880, MIB, MIB + 512, 3 * MIB] {
        let size: Bytes = size_setting(bytes).parse().unwrap();
        assert_eq!(size, Bytes(bytes));
    }
}
