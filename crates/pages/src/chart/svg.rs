//! SVG writer for a [`Chart`]. No scripts, no inline styles, every text escaped.

use std::fmt::Write as _;

use report::{display, words};

use super::scale::AxisScale;
use super::{Chart, ChartLine, ChartMark, ChartPoint, Reference, ReferenceAxis, Stroke, Style};

/// Width of a drawing in CSS pixels: that of a phone held upright, and half that of a wide page.
/// Text has one size, so one drawing is readable on both.
const WIDTH: f64 = 360.0;
/// Height of the plot within it.
const PLOT_HEIGHT: f64 = 220.0;
/// Approximate maximum number of horizontal grid lines.
const Y_TICKS: usize = 6;
/// Rows of names above the plot, and the fewest characters of a name worth showing.
const NAME_ROWS: usize = 3;
const SHORTEST_NAME: usize = 5;

/// Height of a line of text, and the width reserved for one character: wider than usual sans-serif
/// fonts need on average, so that no label is cut off whatever font the reader has.
const LINE: f64 = 18.0;
const CHARACTER: f64 = 7.5;
/// Most characters of a tick label; labels of impossible values may be cut.
const LONGEST_TICK: usize = 14;
/// Most points of a line with a tooltip; a longer line is sampled.
const MAX_TIPS: usize = 8;
/// Points closer to each other than this many pixels are drawn as one.
const NEAR: f64 = 1.0;

/// Draws a chart. The result is one `<svg>` element, to be styled by the page (classes `grid`,
/// `axis`, `line`, `s0`..`s5`, `ref`, `tips`).
pub fn draw(chart: &Chart) -> String {
    let layout = Layout::of(chart);
    let mut out = String::new();
    let id = escape(&chart.id);
    let _ = write!(
        out,
        r#"<svg class="chart" viewBox="0 0 {WIDTH} {}" role="img" aria-labelledby="{id}" tabindex="0"><title id="{id}">{}</title>"#,
        layout.height,
        escape(&format!("{}. {} against {}.", chart.title, chart.y.name(), chart.x.name()))
    );
    legend(&mut out, &layout);
    grid(&mut out, chart, &layout);
    references(&mut out, chart, &layout);
    for line in chart.series.iter().rev() {
        draw_line(&mut out, chart, &layout, line);
    }
    reference_names(&mut out, &layout);
    for line in &chart.series {
        tooltip_targets(&mut out, chart, &layout, line);
    }
    out.push_str("</svg>");
    out
}

/// Entry of the legend: line, shortened name, x and y. A reference has no line.
type LegendEntry<'a> = (Option<&'a ChartLine>, String, f64, f64);

/// Scales, ticks and edges of the plot, in CSS pixels.
struct Layout<'a> {
    x: AxisScale,
    y: AxisScale,
    x_ticks: Vec<(f64, String)>,
    y_ticks: Vec<(f64, String)>,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    height: f64,
    legend: Vec<LegendEntry<'a>>,
    flags: Vec<Flag>,
}

/// The name of a vertical line, above the plot: its x, its row counted upwards, and the text.
struct Flag {
    x: f64,
    row: usize,
    name: String,
}

impl<'a> Layout<'a> {
    fn of(chart: &'a Chart) -> Layout<'a> {
        let (legend, legend_height) = place_legend(chart);
        let points =
            || chart.series.iter().flat_map(|line| &line.points).filter(|point| chart.fits(point));
        let values_on = |axis: ReferenceAxis| {
            chart.references.iter().filter(move |r| r.axis == axis).map(|r| r.value)
        };
        let x = AxisScale::over(
            chart.x.scale,
            chart.x.unit,
            points().map(|p| p.x).chain(values_on(ReferenceAxis::X)),
        );
        let heights = points()
            .flat_map(|p| [Some(p.y), p.interval.map(|i| i[0]), p.interval.map(|i| i[1])])
            .flatten();
        let y = AxisScale::over(
            chart.y.scale,
            chart.y.unit,
            heights.chain(values_on(ReferenceAxis::Y)),
        )
        .upright();
        let y_ticks: Vec<(f64, String)> = y
            .ticks(Y_TICKS)
            .into_iter()
            .map(|(at, label)| (at, words::clipped(&label, LONGEST_TICK)))
            .collect();
        let longest = y_ticks.iter().map(|(_, label)| text_width(label)).fold(20.0, f64::max);
        let (left, right) = (longest + 10.0, WIDTH - 28.0);
        let x = x.laid(left, right);
        let flags = flags(chart, &x);
        let rows = flags.iter().map(|flag| flag.row + 1).max().unwrap_or(0);
        let top = legend_height + LINE + 10.0 + rows as f64 * LINE;
        let bottom = top + PLOT_HEIGHT;
        let x_ticks = fitting(&x, left, right);
        Layout {
            y: y.laid(bottom, top),
            x,
            x_ticks,
            y_ticks,
            left,
            right,
            top,
            bottom,
            height: bottom + 2.0 * LINE + 8.0,
            legend,
            flags,
        }
    }

    /// Upper edge of all names above the plot.
    fn above_names(&self) -> f64 {
        let rows = self.flags.iter().map(|flag| flag.row + 1).max().unwrap_or(0);
        self.top - rows as f64 * LINE
    }
}

/// Names of many vertical lines, each to the right of its line. From right to left, each is placed
/// above those that it would overlap, so that no line crosses a name; without room it is left out.
fn flags(chart: &Chart, x: &AxisScale) -> Vec<Flag> {
    let mut uprights: Vec<(f64, &str)> = named_beside(chart)
        .filter(|it| !it.label.is_empty())
        .map(|it| (x.at(it.value), it.label.as_str()))
        .collect();
    uprights.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut flags: Vec<Flag> = Vec::new();
    for (x, label) in uprights {
        let room = ((WIDTH - x - 4.0) / CHARACTER).max(0.0) as usize;
        let name = words::clipped(label, room);
        let end = x + 8.0 + text_width(&name);
        let row =
            flags.iter().filter(|flag| flag.x < end).map(|flag| flag.row + 1).max().unwrap_or(0);
        if row < NAME_ROWS && (name == label || room >= SHORTEST_NAME) {
            flags.push(Flag { x, row, name });
        }
    }
    flags
}

/// As many ticks as fit beside each other.
fn fitting(x: &AxisScale, left: f64, right: f64) -> Vec<(f64, String)> {
    let fits = |ticks: &[(f64, String)]| {
        ticks.windows(2).all(|pair| {
            x.at(pair[1].0) - x.at(pair[0].0)
                > (text_width(&pair[0].1) + text_width(&pair[1].1)) / 2.0 + 10.0
        })
    };
    let inside = |(value, label): &(f64, String)| {
        let half = text_width(label) / 2.0;
        x.at(*value) - half > left - 40.0 && x.at(*value) + half < right + 28.0
    };
    let ticks = (2..=14)
        .rev()
        .map(|most| x.ticks(most))
        .find(|ticks| fits(ticks))
        .unwrap_or_else(|| x.ticks(1));
    ticks.into_iter().filter(inside).collect()
}

fn text_width(text: &str) -> f64 {
    display::width(text) as f64 * CHARACTER
}

/// Lays out the legend in rows; returns its entries and its height. References are named here:
/// beside their line a name would hide data.
fn place_legend(chart: &Chart) -> (Vec<LegendEntry<'_>>, f64) {
    let (mut x, mut y) = (0.0, LINE - 5.0);
    let mut entries = Vec::new();
    let drawn = |line: &&ChartLine| line.points.iter().any(|point| chart.fits(point));
    let lines = chart.series.iter().filter(drawn).map(|line| (Some(line), &line.name));
    let is_beside = |it: &&Reference| named_beside(chart).any(|other| std::ptr::eq(*it, other));
    let references = placed(chart).filter(|it| !is_beside(it)).map(|it| (None, &it.label));
    for (line, name) in lines.chain(references).filter(|(_, name)| !name.is_empty()) {
        let name = words::clipped(name, ((WIDTH - 34.0) / CHARACTER) as usize);
        let needed = 34.0 + text_width(&name);
        if x > 0.0 && x + needed > WIDTH {
            (x, y) = (0.0, y + LINE);
        }
        entries.push((line, name, x, y));
        x += needed + 14.0;
    }
    let height = if entries.is_empty() { 0.0 } else { y + 9.0 };
    (entries, height)
}

fn legend(out: &mut String, layout: &Layout) {
    for (line, name, x, y) in &layout.legend {
        let middle = y - 4.5;
        let class = line.map_or("ref".to_owned(), class);
        if line.is_none_or(|line| line.style.stroke != Stroke::Points) {
            let _ = write!(out, r#"<path class="{class}" d="M{x} {middle}h26"/>"#);
        }
        if let Some(line) = line {
            marks(out, line.style, &[(x + 13.0, middle)]);
        }
        let _ =
            write!(out, r#"<text class="key" x="{}" y="{y}">{}</text>"#, x + 33.0, escape(name));
    }
}

fn grid(out: &mut String, chart: &Chart, layout: &Layout) {
    let Layout { left, right, bottom, .. } = *layout;
    let _ = write!(
        out,
        r#"<text class="name" x="0" y="{}">{}</text>"#,
        layout.above_names() - 10.0,
        escape(&chart.y.name())
    );
    let mut lines = String::new();
    for (value, label) in &layout.y_ticks {
        let y = layout.y.at(*value);
        let _ = write!(lines, "M{left} {y:.1}H{right}");
        let (x, y) = (left - 8.0, y + 4.0);
        let _ =
            write!(out, r#"<text class="tick end" x="{x}" y="{y:.1}">{}</text>"#, escape(label));
    }
    for (value, label) in &layout.x_ticks {
        let (x, y) = (layout.x.at(*value), bottom + LINE);
        let _ = write!(lines, "M{x:.1} {bottom}v5");
        let _ =
            write!(out, r#"<text class="tick mid" x="{x:.1}" y="{y}">{}</text>"#, escape(label));
    }
    let _ = write!(out, r#"<path class="grid" d="{lines}"/>"#);
    let _ = write!(
        out,
        r#"<path class="axis" d="M{left} {bottom}H{right}"/><text class="name end" x="{right}" y="{}">{}</text>"#,
        bottom + 2.0 * LINE + 2.0,
        escape(&chart.x.name())
    );
}

/// The references that are within their axis.
fn placed(chart: &Chart) -> impl Iterator<Item = &Reference> {
    chart.references.iter().filter(|reference| match reference.axis {
        ReferenceAxis::X => chart.x.scale.takes(reference.value),
        ReferenceAxis::Y => chart.y.scale.takes(reference.value),
    })
}

/// Vertical lines, if they are too many for the legend.
fn named_beside(chart: &Chart) -> impl Iterator<Item = &Reference> {
    placed(chart).filter(|it| it.axis == ReferenceAxis::X && chart.references.len() > 1)
}

fn references(out: &mut String, chart: &Chart, layout: &Layout) {
    for reference in placed(chart) {
        let _ = match reference.axis {
            ReferenceAxis::Y => write!(
                out,
                r#"<path class="ref" d="M{} {:.1}H{}"/>"#,
                layout.left,
                layout.y.at(reference.value),
                layout.right
            ),
            ReferenceAxis::X => write!(
                out,
                r#"<path class="ref" d="M{:.1} {}V{}"/>"#,
                layout.x.at(reference.value),
                layout.top,
                layout.bottom
            ),
        };
    }
}

fn reference_names(out: &mut String, layout: &Layout) {
    for Flag { x, row, name } in &layout.flags {
        let (y, from) = (layout.top - *row as f64 * LINE - 5.0, layout.top);
        let _ = write!(
            out,
            r#"<path class="ref" d="M{x:.1} {from}V{:.1}"/><text class="refname" x="{:.1}" y="{y:.1}">{}</text>"#,
            y - 9.0,
            x + 4.0,
            escape(name)
        );
    }
}

fn class(line: &ChartLine) -> String {
    match line.style.stroke {
        Stroke::Solid => format!("line s{}", line.style.hue),
        Stroke::Dashed => format!("line dashed s{}", line.style.hue),
        Stroke::Dotted => format!("line dotted s{}", line.style.hue),
        Stroke::Yardstick => "line yardstick".to_owned(),
        Stroke::Points => format!("line s{}", line.style.hue),
    }
}

fn draw_line(out: &mut String, chart: &Chart, layout: &Layout, line: &ChartLine) {
    let points: Vec<&ChartPoint> = line.points.iter().filter(|point| chart.fits(point)).collect();
    intervals(out, layout, line, &points);
    if line.style.stroke != Stroke::Points && points.len() > 1 {
        let way = way(apart(layout, &points));
        let _ = write!(out, r#"<path class="{}" d="{way}"/>"#, class(line));
    }
    let mut style = line.style;
    if points.len() == 1 && style.mark == ChartMark::None {
        style.mark = ChartMark::Disc; // It would be invisible.
    }
    let places: Vec<(f64, f64)> =
        points.iter().map(|point| (layout.x.at(point.x), layout.y.at(point.y))).collect();
    marks(out, style, &places);
}

/// A line through points to a tenth of a pixel, each as a step from the one before: half as long as
/// with positions.
fn way(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut way = String::new();
    let mut from = (0, 0);
    for (at, (x, y)) in points.into_iter().enumerate() {
        let to = ((x * 10.0).round() as i64, (y * 10.0).round() as i64);
        way += ["M", "l", ""][at.min(2)];
        for step in [to.0 - from.0, to.1 - from.1] {
            let text = tenths(step);
            let is_apart = text.starts_with('-') || !way.ends_with(|c: char| c.is_ascii_digit());
            let _ = write!(way, "{}{text}", if is_apart { "" } else { " " });
        }
        from = to;
    }
    way
}

/// A number of tenths, without a zero before the point.
fn tenths(value: i64) -> String {
    match value {
        1..=9 => format!(".{value}"),
        -9..=-1 => format!("-.{}", -value),
        _ => (value as f64 / 10.0).to_string(),
    }
}

/// Positions of the points, without those too close to the one before.
fn apart(layout: &Layout, points: &[&ChartPoint]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let (x, y) = (layout.x.at(point.x), layout.y.at(point.y));
        let is_near = |last: &(f64, f64)| (last.0 - x).abs() < NEAR && (last.1 - y).abs() < NEAR;
        if at + 1 == points.len() || !kept.last().is_some_and(is_near) {
            kept.push((x, y));
        }
    }
    kept
}

/// Error bars for few points, a band for many.
fn intervals(out: &mut String, layout: &Layout, line: &ChartLine, points: &[&ChartPoint]) {
    let known: Vec<(f64, [f64; 2])> = points
        .iter()
        .filter_map(|p| Some((layout.x.at(p.x), p.interval?.map(|end| layout.y.at(end)))))
        .filter(|(_, [a, b])| a.is_finite() && b.is_finite())
        .collect();
    let hue = line.style.hue;
    if known.len() > 24 {
        let upper = known.iter().map(|(x, [_, high])| (*x, *high));
        let lower = known.iter().rev().map(|(x, [low, _])| (*x, *low));
        let _ = write!(out, r#"<path class="band s{hue}" d="{}z"/>"#, way(upper.chain(lower)));
        return;
    }
    let bar = |(x, [low, high]): &(f64, [f64; 2])| format!("M{x:.1} {low:.1}V{high:.1}");
    let bars: String = known.iter().map(bar).collect();
    if !bars.is_empty() {
        let _ = write!(out, r#"<path class="whisker s{hue}" d="{bars}"/>"#);
    }
}

/// The marks of a line, at these places.
fn marks(out: &mut String, style: Style, places: &[(f64, f64)]) {
    let hue = style.hue;
    let mut circles = |class: &str, r: f64| {
        for (x, y) in places {
            let _ =
                write!(out, r#"<circle class="{class} s{hue}" cx="{x:.1}" cy="{y:.1}" r="{r}"/>"#);
        }
    };
    let (up, outline) = match style.mark {
        ChartMark::None => return,
        ChartMark::Disc => return circles("mark", 3.2),
        ChartMark::Hollow => return circles("ring", 3.2),
        ChartMark::Ring => return circles("ring", 5.0),
        ChartMark::Square => (3.0, "m-3 0h6v6h-6z"),
        ChartMark::Triangle => (4.2, "l3.8 6.6h-7.6z"),
        ChartMark::Diamond => (4.2, "l4.2 4.2l-4.2 4.2l-4.2-4.2z"),
    };
    let mark = |(x, y): &(f64, f64)| format!("M{x:.1} {:.1}{outline}", y - up);
    let outlines: String = places.iter().map(mark).collect();
    let _ = write!(out, r#"<path class="mark s{hue}" d="{outlines}"/>"#);
}

/// Invisible targets, each with a native tooltip; a script may show them sooner.
fn tooltip_targets(out: &mut String, chart: &Chart, layout: &Layout, line: &ChartLine) {
    let points: Vec<&ChartPoint> =
        line.points.iter().filter(|point| !point.tip.is_empty() && chart.fits(point)).collect();
    if points.is_empty() {
        return;
    }
    let step = points.len().div_ceil(MAX_TIPS).max(1);
    let _ = write!(out, r#"<g class="tips s{}">"#, line.style.hue);
    for point in points.iter().step_by(step) {
        let (x, y) = (layout.x.at(point.x), layout.y.at(point.y));
        let _ = write!(
            out,
            r#"<circle cx="{x:.0}" cy="{y:.0}" r="9"><title>{}</title></circle>"#,
            escape(&point.tip)
        );
    }
    out.push_str("</g>");
}

/// Escapes text for XML and HTML, in an element or in an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if record::text::is_hidden(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
