//! Comparison of several media: its content for all forms, and its text for a terminal.

use findings::{Curve, FasterMedium, MediaComparison, MediaRatio, Regression};
use record::text::{capitalised, printable};
use record::units::{Bytes, quantity, significant};

use crate::tables::Table;
use crate::{text, words};

mod check;
mod figures;
mod levels;
mod matrices;
mod names;
mod ranges;
mod short;
mod works;

use names::Names;
pub(crate) use ranges::RANGES_MEAN;
pub use ranges::Ranges;
use works::columns;

/// The comparison on one screen, in lines of at most `width` columns.
pub fn summary(comparison: &MediaComparison, width: usize) -> String {
    let content = content(comparison, Ranges::Without);
    short::screen(comparison, &content, width).unwrap_or_else(|| in_lines(&content, width))
}

/// All of the comparison, in lines of at most `width` columns.
pub fn details(comparison: &MediaComparison, width: usize) -> String {
    in_lines(&content(comparison, Ranges::Without), width)
}

/// The comparison for a terminal, with the result of the check for regressions.
pub fn checked(comparison: &MediaComparison, found: &Regression, width: usize) -> String {
    let content = content(comparison, Ranges::Without);
    let content = ComparisonContent { more_runs: Vec::new(), ..content };
    in_lines(&content, width) + &check::regression(found, width)
}

fn in_lines(content: &ComparisonContent, width: usize) -> String {
    let mut out = String::new();
    let lines = |out: &mut String, lines: &[String]| {
        lines.iter().for_each(|line| *out += &text::paragraph(line, width));
    };
    let part = |out: &mut String, part: &ComparisonPart| {
        *out += "\n";
        lines(out, std::slice::from_ref(&part.title));
        lines(out, &part.sentences);
        if !part.table.rows.is_empty() {
            *out += &text::plain(&part.table, width);
        }
    };
    let item = |text: String| text::paragraph(&format!("- {text}"), width);
    lines(&mut out, &content.media);
    lines(&mut out, &content.faults);
    if !content.differences.is_empty() {
        out += &format!("\n{}\n", content.differ);
        out.extend(content.differences.iter().cloned().map(item));
    }
    if let Some(levels) = &content.levels {
        part(&mut out, levels);
        out.extend(content.left_out.iter().map(|why| item(format!("left out: {why}"))));
    }
    if !content.ranks.is_empty() {
        out += "\nBy use, the best first\n";
    }
    out.extend(content.ranks.iter().map(|(wanted, order)| item(format!("{wanted}: {order}"))));
    content.tables().for_each(|found| part(&mut out, found));
    out += if content.more_runs.is_empty() { "" } else { "\n" };
    lines(&mut out, &content.more_runs);
    if let Some(nothing) = content.nothing {
        out += &format!("\n{}", text::paragraph(nothing, width));
    }
    if !content.not_compared.is_empty() {
        out += "\nNot compared\n";
        out.extend(content.not_compared.iter().cloned().map(item));
    }
    if let Some(one) = content.one_medium {
        out += &format!("\n{}", text::paragraph(one, width));
    }
    out
}

/// Sentence if all runs are of one medium.
const ONE_MEDIUM: &str = "All runs are of one medium: there is nothing to compare it with.";
/// Sentence if no figure was measured of two media.
const NOTHING: &str = "Nothing to compare: no figure that may be used was measured of two of them; flashmark check TARGET measures the main ones.";

/// True if several media have no figure in common.
fn is_empty(comparison: &MediaComparison) -> bool {
    comparison.media.len() > 1
        && comparison.works.is_empty()
        && comparison.figures.is_empty()
        && comparison.matrices.is_empty()
}

/// A table of a comparison, with sentences about it.
pub struct ComparisonPart {
    /// Its title.
    pub title: String,
    /// Sentences about it.
    pub sentences: Vec<String>,
    /// The figures.
    pub table: Table,
}

/// A figure of two media.
pub struct ComparedPair {
    /// Its name: "Random write, 4 KiB".
    pub name: String,
    /// "1.27x slower (1.26x to 1.27x)": the first medium against the second.
    pub judged: String,
    /// The ratio of the first to the second; above 1 the first is faster.
    pub found: MediaRatio,
}

/// Content of a comparison, the same in every form.
pub struct ComparisonContent {
    /// The names of all media.
    pub heading: String,
    /// The media, each with its runs.
    pub media: Vec<String>,
    /// Media that nobody should use, each with the reason.
    pub faults: Vec<String>,
    /// Head of `differences`.
    pub differ: &'static str,
    /// Differences of the runs other than the medium.
    pub differences: Vec<String>,
    /// Levels of a factor; its table may be empty.
    pub levels: Option<ComparisonPart>,
    /// Runs that are left out of the levels, each with the reason.
    pub left_out: Vec<String>,
    /// Each use with the media in their rank order.
    pub ranks: Vec<(String, String)>,
    /// Media in the order of the columns, each with the head of its column.
    pub columns: Vec<(usize, String)>,
    /// Of two media the figures of the first screen; empty for more.
    pub pairs: Vec<ComparedPair>,
    /// Figures by block size, one for each of `MediaComparison::works`.
    pub works: Vec<ComparisonPart>,
    /// Other figures.
    pub figures: Option<ComparisonPart>,
    /// Figures by combination of file system and scheduler.
    pub matrices: Vec<ComparisonPart>,
    /// Sentences about the number of further runs that would make unclear differences clear.
    pub more_runs: Vec<String>,
    /// Sentence if several media have no figure in common.
    pub nothing: Option<&'static str>,
    /// Figures that are not compared, each with the reason.
    pub not_compared: Vec<String>,
    /// Sentence if all runs are of one medium.
    pub one_medium: Option<&'static str>,
}

impl ComparisonContent {
    /// Tables of works, then of other figures, then of matrices.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &ComparisonPart> {
        self.works.iter().chain(&self.figures).chain(&self.matrices)
    }
}

/// The content of a comparison.
pub fn content(comparison: &MediaComparison, ranges: Ranges) -> ComparisonContent {
    let names = Names::of(comparison);
    let levels = comparison.levels.as_ref();
    ComparisonContent {
        heading: names.heading(comparison),
        media: names.media(comparison),
        faults: faults(comparison),
        differ: differ(comparison),
        differences: all_printable(&comparison.differences),
        levels: levels.map(|found| ComparisonPart {
            title: levels::title(found),
            sentences: levels::sentences(found),
            table: levels::table(found),
        }),
        left_out: levels.map(|found| all_printable(&found.left_out)).unwrap_or_default(),
        ranks: comparison.ranks.iter().map(|rank| (rank.name.clone(), order(rank))).collect(),
        columns: columns(comparison)
            .into_iter()
            .map(|at| (at, names.head(at).to_owned()))
            .collect(),
        pairs: short::pairs(comparison),
        works: comparison
            .works
            .iter()
            .map(|work| ComparisonPart {
                title: works::title(work),
                sentences: works::sentences(comparison, work),
                table: works::table(comparison, work, &names, ranges),
            })
            .collect(),
        figures: (!comparison.figures.is_empty()).then(|| ComparisonPart {
            title: figures::TITLE.to_owned(),
            sentences: Vec::new(),
            table: figures::table(comparison, &names, ranges),
        }),
        matrices: comparison
            .matrices
            .iter()
            .map(|matrix| ComparisonPart {
                title: matrices::title(matrix),
                sentences: matrices::sentences(comparison, matrix),
                table: matrices::table(comparison, matrix, &names, ranges),
            })
            .collect(),
        more_runs: check::more_runs(comparison),
        nothing: is_empty(comparison).then_some(NOTHING),
        not_compared: all_printable(&comparison.not_compared),
        one_medium: (comparison.media.len() < 2).then_some(ONE_MEDIUM),
    }
}

fn all_printable(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| printable(text)).collect()
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

/// A pair of media at one kind of work.
pub fn pair(curve: &Curve) -> ComparisonPart {
    ComparisonPart { title: title(curve), sentences: sentences(curve), table: table(curve) }
}

fn title(curve: &Curve) -> String {
    format!(
        "{}: A is {}, B is {}",
        capitalised(&words::test(&curve.test)),
        printable(&curve.a),
        printable(&curve.b)
    )
}

/// Rank order of the media with all that is known: "X (good, random writes of 4 KiB: 1480 IOPS) or Y
/// (..), then Z (..). Not ranked: W (commits were not measured)".
fn order(rank: &findings::Rank) -> String {
    let named =
        |(name, why): &(String, String)| format!("{} ({})", printable(name), printable(why));
    let left_out: Vec<String> = rank.left_out.iter().map(named).collect();
    let left_out = Some(left_out.join(", ")).filter(|names| !names.is_empty());
    ranked(rank, rank_text) + &left_out.map(|it| format!(". Not ranked: {it}")).unwrap_or_default()
}

/// The media in their order, each with what is said of it.
fn ranked(rank: &findings::Rank, said: impl Fn(&findings::RankPlace) -> String) -> String {
    let mut text = String::new();
    for (at, place) in rank.order.iter().enumerate() {
        text += match at {
            0 => "",
            _ if rank.order[at - 1].place == place.place => " or ",
            _ => ", then ",
        };
        text += &format!("{} ({})", printable(&place.name), said(place));
    }
    let others =
        rank.left_out.iter().map(|(name, _)| format!("; {} (not judged)", printable(name)));
    text + &others.collect::<String>()
}

/// "good, few samples, random writes of 4 KiB: 1480 IOPS (1450 to 1500)".
pub fn rank_text(place: &findings::RankPlace) -> String {
    noted(&[place.level, place.caveat.as_deref().unwrap_or_default(), &place.figure])
}

/// The parts that are not empty, in a list.
fn noted(parts: &[&str]) -> String {
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
        (FasterMedium::Unclear, "No important difference is shown.".to_owned()),
    ] {
        sentences.extend(all(wanted).then_some(sentence));
    }
    sentences
}

fn table(curve: &Curve) -> Table {
    let mut table = Table::new(&["Block", "#A", "#B", "A is"]);
    for point in &curve.points {
        let figure = |value: f64| quantity(&curve.metric, value);
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
        (_, Some([by, low, high])) => format!("unclear: {by} ({low} to {high})"),
        (_, None) => format!("unclear: {}, no interval", times(ratio)),
    }
}

/// "0.53x", "556x".
fn times(ratio: f64) -> String {
    format!("{}x", significant(ratio))
}
