//! Charts as data: described once, drawn everywhere from that description.
//!
//! The writer is our own: charts need axes that say KiB and "1 in 100", intervals, and a page of a
//! few kilobytes that works from a file, without scripts, in print, in the dark and on a phone,
//! under a strict content security policy. plotters has no style sheets, ECharts and uPlot draw
//! nothing without JavaScript.

mod scale;
mod svg;

pub(crate) use scale::AxisScale;
pub use scale::{AxisUnit, Scale};
pub use svg::{draw, escape};

/// A line chart as data; [`draw`] makes SVG of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Unique on its page; letters, digits and hyphens.
    pub id: String,
    /// Title in a few words.
    pub title: String,
    /// The horizontal axis, for example block size or span.
    pub x: AxisSpec,
    /// The vertical axis, for example I/Os per second.
    pub y: AxisSpec,
    /// Lines, the most important first.
    pub series: Vec<ChartLine>,
    /// Yardsticks: straight lines with a name.
    pub references: Vec<Reference>,
    /// Help for reading the chart, with the source of the yardstick.
    pub note: String,
}

/// Quantity of an axis, with its spacing and labels.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisSpec {
    /// Label: the quantity, with a hint which direction is better.
    pub label: String,
    /// Spacing of the values; a logarithmic axis only takes positive values.
    pub scale: Scale,
    /// Unit of its numbers.
    pub unit: AxisUnit,
}

impl AxisSpec {
    /// Text along the axis: the label, with a note if the scale is logarithmic.
    pub(crate) fn name(&self) -> String {
        match self.scale {
            Scale::Linear => self.label.clone(),
            Scale::Log => format!("{} (log scale)", self.label),
        }
    }
}

/// A line with its points in order of x.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartLine {
    /// Its name in the legend.
    pub name: String,
    /// The points; those that are not finite, or not positive on a logarithmic axis, are not drawn.
    pub points: Vec<ChartPoint>,
    /// Colour, stroke and mark, the same in the legend.
    pub style: Style,
}

/// One point of a line, with its interval and the text of its tooltip.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartPoint {
    /// Position on the horizontal axis, in its unit.
    pub x: f64,
    /// Position on the vertical axis, in its unit.
    pub y: f64,
    /// 95 % confidence interval of y.
    pub interval: Option<[f64; 2]>,
    /// Text of its tooltip; a point without a text has no tooltip.
    pub tip: String,
}

/// Appearance of a line. Colours are classes; the style sheet defines them for light and dark
/// screens and for paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Index of one of the [`HUES`] colours.
    pub hue: usize,
    /// Stroke of the line through the points; none with [`Stroke::Points`].
    pub stroke: Stroke,
    /// Mark at each point.
    pub mark: ChartMark,
}

/// Colours a style sheet must define, `--s0` to `--s5`.
pub const HUES: usize = 6;

/// Stroke of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// For the most important line of a test.
    Solid,
    /// For a variant of a test, or a second line of the same colour.
    Dashed,
    /// For a second variant of a test, or its burst rate.
    Dotted,
    /// A grey line for a yardstick, which was not measured.
    Yardstick,
    /// Only marks at the points, no line between them.
    Points,
}

/// Mark at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartMark {
    /// No mark; a line with a single point gets a disc anyway.
    None,
    /// A disc: the usual mark.
    Disc,
    /// A square: the first variant of a test.
    Square,
    /// A triangle: the second variant of a test, or its burst rate.
    Triangle,
    /// A diamond: the third variant of a test.
    Diamond,
    /// A large ring: a notable extreme.
    Ring,
    /// A small ring: a figure without an interval.
    Hollow,
}

/// Axis of a reference line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceAxis {
    /// A vertical line at a value of x.
    X,
    /// A horizontal line at a value of y.
    Y,
}

/// A straight line with a name. It widens the axis so that it is always visible.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Axis of `value`.
    pub axis: ReferenceAxis,
    /// Position in the unit of that axis; it is not drawn if the axis cannot show it.
    pub value: f64,
    /// Its name, written beside the line, for example with the yardstick's IOPS; may be empty.
    pub label: String,
}

impl Chart {
    /// True if no measured point can be drawn.
    pub fn is_empty(&self) -> bool {
        let drawn = |line: &ChartLine| {
            line.style.stroke != Stroke::Yardstick
                && line.points.iter().any(|point| self.fits(point))
        };
        !self.series.iter().any(drawn)
    }

    /// True if a point has a position on both axes.
    pub(crate) fn fits(&self, point: &ChartPoint) -> bool {
        self.x.scale.takes(point.x) && self.y.scale.takes(point.y)
    }
}

#[cfg(test)]
mod tests;
