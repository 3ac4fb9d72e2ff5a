//! Charts as data: described once, drawn everywhere from that description.
//!
//! The writer is our own. The charts of a report are a dozen line charts on linear or logarithmic
//! axes, and what matters about them is what chart libraries are weakest at: axes that say KiB and
//! "1 in 100", intervals, a page that works from a file, without scripts, in print, in the dark and
//! on a phone, under a strict content security policy, in a few kilobytes. plotters clips the last
//! tick label and knows no style sheet; ECharts weighs 740 kB in every report and draws nothing
//! without JavaScript; uPlot is small but still needs a canvas and a script. A few hundred lines
//! that turn a [`Chart`] into SVG do all of that, are tested like any other pure function, and draw
//! the same picture wherever it is wanted; the two dozen lines of script on the page only make
//! tooltips quicker.

mod scale;
mod svg;

pub use scale::{AxisUnit, Scale};
pub use svg::draw;
pub(crate) use svg::escape;

/// A line chart as data; [`draw`] makes SVG of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Unique on its page; letters, digits and hyphens.
    pub id: String,
    /// What it shows, in a few words.
    pub title: String,
    /// The horizontal axis, for example block size or span.
    pub x: AxisSpec,
    /// The vertical axis, for example I/Os a second.
    pub y: AxisSpec,
    /// What is drawn, the most important first.
    pub series: Vec<ChartLine>,
    /// Yardsticks: straight lines with a name.
    pub references: Vec<Reference>,
    /// How to read it and where the yardstick comes from.
    pub note: String,
}

/// What an axis measures, and how its values are spaced and labelled.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisSpec {
    /// What it measures, with a hint which way is better.
    pub label: String,
    /// How values are spaced; a logarithmic axis has a place for positive values only.
    pub scale: Scale,
    /// What its numbers are.
    pub unit: AxisUnit,
}

impl AxisSpec {
    /// What is written along it: the label, and that it is logarithmic where it is.
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

/// How a line looks. Colours are classes; the style sheet decides what they are in the light, in
/// the dark and on paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Which of the [`HUES`] colours.
    pub hue: usize,
    /// How the line through the points is stroked; with [`Stroke::Points`] there is none.
    pub stroke: Stroke,
    /// What stands at each point.
    pub mark: ChartMark,
}

/// Colours a style sheet must define, `--s0` to `--s5`.
pub const HUES: usize = 6;

/// How a line is stroked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// For what matters most.
    Solid,
    /// For a variant of a test, or a second line of the same colour.
    Dashed,
    /// For a second variant of a test, or its burst rate.
    Dotted,
    /// A grey line for a yardstick; nothing on it was measured.
    Yardstick,
    /// No line between the points, only the marks at them.
    Points,
}

/// What stands at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartMark {
    /// No mark; a line of a single point gets a disc all the same.
    None,
    /// A disc: the usual mark.
    Disc,
    /// A square: the first variant of a test.
    Square,
    /// A triangle: the second variant of a test, or its burst rate.
    Triangle,
    /// A diamond: the third variant of a test.
    Diamond,
    /// A large ring: an extreme worth a look.
    Ring,
    /// A small ring: a figure without an interval.
    Hollow,
}

/// Which axis a reference belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// A vertical line at a value of x.
    X,
    /// A horizontal line at a value of y.
    Y,
}

/// A straight line with a name. It widens the axis so that it is always seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Which axis `value` belongs to.
    pub along: Along,
    /// Where it lies, in the unit of that axis; without a place on the axis it is not drawn.
    pub value: f64,
    /// Its name, written beside the line, for example with the yardstick's IOPS; may be empty.
    pub label: String,
}

impl Chart {
    /// True if a measured point can be drawn.
    pub fn is_empty(&self) -> bool {
        let drawn = |line: &ChartLine| {
            line.style.stroke != Stroke::Yardstick
                && line.points.iter().any(|point| self.fits(point))
        };
        !self.series.iter().any(drawn)
    }

    /// True if a point has a place on both axes.
    pub(crate) fn fits(&self, point: &ChartPoint) -> bool {
        self.x.scale.takes(point.x) && self.y.scale.takes(point.y)
    }
}

#[cfg(test)]
mod tests;
