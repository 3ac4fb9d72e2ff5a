//! iostat -x: activity of devices while something else ran. Old columns (rsec/s, avgrq-sz, svctm)
//! and current ones; kB are 1024 bytes, sectors 512.

use record::units::{KIB, MIB};
use record::{Cell, Host, Params, TargetKind};

use super::imported_run::{
    ImportTrouble, ImportedRun, cell, label, note, other, rates, room_for_another,
};
use super::text::{decimal, group, re, short};
use super::{Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "iostat -x output",
    signs: &[
        Sign {
            what: "a head with 'r/s', 'w/s' and '%util'",
            is_there: |source| source.has(is_head),
        },
        Sign {
            what: "a line of figures below it",
            is_there: |source| {
                let mut pairs = source.lines.windows(2);
                pairs.any(|pair| is_head(pair[0]) && !figures(pair[0], pair[1]).is_empty())
            },
        },
    ],
    read: |source, reading| {
        // "Linux 6.1.0 (name) 11/20/26 _x86_64_ (2 CPU)". The name of the machine is left out.
        let banner = re!(r"(?m)^Linux (\S+).*?(?:\s_(.*?)_\s.*?)?\((?:(\d+) )?[^(]*CPU\)");
        let host = banner.captures(source.text).map(|found| Host {
            kernel: Some(short(group(&found, 1), 60)),
            arch: found.get(2).map(|arch| short(arch.as_str(), 20)),
            cpus: group(&found, 3).parse().ok(),
            ..Host::default()
        });
        let mut media: Vec<ImportedRun> = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        let mut head = None;
        for (at, line) in source.numbered() {
            if is_head(line) {
                head = Some(line);
                reading.take(at);
                continue;
            }
            let columns = head.map(|head| figures(head, line)).unwrap_or_default();
            let Some((first, device)) = columns.first() else {
                head = head.filter(|_| !line.trim().is_empty());
                continue;
            };
            let device = if first.starts_with("Device") { device } else { "" };
            let Some(mut cell) = reading.accept(at, of_look(at, &columns)) else { continue };
            let known = names.iter().position(|known| *known == device);
            if known.is_none() {
                let mut found = ImportedRun { host: host.clone(), ..ImportedRun::by("iostat") };
                found.target.kind = TargetKind::Block;
                if !device.is_empty() {
                    found.on(&format!("/dev/{device}"));
                }
                if reading.accept(at, room_for_another(&media)).is_none() {
                    continue;
                }
                media.push(found);
                names.push(device);
            }
            let found = &mut media[known.unwrap_or(names.len() - 1)];
            label(&mut cell, "look", &(found.cells.len() + 1).to_string());
            if found.cells.is_empty() && host.is_some() {
                note(&mut cell, "the first look is the mean since the machine was started");
            }
            reading.add(found, at, cell);
        }
        media
    },
    apart: "",
};

const KIBIBYTE: f64 = KIB as f64;
const MEBIBYTE: f64 = MIB as f64;

/// Our name of a column, and the factor for its values.
fn of_column(name: &str) -> Option<(String, f64)> {
    let ways = [("r", "read"), ("w", "write"), ("d", "discard"), ("f", "flush")];
    let fixed = match name {
        "r/s" => ("read_iops", 1.0),
        "w/s" => ("write_iops", 1.0),
        "d/s" => ("discards_per_s", 1.0),
        "f/s" => ("flushes_per_s", 1.0),
        "await" => ("await_ns", 1e6),
        "avgrq-sz" => ("request_bytes", 512.0),
        "areq-sz" => ("request_bytes", KIBIBYTE),
        "avgqu-sz" | "aqu-sz" => ("queue_length", 1.0),
        "svctm" => ("service_ns", 1e6),
        "%util" => ("busy_percent", 1.0),
        _ => ("", 0.0),
    };
    if !fixed.0.is_empty() {
        return Some((fixed.0.to_owned(), fixed.1));
    }
    let (share, rest) = name.strip_prefix('%').map_or((false, name), |rest| (true, rest));
    let (_, way) = ways.iter().find(|(letter, _)| rest.starts_with(letter))?;
    let (what, factor) = match rest.get(1..)? {
        "rqm" if share => ("merges_percent", 1.0),
        _ if share => return None,
        "sec/s" => ("bps", 512.0),
        "kB/s" => ("bps", KIBIBYTE),
        "MB/s" => ("bps", MEBIBYTE),
        "rqm/s" => ("merges_per_s", 1.0),
        "_await" => ("await_ns", 1e6),
        "areq-sz" => ("request_bytes", KIBIBYTE),
        _ => return None,
    };
    Some((format!("{way}_{what}"), factor))
}

fn is_head(line: &str) -> bool {
    line.contains("%util") && {
        let words: Vec<&str> = line.split_whitespace().collect();
        ["r/s", "w/s", "%util"].iter().all(|name| words.contains(name))
    }
}

/// Pairs of a column's name and its text, if the line has as many words as the head.
fn figures<'a>(head: &'a str, line: &'a str) -> Vec<(&'a str, &'a str)> {
    let (names, words) = (head.split_whitespace(), line.split_whitespace());
    let fits = names.clone().count() == words.clone().count() && !is_head(line);
    if fits { names.zip(words).collect() } else { Vec::new() }
}

fn of_look(at: usize, columns: &[(&str, &str)]) -> Result<Cell, ImportTrouble> {
    let mut cell = cell("iostat", Params::default());
    for (name, text) in columns {
        let Some((ours, factor)) = of_column(name) else { continue };
        // Some languages have a decimal comma.
        let value = decimal(text).ok_or_else(|| {
            let what =
                format_args!("{name} is '{}', which is no number", short(text, 20)).to_string();
            ImportTrouble::at(at, what)
        })?;
        other(&mut cell, &ours, value * factor, 1);
    }
    let sum = |names: [&str; 2]| {
        let figures = names.iter().filter_map(|name| cell.metrics.other.get(*name));
        figures.map(|figure| figure.value).sum::<f64>()
    };
    let (iops, bps) = (sum(["read_iops", "write_iops"]), sum(["read_bps", "write_bps"]));
    rates(&mut cell, Some(iops), Some(bps), 1);
    Ok(cell)
}
