//! Published figures as entries of a collection: one for each medium of a source on each host.

use std::collections::BTreeMap;

use collection::Upload;
use record::collection::{CollectionRun, Origin, SubmissionStatus};
use record::{
    Cell, Claims, Ended, Flag, Host, Medium, MediumKind, Published, Record, Run, Software, Target,
    TargetKind,
};

use super::cells::{cell, flags_of, tool};
use super::{FigureKind, ReferenceRow, rows};

/// Table and fields that identify one medium in one source on one host.
type Group = (&'static str, [String; 8]);

fn group(row: &ReferenceRow) -> Group {
    let of = [
        &row.source_url,
        &row.device_brand,
        &row.device_model,
        &row.device_type,
        &row.device_interface,
        &row.host_board,
        &row.host_adaptor,
        &row.claimed_class,
    ];
    let mut of = of.map(String::clone);
    // A model may have several capacities.
    of[2] +=
        &row.device_capacity_gb.as_ref().map_or(String::new(), |gb| format!(" {} GB", gb.text));
    (row.table, of)
}

/// Reference collection as entries, in the order of the tables. Every measured figure is a cell of
/// one of them, and their headlines are drawn from the cells as for any other run.
///
/// # Panics
/// If a table holds an impossible value: a test ensures that none does.
pub fn entries() -> Vec<CollectionRun> {
    let mut order: Vec<Group> = Vec::new();
    let mut groups: BTreeMap<Group, Vec<&'static ReferenceRow>> = BTreeMap::new();
    for row in rows()
        .iter()
        .filter(|row| matches!(row.kind, FigureKind::Measured | FigureKind::MeasuredApprox))
    {
        let group = group(row);
        if !groups.contains_key(&group) {
            order.push(group.clone());
        }
        groups.entry(group).or_default().push(row);
    }
    order.iter().filter_map(|group| entry(&groups[group])).collect()
}

fn entry(rows: &[&'static ReferenceRow]) -> Option<CollectionRun> {
    let first = rows.first()?;
    let id = format!("reference-{}", first.row_id);
    let record = record(&id, first, numbered(rows.iter().filter_map(|row| cell(row)).collect()));
    let mut run = Published::from(&record);
    run.flags = record.flags;
    let Upload { run, headline, .. } =
        collection::judge(run).expect("a test judges every published figure");
    Some(CollectionRun {
        id,
        local_name: None,
        received: received(&first.source_date),
        origin: Origin::Reference,
        status: SubmissionStatus::Accepted,
        revision: 1,
        model: collection::model_of(&run),
        headline: collection::reference_headline(&run, headline),
        run,
    })
}

/// Gives cells names as in runs of ours.
fn numbered(mut cells: Vec<Cell>) -> Vec<Cell> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for cell in &mut cells {
        let count = seen.entry(cell.test.clone()).or_insert(0);
        *count += 1;
        cell.id = format!("{}/{count}", cell.test);
    }
    cells
}

fn record(id: &str, row: &ReferenceRow, cells: Vec<Cell>) -> Record {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let dated = if row.source_date.starts_with("not stated") {
        "without a date".to_owned()
    } else {
        row.source_date.clone()
    };
    let mut flags =
        vec![Flag::Note { text: format!("published by others, {dated}: {}", row.source_url) }];
    flags.extend(flags_of(&cells));
    let host = Host {
        kernel: text(&row.host_kernel),
        board: text(&row.host_board),
        cpu: text(&row.host_cpu),
        ..Host::default()
    };
    let run = Run {
        id: id.to_owned(),
        started: Some(received(&row.source_date)).filter(|_| day(&row.source_date).is_some()),
        suite: "published".to_owned(),
        label: unnamed(row),
        software: Software { name: tool(row).to_owned(), ..Software::default() },
        ended: Ended::Complete,
        ..Run::default()
    };
    Record {
        medium: medium(row),
        host: (host != Host::default()).then_some(host),
        target: Target { kind: TargetKind::Block, ..Target::default() },
        cells,
        flags,
        ..Record::new(run)
    }
}

/// Name for a medium that the source does not identify.
fn unnamed(row: &ReferenceRow) -> Option<String> {
    let is_unknown = row.device_model.is_empty() || row.device_model.starts_with("not ");
    let kind = if row.device_type.is_empty() { "medium" } else { &row.device_type };
    (is_unknown && row.device_brand.is_empty()).then(|| format!("unnamed {kind}"))
}

fn medium(row: &ReferenceRow) -> Medium {
    let text =
        |text: &str| (!text.is_empty() && !text.starts_with("not ")).then(|| text.to_owned());
    let capacity = row.device_capacity_gb.as_ref().map(|gb| (gb.number * 1e9) as u64);
    let interface =
        [&row.device_interface, &row.host_adaptor].into_iter().find(|text| !text.is_empty());
    Medium {
        kind: kind(&row.device_type),
        vendor: text(&row.device_brand),
        model: text(&row.device_model),
        interface: interface.map(|text| text.to_lowercase()),
        rotational: Some(row.device_type.starts_with("HDD"))
            .filter(|_| !row.device_type.is_empty()),
        claims: Some(Claims { capacity_bytes: capacity, ..claims(row) }),
        ..Medium::default()
    }
}

fn kind(device_type: &str) -> MediumKind {
    let begins = [
        ("CF", MediumKind::CompactFlash),
        ("SSD", MediumKind::Ssd),
        ("SD", MediumKind::Sd),
        ("microSD", MediumKind::Sd),
        ("USB", MediumKind::Usb),
        ("HDD", MediumKind::Disk),
    ];
    begins
        .into_iter()
        .find(|(words, _)| device_type.starts_with(words))
        .map_or(MediumKind::Unknown, |(_, kind)| kind)
}

/// Claims on the label: "Class 10, U1", "UHS-I U3 V30", "A1", "190 MB/s read, 55 MB/s write".
fn claims(row: &ReferenceRow) -> Claims {
    let words: Vec<&str> =
        row.claimed_class.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let class =
        words.windows(2).find(|pair| pair[0] == "Class").and_then(|pair| pair[1].parse().ok());
    let letter =
        |letter: char| words.iter().find_map(|word| word.strip_prefix(letter)?.parse::<u32>().ok());
    let rate = |which: &str| {
        let part = row.claimed_speed.split(',').find(|part| part.contains(which))?;
        let digits: String =
            part.trim().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        digits.parse::<f64>().ok().map(|mb| mb * 1e6)
    };
    Claims {
        speed_class: class.or_else(|| letter('C')),
        uhs_grade: letter('U'),
        video_class: letter('V'),
        app_class: letter('A'),
        read_bps: rate("read"),
        write_bps: rate("write"),
        ..Claims::default()
    }
}

/// Day of "2012-01-25", "2019-03", "2016"; `None` if the source has no date.
fn day(date: &str) -> Option<String> {
    let parts: Vec<&str> = date.split('-').collect();
    let numeric =
        parts.iter().all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()));
    match parts[..] {
        [year] if numeric && year.len() == 4 => Some(format!("{year}-01-01")),
        [year, month] if numeric && year.len() == 4 => Some(format!("{year}-{month}-01")),
        [year, _, _] if numeric && year.len() == 4 => Some(date.to_owned()),
        _ => None,
    }
}

/// Date of these tables, for sources without a date.
const COMPILED: &str = "2026-11-20";

fn received(date: &str) -> String {
    format!("{}T00:00:00Z", day(date).unwrap_or_else(|| COMPILED.to_owned()))
}
