use super::*;

/// "20:100 40:126": places and rates.
fn points(text: &str) -> Vec<[f64; 2]> {
    let point = |word: &str| {
        let (at, rate) = word.split_once(':').unwrap();
        [at, rate].map(|number| number.parse().unwrap())
    };
    text.split_whitespace().map(point).collect()
}

/// "20x100 30x20": so many windows at each rate.
fn rates(text: &str) -> Vec<f64> {
    let stretch = |word: &str| {
        let (windows, rate) = word.split_once('x').unwrap();
        vec![rate.parse().unwrap(); windows.parse().unwrap()]
    };
    text.split(' ').flat_map(stretch).collect()
}

fn series(points: Vec<[f64; 2]>) -> Series {
    Series { name: "rate".into(), x: SeriesAxis::Bytes, y: SeriesAxis::Bps, points }
}

/// A rate along what was written, of windows of so many bytes each, from here on.
fn curve(text: &str, from: f64, window_bytes: f64) -> Series {
    let at = |(rate, n): (f64, u32)| [from + f64::from(n) * window_bytes, rate];
    series(rates(text).into_iter().zip(1..).map(at).collect())
}

fn said(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let round = |number: f64| (number * 100.0).round() / 100.0;
    let words = points.into_iter().map(|(at, rate)| format!("{}:{}", round(at), round(rate)));
    let words: Vec<String> = words.collect();
    if words.is_empty() { "none".to_owned() } else { words.join(" ") }
}

fn answer(question: &str) -> String {
    let (kind, of) = question.split_once(' ').unwrap();
    let (first, rest) = of.split_once(' ').unwrap_or((of, ""));
    let pairs = || points(of).into_iter().map(|[at, rate]| (at, rate)).collect::<Vec<_>>();
    let whole = || curve(of, 0.0, 1.0);
    match kind {
        "levels" => said(levels(&whole())),
        "level-count" => levels(&whole()).len().to_string(),
        "without-outliers" => format!("{:?}", without_outliers(&whole().points)),
        "without-dips" => said(without_dips(pairs())),
        "without-short-last" => said(without_short_last_level(pairs())),
        "cliff-from" => {
            let cliff = cliff(&curve(rest, 0.0, 1.0), first.parse().unwrap());
            cliff.map_or("none".into(), |cliff| cliff.at.to_string())
        }
        "falls" => first_fall(&whole(), 0.0).is_some().to_string(),
        "memory-from" => {
            let begun = first.parse::<f64>().unwrap() * MIN_FLASH;
            let series = curve(rest, begun, MIN_FLASH / 4.0);
            let left = without_memory(&series, 0.0).points.len();
            format!("{} left out", series.points.len() - left)
        }
        "coarser" => said(coarser(&series(points(of))).points.into_iter().map(Into::into)),
        "begun-from" => begun_at(&series(points(rest)), first.parse().unwrap()).to_string(),
        "mean-until" => said(mean_until(&series(points(rest)), first.parse().unwrap())),
        _ => panic!("{question}"),
    }
}

#[test]
fn curves_have_the_levels_cliffs_and_beginnings_of_the_rows() {
    crate::cases::check_rows("src/figures/levels/rows.txt", answer);
}
