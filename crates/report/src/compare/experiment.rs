//! Causes of the differences between runs of several media in several hosts: sentences for the main
//! figures, a table of all.

use findings::{Experiment, Explained, ExplainedFigure, SimpleRatio};
use record::test;
use record::text::{capitalised, printable};
use record::units::{Bytes, KIB, MIB, significant};

use crate::tables::Table;
use crate::words;

/// Factors with all their levels: "The reader: 05e3:0749, 058f:6366".
pub(super) fn factors(experiment: &Experiment) -> Vec<String> {
    let line = |factor: &findings::ExperimentFactor| {
        let levels: Vec<String> = factor.levels.iter().map(|level| printable(level)).collect();
        let bare = |name: &String| printable(name.trim_start_matches("the "));
        let with: Vec<String> = factor.with.iter().map(bare).collect();
        let with = match with.len() {
            0 => String::new(),
            _ => format!(" (counted with it: {})", with.join(", ")),
        };
        format!("{}: {}{with}", capitalised(&factor.name), levels.join("; "))
    };
    experiment.factors.iter().map(line).collect()
}

/// Sentences about the causes for the main figures, and the basis of the intervals.
pub(super) fn sentences(experiment: &Experiment) -> Vec<String> {
    if let Some(why) = &experiment.unsplit {
        let sentences = vec![format!("Nothing can be split: {}.", printable(why))];
        return sentences.into_iter().chain(hides_cards(experiment)).collect();
    }
    let Some(any) = experiment.figures.first() else {
        return vec!["Cannot be told: no figure was measured of four runs or more.".to_owned()];
    };
    let mut sentences = confounded(experiment, any);
    sentences.extend(main(experiment).flat_map(|figure| about(experiment, figure)));
    sentences.extend(basis(experiment));
    sentences
}

/// The main figure of each kind of work.
pub(super) fn main(experiment: &Experiment) -> impl Iterator<Item = &ExplainedFigure> {
    const KINDS: [(&str, u64); 4] = [
        (test::RANDOM_WRITE, 4 * KIB),
        (test::RANDOM_READ, 4 * KIB),
        (test::SEQUENTIAL_WRITE, MIB),
        (test::SEQUENTIAL_READ, MIB),
    ];
    KINDS.iter().filter_map(|(test, wanted)| {
        let of_test = experiment.figures.iter().filter(|figure| figure.test == *test);
        of_test.min_by_key(|figure| figure.block_bytes.abs_diff(*wanted))
    })
}

/// "random write, 4 KiB".
pub(super) fn named(figure: &ExplainedFigure) -> String {
    format!("{}, {}", words::test(&figure.test), Bytes(figure.block_bytes))
}

/// Sentences about factors that cannot be separated, and the command to type.
fn confounded(experiment: &Experiment, figure: &ExplainedFigure) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let mut effect_text: Vec<&String> = Vec::new();
    for (factor, effect) in experiment.factors.iter().zip(&figure.effects) {
        let Explained::Confounded { with } = effect else { continue };
        if effect_text.contains(&&factor.name) {
            continue;
        }
        effect_text.extend(with);
        let all: Vec<&str> =
            std::iter::once(&factor.name).chain(with).map(String::as_str).collect();
        sentences.push(format!("Cannot be told: {} change together.", all.join(" and ")));
    }
    if !sentences.is_empty() {
        sentences.extend(hides_cards(experiment));
    }
    sentences
}

fn hides_cards(experiment: &Experiment) -> Option<String> {
    experiment.hides_cards.then(|| {
        "A reader hides which card is in it: where runs are of one card, type card=RUN for each of them.".to_owned()
    })
}

/// Sentences about one figure: "Random read, 4 KiB: of the factor of 6.10 between these runs the
/// reader explains 4.20 (3.90 to 4.50; most with X, least with Y), the card 1.45 (1.30 to 1.60;
/// ...)."
fn about(experiment: &Experiment, figure: &ExplainedFigure) -> Vec<String> {
    let parts = experiment.factors.iter().zip(&figure.effects).filter_map(|(factor, effect)| {
        let Explained::Known { highest, lowest, ratio: by, .. } = effect else { return None };
        let what = match interval(effect) {
            Some([low, _]) if low <= 1.0 => format!("of {} no effect is told", factor.name),
            _ => format!("{} explains", factor.name),
        };
        let ends = format!("{} over {}", printable(highest), printable(lowest));
        Some((*by, format!("{what} {}; {ends})", ratio(effect).trim_end_matches(')'))))
    });
    let mut parts: Vec<(f64, String)> = parts.collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let lead = capitalised(&named(figure));
    let range = significant(figure.range);
    let mut sentences =
        vec![format!("{lead}: of the factor of {range} between these runs {}.", parts.join(", "))];
    sentences.extend(interaction(experiment, figure));
    sentences.extend(no_interaction(experiment, figure));
    sentences.extend(missing(experiment, figure));
    sentences.extend((figure.limited_by_link > 0).then(|| {
        format!(
            "{} of {} runs may be as fast as their link carries: a faster one may show more of the medium.",
            figure.limited_by_link, figure.runs
        )
    }));
    sentences
}

/// Sentence about how the effect of one factor depends on the others, if an interaction is shown.
fn interaction(experiment: &Experiment, figure: &ExplainedFigure) -> Option<String> {
    if figure.interacts != Some(true) {
        return None;
    }
    let spread = |simple: &[SimpleRatio]| {
        let ratios = simple.iter().map(|it| it.ratio.ln());
        ratios.clone().fold(f64::MIN, f64::max) - ratios.fold(f64::MAX, f64::min)
    };
    let simple =
        experiment.factors.iter().zip(&figure.effects).filter_map(
            |(factor, effect)| match effect {
                Explained::Known { simple, .. } if simple.len() > 1 => Some((factor, simple)),
                _ => None,
            },
        );
    let Some((factor, simple)) = simple.max_by(|a, b| spread(a.1).total_cmp(&spread(b.1))) else {
        return Some("The effects depend on each other, by repeats.".to_owned());
    };
    let each =
        |it: &SimpleRatio| format!("{} with {}", ratio_text(it.ratio, it.ci95), printable(&it.at));
    let each: Vec<String> = simple.iter().map(each).collect();
    Some(format!(
        "The effects depend on each other: that of {} is {}.",
        factor.name,
        each.join(", ")
    ))
}

/// Sentence about the interaction with a factor that the user named, if none is shown.
fn no_interaction(experiment: &Experiment, figure: &ExplainedFigure) -> Option<String> {
    experiment.by.filter(|_| figure.interacts != Some(true))?;
    let by = experiment.factors[1].name.trim_start_matches("the ");
    let Some(found) = figure.interaction else {
        return Some(format!(
            "Interaction: cannot be told, as no two media were both measured with the same two {by}s."
        ));
    };
    let size = ratio_text(found.ratio, found.ci95);
    let differs = format!("the ratio of two media differs by a factor of {size} between {by}s");
    Some(match figure.interacts {
        Some(_) => format!("Interaction: none is shown; {differs} at most."),
        None => format!(
            "Interaction: {differs} at most; without repeats that may be a difference between runs."
        ),
    })
}

/// Sentence about missing combinations of the whole table.
fn missing(experiment: &Experiment, figure: &ExplainedFigure) -> Option<String> {
    let [media, levels, ..] = &experiment.factors[..] else { return None };
    let is_measured = |medium: &String, level: &String| {
        figure.combinations.iter().any(|of| of.medium == *medium && of.level == *level)
    };
    let all =
        media.levels.iter().flat_map(|medium| levels.levels.iter().map(move |it| (medium, it)));
    let missing: Vec<String> = all
        .filter(|(medium, level)| !is_measured(medium, level))
        .map(|(medium, level)| format!("{} with {}", printable(medium), printable(level)))
        .collect();
    (!figure.combinations.is_empty() && !missing.is_empty()).then(|| {
        format!("Not measured, and taken to be the product of the effects: {}.", missing.join(", "))
    })
}

/// Source of the intervals, once for all figures.
fn basis(experiment: &Experiment) -> Vec<String> {
    let figures = &experiment.figures;
    let mut sentences = Vec::new();
    let is_known = |effect: &Explained| matches!(effect, Explained::Known { .. });
    if !figures.iter().flat_map(|figure| &figure.effects).any(is_known) {
        return sentences;
    }
    if figures.iter().any(|figure| figure.repeats.is_some()) {
        sentences.push("Intervals come from how much repeats differ, and are never narrower than the runs' own.".to_owned());
    }
    if figures.iter().any(|figure| figure.repeats.is_none()) {
        sentences.push("Without repeats intervals come from the runs' own, which know nothing of differences between runs, and whether effects depend on each other cannot be told: measure combinations twice.".to_owned());
    }
    let widest = figures.iter().map(|figure| figure.widened).fold(1.0, f64::max);
    if widest > 1.0 {
        sentences.push(format!(
            "Where effects do not multiply as well as these intervals let one expect, they were widened, at most {}x.",
            significant(widest)
        ));
    }
    sentences
}

fn interval(effect: &Explained) -> Option<[f64; 2]> {
    match effect {
        Explained::Known { ci95, .. } => *ci95,
        _ => None,
    }
}

/// "4.20 (3.90 to 4.50)".
fn ratio(effect: &Explained) -> String {
    match effect {
        Explained::Known { ratio, ci95, .. } => ratio_text(*ratio, *ci95),
        Explained::Confounded { .. } => "cannot be told".to_owned(),
        Explained::Constant => "-".to_owned(),
    }
}

fn ratio_text(ratio: f64, ci95: Option<[f64; 2]>) -> String {
    let ends = match ci95 {
        Some([low, high]) => format!("{} to {}", significant(low), significant(high)),
        None => "without an interval".to_owned(),
    };
    format!("{} ({ends})", significant(ratio))
}

/// A row for each figure: the whole factor, and the part of each cause; empty if nothing can be
/// split.
pub(super) fn table(experiment: &Experiment) -> Table {
    let names = experiment.factors.iter().map(|factor| capitalised(&factor.name));
    let heads = ["Figure".to_owned(), "#Factor".to_owned()].into_iter().chain(names);
    let last = if experiment.by.is_some() { "Interaction" } else { "Off by" };
    let mut table = Table::named(heads.chain([last.to_owned()]).collect());
    for figure in experiment.figures.iter().filter(|_| experiment.unsplit.is_none()) {
        let size = match (experiment.by, figure.interaction) {
            (None, _) => significant(figure.departure),
            (Some(_), Some(found)) => ratio_text(found.ratio, found.ci95),
            (Some(_), None) => "-".to_owned(),
        };
        let effect_text = match figure.interacts {
            Some(true) => ", told",
            Some(false) if experiment.by.is_none() => ", not told",
            _ => "",
        };
        let cells = [named(figure), significant(figure.range)]
            .into_iter()
            .chain(figure.effects.iter().map(ratio))
            .chain([size + effect_text])
            .collect();
        table.push(cells, Vec::new());
    }
    table
}

/// Explanation of the last column.
pub(super) fn note(experiment: &Experiment) -> &'static str {
    if experiment.by.is_some() {
        "Interaction: how many times the ratio of two media changes from one level to another, at most; \"told\" where repeats show that effects depend on each other."
    } else {
        NOTE
    }
}

const NOTE: &str = "Off by: how many times a combination is off the product of the effects, at most; \"told\" where repeats show that effects depend on each other.";
