//! Articles on a terminal: their list, and the figures of one as a table, or as
//! one block per figure if the table does not fit.

use super::figures::{ArticleRow, MeasureCommand, MediumFigures, medium};
use super::{Article, ArticleFigures, ArticleTable, Pick};
use crate::column_figures::{RunFigures, table};
use crate::display;
use crate::text::{fold, wrapped};
use crate::words;

/// List of the articles, each with its quantities, its media, its finding, and the command that
/// shows it; at most `width` columns wide where possible.
pub fn list(articles: &[ArticleFigures], width: usize) -> String {
    articles.iter().map(|of| entry(of, width)).collect::<Vec<_>>().join("\n")
}

fn entry(of: &ArticleFigures, width: usize) -> String {
    let article = of.article;
    let paragraphs = [
        format!("{}, {}", article.author, article.year),
        format!("Measures {}.", article.measures),
        format!("{} of {}.", words::count(of.count(), "figure"), media(of).join("; ")),
        format!("Found: {}", article.found),
    ];
    let mut text = indented(article.title, &format!("{}  ", article.number), width);
    for paragraph in &paragraphs {
        text += &indented(paragraph, MARGIN, width);
    }
    let shown = format!("report --article {}", article.number);
    let commands = std::iter::once(shown.as_str()).chain(article.again.iter().copied());
    text + &commands.map(|command| format!("{MARGIN}flashmark {command}\n")).collect::<String>()
}

/// Indentation of the text that belongs to a number.
const MARGIN: &str = "     ";

/// Media of an article without duplicates.
fn media(of: &ArticleFigures) -> Vec<String> {
    let mut media: Vec<String> = Vec::new();
    for name in of.runs.iter().map(medium) {
        if !media.contains(&name) {
            media.push(name);
        }
    }
    media
}

/// A text in lines: the first after `first`, the others indented by its width.
fn indented(text: &str, first: &str, width: usize) -> String {
    let margin = " ".repeat(display::width(first));
    let lines = wrapped(text, width.saturating_sub(margin.len()).max(20)).into_iter().enumerate();
    lines.map(|(at, line)| format!("{}{line}\n", if at == 0 { first } else { &margin })).collect()
}

/// Figures of one article with up to [`MAX_PICKED`](super::MAX_PICKED) runs beside them, and the command for each
/// column; at most `width` columns wide where possible.
pub fn text(of: &ArticleFigures, runs: &[RunFigures], width: usize) -> String {
    let picks = Pick::of_runs(runs);
    let page = ArticleTable::of(of, &picks);
    let names: Vec<&str> = picks.iter().map(|pick| pick.name.as_str()).collect();
    let remedy = if page.commands.is_empty() { "" } else { "; the commands below measure them" };
    let without = page.without_any.iter();
    let without = without.map(|name| format!("{name} has none of these figures{remedy}.\n"));
    let mut text = fold(&(head(&page) + &without.collect::<String>()), width, false);
    text += "\nAll of it, in its order:\n";
    text +=
        &page.article.again.iter().map(|it| format!("    flashmark {it}\n")).collect::<String>();
    for group in &page.groups {
        text += &fold(&format!("\n{}\n", titled(group)), width, false);
        text += &rows(group, &names, width).unwrap_or_else(|| block(group, &names, width));
    }
    if !picks.is_empty() {
        text += &fold(&format!("\n{RATIO_MEANS}\n"), width, false);
    }
    text + &measure_commands(&page.commands, width)
}

const RATIO_MEANS: &str =
    "0.50x: half of the published figure. Of times (ms, s) less is better, of rates more.";

fn head(page: &ArticleTable) -> String {
    let Article { address, measures, found, .. } = page.article;
    let (heading, facts, cited) = (page.heading(), page.facts(), page.article.cited());
    format!("{heading}\n{facts}\n{address}\n\nMeasured: {measures}.\nFound: {found} ({cited})\n")
}

/// Tool of all rows of a medium, if it is the same.
fn common_tool(group: &MediumFigures) -> Option<&str> {
    let (first, rest) = group.rows.split_first()?;
    let tool = Some(first.tool.as_str()).filter(|tool| !tool.is_empty())?;
    rest.iter().all(|row| row.tool == tool).then_some(tool)
}

/// "Verbatim 8GB 8 GB USB stick, with dd".
fn titled(group: &MediumFigures) -> String {
    let tool = common_tool(group).map_or(String::new(), |tool| format!(", with {tool}"));
    format!("{}{tool}", group.name)
}

/// "dd: write, 4 KiB"; without the tool if the title of the medium has it.
fn what(group: &MediumFigures, row: &ArticleRow) -> String {
    match (common_tool(group), row.tool.as_str()) {
        (Some(_), _) | (None, "") => row.what.clone(),
        (None, tool) if row.what.is_empty() => tool.to_owned(),
        (None, tool) => format!("{tool}: {}", row.what),
    }
}

/// The figure as printed, and in Flashmark's unit if that differs.
fn printed(row: &ArticleRow) -> String {
    let ours = if row.ours.is_empty() { String::new() } else { format!(" = {}", row.ours) };
    format!("{}{ours}", row.printed)
}

/// The figure of a run with its interval and its ratio: "12.3 MB/s (11.9 to 12.6), 3.20x".
fn picked(row: &ArticleRow, at: usize) -> String {
    let cell = &row.picks[at];
    if !cell.is_some() {
        return "-".to_owned();
    }
    format!("{} ({}), {}", cell.value, cell.interval, cell.ratio)
}

/// Least width of the first column of a table.
const MIN_WHAT: usize = 26;

/// Rows of a medium as a table, with line breaks in the first column if needed; `None` if that is
/// too wide.
fn rows(group: &MediumFigures, names: &[&str], width: usize) -> Option<String> {
    let figures = |row: &ArticleRow| -> Vec<String> {
        let picks = (0..names.len()).map(|at| picked(row, at));
        std::iter::once(printed(row)).chain(picks).collect()
    };
    let heads = std::iter::once("Published").chain(names.iter().copied()).map(str::to_owned);
    let lines: Vec<Vec<String>> = group.rows.iter().map(figures).collect();
    let lines: Vec<Vec<String>> = std::iter::once(heads.collect()).chain(lines).collect();
    let widest = |at: usize| lines.iter().map(|line| display::width(&line[at])).max().unwrap_or(0);
    let taken: usize = (0..=names.len()).map(|at| widest(at) + GAP).sum();
    let room = width.checked_sub(taken + MARGIN_OF_ROWS.len()).filter(|it| *it >= MIN_WHAT)?;
    let named = std::iter::once(String::new()).chain(group.rows.iter().map(|row| what(group, row)));
    let laid = named.zip(lines).flat_map(|(what, figures)| broken(&what, figures, room));
    table(&laid.collect::<Vec<_>>(), width)
}

/// Blanks between the columns of a table.
const GAP: usize = 2;

/// Indentation of the rows of a medium.
const MARGIN_OF_ROWS: &str = "  ";

/// A row with its first column broken into lines of this width.
fn broken(what: &str, figures: Vec<String>, room: usize) -> Vec<Vec<String>> {
    let blank = vec![String::new(); figures.len()];
    let hanging = if display::width(what) > room { MARGIN_OF_ROWS } else { "" };
    let lines = wrapped(what, room - hanging.len()).into_iter().enumerate();
    let row = |(at, line): (usize, String)| {
        let (behind, more) = if at == 0 { (&figures, "") } else { (&blank, hanging) };
        std::iter::once(format!("{MARGIN_OF_ROWS}{more}{line}"))
            .chain(behind.iter().cloned())
            .collect()
    };
    lines.map(row).collect()
}

/// Rows of a medium with a few lines for each figure.
fn block(group: &MediumFigures, names: &[&str], width: usize) -> String {
    let mut text = String::new();
    for row in &group.rows {
        let line = format!("{}: {}", what(group, row), printed(row));
        text += &indented(&line, MARGIN_OF_ROWS, width);
        for (at, name) in names.iter().enumerate().filter(|(at, _)| row.picks[*at].is_some()) {
            text += &indented(&format!("{name}: {}", picked(row, at)), "    ", width);
        }
    }
    text
}

/// Commands that measure each column, each on a line of its own, to be copied.
fn measure_commands(commands: &[MeasureCommand], width: usize) -> String {
    if commands.is_empty() {
        return String::new();
    }
    let mut text = fold(&format!("\n{AGAIN}\n"), width, false);
    for MeasureCommand { command, columns } in commands {
        text += &indented(&columns.join("; "), "  ", width);
        text += &format!("    flashmark {command}\n");
    }
    text
}

const AGAIN: &str = "Made again by (TARGET is a device, a directory or a file; --plan shows what \
                     would be done). What has no unit is the nearest test: its figures are not the \
                     same thing.";
