//! Levels of one factor, each against the first: a row for each figure, a column for each level.

use findings::{LevelComparison, LevelFigure};
use record::text::{capitalised, printable};
use record::units::Bytes;

use crate::tables::Table;
use crate::words;

pub(super) fn title(found: &LevelComparison) -> String {
    format!("What {} does", found.by.words())
}

/// "The host: Pi 4; laptop (counted with it: kernel)", or the reason why there is no ratio.
pub(super) fn sentences(found: &LevelComparison) -> Vec<String> {
    let levels: Vec<String> = found.levels.iter().map(|level| printable(level)).collect();
    let with: Vec<&str> = found.with.iter().map(|name| name.trim_start_matches("the ")).collect();
    let with = match &with[..] {
        [] => String::new(),
        with => format!(" (counted with it: {})", with.join(", ")),
    };
    let name = capitalised(found.by.words());
    let mut sentences = Vec::new();
    if !levels.is_empty() {
        sentences.push(format!("{name}: {}{with}.", levels.join("; ")));
    }
    match &found.refusal {
        None => sentences
            .push(format!("Ratios to {}, over runs that are equal in everything else:", levels[0])),
        Some(why) => {
            sentences.push(format!("There is no ratio: {}.", printable(why)));
            sentences.extend(found.hides_cards.then(|| HIDES_CARDS.to_owned()));
        }
    }
    sentences
}

const HIDES_CARDS: &str = "A reader hides which card is in it: where runs are of one card, type card=RUN for each of them.";

/// Ratios to the first level; empty if there are none.
pub(super) fn table(found: &LevelComparison) -> Table {
    let levels = found.levels.iter().skip(1);
    let heads = levels.clone().map(|level| format!("{} is", printable(level)));
    let mut table = Table::named(std::iter::once("Figure".to_owned()).chain(heads).collect());
    let row = |figure: &LevelFigure| (figure.test.clone(), figure.block_bytes, figure.of.clone());
    let mut rows: Vec<_> = found.figures.iter().map(row).collect();
    rows.dedup();
    for wanted in rows {
        let (test, bytes, of) = &wanted;
        let of = if of.is_empty() { String::new() } else { format!(", {}", printable(of)) };
        let cell = |level: &String| {
            let at = found.figures.iter().find(|it| it.level == *level && row(it) == wanted);
            at.map_or_else(|| "-".to_owned(), |it| super::judged(&it.found))
        };
        let name = format!("{}, {}{of}", words::test(test), Bytes(*bytes));
        table.push(std::iter::once(name).chain(levels.clone().map(cell)).collect(), Vec::new());
    }
    table
}
