//! `flashmark submit`: a run for a collection that others can read. Nothing leaves this machine
//! that the user was not shown, or could not have been shown.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, Write};

use record::text::printable;
use record::units::{Bytes, Nanos};
use record::{Cell, Published};
use report::words;

use crate::cli::SubmitFlags;
use crate::repository::{MAX_PACKED, PackedRecord, packed};
use program::exit::{Exit, OrExit, Result, refuse, usage};
use program::printing::print_document;
use session::kept::load;

mod document;
mod to_repository;
mod to_slot;

use document::SubmissionDocument;

/// Adds a run to a collection; prints first what would be written, and asks.
pub fn run(flags: &SubmitFlags) -> Result {
    let name = flags.run.as_deref().unwrap_or("latest");
    let record = load(name)?;
    if let Some(why) = record::not_medium_reason(&record.flags, &record.cells) {
        return usage(format_args!(
            "{} {why}; it tells nothing of a medium, and is not sent. Measure a directory or a device of the medium itself",
            printable(name)
        ));
    }
    let document = SubmissionDocument::of(&record)?;
    if let Err(rejection) = collection::check(&document.run) {
        return usage(format_args!(
            "{} would be refused by every collection, and is not sent: {}",
            printable(name),
            printable(&rejection.to_string())
        ));
    }
    if flags.show {
        print_document(&document.json)?;
        return Ok(Exit::Done);
    }
    let Some(address) = &flags.to else {
        return usage(
            "name a collection with --to OWNER/REPO, a directory or an address, or FLASHMARK_COLLECTION; --show prints what would be sent",
        );
    };
    let agreed = |to: &str, record: Option<&PackedRecord>| {
        let what = format!("This would be sent to {}, for everyone to read:", printable(to));
        program::say_text!("{}", announced(&document, record, &what));
        agreed("Send it?", flags.yes)
    };
    if to_slot::is_slot(address) {
        agreed(address, None)?;
        to_slot::send(address, &document)?;
    } else if let Some(place) = to_repository::Place::of(address) {
        let target = to_repository::RepositoryTarget::of(place, flags)?;
        let record = packed(&document.run).or_usage()?;
        agreed(&target.name(), Some(&record))?;
        target.add(&record)?;
    } else {
        return usage(format_args!(
            "'{}' is no collection: name its directory, OWNER/REPO, or an address",
            printable(address)
        ));
    }
    Ok(Exit::Done)
}

/// Summary of what would be sent: of the document, or of the record of it that a repository gets;
/// `what` names the receiver.
fn announced(document: &SubmissionDocument, record: Option<&PackedRecord>, what: &str) -> String {
    let run = record.map_or(&document.run, |record| &record.run);
    let mut lines = vec![
        ("Medium", medium(run)),
        ("Label", run.label.clone().unwrap_or_default()),
        ("Measured", measured(run)),
    ];
    lines.push(("Host", host(run)));
    lines.push(("Results", results(run)));
    let left_out = record.map_or(&[][..], |record| &record.left_out);
    if !left_out.is_empty() {
        let (most_kb, cells) = (MAX_PACKED / 1000, words::count(left_out.len(), "cell"));
        lines.push(("Left out", format!("to fit {most_kb} kB: {cells}: {}", by_test(left_out))));
    }
    let packed_bytes = record.map_or(document.packed_bytes, |record| record.bytes.len() as u64);
    lines.push(("Size", format!("{} packed", Bytes(packed_bytes))));
    lines.push((
        "Not sent",
        "serial number and registers of the medium, paths, and names of this machine and its users"
            .to_owned(),
    ));
    if document.blanked > 0 {
        lines.push((
            "Blanked",
            format!("what told one of these, in {} of the texts", document.blanked),
        ));
    }
    let lines = lines
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!("  {name:<9} {}\n", printable(&text)));
    format!(
        "{what}\n{}`flashmark submit RUN --show` prints all of it: {} lines of JSON.\n",
        lines.collect::<String>(),
        document.json.lines().count(),
    )
}

fn medium(run: &Published) -> String {
    let mut words = vec![run.name(), format!("({})", run.kind.words())];
    words.extend(run.capacity_bytes.map(|bytes| Bytes(bytes).to_string()));
    words.extend(run.interface_words());
    words.extend(run.firmware.as_ref().map(|firmware| format!("firmware {firmware}")));
    words.join(" ")
}

fn measured(run: &Published) -> String {
    let mut words = vec![
        format!("by {} {}", run.software.name, run.software.version).trim_end().to_owned(),
        format!("suite {}", run.suite),
    ];
    words.extend(run.started.clone());
    words.push(format!("took {}", Nanos(run.elapsed_ns)));
    words.join(", ")
}

fn host(run: &Published) -> String {
    let mut words: Vec<String> =
        [&run.board, &run.cpu, &run.arch].into_iter().flatten().cloned().collect();
    words.extend(run.kernel.as_ref().map(|kernel| format!("kernel {kernel}")));
    words.extend(run.filesystem.clone());
    words.join(", ")
}

fn results(run: &Published) -> String {
    let (cells, tests) = (words::count(run.cells.len(), "cell"), by_test(&run.cells));
    format!("{cells} with latencies and curves: {tests}; {} not measured", run.skipped.len())
}

/// "2 of random-read, 1 of sequential-write".
fn by_test(cells: &[Cell]) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    cells.iter().for_each(|cell| *numbers.entry(&cell.test).or_default() += 1);
    let parts: Vec<String> = numbers.iter().map(|(test, n)| format!("{n} of {test}")).collect();
    parts.join(", ")
}

/// Asks for consent, if someone is there to answer.
fn agreed(question: &str, yes: bool) -> Result<()> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return refuse(
            "nothing was sent: without a terminal nobody can confirm; add --yes to send without a question",
        );
    }
    program::say_text!("{question} [y/N] ");
    std::io::stderr().flush().or_internal()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).or_internal()?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        refuse("nothing was sent")
    }
}
