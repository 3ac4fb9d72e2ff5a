//! What other tools print, as it was printed, and as it never would be.

use std::fmt::Write;
use std::path::PathBuf;

use import::{Hints, ImportError, IozoneUnit, MOST_BYTES, read, read_with, understand};
use proptest::prelude::*;
use record::units::{Bytes, significant};
use record::{Cell, Flag, Latency, Record, Stop};

fn directory() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import").into()
}

fn bytes(name: &str) -> Vec<u8> {
    let path = directory().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn records(name: &str) -> Vec<Record> {
    read(name, &bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A cell in a line: what was done, and the figures to the last digit that was read.
fn line(cell: &Cell) -> String {
    let params = &cell.params;
    let mut text = cell.id.clone();
    let form = params.form.as_ref().map(|form| format!("[{form}]"));
    let block = params.block_bytes.map(|block| Bytes(block).to_string());
    let loops = format!("q{}t{}", params.queue_depth, params.threads);
    let path = format!("{:?}", params.path).to_lowercase();
    let sync = (params.sync != record::Sync::None)
        .then(|| format!("sync-{:?}", params.sync).to_lowercase());
    for word in [form, block, Some(loops).filter(|loops| loops != "q1t1"), Some(path), sync]
        .into_iter()
        .flatten()
    {
        write!(text, " {word}").unwrap();
    }
    let rates = [("iops", cell.metrics.iops), ("bps", cell.metrics.bps)];
    for (name, figure) in rates.into_iter().filter_map(|(name, figure)| Some((name, figure?))) {
        write!(text, " {name}={}", figure.value).unwrap();
    }
    for (name, figure) in &cell.metrics.other {
        write!(text, " {name}={}", figure.value).unwrap();
    }
    cell.metrics.latency_ns.iter().for_each(|latency| text += &latency_line(latency));
    if cell.stop == Stop::Error {
        write!(text, " failed: {}", cell.reason.as_deref().unwrap_or_default()).unwrap();
    }
    text
}

fn latency_line(latency: &Latency) -> String {
    let shown = |ns: Option<u64>| ns.map_or("-".to_owned(), |ns| ns.to_string());
    format!(
        " n={} min={} mean={} p50={} p99={} p99.9={} max={}",
        latency.n,
        latency.min,
        significant(latency.mean),
        shown(latency.p50),
        shown(latency.p99),
        shown(latency.p99_9),
        latency.max
    )
}

/// Everything of a file: a head for each record, then its cells.
pub fn told(name: &str) -> String {
    told_of(&records(name))
}

pub fn told_of(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records {
        let software = &record.run.software;
        let medium = [
            record.medium.model.clone(),
            record.target.device.clone(),
            record.medium.capacity_bytes.map(|bytes| Bytes(bytes).to_string()),
        ];
        let medium: Vec<String> = medium.into_iter().flatten().collect();
        writeln!(text, "{} {} {}", software.name, software.version, medium.join(" ")).unwrap();
        record.cells.iter().for_each(|cell| writeln!(text, "  {}", line(cell)).unwrap());
    }
    text
}

fn notes(cell: &Cell) -> Vec<String> {
    cell.flags.iter().map(Flag::to_string).collect()
}

#[test]
fn every_sample_imports_and_survives_as_a_record() {
    let mut files = 0;
    for entry in std::fs::read_dir(directory()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name == "README.md" {
            continue;
        }
        for record in records(&name) {
            assert!(!record.cells.is_empty(), "{name}");
            assert_eq!(
                Record::from_json(&record.to_json()).unwrap(),
                record,
                "{name}: a record that is read back is the same"
            );
            assert!(
                !record.run.software.name.is_empty()
                    && record.cells.iter().all(|cell| !cell.label("tool").is_empty()),
                "{name}"
            );
        }
        files += 1;
    }
    assert!(files >= 64, "{files} samples");
}

#[test]
fn the_same_bytes_give_the_same_run_and_a_name_matters_to_nothing_measured() {
    let text = bytes("hdparm_t.txt");
    let (a, b) = (read("a", &text).unwrap(), read("b", &text).unwrap());
    assert_eq!(a[0].run.id, b[0].run.id);
    assert_eq!(a[0].cells, b[0].cells);
    let other = read("a", &[text, b"\n".to_vec()].concat()).unwrap();
    assert_ne!(a[0].run.id, other[0].run.id);
}

#[test]
fn fio_json() {
    insta::assert_snapshot!(told("fio_randwrite-4k-qd1.json"), @r"
    fio 3.33 loop0
      random-write/1 4 KiB direct iops=8600.479904 bps=35227565 n=43011 min=28692 mean=115750 p50=53504 p99=1662976 p99.9=5210112 max=25999243
    ");
    insta::assert_snapshot!(told("fio_randread-4k-qd1.json"), @r"
    fio 3.33 loop0
      random-read/1 4 KiB direct iops=11970.205959 bps=49029963 n=59863 min=17632 mean=82994 p50=49920 p99=236544 p99.9=4079616 max=23705358
    ");
    insta::assert_snapshot!(told("fio_randwrite-4k-qd1-sync.json"), @r"
    fio 3.33 loop0
      random-write/1 4 KiB direct sync-file iops=2926.814637 bps=11988232 n=14637 min=68586 mean=340460 p50=121344 p99=4014080 p99.9=9895936 max=37260540
    ");
    insta::assert_snapshot!(told("fio_randrw-4k-qd4.json"), @r"
    fio 3.33 loop0
      fio:randrw/1 [read] 4 KiB q4t1 direct iops=15587.682464 bps=63847147 n=77954 min=17852 mean=161483 p50=90624 p99=2572288 p99.9=5734400 max=37227131
      fio:randrw/2 [write] 4 KiB q4t1 direct iops=6648.270346 bps=27231315 n=33248 min=37531 mean=221683 p50=112128 p99=3588096 p99.9=7438336 max=25654934
    ");
    insta::assert_snapshot!(told("fio_seqread-1m.json"), @r"
    fio 3.33 loop0
      sequential-read/1 1 MiB direct iops=1216.156769 bps=1275232799 n=6082 min=577902 mean=819888 p50=634880 p99=4292608 p99.9=10551296 max=14747789
    ");
    insta::assert_snapshot!(told("fio_seqwrite-1m.json"), @r"
    fio 3.33 loop0
      sequential-write/1 1 MiB direct iops=1803.439312 bps=1891043180 n=9019 min=303273 mean=552873 p50=342016 p99=3948544 p99.9=10027008 max=26342508
    ");
    insta::assert_snapshot!(told("fio_randread_blocksize_sweep.json"), @"
    fio 3.33 loop0
      random-read/1 4 KiB direct iops=7712.143928 bps=31588941 n=15432 min=20798 mean=129067 p50=46848 p99=1646592 p99.9=10027008 max=34805131
      random-read/2 8 KiB direct iops=10597.701149 bps=86816367 n=21206 min=25826 mean=93810 p50=46848 p99=252928 p99.9=5144576 max=43976631
      random-read/3 16 KiB direct iops=10070.964518 bps=165002682 completion_p50_ns=32128 n=20152 min=37603 mean=98825 p50=- p99=111104 p99.9=6062080 max=117848902
      random-read/4 32 KiB direct iops=4607.196402 bps=150968611 n=9219 min=29681 mean=216459 p50=47360 p99=3653632 p99.9=20054016 max=172055489
      random-read/5 64 KiB direct iops=4347.826087 bps=284939130 completion_p50_ns=48896 n=8700 min=59482 mean=229382 p50=- p99=3129344 p99.9=34865152 max=153041428
      random-read/6 128 KiB direct iops=4863.568216 bps=637477613 n=9732 min=82971 mean=204725 p50=140288 p99=1286144 p99.9=5144576 max=11051387
      random-read/7 256 KiB direct iops=3474.762619 bps=910888171 n=6953 min=128912 mean=286735 p50=195584 p99=2310144 p99.9=8847360 max=23251342
      random-read/8 512 KiB direct iops=2457.694211 bps=1288539582 n=4967 min=265722 mean=405500 p50=280576 p99=1236992 p99.9=6717440 max=22072240
      random-read/9 1 MiB direct iops=957.521239 bps=1004033791 n=1916 min=630928 mean=1041737 p50=700416 p99=6782976 p99.9=- max=26053523
    ");
    let record = records("fio_randwrite-4k-qd1.json").remove(0);
    assert_eq!(
        (record.run.started.as_deref(), record.run.finished.as_deref()),
        (Some("2026-11-20T09:38:02Z"), Some("2026-11-20T09:38:08Z"))
    );
}

#[test]
fn fio_intervals_come_from_its_own_samples() {
    // 9 samples with a standard deviation of 2909.715183; Student's t for 8 degrees of freedom is
    // 2.306.
    let cell = records("fio_randrw-4k-qd4.json").remove(0).cells.remove(0);
    let iops = cell.metrics.iops.unwrap();
    let half = 2.306 * 2909.715183 / 3.0;
    let [low, high] = iops.ci95.unwrap();
    assert!(
        (high - iops.value - half).abs() < 0.005 * half
            && (iops.value - low - half).abs() < 0.005 * half,
        "{low} to {high}"
    );
    assert!(notes(&cell).iter().any(|note| note.contains("9 looks")), "{:?}", notes(&cell));
    let three = records("fio_randread_blocksize_sweep.json").remove(0).cells.remove(0);
    assert_eq!(three.metrics.iops.unwrap().ci95, None, "three samples are too few");
}

#[test]
fn fio_histograms_of_json_plus_come_along() {
    let record = records("fio_jsonplus.json").remove(0);
    let (cell, latency) = (&record.cells[0], record.cells[0].metrics.latency_ns.as_ref().unwrap());
    let histogram = cell.histogram.as_ref().unwrap();
    assert_eq!((histogram.len(), latency.n), (cell.ops, cell.ops));
    for (share, told) in [(0.5, latency.p50), (0.99, latency.p99), (0.999, latency.p99_9)] {
        let (told, counted) = (told.unwrap() as f64, histogram.quantile(share) as f64);
        assert!(
            (told / counted - 1.0).abs() < 0.02,
            "{share}: fio says {told}, its histogram {counted}"
        );
    }
    insta::assert_snapshot!(told("fio_jsonplus.json"), @r"
    fio 3.33 
      random-write/1 4 KiB direct iops=15557.721139 bps=63724425 n=31131 min=26960 mean=63748 p50=45824 p99=144384 p99.9=4112384 max=15491098
    ");
}

#[test]
fn fio_jobs_that_are_listed_one_by_one_are_added_up() {
    let text = String::from_utf8(bytes("fio_group.json")).unwrap();
    let jobs: serde_json::Value = serde_json::from_str(&text).unwrap();
    let sum: f64 = jobs["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["read"]["iops"].as_f64().unwrap())
        .sum();
    let record = records("fio_group.json").remove(0);
    assert_eq!(record.cells.len(), 1);
    assert!((record.cells[0].metrics.iops.unwrap().value - sum).abs() < 1e-6);
    insta::assert_snapshot!(told("fio_group.json"), @r"
    fio 3.33 
      fio:randread/1 4 KiB q2t4 direct iops=54729.270729 bps=224171090 n=54784 min=30795 mean=145596 p50=- p99=- p99.9=- max=14047487
    ");
}

/// As fio 2 prints it: times in microseconds, bytes in KiB.
const FIO_2: &str = r#"{ "fio version" : "fio-2.15", "timestamp" : 1479710051, "global options" : { "rw" : "write", "direct" : "1" }, "jobs" : [ {
  "jobname" : "t2", "groupid" : 0, "error" : 0, "elapsed" : 17, "job options" : { "bs" : "512k", "filename" : "/dev/mmcblk0" },
  "write" : { "io_bytes" : 2552320, "bw" : 153412, "iops" : 299.633362, "runtime" : 16637, "total_ios" : 4985,
    "slat" : { "min" : 0, "max" : 0, "mean" : 0.0, "stddev" : 0.0 },
    "clat" : { "min" : 54, "max" : 135676, "mean" : 2892.5, "stddev" : 11199.5, "percentile" : { "50.000000" : 86, "99.000000" : 57600 } },
    "lat" : { "min" : 54, "max" : 135676, "mean" : 2893.0, "stddev" : 11199.5 } } } ] }"#;

#[test]
fn fio_2_counts_in_microseconds_and_kilobytes() {
    let records = read("old.json", FIO_2.as_bytes()).unwrap();
    insta::assert_snapshot!(told_of(&records), @r"
    fio 2.15 mmcblk0
      sequential-write/1 512 KiB direct iops=299.633362 bps=157093888 n=4985 min=54000 mean=2893000 p50=86000 p99=57600000 p99.9=- max=135676000
    ");
    assert_eq!(records[0].cells[0].bytes, 2_552_320 * 1024);
}

#[test]
fn fio_texts_and_raspberry_pi_diagnostics() {
    insta::assert_snapshot!(told("fio_randwrite-4k-qd1_normal.txt"), @r"
    fio 3.33 loop0
      fio:randwrite/1 4 KiB direct iops=7701.498501498501 bps=31545337.86213786 n=38546 min=21000 mean=129160 p50=66048 p99=1204224 p99.9=4227072 max=24652000
    ");
    insta::assert_snapshot!(told("fio_a1_style_terse_full.txt"), @r"
    fio 3.33 
      fio:write/1 [prepare-file] 512 KiB direct iops=3368 bps=1766022144 n=128 min=457000 mean=1169070 p50=1122000 p99=- p99.9=- max=1874000
      fio:write/2 [seq-write] 512 KiB direct iops=4571 bps=2396744704 n=128 min=546000 mean=846705 p50=733000 p99=- p99.9=- max=1391000
      fio:write/3 [rand-4k-write] 4 KiB direct iops=32833 bps=134486016 n=16384 min=35000 mean=121361 p50=80000 p99=634000 p99.9=4489000 max=5608000
      fio:read/1 [rand-4k-read] 4 KiB direct iops=63258 bps=259106816 n=16384 min=34000 mean=62825 p50=54000 p99=100000 p99.9=1089000 max=4060000
    ");
    insta::assert_snapshot!(told("fio_a1_style_terse_cut.txt"), @r"
    Raspberry Pi Diagnostics  
      fio:write/1 [prepare-file] 512 KiB direct iops=3368 bps=1766022144
      fio:write/2 [seq-write] 512 KiB direct iops=4571 bps=2396744704
      fio:write/3 [rand-4k-write] 4 KiB direct iops=32833 bps=134486016
      fio:read/1 [rand-4k-read] 4 KiB direct iops=63258 bps=259106816
    ");
    insta::assert_snapshot!(told("rpi_diagnostics.txt"), @r"
    Raspberry Pi Diagnostics  
      fio:write/1 [prepare-file] 512 KiB direct iops=31 bps=16447488
      fio:write/2 [seq-write] 512 KiB direct iops=22 bps=11881472
      fio:write/3 [rand-4k-write] 4 KiB direct iops=822 bps=3369984
      fio:read/1 [rand-4k-read] 4 KiB direct iops=2112 bps=8653824
    ");
    insta::assert_snapshot!(told("rpi_diagnostics_0.15.txt"), @r"
    Raspberry Pi Diagnostics  
      fio:write/1 [prepare-file] 512 KiB direct iops=68 bps=35652608
      fio:write/2 [seq-write] 4 MiB direct iops=8 bps=34816000
      fio:read/1 [seq-read] 4 MiB direct iops=10 bps=45458432
      fio:write/3 [rand-4k-write] 4 KiB direct iops=884 bps=3620864
      fio:read/2 [rand-4k-read] 4 KiB direct iops=1676 bps=6865920
    ");
}

#[test]
fn iozone_tables() {
    insta::assert_snapshot!(told("iozone_O.txt"), @r"
    iozone  
      record-ops/1 [write] 4 KiB direct sync-file iops=1636 bps=6701056
      record-ops/2 [rewrite] 4 KiB direct sync-file iops=1426 bps=5840896
      record-ops/3 [random-read] 4 KiB direct iops=19894 bps=81485824
      record-ops/4 [random-write] 4 KiB direct sync-file iops=3364 bps=13778944
    ");
    insta::assert_snapshot!(told("iozone_O_line_only.txt"), @r"
    iozone  
      iozone/1 [write] 4 KiB buffered iops=1636 bps=6701056
      iozone/2 [rewrite] 4 KiB buffered iops=1426 bps=5840896
      iozone/3 [random-read] 4 KiB buffered iops=19894 bps=81485824
      iozone/4 [random-write] 4 KiB buffered iops=3364 bps=13778944
    ");
    insta::assert_snapshot!(told("iozone_kB.txt"), @"
    iozone  
      iozone/1 [write] 4 KiB direct iops=14540.75 bps=59558912
      iozone/2 [rewrite] 4 KiB direct iops=13463.25 bps=55145472
      iozone/3 [read] 4 KiB direct iops=14278 bps=58482688
      iozone/4 [reread] 4 KiB direct iops=14510.75 bps=59436032
      record-ops/1 [random-read] 4 KiB direct iops=14411.5 bps=59029504
      iozone/5 [random-write] 4 KiB direct iops=14925.25 bps=61133824
      iozone/6 [write] 16 KiB direct iops=13324 bps=218300416
      iozone/7 [rewrite] 16 KiB direct iops=14106.6875 bps=231123968
      iozone/8 [read] 16 KiB direct iops=12768.5625 bps=209200128
      iozone/9 [reread] 16 KiB direct iops=12867.8125 bps=210826240
      record-ops/2 [random-read] 16 KiB direct iops=13732.875 bps=224999424
      iozone/10 [random-write] 16 KiB direct iops=14232.375 bps=233183232
      iozone/11 [write] 512 KiB direct iops=4102.994140625 bps=2151150592
      iozone/12 [rewrite] 512 KiB direct iops=5321.712890625 bps=2790110208
      iozone/13 [read] 512 KiB direct iops=3754.521484375 bps=1968450560
      iozone/14 [reread] 512 KiB direct iops=3516.544921875 bps=1843682304
      record-ops/3 [random-read] 512 KiB direct iops=3438.970703125 bps=1803011072
      iozone/15 [random-write] 512 KiB direct iops=5067.916015625 bps=2657047552
      iozone/16 [write] 1 MiB direct iops=2559.3779296875 bps=2683702272
      iozone/17 [rewrite] 1 MiB direct iops=3242.6298828125 bps=3400143872
      iozone/18 [read] 1 MiB direct iops=2281.908203125 bps=2392754176
      iozone/19 [reread] 1 MiB direct iops=2298.9052734375 bps=2410576896
      record-ops/4 [random-read] 1 MiB direct iops=2378.453125 bps=2493988864
      iozone/20 [random-write] 1 MiB direct iops=3538.0693359375 bps=3709934592
      iozone/21 [write] 16 MiB direct iops=152.5665283203125 bps=2559641600
      iozone/22 [rewrite] 16 MiB direct iops=189.32232666015625 bps=3176301568
      iozone/23 [read] 16 MiB direct iops=139.07855224609375 bps=2333350912
      iozone/24 [reread] 16 MiB direct iops=139.73260498046875 bps=2344324096
      record-ops/5 [random-read] 16 MiB direct iops=139.74578857421875 bps=2344545280
      iozone/25 [random-write] 16 MiB direct iops=192.23345947265625 bps=3225142272
    ");
    insta::assert_snapshot!(told("iozone_t4.txt"), @r"
    iozone  
      iozone/1 [write] 4 KiB q1t4 direct iops=36343.465 bps=148862832.64 fastest_thread_bps=37859102.72 least_of_a_thread_bytes=1003520 mean_thread_bps=37215703.04 parent_bps=137359185.92 slowest_thread_bps=36422656
      iozone/2 [rewrite] 4 KiB q1t4 direct iops=59578.6525 bps=244034160.64 fastest_thread_bps=62977863.68 least_of_a_thread_bytes=1007616 mean_thread_bps=61008537.6 parent_bps=238979471.36 slowest_thread_bps=59759616
      iozone/3 [read] 4 KiB q1t4 direct iops=50534.02 bps=206987345.92 fastest_thread_bps=52750940.16 least_of_a_thread_bytes=1015808 mean_thread_bps=51746836.48 parent_bps=203588874.24 slowest_thread_bps=51094507.52
      iozone/4 [reread] 4 KiB q1t4 direct iops=61291.0925 bps=251048314.88 fastest_thread_bps=63685969.92 least_of_a_thread_bytes=1036288 mean_thread_bps=62762076.16 parent_bps=246190888.96 slowest_thread_bps=61893304.32
      iozone/5 [random-read] 4 KiB q1t4 direct iops=30400.7225 bps=124521359.36 fastest_thread_bps=32312719.36 least_of_a_thread_bytes=995328 mean_thread_bps=31130337.28 parent_bps=122788751.36 slowest_thread_bps=30500638.72
      iozone/6 [random-write] 4 KiB q1t4 direct iops=28492.015 bps=116703293.44 fastest_thread_bps=33496463.36 least_of_a_thread_bytes=573440 mean_thread_bps=29175828.48 parent_bps=82459320.32 slowest_thread_bps=18243215.36
    ");
}

#[test]
fn iozone_as_people_paste_it() {
    insta::assert_snapshot!(told("article_iozone_O_comment03.txt"), @r"
    iozone  
      iozone/1 [write] 4 KiB buffered iops=162 bps=663552
      iozone/2 [rewrite] 4 KiB buffered iops=606 bps=2482176
      iozone/3 [random-read] 4 KiB buffered iops=1172 bps=4800512
      iozone/4 [random-write] 4 KiB buffered iops=133 bps=544768
    ");
    insta::assert_snapshot!(told("article_iozone_O_comment06_usb2.txt"), @r"
    iozone  
      iozone/1 [write] 4 KiB buffered iops=699 bps=2863104
      iozone/2 [rewrite] 4 KiB buffered iops=1496 bps=6127616
      iozone/3 [random-read] 4 KiB buffered iops=1447 bps=5926912
      iozone/4 [random-write] 4 KiB buffered iops=558 bps=2285568
    ");
    insta::assert_snapshot!(told("article_iozone_O_comment06_usb3.txt"), @r"
    iozone  
      iozone/1 [write] 4 KiB buffered iops=943 bps=3862528
      iozone/2 [rewrite] 4 KiB buffered iops=2451 bps=10039296
      iozone/3 [random-read] 4 KiB buffered iops=2612 bps=10698752
      iozone/4 [random-write] 4 KiB buffered iops=566 bps=2318336
    ");
    insta::assert_snapshot!(told("article_iozone_O_comment08_underscores.txt"), @r"
    iozone  
      iozone/1 [write] 4 KiB buffered iops=462 bps=1892352
      iozone/2 [rewrite] 4 KiB buffered iops=1186 bps=4857856
      iozone/3 [random-read] 4 KiB buffered iops=1181 bps=4837376
      iozone/4 [random-write] 4 KiB buffered iops=570 bps=2334720
    ");
    insta::assert_snapshot!(told("article_iozone_O_comment08_with_options.txt"), @r"
    iozone  
      record-ops/1 [write] 4 KiB direct sync-file iops=462 bps=1892352
      record-ops/2 [rewrite] 4 KiB direct sync-file iops=1186 bps=4857856
      record-ops/3 [random-read] 4 KiB direct iops=1181 bps=4837376
      record-ops/4 [random-write] 4 KiB direct sync-file iops=570 bps=2334720
    ");
    insta::assert_snapshot!(told("article_iozone_O_comment09_bare_line.txt"), @r"
    iozone  
      iozone/1 [write] 4 KiB buffered iops=63 bps=258048
      iozone/2 [rewrite] 4 KiB buffered iops=62 bps=253952
      iozone/3 [random-read] 4 KiB buffered iops=2594 bps=10625024
      iozone/4 [random-write] 4 KiB buffered iops=17.5 bps=71680
    ");
    insta::assert_snapshot!(told("article_iozone_O_comment10.txt"), @r"
    iozone  
      iozone/1 [write] 4 KiB buffered iops=73 bps=299008
      iozone/2 [rewrite] 4 KiB buffered iops=66 bps=270336
      iozone/3 [random-read] 4 KiB buffered iops=1753 bps=7180288
      iozone/4 [random-write] 4 KiB buffered iops=49 bps=200704
    ");
    insta::assert_snapshot!(told("article_iozone_O_comment11_bare_line.txt"), @r"
    iozone  
      iozone/1 [write] 4 KiB buffered iops=71 bps=290816
      iozone/2 [rewrite] 4 KiB buffered iops=62 bps=253952
      iozone/3 [random-read] 4 KiB buffered iops=1335 bps=5468160
      iozone/4 [random-write] 4 KiB buffered iops=1 bps=4096
    ");
    let notes = notes(&records("article_iozone_O_comment11_bare_line.txt")[0].cells[0]);
    assert!(notes.iter().any(|note| note.contains("does not say its unit")), "{notes:?}");
}

#[test]
fn the_unit_of_a_bare_iozone_line_can_be_told() {
    let hints = Hints { iozone_unit: Some(IozoneUnit::Kilobytes) };
    let record = read_with("bare", b"524288 4 71 62 1335 1\n", &hints).unwrap().remove(0);
    assert_eq!(record.cells[0].metrics.bps.unwrap().value, 71.0 * 1024.0);
    assert!(!notes(&record.cells[0]).iter().any(|note| note.contains("does not say its unit")));
}

#[test]
fn dd() {
    insta::assert_snapshot!(told("dd_read_1M_direct.txt"), @r"
    dd  
      dd/1 1 MiB buffered iops=904.5233232752224 bps=948461448.2266396
    ");
    insta::assert_snapshot!(told("dd_write_1M_direct.txt"), @r"
    dd  
      dd/1 1 MiB buffered iops=1157.0882957806957 bps=1213295016.8365388
    ");
    insta::assert_snapshot!(told("dd_write_8k_fsync.txt"), @r"
    dd  
      dd/1 8 KiB buffered iops=127633.21405112058 bps=1045571289.5067798
    ");
    insta::assert_snapshot!(told("dd_write_64k_fdatasync.txt"), @r"
    dd  
      dd/1 64 KiB buffered iops=16998.78485248906 bps=1114032364.0927231
    ");
    insta::assert_snapshot!(told("dd_write_512_dsync.txt"), @r"
    dd  
      dd/1 512 B buffered iops=572.0987442432564 bps=292914.5570525473
    ");
    insta::assert_snapshot!(told("dd_sweep_transcript.txt"), @r"
    dd  loop0
      sequential-write/1 4 KiB direct iops=9489.829016264306 bps=38870339.6506186
      sequential-write/2 8 KiB direct iops=7593.904112128741 bps=62209262.486558646
      sequential-write/3 16 KiB direct iops=15590.564967665565 bps=255435816.4302326
      sequential-write/4 32 KiB direct iops=8397.297119989504 bps=275162632.02781606
      sequential-write/5 64 KiB direct iops=13011.402766447862 bps=852715291.7019271
      sequential-write/6 128 KiB direct iops=11320.07057356498 bps=1483744290.2183092
      sequential-write/7 256 KiB direct iops=7410.4307602349345 bps=1942599961.2110267
      sequential-write/8 512 KiB direct iops=3468.0734039411404 bps=1818269268.8054926
      sequential-write/9 1 MiB direct iops=1737.444924353277 bps=1821843048.9986618
      sequential-read/1 4 KiB direct iops=8426.206407084926 bps=34513741.44341986
      sequential-read/2 8 KiB direct iops=6331.19768762897 bps=51865171.45705652
      sequential-read/3 16 KiB direct iops=6249.847415834574 bps=102397500.06103367
      sequential-read/4 32 KiB direct iops=5978.671789018278 bps=195909117.18255094
      sequential-read/5 64 KiB direct iops=4029.2117854444728 bps=264058423.57088897
      sequential-read/6 128 KiB direct iops=4002.4702746226185 bps=524611783.83533585
      sequential-read/7 256 KiB direct iops=1095.9373260841646 bps=287293394.40900725
      sequential-read/8 512 KiB direct iops=1775.7406086905855 bps=930999492.2491697
      sequential-read/9 1 MiB direct iops=1077.6714886852913 bps=1130020458.919668
    ");
    let with_command = |command: &str| {
        format!("$ sudo {command}\n{}", String::from_utf8(bytes("dd_write_8k_fsync.txt")).unwrap())
    };
    let told = |command: &str| told_of(&read("dd", with_command(command).as_bytes()).unwrap());
    insta::assert_snapshot!(told("dd if=/dev/zero of=FILE bs=8k count=10k conv=fsync"), @r"
    dd  
      dd:write/1 8 KiB buffered iops=127633.21405112058 bps=1045571289.5067798
    ");
    insta::assert_snapshot!(told("dd if=/dev/urandom of=/dev/sdb bs=8k oflag=direct,dsync"), @r"
    dd  sdb
      sequential-write/1 8 KiB direct sync-data iops=127633.21405112058 bps=1045571289.5067798
    ");
    insta::assert_snapshot!(told("dd if=/dev/sdb of=/dev/null bs=8k iflag=direct"), @r"
    dd  sdb
      sequential-read/1 8 KiB direct iops=127633.21405112058 bps=1045571289.5067798
    ");
}

#[test]
fn dd_sweeps() {
    insta::assert_snapshot!(told("dd_sweep_summary.txt"), @r"
    dd  
      sequential-write/1 4 KiB direct iops=9497.0703125 bps=38900000
      sequential-write/2 8 KiB direct iops=7592.7734375 bps=62200000
      sequential-write/3 16 KiB direct iops=15563.96484375 bps=255000000
      sequential-write/4 32 KiB direct iops=8392.333984375 bps=275000000
      sequential-write/5 64 KiB direct iops=13015.7470703125 bps=853000000
      sequential-write/6 128 KiB direct iops=11444.091796875 bps=1500000000
      sequential-write/7 256 KiB direct iops=7247.9248046875 bps=1900000000
      sequential-write/8 512 KiB direct iops=3433.2275390625 bps=1800000000
      sequential-write/9 1 MiB direct iops=1716.61376953125 bps=1800000000
      sequential-read/1 4 KiB direct iops=8422.8515625 bps=34500000
      sequential-read/2 8 KiB direct iops=6335.44921875 bps=51900000
      sequential-read/3 16 KiB direct iops=6225.5859375 bps=102000000
      sequential-read/4 32 KiB direct iops=5981.4453125 bps=196000000
      sequential-read/5 64 KiB direct iops=4028.3203125 bps=264000000
      sequential-read/6 128 KiB direct iops=4005.43212890625 bps=525000000
      sequential-read/7 256 KiB direct iops=1094.818115234375 bps=287000000
      sequential-read/8 512 KiB direct iops=1775.7415771484375 bps=931000000
      sequential-read/9 1 MiB direct iops=1049.041748046875 bps=1100000000
    ");
    insta::assert_snapshot!(told("article_dd_sweep_comment03.txt"), @r"
    dd  
      sequential-write/1 4 KiB direct iops=415.0390625 bps=1700000
      sequential-write/2 8 KiB direct iops=402.83203125 bps=3300000
      sequential-write/3 16 KiB direct iops=341.796875 bps=5600000
      sequential-write/4 32 KiB direct iops=213.623046875 bps=7000000
      sequential-write/5 64 KiB direct iops=123.59619140625 bps=8100000
      sequential-write/6 128 KiB direct iops=66.375732421875 bps=8700000
      sequential-write/7 256 KiB direct iops=33.9508056640625 bps=8900000
      sequential-write/8 512 KiB direct iops=17.547607421875 bps=9200000
      sequential-write/9 1 MiB direct iops=9.1552734375 bps=9600000
      sequential-read/1 4 KiB direct iops=805.6640625 bps=3300000
      sequential-read/2 8 KiB direct iops=585.9375 bps=4800000
      sequential-read/3 16 KiB direct iops=366.2109375 bps=6000000
      sequential-read/4 32 KiB direct iops=213.623046875 bps=7000000
      sequential-read/5 64 KiB direct iops=115.966796875 bps=7600000
      sequential-read/6 128 KiB direct iops=61.03515625 bps=8000000
      sequential-read/7 256 KiB direct iops=30.8990478515625 bps=8100000
      sequential-read/8 512 KiB direct iops=15.83099365234375 bps=8300000
      sequential-read/9 1 MiB direct iops=8.106231689453125 bps=8500000
    ");
    insta::assert_snapshot!(told("article_dd_sweep_comment06_usb2.txt"), @r"
    dd  
      sequential-write/1 4 KiB direct iops=1757.8125 bps=7200000
      sequential-write/2 8 KiB direct iops=1477.05078125 bps=12100000
      sequential-write/3 16 KiB direct iops=1068.115234375 bps=17500000
      sequential-write/4 32 KiB direct iops=631.7138671875 bps=20700000
      sequential-write/5 64 KiB direct iops=364.68505859375 bps=23900000
      sequential-write/6 128 KiB direct iops=80.87158203125 bps=10600000
      sequential-write/7 256 KiB direct iops=91.552734375 bps=24000000
      sequential-write/8 512 KiB direct iops=45.58563232421875 bps=23900000
      sequential-write/9 1 MiB direct iops=22.88818359375 bps=24000000
      sequential-read/1 4 KiB direct iops=1831.0546875 bps=7500000
      sequential-read/2 8 KiB direct iops=1452.63671875 bps=11900000
      sequential-read/3 16 KiB direct iops=1062.01171875 bps=17400000
      sequential-read/4 32 KiB direct iops=634.765625 bps=20800000
      sequential-read/5 64 KiB direct iops=355.52978515625 bps=23300000
      sequential-read/6 128 KiB direct iops=178.52783203125 bps=23400000
      sequential-read/7 256 KiB direct iops=93.07861328125 bps=24400000
      sequential-read/8 512 KiB direct iops=47.6837158203125 bps=25000000
      sequential-read/9 1 MiB direct iops=24.318695068359375 bps=25500000
    ");
    insta::assert_snapshot!(told("article_dd_sweep_comment06_usb3.txt"), @r"
    dd  
      sequential-write/1 4 KiB direct iops=2172.8515625 bps=8900000
      sequential-write/2 8 KiB direct iops=5053.7109375 bps=41400000
      sequential-write/3 16 KiB direct iops=3204.345703125 bps=52500000
      sequential-write/4 32 KiB direct iops=1739.501953125 bps=57000000
      sequential-write/5 64 KiB direct iops=871.27685546875 bps=57100000
      sequential-write/6 128 KiB direct iops=90.02685546875 bps=11800000
      sequential-write/7 256 KiB direct iops=99.5635986328125 bps=26100000
      sequential-write/8 512 KiB direct iops=95.55816650390625 bps=50100000
      sequential-write/9 1 MiB direct iops=53.59649658203125 bps=56200000
      sequential-read/1 4 KiB direct iops=4907.2265625 bps=20100000
      sequential-read/2 8 KiB direct iops=4089.35546875 bps=33500000
      sequential-read/3 16 KiB direct iops=3308.10546875 bps=54200000
      sequential-read/4 32 KiB direct iops=2420.0439453125 bps=79300000
      sequential-read/5 64 KiB direct iops=1663.2080078125 bps=109000000
      sequential-read/6 128 KiB direct iops=808.7158203125 bps=106000000
      sequential-read/7 256 KiB direct iops=484.466552734375 bps=127000000
      sequential-read/8 512 KiB direct iops=267.02880859375 bps=140000000
      sequential-read/9 1 MiB direct iops=134.46807861328125 bps=141000000
    ");
    insta::assert_snapshot!(told("article_dd_sweep_comment09_wrapped.txt"), @r"
    dd  
      sequential-write/1 4 KiB direct iops=927.734375 bps=3800000
      sequential-write/2 8 KiB direct iops=976.5625 bps=8000000
      sequential-write/3 16 KiB direct iops=1190.185546875 bps=19500000
      sequential-write/4 32 KiB direct iops=863.6474609375 bps=28300000
      sequential-write/5 64 KiB direct iops=564.5751953125 bps=37000000
      sequential-write/6 128 KiB direct iops=331.11572265625 bps=43400000
      sequential-write/7 256 KiB direct iops=169.7540283203125 bps=44500000
      sequential-write/8 512 KiB direct iops=85.25848388671875 bps=44700000
      sequential-write/9 1 MiB direct iops=42.91534423828125 bps=45000000
      sequential-read/1 4 KiB direct iops=2856.4453125 bps=11700000
      sequential-read/2 8 KiB direct iops=2478.02734375 bps=20300000
      sequential-read/3 16 KiB direct iops=1892.08984375 bps=31000000
      sequential-read/4 32 KiB direct iops=1242.0654296875 bps=40700000
      sequential-read/5 64 KiB direct iops=746.15478515625 bps=48900000
      sequential-read/6 128 KiB direct iops=414.276123046875 bps=54300000
      sequential-read/7 256 KiB direct iops=210.9527587890625 bps=55300000
      sequential-read/8 512 KiB direct iops=106.62078857421875 bps=55900000
      sequential-read/9 1 MiB direct iops=53.59649658203125 bps=56200000
    ");
    insta::assert_snapshot!(told("article_dd_sweep_comment10.txt"), @r"
    dd  
      sequential-write/1 4 KiB direct iops=683.59375 bps=2800000
      sequential-write/2 8 KiB direct iops=610.3515625 bps=5000000
      sequential-write/3 16 KiB direct iops=769.04296875 bps=12600000
      sequential-write/4 32 KiB direct iops=744.62890625 bps=24400000
      sequential-write/5 64 KiB direct iops=401.30615234375 bps=26300000
      sequential-write/6 128 KiB direct iops=214.385986328125 bps=28100000
      sequential-write/7 256 KiB direct iops=105.6671142578125 bps=27700000
      sequential-write/8 512 KiB direct iops=53.7872314453125 bps=28200000
      sequential-write/9 1 MiB direct iops=26.035308837890625 bps=27300000
      sequential-read/1 4 KiB direct iops=1562.5 bps=6400000
      sequential-read/2 8 KiB direct iops=1293.9453125 bps=10600000
      sequential-read/3 16 KiB direct iops=964.35546875 bps=15800000
      sequential-read/4 32 KiB direct iops=640.869140625 bps=21000000
      sequential-read/5 64 KiB direct iops=381.4697265625 bps=25000000
      sequential-read/6 128 KiB direct iops=210.5712890625 bps=27600000
      sequential-read/7 256 KiB direct iops=105.6671142578125 bps=27700000
      sequential-read/8 512 KiB direct iops=52.83355712890625 bps=27700000
      sequential-read/9 1 MiB direct iops=26.51214599609375 bps=27800000
    ");
    insta::assert_snapshot!(told("article_dd_sweep_comment11_no_header.txt"), @r"
    dd  
      sequential-write/1 4 KiB direct iops=512.6953125 bps=2100000
      sequential-write/2 8 KiB direct iops=500.48828125 bps=4100000
      sequential-write/3 16 KiB direct iops=457.763671875 bps=7500000
      sequential-write/4 32 KiB direct iops=476.07421875 bps=15600000
      sequential-write/5 64 KiB direct iops=544.73876953125 bps=35700000
      sequential-write/6 128 KiB direct iops=281.524658203125 bps=36900000
      sequential-write/7 256 KiB direct iops=145.3399658203125 bps=38100000
      sequential-write/8 512 KiB direct iops=73.05145263671875 bps=38300000
      sequential-write/9 1 MiB direct iops=36.43035888671875 bps=38200000
      sequential-read/1 4 KiB direct iops=3027.34375 bps=12400000
      sequential-read/2 8 KiB direct iops=2258.30078125 bps=18500000
      sequential-read/3 16 KiB direct iops=1495.361328125 bps=24500000
      sequential-read/4 32 KiB direct iops=900.2685546875 bps=29500000
      sequential-read/5 64 KiB direct iops=849.91455078125 bps=55700000
      sequential-read/6 128 KiB direct iops=495.147705078125 bps=64900000
      sequential-read/7 256 KiB direct iops=265.8843994140625 bps=69700000
      sequential-read/8 512 KiB direct iops=139.42718505859375 bps=73100000
      sequential-read/9 1 MiB direct iops=70.1904296875 bps=73600000
    ");
}

/// The points of a curve of flashbench -a, in bytes and nanoseconds.
fn curve(name: &str, side: &str) -> Vec<[f64; 2]> {
    let record = records(name).remove(0);
    record.cells[0].series.iter().find(|series| series.name == side).unwrap().points.clone()
}

#[test]
fn flashbench_reads_across_boundaries() {
    insta::assert_debug_snapshot!(curve("flashbench_a_16384_loop.txt", "diff"), @r"
    [
        [
            32768.0,
            301.0,
        ],
        [
            65536.0,
            -203.0,
        ],
        [
            131072.0,
            2790.0,
        ],
        [
            262144.0,
            1570.0,
        ],
        [
            524288.0,
            139.0,
        ],
        [
            1048576.0,
            12.0,
        ],
        [
            2097152.0,
            -260.0,
        ],
        [
            4194304.0,
            55700.0,
        ],
        [
            8388608.0,
            1730.0,
        ],
        [
            16777216.0,
            1480.0,
        ],
        [
            33554432.0,
            -740.0,
        ],
        [
            67108864.0,
            -54142.0,
        ],
        [
            134217728.0,
            974.0,
        ],
        [
            268435456.0,
            7460.0,
        ],
    ]
    ");
    insta::assert_debug_snapshot!(curve("flashbench_a_1024_loop.txt", "on"), @r"
    [
        [
            2048.0,
            74500.0,
        ],
        [
            4096.0,
            56700.0,
        ],
        [
            8192.0,
            63100.0,
        ],
        [
            16384.0,
            59700.0,
        ],
        [
            32768.0,
            55700.0,
        ],
        [
            65536.0,
            55000.0,
        ],
        [
            131072.0,
            53000.0,
        ],
        [
            262144.0,
            54300.0,
        ],
        [
            524288.0,
            53900.0,
        ],
        [
            1048576.0,
            52900.0,
        ],
        [
            2097152.0,
            54400.0,
        ],
        [
            4194304.0,
            54500.0,
        ],
        [
            8388608.0,
            57800.0,
        ],
        [
            16777216.0,
            59600.0,
        ],
        [
            33554432.0,
            55900.0,
        ],
        [
            67108864.0,
            53800.0,
        ],
        [
            134217728.0,
            55500.0,
        ],
        [
            268435456.0,
            66900.0,
        ],
    ]
    ");
    assert_eq!(
        curve("flashbench_a_16384_loop.txt", "diff").iter().find(|point| point[0] == 67_108_864.0),
        Some(&[67_108_864.0, -54_142.0])
    );
}

#[test]
fn flashbench_rates() {
    insta::assert_snapshot!(told("flashbench_f_loop.txt"), @r"
    flashbench  
      flashbench:find-fat/1 4 MiB direct iops=378.8471221923828 bps=1589000000
      flashbench:find-fat/2 4 MiB direct iops=456.09474182128906 bps=1913000000
      flashbench:find-fat/3 4 MiB direct iops=477.5524139404297 bps=2003000000
      flashbench:find-fat/4 4 MiB direct iops=478.98292541503906 bps=2009000000
      flashbench:find-fat/5 4 MiB direct iops=505.68580627441406 bps=2121000000
      flashbench:find-fat/6 4 MiB direct iops=512.5999450683594 bps=2150000000
      flashbench:find-fat/7 4 MiB direct iops=522.8519439697266 bps=2193000000
      flashbench:find-fat/8 4 MiB direct iops=487.32757568359375 bps=2044000000
      flashbench:find-fat/9 2 MiB direct iops=885.9634399414063 bps=1858000000
      flashbench:find-fat/10 2 MiB direct iops=412.4641418457031 bps=865000000
      flashbench:find-fat/11 2 MiB direct iops=284.1949462890625 bps=596000000
      flashbench:find-fat/12 2 MiB direct iops=249.8626708984375 bps=524000000
      flashbench:find-fat/13 2 MiB direct iops=251.29318237304688 bps=527000000
      flashbench:find-fat/14 2 MiB direct iops=355.2436828613281 bps=745000000
      flashbench:find-fat/15 2 MiB direct iops=246.0479736328125 bps=516000000
      flashbench:find-fat/16 2 MiB direct iops=177.3834228515625 bps=372000000
      flashbench:find-fat/17 1 MiB direct iops=348.09112548828125 bps=365000000
      flashbench:find-fat/18 1 MiB direct iops=259.3994140625 bps=272000000
      flashbench:find-fat/19 1 MiB direct iops=282.28759765625 bps=296000000
      flashbench:find-fat/20 1 MiB direct iops=435.82916259765625 bps=457000000
      flashbench:find-fat/21 1 MiB direct iops=1103.4011840820313 bps=1157000000
      flashbench:find-fat/22 1 MiB direct iops=725.7461547851563 bps=761000000
      flashbench:find-fat/23 1 MiB direct iops=276.5655517578125 bps=290000000
      flashbench:find-fat/24 1 MiB direct iops=844.0017700195313 bps=885000000
      flashbench:find-fat/25 512 KiB direct iops=848.7701416015625 bps=445000000
      flashbench:find-fat/26 512 KiB direct iops=589.3707275390625 bps=309000000
      flashbench:find-fat/27 512 KiB direct iops=377.655029296875 bps=198000000
      flashbench:find-fat/28 512 KiB direct iops=642.7764892578125 bps=337000000
      flashbench:find-fat/29 512 KiB direct iops=875.4730224609375 bps=459000000
      flashbench:find-fat/30 512 KiB direct iops=579.833984375 bps=304000000
      flashbench:find-fat/31 512 KiB direct iops=806.8084716796875 bps=423000000
      flashbench:find-fat/32 512 KiB direct iops=442.5048828125 bps=232000000
      flashbench:find-fat/33 256 KiB direct iops=736.236572265625 bps=193000000
      flashbench:find-fat/34 256 KiB direct iops=968.93310546875 bps=254000000
      flashbench:find-fat/35 256 KiB direct iops=671.38671875 bps=176000000
      flashbench:find-fat/36 256 KiB direct iops=877.38037109375 bps=230000000
      flashbench:find-fat/37 256 KiB direct iops=755.31005859375 bps=198000000
      flashbench:find-fat/38 256 KiB direct iops=679.01611328125 bps=178000000
      flashbench:find-fat/39 256 KiB direct iops=534.0576171875 bps=140000000
      flashbench:find-fat/40 256 KiB direct iops=602.72216796875 bps=158000000
      flashbench:find-fat/41 128 KiB direct iops=605.77392578125 bps=79400000
      flashbench:find-fat/42 128 KiB direct iops=823.974609375 bps=108000000
      flashbench:find-fat/43 128 KiB direct iops=579.071044921875 bps=75900000
      flashbench:find-fat/44 128 KiB direct iops=466.9189453125 bps=61200000
      flashbench:find-fat/45 128 KiB direct iops=694.27490234375 bps=91000000
      flashbench:find-fat/46 128 KiB direct iops=634.765625 bps=83200000
      flashbench:find-fat/47 128 KiB direct iops=659.942626953125 bps=86500000
      flashbench:find-fat/48 128 KiB direct iops=482.940673828125 bps=63300000
      flashbench:find-fat/49 64 KiB direct iops=621.03271484375 bps=40700000
      flashbench:find-fat/50 64 KiB direct iops=630.18798828125 bps=41300000
      flashbench:find-fat/51 64 KiB direct iops=2548.2177734375 bps=167000000
      flashbench:find-fat/52 64 KiB direct iops=2655.029296875 bps=174000000
      flashbench:find-fat/53 64 KiB direct iops=2380.37109375 bps=156000000
      flashbench:find-fat/54 64 KiB direct iops=2685.546875 bps=176000000
      flashbench:find-fat/55 64 KiB direct iops=509.6435546875 bps=33400000
      flashbench:find-fat/56 64 KiB direct iops=474.54833984375 bps=31100000
      flashbench:find-fat/57 32 KiB direct iops=1828.0029296875 bps=59900000
      flashbench:find-fat/58 32 KiB direct iops=665.283203125 bps=21800000
      flashbench:find-fat/59 32 KiB direct iops=741.5771484375 bps=24300000
      flashbench:find-fat/60 32 KiB direct iops=906.3720703125 bps=29700000
      flashbench:find-fat/61 32 KiB direct iops=704.9560546875 bps=23100000
      flashbench:find-fat/62 32 KiB direct iops=1617.431640625 bps=53000000
      flashbench:find-fat/63 32 KiB direct iops=723.2666015625 bps=23700000
      flashbench:find-fat/64 32 KiB direct iops=796.5087890625 bps=26100000
      flashbench:find-fat/65 16 KiB direct iops=2001.9531249999998 bps=32799999.999999996
      flashbench:find-fat/66 16 KiB direct iops=2410.888671875 bps=39500000
      flashbench:find-fat/67 16 KiB direct iops=1782.2265625 bps=29200000
      flashbench:find-fat/68 16 KiB direct iops=1550.29296875 bps=25400000
      flashbench:find-fat/69 16 KiB direct iops=604.248046875 bps=9900000
      flashbench:find-fat/70 16 KiB direct iops=756.8359375 bps=12400000
      flashbench:find-fat/71 16 KiB direct iops=316.7724609375 bps=5190000
      flashbench:find-fat/72 16 KiB direct iops=262.451171875 bps=4300000
      flashbench:find-fat/73 8 KiB direct iops=358.88671875 bps=2940000
      flashbench:find-fat/74 8 KiB direct iops=490.72265624999994 bps=4019999.9999999995
      flashbench:find-fat/75 8 KiB direct iops=848.388671875 bps=6950000
      flashbench:find-fat/76 8 KiB direct iops=661.62109375 bps=5420000
      flashbench:find-fat/77 8 KiB direct iops=712.890625 bps=5840000
      flashbench:find-fat/78 8 KiB direct iops=1330.56640625 bps=10900000
      flashbench:find-fat/79 8 KiB direct iops=1293.9453125 bps=10600000
      flashbench:find-fat/80 8 KiB direct iops=1123.046875 bps=9200000
      flashbench:find-fat/81 4 KiB direct iops=983.8867187500001 bps=4030000.0000000005
      flashbench:find-fat/82 4 KiB direct iops=1582.03125 bps=6480000
      flashbench:find-fat/83 4 KiB direct iops=3344.7265625 bps=13700000
      flashbench:find-fat/84 4 KiB direct iops=434.5703125 bps=1780000
      flashbench:find-fat/85 4 KiB direct iops=788.57421875 bps=3230000
      flashbench:find-fat/86 4 KiB direct iops=556.640625 bps=2280000
      flashbench:find-fat/87 4 KiB direct iops=725.09765625 bps=2970000
      flashbench:find-fat/88 4 KiB direct iops=554.19921875 bps=2270000
    ");
    insta::assert_snapshot!(told("flashbench_open_au_linear_loop.txt"), @r"
    flashbench  
      flashbench:open-au/1 [linear] 4 MiB direct iops=150.44212341308594 bps=631000000 open_aus=1
      flashbench:open-au/2 [linear] 2 MiB direct iops=198.3642578125 bps=416000000 open_aus=1
      flashbench:open-au/3 [linear] 1 MiB direct iops=197.41058349609375 bps=207000000 open_aus=1
      flashbench:open-au/4 [linear] 512 KiB direct iops=168.03741455078125 bps=88100000 open_aus=1
      flashbench:open-au/5 [linear] 256 KiB direct iops=233.0780029296875 bps=61100000 open_aus=1
      flashbench:open-au/6 [linear] 128 KiB direct iops=984.19189453125 bps=129000000 open_aus=1
      flashbench:open-au/7 [linear] 64 KiB direct iops=773.62060546875 bps=50700000 open_aus=1
      flashbench:open-au/8 [linear] 32 KiB direct iops=2801.513671875 bps=91800000 open_aus=1
      flashbench:open-au/9 [linear] 16 KiB direct iops=4925.537109375 bps=80700000 open_aus=1
      flashbench:open-au/10 [linear] 8 KiB direct iops=1477.05078125 bps=12100000 open_aus=1
      flashbench:open-au/11 [linear] 4 KiB direct iops=468.75 bps=1920000 open_aus=1
      flashbench:open-au/12 [linear] 4 MiB direct iops=344.0380096435547 bps=1443000000 open_aus=2
      flashbench:open-au/13 [linear] 2 MiB direct iops=513.0767822265625 bps=1076000000 open_aus=2
      flashbench:open-au/14 [linear] 1 MiB direct iops=667.572021484375 bps=700000000 open_aus=2
      flashbench:open-au/15 [linear] 512 KiB direct iops=513.0767822265625 bps=269000000 open_aus=2
      flashbench:open-au/16 [linear] 256 KiB direct iops=820.159912109375 bps=215000000 open_aus=2
      flashbench:open-au/17 [linear] 128 KiB direct iops=632.476806640625 bps=82900000 open_aus=2
      flashbench:open-au/18 [linear] 64 KiB direct iops=614.92919921875 bps=40300000 open_aus=2
      flashbench:open-au/19 [linear] 32 KiB direct iops=1519.775390625 bps=49800000 open_aus=2
      flashbench:open-au/20 [linear] 16 KiB direct iops=1123.046875 bps=18400000 open_aus=2
      flashbench:open-au/21 [linear] 8 KiB direct iops=975.341796875 bps=7990000 open_aus=2
      flashbench:open-au/22 [linear] 4 KiB direct iops=532.2265625 bps=2180000 open_aus=2
      flashbench:open-au/23 [linear] 4 MiB direct iops=439.8822784423828 bps=1845000000 open_aus=3
      flashbench:open-au/24 [linear] 2 MiB direct iops=753.4027099609375 bps=1580000000 open_aus=3
      flashbench:open-au/25 [linear] 1 MiB direct iops=1380.92041015625 bps=1448000000 open_aus=3
      flashbench:open-au/26 [linear] 512 KiB direct iops=951.7669677734375 bps=499000000 open_aus=3
      flashbench:open-au/27 [linear] 256 KiB direct iops=1087.188720703125 bps=285000000 open_aus=3
      flashbench:open-au/28 [linear] 128 KiB direct iops=999.45068359375 bps=131000000 open_aus=3
      flashbench:open-au/29 [linear] 64 KiB direct iops=903.3203125 bps=59200000 open_aus=3
      flashbench:open-au/30 [linear] 32 KiB direct iops=979.6142578125 bps=32100000 open_aus=3
      flashbench:open-au/31 [linear] 16 KiB direct iops=1428.22265625 bps=23400000 open_aus=3
      flashbench:open-au/32 [linear] 8 KiB direct iops=1611.328125 bps=13200000 open_aus=3
      flashbench:open-au/33 [linear] 4 KiB direct iops=712.890625 bps=2920000 open_aus=3
    ");
    insta::assert_snapshot!(told("flashbench_open_au_random_loop.txt"), @r"
    flashbench  
      flashbench:open-au/1 [random] 4 MiB direct iops=405.31158447265625 bps=1700000000 open_aus=1
      flashbench:open-au/2 [random] 2 MiB direct iops=736.236572265625 bps=1544000000 open_aus=1
      flashbench:open-au/3 [random] 1 MiB direct iops=1722.3358154296875 bps=1806000000 open_aus=1
      flashbench:open-au/4 [random] 512 KiB direct iops=383.3770751953125 bps=201000000 open_aus=1
      flashbench:open-au/5 [random] 256 KiB direct iops=423.431396484375 bps=111000000 open_aus=1
      flashbench:open-au/6 [random] 128 KiB direct iops=1327.5146484375 bps=174000000 open_aus=1
      flashbench:open-au/7 [random] 64 KiB direct iops=3799.4384765625 bps=249000000 open_aus=1
      flashbench:open-au/8 [random] 32 KiB direct iops=1425.1708984375 bps=46700000 open_aus=1
      flashbench:open-au/9 [random] 16 KiB direct iops=689.697265625 bps=11300000 open_aus=1
      flashbench:open-au/10 [random] 8 KiB direct iops=229.4921875 bps=1880000 open_aus=1
      flashbench:open-au/11 [random] 4 KiB direct iops=676.26953125 bps=2770000 open_aus=1
      flashbench:open-au/12 [random] 4 MiB direct iops=235.55755615234375 bps=988000000 open_aus=2
      flashbench:open-au/13 [random] 2 MiB direct iops=235.08071899414063 bps=493000000 open_aus=2
      flashbench:open-au/14 [random] 1 MiB direct iops=349.0447998046875 bps=366000000 open_aus=2
      flashbench:open-au/15 [random] 512 KiB direct iops=406.2652587890625 bps=213000000 open_aus=2
      flashbench:open-au/16 [random] 256 KiB direct iops=240.7073974609375 bps=63100000 open_aus=2
      flashbench:open-au/17 [random] 128 KiB direct iops=254.05883789062497 bps=33299999.999999996 open_aus=2
      flashbench:open-au/18 [random] 64 KiB direct iops=270.08056640625 bps=17700000 open_aus=2
      flashbench:open-au/19 [random] 32 KiB direct iops=366.2109375 bps=12000000 open_aus=2
      flashbench:open-au/20 [random] 16 KiB direct iops=427.24609375 bps=7000000 open_aus=2
      flashbench:open-au/21 [random] 8 KiB direct iops=328.369140625 bps=2690000 open_aus=2
      flashbench:open-au/22 [random] 4 KiB direct iops=378.41796875 bps=1550000 open_aus=2
      flashbench:open-au/23 [random] 4 MiB direct iops=195.50323486328125 bps=820000000 open_aus=3
      flashbench:open-au/24 [random] 2 MiB direct iops=374.3171691894531 bps=785000000 open_aus=3
      flashbench:open-au/25 [random] 1 MiB direct iops=375.7476806640625 bps=394000000 open_aus=3
      flashbench:open-au/26 [random] 512 KiB direct iops=328.06396484375 bps=172000000 open_aus=3
      flashbench:open-au/27 [random] 256 KiB direct iops=310.516357421875 bps=81400000 open_aus=3
      flashbench:open-au/28 [random] 128 KiB direct iops=369.2626953125 bps=48400000 open_aus=3
      flashbench:open-au/29 [random] 64 KiB direct iops=334.16748046875 bps=21900000 open_aus=3
      flashbench:open-au/30 [random] 32 KiB direct iops=387.5732421875 bps=12700000 open_aus=3
      flashbench:open-au/31 [random] 16 KiB direct iops=430.908203125 bps=7060000 open_aus=3
      flashbench:open-au/32 [random] 8 KiB direct iops=395.5078125 bps=3240000 open_aus=3
      flashbench:open-au/33 [random] 4 KiB direct iops=625 bps=2560000 open_aus=3
    ");
}

#[test]
fn f3() {
    insta::assert_snapshot!(told("f3write_ok.txt"), @r"
    f3 8.0 
      f3:write/1 buffered bps=332021104.64
    ");
    insta::assert_snapshot!(told("f3read_ok.txt"), @r"
    f3 8.0 
      verify/1 [read] buffered changed_sectors=0 corrupted_sectors=0 good_sectors=2412544 overwritten_sectors=0
      f3:read/1 buffered bps=370000527.36
    ");
    insta::assert_snapshot!(told("f3read_damaged.txt"), @r"
    f3 8.0 
      verify/1 [read] buffered changed_sectors=100 corrupted_sectors=32768 good_sectors=2297756 overwritten_sectors=81920
      f3:read/1 buffered bps=1728724336.64
    ");
    insta::assert_snapshot!(told("f3probe_good.txt"), @r"
    f3 8.0 256 MiB
      capacity/1 direct cache_bytes=0 real_bytes=268435456 type=0 wrap_bytes=0
    ");
    insta::assert_snapshot!(told("f3probe_limbo.txt"), @r"
    f3 8.0 1 GiB
      capacity/1 direct cache_bytes=0 real_bytes=134217728 type=2 wrap_bytes=0
    ");
    insta::assert_snapshot!(told("f3probe_damaged.txt"), @r"
    f3 8.0 1 GiB
      capacity/1 direct cache_bytes=267386880 real_bytes=0 type=1 wrap_bytes=0
    ");
    insta::assert_snapshot!(told("f3_9_probe_wraparound.txt"), @r"
    f3 10.0 sdb 15 GiB
      capacity/1 direct cache_bytes=1048576 real_bytes=8053063680 type=3 wrap_bytes=8589934592
      f3:probe/1 direct bps=11744051.2
      f3:probe/2 direct bps=1415577.6
      f3:probe/3 direct bps=5117050.88
    ");
    insta::assert_snapshot!(told("f3_9_write.txt"), @r"
    f3 10.0 
      f3:write/1 buffered bps=20185088
    ");
}

#[test]
fn hdparm_ioping_and_seeker() {
    insta::assert_snapshot!(told("hdparm_t.txt"), @r"
    hdparm  loop0
      buffered-read/1 [device] 2 MiB buffered bps=390804275.2
    ");
    insta::assert_snapshot!(told("hdparm_tT.txt"), @r"
    hdparm  loop0
      buffered-read/1 [cache] 2 MiB buffered bps=9193998254.08
      buffered-read/2 [device] 2 MiB buffered bps=365680394.24
    ");
    insta::assert_snapshot!(told("hdparm_t_direct.txt"), @r"
    hdparm  loop0
      buffered-read/1 [direct] 2 MiB direct bps=1099578736.64
    ");
    insta::assert_snapshot!(told("ioping_c5.txt"), @r"
    ioping  loop0 1 GiB
      ioping/1 4 KiB buffered iops=3400 bps=13946060.8 n=4 min=155300 mean=293700 p50=- p99=- p99.9=- max=458900
    ");
    insta::assert_snapshot!(told("ioping_R.txt"), @r"
    ioping  loop0 1 GiB
      ioping/1 4 KiB buffered iops=7600 bps=31142707.2 n=22800 min=20200 mean=131500 p50=- p99=- p99.9=- max=10800000
    ");
    insta::assert_snapshot!(told("seeker.txt"), @r"
    seeker 2.0 loop1 6 GiB
      seek/1 [seeker v2] 512 B buffered iops=10081 access_time_ns=99196.50828290844 seeks_per_s=10081
    ");
    insta::assert_snapshot!(told("article_rate_list.txt"), @r"
    not stated  1 Gigabyte Kingston 24x supporting PIO4
      published:transfer/1 direct bps=5200000
    not stated  4 Gigabyte Fujifilm 100x supporting MDMA2
      published:transfer/1 direct bps=15400000
    not stated  40 Gigabyte Maxtor 7200 rpm supporting UDMA3
      published:transfer/1 direct bps=55000000
    not stated  76 Gigabyte Raptor 10000 rpm supporting SATA
      published:transfer/1 direct bps=65000000
    ");
    insta::assert_snapshot!(told("article_morton_table.txt"), @r"
    Morton's benchmark  Kingston 4GB 100 (orig.)
      zero-fill/1 direct bps=3840000
      random-fill/1 direct bps=3850000
      sector-write/1 512 B direct iops=1.86219739292365 mean_ms=537
      ext2-format/1 [simple] direct groups_per_s=1.42
      ext2-fill/1 direct bps=3310000
    Morton's benchmark  Kingston 16GB 100 (orig.)
      zero-fill/1 direct bps=6700000
      random-fill/1 direct bps=6050000
      sector-write/1 512 B direct iops=2.0366598778004072 mean_ms=491
      ext2-format/1 [simple] direct groups_per_s=1.82
      ext2-fill/1 direct bps=2660000
    Morton's benchmark  Kingston 16GB 100 G2
      zero-fill/1 direct bps=14150000
      random-fill/1 direct bps=14120000
      sector-write/1 512 B direct iops=2.044989775051125 mean_ms=489
      ext2-format/1 [simple] direct groups_per_s=2.16
      ext2-fill/1 direct bps=3100000
    Morton's benchmark  Kingston 4GB 410
      zero-fill/1 direct bps=13290000
      random-fill/1 direct bps=13360000
      sector-write/1 512 B direct iops=4.739336492890995 mean_ms=211
      ext2-format/1 [simple] direct groups_per_s=3.84
      ext2-fill/1 direct bps=8230000
    Morton's benchmark  Corsair Voyager 16GB (blue)
      zero-fill/1 direct bps=9260000
      random-fill/1 direct bps=9260000
      sector-write/1 512 B direct iops=1.2106537530266344 mean_ms=826
      ext2-format/1 [simple] direct groups_per_s=1.08
      ext2-fill/1 direct bps=3160000
    Morton's benchmark  SanDisk Cruzer 16GB
      zero-fill/1 direct bps=5000000
      random-fill/1 direct bps=5010000
      sector-write/1 512 B direct iops=384.6153846153846 mean_ms=2.6
      ext2-format/1 [simple] direct groups_per_s=1.03
      ext2-fill/1 direct bps=2370000
    Morton's benchmark  Verbatim 8GB
      zero-fill/1 direct bps=9730000
      random-fill/1 direct bps=9800000
      sector-write/1 512 B direct iops=2.237136465324385 mean_ms=447
      ext2-format/1 [simple] direct groups_per_s=1.97
      ext2-fill/1 direct bps=3600000
    Morton's benchmark  Seagate Momentus 160GB 7200rpm
      zero-fill/1 direct bps=27580000
      random-fill/1 direct bps=27420000
      sector-write/1 512 B direct iops=46.51162790697674 mean_ms=21.5
      ext2-format/1 [simple] direct groups_per_s=141
      ext2-fill/1 direct bps=5070000
    Morton's benchmark  Transcend Class 6 4GB
      zero-fill/1 direct bps=12360000
      random-fill/1 direct bps=11770000
      sector-write/1 512 B direct iops=9.345794392523365 mean_ms=107
      ext2-format/1 [simple] direct groups_per_s=8.38
      ext2-fill/1 direct bps=7010000
    Morton's benchmark  Transcend Class 10 4GB
      zero-fill/1 direct bps=16650000
      random-fill/1 direct bps=8990000
      sector-write/1 512 B direct iops=2.717391304347826 mean_ms=368
      ext2-format/1 [simple] direct groups_per_s=2.48
      ext2-fill/1 direct bps=4650000
    Morton's benchmark  Transcend Class 6 32GB
      zero-fill/1 direct bps=18930000
      random-fill/1 direct bps=18830000
      sector-write/1 512 B direct iops=1.4388489208633093 mean_ms=695
      ext2-format/1 [simple] direct groups_per_s=1.25
      ext2-fill/1 direct bps=3120000
    Morton's benchmark  SanDisk Class 2 4GB
      zero-fill/1 direct bps=6140000
      random-fill/1 direct bps=6120000
      sector-write/1 512 B direct iops=4.926108374384237 mean_ms=203
      ext2-format/1 [simple] direct groups_per_s=4.55
      ext2-fill/1 direct bps=5580000
    ");
    insta::assert_snapshot!(told("article_seeker_list.txt"), @r"
    seeker  Lexar
      seek/1 [seeker v2] 512 B buffered access_time_ns=370000 seeks_per_s=2702.702702702703
    seeker  Transcend
      seek/1 [seeker v2] 512 B buffered access_time_ns=2230000 seeks_per_s=448.4304932735426
    seeker  Duracell
      seek/1 [seeker v2] 512 B buffered access_time_ns=600000 seeks_per_s=1666.6666666666667
    ");
}

#[test]
fn diskmarks() {
    insta::assert_snapshot!(told("kdiskmark.txt"), @r"
    KDiskMark 1.6.0 
      KDiskMark:sequential-read/1 1 MiB q8t1 direct iops=529.8 bps=555536384 mean_latency_ns=14415610
      sequential-read/1 1 MiB direct iops=442 bps=463458304 mean_latency_ns=2248080
      KDiskMark:random-read/1 4 KiB q32t16 direct iops=67889 bps=278070272 mean_latency_ns=1955570
      random-read/1 4 KiB direct iops=10813.1 bps=44290048 mean_latency_ns=90340
      KDiskMark:sequential-write/1 1 MiB q8t1 direct iops=501.6 bps=525931520 mean_latency_ns=15319330
      sequential-write/1 1 MiB direct iops=418.8 bps=439193600 mean_latency_ns=2369680
      KDiskMark:random-write/1 4 KiB q32t16 direct iops=41286.6 bps=169105408 mean_latency_ns=3091380
      random-write/1 4 KiB direct iops=25924.1 bps=106184704 mean_latency_ns=36710
    ");
    insta::assert_snapshot!(told("kdiskmark_binary.txt"), @r"
    KDiskMark  
      KDiskMark:sequential-read/1 1 MiB q8t1 direct iops=528.1 bps=553703702.528 mean_latency_ns=14449940
      sequential-read/1 1 MiB direct iops=453.3 bps=475274412.032 mean_latency_ns=2193730
      KDiskMark:random-read/1 4 KiB q32t16 direct iops=6415 bps=26276265.983999997 mean_latency_ns=4977930
      random-read/1 4 KiB direct iops=10730.9 bps=43953160.192 mean_latency_ns=90830
      KDiskMark:sequential-write/1 1 MiB q8t1 direct iops=496.9 bps=521031122.944 mean_latency_ns=15459550
      sequential-write/1 1 MiB direct iops=424.4 bps=445017751.552 mean_latency_ns=2337630
      KDiskMark:random-write/1 4 KiB q32t16 direct iops=5268.8 bps=21580742.656 mean_latency_ns=6051350
      random-write/1 4 KiB direct iops=25874.9 bps=105982722.048 mean_latency_ns=36840
    ");
    insta::assert_snapshot!(told("crystaldiskmark_3.txt"), @r"
    CrystalDiskMark 3.0.2 
      CrystalDiskMark:sequential-read/1 direct bps=46012000
      CrystalDiskMark:sequential-write/1 direct bps=44849000
      CrystalDiskMark:random-read/1 512 KiB direct iops=50.29106140136719 bps=26367000
      CrystalDiskMark:random-write/1 512 KiB direct iops=44.86274719238281 bps=23521000
      CrystalDiskMark:random-read/2 4 KiB direct iops=118.8 bps=487000
      CrystalDiskMark:random-write/2 4 KiB direct iops=188.3 bps=771000
      CrystalDiskMark:random-read/3 4 KiB q32t1 direct iops=199.8 bps=819000
      CrystalDiskMark:random-write/3 4 KiB q32t1 direct iops=192.6 bps=789000
    ");
    insta::assert_snapshot!(told("crystaldiskmark_6.txt"), @r"
    CrystalDiskMark 6.0.0 
      CrystalDiskMark:sequential-read/1 q32t1 direct bps=91559000
      CrystalDiskMark:sequential-write/1 q32t1 direct bps=85101000
      CrystalDiskMark:random-read/1 4 KiB q8t8 direct iops=1926.8 bps=7892000
      CrystalDiskMark:random-write/1 4 KiB q8t8 direct iops=774.7 bps=3173000
      CrystalDiskMark:random-read/2 4 KiB q32t1 direct iops=1776.1 bps=7275000
      CrystalDiskMark:random-write/2 4 KiB q32t1 direct iops=736.6 bps=3017000
      CrystalDiskMark:random-read/3 4 KiB direct iops=1293.2 bps=5297000
      CrystalDiskMark:random-write/3 4 KiB direct iops=551.8 bps=2260000
    ");
    insta::assert_snapshot!(told("crystaldiskmark_8.txt"), @r"
    CrystalDiskMark 8.0.4 
      CrystalDiskMark:sequential-read/1 1 MiB q8t1 direct iops=185.8 bps=194805000 mean_latency_ns=42830020
      CrystalDiskMark:sequential-read/2 1 MiB direct iops=185.9 bps=194911000 mean_latency_ns=5373060
      CrystalDiskMark:random-read/1 4 KiB q32t1 direct iops=156.2 bps=640000 mean_latency_ns=199524930
      CrystalDiskMark:random-read/2 4 KiB direct iops=137 bps=561000 mean_latency_ns=7284090
      CrystalDiskMark:sequential-write/1 1 MiB q8t1 direct iops=179.8 bps=188484000 mean_latency_ns=44115040
      CrystalDiskMark:sequential-write/2 1 MiB direct iops=176.3 bps=184839000 mean_latency_ns=5663370
      CrystalDiskMark:random-write/1 4 KiB q32t1 direct iops=691.2 bps=2831000 mean_latency_ns=45796020
      CrystalDiskMark:random-write/2 4 KiB direct iops=598.6 bps=2452000 mean_latency_ns=1664090
    ");
}

#[test]
fn kdiskmarks_unit_is_put_right_and_said() {
    let cells = records("kdiskmark.txt").remove(0).cells;
    for cell in &cells {
        let (iops, bps) = (cell.metrics.iops.unwrap().value, cell.metrics.bps.unwrap().value);
        let block = cell.params.block_bytes.unwrap() as f64;
        assert!(
            (iops * block / bps - 1.0).abs() < 2e-3,
            "{}: {iops} IOPS of {block} are {bps}",
            cell.id
        );
        assert!(notes(cell).iter().any(|note| note.contains("2.3 % too low")), "{:?}", notes(cell));
    }
    let crystal = records("crystaldiskmark_8.txt").remove(0).cells;
    assert!(crystal.iter().all(|cell| !notes(cell).iter().any(|note| note.contains("too low"))));
}

#[test]
fn iostat_and_completion_times() {
    insta::assert_snapshot!(told("iostat_x.txt"), @r"
    iostat  loop0
      iostat/1 direct iops=1717.06 bps=38164377.6 busy_percent=6.87 discard_await_ns=43220000 discard_bps=10041180.16 discard_merges_per_s=0 discard_merges_percent=0 discard_request_bytes=1193047838.72 discards_per_s=0.01 flush_await_ns=200000 flushes_per_s=13.75 queue_length=0.35 read_await_ns=200000 read_bps=24429568 read_iops=1534.85 read_merges_per_s=0.06 read_merges_percent=0 read_request_bytes=15912.96 write_await_ns=190000 write_bps=13734809.6 write_iops=182.21 write_merges_per_s=34.96 write_merges_percent=16.1 write_request_bytes=75376.64
      iostat/2 direct iops=15270 bps=62545920 busy_percent=73.8 discard_await_ns=0 discard_bps=0 discard_merges_per_s=0 discard_merges_percent=0 discard_request_bytes=0 discards_per_s=0 flush_await_ns=0 flushes_per_s=0 queue_length=2.78 read_await_ns=0 read_bps=0 read_iops=0 read_merges_per_s=0 read_merges_percent=0 read_request_bytes=0 write_await_ns=180000 write_bps=62545920 write_iops=15270 write_merges_per_s=0 write_merges_percent=0 write_request_bytes=4096
      iostat/3 direct iops=21408 bps=87687168 busy_percent=69 discard_await_ns=0 discard_bps=0 discard_merges_per_s=0 discard_merges_percent=0 discard_request_bytes=0 discards_per_s=0 flush_await_ns=0 flushes_per_s=0 queue_length=2.68 read_await_ns=0 read_bps=0 read_iops=0 read_merges_per_s=0 read_merges_percent=0 read_request_bytes=0 write_await_ns=130000 write_bps=87687168 write_iops=21408 write_merges_per_s=0 write_merges_percent=0 write_request_bytes=4096
    ");
    insta::assert_snapshot!(told("article_iostat_x_old_columns.txt"), @r"
    iostat  
      iostat/1 direct iops=20.4 bps=113049.6 await_ns=664040000 busy_percent=9.36 queue_length=8.92 read_bps=0 read_iops=0 read_merges_per_s=0 request_bytes=5539.84 service_ns=4590000 write_bps=113049.6 write_iops=20.4 write_merges_per_s=0
    ");
    insta::assert_snapshot!(told("article_cacti_completion_list.txt"), @r"
    stopwatch  
      completion/1 direct completion_ns=117000000000
      completion/2 direct completion_ns=118000000000
      completion/3 direct completion_ns=123000000000
      completion/4 direct completion_ns=131000000000
      completion/5 direct completion_ns=130000000000
      completion/6 direct completion_ns=97000000000
      completion/7 direct completion_ns=117000000000
      completion/8 direct completion_ns=95000000000 largest_completion_ns=96000000000 least_completion_ns=94000000000
      completion/9 direct completion_ns=76000000000 largest_completion_ns=78000000000 least_completion_ns=74000000000
      completion/10 direct completion_ns=116500000000 largest_completion_ns=130000000000 least_completion_ns=103000000000
    ");
    let host = records("iostat_x.txt").remove(0).host.unwrap();
    assert_eq!((host.arch.as_deref(), host.cpus), (Some("x86_64"), Some(2)));
}

#[test]
fn a_record_and_a_table_of_our_own_are_read_too() {
    let record = std::fs::read(directory().join("../records/flashmark-0.1.0-sim.json")).unwrap();
    assert_eq!(read("r", &record).unwrap()[0].run.id, "sim-card-7");
    let table = "test,block_bytes,queue_depth,direction,pattern,iops,iops_ci95_low,iops_ci95_high,ops\n\
                 random-write,4096,1,write,uniform,120.5,110,130,900\nrandom-read,4096,1,read,uniform,2000,,,5000\n";
    let records = read("t.csv", table.as_bytes()).unwrap();
    insta::assert_snapshot!(told_of(&records), @r"
    table  
      random-write/1 4 KiB direct iops=120.5
      random-read/1 4 KiB direct iops=2000
    ");
    assert_eq!(records[0].cells[0].metrics.iops.unwrap().ci95, Some([110.0, 130.0]));
}

/// What is said of a text that is not imported.
fn refused(text: &str) -> String {
    read("x", text.as_bytes()).expect_err("it is refused").to_string()
}

#[test]
fn what_is_not_understood_says_what_it_looks_like() {
    insta::assert_snapshot!(refused(""), @"it is empty");
    insta::assert_snapshot!(refused("Buy milk\n"), @"no output of a tool that is known is in it; `flashmark import --help` lists the tools");
    insta::assert_snapshot!(refused("\0\u{1}\u{2}"), @"it is not a text");
    insta::assert_snapshot!(refused("   KB reclen write rewrite\n"), @"it is not understood: it begins like iozone output, but lacks a line of results: KB, record length, then figures");
    insta::assert_snapshot!(refused("F3 read 8.0\nValidating file 1.h2w ...\n"), @"it is not understood: it begins like f3 output, but lacks an average speed, 'Data OK: ..' or '*Usable* size: ..'");
    insta::assert_snapshot!(refused("1000+0 records in\n1000+0 records out\n"), @"it is not understood: it begins like dd output, but lacks a line '.. bytes .. copied, .. s, ..'");
    insta::assert_snapshot!(refused("{ \"fio version\" : \"fio-3.33\" }"), @r#"it is not understood: it begins like fio JSON, but lacks a list "jobs""#);
    let long = vec![b' '; MOST_BYTES + 1];
    assert!(matches!(read("x", &long), Err(ImportError::TooLong(_))));
}

/// Why nothing of a text is taken, or how much is and why the first line is not that was left.
fn told_why(text: &str) -> String {
    match understand("x", text.as_bytes(), &Hints::default()) {
        Err(error) => error.to_string(),
        Ok(found) => {
            let cells: usize = found.records.iter().map(|record| record.cells.len()).sum();
            let why = found.left.first().and_then(|left| left.why.clone()).unwrap_or_default();
            format!("{cells} taken; {why}")
        }
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let fio = String::from_utf8(bytes("fio_randwrite-4k-qd1.json")).unwrap();
    let with = |from: &str, to: &str| {
        assert!(fio.contains(from), "{from}");
        refused(&fio.replace(from, to))
    };
    insta::assert_snapshot!(with("\"iops\" : 8600.479904", "\"iops\" : -8600.479904"), @"it looks like fio JSON, but line 1: job 'randwrite-4k-qd1': -8600.479904 cannot be");
    insta::assert_snapshot!(with("\"iops\" : 8600.479904", "\"iops\" : 1e300"), @"it looks like fio JSON, but line 1: job 'randwrite-4k-qd1': 1e300 cannot be");
    insta::assert_snapshot!(with("\"iops\" : 8600.479904", "\"iops\" : nan"), @"it looks like fio JSON, but line 72: its JSON cannot be read: expected ident");
    insta::assert_snapshot!(with("\"io_bytes\" : 176173056", "\"io_bytes\" : 99999999999999999999999"), @"it looks like fio JSON, but line 1: job 'randwrite-4k-qd1': 1e23 cannot be");
    insta::assert_snapshot!(told_why("1+0 records out\n512 bytes copied, 0 s, 9999999 TB/s\n"), @"it looks like dd output, but line 2: dd: iops of 1.9531248046875e16 cannot be");
    insta::assert_snapshot!(told_why(" Timing buffered disk reads: 1024 MB in  2.75 seconds = inf MB/sec"), @"it looks like hdparm output, but line 1: the rate is missing or is no number");
    insta::assert_snapshot!(told_why("ext4: 9s\nxfs: 9-5s\n"), @"1 taken; the range ends before it begins");
    insta::assert_snapshot!(told_why("524288 4 71 99999999999999999999999999 1335 1\n"), @"3 taken; iozone: iops of 1e26 cannot be");
    insta::assert_snapshot!(told_why("Block: 4K 8K\nWrite: 1.7 MB/s 3.3 MB/s 5.6 MB/s\n"), @"it looks like a dd sweep, but line 2: 3 rates for 2 block sizes");
    insta::assert_snapshot!(told_why("4MiB  631M/s  9999999999999999999999999999999999999999999G/s\n"), @"1 taken; '9999999999999999999999999999999999999999999G/s' is no rate");
}

#[test]
fn of_floods_no_more_than_is_bounded_is_kept_and_the_rest_is_told() {
    let left = |text: &str| understand("x", text.as_bytes(), &Hints::default()).unwrap();
    let many = left(&"ext4: 9s\n".repeat(20_001));
    assert_eq!(many.records.iter().map(|record| record.cells.len()).sum::<usize>(), 20_000);
    assert!(many.left[0].why.as_deref().unwrap().contains("more than 20000 results"));
    assert!(refused(&"a\n".repeat(2_000_001)).contains("more than 2000000 lines"));
    let media: String =
        (0..1001).map(|number| format!("m{number}: 1.00 ms random access time\n")).collect();
    let many = left(&media);
    assert_eq!(many.records.len(), 1000);
    assert!(many.left[0].why.as_deref().unwrap().contains("more than 1000 media"));
    let objects = format!(
        "{{ \"fio version\" : \"fio-3.33\", \"jobs\" : [ {}{{}} ] }}",
        "{},".repeat(400_001)
    );
    assert!(refused(&objects).contains("more than 400000 objects"));
}

/// What is taken of a text as "test direction block: rate", and which lines are left.
fn understood(text: &[u8]) -> (usize, Vec<String>) {
    let found = understand("x", text, &Hints::default()).unwrap();
    let left = found.left.iter().map(|left| format!("{}: {}", left.line, left.text)).collect();
    (found.records.iter().map(|record| record.cells.len()).sum(), left)
}

/// A comment with iozone's table and a dd sweep lost the sweep without a word: all of both is taken,
/// wherever they stand, and what looks like a figure and is none of a tool's is told.
#[test]
fn a_whole_comment_is_taken_and_what_is_left_is_told() {
    let iozone = String::from_utf8(bytes("article_iozone_O_comment03.txt")).unwrap();
    let sweep = String::from_utf8(bytes("article_dd_sweep_comment03.txt")).unwrap();
    let (of_iozone, none) = understood(iozone.as_bytes());
    assert_eq!(none, [""; 0]);
    let (of_sweep, none) = understood(sweep.as_bytes());
    assert_eq!(none, [""; 0]);
    assert!(of_iozone > 0 && of_sweep > 0);
    let both = format!(
        "Hello,\nI tried my card:\n\n{iozone}\nand then\n\n{sweep}\nmy friend says 20 MB/s.\n"
    );
    let (of_both, left) = understood(both.as_bytes());
    assert_eq!(of_both, of_iozone + of_sweep);
    assert!(left.len() == 1 && left[0].ends_with("my friend says 20 MB/s."), "{left:?}");
    let quoted: String = both.lines().map(|line| format!("> {line}\r\n")).collect();
    assert_eq!(understood(quoted.as_bytes()).0, of_both, "as mail quotes it");
    let page = format!("<p>{}</p>", both.replace('&', "&amp;").replace('\n', "<br>\n"));
    assert_eq!(understood(page.as_bytes()).0, of_both, "as a page has it");
}

/// dd's summary in languages that coreutils has (facts of its translations), with decimal commas.
#[test]
fn dd_is_read_in_languages_old_and_new() {
    let summaries = [
        "104857600 bytes (105 MB, 100 MiB) copied, 2.5 s, 41.9 MB/s",
        "104857600 Bytes (105 MB, 100 MiB) kopiert, 2,5 s, 41,9 MB/s",
        "104857600 octets (105 MB, 100 MiB) copi\u{e9}s, 2,5 s, 41,9 MB/s",
        "104857600 \u{431}\u{430}\u{439}\u{442} (105 MB, 100 MiB) \u{441}\u{43a}\u{43e}\u{43f}\u{438}\u{440}\u{43e}\u{432}\u{430}\u{43d}, 2,5 s, 41,9 MB/s",
        "104857600 \u{431}\u{430}\u{439}\u{442} \u{441}\u{43a}\u{43e}\u{43f}\u{438}\u{440}\u{43e}\u{432}\u{430}\u{43d}\u{43e} (105 MB), 2,5 c, 41,9 MB/c",
        "104857600 bytes (105 MB) copiados, 2,5 s, 41,9 MB/s",
        "104857600 byte (105 MB, 100 MiB) copiati, 2,5 s, 41,9 MB/s",
        "\u{5df2}\u{590d}\u{5236}104857600\u{5b57}\u{8282}(105 MB)\u{ff0c}2.5 \u{79d2}\u{ff0c}41.9 MB/\u{79d2}",
    ];
    for summary in summaries {
        let text = format!("100+0 records in\n100+0 records out\n{summary}\n");
        let found = understand("x", text.as_bytes(), &Hints::default());
        let found = found.unwrap_or_else(|error| panic!("{summary}: {error}"));
        let bps = found.records[0].cells[0].metrics.bps.unwrap().value;
        assert!((bps / 41.94304e6 - 1.0).abs() < 0.005, "{summary}: {bps}");
    }
}

/// One odd line costs itself: what stands around it is kept, and it is named.
#[test]
fn an_odd_line_costs_itself() {
    let dd =
        |rate: &str| format!("1+0 records out\n1048576 bytes (1.0 MB) copied, 0.1 s, {rate}\n");
    let text = format!(
        "{}{}{}",
        dd("10.5 MB/s"),
        " Timing buffered disk reads: 10 MB in  2.75 seconds = inf MB/sec\n",
        dd("10.5 MB/s")
    );
    let (cells, left) = understood(text.as_bytes());
    assert_eq!(cells, 2);
    assert!(left.len() == 1 && left[0].starts_with("3: "), "{left:?}");
    // NULs in the middle, as a crashed machine leaves them.
    let mut damaged = dd("10.5 MB/s").into_bytes();
    damaged.extend([0; 4096]);
    damaged.extend(format!("\n{}", dd("10.5 MB/s")).bytes());
    let (cells, left) = understood(&damaged);
    assert!(cells == 2 && left.len() == 1, "{left:?}");
}

/// Of a fio document that is cut off in its third job the first two are kept.
#[test]
fn of_a_truncated_json_whole_jobs_are_kept() {
    let text = String::from_utf8(bytes("fio_randread_blocksize_sweep.json")).unwrap();
    let whole = read("x", text.as_bytes()).unwrap();
    let third = text.match_indices("\"jobname\"").nth(2).unwrap().0;
    let cut = &text[..third + 400];
    let found = understand("x", cut.as_bytes(), &Hints::default()).unwrap();
    assert_eq!(found.records[0].cells[..], whole[0].cells[..2]);
    assert_eq!(found.left_count, 1);
    assert!(found.left[0].why.as_deref().unwrap().contains("its JSON is cut off here"));
    assert_eq!(found.left[0].line as usize, cut.lines().count());
    // And what other tools printed after it is read, too.
    let sum = "1+0 records out\n1048576 bytes (1.0 MB) copied, 0.1 s, 10.5 MB/s\n";
    let both = understand("x", format!("{text}{sum}").as_bytes(), &Hints::default()).unwrap();
    let cells: usize = both.records.iter().map(|record| record.cells.len()).sum();
    assert_eq!(cells, whole[0].cells.len() + 1);
}

#[test]
fn deep_json_is_refused() {
    let deep = format!(
        "{{ \"fio version\" : \"fio-3.33\", \"jobs\" : [ {{ \"job options\" : {{ \"a\" : {}",
        "[".repeat(100_000)
    );
    assert!(refused(&deep).contains("recursion limit"), "{}", refused(&deep));
}

#[test]
fn texts_of_users_come_out_short_and_plain() {
    let name = format!("<script>\\u001b[31m{}", "x".repeat(10_000));
    let fio = String::from_utf8(bytes("fio_randwrite-4k-qd1.json"))
        .unwrap()
        .replace("randwrite-4k-qd1", &name);
    let record = read("x", fio.as_bytes()).unwrap().remove(0);
    let job = record.cells[0].label("job");
    assert!(job.len() <= 100 && !job.contains('\u{1b}'), "{job}");
}

#[test]
fn old_bytes_and_other_encodings_are_text_too() {
    let text = String::from_utf8(bytes("flashbench_a_1024_loop.txt")).unwrap();
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let wide: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(text.replace('\n', "\r\n").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let plain = read("x", text.as_bytes()).unwrap()[0].cells.clone();
    assert_eq!(read("x", &latin).unwrap()[0].cells, plain);
    assert_eq!(read("x", &wide).unwrap()[0].cells, plain);
}

/// A change to a text: where, what is done there, and with what.
type Edit = (prop::sample::Index, u8, Vec<u8>);

fn changed(mut text: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for (place, kind, with) in edits {
        let at = place.index(text.len().max(1)).min(text.len());
        match kind % 5 {
            0 => text.truncate(at),
            1 => drop(text.splice(at..at, with.iter().copied())),
            2 => drop(text.splice(at..(at + with.len()).min(text.len()), with.iter().copied())),
            3 => drop(text.drain(at..(at + 40).min(text.len()))),
            _ => {
                let again = text[at..(at + 200).min(text.len())].to_vec();
                text.extend(again);
            }
        }
    }
    text
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let telling = [
        "-",
        "nan",
        "inf",
        "1e999",
        "99999999999999999999",
        "0",
        "\n",
        ";",
        "/",
        ": ",
        "µ",
        "\u{8}\u{8}",
        "=",
        "(",
        "[",
        "{",
        "\"",
        "-1",
        "_",
        "\u{a0}",
        "2^63",
        "é",
    ];
    prop_oneof![
        proptest::sample::select(telling.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..20)
    ]
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Whatever is imported can be kept, and holds nothing that cannot be.
fn holds(bytes: &[u8]) {
    let Ok(records) = read("x", bytes) else { return };
    for record in records {
        for cell in &record.cells {
            let rates = [cell.metrics.iops, cell.metrics.bps]
                .into_iter()
                .flatten()
                .chain(cell.metrics.other.values().copied());
            for figure in rates {
                assert!(figure.value.is_finite() && figure.value >= 0.0, "{}: {figure:?}", cell.id);
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
        name in proptest::sample::select(names()),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), pieces()), 1..6),
    ) {
        holds(&changed(bytes(&name), &edits));
    }

    #[test]
    fn two_samples_in_one_file_never_panic(a in proptest::sample::select(names()), b in proptest::sample::select(names()), edit: Edit) {
        holds(&changed([bytes(&a), bytes(&b)].concat(), &[edit]));
    }

    #[test]
    fn any_bytes_never_panic(bytes: Vec<u8>) {
        holds(&bytes);
    }
}
