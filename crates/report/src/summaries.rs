//! Results of several media in one table.

use record::text::{capitalised, printable};
use record::units::{BytesPerSecond, Iops};
use record::{Answer, Summary};

use crate::display;
use crate::text::wrapped;

const HEAD: [&str; 5] = ["medium", "read", "write", "random read", "random write"];
const NOTHING: &str = "-";
const INDENT: &str = "    ";

/// Result of one medium.
pub struct MediumSummary<'a> {
    /// The target as it was typed.
    pub target: &'a str,
    /// Summary of its run; `None` if there is no run.
    pub summary: Option<&'a Summary>,
    /// Outcome without a run: "refused".
    pub outcome: &'a str,
    /// Reason why there is no run.
    pub why: &'a str,
    /// Name of its run.
    pub run: Option<&'a str>,
}

/// A row of figures for each medium, and below it the reasons of each answer other than yes, and
/// the names of the runs; lines of at most `width` columns, except for rows that need more.
pub fn table(media: &[MediumSummary<'_>], width: usize) -> String {
    let rows: Vec<[String; 5]> =
        std::iter::once(HEAD.map(str::to_owned)).chain(media.iter().map(row)).collect();
    let widest = |column: usize| rows.iter().map(|row| display::width(&row[column])).max();
    let widths: Vec<usize> = (0..HEAD.len()).filter_map(widest).collect();
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| display::padded(cell, *width));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut text = line(&rows[0]);
    for (medium, row) in media.iter().zip(&rows[1..]) {
        text += &line(row);
        let run = medium.run.map(|run| display::unbroken(&format!("flashmark show {run}")));
        let (answers, reasons) = match medium.summary {
            Some(it) => (Some(answers(it)), reasons(it)),
            None => (None, medium.why.to_owned()),
        };
        let parts = [answers, Some(reasons).filter(|text| !text.is_empty()), run];
        for part in parts.into_iter().flatten() {
            for line in wrapped(&printable(&part), width.saturating_sub(INDENT.len())) {
                text += &format!("{INDENT}{line}\n");
            }
        }
    }
    text
}

fn row(one: &MediumSummary<'_>) -> [String; 5] {
    let medium = printable(one.target);
    let Some(it) = one.summary else {
        return [&medium, one.outcome, "", "", ""].map(str::to_owned);
    };
    let rate = |bps: Option<f64>| {
        bps.map_or_else(|| NOTHING.to_owned(), |bps| BytesPerSecond(bps).to_string())
    };
    let iops =
        |iops: Option<f64>| iops.map_or_else(|| NOTHING.to_owned(), |iops| Iops(iops).to_string());
    [
        medium,
        rate(it.sequential_read_bps),
        rate(it.sequential_write_bps),
        iops(it.random_read_4k_iops),
        iops(it.random_write_4k_iops),
    ]
}

fn answers(it: &Summary) -> String {
    let [genuine, fit, healthy] = [it.genuine, it.fit, it.healthy].map(Answer::words);
    format!("genuine: {genuine}, fit: {fit}, healthy: {healthy}")
}

/// The verdict, and the reason of each no.
fn reasons(it: &Summary) -> String {
    let all = [
        (it.genuine == Answer::No, &it.genuine_reason),
        (true, &it.fit_reason),
        (it.healthy == Answer::No, &it.healthy_reason),
    ];
    let mut distinct: Vec<&str> = Vec::new();
    for (_, reason) in all.iter().filter(|(counts, reason)| *counts && !reason.is_empty()) {
        if !distinct.contains(&reason.as_str()) {
            distinct.push(reason);
        }
    }
    capitalised(&distinct.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_medium_has_a_row_and_what_is_wrong_with_it() {
        let good = Summary {
            genuine: Answer::Yes,
            fit: Answer::Yes,
            healthy: Answer::Yes,
            sequential_read_bps: Some(90e6),
            random_write_4k_iops: Some(512.0),
            ..Summary::default()
        };
        let fake = Summary {
            genuine: Answer::No,
            genuine_reason: "It is a fake: 8 GB of 64 GB are there.".into(),
            fit: Answer::No,
            fit_reason: "It is a fake: 8 GB of 64 GB are there.".into(),
            ..Summary::default()
        };
        let medium = |target, summary, run| MediumSummary {
            target,
            summary,
            outcome: "refused",
            why: "'/dev/sdc' is in use: mounted on /",
            run,
        };
        let media = [
            medium("/dev/sda", Some(&good), Some("20261128-sda-check")),
            medium("/dev/sdb", Some(&fake), Some("20261128-sdb-check")),
            medium("/dev/sdc", None, None),
        ];
        insta::assert_snapshot!(table(&media, 60).replace('\u{a0}', " "), @r"
        medium    read       write  random read  random write
        /dev/sda  90.0 MB/s  -      -            512 IOPS
            genuine: yes, fit: yes, healthy: yes
            flashmark show 20261128-sda-check
        /dev/sdb  -          -      -            -
            genuine: no, fit: no, healthy: not tested
            It is a fake: 8 GB of 64 GB are there.
            flashmark show 20261128-sdb-check
        /dev/sdc  refused
            '/dev/sdc' is in use: mounted on /
        ");
    }
}
