use record::text::capitalised;

use super::*;
use crate::demo;

/// Name of the run in `show`.
const RUN: &str = "20261120-101500-5f3a";

#[test]
fn a_stick_that_vanished_and_a_cache_that_answered() {
    insta::assert_snapshot!(details(&demo::broken(), RUN, 80, false), @r#"
    Generic </script><img src=x onerror=alert(1)> [2J & "quotes", USB stick,
      31.9 GB, behind a reader, a file on ext4
    </script><img src=x onerror=alert(1)> [2J & "quotes", standard suite,
      2026-11-20, 11 min 41 s, 165 kB written

    The medium failed: 5 of 6 planned cells are done. Random write 4 KiB, in a file:
    the device went away (ENODEV) </script><img src=x onerror=alert(1)> [2J &
    "quotes".
    The slowest of 3 small writes took 429 ms.

                                figure  95 % interval         n  stop        slowest
    Random write, 512 B              -  no interval from 3 samples
    Random write, 4 KiB      49.3 IOPS  45.7 to 53.0         40  error       25.9 ms
    Random write, 16 KiB             -  not part of this run
    Random write, 64 KiB             -  not part of this run
    Random read, 4 KiB               -  impossible: 2.05 GB/s over a link of
                                        60.0 MB/s; a cache answered
    Sequential read, 1 MiB           -  impossible: the page cache answered, not the
                                        medium

    Quantum write
      </script><img src=x onerror=alert(1)> [2J & "quotes"
                               7.50 /s  6.75 to 8.25         12  converged         -

    Caveats
    - random write 4 KiB, in a file: stopped by an error: the device went away
      (ENODEV) </script><img src=x onerror=alert(1)> [2J & "quotes"
    - random read 4 KiB, in a file: impossible: 2.05 GB/s over a link of
      60.0 MB/s; a cache answered
    - sequential read 1 MiB, middle: impossible: the page cache answered, not the
      medium
    - </script><img src=x onerror=alert(1)> [2J & "quotes"
    - random write 512 B, in a file: 3 I/Os are too few for an interval; run it
      for longer

    Not run
    - sector-write, ext2-format, ext2-fill: needs a raw medium; name a block
      device
    "#);
}

#[test]
fn a_run_that_has_just_begun() {
    insta::assert_snapshot!(details(&demo::begun(), RUN, 80, false), @r"
    SanDisk Extreme A1, SD card, 31.9 GB, DDR50, 4 bit, 50 MHz
    from the camera drawer, standard suite, 2026-11-20

    Nothing measured yet: the run has started and no cell is done.

                                figure  95 % interval         n  stop        slowest
    Random write, 512 B              -  not measured yet
    Random write, 4 KiB              -  not measured yet
    Random write, 16 KiB             -  not measured yet
    Random write, 64 KiB             -  not measured yet
    Sequential write                 -  not measured yet
    Random read, 4 KiB               -  not measured yet
    Sequential read                  -  not measured yet
    Fill, random data                -  not measured yet
    Fill, zeros                      -  not measured yet

    Not run
    - record-ops, ext2-fill: not in this suite
    ");
}

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
    record.plan.retain(|cell| cell.test == "seek");
    record.cells.retain(|cell| cell.test == "seek");
    assert!(!record.cells.is_empty());
    let text = details(&record, RUN, 80, false);
    assert!(text.contains("Seek") && !text.contains("Random write"), "{text}");
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
    assert!(!text.contains("Random writes of 4 KiB reach 1446"), "{text}");
    let row = text.lines().find(|line| line.starts_with("Random write, 4 KiB")).unwrap();
    assert!(row.contains("1446 IOPS  at most"), "{row}");
}

#[test]
fn no_rate_is_stated_of_a_medium_that_must_not_be_used() {
    let mut record = demo::good();
    let fault = record::Finding::new("io-error", Severity::Failure, "It has gone read-only.");
    record.findings = vec![fault];
    assert!(!details(&record, RUN, 80, false).contains("Sequential writes reach"));
    record.findings.clear();
    // Sequential I/O of 8 KiB is not a rate of a medium.
    record
        .cells
        .retain(|cell| cell.test != "sequential-write" || cell.params.block_bytes == Some(8192));
    let text = details(&record, RUN, 80, false);
    assert!(text.contains("Sequential reads reach"), "{text}");
}

#[test]
fn every_cell_of_a_broken_run() {
    insta::assert_snapshot!(table(&demo::broken(), 200), @r#"
    Generic </script><img src=x onerror=alert(1)> [2J & "quotes", USB stick, 31.9 GB, behind a reader, a file on ext4

    Random write
     Cell              Metric              Figure  95 % interval       n  Stop
     512 B, in a file  I/O rate                 -                         converged  [1][2]
                       data rate        3.28 kB/s  2.39 to 4.17 kB/s   3
                       latency fastest    18.9 ms  minimum             3
                       latency slowest     429 ms  maximum             3
     4 KiB, in a file  I/O rate         49.3 IOPS  45.7 to 53.0 IOPS  40  error      [3][4]
                       data rate         202 kB/s  187 to 217 kB/s    40
                       latency fastest    14.2 ms  minimum            40
                       latency p50        20.2 ms  19.0 to 20.9 ms    40
                       latency p90        23.5 ms  no interval        40
                       latency slowest    25.9 ms  maximum            40
      [1] 3 I/Os are too few for an interval; run it for longer
      [2] no interval from 3 samples
      [3] measured on ext4, noatime
      [4] stopped by an error: the device went away (ENODEV) </script><img src=x onerror=alert(1)> [2J & "quotes"

    Random read
     Cell              Metric      Figure  95 % interval  n  Stop
     4 KiB, in a file  -       impossible                    converged  [1]
      [1] impossible: 2.05 GB/s over a link of 60.0 MB/s; a cache answered

    Sequential read
     Cell           Metric      Figure  95 % interval  n  Stop
     1 MiB, middle  -       impossible                    bytes  [1]
      [1] impossible: the page cache answered, not the medium

    Quantum write
     Cell                                                  Metric   Figure  95 % interval     n  Stop
     </script><img src=x onerror=alert(1)> [2J & "quotes"  broken        -                       converged  [1]
                                                           spin    7.50 /s  6.75 to 8.25 /s  12
      [1] nothing measured
    "#);
}

#[test]
fn findings_come_first() {
    let mut record = demo::slow_card();
    record.findings.push(record::Finding {
        evidence: vec!["random-write/2".into()],
        ..record::Finding::new(
            "claim",
            Severity::Failure,
            "Good for a camera. Not suitable for a root disk.",
        )
    });
    let text = details(&record, RUN, 80, false);
    assert!(
        text.find("Not suitable for a root disk").unwrap() < text.find("Random writes of").unwrap(),
        "{text}"
    );
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
fn one_screen_is_one_screen() {
    for record in demo::all() {
        for width in [40, 80, 120] {
            let text = summary(&record, width, false);
            let mut lines = text.lines().filter(|line| !line.starts_with("Details "));
            assert!(lines.all(|line| line.chars().count() <= width), "{width}: {text}");
            assert!(width < 80 || text.lines().count() <= 24, "{width}: {text}");
            assert!(text.contains("--details"), "{text}");
        }
    }
}

#[test]
fn one_screen_of_what_vanished() {
    insta::assert_snapshot!(summary(&demo::broken(), 80, false), @r#"
    Generic </script><img src=x onerror=alert(1)> [2J & "quotes", USB stick,
      31.9 GB, behind a reader, a file on ext4
    The medium failed: 5 of 6 planned cells are done. Random write 4 KiB, in a file:
      the device went away (ENODEV) </script><img src=x onerror=alert(1)> [2J &
      "quotes".
    Not tested: root disk, camera, video, data logger, database.
    standard suite, 2026-11-20, 11 min 41 s, 165 kB written [...]

                                figure  95 % interval         n         p99  slowest
    Sequential read                  -  impossible: the page cache answered [...]
    Random read, 4 KiB               -  impossible: 2.05 GB/s over a link of [...]
    Random write, 4 KiB      49.3 IOPS  45.7 to 53.0         40           -  25.9 ms
    Slowest small write         429 ms  maximum               3           -        -
    Random write, 512 B              -  no interval from 3 samples
    Quantum write, </scri..    7.50 /s  6.75 to 8.25         12           -        -

    Caveat: random write 4 KiB: stopped by an error [...]
    Caveat: random read 4 KiB: impossible: 2.05 GB/s over a link of 60.0 MB/s [...]
    Not run: sequential write; sector-write, ext2-format, ext2-fill (needs a raw
      medium; name a block device)
    Not shown: 3 caveats.
    Details  flashmark show 20261120-101500-5f3a --details
    "#);
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
    assert!(at("not restored") < at("below its class") && at("below its class") < at("It is slow"));
}

#[test]
fn a_use_stands_on_one_line() {
    let text = summary(&demo::slow_card(), 80, false);
    for name in ["root disk", "camera", "video", "data logger", "database"] {
        let lines = text.lines().filter(|line| {
            ["Good for", "Usable as", "Not suitable", "Not tested"]
                .iter()
                .any(|lead| line.starts_with(lead))
                && line.contains(name)
        });
        assert_eq!(lines.count(), 1, "{name}: {text}");
    }
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
            check(&record, width, false),
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

#[test]
fn the_files_of_a_run_count_among_its_lines() {
    let files = [
        ("Record", "/runs/one/record.json".to_owned()),
        ("Page", "/runs/one/report.html".to_owned()),
    ];
    let rest = DetailsLocation { run: "one", files: &files };
    for record in demo::all() {
        let text = one_screen(&record, 80, false, &rest);
        assert!(text.lines().count() <= 24, "{text}");
        assert!(
            text.ends_with("Record   /runs/one/record.json\nPage     /runs/one/report.html\n"),
            "{text}"
        );
    }
}
