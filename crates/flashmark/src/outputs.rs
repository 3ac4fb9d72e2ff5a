//! Where results go: the terminal, the run's directory, and the files the user named.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use record::Record;
use store::{RunDir, atomic_write};

use crate::exit::{Exit, Failure, OrExit, Result, usage};

/// Name of the page in a run's directory.
pub const PAGE_FILE: &str = "report.html";

/// Where results go beside the store, as typed.
#[derive(Clone, Debug, Args)]
pub struct Outputs {
    /// Writes the record there as well; - for standard output.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Writes the page there; without it, it is kept with the run.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// No progress on the screen.
    #[arg(long, short)]
    pub quiet: bool,
    /// What is printed at the end.
    #[arg(skip)]
    pub end_screen: EndScreen,
}

/// What a run prints when it ends.
#[derive(Clone, Debug, Default)]
pub enum EndScreen {
    /// The summary.
    #[default]
    Summary,
    /// Three answers and four figures.
    Check,
    /// The same as one line of JSON.
    CheckLine,
}

impl Outputs {
    /// Whether files can be written there, before anything is measured.
    pub fn check(&self) -> Result<()> {
        check(self.json.iter().chain(&self.html))
    }
}

/// Whether files can be written there; "-" is standard output.
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

/// Delivers a record: summary on the terminal, page, record file.
pub fn deliver(record: &Record, dir: &RunDir, outputs: &Outputs) -> Result<()> {
    let page = report::html::page(record);
    keepable(dir.write_file(PAGE_FILE, page.as_bytes()), dir)?;
    if let Some(path) = &outputs.html {
        atomic_write(path, page.as_bytes()).or_internal()?;
    }
    let to_stdout = outputs.json.as_ref().is_some_and(|path| path.as_os_str() == "-");
    match &outputs.json {
        Some(_) if to_stdout => print_record(record, dir)?,
        Some(path) => atomic_write(path, record.to_json().as_bytes()).or_internal()?,
        None => {}
    }
    match outputs.end_screen {
        EndScreen::Summary => {}
        EndScreen::Check => return print(&check_screen(record, dir)),
        EndScreen::CheckLine => return print(&check_line(record, dir, None)?),
    }
    let mut summary = text_summary(record, to_stdout);
    summary += &format!(
        "\nRecord  {}\nPage    {}\n",
        dir.record_path().display(),
        dir.path().join(PAGE_FILE).display()
    );
    if to_stdout {
        crate::say_text!("{summary}")
    } else {
        print(&summary)?
    }
    Ok(())
}

/// Three answers and four figures, and where the rest is.
pub fn check_screen(record: &Record, dir: &RunDir) -> String {
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    format!(
        "{}\nEverything that was measured: flashmark show {} --findings\n",
        report::text::check(record, 80, colour),
        dir.name()
    )
}

/// The summary of a check as one line of JSON, with the run that it is of. `cached` says when it was
/// measured, where that was not now.
pub fn check_line(record: &Record, dir: &RunDir, cached: Option<&str>) -> Result<String> {
    let mut line = serde_json::json!({
        "run": dir.name(),
        "cached": cached.is_some(),
        "measured": record.run.finished,
        "exit": Exit::of(record, None) as u8,
    });
    let summary = serde_json::to_value(&record.summary).or_internal()?;
    if let (Some(line), serde_json::Value::Object(summary)) = (line.as_object_mut(), summary) {
        line.extend(summary);
    }
    Ok(format!("{line}\n"))
}

/// The summary, as wide as the terminal but at most 80 columns, coloured on a terminal only.
pub fn text_summary(record: &Record, to_stderr: bool) -> String {
    let terminal =
        if to_stderr { std::io::stderr().is_terminal() } else { std::io::stdout().is_terminal() };
    let colour = terminal && std::env::var_os("NO_COLOR").is_none();
    report::text::summary(record, 80, colour)
}

/// Prints to standard output; a reader that has gone away is no error.
pub fn print(text: &str) -> Result<()> {
    match print_whole(text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow::anyhow!("standard output cannot be written: {error}")).or_internal()
        }
        _ => Ok(()),
    }
}

/// Prints to standard output; whoever asked for a document is owed all of it.
fn print_whole(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints the record of a run to standard output. One that does not arrive whole is an error, also
/// where the reader has gone away.
pub fn print_record(record: &Record, dir: &RunDir) -> Result<()> {
    let unheard = |error: std::io::Error| {
        let name = dir.name();
        anyhow::anyhow!(
            "the record could not be written to standard output ({error}); it is kept, print it with: flashmark show {name} --json"
        )
    };
    print_whole(&record.to_json()).map_err(unheard).or_internal()
}

/// What to do where the results of a run cannot be kept: the run is not lost.
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
