//! `flashmark report`: the page of one run or several.

use std::path::Path;

use store::atomic_write;

use crate::cli::ReportFlags;
use crate::commands::show::load;
use crate::exit::{Exit, OrExit, Result, usage};
use crate::outputs::print_document;

/// Writes the page of each run and prints where it is; exit code 0.
pub fn run(flags: &ReportFlags) -> Result {
    let many = flags.runs.len() > 1;
    if many && !flags.html.is_dir() {
        return usage(format_args!(
            "{}: several runs make several pages; name a directory that exists",
            flags.html.display()
        ));
    }
    for name in &flags.runs {
        let record = load(name)?;
        let path = if many {
            flags.html.join(format!("{}.html", file_name(&record.run.id)))
        } else {
            flags.html.clone()
        };
        write(&path, &report::html::page(&record))?;
    }
    Ok(Exit::Done)
}

/// An id as a file name: a record from elsewhere may call itself anything.
fn file_name(id: &str) -> String {
    id.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
        .collect::<String>()
        .trim_start_matches('.')
        .to_owned()
}

fn write(path: &Path, page: &str) -> Result<()> {
    atomic_write(path, page.as_bytes()).or_internal()?;
    print_document(&format!("{}\n", path.display()))
}
