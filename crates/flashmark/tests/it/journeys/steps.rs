//! Steps after a run. Each step is a command and what must be true of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use record::Record;
use serde_json::Value;

use super::starts::Start;
use crate::support::{Flashmark, Ran, Scratch, has_root};

/// A run, and the places that its journey uses.
pub struct Walk {
    start: Start,
    flashmark: Flashmark,
    scratch: Scratch,
    began: Ran,
}

/// A step after a run: its command and its check.
pub struct Step {
    /// The command, with the form of it where there are several.
    pub name: &'static str,
    /// Does the step; an error says what is wrong.
    pub take: fn(&Walk) -> Result<(), String>,
}

/// Each step, for every journey.
pub const STEPS: &[Step] = &[
    Step { name: "runs", take: runs },
    Step { name: "runs --openmetrics", take: openmetrics },
    Step { name: "show", take: show },
    Step { name: "show of a check", take: answers },
    Step { name: "show --details", take: details },
    Step { name: "show --json", take: json },
    Step { name: "report", take: report },
    Step { name: "articles", take: articles },
    Step { name: "compare itself", take: compare_itself },
    Step { name: "compare", take: compare },
    Step { name: "export csv", take: export_csv },
    Step { name: "export parquet", take: export_parquet },
    Step { name: "export json", take: export_json },
    Step { name: "publish", take: publish },
    Step { name: "validate", take: validate },
    Step { name: "submit", take: submit },
];

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");

impl Walk {
    /// Types the command of a start; `None` if it needs root, and that is printed.
    pub fn begin(start: Start) -> Option<Walk> {
        if start.command.starts_with("matrix ") && !has_root() {
            return None;
        }
        let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
        let (dir, fixtures) = (scratch.directory("dir"), format!("{FIXTURES}/import"));
        let command = start.command.replace("FIXTURES", &fixtures);
        let command = command.replace("TRACE", &format!("{FIXTURES}/traces/fio-randrw-ext4.iolog"));
        let began = flashmark.run(&command.replace("DIR", dir.to_str().unwrap()));
        assert_eq!(began.code, Some(start.exit), "{}: {began}", start.command);
        Some(Walk { start, flashmark, scratch, began })
    }

    /// Output of these words; an error if their exit code is not 0.
    fn done(&self, words: &[&str]) -> Result<String, String> {
        let ran = self.flashmark.run(words);
        if ran.code == Some(0) { Ok(ran.out) } else { Err(format!("{words:?}: {ran}")) }
    }

    fn record(&self) -> Result<Value, String> {
        parsed(&self.done(&["show", "latest", "--json"])?)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.scratch.at(name)
    }

    /// Cells of the run that have a result.
    fn measured_cells(&self) -> Result<Vec<Value>, String> {
        let record = self.record()?;
        Ok(record["cells"].as_array().cloned().unwrap_or_default())
    }
}

fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn word(path: &Path) -> &str {
    path.to_str().expect("scratch places have plain names")
}

/// Checks that the run is in the list, once.
fn runs(walk: &Walk) -> Result<(), String> {
    let list = parsed(&walk.done(&["runs", "--json"])?)?;
    let count = list.as_array().map_or(0, Vec::len);
    ensure(count == 1, || format!("{count} runs are listed"))
}

/// Checks that the screen has what the run itself printed at its end.
fn show(walk: &Walk) -> Result<(), String> {
    let shown = walk.done(&["show"])?;
    ensure(shown.lines().count() >= 3, || format!("it shows nothing: {shown}"))?;
    let printed = format!("{}{}", walk.began.out, walk.began.err);
    let missing: Vec<&str> = figure_rows(&shown).filter(|row| !printed.contains(row)).collect();
    // An import says what it made, and shows none of it.
    let shows_figures = !walk.start.command.starts_with("import ");
    ensure(!shows_figures || missing.is_empty(), || {
        format!("not on the screen before: {missing:?}")
    })
}

/// Checks that a `check` keeps its three answers: on the screen, on the page, and in the record.
fn answers(walk: &Walk) -> Result<(), String> {
    if !walk.start.command.starts_with("check ") {
        return Ok(());
    }
    let page = walk.at("answers.html");
    walk.done(&["report", "latest", "--html", word(&page)])?;
    let page = fs::read_to_string(page).map_err(|error| error.to_string())?.replace('\u{a0}', " ");
    let (screen, record) = (walk.done(&["show", "--details"])?, walk.record()?);
    let kept = Record::from_json(&record.to_string()).map_err(|error| error.to_string())?;
    for (_, answer) in report::text::answers(&kept) {
        let is_shown = page.contains(&pages::chart::escape(&answer).replace('\u{a0}', " "));
        ensure(is_shown, || format!("'{answer}' is not on the page"))?;
    }
    for question in ["genuine", "fit", "healthy"] {
        let answer = record["summary"][question].as_str().unwrap_or_default().replace('-', " ");
        let asked = format!("{}{}?", question[..1].to_uppercase(), &question[1..]);
        let is_shown = screen.contains(&asked) && screen.contains(&answer);
        ensure(is_shown, || format!("{asked} {answer} is not on the screen: {screen}"))?;
    }
    Ok(())
}

/// Rows of the table of figures on a screen.
fn figure_rows(screen: &str) -> impl Iterator<Item = &str> {
    const UNITS: [&str; 4] = [" IOPS ", " MB/s ", " GB/s ", " kB/s "];
    let is_figure =
        |row: &&str| !row.starts_with(' ') && UNITS.iter().any(|unit| row.contains(unit));
    let is_table = |row: &&str| row.contains(" to ") || row.contains("one run");
    screen.lines().filter(is_figure).filter(move |row| is_table(row) && row.contains("  "))
}

/// The figure of a row: number and unit.
fn figure_of(row: &str) -> Option<String> {
    let words: Vec<&str> = row.split_whitespace().collect();
    let at = words.iter().position(|it| matches!(*it, "IOPS" | "MB/s" | "GB/s" | "kB/s"))?;
    Some(format!("{} {}", words.get(at.checked_sub(1)?)?, words[at]))
}

/// Checks that all cells are shown, with every figure of the one screen.
fn details(walk: &Walk) -> Result<(), String> {
    let (screen, all) = (walk.done(&["show"])?, walk.done(&["show", "latest", "--details"])?);
    let missing: Vec<String> =
        figure_rows(&screen).filter_map(figure_of).filter(|figure| !all.contains(figure)).collect();
    ensure(missing.is_empty(), || {
        format!("figures of the screen that --details lacks: {missing:?}")
    })
}

/// Checks that the record fits its schema.
fn json(walk: &Walk) -> Result<(), String> {
    let schema = include_str!("../../../../../docs/record.schema.json");
    let validator =
        jsonschema::validator_for(&parsed(schema)?).map_err(|error| error.to_string())?;
    let record = walk.record()?;
    let errors: Vec<String> = validator
        .iter_errors(&record)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    ensure(errors.is_empty(), || errors.join("; "))
}

/// Checks that the page has every figure of the screen.
fn report(walk: &Walk) -> Result<(), String> {
    let page = walk.at("page.html");
    walk.done(&["report", "latest", "--html", word(&page)])?;
    let page = fs::read_to_string(page).map_err(|error| error.to_string())?.replace('\u{a0}', " ");
    let screen = walk.done(&["show"])?;
    let missing: Vec<String> = figure_rows(&screen)
        .filter_map(figure_of)
        .filter(|figure| !page.contains(figure.as_str()))
        .collect();
    ensure(missing.is_empty(), || format!("figures of the screen that the page lacks: {missing:?}"))
}

/// Checks that every listed article shows the run beside its figures, or says that the run has none
/// of them.
fn articles(walk: &Walk) -> Result<(), String> {
    let list = walk.done(&["articles"])?;
    let commands = list.lines().filter_map(|line| line.trim().strip_prefix("flashmark "));
    for command in commands.filter(|command| command.starts_with("report ")) {
        let words: Vec<&str> = command.split(' ').chain(["latest"]).collect();
        let screen = walk.done(&words)?;
        let has_ratio = screen
            .split_whitespace()
            .any(|word| word.strip_suffix('x').is_some_and(|ratio| ratio.parse::<f64>().is_ok()));
        ensure(has_ratio || screen.contains("has none of"), || screen)?;
    }
    Ok(())
}

/// Checks that a run is not faster than itself.
fn compare_itself(walk: &Walk) -> Result<(), String> {
    let screen = walk.done(&["compare", "latest", "latest"])?;
    ensure(!screen.contains("is faster"), || screen)
}

/// Checks that a comparison with another run shows what is compared, or why nothing is.
fn compare(walk: &Walk) -> Result<(), String> {
    let other = format!("{FIXTURES}/records/flashmark-0.1.0-sim.json");
    let page = walk.at("compare.html");
    let screen = walk.done(&["compare", "latest", &other, "--html", word(&page)])?;
    ensure(screen.lines().count() > 3, || format!("nothing is said: {screen}"))?;
    ensure(page.is_file(), || "there is no page".into())
}

/// Checks that each cell has a row.
fn export_csv(walk: &Walk) -> Result<(), String> {
    let text = walk.done(&["export", "latest", "--format", "csv"])?;
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    ensure(head.contains(&"run_id") && head.contains(&"iops"), || format!("head: {head:?}"))?;
    let (rows, cells) = (lines.count(), walk.measured_cells()?.len());
    ensure(rows >= cells, || format!("{rows} rows of {cells} cells"))
}

/// Checks that the figures of one run are written.
fn openmetrics(walk: &Walk) -> Result<(), String> {
    let text = walk.done(&["runs", "--openmetrics", "-"])?;
    let infos = text.lines().filter(|line| line.starts_with("flashmark_run_info{")).count();
    ensure(infos == 1 && text.ends_with("# EOF\n"), || text)
}

fn export_parquet(walk: &Walk) -> Result<(), String> {
    let dir = walk.at("parquet");
    walk.done(&["export", "latest", "--format", "parquet", "-o", word(&dir)])?;
    let names: BTreeSet<String> = fs::read_dir(dir)
        .map_err(|error| error.to_string())?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    ensure(names == ["cells.parquet".into(), "runs.parquet".into()].into(), || format!("{names:?}"))
}

/// Checks that every cell is exported.
fn export_json(walk: &Walk) -> Result<(), String> {
    let exported = parsed(&walk.done(&["export", "latest", "--format", "json"])?)?;
    let exported_cells = exported[0]["run"]["cells"].as_array().map_or(0, Vec::len);
    let cells = walk.measured_cells()?.len();
    ensure(exported_cells == cells, || format!("{exported_cells} cells of {cells}"))
}

/// Checks that the site has a page of the medium.
fn publish(walk: &Walk) -> Result<(), String> {
    let dir = walk.at("site");
    walk.done(&["publish", word(&dir), "latest", "--no-reference"])?;
    let pages = fs::read_dir(dir.join("medium")).map_err(|error| error.to_string())?.count();
    ensure(pages >= 1, || format!("{pages} pages of media"))
}

/// Checks that `validate` finds the program's own runs sound.
fn validate(walk: &Walk) -> Result<(), String> {
    let exported = walk.done(&["export", "latest", "--format", "json"])?;
    let record = walk.at("validated.json");
    fs::write(&record, exported).map_err(|error| error.to_string())?;
    walk.done(&["validate", word(&record)])?;
    Ok(())
}

/// Checks that the run can be written into a collection, under the name of its content: that of its
/// export, unless curves were thinned to fit a repository.
fn submit(walk: &Walk) -> Result<(), String> {
    let dir = walk.at("cards");
    walk.done(&["init", word(&dir)])?;
    walk.done(&["submit", "latest", "--to", word(&dir), "--sender", "ada", "--yes"])?;
    let entries = fs::read_dir(dir.join("records/ada")).map_err(|error| error.to_string())?;
    let [written] = &entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()[..] else {
        return Err(format!("not one record in {}", dir.display()));
    };
    let packed = fs::read(written).map_err(|error| error.to_string())?;
    let limits = collection::UploadLimits::default();
    let upload = collection::read(&packed, &limits);
    let run = upload.map_err(|error| error.to_string())?.run;
    let id = collection::content_name(&run);
    ensure(written.ends_with(format!("{id}.json.gz")), || format!("{}: {id}", written.display()))?;
    let exported = parsed(&walk.done(&["export", "latest", "--format", "json"])?)?;
    let cells = serde_json::to_value(&run.cells).map_err(|error| error.to_string())?;
    let is_whole = exported[0]["run"]["cells"] == cells;
    ensure(!is_whole || exported[0]["id"] == id, || format!("exported as {}", exported[0]["id"]))
}
