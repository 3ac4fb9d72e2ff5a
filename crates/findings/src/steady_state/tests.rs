use record::{Series, SeriesAxis};

use super::*;
use crate::testing::{cell, record_of};

#[test]
fn a_steady_state_is_told_with_what_it_fell_by() {
    let drift_of = |rounds: &[f64], name: &str| {
        let mut cell = cell(test::STEADY_STATE, 1, 4 * KIB);
        cell.series.push(Series {
            name: name.into(),
            x: SeriesAxis::ElapsedNs,
            y: SeriesAxis::Iops,
            points: rounds.iter().zip(1..).map(|(iops, n)| [f64::from(n), *iops]).collect(),
        });
        conclude(&record_of(vec![cell])).map(|found| found.statement)
    };
    assert_eq!(
        drift_of(&[100.0; 5], "rounds").as_deref(),
        Some("Steady state from round 1 on: 100 IOPS at random writes of 4 KiB.")
    );
    let fell = |first: f64| {
        drift_of(&[first, 100.0, 100.0, 100.0, 100.0, 100.0], "rounds").expect("a state")
    };
    assert!(fell(1000.0).ends_with("4 KiB, 10x slower than at first."), "{}", fell(1000.0));
    assert!(fell(1000.0).starts_with("Steady state from round 2 on"));
    assert!(fell(130.0).ends_with("1.3x slower than at first."), "{}", fell(130.0));
    assert!(fell(124.0).ends_with("of 4 KiB."), "{}", fell(124.0));
    assert!(
        drift_of(&[100.0; 4], "rounds").is_some_and(|said| said.contains("No steady state in 4"))
    );
    assert_eq!(drift_of(&[100.0; 5], "others"), None);
}
