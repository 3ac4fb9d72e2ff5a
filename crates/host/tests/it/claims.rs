//! Test of claims: writes go only to the device that was checked.

use std::fs;
use std::path::Path;

use flashmark_host::{Access, BlockTarget, Claim, ResolvedTarget, Roots, claim, resolve};

use crate::machine::Machine;

fn block(roots: &Roots, target: &str) -> BlockTarget {
    match resolve(roots, target, Access::Write).unwrap() {
        ResolvedTarget::Block(block) => *block,
        other => panic!("{other:?}"),
    }
}

fn claimed(machine: &Machine) -> Claim {
    claim(&machine.roots, &block(&machine.roots, "/dev/sdb")).unwrap()
}

fn complaint(claim: &Claim) -> String {
    claim.still_same().unwrap_err().to_string()
}

#[test]
fn a_claim_notices_every_change_before_the_first_write() {
    let mut machine = Machine::new();
    let disk = machine.with_stick();
    let claim = claimed(&machine);
    assert!(claim.still_same().is_ok());

    machine.file(&format!("{disk}/diskseq"), "8\n");
    insta::assert_snapshot!(complaint(&claim), @"/dev/sdb is not the medium it was: disk sequence number was 7, is 8; nothing was written");
    machine.file(&format!("{disk}/diskseq"), "7\n");

    machine.file(&format!("{disk}/size"), "4096\n");
    insta::assert_snapshot!(complaint(&claim), @"/dev/sdb is not the medium it was: size in bytes was 16008609792, is 2097152; nothing was written");
    machine.file(&format!("{disk}/size"), &format!("{}\n", 16_008_609_792u64 / 512 + 1));
    insta::assert_snapshot!(complaint(&claim), @"/dev/sdb is not the medium it was: size in bytes was 16008609792, is 16008610304; nothing was written");
    machine.file(&format!("{disk}/size"), "0\n");
    insta::assert_snapshot!(complaint(&claim), @"/dev/sdb is gone; plug the medium in again and start over with it");
    machine.file(&format!("{disk}/size"), &format!("{}\n", 16_008_609_792u64 / 512));

    machine.mount("8:17", Path::new("/media/auto"), "vfat", "/dev/sdb1", "rw");
    insta::assert_snapshot!(complaint(&claim), @"/dev/sdb has come into use: sdb1 is mounted at /media/auto; nothing was written");
    machine.file("proc/self/mountinfo", "");

    machine.file("dev/sdb", "block 8:32");
    insta::assert_snapshot!(complaint(&claim), @"/dev/sdb is not the medium it was: device number was 8:16, is 8:32; nothing was written");
    fs::remove_file(machine.path("dev/sdb")).unwrap();
    insta::assert_snapshot!(complaint(&claim), @"/dev/sdb is gone; plug the medium in again and start over with it");
}

#[test]
fn a_claim_is_released_and_taken_again_only_if_nothing_changed() {
    let machine = Machine::new();
    let disk = machine.with_stick();
    let mut claim = claimed(&machine);
    claim.release();
    assert!(!claim.is_held());
    claim.retake().unwrap();
    assert!(claim.is_held());
    claim.release();
    machine.file(&format!("{disk}/diskseq"), "9\n");
    assert!(claim.retake().is_err() && !claim.is_held());
}
