//! The figures of a collection in words: names, comparison with the yardsticks, and spread of the
//! runs.

use record::collection::{
    CollectionLine, FigureUnit, HeadlineFigure, HostSpread, ReferenceMark, Standing,
};
use record::metric;
use record::units::{quantity, significant};
use report::words;

use super::query;

/// Figures shown where there is room for a few; the first ones are in the table's form.
pub(crate) const MAIN: [HeadlineFigure; 4] = [
    HeadlineFigure::RandomWrite4k,
    HeadlineFigure::WorstStall,
    HeadlineFigure::SequentialWrite,
    HeadlineFigure::RandomRead4k,
];

/// Head of a figure's column.
pub fn head(figure: HeadlineFigure) -> &'static str {
    figure.entry().label
}

/// A value with its unit: "49.2 IOPS", "10.4 MB/s", "3.17 s".
pub(crate) fn with_unit(figure: HeadlineFigure, value: f64) -> String {
    match figure.unit() {
        FigureUnit::Iops => quantity(metric::IOPS, value),
        FigureUnit::Bps => quantity(metric::BPS, value),
        FigureUnit::Ns => words::stall(value),
    }
}

/// A value without its unit, for a column whose head has it. A stall keeps its unit, because stalls
/// range from microseconds to minutes.
pub(crate) fn bare(figure: HeadlineFigure, value: f64) -> String {
    match figure.unit() {
        FigureUnit::Ns => words::stall(value),
        unit => significant(value / query::unit_factor(unit)),
    }
}

/// Unit in the head of its column; empty if each value has its own.
pub(crate) fn column_unit(figure: HeadlineFigure) -> &'static str {
    match figure.unit() {
        FigureUnit::Ns => "",
        unit => query::unit_name(unit),
    }
}

/// Ratio to the yardstick, above 1 if better; for a stall, how many times shorter.
pub(crate) fn times_better(figure: HeadlineFigure, value: f64) -> f64 {
    let stick = figure.entry().yardstick.value;
    if figure.smaller_is_better() { stick / value } else { value / stick }
}

/// Grade of a value in five steps, for its colour: below a tenth of the yardstick, below it, at
/// least as good, 5 and 20 times as good.
pub(crate) fn level(figure: HeadlineFigure, value: f64) -> u8 {
    [0.1, 1.0, 5.0, 20.0].iter().filter(|step| times_better(figure, value) >= **step).count() as u8
}

/// Grade of a value as the end of a CSS class; "u" for a figure without a rank, which gets no
/// colour.
pub(crate) fn grade_class(
    line: &CollectionLine,
    figure: HeadlineFigure,
    spread: &HostSpread,
) -> String {
    let grade = || level(figure, spread.median).to_string();
    if line.is_ranked(figure) { grade() } else { "u".to_owned() }
}

/// Short comparison with the yardsticks: "0.55× disk", "22× disk, A2", "13× limit".
pub(crate) fn place(figure: HeadlineFigure, value: f64) -> String {
    let stick = figure.entry().yardstick;
    // For a stall it is the ratio of times: "13× limit" is bad.
    let ratio = format!("{}×\u{a0}{}", record::units::times(value / stick.value), stick.name);
    match figure.entry().classes.iter().rev().find(|class| value >= class.value) {
        Some(class) => format!("{ratio}, {}", class.name),
        None => ratio,
    }
}

/// A limit with its unit: "90 IOPS", "50 MB/s".
fn limit(figure: HeadlineFigure, value: f64) -> String {
    format!("{} {}", value / query::unit_factor(figure.unit()), query::unit_name(figure.unit()))
}

/// Comparison with the yardsticks in a sentence.
pub(crate) fn place_in_full(figure: HeadlineFigure, value: f64) -> String {
    let stick = figure.entry().yardstick;
    let mut text = format!("{} times {}", record::units::times(value / stick.value), stick.meaning);
    if figure.unit() != FigureUnit::Ns {
        text += &format!(" ({})", limit(figure, stick.value));
    }
    let reached = figure.entry().classes.iter().rev().find(|class| value >= class.value);
    let missed = figure.entry().classes.iter().find(|class| value < class.value);
    let whole =
        |class: &ReferenceMark| format!("{} ({})", class.meaning, limit(figure, class.value));
    match (reached, missed) {
        (Some(reached), Some(missed)) => {
            text += &format!(
                "; reaches {}, not {} ({})",
                whole(reached),
                missed.name,
                limit(figure, missed.value)
            );
        }
        (Some(reached), None) => text += &format!("; reaches {}", whole(reached)),
        (None, Some(missed)) => text += &format!("; below {}", whole(missed)),
        (None, None) => {}
    }
    text
}

/// Lowest to highest: "46.0–52.1"; `None` if there is only one value.
pub(crate) fn range(figure: HeadlineFigure, spread: &HostSpread) -> Option<String> {
    (spread.low < spread.high)
        .then(|| format!("{}–{}", bare(figure, spread.low), bare(figure, spread.high)))
}

/// Number of runs, and of hosts or senders: "1 run", "3 runs, 2 hosts", "3 runs, 2 senders", and
/// those who disagree: "disputed, 3 against 2". Senders are counted where they are distinguished.
pub(crate) fn counts(spread: &HostSpread) -> String {
    let runs = words::count(spread.runs as usize, "run");
    let (n, m) = (spread.senders, spread.against);
    let against = if m > 0 { format!(", {n} against {m}") } else { String::new() };
    let senders = words::count(n as usize, "sender");
    match spread.standing {
        Standing::Thin => return format!("{runs}, too short to count"),
        Standing::Disputed => return format!("{runs}, disputed{against}"),
        Standing::Unconfirmed => return format!("{runs}, {senders}, unconfirmed{against}"),
        Standing::Confirmed => {}
    }
    if n > 0 {
        format!("{runs}, {senders}{against}")
    } else if spread.runs > 1 {
        format!("{runs}, {}", words::count(spread.hosts as usize, "host"))
    } else {
        runs
    }
}

/// True if the numbers can be shown: finite, with a positive median.
pub(crate) fn sound(spread: &HostSpread) -> bool {
    spread.median.is_finite()
        && spread.median > 0.0
        && spread.low.is_finite()
        && spread.high.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_held_against_disk_and_classes() {
        let texts: Vec<String> = [
            (HeadlineFigure::RandomWrite4k, 49.2),
            (HeadlineFigure::RandomWrite4k, 1234.0),
            (HeadlineFigure::WorstStall, 3.17e9),
            (HeadlineFigure::SequentialWrite, 31e6),
            (HeadlineFigure::SequentialRead, 95e6),
        ]
        .iter()
        .map(|(figure, value)| {
            let (bare, place) = (bare(*figure, *value), place(*figure, *value));
            format!(
                "{bare} | {place} | {} | {}",
                level(*figure, *value),
                place_in_full(*figure, *value)
            )
        })
        .collect();
        insta::assert_debug_snapshot!(texts, @r#"
        [
            "49.2 | 0.55×\u{a0}disk | 1 | 0.55 times a 5400 rpm laptop disk (90 IOPS); below application class A1 (500 IOPS)",
            "1234 | 14×\u{a0}disk, A1 | 3 | 14 times a 5400 rpm laptop disk (90 IOPS); reaches application class A1 (500 IOPS), not A2 (2000 IOPS)",
            "3.17 s | 13×\u{a0}limit | 0 | 13 times the 250 ms that an SD card may be busy with a write (an SDXC card 500 ms)",
            "31.0 | 0.62×\u{a0}disk, V30 | 1 | 0.62 times a 5400 rpm laptop disk (50 MB/s); reaches video class 30 and U3 (30 MB/s), not V60 (60 MB/s)",
            "95.0 | 1.9×\u{a0}disk | 2 | 1.9 times a 5400 rpm laptop disk (50 MB/s)",
        ]
        "#);
    }

    #[test]
    fn a_spread_has_the_number_of_its_runs_and_hosts() {
        let spread = HostSpread {
            median: 49.0,
            low: 46.0,
            high: 52.1,
            runs: 3,
            hosts: 2,
            ..HostSpread::default()
        };
        assert_eq!(range(HeadlineFigure::RandomWrite4k, &spread).as_deref(), Some("46.0–52.1"));
        assert_eq!(counts(&spread), "3 runs, 2 hosts");
        let single = HostSpread { low: 49.0, high: 49.0, runs: 1, hosts: 1, ..spread };
        assert_eq!(
            (range(HeadlineFigure::RandomWrite4k, &single), counts(&single).as_str()),
            (None, "1 run")
        );
        let of = |standing, senders, against| {
            counts(&HostSpread { standing, senders, against, ..spread })
        };
        assert_eq!(of(Standing::Confirmed, 3, 1), "3 runs, 3 senders, 3 against 1");
        assert_eq!(of(Standing::Disputed, 3, 4), "3 runs, disputed, 3 against 4");
        assert_eq!(of(Standing::Unconfirmed, 1, 0), "3 runs, 1 sender, unconfirmed");
        assert_eq!(of(Standing::Thin, 0, 0), "3 runs, too short to count");
        assert!(!sound(&HostSpread { median: f64::NAN, ..spread }));
    }
}
