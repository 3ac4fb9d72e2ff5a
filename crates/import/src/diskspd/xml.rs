//! diskspd's XML (`-Rxml`): each `<TimeSpan>` with a `<TestTimeSeconds>` is a run. What was asked
//! stands in the `<Profile>` before it.

use std::collections::BTreeMap;

use record::{Direction, Path, Pattern};

use super::{Setting, Times, Total, of_total};
use crate::imported_run::{ImportTrouble, ImportedRun};
use crate::reading::Reading;
use crate::text::{ImportText, between, number, short, whole};
use crate::{Hints, Importer, Sign};

pub(crate) const IMPORTER: Importer = Importer {
    name: "diskspd XML",
    signs: &[Sign {
        what: "'<TestTimeSeconds>' and '<ReadBytes>'",
        is_there: |source| source.contains("<TestTimeSeconds>") && source.contains("<ReadBytes>"),
    }],
    read,
    chatter: |_| false,
};

/// The most runs in a file.
const MOST_RUNS: usize = 1000;

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("diskspd");
    let mut from = 0;
    let mut profile = "";
    for _ in 0..MOST_RUNS {
        let rest = source.text.get(from..).unwrap_or_default();
        let Some(begin) = rest.find("<TestTimeSeconds>") else { break };
        // A profile of the next document stands before it.
        profile = rest.get(..begin).and_then(profile_of).unwrap_or(profile);
        let run = rest.get(begin..).unwrap_or_default();
        let length = run.find("</TimeSpan>").unwrap_or(run.len());
        let at = source.place_of(from + begin);
        let last = source.place_of(from + begin + length);
        reading.take_many(at, last + 1 - at);
        if let Some(totals) = reading.accept(at, totals(at, &run[..length])) {
            let setting = setting(profile, &run[..length]);
            if !setting.file.is_empty() {
                found.on(&setting.file);
            }
            let times = times(&run[..length]);
            for total in totals.into_iter().filter(|total| total.figures[1] > 0.0) {
                reading.add(&mut found, at, of_total(&setting, &times, total));
            }
        }
        from += begin + length.max(1);
    }
    vec![found]
}

fn profile_of(text: &str) -> Option<&str> {
    between(text, "<Profile>", "</Profile>")
}

/// The text of the first element of a name.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    between(text, &format!("<{name}>"), "</").map(str::trim)
}

/// The sum of all elements of a name.
fn sum(at: usize, text: &str, name: &str) -> Result<f64, ImportTrouble> {
    let tag = format!("<{name}>");
    text.split(&tag).skip(1).try_fold(0.0, |sum, rest| {
        let figure = rest.split('<').next().and_then(number);
        let bad = || ImportTrouble::at(at, format_args!("a <{name}> is no number"));
        Ok(sum + figure.ok_or_else(bad)?)
    })
}

/// Of reads and of writes, over all threads.
fn totals(at: usize, run: &str) -> Result<[Total; 2], ImportTrouble> {
    let seconds = value(run, "TestTimeSeconds").and_then(number).filter(|seconds| *seconds > 0.0);
    let seconds = seconds.ok_or_else(|| ImportTrouble::at(at, "the time of the test is none"))?;
    let of = |direction, word: &str| {
        let bytes = sum(at, run, &format!("{word}Bytes"))?;
        let ops = sum(at, run, &format!("{word}Count"))?;
        let figures = [bytes, ops, bytes / seconds, ops / seconds];
        let mean_ms = value(run, &format!("Average{word}Milliseconds")).and_then(number);
        Ok(Total { at, direction, figures, mean_ms })
    };
    Ok([of(Direction::Read, "Read")?, of(Direction::Write, "Write")?])
}

/// Buckets under the names that the text has for them: "50th", "3-nines", "min", "max".
fn times(run: &str) -> Times {
    let names: BTreeMap<&str, &str> = [
        ("0", "min"),
        ("50", "50th"),
        ("90", "90th"),
        ("95", "95th"),
        ("99", "99th"),
        ("99.9", "3-nines"),
        ("100", "max"),
    ]
    .into();
    let mut times = Times::new();
    for bucket in run.split("<Bucket>").skip(1) {
        let bucket = bucket.split("</Bucket>").next().unwrap_or_default();
        let percent = value(bucket, "Percentile").and_then(number).map(|n| n.to_string());
        let name = percent.as_deref().and_then(|percent| names.get(percent));
        let ms = |word: &str| value(bucket, word).and_then(number);
        if let Some(name) = name {
            let both = [ms("ReadMilliseconds"), ms("WriteMilliseconds")];
            times.insert((*name).to_owned(), both);
        }
    }
    times
}

fn setting(profile: &str, run: &str) -> Setting {
    let count = |text: &str, name: &str| value(text, name).and_then(whole);
    let small = |text: &str, name: &str| {
        count(text, name).and_then(|n| u32::try_from(n).ok()).unwrap_or(1).max(1)
    };
    let has = |name: &str| value(profile, name).is_some_and(|text| text != "false");
    let ratio = value(profile, "WriteRatio").and_then(number).unwrap_or(0.0);
    let is_past_cache = has("DisableOSCache") || has("DisableAllCache");
    Setting {
        block_bytes: count(profile, "BlockSize"),
        pattern: Some(if has("Random") { Pattern::Uniform } else { Pattern::Sequential }),
        queue_depth: small(profile, "RequestCount"),
        threads: small(run, "ThreadCount"),
        path: if is_past_cache { Path::Direct } else { Path::Buffered },
        is_through: has("WriteThrough") || has("DisableAllCache"),
        is_mixed: ratio > 0.0 && ratio < 100.0,
        file: value(run, "Path").map_or_else(String::new, |path| short(path, 200)),
        span_bytes: count(run, "FileSize"),
        seconds: value(run, "TestTimeSeconds").and_then(number).unwrap_or(0.0),
    }
}
