use super::*;

/// A rate along what was written: stretches of (windows, rate), each window of one byte.
fn curve(stretches: &[(usize, f64)]) -> Series {
    let rates = stretches.iter().flat_map(|(windows, rate)| vec![*rate; *windows]);
    Series {
        name: "rate".into(),
        x: SeriesAxis::Bytes,
        y: SeriesAxis::Bps,
        points: rates.zip(1..).map(|(rate, at)| [f64::from(at), rate]).collect(),
    }
}

/// Levels with their rates in whole numbers.
fn rounded(levels: &[(f64, f64)]) -> Vec<(f64, f64)> {
    levels.iter().map(|(end, rate)| (*end, rate.round())).collect()
}

#[test]
fn a_curve_has_levels_from_sixteen_windows_to_a_thousand_and_twenty_four() {
    for (windows, levels_of) in [(15, 0), (16, 1), (1024, 1), (1025, 0)] {
        assert_eq!(levels(&curve(&[(windows, 10.0)])).len(), levels_of, "{windows}");
    }
    // What is no rate is no window.
    let mut strange = curve(&[(18, 10.0)]);
    (strange.points[3][1], strange.points[9][1]) = (0.0, f64::NAN);
    assert_eq!(levels(&strange).len(), 1);
    strange.points[12][1] = -1.0;
    assert_eq!(levels(&strange).len(), 0);
}

#[test]
fn stretches_that_differ_by_less_than_a_quarter_are_one_level() {
    for (rate, expected) in [
        (124.0, vec![(40.0, 111.0)]),
        (126.0, vec![(20.0, 100.0), (40.0, 126.0)]),
        (79.0, vec![(20.0, 100.0), (40.0, 79.0)]),
        (81.0, vec![(40.0, 90.0)]),
    ] {
        assert_eq!(rounded(&levels(&curve(&[(20, 100.0), (20, rate)]))), expected, "{rate}");
    }
    // The closest are joined first: 10 windows of 120 and 20 of 140 are 133 in the geometric mean.
    let three = curve(&[(20, 100.0), (10, 120.0), (20, 140.0)]);
    assert_eq!(rounded(&levels(&three)), [(20.0, 100.0), (50.0, 133.0)]);
}

#[test]
fn one_slow_window_is_no_level() {
    let mut points = curve(&[(5, 10.0)]).points;
    points[2][1] = 1.0;
    assert_eq!(without_outliers(&points), [10.0; 5]);
    points[3][1] = 1.0;
    assert_eq!(without_outliers(&points), [10.0, 10.0, 1.0, 1.0, 10.0]);
    points[0][1] = 50.0;
    assert_eq!(without_outliers(&points)[0], 50.0, "the first has one neighbour");
}

#[test]
fn a_dip_is_a_tenth_of_the_whole_at_most() {
    for (levels, left) in [
        (vec![(40.0, 9.0), (50.0, 3.0), (100.0, 9.0)], vec![(100.0, 9.0)]),
        (
            vec![(40.0, 9.0), (50.1, 3.0), (100.0, 9.0)],
            vec![(40.0, 9.0), (50.1, 3.0), (100.0, 9.0)],
        ),
        // What it parted is one level again within a quarter only.
        (vec![(40.0, 10.0), (50.0, 3.0), (100.0, 8.1)], vec![(100.0, 8.1)]),
        (vec![(40.0, 10.0), (50.0, 3.0), (100.0, 8.0)], vec![(40.0, 10.0), (100.0, 8.0)]),
        (vec![(40.0, 8.0), (50.0, 3.0), (100.0, 10.0)], vec![(40.0, 8.0), (100.0, 10.0)]),
        // A step is no dip, nor is what is slower than one neighbour alone.
        (
            vec![(40.0, 9.0), (50.0, 5.0), (100.0, 5.0)],
            vec![(40.0, 9.0), (50.0, 5.0), (100.0, 5.0)],
        ),
        (vec![(90.0, 9.0), (100.0, 3.0)], vec![(90.0, 9.0), (100.0, 3.0)]),
        (vec![], vec![]),
    ] {
        assert_eq!(without_dips(levels.clone()), left, "{levels:?}");
    }
}

#[test]
fn a_last_level_as_short_as_a_dip_is_none() {
    for (levels, left) in [
        (vec![(90.0, 9.0), (100.0, 3.0)], 1),
        (vec![(89.9, 9.0), (100.0, 3.0)], 2),
        (vec![(100.0, 9.0)], 1),
    ] {
        assert_eq!(without_short_last_level(levels.clone()).len(), left, "{levels:?}");
    }
}

#[test]
fn a_cliff_falls_and_never_rises() {
    let at = |stretches: &[(usize, f64)]| cliff(&curve(stretches), 0.0).map(|cliff| cliff.at);
    assert_eq!(at(&[(20, 100.0), (30, 20.0)]), Some(20.0));
    assert_eq!(at(&[(20, 100.0), (30, 20.0), (30, 60.0)]), None);
    assert_eq!(at(&[(20, 100.0), (30, 60.0), (30, 20.0)]), Some(20.0));
    assert_eq!(at(&[(20, 20.0), (30, 100.0)]), None);
    assert_eq!(at(&[(50, 100.0)]), None);
    // Where the first axis begins later, the cliff is so much nearer.
    assert_eq!(cliff(&curve(&[(20, 100.0), (30, 20.0)]), 5.0).map(|cliff| cliff.at), Some(15.0));
}

#[test]
fn eight_windows_must_really_be_fast() {
    let with = |fast: usize| {
        let mut series = curve(&[(8, 40.0), (30, 10.0)]);
        (fast..8).for_each(|slow| series.points[slow][1] = 19.0);
        first_fall(&series, 0.0).is_some()
    };
    assert!(with(8) && !with(7));
}

#[test]
fn memory_is_the_fast_beginning_of_a_fill_that_began_again() {
    let least = MIN_FLASH;
    let series = |rates: &[f64]| Series {
        points: rates
            .iter()
            .zip(1..)
            .map(|(rate, n)| [f64::from(n) * least / 4.0, *rate])
            .collect(),
        ..curve(&[])
    };
    let left = |rates: &[f64]| rates.len() - without_memory(&series(rates), 0.0).points.len();
    let slow = [10.0; 12];
    // One more window than is fast is left out: it may be partly so.
    assert_eq!(left(&[&[50.0, 50.0], &slow[..]].concat()), 3);
    assert_eq!(left(&[&[12.4, 12.4], &slow[..]].concat()), 0);
    assert_eq!(left(&[&[12.6, 12.4], &slow[..]].concat()), 2);
    // What is fast beyond 128 MiB is not memory's.
    assert_eq!(left(&[&[10.0; 4][..], &[50.0], &slow[..]].concat()), 0);
    assert_eq!(left(&[&[10.0; 3][..], &[50.0], &slow[..]].concat()), 5);
}

#[test]
fn a_fill_that_has_gone_on_is_fast_by_itself() {
    // The curve begins at 128 MiB or just before.
    let left = |begun: f64, fast: usize| {
        let rates = [vec![50.0; fast], vec![10.0; 20]].concat();
        let points: Vec<[f64; 2]> = rates
            .iter()
            .zip(1..)
            .map(|(rate, n)| [begun + f64::from(n) * MIN_FLASH / 4.0, *rate])
            .collect();
        let series = Series { points, ..curve(&[]) };
        rates.len() - without_memory(&series, 0.0).points.len()
    };
    assert_eq!(left(MIN_FLASH, 8), 0, "still fast after 128 MiB more");
    assert_eq!(left(MIN_FLASH, 2), 3);
    assert_eq!(left(0.0, 2), 3);
}

#[test]
fn two_windows_in_one_take_what_both_took() {
    // 10 at 10 a second and 10 at 5 a second: 20 in 3 seconds. The last stays alone.
    let series = Series { points: vec![[10.0, 10.0], [20.0, 5.0], [30.0, 4.0]], ..curve(&[]) };
    let coarse = coarser(&series).points;
    assert_eq!(coarse.len(), 2);
    assert!((coarse[0][1] - 20.0 / 3.0).abs() < 1e-12 && coarse[0][0] == 20.0);
    assert!((coarse[1][1] - 4.0).abs() < 1e-12 && coarse[1][0] == 30.0);
}

#[test]
fn the_begin_of_a_curve_is_computed_from_its_second_window() {
    let at = |points: &[[f64; 2]], origin: f64| {
        begun_at(&Series { points: points.to_vec(), ..curve(&[]) }, origin)
    };
    assert_eq!(at(&[[110.0, 1.0], [120.0, 1.0]], 0.0), 100.0);
    assert_eq!(at(&[[110.0, 1.0], [120.0, 1.0]], 40.0), 60.0);
    assert_eq!(at(&[[10.0, 1.0], [120.0, 1.0]], 0.0), 0.0);
    assert_eq!(at(&[[110.0, 1.0]], 0.0), 0.0);
}

#[test]
fn the_mean_up_to_somewhere_is_bytes_over_seconds() {
    let series =
        Series { points: vec![[10.0, 10.0], [20.0, 5.0], [30.0, 0.0], [40.0, 4.0]], ..curve(&[]) };
    assert_eq!(mean_until(&series, 9.0), None);
    assert_eq!(mean_until(&series, 10.0), Some((10.0, 10.0)));
    assert_eq!(mean_until(&series, 20.0), Some((20.0, 20.0 / 3.0)));
    // A window without a rate is counted with the next: 20 at 4 a second.
    assert_eq!(mean_until(&series, 40.0), Some((40.0, 5.0)));
}
