//! Errors that ended what a tool did: whose they are, and what is kept.

use std::path::PathBuf;

use import::{Hints, Import, ImportError, understand};
use record::{Cell, Ended, Record, metric};

fn fixture(name: &str) -> String {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import/", name].concat().into();
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn import(text: &str) -> Result<Import, ImportError> {
    understand("x", text.as_bytes(), &Hints::default())
}

fn record(text: &str) -> Record {
    let mut found = import(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(found.records.len(), 1, "{text}");
    found.records.remove(0)
}

/// Why a run ended by an error of the medium.
#[track_caller]
fn reason(text: &str) -> String {
    let record = record(text);
    assert_eq!(record.run.ended, Ended::Error, "{text}");
    record.cells.iter().find_map(|cell| cell.reason.clone()).unwrap_or_default()
}

/// What is noted of a run that ended early by no fault of the medium.
#[track_caller]
fn doubt(text: &str) -> String {
    let record = record(text);
    assert_eq!(record.run.ended, Ended::Complete, "{text}");
    let mut flags = record.cells.iter().flat_map(|cell| &cell.flags).map(ToString::to_string);
    flags.find(|flag| flag.contains("ended early")).unwrap_or_default()
}

fn megabytes(cell: &Cell) -> f64 {
    (cell.metrics.bps.unwrap().value / 1e4).round() / 100.0
}

#[test]
fn an_io_error_of_dd_ends_its_run_and_the_figure_is_kept() {
    for name in ["dd_eio.txt", "dd_eio_de.txt"] {
        let text = fixture(name);
        assert_eq!(reason(&text), "dd ended with error 5: input/output error", "{name}");
        let cells = record(&text).cells;
        assert_eq!((cells.len(), megabytes(&cells[0])), (1, 20.0), "{name}");
    }
}

#[test]
fn dd_says_its_errors_in_many_languages() {
    let english = fixture("dd_eio.txt");
    let said = "dd: error reading '/dev/sdx': Input/output error";
    for line in [
        "dd: reading `/dev/sdx': Input/output error",
        "dd: /dev/sdx: I/O error",
        "dd: erreur de lecture de '/dev/sdx': Erreur d'entrée/sortie",
        "dd: error al leer '/dev/sdx': Error de entrada/salida",
        "/bin/dd: ошибка чтения '/dev/sdx': Ошибка ввода/вывода",
        "dd: '/dev/sdx' の読み込みエラー: 入力/出力エラーです",
        "dd: 读取'/dev/sdx' 时出错: 输入/输出错误",
        "dd: błąd czytania '/dev/sdx': Błąd wejścia/wyjścia",
        "dd: errore leggendo '/dev/sdx': Errore di input/output",
        "dd: fout bij lezen van '/dev/sdx': Invoer-/uitvoerfout",
    ] {
        let text = english.replace(said, line);
        assert_eq!(reason(&text), "dd ended with error 5: input/output error", "{line}");
    }
}

/// `conv=noerror` tells at each error how far it is.
#[test]
fn of_a_dd_that_goes_on_after_errors_the_last_figure_counts() {
    let text = "$ dd if=/dev/sdx of=/dev/null bs=1M iflag=direct conv=noerror\n\
        dd: error reading '/dev/sdx': Input/output error\n\
        300+0 records in\n300+0 records out\n314572800 bytes (315 MB, 300 MiB) copied, 15.7286 s, 20.0 MB/s\n\
        dd: error reading '/dev/sdx': Input/output error\n\
        400+1 records in\n400+1 records out\n420478976 bytes (420 MB, 401 MiB) copied, 42.0479 s, 10.0 MB/s\n\
        900+2 records in\n900+2 records out\n944766976 bytes (945 MB, 901 MiB) copied, 94.4767 s, 10.0 MB/s\n";
    let cells = record(text).cells;
    assert_eq!((cells.len(), megabytes(&cells[0]), cells[0].bytes), (1, 10.0, 944_766_976));
    assert_eq!(reason(text), "dd ended with error 5: input/output error");
}

#[test]
fn a_dd_that_does_not_get_to_its_first_byte_has_no_figure() {
    let text = "dd: error reading '/dev/sdx': Input/output error\n0+0 records in\n0+0 records out\n\
        0 bytes copied, 0.0123 s, 0.0 kB/s\n";
    assert_eq!(reason(text), "dd ended with error 5: input/output error");
    assert_eq!(record(text).cells[0].metrics.bps, None);
    assert_eq!(reason("dd: error reading '/dev/sdx': Input/output error\n"), reason(text));
}

#[test]
fn an_io_error_in_the_text_of_fio_is_that_of_its_json() {
    let text = fixture("fio_eio.txt");
    assert_eq!(reason(&text), "fio ended with error 5: input/output error");
    let cell = record(&text).cells.remove(0);
    assert_eq!((cell.ops, (cell.metrics.iops.unwrap().value).round()), (5121, 1313.0));
    let json = fixture("fio_enospc.json").replace("\"error\" : 28", "\"error\" : 5");
    assert_eq!(reason(&json), reason(&text));
}

#[test]
fn a_job_that_fails_at_its_first_io_is_an_error_too() {
    let text = fixture("fio_eio.txt");
    let figures = text.find("  read: IOPS").unwrap()..text.find("  cpu").unwrap();
    let cut = [&text[..figures.start], &text[figures.end..]].concat();
    assert_eq!(reason(&cut), "fio ended with error 5: input/output error");
    let terse = fixture("fio_terse_2_to_5.txt");
    for (at, begin) in [(0, "2;a;0;"), (1, "3;fio-3.33;a;0;"), (3, "5;fio-3.33;a;0;")] {
        let line = terse.lines().nth(at).unwrap();
        let failed = line.replacen(&format!("{begin}0;"), &format!("{begin}5;"), 1);
        assert_eq!(reason(&failed), "fio ended with error 5: input/output error", "{begin}");
    }
}

#[test]
fn a_file_that_f3read_cannot_read_is_an_error_and_its_sectors_are_counted() {
    let text = fixture("f3read_eio.txt");
    assert_eq!(reason(&text), "file 1 had 833792 of 2097152 sectors read: input/output error");
    let record = record(&text);
    assert_eq!(record.cells[0].metrics.other[metric::GOOD_SECTORS].value, 5_028_096.0);
    assert_eq!(record.cells.len(), 2, "the speed is kept");
}

#[test]
fn a_file_that_f3write_cannot_write_is_an_error() {
    let text = fixture("f3write_eio.txt");
    assert_eq!(reason(&text), "f3 ended with error 5: input/output error");
    assert_eq!(megabytes(&record(&text).cells[0]), 4.72);
}

#[test]
fn what_iozone_has_measured_before_an_error_is_kept() {
    let text = fixture("iozone_eio.txt");
    assert_eq!(reason(&text), "iozone ended with error 5: input/output error");
    let cells = record(&text).cells;
    let rates: Vec<f64> = cells.iter().filter_map(|cell| Some(cell.metrics.bps?.value)).collect();
    assert_eq!((cells.len(), rates), (3, vec![1201.0 * 1024.0, 1250.0 * 1024.0]));
}

#[test]
fn errors_of_tools_that_have_no_figure_then() {
    for (tool, text) in [
        ("hdparm", "/dev/sdb:\n Timing buffered disk reads: read() failed: Input/output error\n"),
        ("ioping", "ioping: request failed: Input/output error\n"),
        (
            "sysbench",
            "sysbench 1.0.20\nFATAL: Failed to read file! file: 12 pos: 16384 errno = 5 (Input/output error)\n",
        ),
        ("bonnie++", "Bonnie: drastic I/O error (re-write read): Input/output error\n"),
        ("flashbench", "time_read: Input/output error\n"),
    ] {
        assert_eq!(reason(text), format!("{tool} ended with error 5: input/output error"));
    }
}

/// Cards answer no ATA command, and USB bridges answer it with an error.
#[test]
fn what_hdparm_asks_a_card_in_vain_is_no_error_of_it() {
    let text = fixture("hdparm_hg.txt");
    for error in ["Invalid argument", "Input/output error"] {
        let record = record(&text.replace("Invalid argument", error));
        assert_eq!((record.run.ended, record.cells.len()), (Ended::Complete, 2));
    }
}

#[test]
fn an_error_of_the_medium_is_told_from_one_of_the_host() {
    let json = fixture("fio_enospc.json");
    let text = fixture("fio_enospc.txt");
    let of = |number: u32| {
        [
            json.replace("\"error\" : 28", &format!("\"error\" : {number}")),
            text.replace("err=28", &format!("err={number}")),
        ]
    };
    for (number, words) in [
        (5, "input/output error"),
        (6, "no such device or address"),
        (19, "no such device"),
        (42, "damaged data (EILSEQ)"),
        (61, "no data available"),
        (84, "damaged data (EILSEQ)"),
        (121, "remote I/O error"),
    ] {
        for text in of(number) {
            assert_eq!(reason(&text), format!("fio ended with error {number}: {words}"));
        }
    }
    for (number, words) in [
        (1, "operation not permitted"),
        (2, "no such file or directory"),
        (12, "out of memory"),
        (13, "permission denied"),
        (22, "invalid argument"),
        (24, "too many open files"),
        (25, "not a call for this device"),
        (28, "no space left"),
        (95, "operation not supported"),
        (117, "error 117"),
    ] {
        for text in of(number) {
            assert_eq!(doubt(&text), format!("fio ended early: {words}"));
        }
    }
}

#[test]
fn a_full_medium_is_no_fault_of_it() {
    let full = |words: &str| {
        format!(
            "dd: error writing '/mnt/full': {words}\n301+0 records in\n300+0 records out\n\
             314572800 bytes (315 MB, 300 MiB) copied, 15.7286 s, 20.0 MB/s\n"
        )
    };
    for words in [
        "No space left on device",
        "Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
        "Aucun espace disponible sur le périphérique",
        "На устройстве не осталось свободного места",
        "设备上没有空间",
    ] {
        assert_eq!(doubt(&full(words)), "dd ended early: no space left");
    }
    let f3 = fixture("f3write_eio.txt").replace("Input/output error", "No space left on device");
    assert_eq!(doubt(&f3), "f3 ended early: no space left");
}

/// What fio prints in front of its JSON, where both go to one file, was dropped.
#[test]
fn what_stands_before_the_json_of_fio_is_kept() {
    let json = fixture("fio_randread-4k-qd1.json");
    let warned =
        "fio: this platform does not support process shared mutexes, forcing use of threads.\n";
    let error =
        "fio: io_u error on file /dev/sdx: Input/output error: read offset=8192, buflen=4096\n";
    let full =
        "fio: io_u error on file /dev/sdx: No space left on device: write offset=0, buflen=4096\n";
    assert_eq!(reason(&[error, &json].concat()), "fio ended with error 5: input/output error");
    assert_eq!(doubt(&[full, &json].concat()), "fio ended early: no space left");
    let warned = record(&[warned, &json].concat());
    assert_eq!(warned.run.ended, Ended::Complete);
    let said: Vec<String> = warned.flags.iter().map(ToString::to_string).collect();
    assert!(said.iter().any(|said| said.starts_with("fio said: this platform")), "{said:?}");
    assert_eq!(warned.cells, record(&json).cells);
    // A job that says it itself has it once.
    let failed = fixture("fio_enospc.json").replace("\"error\" : 28", "\"error\" : 5");
    let cells = record(&[error, &failed].concat()).cells;
    assert_eq!(cells.iter().filter(|cell| cell.reason.is_some()).count(), 1);
}

#[test]
fn fio_json_that_is_cut_off_is_called_so() {
    let json = fixture("fio_randread-4k-qd1.json");
    let half = &json[..json.len() / 2];
    let last = half.lines().count();
    assert_eq!(
        import(half).unwrap_err().to_string(),
        format!(
            "it looks like fio JSON, but line {last}: its JSON is cut off here: the end is missing"
        )
    );
}

/// Of two jobs only the one that says so has failed.
#[test]
fn an_error_of_a_job_is_not_that_of_its_neighbour() {
    let failed = fixture("fio_eio.txt");
    let good = failed.split_once("\n\n").unwrap().1.replace("rd: (g", "ok: (g");
    let good = good
        .replace("err= 5 (file:io_u.c:1876, func=io_u error, error=Input/output error)", "err= 0");
    let cells = record(&[failed, good.replace("pid=1234", "pid=1235")].concat()).cells;
    let reasons: Vec<bool> = cells.iter().map(|cell| cell.reason.is_some()).collect();
    assert_eq!(reasons, [true, false]);
}

#[test]
fn an_error_at_the_end_of_a_log_leaves_the_figures_of_other_tools() {
    let hdparm =
        "/dev/sdb:\n Timing buffered disk reads:  66 MB in  3.05 seconds =  21.61 MB/sec\n";
    let text = [hdparm, "dd: error reading '/dev/sdb': Input/output error\n"].concat();
    assert_eq!(reason(&text), "dd ended with error 5: input/output error");
    let cells = record(&text).cells;
    assert_eq!((cells.len(), megabytes(&cells[0]), cells[0].reason.is_some()), (2, 22.66, false));
}

#[test]
fn f3read_tells_each_file_that_it_could_not_read() {
    let text = fixture("f3read_eio.txt").replace(
        "Validating file 3.h2w ... 2097152/        0/      0/      0",
        "Validating file 3.h2w ...   10000/        0/      0/      0 - NOT fully read due to \"Input/output error\"",
    );
    assert_eq!(
        reason(&text),
        "file 1 had 833792 of 2097152 sectors read, file 3 had 10000 sectors read: input/output error"
    );
    let only_the_warning = fixture("f3read_ok.txt").trim_end().to_owned()
        + "\nWARNING: Not all data was read due to I/O error(s)\n";
    assert_eq!(reason(&only_the_warning), "f3 ended with error 5: input/output error");
}

#[test]
fn a_medium_that_went_away_is_an_error() {
    let dd = fixture("dd_eio.txt");
    for (words, said) in [
        ("No such device", "dd ended with error 19: no such device"),
        ("No such device or address", "dd ended with error 6: no such device or address"),
        ("Remote I/O error", "dd ended with error 121: remote I/O error"),
        ("Keine Daten verfügbar", "dd ended with error 61: no data available"),
        ("Aucun périphérique ou adresse", "dd ended with error 6: no such device or address"),
    ] {
        assert_eq!(reason(&dd.replace("Input/output error", words)), said);
    }
}

/// Counts of sectors are not believed: their sum must not overflow.
#[test]
fn sectors_that_overflow_do_not_panic() {
    let text = fixture("f3read_eio.txt").replace("833792/        0", "18446744073709551615/ 1");
    assert!(reason(&text).starts_with("file 1 had 18446744073709551615 of"));
}

#[test]
fn an_error_of_one_device_is_not_put_on_another() {
    let dd = "$ dd if=/dev/sda of=/dev/null bs=1M iflag=direct\n300+0 records in\n300+0 records out\n\
        314572800 bytes (315 MB, 300 MiB) copied, 15.7286 s, 20.0 MB/s\n\n\
        dd: error reading '/dev/sdb': Input/output error\n";
    let hdparm = "/dev/sda:\n Timing buffered disk reads:  66 MB in  3.05 seconds =  21.61 MB/sec\n\n\
        /dev/sdb:\n Timing buffered disk reads: read() failed: Input/output error\n";
    for text in [dd, hdparm] {
        let records = import(text).unwrap().records;
        let ended: Vec<_> =
            records.iter().map(|record| (record.target.path.as_str(), record.run.ended)).collect();
        assert_eq!(ended, [("/dev/sda", Ended::Complete), ("/dev/sdb", Ended::Error)], "{text}");
    }
}

#[test]
fn the_error_of_the_medium_outlasts_later_ones() {
    let text = fixture("dd_eio.txt").replace(
        "Input/output error\n",
        "Input/output error\ndd: closing output file '/dev/null': No space left on device\n",
    );
    assert_eq!(reason(&text), "dd ended with error 5: input/output error");
}

#[test]
fn an_error_is_a_whole_part_of_a_message() {
    let dd = fixture("dd_eio.txt");
    let said = "dd: error reading '/dev/sdx': Input/output error";
    for (line, expected) in [
        ("dd: error reading '/x/No space left on device': Input/output error", true),
        ("dd: error reading '/x/Input/output error.img': No such file or directory", false),
        ("dd: a list with Input/output error, No such device", false),
    ] {
        let is_error = record(&dd.replace(said, line)).run.ended == Ended::Error;
        assert_eq!(is_error, expected, "{line}");
    }
}

/// Only errors and records stand between an error and the figures it belongs to.
#[test]
fn an_error_of_dd_does_not_reach_past_other_lines() {
    let text = fixture("dd_eio.txt").replace("Input/output error\n", "Input/output error\nagain\n");
    let cells = record(&text).cells;
    let reasons: Vec<bool> = cells.iter().map(|cell| cell.reason.is_some()).collect();
    assert_eq!(reasons, [false, true]);
}

#[test]
fn more_ways_to_say_an_error_of_the_medium() {
    for (text, expected) in [
        ("f3write: Can't create file /mnt/1.h2w: Input/output error\n", "f3 ended with error 5"),
        ("f3read: Can't open file /mnt/1.h2w: Input/output error\n", "f3 ended with error 5"),
        ("Creating file 1.h2w ... errno=5 for fdatasync()\n", "f3 ended with error 5"),
        ("dd: /dev/rdisk4: Device not configured\n", "dd ended with error 6"),
        ("dd: failed to open '/dev/sdx': No medium found\n", "dd ended with error 123"),
    ] {
        let found = reason(text);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}

#[test]
fn an_unknown_message_of_dd_is_noted() {
    let text = fixture("dd_eio.txt").replace("Input/output error", "Rhyw wall arall");
    let flags = record(&text).cells.remove(0).flags;
    assert!(flags.iter().any(|flag| flag.to_string().contains("Rhyw wall arall")), "{flags:?}");
}

#[test]
fn messages_of_other_programs_are_no_errors() {
    for text in [
        "FATAL: Failed to read file! errno = 5 (Input/output error)\n",
        "read() failed: Input/output error\n",
    ] {
        assert!(import(text).is_err(), "{text}");
    }
}

#[test]
fn of_several_unread_files_the_error_of_the_medium_counts() {
    let text = fixture("f3read_eio.txt").replace(
        "Validating file 2.h2w ... 2097152/        0/      0/      0",
        "Validating file 2.h2w ...       7/        0/      0/      0 - NOT fully read due to \"Input/output error\"",
    );
    let text = text.replacen("\"Input/output error\"", "\"Permission denied\"", 1);
    assert!(reason(&text).ends_with("input/output error"), "{}", reason(&text));
}

#[test]
fn an_error_of_the_host_below_a_result_is_noted_there() {
    let iozone = fixture("iozone_eio.txt").replace("Input/output error", "Permission denied");
    assert_eq!(doubt(&iozone), "iozone ended early: permission denied");
}
