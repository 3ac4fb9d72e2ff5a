//! A forest plot: the ratios of two media, a row for each figure, with their intervals.

use std::fmt::Write as _;

use findings::FasterMedium;
use record::units::significant;
use report::compare::ComparedPair;
use report::words;

use crate::chart::{AxisScale, AxisUnit, Scale, escape};

/// Width of the drawing in CSS pixels, as of every chart.
const WIDTH: f64 = 360.0;
/// Heights of a row, of its text, and of the axis below all rows.
const ROW: f64 = 38.0;
const TEXT: f64 = 14.0;
const AXIS: f64 = 40.0;
/// Characters of a name beside its ratio.
const NAME: usize = 26;

/// The ratios as markup; a second line stands where `allowed`, a share, is lost.
pub(crate) fn draw(pairs: &[ComparedPair], first: &str, allowed: Option<f64>) -> String {
    let limit = allowed.map(|share| 1.0 - share);
    let lines: Vec<f64> = [Some(1.0), limit].into_iter().flatten().collect();
    let ends = pairs.iter().flat_map(|pair| pair.found.ci95.unwrap_or([pair.found.ratio; 2]));
    let scale = AxisScale::over(Scale::Log, AxisUnit::Plain("x"), ends.chain(lines.clone()));
    let x = scale.laid(14.0, WIDTH - 14.0);
    let lines: Vec<f64> = lines.into_iter().map(|line| x.at(line)).collect();
    let bottom = ROW * pairs.len() as f64 + 4.0;
    let mut out = format!(
        r#"<svg class="chart" viewBox="0 0 {WIDTH} {}" role="img" aria-labelledby="forest" tabindex="0"><title id="forest">Ratios of two media, with their 95 % intervals.</title>"#,
        bottom + AXIS
    );
    for (pair, row) in pairs.iter().zip(0u32..) {
        let y = f64::from(row) * ROW;
        let [low, high] = pair.found.ci95.unwrap_or([pair.found.ratio; 2]).map(|at| x.at(at));
        let middle = y + TEXT + 10.0;
        // Below the name, which they would cross.
        for line in &lines {
            let _ = write!(out, r#"<path class="ref" d="M{line:.1} {}v{}"/>"#, middle - 6.0, 14.0);
        }
        let mark = if pair.found.ci95.is_some() { "mark" } else { "ring" };
        let hue = match pair.found.judgement {
            FasterMedium::Faster => "s0",
            FasterMedium::Slower => "s1",
            _ => "s2",
        };
        let _ = write!(
            out,
            r#"<g class="{hue}"><text class="key" x="0" y="{}">{}</text><text class="end" x="{WIDTH}" y="{}">{}x</text><path class="whisker" d="M{low:.1} {middle}H{high:.1}"/><circle class="{mark}" cx="{:.1}" cy="{middle}" r="4"/><g class="tips"><path d="M0 {y}h{WIDTH}v{ROW}h-{WIDTH}z"><title>{}: {}</title></path></g></g>"#,
            y + TEXT,
            escape(&words::clipped(&pair.name, NAME)),
            y + TEXT,
            significant(pair.found.ratio),
            x.at(pair.found.ratio),
            escape(&pair.name),
            escape(&pair.judged)
        );
    }
    let _ = write!(out, r#"<path class="axis" d="M0 {bottom}H{WIDTH}"/>"#);
    for (value, label) in x.ticks(4) {
        let _ = write!(
            out,
            r#"<text class="tick mid" x="{:.1}" y="{}">{}</text>"#,
            x.at(value),
            bottom + 16.0,
            escape(&label)
        );
    }
    let name = match allowed {
        Some(share) => {
            format!("{first}: slower left of 1 x, by {} % at the limit", significant(100.0 * share))
        }
        None => format!("{first} is slower left of 1 x, faster right of it"),
    };
    let _ = write!(
        out,
        r#"<text class="name end" x="{WIDTH}" y="{}">{}</text></svg>"#,
        bottom + 34.0,
        escape(&words::clipped(&name, 48))
    );
    out
}
