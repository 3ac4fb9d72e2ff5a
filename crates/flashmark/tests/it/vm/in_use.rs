//! Every way of being in use that needs a driver: the same tests, started in a guest, whose kernel is a whole one.

use super::machine::Machine;

/// Cases that the kernel of this machine may not have the driver for.
const CASES: &str = "btrfs member,dm-linear,LUKS,LVM,MD,bcache,nbd,zram that writes back to it";

#[test]
fn what_the_drivers_of_a_whole_kernel_make_of_a_medium_is_refused() {
    let Some(mut machine) = Machine::boot(&[]) else { return };
    let tests = std::env::current_exe().unwrap();
    let ran = machine.run(&format!(
        "mkdir -p /run/lock /run/lvm; modprobe loop; export FLASHMARK_VM=1 FLASHMARK_CASES='{CASES}' TMPDIR=/tmp DM_DISABLE_UDEV=1
        cd {} && exec {} --nocapture in_use::a_medium_that_other",
        env!("CARGO_MANIFEST_DIR"),
        tests.display(),
    ));
    assert_eq!(ran.code, Some(0), "{ran}");
    let count = CASES.split(',').count();
    assert!(ran.err.contains(&format!("stacks: {count} cases, {count} tried")), "{ran}");
}
