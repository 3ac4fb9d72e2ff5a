//! Whole logs and comments: several tools or several forms in one text, and what surrounds them.

use std::path::PathBuf;

use import::{Hints, Import, plain_text, understand};
use proptest::prelude::*;
use record::Cell;

fn fixture(name: &str) -> String {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import/", name].concat().into();
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn import(text: &str) -> Import {
    understand("x", text.as_bytes(), &Hints::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn cells(import: &Import) -> Vec<&Cell> {
    import.records.iter().flat_map(|record| &record.cells).collect()
}

fn tests(import: &Import) -> Vec<&str> {
    cells(import).iter().map(|cell| cell.test.as_str()).collect()
}

fn says(cell: &Cell, words: &str) -> bool {
    cell.flags.iter().any(|flag| flag.to_string().contains(words))
}

/// Three jobs, one of which reads and writes and one of which has three threads.
#[test]
fn a_job_in_three_forms_of_fio_is_one_result() {
    let found = import(&fixture("fio_three_forms.txt"));
    assert_eq!(tests(&found), ["random-read", "fio:randrw", "fio:randrw", "fio:randread"]);
    assert_eq!((found.records.len(), found.left_count), (1, 0), "{:?}", found.left);
    for cell in cells(&found) {
        assert!(cell.histogram.is_some(), "of json+");
        assert!(says(cell, "the same job is in the text as fio's normal text and terse text, too"));
    }
}

#[test]
fn of_normal_and_terse_text_the_normal_is_kept() {
    let found = import(&fixture("fio_normal_and_terse.txt"));
    assert_eq!((tests(&found), found.left_count), (vec!["fio:randwrite"], 0));
    assert!(says(cells(&found)[0], "as fio's terse text, too"));
}

/// Another run of the same job is a result of its own.
#[test]
fn other_figures_of_a_job_are_another_run() {
    let text = fixture("fio_three_forms.txt")
        .replace("3;fio-3.33;rr;0;0;77828;", "3;fio-3.33;rr;0;0;77824;");
    let found = import(&text);
    assert_eq!(cells(&found).len(), 5);
    assert!(tests(&found).contains(&"fio:read"));
}

const HDPARM: &str = " Timing buffered disk reads: 1024 MB in  2.00 seconds = 512.00 MB/sec\n";
const DD: &str = "100+0 records out\n104857600 bytes (105 MB) copied, 10 s, 10.5 MB/s\n";

fn tools_of(import: &Import) -> Vec<(&str, Vec<&str>)> {
    import
        .records
        .iter()
        .map(|record| {
            let device = record.target.device.as_deref().unwrap_or("-");
            (device, record.cells.iter().map(|cell| cell.label("tool")).collect())
        })
        .collect()
}

#[test]
fn a_cards_whole_log_is_one_run_and_each_cell_says_its_tool() {
    let names = ["hdparm_tT.txt", "flashbench_a_1024_loop.txt", "f3read_ok.txt"];
    let text = names.map(fixture).join("\n") + DD;
    let found = import(&text);
    assert_eq!(found.records.len(), 1, "no other medium is named");
    let record = &found.records[0];
    assert_eq!(record.run.software.name, "hdparm, flashbench, f3, dd");
    assert!(record.run.id.starts_with("log-"), "{}", record.run.id);
    let tools: std::collections::BTreeSet<&str> =
        record.cells.iter().map(|cell| cell.label("tool")).collect();
    assert_eq!(tools, ["dd", "f3 8.0", "flashbench", "hdparm"].into());
    let ids: std::collections::BTreeSet<&str> =
        record.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(ids.len(), record.cells.len(), "ids tell cells apart");
}

#[test]
fn what_names_another_device_is_a_run_of_its_own() {
    let text =
        format!("{DD}/dev/sdb1:\n{HDPARM}{DD}\n/dev/sdc:\n{HDPARM}\n{DD}/dev/sdb:\n{HDPARM}");
    let found = import(&text);
    assert_eq!(
        tools_of(&found),
        [("sdb1", vec!["dd", "dd", "hdparm", "hdparm"]), ("sdc", vec!["hdparm", "dd"])]
    );
    let dd = cells(&found).into_iter().find(|cell| cell.label("tool") == "dd");
    assert!(dd.is_some_and(|cell| says(cell, "the text names several media")));
}

#[test]
fn a_directory_and_a_device_are_names_of_one_medium() {
    let dd = |of: &str| format!("$ dd if=/dev/zero of={of} bs=1M count=100 oflag=direct\n{DD}");
    let text = format!("/dev/sdb:\n{HDPARM}{}", dd("/mnt/card/x"));
    assert_eq!(tools_of(&import(&text)), [("sdb", vec!["hdparm", "dd"])]);
    let text = format!("{}{}{}", dd("/mnt/a/x"), dd("/mnt/b/x"), dd("/mnt/a/y"));
    let sizes: Vec<usize> = import(&text).records.iter().map(|record| record.cells.len()).collect();
    assert_eq!(sizes, [2, 1]);
}

/// The sweep's third job: half of its requests completed sooner after they were submitted than the
/// shortest took with its submission.
#[test]
fn a_percentile_that_contradicts_the_extremes_is_kept_apart_and_named() {
    let found = import(&fixture("fio_randread_blocksize_sweep.json"));
    let cell = cells(&found)[2];
    let latency = cell.metrics.latency_ns.as_ref().unwrap();
    assert_eq!((latency.p50, latency.p90, latency.p99), (None, Some(53_504), Some(111_104)));
    assert_eq!(cell.metrics.other["completion_p50_ns"].value, 32_128.0);
    assert!(says(
        cell,
        "p50 of 32.1 us is not between the shortest and the longest time, 37.6 to 117849 us"
    ));
}

/// fio's percentiles are middles of buckets, a sixty-fourth wide: the first of two is the minimum.
#[test]
fn a_percentile_that_is_a_bucket_off_is_the_extreme() {
    let text = fixture("fio_randread-4k-qd1.json");
    let p50 = |text: &str| cells(&import(text))[0].metrics.latency_ns.as_ref().unwrap().p50;
    assert_eq!(p50(&text), Some(49_920));
    let with =
        |ns: &str| p50(&text.replace("\"50.000000\" : 49920", &format!("\"50.000000\" : {ns}")));
    assert_eq!((with("17400"), with("17300")), (Some(17_632), None));
}

/// dd of coreutils 9.1 in the nine languages that it is translated to, and in English with a
/// decimal comma.
#[test]
fn dd_is_read_in_the_languages_it_is_translated_to() {
    let text = fixture("dd_languages.txt");
    let found = import(&text);
    assert_eq!((cells(&found).len(), found.left_count), (10, 0), "{:?}", found.left);
    for cell in cells(&found) {
        assert_eq!((cell.bytes, cell.ops), (16 << 20, 256));
        assert!(!says(cell, "do not give the rate"));
    }
}

/// The summaries of that file with other figures in their places.
fn summary(line: &str, bytes: u64, hundredths: u32, has_comma: bool) -> String {
    let seconds = f64::from(hundredths) / 100.0;
    let rate = bytes as f64 / seconds / 1e6;
    let figure = |text: String| if has_comma { text.replace('.', ",") } else { text };
    let wide = line.replace('\u{ff0c}', ", ");
    let (rest, _) = wide.rsplit_once(", ").unwrap();
    let (head, _) = rest.rsplit_once(", ").unwrap();
    let head = head.replace("16777216", &bytes.to_string());
    let (time, rate) = (figure(format!("{seconds:.2}")), figure(format!("{rate:.3}")));
    if wide == line {
        format!("{head}, {time} s, {rate} MB/s")
    } else {
        format!("{head}\u{ff0c}{time} s\u{ff0c}{rate} MB/s")
    }
}

/// What surrounds a line: nothing, mail, a wrap at one of its blanks, a page, a list with fixed
/// blanks, a terminal, lines as Windows ends them.
fn surrounded(line: &str, how: usize, at: prop::sample::Index) -> String {
    let blanks: Vec<usize> = line.match_indices(' ').map(|(at, _)| at).collect();
    let at = *at.get(&blanks);
    let wrapped = |between: &str| format!("{}{between}{}", &line[..at], &line[at + 1..]);
    match how {
        0 => line.to_owned(),
        1 => format!("> > {line}"),
        2 => wrapped("\n"),
        3 => wrapped("\r\n> ").replacen("", "> ", 1),
        4 => format!("<p><code>{line}</code><br>"),
        5 => format!("* {}", line.replace(' ', "\u{a0}")),
        6 => format!("\u{1b}[32m{line}\u{1b}[0m\r"),
        _ => format!("{line}\r"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn dd_is_read_in_each_wording_however_it_was_pasted(
        wording in 0usize..10,
        blocks in 10u64..4000,
        hundredths in 10u32..20_000,
        has_comma: bool,
        how in 0usize..8,
        at: prop::sample::Index,
    ) {
        let text = fixture("dd_languages.txt");
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("16777216")).collect();
        prop_assert_eq!(lines.len(), 10);
        let bytes = blocks << 20;
        let line = surrounded(&summary(lines[wording], bytes, hundredths, has_comma), how, at);
        let found = import(&format!("Hello,\n{line}\nBye\n"));
        prop_assert_eq!((cells(&found).len(), found.left_count), (1, 0), "{}", line);
        let cell = cells(&found)[0];
        let ns = u64::from(hundredths) * 10_000_000;
        prop_assert_eq!((cell.bytes, cell.elapsed_ns), (bytes, ns), "{}", line);
    }
}

/// A form of a web page carries text alone, and ends its lines as mail does.
#[test]
fn a_text_that_went_through_a_form_says_the_same() {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import"].concat().into();
    let mut texts: Vec<Vec<u8>> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert!(texts.len() > 50, "{}", texts.len());
    let dd = fixture("dd_write_1M_direct.txt");
    texts.push(
        [0xff, 0xfe].into_iter().chain(dd.encode_utf16().flat_map(u16::to_le_bytes)).collect(),
    );
    texts.push(dd.replace("copied", "co\0pied").into_bytes());
    texts.push(b"\xb5\n".iter().copied().chain(dd.bytes()).collect());
    for text in texts {
        let carried = plain_text(&text).replace("\r\n", "\n").replace(['\r', '\n'], "\r\n");
        assert!(!carried.contains('\0'));
        let read = |bytes: &[u8]| {
            let found = understand("x", bytes, &Hints::default()).map_err(|e| e.to_string())?;
            let parts = found.records.into_iter().map(|record| (record.medium, record.cells));
            Ok::<_, String>((parts.collect::<Vec<_>>(), found.left_count))
        };
        assert_eq!(read(&text), read(carried.as_bytes()), "{carried}");
    }
}

#[test]
fn a_log_of_pibenchmarks_is_one_run_of_its_medium() {
    let found = import(&fixture("pibenchmarks_log.txt"));
    assert_eq!((found.records.len(), found.left_count), (1, 0), "{:?}", found.left);
    let device = found.records[0].target.device.as_deref();
    assert_eq!((device, cells(&found).len()), (Some("mmcblk0"), 6));
}

const SWEEPS: [&str; 7] = [
    "article_dd_sweep_comment03.txt",
    "article_dd_sweep_comment06_usb2.txt",
    "article_dd_sweep_comment06_usb3.txt",
    "article_dd_sweep_comment09_wrapped.txt",
    "article_dd_sweep_comment10.txt",
    "article_dd_sweep_comment11_no_header.txt",
    "dd_sweep_summary.txt",
];

#[test]
fn sweeps_of_seven_media_in_one_thread_are_seven_runs() {
    let thread = SWEEPS.map(|name| fixture(name) + "\nAnother card:\n").concat();
    let found = import(&thread);
    assert_eq!(found.records.len(), 7);
    assert!(found.records.iter().all(|record| record.cells.len() == 18));
    let iozone = fixture("article_iozone_O_comment03.txt");
    let with_iozone = SWEEPS.map(|name| [fixture(name), iozone.clone()].concat()).concat();
    let counts: Vec<usize> =
        import(&with_iozone).records.iter().map(|record| record.cells.len()).collect();
    assert_eq!(counts, [22; 7], "an iozone line is of the card above it");
}

/// Figures without a word before them are of whoever wrote them, not of the line above.
#[test]
fn a_line_that_is_full_does_not_go_on() {
    let sweep = fixture("article_dd_sweep_comment03.txt");
    let bare = "1.2 MB/s 2.2 MB/s 3.2 MB/s 4.2 MB/s 5.2 MB/s 6.2 MB/s 7.2 MB/s 8.2 MB/s 9.2 MB/s\n";
    let found = import(&[sweep.trim_end(), "\n", bare].concat());
    assert_eq!((cells(&found).len(), found.left_count), (18, 1));
    let iozone = [&fixture("article_iozone_O_comment03.txt"), "11 22 33 44 55 66 77 88 99\n"];
    assert_eq!(cells(&import(&iozone.concat())).len(), 4);
}
