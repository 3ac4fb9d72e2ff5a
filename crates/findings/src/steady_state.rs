//! `steady-state`: if SNIA's rounds reached a steady state (docs/field/snia-and-uflip.md#snia-pts).

use record::units::{KIB, significant};
use record::{Finding, Record, test};

use crate::figure::{self, size};
use crate::finding_builder::FindingBuilder;

/// First round of the steady state, and the fall of the rate until then.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let (cell, series) = figure::cells(record, test::STEADY_STATE).find_map(|cell| {
        let rounds = cell
            .series
            .iter()
            .find(|series| series.y == record::SeriesAxis::Iops && series.name.contains("round"))?;
        Some((cell, rounds))
    })?;
    let mut search = stats::SteadyState::new(25);
    let rounds: Vec<f64> = series
        .points
        .iter()
        .map(|point| point[1])
        .filter(|iops| iops.is_finite() && *iops > 0.0)
        .collect();
    let state = rounds.iter().map(|iops| search.push(*iops)).last()?;
    let first = *rounds.first()?;
    let draft = match state {
        stats::Rounds::Reached { first: from, mean, .. } => {
            let fell = if first > mean * 1.25 {
                format!(", {} slower than at first", crate::figure::times(first / mean))
            } else {
                String::new()
            };
            FindingBuilder::info(
                "steady-state",
                format!(
                    "Steady state from round {} on: {} IOPS at random writes of {}{fell}.",
                    from + 1,
                    significant(mean),
                    size(cell.params.block_bytes.unwrap_or(4 * KIB))
                ),
            )
        }
        _ => FindingBuilder::warning(
            "steady-state",
            format!(
                "No steady state in {} rounds: its figures depend on what was written before.",
                rounds.len()
            ),
        ),
    };
    Some(
        draft
            .note(format!("{}: {} rounds", figure::named(cell), rounds.len()))
            .note("steady state: five rounds within 20 %, with a slope within 10 % (SNIA; docs/field/snia-and-uflip.md#snia-pts)")
            .done(),
    )
}
