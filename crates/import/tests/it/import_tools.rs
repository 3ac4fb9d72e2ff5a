//! Tools beside those of import.rs: what their output becomes, figure by figure.

use import::{Hints, Import, understand};

use crate::import::{told, told_of};

fn understood(text: &str) -> Import {
    understand("x", text.as_bytes(), &Hints::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn bonnie_tables_and_csv() {
    insta::assert_snapshot!(told("bonnie_1.03.txt"), @"
    bonnie++ 1.03 
      bonnie++:write/1 [per-character] buffered bps=10258432 cpu_percent=26
      bonnie++:write/2 [block] 8 KiB buffered iops=4029 bps=33005568 cpu_percent=7
      bonnie++:rewrite/1 [block] 8 KiB buffered iops=1478 bps=12107776 cpu_percent=3
      bonnie++:read/1 [per-character] buffered bps=20109312 cpu_percent=45
      bonnie++:read/2 [block] 8 KiB buffered iops=3780.5 bps=30969856 cpu_percent=3
      bonnie++:seeks/1 8 KiB buffered iops=93.3 cpu_percent=0
      bonnie++:create/1 [sequential] buffered iops=2652 cpu_percent=5
      bonnie++:stat/1 [sequential] buffered iops=12663 cpu_percent=5
      bonnie++:delete/1 [sequential] buffered iops=4661 cpu_percent=5
      bonnie++:create/2 [random] buffered iops=3237 cpu_percent=5
      bonnie++:stat/2 [random] buffered iops=14359 cpu_percent=10
      bonnie++:delete/2 [random] buffered iops=4434 cpu_percent=6
    ");
    insta::assert_snapshot!(told("bonnie_1.03_csv.txt"), @"
    bonnie++ 1.03 
      bonnie++:write/1 [per-character] buffered bps=10258432 cpu_percent=26
      bonnie++:write/2 [block] 8 KiB buffered iops=4029 bps=33005568 cpu_percent=7
      bonnie++:rewrite/1 [block] 8 KiB buffered iops=1478 bps=12107776 cpu_percent=3
      bonnie++:read/1 [per-character] buffered bps=20109312 cpu_percent=45
      bonnie++:read/2 [block] 8 KiB buffered iops=3780.5 bps=30969856 cpu_percent=3
      bonnie++:seeks/1 8 KiB buffered iops=93.3 cpu_percent=0
      bonnie++:create/1 [sequential] buffered iops=2652 cpu_percent=5
      bonnie++:stat/1 [sequential] buffered iops=12663 cpu_percent=5
      bonnie++:delete/1 [sequential] buffered iops=4661 cpu_percent=5
      bonnie++:create/2 [random] buffered iops=3237 cpu_percent=5
      bonnie++:stat/2 [random] buffered iops=14359 cpu_percent=10
      bonnie++:delete/2 [random] buffered iops=4434 cpu_percent=6
      bonnie++:write/3 [per-character] buffered bps=22158336 cpu_percent=62
      bonnie++:write/4 [block] 8 KiB buffered iops=2732.75 bps=22386688 cpu_percent=12
      bonnie++:rewrite/2 [block] 8 KiB buffered iops=1618 bps=13254656 cpu_percent=8
      bonnie++:read/3 [per-character] buffered bps=32134144 cpu_percent=78
      bonnie++:read/4 [block] 8 KiB buffered iops=4145.625 bps=33960960 cpu_percent=11
      bonnie++:seeks/2 8 KiB buffered iops=95.6 cpu_percent=0
    ");
    insta::assert_snapshot!(told("bonnie_1.95_table.txt"), @"
    bonnie++ 1.95 
      bonnie++:write/1 [per-character] q1t8 buffered bps=775168 cpu_percent=99 longest_latency_ns=15462000
      bonnie++:write/2 [block] 8 KiB q1t8 buffered iops=8915.375 bps=73034752 cpu_percent=16 longest_latency_ns=6918000000
      bonnie++:rewrite/1 [block] 8 KiB q1t8 buffered iops=3824.25 bps=31328256 cpu_percent=5 longest_latency_ns=4933000000
      bonnie++:read/1 [per-character] q1t8 buffered bps=2244608 cpu_percent=99 longest_latency_ns=11096000
      bonnie++:read/2 [block] 8 KiB q1t8 buffered iops=7194.375 bps=58936320 cpu_percent=4 longest_latency_ns=706000000
      bonnie++:seeks/1 8 KiB q1t8 buffered iops=262.5 cpu_percent=13 longest_latency_ns=241000000
      bonnie++:create/1 [sequential] q1t8 buffered iops=44410 cpu_percent=75 longest_latency_ns=9957000
      bonnie++:delete/1 [sequential] q1t8 buffered iops=72407 cpu_percent=81 longest_latency_ns=533000
      bonnie++:create/2 [random] q1t8 buffered iops=45787 cpu_percent=77 longest_latency_ns=649000
      bonnie++:delete/2 [random] q1t8 buffered iops=63167 cpu_percent=72 longest_latency_ns=552000
    ");
    insta::assert_snapshot!(told("bonnie_1.96.txt"), @"
    bonnie++ 1.96 
      bonnie++:write/1 [per-character] buffered bps=1175552 cpu_percent=98 longest_latency_ns=15865000
      bonnie++:write/2 [block] 8 KiB buffered iops=15824.75 bps=129636352 cpu_percent=11 longest_latency_ns=554000000
      bonnie++:rewrite/1 [block] 8 KiB buffered iops=9284.125 bps=76055552 cpu_percent=9 longest_latency_ns=483000000
      bonnie++:read/1 [per-character] buffered bps=5462016 cpu_percent=100 longest_latency_ns=4473000
      bonnie++:read/2 [block] 8 KiB buffered iops=28716.625 bps=235246592 cpu_percent=15 longest_latency_ns=434000000
      bonnie++:seeks/1 8 KiB buffered iops=13116 cpu_percent=160 longest_latency_ns=2480000
      bonnie++:create/1 [sequential] buffered iops=23322 cpu_percent=22 longest_latency_ns=1343000
      bonnie++:delete/1 [sequential] buffered iops=24000 cpu_percent=16 longest_latency_ns=603000
    ");
    insta::assert_snapshot!(told("bonnie_2.00.txt"), @"
    bonnie++ 2.00a 
      bonnie++:write/1 [per-character] buffered bps=1458176 cpu_percent=91 longest_latency_ns=14460000
      bonnie++:read/1 [per-character] buffered bps=1841152 cpu_percent=59 longest_latency_ns=9788000
    ");
}

/// `bonnie++ -f` leaves single characters out: blanks in the table, nothing in the CSV.
#[test]
fn what_bonnie_left_out_is_no_result() {
    let table = "\
Version 1.03        ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
Gaia         1G:32k           26895  41 10177  11           21433  13 147.2   1
";
    insta::assert_snapshot!(told_of(&understood(table).records), @"
    bonnie++ 1.03 
      bonnie++:write/1 [block] 32 KiB buffered iops=840.46875 bps=27540480 cpu_percent=41
      bonnie++:rewrite/1 [block] 32 KiB buffered iops=318.03125 bps=10421248 cpu_percent=11
      bonnie++:read/1 [block] 32 KiB buffered iops=669.78125 bps=21947392 cpu_percent=13
      bonnie++:seeks/1 32 KiB buffered iops=147.2 cpu_percent=1
    ");
    let csv = "Gaia,1G:32k,,,26895,41,10177,11,,,21433,13,147.2,1,,,,,,,,,,,,,\n";
    insta::assert_snapshot!(told_of(&understood(csv).records), @"
    bonnie++ 1.03 
      bonnie++:write/1 [block] 32 KiB buffered iops=840.46875 bps=27540480 cpu_percent=41
      bonnie++:rewrite/1 [block] 32 KiB buffered iops=318.03125 bps=10421248 cpu_percent=11
      bonnie++:read/1 [block] 32 KiB buffered iops=669.78125 bps=21947392 cpu_percent=13
      bonnie++:seeks/1 32 KiB buffered iops=147.2 cpu_percent=1
    ");
}

#[test]
fn sysbench_fileio() {
    insta::assert_snapshot!(told("sysbench_rndrd.txt"), @"
    sysbench 1.0.20 
      sysbench:rndrd/1 16 KiB direct iops=11185.38 bps=183261265.92 n=22381 min=40000 mean=90000 p50=- p99=- p99.9=- max=18860000
    ");
    insta::assert_snapshot!(told("sysbench_rndrw.txt"), @"
    sysbench 1.0.20 
      sysbench:rndrw/1 [read] 16 KiB direct iops=6437.43 bps=105470853.12 n=23196 min=30000 mean=90000 p50=- p99=- p99.9=- max=7410000
      sysbench:rndrw/2 [write] 16 KiB direct iops=4291.95 bps=70319308.8 n=23196 min=30000 mean=90000 p50=- p99=- p99.9=- max=7410000
    ");
    insta::assert_snapshot!(told("sysbench_seqwr.txt"), @"
    sysbench 1.0.20 
      sysbench:seqwr/1 16 KiB direct iops=13641.9 bps=223508889.6 n=29491 min=50000 mean=70000 p50=- p99=- p99.9=- max=4140000
    ");
}

/// As the manual of sysbench 0.4 shows it, and the figures of 1.1.
#[test]
fn sysbench_before_and_after_1_0() {
    let old = "\
sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 16

Extra file open flags: 0
128 files, 24Mb each
3Gb total file size
Block size 16Kb
Number of random requests for random IO: 10000
Periodic FSYNC enabled, calling fsync() each 100 requests.
Doing random r/w test
Threads started!
Done.

Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total
Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (7.6435Mb/sec)
  489.19 Requests/sec executed

Test execution summary:
    total time:                          20.4425s
    total number of events:              10000
    per-request statistics:
         min:                                  0.01ms
         avg:                                  9.57ms
         max:                                211.87ms
         approx.  95 percentile:              41.22ms
";
    let found = understood(old);
    assert_eq!(found.left, []);
    insta::assert_snapshot!(told_of(&found.records), @"
    sysbench 0.4.12 
      sysbench:rndrw/1 [read] 16 KiB q1t16 buffered iops=293.50617585911704 bps=4808805.1852757735 n=10000 min=10000 mean=9570000 p50=- p99=- p99.9=- max=211870000
      sysbench:rndrw/2 [write] 16 KiB q1t16 buffered iops=195.67078390607804 bps=3205870.1235171827 n=10000 min=10000 mean=9570000 p50=- p99=- p99.9=- max=211870000
    ");
    let new = "\
sysbench 1.1.0 (using bundled LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4

Extra file open flags: directio
Block size 16KiB
Doing random read test

Throughput:
         read:  IOPS=1877.63 29.34 MiB/s (30.76 MB/s)
         write: IOPS=0.00 0.00 MiB/s (0.00 MB/s)
         fsync: IOPS=0.00

Latency (ms):
         min:                                  0.09
         avg:                                  2.13
         max:                                 48.20
         95th percentile:                      4.82
";
    let found = understood(new);
    assert_eq!(found.left, []);
    insta::assert_snapshot!(told_of(&found.records), @"
    sysbench 1.1.0 
      sysbench:rndrd/1 16 KiB q1t4 direct iops=1877.63 bps=30763089.92 n=0 min=90000 mean=2130000 p50=- p99=- p99.9=- max=48200000
    ");
}

#[test]
fn pibenchmarks() {
    insta::assert_snapshot!(told("pibenchmarks.txt"), @"
    PiBenchmarks  
      buffered-read/1 [direct] 2 MiB direct iops=13.17 bps=27619491.84
      buffered-read/2 [cache] 2 MiB buffered iops=5.1 bps=10695475.2
      dd:write/1 4 KiB buffered iops=3979.4921875 bps=16300000
      fio:randread/1 4 KiB q64t1 direct iops=2352 bps=9635840
      fio:randwrite/1 4 KiB q64t1 direct iops=207 bps=848896
      iozone/1 [read] 4 KiB direct iops=1788.75 bps=7326720
      iozone/2 [write] 4 KiB direct iops=421 bps=1724416
      record-ops/1 [random-read] 4 KiB direct iops=1751 bps=7172096
      iozone/3 [random-write] 4 KiB direct iops=230.5 bps=944128
    ");
    // What its tools printed above the table is not counted twice.
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/import/pibenchmarks.txt"
    ));
    let raw =
        "/dev/mmcblk0:\n Timing O_DIRECT disk reads:  80 MB in  3.04 seconds =  26.34 MB/sec\n";
    let found = understood(&format!("{raw}{}", text.unwrap()));
    let cells: usize = found.records.iter().map(|record| record.cells.len()).sum();
    assert_eq!((cells, found.left_count, found.records.len()), (9, 0, 1));
}

#[test]
fn diskspd_text_and_xml() {
    insta::assert_snapshot!(told("diskspd.txt"), @"
    diskspd  
      diskspd:mix/1 [read] 4 KiB q8t8 direct iops=24083.62 bps=98650030.08 n=2890037 min=190000 mean=1563000 p50=1405000 p99=4075000 p99.9=7703000 max=145285000
      diskspd:mix/2 [write] 4 KiB q8t8 direct sync-file iops=24118.86 bps=98786344.96 n=2894265 min=100000 mean=1091000 p50=985000 p99=3153000 p99.9=7140000 max=135744000
    ");
    // The elements that diskspd writes, two threads added up.
    let thread = "<Thread><Target><Path>c:\\test.dat</Path><FileSize>1073741824</FileSize>\n\
         <ReadBytes>4096000</ReadBytes>\n<ReadCount>1000</ReadCount>\n\
         <WriteBytes>0</WriteBytes><WriteCount>0</WriteCount></Target></Thread>\n";
    let xml = format!(
        "<Results>\n<Profile><TimeSpans><TimeSpan><Duration>10</Duration><Targets><Target>\
         <BlockSize>4096</BlockSize><Random>4096</Random><DisableOSCache>true</DisableOSCache>\
         <WriteRatio>0</WriteRatio><RequestCount>32</RequestCount></Target></Targets></TimeSpan>\
         </TimeSpans></Profile>\n<TimeSpan>\n<TestTimeSeconds>10.00</TestTimeSeconds>\n\
         <ThreadCount>2</ThreadCount>\n<Latency>\n\
         <AverageReadMilliseconds>0.331</AverageReadMilliseconds>\n\
         <Bucket><Percentile>0</Percentile><ReadMilliseconds>0.079</ReadMilliseconds></Bucket>\n\
         <Bucket><Percentile>50</Percentile><ReadMilliseconds>0.300</ReadMilliseconds></Bucket>\n\
         <Bucket><Percentile>99.9</Percentile><ReadMilliseconds>1.5</ReadMilliseconds></Bucket>\n\
         <Bucket><Percentile>100</Percentile><ReadMilliseconds>2.5</ReadMilliseconds></Bucket>\n\
         </Latency>\n{thread}{thread}</TimeSpan>\n</Results>\n"
    );
    let found = understood(&xml);
    assert_eq!(found.left, []);
    insta::assert_snapshot!(told_of(&found.records), @"
    diskspd  
      diskspd:random-read/1 4 KiB q32t2 direct iops=200 bps=819200 n=2000 min=79000 mean=331000 p50=300000 p99=- p99.9=- max=2500000
    ");
}

#[test]
fn elbencho_csv_and_table() {
    insta::assert_snapshot!(told("elbencho.csv"), @"
    elbencho  
      elbencho:write/1 1 MiB q4t8 direct iops=2941 bps=3083862016 first_done_bps=3663724544 n=8192 min=1661000 mean=9383000 p50=- p99=- p99.9=- max=120903000
      elbencho:read/1 1 MiB q4t8 direct iops=9048 bps=9487515648 first_done_bps=10142875648 n=8192 min=553000 mean=3223000 p50=- p99=- p99.9=- max=6922000
    ");
    insta::assert_snapshot!(told("elbencho.txt"), @"
    elbencho  
      elbencho:write/1 1 MiB q1t96 direct iops=33352 bps=34972106752
    ");
}

/// The test of sbc-bench's author, as he pastes it: the command in a sentence above the table.
#[test]
fn a_command_of_iozone_in_a_sentence_says_how_it_was_measured() {
    insta::assert_snapshot!(told("iozone_sbc_bench.txt"), @"
    iozone  
      iozone/1 [write] 4 KiB direct iops=684.5 bps=2803712
      iozone/2 [rewrite] 4 KiB direct iops=690.5 bps=2828288
      iozone/3 [read] 4 KiB direct iops=3213 bps=13160448
      iozone/4 [reread] 4 KiB direct iops=3197.25 bps=13095936
      record-ops/1 [random-read] 4 KiB direct iops=2549.25 bps=10441728
      iozone/5 [random-write] 4 KiB direct iops=694 bps=2842624
      iozone/6 [write] 16 MiB direct iops=3.99676513671875 bps=67054592
      iozone/7 [rewrite] 16 MiB direct iops=3.970947265625 bps=66621440
      iozone/8 [read] 16 MiB direct iops=5.39019775390625 bps=90432512
      iozone/9 [reread] 16 MiB direct iops=5.40496826171875 bps=90680320
      record-ops/2 [random-read] 16 MiB direct iops=5.40472412109375 bps=90676224
      iozone/10 [random-write] 16 MiB direct iops=3.9193115234375 bps=65755136
    ");
}

#[test]
fn h2testw_in_english_and_german() {
    insta::assert_snapshot!(told("h2testw_en.txt"), @"
    H2testw 1.4 
      verify/1 [read] buffered changed_sectors=0 corrupted_sectors=57399744 good_sectors=8099392 overwritten_sectors=0
      H2testw:write/1 direct bps=1593835.52
      H2testw:read/1 direct bps=10464788.48
    ");
    insta::assert_snapshot!(told("h2testw_de.txt"), @"
    H2testw 1.4 
      verify/1 [read] buffered changed_sectors=0 corrupted_sectors=23845312 good_sectors=8099392 overwritten_sectors=33554432
      H2testw:write/1 direct bps=1593835.52
      H2testw:read/1 direct bps=10464788.48
    ");
    insta::assert_snapshot!(told("h2testw_ok.txt"), @"
    H2testw 1.4 
      verify/1 [read] buffered changed_sectors=0 corrupted_sectors=0 good_sectors=60618752 overwritten_sectors=0
      H2testw:write/1 direct bps=14680064
      H2testw:read/1 direct bps=20866662.4
    ");
}

#[test]
fn hdparm_at_an_offset() {
    insta::assert_snapshot!(told("hdparm_t_offset.txt"), @"
    hdparm  loop0
      buffered-read/1 [device] 2 MiB buffered bps=80541122.56
      buffered-read/2 [direct] 2 MiB direct bps=270973009.92
    ");
}

#[test]
fn bonnie_1_98_and_sysbench_as_pasted() {
    insta::assert_snapshot!(told("bonnie_1.98.txt"), @"
    bonnie++ 1.98 
      bonnie++:write/1 [per-character] buffered bps=148480 cpu_percent=99 longest_latency_ns=101000000
      bonnie++:write/2 [block] 8 KiB buffered iops=2534.375 bps=20761600 cpu_percent=7 longest_latency_ns=2512000000
      bonnie++:rewrite/1 [block] 8 KiB buffered iops=1574.375 bps=12897280 cpu_percent=5 longest_latency_ns=1987000000
      bonnie++:read/1 [per-character] buffered bps=421888 cpu_percent=99 longest_latency_ns=44012000
      bonnie++:read/2 [block] 8 KiB buffered iops=5273.5 bps=43200512 cpu_percent=8 longest_latency_ns=33122000
      bonnie++:seeks/1 8 KiB buffered iops=988.4 cpu_percent=25 longest_latency_ns=912000000
      bonnie++:create/1 [sequential] buffered iops=2123 cpu_percent=20 longest_latency_ns=33123000
      bonnie++:delete/1 [sequential] buffered iops=3012 cpu_percent=21 longest_latency_ns=2123000
      bonnie++:create/2 [random] buffered iops=2234 cpu_percent=20 longest_latency_ns=1231000
      bonnie++:delete/2 [random] buffered iops=2543 cpu_percent=20 longest_latency_ns=2221000
    ");
    insta::assert_snapshot!(told("sysbench_1.0.20_direct.txt"), @"
    sysbench 1.0.20 
      sysbench:rndrw/1 [read] 16 KiB direct iops=312.5 bps=5120000 n=0 min=20000 mean=840000 p50=- p99=- p99.9=- max=212340000
      sysbench:rndrw/2 [write] 16 KiB direct iops=208.33 bps=3413278.72 n=0 min=20000 mean=840000 p50=- p99=- p99.9=- max=212340000
    ");
}

#[test]
fn the_fio_table_of_yabs() {
    insta::assert_snapshot!(told("yabs.txt"), @"
    YABS  sda1
      fio:randrw/1 [read] 4 KiB q64t2 direct iops=3200 bps=13107200
      fio:randrw/2 [read] 64 KiB q64t2 direct iops=1000 bps=64000000
      fio:randrw/3 [write] 4 KiB q64t2 direct iops=3200 bps=13148160
      fio:randrw/4 [write] 64 KiB q64t2 direct iops=1000 bps=64319999.99999999
      fio:randrw/5 [read] 512 KiB q64t2 direct iops=200 bps=104857600
      fio:randrw/6 [read] 1 MiB q64t2 direct iops=997 bps=1044480000
      fio:randrw/7 [write] 512 KiB q64t2 direct iops=210 bps=110100480
      fio:randrw/8 [write] 1 MiB q64t2 direct iops=1000 bps=1090000000
    ");
}

#[test]
fn ioping_of_old() {
    insta::assert_snapshot!(told("ioping_0.6.txt"), @"
    ioping  sdb 7680 MiB
      ioping/1 4 KiB buffered iops=280 bps=1153433.6 n=3 min=700000 mean=3600000 p50=- p99=- p99.9=- max=9200000
    ");
}

#[test]
fn f3read_with_rates_of_each_file() {
    insta::assert_snapshot!(told("f3_10_read.txt"), @"
    f3 10.0 
      verify/1 [read] buffered changed_sectors=0 corrupted_sectors=0 good_sectors=4194304 overwritten_sectors=0
      f3:read/1 buffered bps=46955233.28
    ");
}

/// What CrystalDiskMark could not write stands there as zero.
#[test]
fn a_rate_of_zero_is_no_figure() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import/crystaldiskmark_5.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let failed = text.replace(
        "Sequential Write (Q= 32,T= 1) :    31.084 MB/s",
        "Sequential Write (Q= 32,T= 1) :     0.000 MB/s",
    );
    assert_eq!(understood(&failed).records[0].cells.len(), 7);
}

#[test]
fn crystaldiskmark_5_in_english_and_8_with_decimal_commas() {
    insta::assert_snapshot!(told("crystaldiskmark_5.txt"), @"
    CrystalDiskMark 5.2.0 
      CrystalDiskMark:sequential-read/1 q32t1 direct bps=91647000
      CrystalDiskMark:sequential-write/1 q32t1 direct bps=31084000
      CrystalDiskMark:random-read/1 4 KiB q32t1 direct iops=2375.5 bps=9730000
      CrystalDiskMark:random-write/1 4 KiB q32t1 direct iops=387.2 bps=1586000
      CrystalDiskMark:sequential-read/2 direct bps=90034000
      CrystalDiskMark:sequential-write/2 direct bps=29884000
      CrystalDiskMark:random-read/2 4 KiB direct iops=1801.8 bps=7380000
      CrystalDiskMark:random-write/2 4 KiB direct iops=321.5 bps=1317000
    ");
    insta::assert_snapshot!(told("crystaldiskmark_8_de.txt"), @"
    CrystalDiskMark 8.0.4 
      CrystalDiskMark:sequential-read/1 1 MiB q8t1 direct iops=90.1 bps=94512000 mean_latency_ns=88512330
      CrystalDiskMark:random-read/1 4 KiB direct iops=1984.1 bps=8127000.000000001 mean_latency_ns=503210
      CrystalDiskMark:sequential-write/1 1 MiB q8t1 direct iops=39.5 bps=41437000 mean_latency_ns=199123440
      CrystalDiskMark:random-write/1 4 KiB direct iops=517.8 bps=2121000 mean_latency_ns=1929300
      CrystalDiskMark:sequential-mix/1 1 MiB q8t1 direct iops=59.5 bps=62437000 mean_latency_ns=199123440
      CrystalDiskMark:random-mix/1 4 KiB direct iops=1006.1 bps=4121000.0000000005 mean_latency_ns=1929300
    ");
    insta::assert_snapshot!(told("dd_de_8.25.txt"), @"
    dd  
      dd/1 1 MiB buffered iops=19.073483201737474 bps=19999996.721745074
    ");
    insta::assert_snapshot!(told("hdparm_hg.txt"), @"
    hdparm  mmcblk0
      buffered-read/1 [cache] 2 MiB buffered bps=638194810.88
      buffered-read/2 [device] 2 MiB buffered bps=22659727.36
    ");
}
