//! The middle of the runs of a model, each host counted once.

use record::collection::HostSpread;

/// The median of the hosts' medians, with the lowest and highest of all runs. Values of runs whose
/// host is not known (`None`) are taken as of a host each: nothing says that two of them are of the
/// same. `None` where there is no value.
pub(super) fn spread<H: Ord>(
    values: impl IntoIterator<Item = (Option<H>, f64)>,
) -> Option<HostSpread> {
    let mut values: Vec<(Option<H>, f64)> = values.into_iter().collect();
    values.sort_unstable_by(|(a, x), (b, y)| a.cmp(b).then(x.total_cmp(y)));
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut medians = Vec::new();
    for of_host in values.chunk_by(|(a, _), (b, _)| a.is_some() && a == b) {
        (low, high) = (low.min(of_host[0].1), high.max(of_host[of_host.len() - 1].1));
        medians.push(middle(of_host, |(_, value)| *value));
    }
    medians.sort_unstable_by(f64::total_cmp);
    let (runs, hosts) = (values.len() as u64, medians.len() as u64);
    (hosts > 0).then(|| HostSpread {
        median: middle(&medians, |median| *median),
        low,
        high,
        runs,
        hosts,
    })
}

/// The middle of values in order, or the mean of the two in the middle.
fn middle<T>(sorted: &[T], value: impl Fn(&T) -> f64) -> f64 {
    let (lower, upper) = (value(&sorted[(sorted.len() - 1) / 2]), value(&sorted[sorted.len() / 2]));
    // Halved first: the sum of two large numbers may be none.
    if lower == upper { upper } else { lower / 2.0 + upper / 2.0 }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_host_that_ran_often_counts_once() {
        let values = [
            (Some("a"), 10.0),
            (Some("a"), 10.0),
            (Some("a"), 10.0),
            (Some("b"), 1.0),
            (Some("c"), 2.0),
        ];
        assert_eq!(
            spread(values),
            Some(HostSpread { median: 2.0, low: 1.0, high: 10.0, runs: 5, hosts: 3 })
        );
        assert_eq!(
            spread::<u8>([(None, 1.0), (None, 2.0)]),
            Some(HostSpread { median: 1.5, low: 1.0, high: 2.0, runs: 2, hosts: 2 })
        );
        assert_eq!(spread::<u8>([]), None);
    }

    proptest::proptest! {
        #[test]
        fn a_spread_is_that_of_a_naive_count(values in proptest::collection::vec((proptest::option::of(0u8..5), 0.0f64..1e9), 1..60)) {
            let mut hosts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for (at, (host, value)) in values.iter().enumerate() {
                let host = host.map_or_else(|| format!("unknown {at}"), |host| host.to_string());
                hosts.entry(host).or_default().push(*value);
            }
            let naive = |mut values: Vec<f64>| {
                values.sort_by(f64::total_cmp);
                (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
            };
            let medians: Vec<f64> = hosts.values().cloned().map(naive).collect();
            let (hosts, all) = (medians.len() as u64, values.iter().map(|(_, value)| *value));
            let expected = HostSpread {
                low: all.clone().fold(f64::INFINITY, f64::min),
                high: all.fold(f64::NEG_INFINITY, f64::max),
                runs: values.len() as u64,
                hosts,
                median: naive(medians),
            };
            let found = spread(values).unwrap();
            assert!((found.median - expected.median).abs() <= expected.median * 1e-12);
            assert_eq!(HostSpread { median: 0.0, ..found }, HostSpread { median: 0.0, ..expected });
        }
    }
}
