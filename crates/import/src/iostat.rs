//! iostat -x: what devices did while something else ran. Old columns (rsec/s, avgrq-sz, svctm) and
//! those of today; kB are 1024 bytes, sectors 512.

use record::units::{KIB, MIB};
use record::{Cell, Host, Params, TargetKind};

use super::imported_run::{
    ImportTrouble, ImportedRun, cell, estimate, label, note, other, room_for_another,
};
use super::reading::Reading;
use super::text::{ImportText, between, number, short, whole};
use super::{Hints, Importer, Sign};

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
                source
                    .lines
                    .windows(2)
                    .any(|pair| is_head(pair[0]) && !figures(pair[0], pair[1]).is_empty())
            },
        },
    ],
    read,
    chatter: |_| false,
};

const SECTOR: f64 = 512.0;
const KIBIBYTE: f64 = KIB as f64;
const MEBIBYTE: f64 = MIB as f64;
const MS: f64 = 1e6;

/// Columns: as iostat names them, as we do, and what to multiply by.
const COLUMNS: [(&str, &str, f64); 32] = [
    ("r/s", "read_iops", 1.0),
    ("w/s", "write_iops", 1.0),
    ("d/s", "discards_per_s", 1.0),
    ("f/s", "flushes_per_s", 1.0),
    ("rsec/s", "read_bps", SECTOR),
    ("wsec/s", "write_bps", SECTOR),
    ("rkB/s", "read_bps", KIBIBYTE),
    ("wkB/s", "write_bps", KIBIBYTE),
    ("dkB/s", "discard_bps", KIBIBYTE),
    ("rMB/s", "read_bps", MEBIBYTE),
    ("wMB/s", "write_bps", MEBIBYTE),
    ("dMB/s", "discard_bps", MEBIBYTE),
    ("rrqm/s", "read_merges_per_s", 1.0),
    ("wrqm/s", "write_merges_per_s", 1.0),
    ("drqm/s", "discard_merges_per_s", 1.0),
    ("%rrqm", "read_merges_percent", 1.0),
    ("%wrqm", "write_merges_percent", 1.0),
    ("%drqm", "discard_merges_percent", 1.0),
    ("await", "await_ns", MS),
    ("r_await", "read_await_ns", MS),
    ("w_await", "write_await_ns", MS),
    ("d_await", "discard_await_ns", MS),
    ("f_await", "flush_await_ns", MS),
    ("avgrq-sz", "request_bytes", SECTOR),
    ("areq-sz", "request_bytes", KIBIBYTE),
    ("rareq-sz", "read_request_bytes", KIBIBYTE),
    ("wareq-sz", "write_request_bytes", KIBIBYTE),
    ("dareq-sz", "discard_request_bytes", KIBIBYTE),
    ("avgqu-sz", "queue_length", 1.0),
    ("aqu-sz", "queue_length", 1.0),
    ("svctm", "service_ns", MS),
    ("%util", "busy_percent", 1.0),
];

fn is_head(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    ["r/s", "w/s", "%util"].iter().all(|name| words.contains(name))
}

/// Pairs of a column's name and its text, where the line has as many words as the head.
fn figures<'a>(head: &'a str, line: &'a str) -> Vec<(&'a str, &'a str)> {
    let (names, words): (Vec<&str>, Vec<&str>) =
        (head.split_whitespace().collect(), line.split_whitespace().collect());
    if names.len() == words.len() && !is_head(line) {
        names.into_iter().zip(words).collect()
    } else {
        Vec::new()
    }
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let banner =
        source.lines.iter().find(|line| line.starts_with("Linux ") && line.contains(" CPU)"));
    let host = banner.map(|line| host(line));
    let mut media: Vec<(String, ImportedRun)> = Vec::new();
    let mut head = None;
    for (at, line) in source.numbered() {
        if is_head(line) {
            head = Some(line);
            reading.take(at);
            continue;
        }
        let Some(columns) =
            head.map(|head| figures(head, line)).filter(|columns| !columns.is_empty())
        else {
            head = head.filter(|_| !line.trim().is_empty());
            continue;
        };
        let device = columns
            .first()
            .filter(|(name, _)| name.starts_with("Device"))
            .map_or("", |(_, device)| device);
        let Some(mut cell) = reading.accept(at, of_look(at, &columns)) else { continue };
        let place = match media.iter().position(|(known, _)| known == device) {
            Some(place) => place,
            None => {
                if reading.accept(at, room_for_another(&media)).is_none() {
                    continue;
                }
                media.push((device.to_owned(), found_of(device, host.clone())));
                media.len() - 1
            }
        };
        let found = &mut media[place].1;
        label(&mut cell, "look", &(found.cells.len() + 1).to_string());
        if found.cells.is_empty() && banner.is_some() {
            note(&mut cell, "the first look is the mean since the machine was started");
        }
        reading.add(found, at, cell);
    }
    media.into_iter().map(|(_, found)| found).collect()
}

fn found_of(device: &str, host: Option<Host>) -> ImportedRun {
    let mut found = ImportedRun { host, ..ImportedRun::by("iostat") };
    if device.is_empty() {
        found.target.kind = TargetKind::Block;
    } else {
        found.on(&format!("/dev/{device}"));
    }
    found
}

fn of_look(at: usize, columns: &[(&str, &str)]) -> Result<Cell, ImportTrouble> {
    let mut cell = cell("iostat", Params::default());
    for (name, text) in columns {
        let Some((_, ours, factor)) = COLUMNS.iter().find(|(known, ..)| known == name) else {
            continue;
        };
        // Some languages have a decimal comma.
        let value = number(&text.replace(',', ".")).ok_or_else(|| {
            ImportTrouble::at(
                at,
                format_args!("{name} is '{}', which is no number", short(text, 20)),
            )
        })?;
        other(&mut cell, ours, value * factor, 1);
    }
    let sum = |names: [&str; 2]| {
        names
            .iter()
            .filter_map(|name| cell.metrics.other.get(*name))
            .map(|figure| figure.value)
            .sum::<f64>()
    };
    let (iops, bps) = (sum(["read_iops", "write_iops"]), sum(["read_bps", "write_bps"]));
    cell.metrics.iops = Some(estimate(iops, 1));
    cell.metrics.bps = Some(estimate(bps, 1));
    Ok(cell)
}

/// "Linux 6.1.0 (name) 11/20/26 _x86_64_ (2 CPU)", with tabs between. The name of the machine is
/// left out.
fn host(banner: &str) -> Host {
    let kernel = banner.split_whitespace().nth(1).map(|kernel| short(kernel, 60));
    let cpus = banner
        .rsplit_once('(')
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .and_then(whole);
    let arch = between(banner, "\t_", "_\t")
        .or_else(|| between(banner, " _", "_ "))
        .map(|arch| short(arch, 20));
    Host { kernel, arch, cpus: cpus.and_then(|n| u32::try_from(n).ok()), ..Host::default() }
}
