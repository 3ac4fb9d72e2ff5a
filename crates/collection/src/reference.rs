//! Figures that others have published.

use record::Published;
use record::collection::RunHeadline;

/// The line of a published run: only the figures of `drawn`, which was computed from its cells. No
/// other conclusions are drawn, as published figures are few and were measured differently. The
/// medium is marked as a fake if its source calls it one.
pub fn reference_headline(run: &Published, drawn: RunHeadline) -> RunHeadline {
    let model = run.model.as_deref().unwrap_or_default().to_lowercase();
    let is_fake = ["counterfeit", "fake"].iter().any(|word| model.contains(word));
    RunHeadline { figures: drawn.figures, is_fake, ..RunHeadline::default() }
}

#[cfg(test)]
mod tests {
    use record::collection::HeadlineFigure;

    use super::*;

    #[test]
    fn only_figures_are_concluded_from_what_others_published() {
        let text = include_str!("../../../fixtures/records/check-a1.json");
        let mut run = Published::from(&record::Record::from_json(text).unwrap());
        let drawn = RunHeadline {
            figures: [(HeadlineFigure::RandomWrite4k, 7.0)].into(),
            verdict: Some("Good for a root disk.".to_owned()),
            faults: vec!["capacity-fake".to_owned()],
            is_fake: true,
            ..RunHeadline::default()
        };
        let of = |run: &Published| reference_headline(run, drawn.clone());
        assert_eq!(
            of(&run),
            RunHeadline { figures: drawn.figures.clone(), ..RunHeadline::default() }
        );
        run.model = Some("64 GB announced, Counterfeit".to_owned());
        assert!(of(&run).is_fake);
    }
}
