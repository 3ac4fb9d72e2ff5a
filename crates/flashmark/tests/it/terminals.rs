//! What stands on the screen: one screen of every medium, on terminals of every width, with and
//! without colours and letters.

use record::{Ended, Record};
use report::text::{Elsewhere, one_screen};

use crate::support::{Flashmark, Ran, times};

/// Lines of the smallest terminal.
const LINES: usize = 24;

/// What a run leaves.
const FILES: [&str; 2] = ["Record ", "Page "];

/// Names of all simulated media.
fn profiles() -> Vec<String> {
    sim::Profile::all().iter().map(|profile| profile.name().to_owned()).collect()
}

/// Lines that are too wide; a path or a command may be, where nothing but its name stands beside it.
fn wide_lines(text: &str, width: usize) -> Vec<&str> {
    let is_to_copy = |line: &str| {
        let alone = line.trim_start();
        let named = line.rsplit_once("  ").map_or(alone, |(_, rest)| rest);
        named.starts_with("flashmark ") || named.contains('/') && !named.contains(' ')
    };
    let is_wide = |line: &&str| report::display::width(line) > width && !is_to_copy(line);
    text.lines().filter(is_wide).collect()
}

/// What these words print on a terminal of so many columns.
fn printed(flashmark: &Flashmark, words: &[&str], columns: usize) -> String {
    let ran = Ran::of(flashmark.command(words).env("COLUMNS", columns.to_string()));
    assert!(matches!(ran.code, Some(0 | 1 | 4)), "{words:?}: {ran}");
    ran.out
}

/// One screen of the run that was written last, on three terminals; `files` are what it left.
fn check_screen(flashmark: &Flashmark, what: &str, files: &[&str]) {
    let screen = printed(flashmark, &["show"], 80);
    assert!(screen.lines().count() <= LINES, "{what}: {screen}");
    for columns in [40, 80, 120] {
        let screen = printed(flashmark, &["show"], columns);
        assert_eq!(wide_lines(&screen, columns), [""; 0], "{what}, {columns} columns");
        for line in [&["Details "], files].concat() {
            assert!(screen.contains(&format!("\n{line}")), "{what}: {screen}");
        }
        assert!(!screen.to_lowercase().contains("doubt") && !screen.contains("as seen"), "{what}");
    }
}

/// Measures it, and looks at its screen.
fn check_run(profile: &str, suite: &str) {
    let flashmark = Flashmark::new();
    let ran = flashmark.run(&["run", &format!("sim:{profile}"), "--suite", suite, "--quiet"]);
    assert!(matches!(ran.code, Some(0 | 1 | 4)), "{profile}: {ran}");
    assert!(ran.out.is_empty(), "--quiet prints nothing: {ran}");
    check_screen(&flashmark, &format!("{profile} {suite}"), &FILES);
}

#[test]
fn every_medium_has_one_screen() {
    for profile in profiles() {
        check_run(&profile, "quick");
    }
}

#[test]
fn every_suite_has_one_screen() {
    let media = ["class10", "fake-wrap", "flush-liar", "a1", "worn", "disk-5400"];
    for profile in &media[..media.len().min(times("SCREENS", 3) as usize)] {
        check_run(profile, "standard");
    }
    check_run("class10", "full");
    check_run("class6", "seeds");
}

#[test]
fn single_tests_with_long_labels_have_one_screen() {
    for only in ["random-write", "seek", "capacity", "log-append", "sequential-read"] {
        let flashmark = Flashmark::new();
        let label = "long words ".repeat(20);
        flashmark.done(&["run", "sim:class10", "--only", only, "--label", &label, "--quiet"]);
        check_screen(&flashmark, only, &FILES);
    }
}

#[test]
fn what_others_measured_has_one_screen() {
    for name in ["fio_randwrite-4k-qd1.json", "f3read_damaged.txt"] {
        let flashmark = Flashmark::new();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import/").to_owned() + name;
        flashmark.done(&["import", &file]);
        check_screen(&flashmark, name, &["Record "]);
    }
}

#[cfg(feature = "lab")]
#[test]
fn a_replay_has_one_screen() {
    let flashmark = Flashmark::new();
    let scratch = crate::support::Scratch::new();
    let lines = "fio version 2 iolog\nx add\nx open\nx read 0 4096\nx write 8192 65536\nx close\n";
    let trace = scratch.file("work.iolog", lines);
    let words = ["replay", trace.to_str().unwrap(), "sim:class10", "--speed", "max", "--quiet"];
    flashmark.done(&words);
    check_screen(&flashmark, "replay", &FILES);
    let screen = printed(&flashmark, &["show"], 80);
    assert!(screen.contains("Replay"), "{screen}");
}

#[test]
fn what_is_to_be_copied_stays_whole() {
    let flashmark = Flashmark::new();
    let label = "存储卡第二次测量".repeat(8);
    flashmark.done(&["run", "sim:a1", "--suite", "quick", "--label", &label, "--quiet"]);
    for columns in [40, 80] {
        let run = "sim-a1-quick-1";
        let screen = printed(&flashmark, &["show", run], columns);
        let details = printed(&flashmark, &["show", run, "--details"], columns);
        for (end, screen) in [("record.json", &screen), ("report.html", &screen)]
            .into_iter()
            .chain([("record.json", &details), ("report.html", &details)])
        {
            let line = screen.lines().find(|line| line.ends_with(end)).unwrap_or_else(|| {
                panic!("{columns}: {screen}");
            });
            assert!(std::path::Path::new(line.rsplit_once("  ").unwrap().1).is_file(), "{line}");
        }
        let check = printed(&flashmark, &["check", "sim:a1", "--quiet"], columns);
        let ends = |screen: &str, end: &str| {
            let words = screen.lines().find(|line| line.ends_with(end));
            assert!(words.is_some_and(|line| line.contains("flashmark show ")), "{screen}");
        };
        ends(&screen, " --details");
        ends(&details, " --findings");
        ends(&check, " --details");
        for screen in [&screen, &details, &printed(&flashmark, &["runs"], columns)] {
            assert_eq!(wide_lines(screen, columns), [""; 0], "{columns} columns");
        }
    }
}

#[test]
fn no_screen_is_wider_than_its_terminal() {
    let flashmark = Flashmark::new();
    for profile in ["class10", "a1"] {
        flashmark.done(&["run", &format!("sim:{profile}"), "--suite", "quick", "--quiet"]);
    }
    let screens: [&[&str]; 18] = [
        &["runs"],
        &["tests"],
        &["tests", "random-write"],
        &["sim", "list"],
        &["list"],
        &["show", "--findings"],
        &["show", "--all"],
        &["show", "--details"],
        &["show", "--salvage"],
        &["run", "sim:class10", "--plan"],
        &["compare", "sim-class10-quick-1", "sim-a1-quick-1"],
        &["check", "sim:class10", "--quiet"],
        &["check", "sim:fake-wrap", "--quiet"],
        &["check", "--help"],
        &["run", "--help"],
        &["--help"],
        &["show", "--help"],
        &["list", "--help"],
    ];
    for words in screens {
        for columns in [40, 80, 120] {
            let screen = printed(&flashmark, words, columns);
            assert_eq!(wide_lines(&screen, columns), [""; 0], "{words:?}, {columns} columns");
        }
    }
}

#[test]
fn without_unicode_everything_is_ascii() {
    let flashmark = Flashmark::new();
    let ascii = |words: &[&str]| {
        let ran = Ran::of(flashmark.command(words).env("LC_ALL", "C"));
        assert_eq!(ran.code, Some(0), "{words:?}: {ran}");
        for text in [&ran.out, &ran.err] {
            let other: Vec<char> = text.chars().filter(|letter| !letter.is_ascii()).collect();
            assert!(other.is_empty(), "{words:?}: {other:?} in {text}");
        }
    };
    ascii(&["run", "sim:ssd", "--suite", "quick"]);
    for words in
        [&["show"][..], &["show", "--details"], &["show", "--all"], &["show", "--findings"]]
    {
        ascii(words);
    }
    for words in [&["runs"][..], &["tests"], &["sim", "list"], &["list"], &["--help"]] {
        ascii(words);
    }
    let shown = Ran::of(&mut flashmark.command(&["show", "--details"]));
    assert!(shown.out.contains('µ'), "where there is Unicode, it is used: {shown}");
}

#[test]
fn what_is_for_programs_is_left_as_it_is() {
    let flashmark = Flashmark::new();
    let label = "Grüße aus der Schublade";
    flashmark.done(&["run", "sim:ssd", "--only", "prime", "--label", label, "--quiet"]);
    for words in [&["show", "--json"][..], &["runs", "--json"]] {
        let ran = Ran::of(flashmark.command(words).env("LC_ALL", "C").env("COLUMNS", "40"));
        assert!(ran.out.contains(label), "{words:?}: {ran}");
    }
    let ran = flashmark.done(&["run", "sim:ssd", "--only", "prime", "--quiet", "--json", "-"]);
    assert!(Record::from_json(&ran.out).is_ok() && ran.err.is_empty(), "{ran}");
}

#[test]
fn a_run_can_end_with_all_of_it() {
    let flashmark = Flashmark::new();
    let ran = flashmark.done(&["run", "sim:class10", "--suite", "quick", "--details"]);
    assert!(ran.out.lines().count() > LINES && ran.out.contains("\nFindings\n"), "{ran}");
    assert!(ran.out.contains("\nCaveats\n") && ran.out.contains("\nRecord "), "{ran}");
    let shown = flashmark.done(&["show", "--details"]);
    assert_eq!(shown.out, ran.out);
}

#[test]
fn what_measured_something_does_not_say_that_it_did_not() {
    let ran = Flashmark::new().done(&["run", "sim:class10", "--suite", "standard"]);
    let said: Vec<&str> =
        ran.err.lines().filter(|line| line.contains("nothing measured")).collect();
    assert_eq!(said, [""; 0]);
    assert_eq!(wide_lines(&ran.err, 80), [""; 0]);
}

#[test]
fn more_precision_makes_narrower_intervals() {
    let width = |more: &[&str]| {
        let flashmark = Flashmark::new();
        let words = ["run", "sim:a1", "--suite", "quick", "--only", "random-read", "--quiet"];
        flashmark.done(&[&words, more].concat());
        let record = flashmark.record();
        let cell = record.cells.iter().find(|cell| cell.test == "random-read").unwrap();
        let rate = cell.metrics.iops.unwrap();
        let [low, high] = rate.ci95.unwrap();
        (high - low) / 2.0 / rate.value
    };
    let (usual, fine, long) = (width(&[]), width(&["--precision", "1%"]), width(&["--time", "5m"]));
    assert!(fine <= 0.01 && fine < usual && long < usual, "{usual} {fine} {long}");
}

#[test]
fn time_is_spent_about_as_it_was_given() {
    for (given, seconds) in [("30s", 30.0), ("5m", 300.0)] {
        let flashmark = Flashmark::new();
        flashmark.done(&["run", "sim:class10", "--suite", "quick", "--time", given, "--quiet"]);
        let spent = flashmark.record().run.elapsed_ns as f64 / 1e9;
        assert!((0.5 * seconds..=1.2 * seconds).contains(&spent), "{given}: {spent} s");
    }
}

#[test]
fn what_is_mistyped_names_what_may_have_been_meant() {
    let flashmark = Flashmark::new();
    flashmark.done(&["run", "sim:class10", "--only", "seek", "--quiet"]);
    let said = |words: &[&str]| {
        let ran = flashmark.run(words);
        assert_eq!(ran.code, Some(2), "{words:?}: {ran}");
        ran.err
    };
    for (words, meant) in [
        (&["run", "sim:class10", "--for", "root-disc"][..], "did you mean root-disk?"),
        (&["run", "sim:class10", "--set", "random-write.blok=4k"], "did you mean block?"),
        (&["run", "sim:class10", "--suite", "standrad"], "did you mean standard?"),
        (&["run", "sim:class10", "--only", "random-wrte"], "did you mean random-write"),
        (&["run", "sim:clas10"], "did you mean class10"),
        (&["show", "lates"], "did you mean latest"),
        (&["show", "sim-clas10"], "did you mean sim-class10"),
        (&["/dev/sdx"], "`flashmark run /dev/sdx`"),
        (&["."], "`flashmark check .`"),
    ] {
        let said = said(words);
        assert!(said.contains(meant), "{words:?}: {said}");
    }
}

/// A run of this medium, as a record.
fn record_of(profile: &str, suite: &str) -> Record {
    let flashmark = Flashmark::new();
    flashmark.run(&["run", &format!("sim:{profile}"), "--suite", suite, "--seed", "2", "--quiet"]);
    flashmark.record()
}

/// The screen of a record on a terminal of so many columns, with its files; codes of colours are
/// made visible.
fn screen(record: &Record, columns: usize, colour: bool) -> String {
    let files = [
        ("Record", "/runs/it/record.json".to_owned()),
        ("Page", "/runs/it/report.html".to_owned()),
    ];
    let rest = Elsewhere { run: &record.run.id, files: &files };
    let text = one_screen(record, columns, colour, &rest);
    assert!(text.lines().count() <= LINES, "{text}");
    text.replace("\u{1b}[0m", "}").replace("\u{1b}[", "{")
}

/// Colours add colours and nothing else.
fn check_colours(record: &Record) {
    for columns in [80, 120] {
        let mut coloured = screen(record, columns, true);
        assert!(coloured.contains('{'), "{coloured}");
        for code in ["{1m", "{2m", "{31m", "{33m", "}"] {
            coloured = coloured.replace(code, "");
        }
        assert_eq!(coloured, screen(record, columns, false));
    }
}

#[test]
fn the_screen_of_a_good_medium() {
    let record = record_of("a1", "standard");
    check_colours(&record);
    insta::assert_snapshot!(screen(&record, 80, false), @r"
    a1, simulated medium, 32 GiB
    Good for root disk, camera, video at 200 Mbit/s, data logger.
    Usable for database (if its flush is honest).
    118 commits per second (111 to 121) with a rollback journal, 673 (634 to 691)
      with a write-ahead log.
    standard suite, 5 min 46 s, 5.51 GB written

                                figure  95 % interval         n         p99  slowest
    Sequential read          66.0 MB/s  60.9 to 71.6        407     19.4 ms   178 ms
    Sequential write         59.7 MB/s  56.4 to 63.1        400     22.1 ms   113 ms
    Random read, 4 KiB       2948 IOPS  2889 to 3009       4469      428 µs  3.56 ms
    Random write, 4 KiB      1489 IOPS  1453 to 1527       9147     5.04 ms  37.5 ms
    Slowest small write        53.7 ms  maximum           71111           -        -
    Random write, 512 B       839 IOPS  808 to 870         6824     5.62 ms  53.7 ms
    Random write, 16 KiB      765 IOPS  742 to 789         6141     5.27 ms  47.4 ms
    Random write, 64 KiB      266 IOPS  259 to 272         2585     7.58 ms  51.9 ms
    Caveat: sequential write 1 MiB: not converged [...]
    Caveat: sequential read 1 MiB: not converged [...]
    Not run (why: --details): buffered-read, parts of random-read, random-write
    Not shown: 70 of 77 cells, 9 findings, 6 caveats.
    Details  flashmark show sim-a1-standard-2 --details
    Record   /runs/it/record.json
    Page     /runs/it/report.html
    ");
    insta::assert_snapshot!(screen(&record, 120, false), @r"
    a1, simulated medium, 32 GiB
    Good for root disk, camera, video at 200 Mbit/s, data logger.
    Usable for database (if its flush is honest).
    118 commits per second (111 to 121) with a rollback journal, 673 (634 to 691) with a write-ahead log.
    standard suite, 5 min 46 s, 5.51 GB written

                                                 figure  95 % interval         n         p99  slowest
    Sequential read                           66.0 MB/s  60.9 to 71.6        407     19.4 ms   178 ms
    Sequential write                          59.7 MB/s  56.4 to 63.1        400     22.1 ms   113 ms
    Random read, 4 KiB                        2948 IOPS  2889 to 3009       4469      428 µs  3.56 ms
    Random write, 4 KiB                       1489 IOPS  1453 to 1527       9147     5.04 ms  37.5 ms
    Slowest small write                         53.7 ms  maximum           71111           -        -
    Random write, 512 B                        839 IOPS  808 to 870         6824     5.62 ms  53.7 ms
    Random write, 16 KiB                       765 IOPS  742 to 789         6141     5.27 ms  47.4 ms
    Random write, 64 KiB                       266 IOPS  259 to 272         2585     7.58 ms  51.9 ms
    Fill, random data                         56.3 MB/s  44.3 to 61.7         24           -  48.6 ms
    Caveat: sequential write 1 MiB: not converged: the interval is still ±5.58 %; run it for longer
    Caveat: sequential read 1 MiB: not converged: the interval is still ±8.13 %; run it for longer
    Not run (why: --details): buffered-read, parts of random-read, random-write
    Not shown: 69 of 77 cells, 9 findings, 6 caveats.
    Details  flashmark show sim-a1-standard-2 --details
    Record   /runs/it/record.json
    Page     /runs/it/report.html
    ");
}

#[test]
fn the_screen_of_a_fake() {
    let record = record_of("fake-wrap", "standard");
    check_colours(&record);
    insta::assert_snapshot!(screen(&record, 80, false), @r"
    fake-wrap, simulated medium, 64 GiB
    Do not use it. It is a fake: it says 64 GiB, it has no more than 8 GiB (its
      addresses repeat from there on), and how much less was not found in this time.
      Data written beyond that overwrites data at the front, without an error.
    Not suitable for any use.
    standard suite, 10.7 s, 21.0 MB written

    Not run (why: --details): prime, zero-fill, random-fill, sequential-write,
      sequential-read, random-read, seek, align-read, random-write, record-ops [...]
    Not shown: 1 of 1 cells, 1 finding.
    Next: Return it to the seller, and keep no data on it.
    Next: How much of it is real, more exactly:
      flashmark run sim:fake-wrap --only capacity
    Details  flashmark show sim-fake-wrap-standard-2 --details
    Record   /runs/it/record.json
    Page     /runs/it/report.html
    ");
    insta::assert_snapshot!(screen(&record, 80, true), @r"
    {1mfake-wrap, simulated medium, 64 GiB}
    {31mDo not use it. It is a fake: it says 64 GiB, it has no more than 8 GiB (its}
      {31maddresses repeat from there on), and how much less was not found in this time.}
      {31mData written beyond that overwrites data at the front, without an error.}
    {31mNot suitable for any use.}
    {2mstandard suite, 10.7 s, 21.0 MB written}

    Not run (why: --details): prime, zero-fill, random-fill, sequential-write,
      sequential-read, random-read, seek, align-read, random-write, record-ops [...]
    {2mNot shown: 1 of 1 cells, 1 finding.}
    Next: Return it to the seller, and keep no data on it.
    Next: How much of it is real, more exactly:
      flashmark run sim:fake-wrap --only capacity
    Details  flashmark show sim-fake-wrap-standard-2 --details
    Record   /runs/it/record.json
    Page     /runs/it/report.html
    ");
    insta::assert_snapshot!(screen(&record, 120, false), @r"
    fake-wrap, simulated medium, 64 GiB
    Do not use it. It is a fake: it says 64 GiB, it has no more than 8 GiB (its addresses repeat from there on), and how
      much less was not found in this time. Data written beyond that overwrites data at the front, without an error.
    Not suitable for any use.
    standard suite, 10.7 s, 21.0 MB written

    Not run (why: --details): prime, zero-fill, random-fill, sequential-write, sequential-read, random-read, seek,
      align-read, random-write, record-ops, sector-write, flush-cost, commit, log-append, ext2-format, ext2-fill [...]
    Not shown: 1 of 1 cells, 1 finding.
    Next: Return it to the seller, and keep no data on it.
    Next: How much of it is real, more exactly: flashmark run sim:fake-wrap --only capacity
    Details  flashmark show sim-fake-wrap-standard-2 --details
    Record   /runs/it/record.json
    Page     /runs/it/report.html
    ");
}

#[test]
fn the_screen_of_a_slow_medium() {
    let record = record_of("class10", "standard");
    check_colours(&record);
    insta::assert_snapshot!(screen(&record, 80, false), @r"
    class10, simulated medium, 4 GiB
    Benchmarks overstate it: zeros are written faster than data. Not suitable for a
      root disk: random writes of 4 KiB reach 2.91 IOPS (2.70 to 3.12); a laptop
      disk reaches 90.
    Good for video at 50 Mbit/s, data logger (few samples, 78 % sure).
    Usable for camera, database (if its files stay small and its flush is honest).
    standard suite, 8 min 39 s, 1.37 GB written
                                figure  95 % interval         n         p99  slowest
    Sequential read          20.7 MB/s  19.5 to 21.3         31           -  59.4 ms
    Sequential write         9.11 MB/s  8.55 to 9.44         31           -   136 ms
    Random read, 4 KiB        983 IOPS  969 to 998         1499     1.28 ms  5.36 ms
    Random write, 4 KiB      2.91 IOPS  2.70 to 3.12         87           -   458 ms
    Caveat: random fill 1 MiB: zeros are written 1.76x faster on average [...]
    Caveat: sequential write 512 KiB: not converged [...]
    Not run (why: --details): buffered-read, parts of random-read, random-write
    Not shown: 73 of 77 cells, 12 findings, 13 caveats.
    Next: Look for a medium that says A1 or A2, put it there, and hold it to that:
      flashmark check sim:class10 --for root-disk --claim app=A1
    Next: What few samples leave open:
      flashmark check sim:class10 --for logger --budget 10m
    Details  flashmark show sim-class10-standard-2 --details
    Record   /runs/it/record.json
    Page     /runs/it/report.html
    ");
    insta::assert_snapshot!(screen(&record, 80, true), @r"
    {1mclass10, simulated medium, 4 GiB}
    {33mBenchmarks overstate it: zeros are written faster than data. Not suitable for a}
      {33mroot disk: random writes of 4 KiB reach 2.91 IOPS (2.70 to 3.12); a laptop}
      {33mdisk reaches 90.}
    Good for video at 50 Mbit/s, data logger (few samples, 78 % sure).
    Usable for camera, database (if its files stay small and its flush is honest).
    {2mstandard suite, 8 min 39 s, 1.37 GB written}
    {2m                            figure  95 % interval         n         p99  slowest}
    Sequential read          {1m20.7 MB/s}  19.5 to 21.3         31           -  59.4 ms
    Sequential write         {1m9.11 MB/s}  8.55 to 9.44         31           -   136 ms
    Random read, 4 KiB        {1m983 IOPS}  969 to 998         1499     1.28 ms  5.36 ms
    Random write, 4 KiB      {1m2.91 IOPS}  2.70 to 3.12         87           -   458 ms
    {33mCaveat: random fill 1 MiB: zeros are written 1.76x faster on average [...]}
    {33mCaveat: sequential write 512 KiB: not converged [...]}
    Not run (why: --details): buffered-read, parts of random-read, random-write
    {2mNot shown: 73 of 77 cells, 12 findings, 13 caveats.}
    Next: Look for a medium that says A1 or A2, put it there, and hold it to that:
      flashmark check sim:class10 --for root-disk --claim app=A1
    Next: What few samples leave open:
      flashmark check sim:class10 --for logger --budget 10m
    Details  flashmark show sim-class10-standard-2 --details
    Record   /runs/it/record.json
    Page     /runs/it/report.html
    ");
    insta::assert_snapshot!(screen(&record, 120, false), @r"
    class10, simulated medium, 4 GiB
    Benchmarks overstate it: zeros are written faster than data. Not suitable for a root disk: random writes of 4 KiB reach
      2.91 IOPS (2.70 to 3.12); a laptop disk reaches 90.
    Good for video at 50 Mbit/s, data logger (few samples, 78 % sure).
    Usable for camera, database (if its files stay small and its flush is honest).
    standard suite, 8 min 39 s, 1.37 GB written

                                                 figure  95 % interval         n         p99  slowest
    Sequential read                           20.7 MB/s  19.5 to 21.3         31           -  59.4 ms
    Sequential write                          9.11 MB/s  8.55 to 9.44         31           -   136 ms
    Random read, 4 KiB                         983 IOPS  969 to 998         1499     1.28 ms  5.36 ms
    Random write, 4 KiB                       2.91 IOPS  2.70 to 3.12         87           -   458 ms
    Slowest small write                          1.14 s  maximum            8005           -        -
    Caveat: random fill 1 MiB: zeros are written 1.76x faster on average: the controller compresses or recognises data [...]
    Caveat: sequential write 512 KiB: not converged: the interval is still ±6.75 %; run it for longer
    Not run (why: --details): buffered-read, parts of random-read, random-write
    Not shown: 73 of 77 cells, 12 findings, 13 caveats.
    Next: Look for a medium that says A1 or A2, put it there, and hold it to that:
      flashmark check sim:class10 --for root-disk --claim app=A1
    Next: What few samples leave open: flashmark check sim:class10 --for logger --budget 10m
    Details  flashmark show sim-class10-standard-2 --details
    Record   /runs/it/record.json
    Page     /runs/it/report.html
    ");
}

#[test]
fn the_screen_of_an_interrupted_run() {
    let mut record = record_of("class10", "standard");
    record.cells.truncate(14);
    record.run.ended = Ended::Interrupted;
    record.findings = findings::conclude(&record);
    check_colours(&record);
    insta::assert_snapshot!(screen(&record, 80, false), @r"
    class10, simulated medium, 4 GiB
    The run was interrupted: 14 of 77 planned cells are done; it can be resumed.
    Benchmarks overstate it: zeros are written faster than data. Sequential writes
      reach 9.11 MB/s (8.55 to 9.44).
    Good for video at 50 Mbit/s.
    Usable for camera.
    Not tested: root disk, data logger, database.
    standard suite, 8 min 39 s, 1.12 GB written

                                figure  95 % interval         n         p99  slowest
    Sequential read                  -  the run was interrupted first
    Sequential write         9.11 MB/s  8.55 to 9.44         31           -   136 ms
    Random read, 4 KiB               -  the run was interrupted first
    Random write, 4 KiB              -  the run was interrupted first
    Fill, random data        9.40 MB/s  8.84 to 9.68         24           -   131 ms
    Fill, zeros              16.5 MB/s  15.7 to 16.9         24           -  74.5 ms
    Caveat: random fill 1 MiB: zeros are written 1.76x faster on average [...]
    Caveat: sequential write 512 KiB: not converged [...]
    Not run (why: --details): random-read, random-write, buffered-read
    Not shown: 11 of 14 cells, 5 findings.
    Details  flashmark show sim-class10-standard-2 --details
    Record   /runs/it/record.json
    Page     /runs/it/report.html
    ");
    insta::assert_snapshot!(screen(&record, 120, false), @r"
    class10, simulated medium, 4 GiB
    The run was interrupted: 14 of 77 planned cells are done; it can be resumed.
    Benchmarks overstate it: zeros are written faster than data. Sequential writes reach 9.11 MB/s (8.55 to 9.44).
    Good for video at 50 Mbit/s.
    Usable for camera.
    Not tested: root disk, data logger, database.
    standard suite, 8 min 39 s, 1.12 GB written

                                                 figure  95 % interval         n         p99  slowest
    Sequential read                                   -  the run was interrupted first
    Sequential write                          9.11 MB/s  8.55 to 9.44         31           -   136 ms
    Random read, 4 KiB                                -  the run was interrupted first
    Random write, 4 KiB                               -  the run was interrupted first
    Fill, random data                         9.40 MB/s  8.84 to 9.68         24           -   131 ms
    Fill, zeros                               16.5 MB/s  15.7 to 16.9         24           -  74.5 ms
    Capacity, 4 KiB, whole medium                 4 GiB  exact               272           -        -
    Caveat: random fill 1 MiB: zeros are written 1.76x faster on average: the controller compresses or recognises data [...]
    Caveat: sequential write 512 KiB: not converged: the interval is still ±6.75 %; run it for longer
    Not run (why: --details): random-read, random-write, buffered-read
    Not shown: 10 of 14 cells, 5 findings.
    Details  flashmark show sim-class10-standard-2 --details
    Record   /runs/it/record.json
    Page     /runs/it/report.html
    ");
}

#[test]
fn the_screens_of_a_check_and_of_a_comparison() {
    let flashmark = Flashmark::new();
    for profile in ["class10", "a1"] {
        flashmark.run(&["run", &format!("sim:{profile}"), "--suite", "quick", "--quiet"]);
    }
    for columns in [40, 80, 120] {
        let check = printed(&flashmark, &["check", "sim:a1", "--for", "root-disk", "-q"], columns);
        insta::assert_snapshot!(format!("check_{columns}"), check);
        let words = ["compare", "sim-a1-quick-1", "sim-class10-quick-1"];
        insta::assert_snapshot!(format!("compare_{columns}"), printed(&flashmark, &words, columns));
    }
}
