//! The middle of the runs of a model, each host counted once.

use std::collections::BTreeMap;

use record::collection::Spread;

/// The median of the hosts' medians, with the lowest and highest of all runs. Values of runs whose host is not known (`None`) are taken as
/// of a host each: nothing says that two of them are of the same. `None` where there is no value.
pub(super) fn spread<'a>(values: impl IntoIterator<Item = (Option<&'a str>, f64)>) -> Option<Spread> {
    let mut hosts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut medians = Vec::new();
    let (mut low, mut high, mut runs) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    for (host, value) in values {
        (low, high, runs) = (low.min(value), high.max(value), runs + 1);
        match host {
            Some(host) => hosts.entry(host).or_default().push(value),
            None => medians.push(value),
        }
    }
    medians.extend(hosts.into_values().filter_map(median));
    let hosts = medians.len() as u64;
    Some(Spread { median: median(medians)?, low, high, runs, hosts })
}

/// The middle, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let upper = *values.select_nth_unstable_by(middle, f64::total_cmp).1;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = values[..middle].iter().copied().max_by(f64::total_cmp)?;
    // Halved first: the sum of two large numbers may be none.
    Some(lower / 2.0 + upper / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_ran_often_counts_once() {
        let values = [(Some("a"), 10.0), (Some("a"), 10.0), (Some("a"), 10.0), (Some("b"), 1.0), (Some("c"), 2.0)];
        assert_eq!(spread(values), Some(Spread { median: 2.0, low: 1.0, high: 10.0, runs: 5, hosts: 3 }));
        assert_eq!(spread([(None, 1.0), (None, 2.0)]), Some(Spread { median: 1.5, low: 1.0, high: 2.0, runs: 2, hosts: 2 }));
        assert_eq!(spread([]), None);
    }

    proptest::proptest! {
        #[test]
        fn a_median_is_that_of_the_sorted_values(mut values in proptest::collection::vec(0.0f64..1e9, 1..50)) {
            let found = median(values.clone());
            values.sort_by(f64::total_cmp);
            let (lower, upper) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
            assert_eq!(found, Some(if values.len() % 2 == 1 { upper } else { lower / 2.0 + upper / 2.0 }));
        }
    }
}
