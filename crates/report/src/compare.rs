//! Comparison of several media, for a terminal and as a page.

use askama::Template;
use findings::{ComparedFigure, Curve, FasterMedium, MediaComparison, MediaRatio, Regression};
use record::text::{capitalised, printable};
use record::units::{Bytes, significant};

use crate::html::PageHead;
use crate::html::view::{self, PanelView, TableView};
use crate::tables::Table;
use crate::{figure, text, words};

mod check;
mod figures;
mod levels;
mod matrices;
mod names;
#[cfg(test)]
mod screens;
mod works;

use names::Names;

/// The comparison for a terminal, in lines of at most `width` columns.
pub fn summary(comparison: &MediaComparison, width: usize) -> String {
    in_lines(comparison, &check::more_runs(comparison), width)
}

/// The comparison for a terminal, with the result of the check for regressions.
pub fn checked(comparison: &MediaComparison, found: &Regression, width: usize) -> String {
    in_lines(comparison, &[], width) + &check::regression(found, width)
}

fn in_lines(comparison: &MediaComparison, more_runs: &[String], width: usize) -> String {
    let names = Names::of(comparison);
    let mut out = String::new();
    for line in names.media(comparison) {
        out += &text::paragraph(&line, width);
    }
    for fault in faults(comparison) {
        out += &text::paragraph(&fault, width);
    }
    if !comparison.differences.is_empty() {
        out += &format!("\n{}\n", differ(comparison));
        for difference in &comparison.differences {
            out += &text::paragraph(&format!("- {}", printable(difference)), width);
        }
    }
    if let Some(found) = &comparison.levels {
        out += &of_levels(found, width);
    }
    if !comparison.ranks.is_empty() {
        out += "\nBest for\n";
    }
    for rank in &comparison.ranks {
        out += &text::paragraph(&format!("- {}: {}", rank.wanted, order(rank)), width);
    }
    for part in parts(comparison, &names, Ranges::Without) {
        out += "\n";
        out += &text::paragraph(&part.title, width);
        for sentence in &part.sentences {
            out += &text::paragraph(sentence, width);
        }
        out += &text::plain(&part.table, width);
    }
    out += if more_runs.is_empty() { "" } else { "\n" };
    for line in more_runs {
        out += &text::paragraph(line, width);
    }
    if is_empty(comparison) {
        out += "\n";
        out += &text::paragraph(NOTHING, width);
    }
    if !comparison.not_compared.is_empty() {
        out += "\nNot compared\n";
        for why in &comparison.not_compared {
            out += &text::paragraph(&format!("- {}", printable(why)), width);
        }
    }
    if comparison.media.len() < 2 {
        out += "\n";
        out += &text::paragraph(ONE_MEDIUM, width);
    }
    out
}

/// Sentence if all runs are of one medium.
const ONE_MEDIUM: &str = "All runs are of one medium: there is nothing to compare it with.";
/// Sentence if no figure was measured of two media.
const NOTHING: &str = "Nothing to compare: no figure that may be used was measured of two of them.";

/// True if several media have no figure in common.
fn is_empty(comparison: &MediaComparison) -> bool {
    comparison.media.len() > 1
        && comparison.works.is_empty()
        && comparison.figures.is_empty()
        && comparison.matrices.is_empty()
}

/// Ranges beside the figures of a table.
#[derive(Clone, Copy)]
enum Ranges {
    Without,
    With,
}

/// Explanation of the ranges, for the line below a table.
pub(crate) const RANGES_MEAN: &str = "In parentheses: the 95 % interval of a single run; of several runs the lowest and the highest.";

impl Ranges {
    fn quantity(self, metric: &str, found: ComparedFigure) -> String {
        let text = words::quantity(metric, found.value);
        let range = found.range.map(|ends| words::interval(metric, ends));
        let range = range.map(|range| words::without_unit(&range, &text).to_owned());
        self.beside(text, range)
    }

    /// A figure without its unit, which is above the table.
    fn number(self, found: ComparedFigure) -> String {
        let range = found.range.map(|[low, high]| [low, high].map(significant).join(" to "));
        self.beside(significant(found.value), range)
    }

    fn beside(self, text: String, range: Option<String>) -> String {
        match self {
            Ranges::Without => text,
            Ranges::With => format!("{text} ({})", range.as_deref().unwrap_or(figure::ONE_RUN)),
        }
    }
}

/// A table of a comparison, with sentences about it.
pub(crate) struct ComparisonPart {
    pub title: String,
    pub sentences: Vec<String>,
    pub table: Table,
}

/// Tables of works, then of other figures, then of matrices.
fn parts(comparison: &MediaComparison, names: &Names, ranges: Ranges) -> Vec<ComparisonPart> {
    let works = comparison.works.iter().map(|work| ComparisonPart {
        title: works::title(work),
        sentences: works::sentences(comparison, work),
        table: works::table(comparison, work, names, ranges),
    });
    let figures = (!comparison.figures.is_empty()).then(|| ComparisonPart {
        title: figures::TITLE.to_owned(),
        sentences: Vec::new(),
        table: figures::table(comparison, names, ranges),
    });
    let matrices = comparison.matrices.iter().map(|matrix| ComparisonPart {
        title: matrices::title(matrix),
        sentences: matrices::sentences(comparison, matrix),
        table: matrices::table(comparison, matrix, names, ranges),
    });
    works.chain(figures).chain(matrices).collect()
}

/// Content of a comparison, for forms without aligned columns; figures have their ranges.
pub(crate) struct ComparisonContent {
    pub heading: String,
    pub media: Vec<String>,
    pub differ: &'static str,
    pub differences: Vec<String>,
    pub parts: Vec<ComparisonPart>,
    /// Sentences about the number of further runs that would make unclear differences clear.
    pub more_runs: Vec<String>,
    /// The reason why there is nothing to compare.
    pub nothing: Option<&'static str>,
    pub not_compared: Vec<String>,
}

/// The content of a comparison.
pub(crate) fn content(comparison: &MediaComparison) -> ComparisonContent {
    let names = Names::of(comparison);
    let nothing = is_empty(comparison).then_some(NOTHING);
    ComparisonContent {
        heading: names.heading(comparison),
        media: names.media(comparison).into_iter().chain(faults(comparison)).collect(),
        differ: differ(comparison),
        differences: comparison.differences.clone(),
        parts: level_part(comparison)
            .into_iter()
            .chain(parts(comparison, &names, Ranges::With))
            .collect(),
        more_runs: check::more_runs(comparison),
        nothing: nothing.or((comparison.media.len() < 2).then_some(ONE_MEDIUM)),
        not_compared: comparison.not_compared.clone(),
    }
}

/// Levels of a factor, for forms without aligned columns.
fn level_part(comparison: &MediaComparison) -> Option<ComparisonPart> {
    comparison.levels.as_ref().map(|found| ComparisonPart {
        title: levels::title(found),
        sentences: levels::sentences(found),
        table: levels::table(found),
    })
}

/// Levels of a factor, for a terminal.
fn of_levels(found: &findings::LevelComparison, width: usize) -> String {
    let mut out = format!("\n{}\n", levels::title(found));
    for sentence in levels::sentences(found) {
        out += &text::paragraph(&sentence, width);
    }
    let table = levels::table(found);
    if !table.rows.is_empty() {
        out += &text::plain(&table, width);
    }
    for why in &found.left_out {
        out += &text::paragraph(&format!("- left out: {}", printable(why)), width);
    }
    out
}

/// For a single medium only other conditions differ.
fn differ(comparison: &MediaComparison) -> &'static str {
    let is_one = comparison.media.iter().any(|medium| medium.typed.is_some());
    if is_one { "What else differs" } else { "Not only the media differ" }
}

/// Media that nobody should use, each with the reason.
fn faults(comparison: &MediaComparison) -> Vec<String> {
    let fault = |medium: &findings::Compared| {
        Some(format!("{}: {}", printable(&medium.name), printable(medium.fault.as_deref()?)))
    };
    comparison.media.iter().filter_map(fault).collect()
}

/// The comparison as a page.
pub fn page(comparison: &MediaComparison) -> String {
    let names = Names::of(comparison);
    let page = ComparisonPage {
        title: names.heading(comparison),
        media: names.media(comparison),
        faults: faults(comparison),
        differ: differ(comparison),
        differences: comparison
            .differences
            .iter()
            .map(|difference| printable(difference))
            .collect(),
        levels: comparison.levels.as_ref().map(LevelView::of),
        ranks: comparison.ranks.iter().map(|rank| (rank.wanted.clone(), order(rank))).collect(),
        not_compared: comparison.not_compared.iter().map(|why| printable(why)).collect(),
        works: comparison
            .works
            .iter()
            .map(|work| WorkView {
                title: works::title(work),
                sentences: works::sentences(comparison, work),
                panel: view::panel(works::panel(comparison, work, &names)),
            })
            .collect(),
        nothing: is_empty(comparison).then_some(NOTHING),
        figures: (!comparison.figures.is_empty()).then(|| {
            TableView::new(
                figures::table(comparison, &names, Ranges::Without),
                figures::TITLE.to_owned(),
            )
        }),
        matrices: comparison
            .matrices
            .iter()
            .map(|matrix| MatrixView {
                title: matrices::title(matrix),
                sentences: matrices::sentences(comparison, matrix),
                table: TableView::new(
                    matrices::table(comparison, matrix, &names, Ranges::Without),
                    format!("{}, by file system and scheduler", matrices::title(matrix)),
                ),
            })
            .collect(),
        more_runs: check::more_runs(comparison),
    };
    page.render().expect("a template that compiled renders into memory")
}

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparisonPage {
    title: String,
    media: Vec<String>,
    faults: Vec<String>,
    differ: &'static str,
    differences: Vec<String>,
    levels: Option<LevelView>,
    ranks: Vec<(String, String)>,
    not_compared: Vec<String>,
    works: Vec<WorkView>,
    nothing: Option<&'static str>,
    figures: Option<TableView>,
    matrices: Vec<MatrixView>,
    more_runs: Vec<String>,
}

/// Levels of a factor on a page.
struct LevelView {
    title: String,
    sentences: Vec<String>,
    table: Option<TableView>,
    left_out: Vec<String>,
}

impl LevelView {
    fn of(found: &findings::LevelComparison) -> LevelView {
        LevelView {
            title: levels::title(found),
            sentences: levels::sentences(found),
            table: Some(levels::table(found))
                .filter(|table| !table.rows.is_empty())
                .map(|table| TableView::new(table, levels::title(found))),
            left_out: found.left_out.iter().map(|why| printable(why)).collect(),
        }
    }
}

/// All media at one work of a matrix.
struct MatrixView {
    title: String,
    sentences: Vec<String>,
    table: TableView,
}

/// All media at one kind of work.
struct WorkView {
    title: String,
    sentences: Vec<String>,
    panel: PanelView,
}

/// A pair of media at one kind of work.
pub(crate) struct CurveView {
    pub title: String,
    pub sentences: Vec<String>,
    pub table: TableView,
}

impl CurveView {
    pub fn of(curve: &Curve) -> CurveView {
        CurveView {
            title: title(curve),
            sentences: sentences(curve),
            table: TableView::new(table(curve), format!("{}, by block size", title(curve))),
        }
    }
}

fn title(curve: &Curve) -> String {
    format!(
        "{}: A is {}, B is {}",
        capitalised(&words::test(&curve.test)),
        printable(&curve.a),
        printable(&curve.b)
    )
}

/// Rank order of the media: "1. X (good, random writes of 4 KiB: 1480 IOPS) or Y (..); 3. Z (..).
/// Not ranked: W (commits were not measured)".
fn order(rank: &findings::Rank) -> String {
    let mut text = String::new();
    for (at, place) in rank.order.iter().enumerate() {
        let is_shared = at > 0 && rank.order[at - 1].place == place.place;
        text += &match at {
            _ if is_shared => " or ".to_owned(),
            0 => format!("{}. ", place.place),
            _ => format!("; {}. ", place.place),
        };
        text += &format!("{} ({})", printable(&place.name), rank_text(place));
    }
    let left_out = rank.left_out.iter();
    let named: Vec<String> =
        left_out.map(|(name, why)| format!("{} ({})", printable(name), printable(why))).collect();
    if named.is_empty() { text } else { format!("{text}. Not ranked: {}", named.join(", ")) }
}

/// "good, few samples, random writes of 4 KiB: 1480 IOPS (1450 to 1500)".
pub(crate) fn rank_text(place: &findings::RankPlace) -> String {
    let parts = [place.level, place.caveat.as_deref().unwrap_or_default(), &place.figure];
    let parts = parts.iter().filter(|part| !part.is_empty()).map(|part| printable(part));
    parts.collect::<Vec<_>>().join(", ")
}

/// Sentences about the block sizes at which one medium overtakes the other.
fn crossings(curve: &Curve) -> Vec<String> {
    let (a, b) = (printable(&curve.a), printable(&curve.b));
    let size = |bytes: f64| Bytes(bytes.max(0.0).round() as u64).to_string();
    let sentence = |crossing: &findings::Crossing| {
        let (winner, loser) = if crossing.above == "a" { (&a, &b) } else { (&b, &a) };
        let range = crossing
            .ci95
            .map(|[low, high]| format!(" (between {} and {})", size(low), size(high)))
            .unwrap_or_default();
        let block = size(crossing.block_bytes);
        format!("{winner} overtakes {loser} at blocks of about {block}{range}.")
    };
    curve.crossings.iter().map(sentence).collect()
}

/// Sentences about crossings of the curves, or about the medium that is faster everywhere.
fn sentences(curve: &Curve) -> Vec<String> {
    let (a, b) = (printable(&curve.a), printable(&curve.b));
    let mut sentences = crossings(curve);
    let all = |wanted: FasterMedium| {
        !curve.points.is_empty() && curve.points.iter().all(|point| point.found.judgement == wanted)
    };
    for (wanted, sentence) in [
        (FasterMedium::Faster, format!("{a} is faster at every size.")),
        (FasterMedium::Slower, format!("{b} is faster at every size.")),
        (FasterMedium::Same, "They are equal at every size, within 10 %.".to_owned()),
        (FasterMedium::Unclear, "No difference is significant.".to_owned()),
    ] {
        sentences.extend(all(wanted).then_some(sentence));
    }
    sentences
}

fn table(curve: &Curve) -> Table {
    let mut table = Table::new(&["Block", "#A", "#B", "A is"]);
    for point in &curve.points {
        let figure = |value: f64| words::quantity(&curve.metric, value);
        let size = Bytes(point.block_bytes).to_string();
        let judged = judged(&point.found);
        table.push(vec![size, figure(point.a), figure(point.b), judged], Vec::new());
    }
    table
}

/// "556x faster (389x to 794x)".
fn judged(found: &MediaRatio) -> String {
    let MediaRatio { judgement, ratio, ci95, .. } = *found;
    let ratios = match (judgement, ci95) {
        (FasterMedium::Slower, Some([low, high])) if low > 0.0 => {
            Some((1.0 / ratio, 1.0 / high, 1.0 / low))
        }
        (_, Some([low, high])) => Some((ratio, low, high)),
        (_, None) => None,
    };
    let by = ratios.map(|(value, low, high)| [value, low, high].map(times));
    match (judgement, by) {
        (FasterMedium::Faster, Some([by, low, high])) => format!("{by} faster ({low} to {high})"),
        (FasterMedium::Slower, Some([by, low, high])) => format!("{by} slower ({low} to {high})"),
        (FasterMedium::Same, Some([_, low, high])) => {
            format!("equal within 10 % ({low} to {high})")
        }
        (_, Some([by, low, high])) => format!("cannot be told: {by} ({low} to {high})"),
        (_, None) => {
            format!("cannot be told: {}, without an interval", times(ratio))
        }
    }
}

/// "0.53x", "556x".
fn times(ratio: f64) -> String {
    format!("{}x", significant(ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;

    #[test]
    fn a_good_card_against_a_horrible_one() {
        let found = findings::compare(&[demo::slow_card(), demo::good()]);
        let text = summary(&found, 80);
        assert!(text.lines().next().is_some_and(|line| line.contains("Transcend")), "{text}");
        assert!(text.contains("root-disk: 1. SanDisk"), "{text}");
        assert!(text.contains("is faster at every size."), "{text}");
        let page = page(&found);
        assert!(page.contains("<table") && page.contains("SanDisk Extreme A1"), "{page}");
    }

    #[test]
    fn names_cannot_break_out() {
        let (mut one, other) = (demo::slow_card(), demo::good());
        one.medium.model = Some("</script><b>\u{1b}[2J".into());
        let found = findings::compare(&[one, other]);
        assert!(!page(&found).contains("<b>") && !summary(&found, 80).contains('\u{1b}'));
    }

    #[test]
    fn one_medium_is_no_comparison() {
        let found = findings::compare(&[demo::good(), demo::good()]);
        assert!(summary(&found, 80).contains("nothing to compare"), "{found:?}");
    }
}
