//! How many figures each sample has, counted by hand in the file, and that all of them are imported.

use std::collections::BTreeMap;
use std::path::PathBuf;

use import::{Hints, understand};

/// A file, its results (of a curve one), the points of its curves, and the lines that look like
/// figures and are no results of it.
const COUNTED: &[(&str, usize, usize, usize)] = &[
    ("article_cacti_completion_list.txt", 10, 0, 0),
    ("article_dd_sweep_comment03.txt", 18, 0, 0),
    ("article_dd_sweep_comment06_usb2.txt", 18, 0, 0),
    ("article_dd_sweep_comment06_usb3.txt", 18, 0, 0),
    ("article_dd_sweep_comment09_wrapped.txt", 18, 0, 0),
    ("article_dd_sweep_comment10.txt", 18, 0, 0),
    ("article_dd_sweep_comment11_no_header.txt", 18, 0, 0),
    ("article_iostat_x_old_columns.txt", 1, 0, 0),
    ("article_iozone_O_comment03.txt", 4, 0, 0),
    ("article_iozone_O_comment06_usb2.txt", 4, 0, 0),
    ("article_iozone_O_comment06_usb3.txt", 4, 0, 0),
    ("article_iozone_O_comment08_underscores.txt", 4, 0, 0),
    ("article_iozone_O_comment08_with_options.txt", 4, 0, 0),
    ("article_iozone_O_comment09_bare_line.txt", 4, 0, 0),
    ("article_iozone_O_comment10.txt", 4, 0, 0),
    ("article_iozone_O_comment11_bare_line.txt", 4, 0, 0),
    ("article_morton_table.txt", 60, 0, 0),
    ("article_rate_list.txt", 4, 0, 0),
    ("article_seeker_list.txt", 3, 0, 0),
    ("as_ssd.txt", 8, 0, 0),
    ("bonnie_1.03.txt", 12, 0, 0),
    ("bonnie_1.03_csv.txt", 18, 0, 0),
    ("bonnie_1.95_table.txt", 10, 0, 0),
    ("bonnie_1.96.txt", 8, 0, 0),
    ("bonnie_1.98.txt", 10, 0, 0),
    ("bonnie_2.00.txt", 2, 0, 0),
    ("crystaldiskmark_3.txt", 8, 0, 0),
    ("crystaldiskmark_4.txt", 8, 0, 0),
    ("crystaldiskmark_5.txt", 8, 0, 0),
    ("crystaldiskmark_6.txt", 8, 0, 0),
    ("crystaldiskmark_7_fr.txt", 3, 0, 0),
    ("crystaldiskmark_8.txt", 8, 0, 0),
    ("crystaldiskmark_8_de.txt", 6, 0, 0),
    ("dd_busybox.txt", 1, 0, 0),
    ("dd_de_8.25.txt", 1, 0, 0),
    ("dd_eio.txt", 1, 0, 0),
    ("dd_eio_de.txt", 1, 0, 0),
    ("dd_freebsd.txt", 1, 0, 0),
    ("dd_languages.txt", 10, 0, 0),
    ("dd_macos.txt", 1, 0, 0),
    ("dd_read_1M_direct.txt", 1, 0, 0),
    ("dd_sweep_summary.txt", 18, 0, 0),
    ("dd_sweep_transcript.txt", 18, 0, 0),
    ("dd_write_1M_direct.txt", 1, 0, 0),
    ("dd_write_512_dsync.txt", 1, 0, 0),
    ("dd_write_64k_fdatasync.txt", 1, 0, 0),
    ("dd_write_8k_fsync.txt", 1, 0, 0),
    ("diskspd.txt", 2, 0, 0),
    ("elbencho.csv", 2, 0, 0),
    ("elbencho.txt", 1, 0, 0),
    ("f3_10_read.txt", 2, 6, 0),
    ("f3_9_probe_wraparound.txt", 4, 0, 0),
    ("f3_9_write.txt", 1, 6, 0),
    ("f3probe_damaged.txt", 1, 0, 0),
    ("f3probe_good.txt", 1, 0, 0),
    ("f3probe_limbo.txt", 1, 0, 0),
    ("f3read_damaged.txt", 2, 0, 0),
    ("f3read_eio.txt", 2, 0, 0),
    ("f3read_ok.txt", 2, 0, 0),
    ("f3write_eio.txt", 1, 0, 0),
    ("f3write_ok.txt", 1, 0, 0),
    ("fio_a1_style_terse_cut.txt", 4, 0, 0),
    ("fio_a1_style_terse_full.txt", 4, 0, 0),
    ("fio_eio.txt", 1, 0, 0),
    ("fio_enospc.json", 1, 0, 0),
    ("fio_enospc.txt", 1, 0, 0),
    ("fio_fdatasync.json", 2, 0, 0),
    ("fio_fdatasync.txt", 2, 0, 0),
    ("fio_fsync_group.txt", 2, 0, 0),
    ("fio_group.json", 1, 0, 0),
    ("fio_jsonplus.json", 1, 0, 0),
    ("fio_mixed.json", 1, 0, 0),
    ("fio_mixed.txt", 1, 0, 0),
    ("fio_normal_and_terse.txt", 1, 0, 0),
    ("fio_numjobs.json", 1, 0, 0),
    ("fio_numjobs.txt", 1, 0, 0),
    ("fio_randread-4k-qd1.json", 1, 0, 0),
    ("fio_randread_blocksize_sweep.json", 9, 0, 0),
    ("fio_randrw-4k-qd4.json", 2, 0, 0),
    ("fio_randrw_numjobs.txt", 2, 0, 0),
    ("fio_randwrite-4k-qd1-sync.json", 1, 0, 0),
    ("fio_randwrite-4k-qd1.json", 1, 0, 0),
    ("fio_randwrite-4k-qd1_normal.txt", 1, 0, 0),
    ("fio_seqread-1m.json", 1, 0, 0),
    ("fio_seqwrite-1m.json", 1, 0, 0),
    ("fio_status_interval.json", 1, 0, 0),
    ("fio_status_interval.txt", 1, 0, 0),
    ("fio_terse_2_to_5.txt", 8, 0, 0),
    ("fio_three_forms.txt", 4, 0, 0),
    ("fio_unified_both.json", 2, 0, 0),
    ("fio_unified_both.txt", 2, 0, 0),
    ("flashbench_a_1024_loop.txt", 1, 72, 0),
    ("flashbench_a_16384_loop.txt", 1, 56, 0),
    ("flashbench_card_12.txt", 392, 240, 0),
    ("flashbench_card_21.txt", 392, 240, 0),
    ("flashbench_f_loop.txt", 88, 0, 0),
    ("flashbench_open_au_linear_loop.txt", 33, 0, 0),
    ("flashbench_open_au_random_loop.txt", 33, 0, 0),
    ("h2testw_de.txt", 3, 0, 0),
    ("h2testw_en.txt", 3, 0, 0),
    ("h2testw_ok.txt", 3, 0, 0),
    ("hdparm_hg.txt", 2, 0, 0),
    ("hdparm_old.txt", 2, 0, 0),
    ("hdparm_slow.txt", 1, 0, 0),
    ("hdparm_t.txt", 1, 0, 0),
    ("hdparm_tT.txt", 2, 0, 0),
    ("hdparm_t_direct.txt", 1, 0, 0),
    ("hdparm_t_offset.txt", 2, 0, 0),
    ("ioping_0.6.txt", 1, 3, 0),
    ("ioping_R.txt", 1, 0, 0),
    ("ioping_c5.txt", 1, 4, 0),
    ("iostat_x.txt", 3, 0, 0),
    ("iozone_O.txt", 4, 0, 0),
    ("iozone_O_line_only.txt", 4, 0, 0),
    ("iozone_eio.txt", 3, 0, 0),
    ("iozone_kB.txt", 30, 0, 0),
    ("iozone_sbc_bench.txt", 12, 0, 1),
    ("iozone_t4.txt", 6, 0, 0),
    ("kdiskmark.txt", 8, 0, 0),
    ("kdiskmark_binary.txt", 8, 0, 0),
    ("pibenchmarks.txt", 9, 0, 0),
    ("pibenchmarks_log.txt", 6, 0, 0),
    ("rpi_diagnostics.txt", 4, 0, 0),
    ("rpi_diagnostics_0.15.txt", 5, 0, 0),
    ("seeker.txt", 1, 0, 0),
    ("sysbench_1.0.20_direct.txt", 2, 0, 0),
    ("sysbench_rndrd.txt", 1, 0, 0),
    ("sysbench_rndrw.txt", 2, 0, 0),
    ("sysbench_seqwr.txt", 1, 0, 0),
    ("yabs.txt", 8, 0, 0),
];

fn directory() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import").into()
}

/// Results, points and lines left of a file.
fn imported(name: &str) -> (usize, usize, usize) {
    let bytes = std::fs::read(directory().join(name)).unwrap();
    let found = understand(name, &bytes, &Hints::default()).unwrap();
    let cells = || found.records.iter().flat_map(|record| &record.cells);
    let points = cells().flat_map(|cell| &cell.series).map(|series| series.points.len()).sum();
    (cells().count(), points, found.left_count)
}

#[test]
fn every_figure_of_every_sample_is_imported() {
    let counted: BTreeMap<&str, (usize, usize, usize)> = COUNTED
        .iter()
        .map(|(name, cells, points, left)| (*name, (*cells, *points, *left)))
        .collect();
    let mut wrong = String::new();
    for entry in std::fs::read_dir(directory()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name == "README.md" {
            continue;
        }
        let (expected, got) = (counted.get(name.as_str()), imported(&name));
        if expected != Some(&got) {
            wrong += &format!("COUNT {name} {got:?}, counted {expected:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
