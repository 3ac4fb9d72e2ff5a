//! Every way of being in use that needs a driver: the same tests, run in a guest, whose kernel has
//! all drivers.

use super::machine::Machine;
use crate::support::{has_tool, program};

/// Cases for which the kernel of this machine may lack the driver, and the tool that each needs.
const CASES: [(&str, &str); 8] = [
    ("btrfs member", "mkfs.btrfs"),
    ("dm-linear", "dmsetup"),
    ("LUKS", "cryptsetup"),
    ("LVM", "pvcreate"),
    ("MD", "mdadm"),
    ("bcache", "make-bcache"),
    ("nbd", "qemu-nbd"),
    ("zram that writes back to it", "modprobe"),
];

#[test]
#[ignore = "minutes in a virtual machine: cargo validation torture --only cards"]
fn what_the_drivers_of_a_whole_kernel_make_of_a_medium_is_refused() {
    let Some(mut machine) = Machine::boot(&[]) else { return };
    let cases: Vec<&str> =
        CASES.iter().filter(|(_, tool)| has_tool(tool)).map(|(case, _)| *case).collect();
    let tests = std::env::current_exe().unwrap();
    let ran = machine.run(&format!(
        "mkdir -p /run/lock /run/lvm; modprobe loop; export FLASHMARK_VM=1 FLASHMARK_CASES='{}' TMPDIR=/tmp DM_DISABLE_UDEV=1 FLASHMARK_PROGRAM='{}'
        cd {} && exec {} --nocapture in_use::a_medium_that_other",
        cases.join(","),
        program().display(),
        env!("CARGO_MANIFEST_DIR"),
        tests.display(),
    ));
    assert_eq!(ran.code, Some(0), "{ran}");
    let count = cases.len();
    assert!(ran.err.contains(&format!("stacks: {count} cases, {count} tried")), "{ran}");
}
