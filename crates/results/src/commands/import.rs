//! `flashmark import`: output of other tools, kept as runs of the store.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use ::import::{Import, IozoneUnit, MAX_BYTES, state, understand};
use record::text::printable;
use record::units::Bytes;
use record::{Medium, MediumKind, Record};
use store::{Batch, KeptHow, Store, stored_record};

use crate::cli::ImportFlags;
use program::exit::{Exit, OrExit, Result, usage};
use program::printing::print;

/// Keeps the output of other tools as runs. Exit code 1 if a part of a file or one of several files
/// was not understood; 2 if nothing was. What was understood is kept in any case.
pub fn run(flags: &ImportFlags) -> Result {
    let known = known(flags)?;
    let unit = flags.iozone_unit.as_deref();
    let unit =
        unit.map(|it| if it == "ops" { IozoneUnit::Operations } else { IozoneUnit::Kilobytes });
    let store = Store::open(Store::default_root());
    let mut batch = if flags.plan { None } else { Some(Batch::new(&store).or_internal()?) };
    let (mut lines, mut outcome) = (String::new(), Outcome::default());
    for file in &flags.files {
        let name = printable(&called(file));
        let understood = bytes_of(file).and_then(|bytes| {
            let found = understand(&called(file), &bytes, unit);
            Ok((found.map_err(|error| error.to_string())?, bytes))
        });
        let (found, bytes) = match understood {
            Ok(found) => found,
            Err(what) => {
                program::say!("flashmark: {name}: {}", printable(&what));
                outcome.has_nothing_of_one = true;
                continue;
            }
        };
        outcome.has_something = true;
        outcome.has_left |= found.left_count > 0;
        for mut record in found.records.iter().cloned() {
            let stored = stored_record(&store, &record.run.id);
            if let Some(stored) = &stored {
                state(&mut record, stored.run.label.as_deref(), &stored.medium);
            }
            state(&mut record, flags.label.as_deref(), &known);
            // A plan shows none of them; they take longer than to read the text.
            if batch.is_some() || stored.is_some() {
                record.findings = findings::conclude(&record);
            }
            let kept = keep(batch.as_mut(), stored.as_ref(), &record, &bytes)?;
            lines += &format!("{name}: {} -> {}\n", understood_as(&record), printable(&kept));
        }
        list_left(&name, &found);
    }
    if let Some(batch) = batch {
        batch.finish().or_internal()?;
    }
    print(&lines)?;
    Ok(outcome.exit())
}

/// Outcome of all files together.
#[derive(Default)]
struct Outcome {
    has_something: bool,
    has_left: bool,
    has_nothing_of_one: bool,
}

impl Outcome {
    fn exit(&self) -> Exit {
        match self {
            Outcome { has_something: false, .. } => Exit::Usage,
            Outcome { has_left: false, has_nothing_of_one: false, .. } => Exit::Done,
            _ => Exit::MediumFailed,
        }
    }
}

/// Keeps a record; returns the name under which it is kept, and says if it was there already.
fn keep(
    batch: Option<&mut Batch>,
    stored: Option<&Record>,
    record: &Record,
    bytes: &[u8],
) -> Result<String> {
    let id = &record.run.id;
    let Some(batch) = batch else {
        return Ok(match stored {
            None => format!("would be {id}"),
            Some(stored) if stored.to_json() == record.to_json() => {
                format!("{id} (was there already)")
            }
            Some(_) => format!("would correct {id}"),
        });
    };
    let kept = batch.add(record, bytes).or_internal()?;
    let how = match kept.how {
        KeptHow::New => "",
        KeptHow::AlreadyThere => " (was there already)",
        KeptHow::Corrected => &corrected(stored, record),
    };
    Ok(format!("{}{how}", kept.name))
}

/// " (corrected); vendor: SanDisk, was Kingston".
fn corrected(stored: Option<&Record>, record: &Record) -> String {
    let facts = |record: &Record| {
        let medium = &record.medium;
        [
            ("vendor", medium.vendor.clone()),
            ("model", medium.model.clone()),
            ("capacity", medium.capacity_bytes.map(|bytes| Bytes(bytes).to_string())),
            ("kind", Some(medium.kind.name().to_owned())),
            ("label", record.run.label.clone()),
        ]
    };
    let Some(stored) = stored else { return " (corrected)".to_owned() };
    let differences = facts(stored).into_iter().zip(facts(record));
    let differences = differences.filter_map(|((name, was), (_, is))| {
        let is = is.filter(|is| was.as_ref() != Some(is))?;
        let was = was.map(|was| format!(", was {was}")).unwrap_or_default();
        Some(format!("; {name}: {is}{was}"))
    });
    format!(" (corrected){}", differences.collect::<String>())
}

/// Lists the lines that look like figures and were not taken.
fn list_left(name: &str, found: &Import) {
    for left in &found.left {
        let why = left.why.as_ref().map(|why| format!(" ({})", printable(why))).unwrap_or_default();
        program::say!(
            "flashmark: {name}, line {}: not understood: {}{why}",
            left.line,
            printable(&left.text)
        );
    }
    let more = found.left_count.saturating_sub(found.left.len());
    if more > 0 {
        program::say!("flashmark: {name}: {more} more lines were not understood");
    }
}

fn known(flags: &ImportFlags) -> Result<Medium> {
    let capacity = flags.capacity.as_deref().map(str::parse::<Bytes>).transpose().or_usage()?;
    let kind = match flags.kind.as_deref().map(|name| MediumKind::named(name).ok_or(name)) {
        Some(Err(name)) => {
            let names = MediumKind::ALL.map(MediumKind::name).join(", ");
            return usage(format_args!("'{name}' is no kind of medium; write one of {names}"));
        }
        known => known.and_then(std::result::Result::ok),
    };
    Ok(Medium {
        vendor: flags.vendor.clone(),
        model: flags.model.clone(),
        capacity_bytes: capacity.map(|bytes| bytes.0),
        kind: kind.unwrap_or_default(),
        ..Medium::default()
    })
}

/// The name of a file for people; standard input is "-".
fn called(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// Bytes of a file, at most one more than can be imported.
fn bytes_of(file: &Path) -> std::result::Result<Vec<u8>, String> {
    let most = MAX_BYTES as u64 + 1;
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
    let results = match count {
        0 => return printable(&format!("{}{medium}, no result, its health", tool.trim())),
        1 => "1 result",
        _ => &format!("{count} results"),
    };
    printable(&format!("{}{medium}, {results} ({}{more})", tool.trim(), shown.join(", ")))
}
