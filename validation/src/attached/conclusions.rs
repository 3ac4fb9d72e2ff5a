//! Conclusions about the same medium, simulated and attached as a real block device, side by side;
//! and about a loop device over a plain file, which is none of these media.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::medium::{Medium, Program};
use super::tools::run_flashmark;

/// Media with different conclusions: a simple card, one with a fast buffer for small writes, a
/// page-mapped one, a fake.
const MEDIA: [&str; 4] = ["sd-class4", "class10-bypass", "a1", "fake-wrap"];

/// Conclusions about the host or this run, not about the medium.
const OF_THE_RUN: [&str; 5] = ["host", "impossible", "health", "wear", "usb-split"];

/// Conclusions that call a medium a cheat.
pub const CHEATS: [&str; 11] = [
    "span-cache",
    "small-span",
    "compression",
    "repeats-recognised",
    "equal-rewrites-skipped",
    "small-write-bypass",
    "slc-cache",
    "throttling",
    "front-area",
    "pattern-cheat",
    "capacity",
];

/// Size of the file of the loop device, in bytes, for tests that search for cheats.
const LOOP_BYTES: u64 = 1 << 30;
const LOOKING: &str = "prime,random-write,sequential-write,zero-fill,random-fill,span-sweep,content-sweep,pattern,misalign,front-area,management-unit,flush-cost,capacity";

/// Findings of a record about the medium: severity and statement by id.
fn about_the_medium(record: &Value) -> BTreeMap<String, (String, String)> {
    let findings = record["findings"].as_array().cloned().unwrap_or_default();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    let by_id = findings.iter().map(|finding| {
        (text(finding, "id"), (text(finding, "severity"), text(finding, "statement")))
    });
    by_id
        .filter(|(id, _)| {
            !OF_THE_RUN.contains(&id.as_str())
                && !id.starts_with("advice")
                && !id.starts_with("verdict-")
        })
        .collect()
}

/// Sizes in a statement, which must be the same on both ways: "4 MiB", "8 GiB". Rates and counts
/// differ by the time of the way.
fn sizes(statement: &str) -> Vec<String> {
    let words: Vec<&str> =
        statement.split(|c: char| c.is_whitespace() || c == ',' || c == ';').collect();
    let is_size = |pair: &&[&str]| {
        ["KiB", "MiB", "GiB"].iter().any(|unit| pair[1].trim_end_matches(['.', ':']) == *unit)
    };
    words
        .windows(2)
        .filter(is_size)
        .map(|pair| format!("{} {}", pair[0], pair[1].trim_end_matches(['.', ':'])))
        .collect()
}

/// Makes the table; returns it with the differences.
pub fn compare(program: &Program) -> Result<(String, Vec<String>)> {
    let home = tempfile::tempdir()?;
    let mut wrong = Vec::new();
    let mut table =
        "| medium | conclusion | simulated | attached |\n|---|---|---|---|\n".to_owned();
    for profile in MEDIA {
        let capacity = if profile.starts_with("fake") { ",capacity" } else { "" };
        let only = format!(
            "--only=prime,sequential-write,sequential-read,random-read,align-read,random-write,open-aus{capacity}"
        );
        // The suite ends after a minute, which is too short to probe a slow medium.
        let words = [
            only.as_str(),
            "--set=capacity.cache=64MiB",
            "--set=capacity.max_time=2m",
            "--set=open-aus.max_time=45s",
            "--time-limit=6m",
        ];
        let simulated = run_flashmark(
            program,
            home.path(),
            &[&[format!("sim:{profile}").as_str()], &words[..]].concat(),
        )?;
        let medium = Medium::attach(program, profile)?;
        let attached = run_flashmark(
            program,
            home.path(),
            &[&[medium.node.as_str(), "--erase", &medium.node, "--yes"], &words[..]].concat(),
        )?;
        drop(medium);
        let (simulated, attached) = (about_the_medium(&simulated), about_the_medium(&attached));
        let ids: std::collections::BTreeSet<&String> =
            simulated.keys().chain(attached.keys()).collect();
        for id in ids {
            let finding = |of: &BTreeMap<String, (String, String)>| {
                of.get(id).map(|(severity, statement)| {
                    (severity.clone(), sizes(statement), statement.clone())
                })
            };
            let (here, there) = (finding(&simulated), finding(&attached));
            if here.as_ref().map(|finding| (&finding.0, &finding.1))
                != there.as_ref().map(|finding| (&finding.0, &finding.1))
            {
                wrong.push(format!("{profile}: {id}"));
            }
            let cell = |finding: Option<(String, Vec<String>, String)>| {
                finding.map_or("-".to_owned(), |finding| finding.2.replace('|', "/"))
            };
            writeln!(table, "| {profile} | {id} | {} | {} |", cell(here), cell(there))?;
        }
    }
    let claimed = on_a_loop_device(program, home.path())?;
    writeln!(
        table,
        "\nOn a loop device over a file, asked with all tests that look for cheats: {}.",
        if claimed.is_empty() { "none is claimed".to_owned() } else { claimed.join("; ") }
    )?;
    wrong.extend(claimed.into_iter().map(|claim| format!("loop device: {claim}")));
    Ok((table, wrong))
}

/// Claims of cheats about a loop device, which are false.
fn on_a_loop_device(program: &Program, home: &Path) -> Result<Vec<String>> {
    let image = home.join("image");
    File::create(&image)?.set_len(LOOP_BYTES)?;
    let run = |words: &[&str]| -> Result<String> {
        let output = Command::new("losetup")
            .args(words)
            .output()
            .context("losetup does not start; install it (apt install mount)")?;
        ensure!(
            output.status.success(),
            "losetup: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    };
    let node = run(&["--find", "--show", "--direct-io=on", &image.display().to_string()])?;
    let ran = run_flashmark(
        program,
        home,
        &[&node, "--erase", &node, "--yes", &format!("--only={LOOKING}")],
    );
    run(&["--detach", &node])?;
    let findings = about_the_medium(&ran?);
    // The claim that its capacity is real is not one of a cheat.
    let cheats = findings.into_iter().filter(|(id, (severity, _))| {
        CHEATS.contains(&id.as_str()) && (id != "capacity" || severity != "info")
    });
    Ok(cheats.map(|(id, (_, statement))| format!("{id}: {statement}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_and_rates_are_not() {
        assert_eq!(
            sizes("It says 64 GiB, it has 8 GiB; 2.75 IOPS of 4 KiB. 9.4 MB/s"),
            ["64 GiB", "8 GiB", "4 KiB"]
        );
    }
}
