//! `flashmark import`: what other tools printed, as runs of the store.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use record::units::Bytes;
use record::{MediumKind, Record};
use report::words::clean;
use store::Store;
use store::import::{Batch, Hints, IozoneUnit, MOST_BYTES, read_with};

use crate::cli::ImportFlags;
use crate::exit::{Exit, OrExit, Result, usage};
use crate::outputs::print;

/// What the user knows of the medium, and the text does not say.
struct Known {
    label: Option<String>,
    vendor: Option<String>,
    model: Option<String>,
    capacity_bytes: Option<u64>,
    kind: Option<MediumKind>,
}

/// Keeps what other tools printed as runs; exit code 2 if a file was not understood, though the
/// others are kept.
pub fn run(flags: &ImportFlags) -> Result {
    let known = known(flags)?;
    let hints = Hints {
        iozone_unit: flags
            .iozone_unit
            .as_deref()
            .map(|unit| if unit == "ops" { IozoneUnit::Operations } else { IozoneUnit::Kilobytes }),
    };
    let store = Store::open(Store::default_root());
    let mut batch = if flags.plan { None } else { Some(Batch::new(&store).or_internal()?) };
    let (mut lines, mut exit) = (String::new(), Exit::Done);
    for file in &flags.files {
        let understood = bytes_of(file).and_then(|bytes| {
            Ok((
                read_with(&called(file), &bytes, &hints).map_err(|error| error.to_string())?,
                bytes,
            ))
        });
        let (records, bytes) = match understood {
            Ok(found) => found,
            Err(what) => {
                crate::say!("flashmark: {}: {}", clean(&called(file)), clean(&what));
                exit = Exit::Usage;
                continue;
            }
        };
        for mut record in records {
            tell(&mut record, &known);
            record.findings = findings::conclude(&record);
            let kept = match &mut batch {
                Some(batch) => {
                    let kept = batch.add(&record, &bytes).or_internal()?;
                    if kept.is_new {
                        kept.name
                    } else {
                        format!("{} (was there already)", kept.name)
                    }
                }
                None => format!("would be {}", record.run.id),
            };
            lines += &format!(
                "{}: {} -> {}\n",
                clean(&called(file)),
                understood_as(&record),
                clean(&kept)
            );
        }
    }
    if let Some(batch) = batch {
        batch.finish().or_internal()?;
    }
    print(&lines)?;
    Ok(exit)
}

fn known(flags: &ImportFlags) -> Result<Known> {
    let capacity_bytes = match &flags.capacity {
        Some(text) => Some(text.parse::<Bytes>().or_usage()?.0),
        None => None,
    };
    let kind = match &flags.kind {
        Some(name) => match MediumKind::named(name) {
            Some(kind) => Some(kind),
            None => {
                let names = MediumKind::ALL.map(MediumKind::name).join(", ");
                return usage(format_args!("'{name}' is no kind of medium; write one of {names}"));
            }
        },
        None => None,
    };
    Ok(Known {
        label: flags.label.clone(),
        vendor: flags.vendor.clone(),
        model: flags.model.clone(),
        capacity_bytes,
        kind,
    })
}

fn tell(record: &mut Record, known: &Known) {
    let medium = &mut record.medium;
    medium.kind = known.kind.unwrap_or(medium.kind);
    medium.capacity_bytes = known.capacity_bytes.or(medium.capacity_bytes);
    let given =
        |text: &Option<String>, own: &mut Option<String>| *own = text.clone().or(own.take());
    given(&known.vendor, &mut medium.vendor);
    given(&known.model, &mut medium.model);
    given(&known.label, &mut record.run.label);
}

/// The name of a file for people; standard input is "-".
fn called(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// At most one byte more than can be imported.
fn bytes_of(file: &Path) -> std::result::Result<Vec<u8>, String> {
    let most = MOST_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    let read = if file.as_os_str() == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else if file.is_dir() {
        return Err("it is a directory; name the files in it".to_owned());
    } else {
        File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.map(|_| bytes).map_err(|error| format!("it cannot be read: {error}"))
}

/// "fio 3.33, 2 results (fio:randrw)".
fn understood_as(record: &Record) -> String {
    let mut tests: BTreeMap<&str, u32> = BTreeMap::new();
    for cell in &record.cells {
        *tests.entry(&cell.test).or_insert(0) += 1;
    }
    let shown: Vec<String> = tests
        .iter()
        .take(4)
        .map(|(test, n)| if *n > 1 { format!("{test} x{n}") } else { (*test).to_owned() })
        .collect();
    let more = if tests.len() > 4 { ", .." } else { "" };
    let count = record.cells.len();
    let software = &record.run.software;
    let tool = format!("{} {}", software.name, software.version);
    let medium = record
        .medium
        .model
        .as_deref()
        .or(record.target.device.as_deref())
        .map(|name| format!(" of {name}"))
        .unwrap_or_default();
    let results = if count == 1 { "1 result" } else { &format!("{count} results") };
    clean(&format!("{}{medium}, {results} ({}{more})", tool.trim(), shown.join(", ")))
}
