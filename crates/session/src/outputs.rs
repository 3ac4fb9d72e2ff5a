//! Outputs of a run: the terminal, the run's directory, and the files that the user named.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use program::printing::{print, print_document, print_whole};
use record::{Record, Summary};
use report::articles;
use report::display::unbroken;
use report::reference::figures_of;
use report::text::{DetailsLocation, fold};
use store::{RunDir, atomic_write};

use crate::hand_over;
use crate::progress_events;
use program::exit::{Exit, Failure, OrExit, Result, usage};
use program::messages;
use program::terminal::{OutputStream, letters};

/// Name of the page in a run's directory.
pub const PAGE_FILE: &str = "report.html";

/// Outputs of a run beside the store, as typed.
#[derive(Clone, Debug, Default, Args)]
pub struct Outputs {
    /// Write the record to this file as well; - for standard output.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Write the page to this file as well; the run keeps a copy in any case.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print all results at the end, not only one screen of them.
    #[arg(long, conflicts_with = "quiet")]
    pub details: bool,
    /// Print only errors: neither progress nor summary.
    #[arg(long, short)]
    pub quiet: bool,
    /// Form of the progress on standard error: a bar on a terminal and lines elsewhere; JSON, one
    /// event per line (docs/progress.md; also with --quiet); or none.
    #[arg(hide_short_help = true, long, value_enum, value_name = "FORM", default_value_t)]
    pub progress: ProgressForm,
    /// Text that is printed at the end.
    #[arg(skip)]
    pub end_screen: EndScreen,
}

/// File of a run beside its record and its page.
#[derive(Clone, Debug)]
pub struct ResultFile {
    /// Name of its line at the end of a screen, for example `Workbook`.
    pub label: &'static str,
    /// Name in the run's directory.
    pub name: &'static str,
    /// Content.
    pub bytes: Vec<u8>,
    /// Place of a copy.
    pub also: Option<PathBuf>,
}

impl ResultFile {
    fn keep(&self, dir: &RunDir) -> Result<()> {
        keepable(dir.write_file(self.name, &self.bytes), dir)
    }

    fn copy(&self) -> Result<()> {
        self.also.iter().try_for_each(|path| atomic_write(path, &self.bytes).or_internal())
    }
}

/// Form of a run's progress, on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressForm {
    /// A bar on a terminal, lines elsewhere.
    #[default]
    Auto,
    /// Events, one JSON object per line.
    Json,
    /// Nothing.
    None,
}

impl ProgressForm {
    /// True if nothing is written, with `--quiet` (`quiet`) or without it.
    pub fn is_silent(self, quiet: bool) -> bool {
        self == ProgressForm::None || quiet && self == ProgressForm::Auto
    }
}

/// Text that a run prints when it ends.
#[derive(Clone, Debug, Default)]
pub enum EndScreen {
    /// The summary.
    #[default]
    Summary,
    /// Three answers and four figures, as `check` prints them.
    Check,
    /// The same as one line of JSON.
    CheckLine,
}

impl Outputs {
    /// Checks that the files can be written, before anything is measured.
    pub fn check(&self) -> Result<()> {
        check(self.json.iter().chain(&self.html))
    }

    /// True if no progress is shown.
    pub fn is_silent(&self) -> bool {
        self.progress.is_silent(self.quiet)
    }

    /// True if anything is printed at the end for a person to read.
    pub fn shows_a_screen(&self) -> bool {
        !self.quiet || !matches!(self.end_screen, EndScreen::Summary)
    }
}

/// Checks that the files can be written; "-" is standard output.
pub fn check<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Result<()> {
    for path in paths.filter(|path| path.as_os_str() != "-") {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return usage(format_args!(
                "{}: there is no directory {}; make it first",
                path.display(),
                folder.display()
            ));
        }
        if path.is_dir() {
            return usage(format_args!(
                "{}: this is a directory; name a file in it",
                path.display()
            ));
        }
    }
    Ok(())
}

/// Delivers a record: summary on the terminal, page, record file, and `others` of the run.
pub fn deliver(
    record: &Record,
    dir: &RunDir,
    exit: Exit,
    outputs: &Outputs,
    others: Vec<ResultFile>,
) -> Result<()> {
    let page = ResultFile {
        label: "Page",
        name: PAGE_FILE,
        bytes: pages::page(record).into_bytes(),
        also: outputs.html.clone(),
    };
    let written = || std::iter::once(&page).chain(&others);
    written().try_for_each(|file| file.keep(dir))?;
    hand_over::to_invoker(dir, outputs.quiet);
    written().try_for_each(ResultFile::copy)?;
    let to_stdout = outputs.json.as_ref().is_some_and(|path| path.as_os_str() == "-");
    match &outputs.json {
        Some(_) if to_stdout => print_record(record, dir)?,
        Some(path) => atomic_write(path, record.to_json().as_bytes()).or_internal()?,
        None => {}
    }
    progress_events::concluded(record, dir);
    match outputs.end_screen {
        EndScreen::Summary => {}
        EndScreen::Check => return print(&check_screen(record, dir)),
        EndScreen::CheckLine => return print_document(&check_line(record, dir, exit, None)),
    }
    if outputs.quiet || to_stdout && messages::are_json() {
        return Ok(());
    }
    let mut files = files(dir);
    let place = |name: &str| dir.path().join(name).display().to_string();
    files.extend(others.iter().map(|file| (file.label, place(file.name))));
    let stream = if to_stdout { OutputStream::Error } else { OutputStream::Output };
    let of_article = of_article(record, dir, stream.width());
    match of_article.is_empty() || outputs.details {
        true => show(record, dir.name(), &files, outputs.details, stream)?,
        false => print_on(stream, &check_screen(record, dir))?,
    }
    print_on(stream, &of_article)
}

/// The table of the article whose tests were run, with this run; else empty.
fn of_article(record: &Record, dir: &RunDir, width: usize) -> String {
    let Some(article) = articles::of_suite(&record.run.suite) else { return String::new() };
    let runs = [(articles::run_name(record), record.cells.as_slice())];
    let table = articles::own_table(&figures_of(article), &runs, width);
    if table.is_empty() {
        return table;
    }
    let again = format!("flashmark report --article {} {}", article.number, dir.name());
    let all = fold(&format!("All its figures: {}\n", unbroken(&again)), width, false);
    letters(&format!("\n{table}{all}"))
}

/// The eight lines of a check.
pub fn check_screen(record: &Record, dir: &RunDir) -> String {
    let (width, colour) = (OutputStream::Output.width(), OutputStream::Output.has_colour());
    let rest = DetailsLocation { run: dir.name(), files: &[] };
    report::text::check(record, width, colour, &rest)
}

/// Summary of a check as one line of JSON, at the same path as in a record, with the name of the
/// run. `cached` is the time of the measurement, if it was not made now.
pub fn check_line(record: &Record, dir: &RunDir, exit: Exit, cached: Option<&str>) -> String {
    let line = serde_json::json!({
        "run": dir.name(),
        "cached": cached.is_some(),
        "measured": record.run.finished,
        "exit": exit as u8,
        "summary": record.summary.as_ref().map(Summary::json),
    });
    format!("{line}\n")
}

/// Files that every run has, for the end of a screen.
pub fn files(dir: &RunDir) -> Vec<(&'static str, String)> {
    let page = dir.path().join(PAGE_FILE);
    [("Record", dir.record_path()), ("Page", page.as_path())]
        .into_iter()
        .map(|(what, path)| (what, path.display().to_string()))
        .collect()
}

/// Prints the results of a run: one screen, or all of them; `run` is its name for `show`, and
/// `files` are the files that it left.
pub fn show(
    record: &Record,
    run: &str,
    files: &[(&'static str, String)],
    details: bool,
    stream: OutputStream,
) -> Result<()> {
    let (width, colour) = (stream.width(), stream.has_colour());
    let text = if details {
        let mut text = report::text::details(record, run, width, colour);
        let lines = files.iter().map(|(what, path)| format!("{what:<8}  {}\n", unbroken(path)));
        if !files.is_empty() {
            text += &format!("\n{}", lines.collect::<String>());
        }
        text
    } else {
        let rest = DetailsLocation { run, files };
        report::text::one_screen(record, width, colour, &rest)
    };
    print_on(stream, &text)
}

fn print_on(stream: OutputStream, text: &str) -> Result<()> {
    match stream {
        OutputStream::Output => print(text),
        OutputStream::Error => {
            program::say_text!("{}", stream.fitted(text));
            Ok(())
        }
    }
}

/// Writes a page and prints where it is.
pub fn write_page(path: &Path, page: &str) -> Result<()> {
    atomic_write(path, page.as_bytes()).or_internal()?;
    print_document(&format!("{}\n", path.display()))
}

/// Prints the record of a run to standard output. A record that is not written completely is an
/// error, also if the reader has gone away.
pub fn print_record(record: &Record, dir: &RunDir) -> Result<()> {
    let write_failure = |error: std::io::Error| {
        let name = dir.name();
        anyhow::anyhow!(
            "the record could not be written to standard output ({error}); it is kept, print it with: flashmark show {name} --json"
        )
    };
    print_whole(&record.to_json()).map_err(write_failure).or_internal()
}

/// Failure if the results of a run cannot be kept: it says how to go on, as the run is not lost.
pub fn keepable<T>(
    done: std::result::Result<T, impl Into<anyhow::Error>>,
    dir: &RunDir,
) -> Result<T> {
    let way_on = |error: anyhow::Error| {
        let folder = dir.path().parent().unwrap_or(dir.path());
        anyhow::anyhow!(
            "{}; what was measured before is kept. When '{}' can be written again (free some space there), go on with: flashmark resume {}",
            Failure { exit: Exit::Internal, error },
            folder.display(),
            dir.name()
        )
    };
    done.map_err(|error| way_on(error.into())).or_internal()
}
