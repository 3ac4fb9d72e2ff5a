//! `flashmark compare`: several media side by side, or one before and after a change.

use std::path::Path;

use findings::{ComparedBy, ComparisonSide, MediaComparison, Rank, Regression};
use record::{Record, Use};
use store::{Store, atomic_write};

use crate::cli::{ByFlag, CompareFlags};
use program::exit::{Exit, OrExit, Result, usage};
use program::printing::{print, print_document};
use program::terminal::OutputStream;
use session::kept::load_from;
use session::published_run;
use session::request::read_uses;

/// Compares runs: as text, as Markdown (`--markdown`), as JSON (`--json`) and as a page (`--html`). Exit code 0, and with
/// `--fail-if` 1 where something became slower than allowed or nothing could be told, with `--by` 1 without runs that are equal in everything else.
pub fn run(flags: &CompareFlags) -> Result {
    let allowed = flags.fail_if.as_deref().map(read_percent).transpose()?;
    let uses = read_uses(&flags.uses)?;
    let mut comparison = match (&flags.before, &flags.after) {
        (Some(before), Some(after)) => changed(before, after, flags.markdown)?,
        _ => side_by_side(flags)?,
    };
    if !uses.is_empty() {
        comparison.ranks.retain(|rank| uses.iter().any(|of| is_of(rank, *of)));
    }
    let regression = allowed.map(|allowed| findings::regression(&comparison, allowed));
    if let Some(path) = &flags.html {
        atomic_write(path, pages::comparison(&comparison, allowed).as_bytes()).or_internal()?;
    }
    let json = || comparison_json(&comparison, regression.as_ref());
    match &flags.json {
        Some(path) if path.as_os_str() == "-" => print_document(&json()?)?,
        Some(path) => atomic_write(path, json()?.as_bytes()).or_internal()?,
        None => {}
    }
    if flags.markdown {
        print_document(&report::markdown::comparison(&comparison, &private(flags)?))?;
    } else if flags.json.as_ref().is_none_or(|path| path.as_os_str() != "-") {
        let width = OutputStream::Output.width();
        print(&match &regression {
            Some(regression) => report::compare::checked(&comparison, regression, width),
            None if flags.details => report::compare::details(&comparison, width),
            None => report::compare::summary(&comparison, width),
        })?;
    }
    if comparison.levels.is_some_and(|found| found.refusal.is_some()) {
        return Ok(Exit::MediumFailed);
    }
    regression.map_or(Ok(Exit::Done), |regression| passed(&regression, flags.strict))
}

/// True if a ranking is for this use; a video has one ranking, whatever its rate.
fn is_of(rank: &Rank, wanted: Use) -> bool {
    rank.wanted.parse::<Use>().is_ok_and(|of| of.verdict_id() == wanted.verdict_id())
}

fn comparison_json(
    comparison: &MediaComparison,
    regression: Option<&Regression>,
) -> Result<String> {
    let mut value = serde_json::to_value(comparison).or_internal()?;
    if let Some(regression) = regression {
        value["regression"] = serde_json::to_value(regression).or_internal()?;
    }
    serde_json::to_string_pretty(&value).map(|text| text + "\n").or_internal()
}

/// Exit code of a comparison. A comparison of nothing, or one that decides nothing, does not pass.
fn passed(regression: &Regression, strict: bool) -> Result {
    let Regression { slower, unclear, kept, .. } = regression;
    if slower.is_empty() && unclear.is_empty() && kept.is_empty() {
        return usage("--fail-if: nothing was measured of both, so nothing can be told");
    }
    let is_unclear = regression.is_undecided() || strict && !unclear.is_empty();
    let fails = !slower.is_empty() || is_unclear;
    Ok(if fails { Exit::MediumFailed } else { Exit::Done })
}

/// Runs that a user names by one word: a run, a file, a label, or a medium and its runs
/// (`card=RUN`). For readers other than the user a file is named without its directory.
fn side(name: &str, for_others: bool) -> Result<ComparisonSide> {
    let store = Store::open(Store::default_root());
    let (medium, word, dirs) = match (store.find_all(name), name.split_once('=')) {
        (Ok(dirs), _) => (None, name, dirs),
        (Err(_), Some((medium, word))) if !medium.trim().is_empty() => {
            (Some(medium.trim()), word, store.find_all(word).or_usage()?)
        }
        (Err(error), _) => return Err(error).or_usage(),
    };
    let records = dirs.iter().map(load_from).collect::<Result<Vec<Record>>>()?;
    let named = |record| match medium {
        Some(medium) => findings::with_medium_named(record, medium),
        None => record,
    };
    let records = records.into_iter().map(named).collect();
    let file = Path::new(word).file_stem().filter(|_| for_others && word.contains('/'));
    let name = file.map_or(word.into(), |stem| stem.to_string_lossy());
    Ok(ComparisonSide { name: name.into_owned(), records })
}

/// Texts of all compared runs that others must not read.
fn private(flags: &CompareFlags) -> Result<Vec<String>> {
    let names = flags.runs.iter().chain(&flags.before).chain(&flags.after);
    let sides = names.map(|name| side(name, true)).collect::<Result<Vec<_>>>()?;
    let records = sides.iter().flat_map(|side| &side.records);
    Ok(records.flat_map(published_run::private).collect())
}

/// Comparison of two sides that are runs of one medium, after with before.
fn changed(before: &str, after: &str, for_others: bool) -> Result<MediaComparison> {
    let sides = [side(after, for_others)?, side(before, for_others)?];
    let records: Vec<Record> = sides.iter().flat_map(|side| side.records.clone()).collect();
    if !findings::is_one_medium(&records) {
        return usage(format_args!(
            "--before {before} --after {after}: these are runs of different media; hold media against each other with: flashmark compare {before} {after}"
        ));
    }
    // A run held against itself tells nothing, and would pass.
    if same_run(&sides).is_some() {
        return usage(format_args!(
            "'{before}' and '{after}' hold the same run; name two that differ"
        ));
    }
    let [after, before] = sides;
    Ok(findings::compare_change(before, after))
}

fn side_by_side(flags: &CompareFlags) -> Result<MediaComparison> {
    let names = &flags.runs;
    let sides = names.iter().map(|name| side(name, flags.markdown)).collect::<Result<Vec<_>>>()?;
    let records: Vec<Record> = sides.iter().flat_map(|side| side.records.clone()).collect();
    if let Some(by) = flags.by {
        return Ok(findings::compare_by(&records, compared_by(by)));
    }
    if !findings::is_one_medium(&records) || same_run(&sides).is_some() {
        return Ok(findings::compare_runs(&records));
    }
    if sides.len() < 2 {
        return usage(format_args!(
            "compare {}: one medium is nothing to compare; name a second run (`flashmark runs` lists them), a record file or a label",
            names.join(" ")
        ));
    }
    Ok(findings::compare_sides(&sides))
}

fn compared_by(flag: ByFlag) -> ComparedBy {
    match flag {
        ByFlag::Host => ComparedBy::Host,
        ByFlag::Reader => ComparedBy::Reader,
        ByFlag::Kernel => ComparedBy::Kernel,
        ByFlag::Scheduler => ComparedBy::Scheduler,
        ByFlag::Setting => ComparedBy::Setting,
    }
}

/// Two sides that hold the same run, if there are any.
fn same_run(sides: &[ComparisonSide]) -> Option<(&ComparisonSide, &ComparisonSide)> {
    let holds = |side: &ComparisonSide, run: &Record| {
        !run.cells.is_empty() && side.records.iter().any(|other| other.cells == run.cells)
    };
    sides.iter().enumerate().find_map(|(at, side)| {
        let other = sides[at + 1..]
            .iter()
            .find(|other| side.records.iter().any(|run| holds(other, run)))?;
        Some((side, other))
    })
}

/// "10%" or "10": a share between 0 and 1.
fn read_percent(text: &str) -> Result<f64> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>();
    match number {
        Ok(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => usage(format_args!("--fail-if {text}: write a share such as 10%")),
    }
}
