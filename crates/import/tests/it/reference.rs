//! Published figures are the same in the program as in their sources.

use std::collections::BTreeSet;

use import::reference::{FigureKind, entries, row, rows, tables, yardsticks};
use record::collection::{HeadlineFigure, Origin};
use record::{Cell, Flag, quantities};

/// Splits a CSV text into fields, without the reader under test: quotes and all.
fn fields(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted => {}
            other => field.push(other),
        }
    }
    rows
}

#[test]
fn every_published_figure_is_reproduced_to_the_digit() {
    let mut all = rows().iter();
    let mut figures = 0;
    for (table, text) in tables() {
        let listed = fields(&text);
        let place = |name: &str| listed[0].iter().position(|column| column == name).unwrap();
        let columns =
            ["row_id", "value", "value_max", "unit", "source_url", "notes", "block_size_bytes"]
                .map(place);
        for line in &listed[1..] {
            let row = all.next().unwrap_or_else(|| panic!("{table}: fewer rows than lines"));
            let [id, value, most, unit, url, notes, block] =
                columns.map(|column| line[column].as_str());
            let printed = |figure: &Option<import::reference::PublishedFigure>| {
                figure.as_ref().map_or(String::new(), ToString::to_string)
            };
            assert_eq!((row.table, row.row_id.as_str()), (table, id));
            assert_eq!(
                (printed(&row.value).as_str(), printed(&row.value_max).as_str()),
                (value, most),
                "{id}"
            );
            assert_eq!(row.value.as_ref().map_or("", |value| value.text.as_str()), value, "{id}");
            assert_eq!(
                (row.unit.as_str(), row.source_url.as_str(), row.notes.as_str()),
                (unit, url, notes),
                "{id}"
            );
            assert_eq!(
                row.block_size_bytes.map_or(String::new(), |block| block.to_string()),
                block,
                "{id}"
            );
            figures += 1;
        }
    }
    assert!(all.next().is_none(), "more rows than lines");
    assert_eq!(figures, 1382);
    let ids: BTreeSet<&str> = rows().iter().map(|row| row.row_id.as_str()).collect();
    assert_eq!(ids.len(), rows().len(), "every row has an id of its own");
}

#[test]
fn every_measured_figure_is_a_cell_of_one_entry() {
    let measured: BTreeSet<&str> = rows()
        .iter()
        .filter(|row| matches!(row.kind, FigureKind::Measured | FigureKind::MeasuredApprox))
        .map(|row| row.row_id.as_str())
        .collect();
    let entries = entries();
    let shown: Vec<&str> =
        entries.iter().flat_map(|entry| &entry.run.cells).map(|cell| cell.label("row")).collect();
    assert_eq!(shown.iter().copied().collect::<BTreeSet<_>>(), measured);
    assert_eq!(shown.len(), measured.len(), "none of them twice");
    for entry in &entries {
        assert_eq!(entry.origin, Origin::Reference);
        assert!(
            entry.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{}",
            entry.id
        );
        assert!(
            !entry.run.flags.is_empty() && entry.received.len() == 20,
            "{}: where it was published, and when",
            entry.id
        );
        assert!(!entry.model.model.is_empty() || !entry.model.vendor.is_empty(), "{}", entry.id);
    }
    let ids: BTreeSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids.len(), entries.len());
}

/// Figures of the entry that holds a row, by name.
fn figures_of(row_id: &str) -> String {
    let entries = entries();
    let has_row = |cell: &Cell| cell.label("row") == row_id;
    let entry = entries.iter().find(|entry| entry.run.cells.iter().any(has_row)).unwrap();
    let figures = entry.headline.figures.iter();
    let figures_text = figures.map(|(figure, value)| format!("{} {value}", figure.name()));
    figures_text.collect::<Vec<_>>().join(", ")
}

#[test]
fn figures_are_those_of_a_collection_only_where_they_really_are() {
    for (row, figures) in [
        // A CF card: dd past the cache and iozone, of one comment.
        (
            "article-00056",
            "random-write-4k 133, sequential-write 9600000, random-read-4k 1172, sequential-read 8500000",
        ),
        // The author's own benchmark: fills, and milliseconds a sector.
        (
            "article-00272",
            "random-write-512 46.51162790697674, random-fill 27420000, zero-fill 27580000",
        ),
        // iozone in KiB/s.
        (
            "izp-00128",
            "random-write-4k 1506.5, random-write-16k 1125.875, sequential-write 58750976, random-read-4k 3281.25, sequential-read 65987584",
        ),
        // hdparm (MB of 2^20 bytes), dd with an fsync, iozone 4K.
        (
            "pid-00008",
            "random-write-4k 261.23046875, sequential-write 14500000, random-read-4k 1218.26171875, sequential-read 33260830.72",
        ),
        // 64 I/Os in flight are not queue depth 1; CrystalDiskMark shows the best of five; reads
        // from the page cache are left out.
        ("jac-00001", "random-write-4k 3203, sequential-write 33500000, random-read-4k 2927.25"),
        ("smt-00060", ""),
    ] {
        assert_eq!(figures_of(row), figures, "{row}");
    }
    let cached = rows().iter().find(|row| row.notes.contains("page cache of the host")).unwrap();
    let figures = figures_of(&cached.row_id);
    assert!(!figures.contains("read-4k") && !figures.contains("sequential-read"), "{figures}");
}

#[test]
fn a_published_format_stands_beside_the_simple_form_of_ours() {
    let entries = entries();
    let cell_of = |row_id: &str| {
        let mut cells = entries.iter().flat_map(|entry| &entry.run.cells);
        cells.find(|cell| cell.label("row") == row_id).unwrap()
    };
    // Seagate Momentus: 141 groups a second, and a fill of 5.07 MB/s.
    let (format, fill) = (cell_of("article-00275"), cell_of("article-00276"));
    assert_eq!(format.params.form.as_deref(), Some("simple"));
    let figures_text = |cell: &Cell| {
        let (column, figure) = quantities(cell).remove(0);
        (column.name, column.command, figure.value)
    };
    assert_eq!(
        figures_text(format),
        (
            "format-groups".to_owned(),
            "run TARGET --only ext2-format --set ext2-format.form=simple".to_owned(),
            141.0
        )
    );
    assert_eq!(figures_text(fill).0, "ext2-fill");
    let order = "the source does not say in which order metadata was written";
    assert!(fill.flags.contains(&Flag::Note { text: order.to_owned() }), "{:?}", fill.flags);
}

#[test]
fn yardsticks_are_looked_up_and_not_typed_in() {
    let figures_text: Vec<String> = yardsticks()
        .iter()
        .map(|one| {
            format!("{} {} {} ({})", one.name, one.figure.name(), one.value, one.row.source_date)
        })
        .collect();
    insta::assert_debug_snapshot!(figures_text, @r#"
    [
        "5400 rpm laptop disk random-write-4k 90 (2012-01-25)",
        "5400 rpm laptop disk random-read-4k 90 (2012-01-25)",
        "10,000 rpm disk, outer edge sequential-read 65000000 (2007-07-07)",
        "7200 rpm disk, outer edge sequential-read 55000000 (2007-07-07)",
        "first CF cards (1 GB, 2005) sequential-read 5200000 (2007-07-07)",
        "4 GB CF card of 2007 sequential-read 15400000 (2007-07-07)",
        "class A1 random-read-4k 1500 (2023)",
        "class A1 random-write-4k 500 (2023)",
        "class A1 and A2 sequential-write 10000000 (2023)",
        "class A2 random-read-4k 4000 (2023)",
        "class A2 random-write-4k 2000 (2023)",
    ]
    "#);
    assert!(
        yardsticks()
            .iter()
            .filter(|one| one.is_limit)
            .all(|one| one.row.kind == FigureKind::Threshold)
    );
    assert!(
        yardsticks().iter().any(|one| one.figure == HeadlineFigure::RandomWrite4k && !one.is_limit)
    );
    assert_eq!(row("article-00001").unwrap().value.as_ref().unwrap().text, "8.3");
}

#[test]
fn what_its_source_calls_counterfeit_is_listed_apart() {
    let fakes: Vec<String> = entries()
        .into_iter()
        .filter(|entry| entry.headline.is_fake)
        .map(|entry| entry.id)
        .collect();
    assert_eq!(fakes, ["reference-ssp-00107"]);
}
