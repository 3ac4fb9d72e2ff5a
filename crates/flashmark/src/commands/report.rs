//! `flashmark report`: the page of one run or several.

use std::path::Path;

use record::text::printable;

use crate::cli::ReportFlags;
use program::exit::{Exit, Result, usage};
use session::kept::{find, load_from};
use session::outputs::{PAGE_FILE, write_page};

/// Writes the page of each run and prints where it is; exit code 0.
pub fn run(flags: &ReportFlags) -> Result {
    if let Some(article) = &flags.article {
        return super::articles::show(article, &flags.runs, flags.html.as_deref());
    }
    let latest = ["latest".to_owned()];
    let runs = if flags.runs.is_empty() { &latest[..] } else { &flags.runs };
    if let Some(svg) = &flags.svg {
        let [name] = runs else { return usage("--svg: a picture shows one run; name one") };
        write_page(svg, &pages::card(&load_from(&find(name)?)?))?;
        return Ok(Exit::Done);
    }
    let many = runs.len() > 1;
    if let Some(html) = flags.html.as_ref().filter(|html| many && !html.is_dir()) {
        return usage(format_args!(
            "{}: several runs make several pages; name a directory that exists",
            html.display()
        ));
    }
    for name in runs {
        let dir = find(name)?;
        let record = load_from(&dir)?;
        let path = match &flags.html {
            Some(html) if many => html.join(format!("{}.html", file_name(&record.run.id))),
            Some(html) => html.clone(),
            None if Path::new(name).is_file() => {
                return usage(format_args!(
                    "'{}' is a record without a run around it; name a file for its page with --html",
                    printable(name)
                ));
            }
            None => dir.path().join(PAGE_FILE),
        };
        write_page(&path, &pages::page(&record))?;
    }
    Ok(Exit::Done)
}

/// An id as a file name: a record from elsewhere may call itself anything.
pub fn file_name(id: &str) -> String {
    id.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' })
        .collect::<String>()
        .trim_start_matches('.')
        .to_owned()
}
