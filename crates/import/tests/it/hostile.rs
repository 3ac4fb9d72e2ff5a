//! Bad input: limits on sizes, other encodings, hostile text.

use import::{Import, ImportError, IozoneUnit, MAX_BYTES, read, understand};
use proptest::prelude::*;
use record::Record;

use crate::{folder, samples};

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).unwrap()
}

fn understood(text: &[u8]) -> Import {
    understand("x", text, None).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    read("x", text.as_bytes()).expect_err("it is refused").to_string()
}

/// Number of results, and the lines that were not read.
fn counted(text: &[u8]) -> (usize, Vec<String>) {
    let found = understood(text);
    let left = found.left.iter().map(|left| format!("{}: {}", left.line, left.text)).collect();
    (found.records.iter().map(|record| record.cells.len()).sum(), left)
}

#[test]
fn the_same_bytes_give_the_same_run_and_a_name_matters_to_nothing_measured() {
    let text = bytes("hdparm_t.txt");
    let (a, b) = (read("a", &text).unwrap(), read("b", &text).unwrap());
    assert_eq!((&a[0].run.id, &a[0].cells), (&b[0].run.id, &b[0].cells));
    let other = read("a", &[text, b"\n".to_vec()].concat()).unwrap();
    assert_ne!(a[0].run.id, other[0].run.id);
}

#[test]
fn a_record_of_our_own_is_read() {
    let own = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
    assert_eq!(read("x", own.as_bytes()).unwrap(), [Record::from_json(own).unwrap()]);
}

#[test]
fn the_unit_of_a_bare_iozone_line_can_be_given() {
    let text = bytes("iozone_O_line_only.txt");
    let iops = |unit| {
        let import = understand("x", &text, Some(unit)).unwrap();
        import.records[0].cells[0].metrics.iops.unwrap().value
    };
    assert_eq!(iops(IozoneUnit::Operations), iops(IozoneUnit::Kilobytes) * 4.0);
}

#[test]
fn figures_that_cannot_be_are_refused_with_the_reason() {
    let fio = text("fio_randwrite-4k-qd1.json");
    let with = |from: &str, to: &str| refused(&fio.replace(from, to));
    insta::assert_snapshot!(with("\"iops\" : 8600.479904", "\"iops\" : -8600.479904"), @"it looks like fio JSON, but line 1: job 'randwrite-4k-qd1': -8600.479904 cannot be");
    insta::assert_snapshot!(with("\"iops\" : 8600.479904", "\"iops\" : 1e300"), @"it looks like fio JSON, but line 1: job 'randwrite-4k-qd1': 1e300 cannot be");
    insta::assert_snapshot!(with("\"iops\" : 8600.479904", "\"iops\" : nan"), @"it looks like fio JSON, but line 72: its JSON cannot be read: expected ident");
    insta::assert_snapshot!(with("\"io_bytes\" : 176173056", "\"io_bytes\" : 99999999999999999999999"), @"it looks like fio JSON, but line 1: job 'randwrite-4k-qd1': 1e23 cannot be");
    assert_eq!(refused(""), "it is empty");
    assert_eq!(refused("\0\u{1}\u{2}"), "it is not a text");
}

#[test]
fn floods_are_bounded_and_reported() {
    let many = understood("ext4: 9s\n".repeat(20_001).as_bytes());
    assert_eq!(many.records[0].cells.len(), 20_000);
    assert!(many.left[0].why.as_deref().unwrap().contains("more than 20000 results"));
    assert!(refused(&"a\n".repeat(2_000_001)).contains("more than 2000000 lines"));
    let media: String =
        (0..1001).map(|number| format!("m{number}: 1.00 ms random access time\n")).collect();
    let many = understood(media.as_bytes());
    assert_eq!(many.records.len(), 1000);
    assert!(many.left[0].why.as_deref().unwrap().contains("more than 1000 media"));
    let sweep = "Block: 4K 8K\nWrite: 1.0 MB/s 2.0 MB/s\nBlock: 4K 8K\nRead: 3.0 MB/s 4.0 MB/s\n";
    assert_eq!(understood(sweep.repeat(1005).as_bytes()).records.len(), 1000);
    let comments = "1. mine\next4: 9s\n".repeat(1005);
    assert_eq!(understood(comments.as_bytes()).records.len(), 1000);
    let objects = format!(
        "{{ \"fio version\" : \"fio-3.33\", \"jobs\" : [ {}{{}} ] }}",
        "{},".repeat(400_001)
    );
    assert!(refused(&objects).contains("more than 400000 objects"));
    let deep = format!(
        "{{ \"fio version\" : \"fio-3.33\", \"jobs\" : [ {{ \"job options\" : {{ \"a\" : {}",
        "[".repeat(100_000)
    );
    assert!(refused(&deep).contains("recursion limit"), "{}", refused(&deep));
    assert!(matches!(read("x", &vec![b' '; MAX_BYTES + 1]), Err(ImportError::TooLong(_))));
}

/// NULs in the middle, as a crashed machine leaves them.
#[test]
fn a_damaged_line_costs_itself() {
    let dd = "1+0 records out\n1048576 bytes (1.0 MB) copied, 0.1 s, 10.5 MB/s\n";
    let (cells, left) = counted(format!("{dd}{}\n{dd}", "\0".repeat(4096)).as_bytes());
    assert!(cells == 2 && left.len() == 1, "{left:?}");
}

/// Of a fio document that is cut off in its third job the first two are kept.
#[test]
fn whole_jobs_of_a_truncated_json_are_kept() {
    let text = text("fio_randread_blocksize_sweep.json");
    let whole = read("x", text.as_bytes()).unwrap();
    let third = text.match_indices("\"jobname\"").nth(2).unwrap().0;
    let cut = &text[..third + 400];
    let found = understood(cut.as_bytes());
    assert_eq!(found.records[0].cells[..], whole[0].cells[..2]);
    let [left] = &found.left[..] else { panic!("{:?}", found.left) };
    assert!(left.why.as_deref().unwrap().contains("its JSON is cut off here"));
    assert_eq!(left.line as usize, cut.lines().count());
}

#[test]
fn the_error_of_a_job_is_the_mediums_or_the_hosts_by_its_number() {
    let (json, normal) = (text("fio_enospc.json"), text("fio_enospc.txt"));
    let mut output = String::new();
    for number in [1, 2, 5, 6, 12, 13, 19, 22, 24, 25, 28, 42, 61, 84, 95, 117, 121] {
        let of = |text: String| {
            let record = understood(text.as_bytes()).records.remove(0);
            let flags = record.cells[0].flags.iter().map(ToString::to_string);
            let note = flags.into_iter().next_back().unwrap_or_default();
            record.cells[0].reason.clone().unwrap_or(note)
        };
        let of_json = of(json.replace("\"error\" : 28", &format!("\"error\" : {number}")));
        assert_eq!(of_json, of(normal.replace("err=28", &format!("err={number}"))));
        output += &format!("{number}: {of_json}\n");
    }
    insta::assert_snapshot!(output);
}

#[test]
fn texts_of_users_come_out_short_and_plain() {
    let name = format!("<script>\\u001b[31m{}", "x".repeat(10_000));
    let fio = text("fio_randwrite-4k-qd1.json").replace("randwrite-4k-qd1", &name);
    let record = read("x", fio.as_bytes()).unwrap().remove(0);
    let job = record.cells[0].label("job");
    assert!(job.len() <= 100 && !job.contains('\u{1b}'), "{job}");
}

#[test]
fn old_bytes_and_other_encodings_are_text_too() {
    let text = text("flashbench_a_1024_loop.txt");
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let wide = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let wide: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let plain = read("x", text.as_bytes()).unwrap()[0].cells.clone();
    assert_eq!(read("x", &latin).unwrap()[0].cells, plain);
    assert_eq!(read("x", &wide).unwrap()[0].cells, plain);
}

/// Summary of dd with other figures, with a decimal comma if the language has one.
fn summary(line: &str, bytes: u64, hundredths: u32, has_comma: bool) -> String {
    let seconds = f64::from(hundredths) / 100.0;
    let rate = bytes as f64 / seconds / 1e6;
    let figure = |text: String| if has_comma { text.replace('.', ",") } else { text };
    let wide = line.replace('\u{ff0c}', ", ");
    let (rest, _) = wide.rsplit_once(", ").unwrap();
    let (head, _) = rest.rsplit_once(", ").unwrap();
    let head = head.replace("16777216", &bytes.to_string());
    let (time, rate) = (figure(format!("{seconds:.2}")), figure(format!("{rate:.3}")));
    let comma = if wide == line { ", " } else { "\u{ff0c}" };
    format!("{head}{comma}{time} s{comma}{rate} MB/s")
}

/// Writes a line as mail, a page, a list with fixed blanks, a terminal or Windows does, or wrapped
/// at one of its blanks.
fn surrounded(line: &str, how: usize, at: prop::sample::Index) -> String {
    let blanks: Vec<usize> = line.match_indices(' ').map(|(at, _)| at).collect();
    let at = *at.get(&blanks);
    let wrapped = |between: &str| format!("{}{between}{}", &line[..at], &line[at + 1..]);
    match how {
        0 => line.to_owned(),
        1 => format!("> > {line}"),
        2 => wrapped("\n"),
        3 => format!("> {}", wrapped("\r\n> ")),
        4 => format!("<p><code>{line}</code><br>"),
        5 => format!("* {}", line.replace(' ', "\u{a0}")),
        6 => format!("\u{1b}[32m{line}\u{1b}[0m\r"),
        _ => format!("{line}\r"),
    }
}

/// A change to a text: position, kind and bytes.
type Edit = (prop::sample::Index, u8, Vec<u8>);

fn changed(mut text: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for (place, kind, with) in edits {
        let at = place.index(text.len().max(1)).min(text.len());
        let to = |length: usize| (at + length).min(text.len());
        match kind % 5 {
            0 => text.truncate(at),
            1 => drop(text.splice(at..at, with.iter().copied())),
            2 => drop(text.splice(at..to(with.len()), with.iter().copied())),
            3 => drop(text.drain(at..to(40))),
            _ => text.extend_from_within(at..to(200)),
        }
    }
    text
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let telling = "- nan inf 1e999 99999999999999999999 0 \n ; / : µ \u{8}\u{8} = ( [ { \" -1 _ \u{a0} 2^63 é";
    let telling: Vec<Vec<u8>> = telling.split(' ').map(|text| text.as_bytes().to_vec()).collect();
    prop_oneof![prop::sample::select(telling), prop::collection::vec(any::<u8>(), 0..20)]
}

/// Checks that every imported record can be stored and holds no impossible value.
fn holds(bytes: &[u8]) {
    for record in read("x", bytes).into_iter().flatten() {
        for metrics in record.cells.iter().map(|cell| &cell.metrics) {
            let rates = [metrics.iops, metrics.bps].into_iter().flatten();
            for figure in rates.chain(metrics.other.values().copied()) {
                assert!(figure.value.is_finite() && figure.value >= 0.0, "{figure:?}");
            }
        }
        let text = record.to_json();
        assert_eq!(Record::from_json(&text).unwrap().to_json(), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn changed_samples_never_panic(
        path in prop::sample::select(samples()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), pieces()), 1..6),
    ) {
        holds(&changed(std::fs::read(path).unwrap(), &edits));
    }

    #[test]
    fn two_samples_in_one_file_never_panic(
        a in prop::sample::select(samples()), b in prop::sample::select(samples()), edit: Edit,
    ) {
        let both = [std::fs::read(a).unwrap(), std::fs::read(b).unwrap()].concat();
        holds(&changed(both, &[edit]));
    }

    #[test]
    fn any_bytes_never_panic(bytes: Vec<u8>) {
        holds(&bytes);
    }

    #[test]
    fn dd_is_read_in_each_wording_however_it_was_pasted(
        wording in 0usize..10,
        blocks in 10u64..4000,
        hundredths in 10u32..20_000,
        has_comma: bool,
        how in 0usize..8,
        at: prop::sample::Index,
    ) {
        let text = text("dd_languages.txt");
        let mut lines = text.lines().filter(|line| line.contains("16777216"));
        let bytes = blocks << 20;
        let line = summary(lines.nth(wording).unwrap(), bytes, hundredths, has_comma);
        let line = surrounded(&line, how, at);
        let found = understood(format!("Hello,\n{line}\nBye\n").as_bytes());
        let cells: Vec<_> = found.records.iter().flat_map(|record| &record.cells).collect();
        prop_assert_eq!((cells.len(), found.left_count), (1, 0), "{}", line);
        let ns = u64::from(hundredths) * 10_000_000;
        prop_assert_eq!((cells[0].bytes, cells[0].elapsed_ns), (bytes, ns), "{}", line);
    }
}
