//! Test of refusals to a user without rights.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use flashmark_host::{Access, Roots, resolve};

use crate::skipped::skipped;

#[test]
fn places_without_permission_are_refused() {
    let private = tempfile::tempdir().unwrap();
    fs::set_permissions(private.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let open = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(open.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let file = open.path().join("file");
    fs::write(&file, [1; 512]).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let hidden = private.path().join("inside");
    for (target, right) in
        [(Path::new("/usr"), "write to"), (&hidden, "look at"), (&file, "write to")]
    {
        let target = target.to_str().unwrap();
        let Some(message) = refusal_to_another_user(target) else { return };
        let way_out = "name a directory that is yours, or run it as root";
        assert_eq!(message, format!("no right to {right} '{target}'; {way_out}"));
    }
}

const TARGET: &str = "FLASHMARK_TEST_RESOLVES";

/// Message for a target on this machine to a user without rights; runs this test program again as
/// that user.
pub fn refusal_to_another_user(target: &str) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        skipped("only root can become another user");
        return None;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "rights::resolve_as_another_user", "--ignored", "--nocapture"])
        .env(TARGET, target)
        .uid(65534)
        .gid(65534)
        .output();
    let Ok(output) = output else {
        skipped("another user cannot run this program");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let message = text
        .lines()
        .find_map(|line| line.split_once("said: ").map(|(_, message)| message.to_owned()));
    Some(message.unwrap_or_else(|| panic!("{text}")))
}

/// Not a test of its own: `refusal_to_another_user` starts it.
#[test]
#[ignore = "is run by another test"]
fn resolve_as_another_user() {
    let Ok(target) = std::env::var(TARGET) else { return };
    println!("said: {}", resolve(&Roots::default(), &target, Access::Write).unwrap_err());
}
