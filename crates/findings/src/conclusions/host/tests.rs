use record::{HostState, Sample};

use super::*;
use crate::testing::{cell, record_of};

#[test]
fn tasks_that_wait_for_half_of_the_longest_cell_are_reported() {
    let pressed = |share_us: u64, elapsed_ns: u64, looked_ns: Option<[u64; 2]>| {
        let mut long = cell(test::RANDOM_WRITE, 1, 4096);
        long.elapsed_ns = elapsed_ns;
        long.host_state =
            Some(HostState { cpu_pressure_us: Some(share_us), ..HostState::default() });
        long.activity =
            looked_ns.unwrap_or([0, 0]).map(|at_ns| Sample { at_ns, ..Sample::default() }).into();
        let mut short = long.clone();
        short.elapsed_ns = 1;
        most_pressed(&record_of(vec![short, long])).map(|(_, share)| share)
    };
    assert_eq!(pressed(500, 1_000_000, None), None);
    assert_eq!(pressed(510, 1_000_000, None), Some(0.51));
    assert_eq!(pressed(510, 1_000_000, Some([5, 2_000_005])), None);
    assert_eq!(pressed(1_500, 1_000_000, Some([5, 2_000_005])), Some(0.75));
}
