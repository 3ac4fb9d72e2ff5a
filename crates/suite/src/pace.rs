//! Estimated time of I/O without a time limit, from similar I/O so far.

use record::{Cell, Params, Pattern, PlannedCell};

/// Estimated nanoseconds of a planned cell, at the rate of the most similar finished cell: same
/// direction and order, nearest block size. `None` if there is none.
pub(crate) fn expected_ns(planned: &PlannedCell, done: &[Cell]) -> Option<u64> {
    let block_bytes = planned.block_bytes();
    let span_bytes = planned.params.span_bytes.unwrap_or(0);
    let ops = planned.max_written_bytes.max(span_bytes) / block_bytes.max(1);
    let apart = |cell: &&Cell| {
        let block = cell.params.block_bytes.unwrap_or(block_bytes).max(1) as f64;
        (block / block_bytes.max(1) as f64).ln().abs()
    };
    let alike = done.iter().filter(|cell| {
        cell.ops > 0
            && cell.params.direction == planned.params.direction
            && is_sequential(&cell.params) == is_sequential(&planned.params)
    });
    let nearest = alike.min_by(|one, other| apart(one).total_cmp(&apart(other)))?;
    // Twice the bytes take twice as long at most, and no less than as long.
    let per_op_ns = nearest.elapsed_ns as f64 / nearest.ops as f64;
    let block = nearest.params.block_bytes.unwrap_or(block_bytes).max(1);
    let times = (block_bytes as f64 / block as f64).max(1.0);
    Some((per_op_ns * times * ops as f64) as u64)
}

fn is_sequential(params: &Params) -> bool {
    params.pattern == Some(Pattern::Sequential)
}

#[cfg(test)]
mod tests {
    use record::Direction;
    use record::units::{KIB, MIB, MILLISECOND_NS, SECOND_NS};

    use super::*;

    fn planned(pattern: Pattern, block_bytes: u64, bytes: u64) -> PlannedCell {
        let params = Params {
            block_bytes: Some(block_bytes),
            pattern: Some(pattern),
            direction: Some(Direction::Write),
            ..Params::default()
        };
        PlannedCell {
            id: "x/1".into(),
            test: "x".into(),
            params,
            max_ns: u64::MAX,
            max_written_bytes: bytes,
        }
    }

    #[test]
    fn the_time_is_expected_from_the_most_similar_cell_only() {
        let wanted = planned(Pattern::Uniform, 4 * KIB, 400 * KIB);
        assert_eq!(expected_ns(&wanted, &[]), None);
        let done = |pattern, block_bytes, ops, elapsed_ns| {
            let params = planned(pattern, block_bytes, 0).params;
            Cell { ops, elapsed_ns, ..Cell::begun("y/1", "y", params) }
        };
        let rows = done(Pattern::Sequential, MIB, 100, SECOND_NS);
        assert_eq!(expected_ns(&wanted, std::slice::from_ref(&rows)), None);
        let far = done(Pattern::Uniform, 64 * KIB, 10, SECOND_NS);
        assert_eq!(expected_ns(&wanted, &[rows.clone(), far.clone()]), Some(10 * SECOND_NS));
        let near = done(Pattern::Uniform, 2 * KIB, 10, 10 * MILLISECOND_NS);
        assert_eq!(expected_ns(&wanted, &[rows, far, near]), Some(200 * MILLISECOND_NS));
    }
}
