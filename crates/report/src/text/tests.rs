use record::text::capitalised;

use super::*;
use crate::demo;

/// Name of the run in `show`.
const RUN: &str = "20261120-101500-5f3a";

#[test]
fn nothing_is_known() {
    insta::assert_snapshot!(details(&demo::empty(), RUN, 80, false), @r"
    Medium of unknown kind

    Nothing measured yet: the run has started and no cell is done.
    ");
}

#[test]
fn a_run_of_other_tests_has_no_random_writes_to_speak_of() {
    let mut record = demo::good();
    record.plan.retain(|cell| cell.test == "flush-cost");
    record.cells.retain(|cell| cell.test == "flush-cost");
    assert!(!record.cells.is_empty());
    let text = details(&record, RUN, 80, false);
    assert!(text.contains("Flush cost") && !text.contains("Random write"), "{text}");
}

#[test]
fn a_caveat_names_the_remedy_and_no_statistics() {
    let mut record = demo::good();
    record.cells[0].flags = vec![record::Flag::Autocorrelated { lag1: 0.48 }];
    for text in [details(&record, RUN, 80, false), table(&record, 100)] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("run it for longer if it is too wide for you") && !text.contains("r1"),
            "{text}"
        );
    }
    assert!(record.to_json().contains("lag1"));
}

#[test]
fn a_figure_of_a_passing_state_is_a_bound() {
    let mut record = demo::good();
    let random = |cell: &&mut record::Cell| {
        cell.test == "random-write" && cell.params.block_bytes == Some(4096)
    };
    for cell in record.cells.iter_mut().filter(random) {
        cell.flags.push(record::Flag::Transient { bound: record::Bound::AtMost });
    }
    let text = details(&record, RUN, 80, false);
    assert!(!text.contains("Random writes of 4 KiB reach"), "{text}");
    let row = text.lines().find(|line| line.starts_with("Random write, 4 KiB")).unwrap();
    assert!(row.contains(" IOPS  at most"), "{row}");
}

#[test]
fn colour_adds_colours_and_nothing_else() {
    for record in demo::all() {
        let coloured = details(&record, RUN, 80, true);
        assert!(coloured.contains('\u{1b}'));
        let mut plain = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once("\u{1b}[") {
            plain.push_str(before);
            rest = after.split_once('m').expect("every code ends").1;
        }
        assert_eq!(plain + rest, details(&record, RUN, 80, false));
    }
}

#[test]
fn lines_fit() {
    for width in [40, 80, 120] {
        for record in demo::all() {
            let text = details(&record, RUN, width, false) + &table(&record, width);
            let long: Vec<&str> =
                text.lines().filter(|line| line.chars().count() > width).collect();
            assert!(long.is_empty(), "{width}: {long:#?}");
        }
    }
}

#[test]
fn hostile_words_do_not_steer_the_terminal() {
    let record = demo::broken();
    for text in [details(&record, RUN, 80, false), table(&record, 100)] {
        assert!(text.contains("onerror"), "the words themselves are shown");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
    }
}

#[test]
fn every_test_and_metric_is_in_the_table() {
    let record = demo::good();
    let text = table(&record, 100);
    for cell in &record.cells {
        assert!(text.contains(&capitalised(&words::test(&cell.test))), "{}", cell.test);
        for name in cell.metrics.other.keys() {
            assert!(text.contains(&words::metric(name)), "{name}");
        }
    }
}

#[test]
fn one_screen_of_nothing() {
    insta::assert_snapshot!(summary(&demo::empty(), 80, false), @"
    Medium of unknown kind
    Nothing measured yet: the run has started and no cell is done.

    Details  flashmark show latest --details
    ");
}

#[test]
fn what_endangers_data_stands_before_the_verdict() {
    let mut record = demo::good();
    let finding =
        |id: &str, severity, statement: &str| record::Finding::new(id, severity, statement);
    record.findings = vec![
        finding("verdict", Severity::Warning, "It is slow."),
        finding(NOT_RESTORED, Severity::Failure, "3 pieces are not restored."),
        finding("claim", Severity::Failure, "It is below its class."),
    ];
    let text = summary(&record, 80, false);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    assert!(at("not restored") < at("Genuine") && at("Genuine") < at("below its class"));
}

#[test]
fn a_label_of_wide_letters_makes_no_wide_line() {
    let mut record = demo::good();
    record.run.label = Some("存储卡，第二次测量".repeat(8));
    record.medium.model = Some("闪存卡".repeat(12));
    for width in [40, 60, 80] {
        let screens = [
            summary(&record, width, false),
            details(&record, "one", width, false),
            check(&record, width, false, &DetailsLocation::default()),
            table(&record, width),
        ];
        for text in screens {
            let is_wide = |line: &&str| crate::display::width(line) > width;
            let wide: Vec<&str> = text.lines().filter(is_wide).collect();
            assert!(wide.iter().all(|line| line.contains("flashmark")), "{width}: {wide:?}");
        }
    }
}

#[test]
fn a_long_path_takes_one_line_and_the_rows_it_needs() {
    let path = format!("/runs/{}/record.json", "long ".repeat(25));
    let files = [("Record", path.clone())];
    let rest = DetailsLocation { run: "one", files: &files };
    for record in demo::all() {
        let text = one_screen(&record, 80, false, &rest);
        let rows = |line: &str| crate::display::width(line).div_ceil(80).max(1);
        assert!(text.lines().map(rows).sum::<usize>() <= 24, "{text}");
        assert!(text.replace('\u{a0}', " ").ends_with(&format!("Record   {path}\n")), "{text}");
    }
}
