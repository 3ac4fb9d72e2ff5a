//! What the tests of all crates share: a test that can do nothing here says so.

use std::fs::File;
use std::io::Write as _;

/// Says why a test did nothing: on standard error itself, as what passes has its output hidden, and
/// in the file that `./test` counts. A reason with "root" in it is a failure where root is there
/// and nothing may be left out (`.ci/run`).
#[allow(clippy::disallowed_methods, reason = "the harness says where to; no device hears of it")]
pub fn skipped(why: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let line = format!("skipped: {test}: {why}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Ok(list) = std::env::var("FLASHMARK_SKIPPED") {
        let list = File::options().create(true).append(true).open(list);
        list.and_then(|mut list| list.write_all(line.as_bytes())).expect("the list can be kept");
    }
}
