//! Main figures of a run, with their intervals.

use findings::Figures;
use record::collection::{CollectionRun, Figure};

/// Figures of a run, each with its value and its 95 % interval in the unit of the figure.
pub fn figures(
    entry: &CollectionRun,
) -> impl Iterator<Item = (&'static Figure, f64, Option<[f64; 2]>)> {
    let record = entry.run.to_record(&entry.id);
    entry.headline.figures.iter().map(move |(&wanted, &value)| {
        let ci95 = Figures::of(&record).get(wanted).and_then(|known| known.estimate.ci95);
        (wanted.entry(), value, ci95)
    })
}
