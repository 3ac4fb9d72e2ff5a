//! A run that is stopped and continued (SIGSTOP, SIGCONT), and two programs that want one medium.

use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use stats::Random;

use crate::crash::{MANY_CELLS, acknowledged, check_record, is_over};
use crate::support::{Flashmark, MIB, Ran, loop_device, seed, sum_of, times};
use crate::tally::Tally;

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
#[ignore = "minutes: cargo validation torture --only stops"]
fn a_stopped_and_continued_run_ends_as_any_other() {
    let Some((scratch, image, device)) = loop_device(32 * MIB) else { return };
    let suite = scratch.suite(MANY_CELLS);
    let (mut tally, mut chance) =
        (Tally::of("stops", "SIGSTOP and SIGCONT in a run"), Random::new(seed(21)));
    for number in 0..times("STOPS", 3) {
        tally.attempt(1, &format!("run {number}"), |tally| {
            let around = sum_of(&image, 24 * MIB, u64::MAX);
            let flashmark = Flashmark::new();
            let mut child = flashmark.start(&format!(
                "run {0} --erase {0} --span 0+24MiB --quiet --suite {1}",
                device.word(),
                suite
            ));
            while !is_over(&mut child) {
                std::thread::sleep(Duration::from_millis(chance.below(60)));
                send(&child, Signal::STOP);
                std::thread::sleep(Duration::from_millis(chance.below(120)));
                send(&child, Signal::CONT);
                tally.count("stops", 1);
            }
            let ran = Ran::from(child.wait_with_output().unwrap());
            assert_eq!(ran.code, Some(0), "{ran}");
            check_record(&flashmark.run_dir(), &acknowledged(&flashmark));
            assert_eq!(
                sum_of(&image, 24 * MIB, u64::MAX),
                around,
                "something outside the span has changed"
            );
        });
    }
    tally.end();
}

#[test]
#[ignore = "minutes: cargo validation torture --only stops"]
fn of_two_programs_on_one_medium_one_is_refused() {
    let Some((scratch, _image, device)) = loop_device(32 * MIB) else { return };
    let suite = scratch.suite(MANY_CELLS);
    let (mut tally, mut chance) =
        (Tally::of("two programs", "run and run on one loop device"), Random::new(seed(22)));
    let line = format!("run {0} --erase {0} --quiet --suite {1}", device.word(), suite);
    for number in 0..times("STOPS", 3) {
        tally.attempt(1, &format!("pair {number}"), |tally| {
            let (one, other) = (Flashmark::new(), Flashmark::new());
            let first = one.start(&line);
            std::thread::sleep(Duration::from_micros(chance.below(40_000)));
            let second = other.start(&line);
            let both = [first, second].map(|child| Ran::from(child.wait_with_output().unwrap()));
            let mut codes = both.each_ref().map(|ran| ran.code);
            codes.sort();
            // One after the other is well, too; both refused is a pity and no loss.
            assert!(
                codes.iter().all(|code| matches!(code, Some(0 | 3))),
                "{} {}",
                both[0],
                both[1]
            );
            tally.count("one was refused", u64::from(codes == [Some(0), Some(3)]));
            tally.count("both were refused", u64::from(codes == [Some(3), Some(3)]));
            for (flashmark, _) in
                [&one, &other].into_iter().zip(&both).filter(|(_, ran)| ran.code == Some(0))
            {
                check_record(&flashmark.run_dir(), &acknowledged(flashmark));
            }
        });
    }
    tally.end();
}
