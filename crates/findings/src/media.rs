//! Media of one model that differ from the rest.

use std::collections::{BTreeMap, BTreeSet};

use record::collection::{HeadlineFigure, Media, MediumApart, MediumFigure, MediumRun};

/// Finds the media of a line that differ from their siblings. `runs` are its runs with a known
/// medium, the newest first.
///
/// Each medium counts once in a figure, by the median of its runs. [`stats::outliers`] has the
/// thresholds.
pub fn media(runs: &[MediumRun]) -> Media {
    let mut of: BTreeMap<&str, Vec<&MediumRun>> = BTreeMap::new();
    for run in runs {
        of.entry(&run.medium_key).or_default().push(run);
    }
    let mut found: BTreeMap<&str, Vec<MediumFigure>> = BTreeMap::new();
    for figure in HeadlineFigure::ALL {
        for (key, apart) in apart_in(&of, figure) {
            found.entry(key).or_default().push(apart);
        }
    }
    let hosts = hosts_of(runs);
    let is_shared = |host: &Option<String>| {
        host.as_deref().and_then(|host| hosts.get(host)).is_none_or(|media| media.len() > 1)
    };
    let mut apart: Vec<MediumApart> = found
        .into_iter()
        .map(|(key, mut figures)| {
            figures.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
            MediumApart {
                medium_key: key.to_owned(),
                runs: of[key].iter().map(|run| run.id.clone()).collect(),
                has_own_hosts: !of[key].iter().any(|run| is_shared(&run.host)),
                figures,
            }
        })
        .collect();
    apart.sort_by(|a, b| distance(&b.figures[0]).total_cmp(&distance(&a.figures[0])));
    Media { media: of.len() as u64, runs: runs.len() as u64, apart }
}

/// Distance of a figure from the others, on a logarithmic scale.
fn distance(apart: &MediumFigure) -> f64 {
    apart.ratio.ln().abs()
}

/// The media measured on each host.
fn hosts_of(runs: &[MediumRun]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut hosts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for run in runs {
        if let Some(host) = &run.host {
            hosts.entry(host).or_default().insert(&run.medium_key);
        }
    }
    hosts
}

fn apart_in<'a>(
    of: &BTreeMap<&'a str, Vec<&MediumRun>>,
    figure: HeadlineFigure,
) -> Vec<(&'a str, MediumFigure)> {
    let known = |(key, runs): (&&'a str, &Vec<&MediumRun>)| {
        let mut values: Vec<f64> =
            runs.iter().filter_map(|run| run.figures.get(&figure).copied()).collect();
        let runs = values.len() as u64;
        Some((*key, stats::median(&mut values)?, runs))
    };
    let known: Vec<(&str, f64, u64)> = of.iter().filter_map(known).collect();
    let values: Vec<f64> = known.iter().map(|(_, value, _)| *value).collect();
    let apart = |found: stats::Outlier| {
        let (key, value, runs) = known[found.place];
        let [siblings_low, siblings_high] = found.middle;
        let apart = MediumFigure {
            figure,
            value,
            runs,
            siblings_median: found.median,
            siblings_low,
            siblings_high,
            siblings: found.others as u64,
            ratio: found.ratio,
        };
        (key, apart)
    };
    stats::outliers(&values).into_iter().map(apart).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of `media` media, `each` of every one, all figures around 100.
    fn drawn(seed: u64, media: usize, each: usize, hosts: usize) -> Vec<MediumRun> {
        let mut random = stats::Random::new(seed);
        let mut figures = |_: usize| {
            HeadlineFigure::ALL
                .into_iter()
                .map(|figure| (figure, 100.0 * (0.1 * random.normal()).exp()))
                .collect()
        };
        (0..media * each)
            .map(|at| MediumRun {
                id: format!("run{at}"),
                medium_key: format!("medium{:03}", at % media),
                host: Some(format!("host{}", at % hosts)),
                figures: figures(at),
            })
            .collect()
    }

    fn slowed(runs: &mut [MediumRun], key: &str) {
        for run in runs.iter_mut().filter(|run| run.medium_key == key) {
            run.figures.values_mut().for_each(|value| *value /= 3.0);
        }
    }

    #[test]
    fn of_five_hundred_equal_media_one_in_a_hundred_is_named_at_most() {
        for seed in 0..10 {
            let found = media(&drawn(seed, 500, 1, 1));
            assert_eq!((found.media, found.runs), (500, 500));
            assert!(found.apart.len() <= 5, "{} with seed {seed}", found.apart.len());
        }
    }

    #[test]
    fn a_slow_one_is_named_with_all_its_runs() {
        let mut runs = drawn(1, 30, 2, 1);
        slowed(&mut runs, "medium007");
        let found = media(&runs);
        assert_eq!((found.media, found.runs, found.apart.len()), (30, 60, 1));
        let one = &found.apart[0];
        assert_eq!(one.medium_key, "medium007");
        assert_eq!(one.runs, ["run7", "run37"]);
        assert!(!one.has_own_hosts && one.figures.len() == HeadlineFigure::ALL.len());
        let figure = one.figures[0];
        assert!((0.2..0.45).contains(&figure.ratio), "{figure:?}");
        assert_eq!((figure.runs, figure.siblings), (2, 29));
    }

    #[test]
    fn a_medium_with_a_host_of_its_own_is_marked() {
        let mut runs = drawn(1, 30, 2, 1);
        slowed(&mut runs, "medium007");
        for run in runs.iter_mut().filter(|run| run.medium_key == "medium007") {
            run.host = Some("slow".to_owned());
        }
        assert!(media(&runs).apart[0].has_own_hosts);
        runs.iter_mut().for_each(|run| run.host = None);
        assert!(!media(&runs).apart[0].has_own_hosts, "nobody knows");
    }

    #[test]
    fn nothing_comes_of_nothing_or_of_few() {
        assert_eq!(media(&[]), Media::default());
        let mut runs = drawn(1, 5, 4, 1);
        slowed(&mut runs, "medium001");
        assert_eq!(media(&runs), Media { media: 5, runs: 20, apart: Vec::new() });
    }
}
