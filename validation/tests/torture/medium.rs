//! A medium that is gone for a while and comes back while a run writes to it.

use std::time::Duration;

use rustix::io::Errno;

use stats::Random;

use crate::crash::{MANY_CELLS, acknowledged, check_record, somewhere};
use crate::failing::{Answer, FailingMedium, at_first};
use crate::kills::name_of;
use crate::support::{Flashmark, LoopDevice, MIB, Ran, Scratch, seed, times};
use crate::tally::Tally;

/// Answers of a medium that is gone or read-only.
const AWAY: [(&str, Answer); 4] = [
    ("answers with I/O errors", Answer::Error(Errno::IO)),
    ("answers that there is no such device", Answer::Error(Errno::NODEV)),
    ("refuses writes", Answer::WriteError(Errno::IO)),
    ("brings nothing when read", Answer::Nothing),
];

#[test]
#[ignore = "minutes: cargo validation torture --only medium"]
fn a_run_whose_medium_was_gone_for_a_while_comes_to_its_end() {
    let (mut chance, mut failed) = (Random::new(seed(41)), Vec::new());
    let seconds = if times("GONE", 0) == 0 { &[1][..] } else { &[1, 5, 50] };
    for (what, away) in AWAY {
        for &seconds in seconds {
            let mut tally = Tally::of("medium", format!("{what} for {seconds} s"));
            for number in 0..times("GONE", 1) {
                tally.attempt(1, &format!("run {number}"), |tally| {
                    gone(seconds, away, &mut chance, tally)
                });
            }
            failed.extend(tally.report());
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// One run whose medium is away from a random moment on.
fn gone(seconds: u64, away: Answer, chance: &mut Random, tally: &mut Tally) {
    let scratch = Scratch::new();
    let suite = scratch.file("many.toml", MANY_CELLS);
    let Some(medium) = FailingMedium::mounted(&scratch.directory("fuse"), "fuse.away", 32 << 20)
    else {
        return;
    };
    let device = LoopDevice::with(&medium.file(), &["--direct-io=on"]);
    let flashmark = Flashmark::new();
    let mut child = flashmark.start(&format!(
        "run {0} --erase {0} --quiet --span 0+24MiB --suite {1}",
        device.word(),
        suite.display()
    ));
    somewhere(&mut child, &flashmark, 40, chance);
    medium.answers(away);
    std::thread::sleep(Duration::from_secs(seconds));
    medium.answers(Answer::Well);
    let ran = Ran::from(child.wait_with_output().unwrap());
    // Before the run has begun, a medium of which nobody can tell what lies on it is refused.
    let refused = ran.code == Some(3) && flashmark.runs().is_empty();
    assert!(refused || matches!(ran.code, Some(0 | 2 | 4)), "{ran}");
    let before = acknowledged(&flashmark);
    if let Some(run) = flashmark.runs().first() {
        tally.count("ended early", u64::from(ran.code == Some(4)));
        flashmark.done(&format!("resume {} --quiet", name_of(run)));
        check_record(run, &before);
    }
    let content = medium.content();
    let mut outside = content.iter().enumerate().skip(24 * MIB as usize);
    assert!(
        outside.all(|(at, byte)| *byte == at_first(at)),
        "something outside the span has changed"
    );
}
