//! Media that drop writes without an error: whether a run says so, and whether it says so of others.

use record::{Finding, Severity};
use sim::Profile;
use suite::definition::Suite;

use super::look::Drawn;
use super::row::Target;
use super::trouble::Trouble;
use super::troubled::drawn_clean;
use super::{Part, Wrong, each, some};

/// Number of media of each suite that lose writes, and of those that lose none.
const LOSING: u64 = 20;
const CLEAN: u64 = 200;

/// The suites, and the share of writes that is lost: such that a run that reads back as many writes
/// as it may sees five of them.
const SUITES: [(&str, f64); 2] = [("check", 1.0 / 500.0), ("standard", 1.0 / 2000.0)];

/// Makes the rows, with this share of the media.
pub fn hold(seed: u64, share: f64) -> Part {
    let mut part = Part::default();
    for (name, lost) in SUITES {
        let suite = Suite::built_in(name).expect("it comes with the program");
        let text = Profile::text("ssd").expect("it comes with the program");
        let profile = format!("{text}\n[[fault]]\nkind = \"lost-write\"\nshare = {lost}\n");
        let wrong = each(some(LOSING, share), |number| {
            let seed = seed.wrapping_add(number);
            let drawn = Drawn { profile: profile.clone(), trouble: Trouble::default(), seed };
            let is_told = drawn.run(&suite, true).findings.iter().any(is_loss);
            (!is_told).then(|| drawn.wrong("lost writes are not told", &[]))
        });
        let what = format!("one write in {:.0} lost, {name}: told", 1.0 / lost);
        part.row(what, Target::AtLeast(95.0), wrong);
    }
    let suite = Suite::built_in("check").expect("it comes with the program");
    let wrong = each(some(CLEAN, share), |number| {
        let drawn = drawn_clean(seed, number);
        let record = drawn.run(&suite, true);
        let said = record.findings.iter().find(|finding| is_loss(finding))?;
        Some(Wrong { what: said.statement.clone(), ..drawn.wrong("", &[]) })
    });
    part.row("no write lost, check: none told", Target::AtLeast(100.0), wrong);
    part
}

fn is_loss(finding: &Finding) -> bool {
    finding.id == "read-back" && finding.severity == Severity::Failure
}
