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
pub use svg::{DrawingSize, draw};

/// A line chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Unique on its page; letters, digits and hyphens.
    pub id: String,
    /// What it shows, in a few words.
    pub title: String,
    /// The horizontal axis.
    pub x: AxisSpec,
    /// The vertical axis.
    pub y: AxisSpec,
    /// What is drawn, the most important first.
    pub series: Vec<ChartLine>,
    /// Yardsticks: straight lines with a name.
    pub references: Vec<Reference>,
    /// How to read it and where the yardstick comes from.
    pub note: String,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisSpec {
    /// What it measures, with a hint which way is better.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// What its numbers are.
    pub unit: AxisUnit,
}

/// A line with its points in order of x.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartLine {
    /// Its name in the legend.
    pub name: String,
    /// The points; those that are not finite, or not positive on a logarithmic axis, are not drawn.
    pub points: Vec<ChartPoint>,
    /// How it looks.
    pub style: Style,
}

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartPoint {
    /// Position on the horizontal axis, in its unit.
    pub x: f64,
    /// Position on the vertical axis, in its unit.
    pub y: f64,
    /// 95 % confidence interval of y.
    pub interval: Option<[f64; 2]>,
    /// What hovering says.
    pub tip: String,
}

/// How a line looks. Colours are classes; the style sheet decides what they are in the light, in
/// the dark and on paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Which of the [`HUES`] colours.
    pub hue: usize,
    /// Stroke.
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
    /// For variants.
    Dashed,
    /// For further variants.
    Dotted,
    /// Grey: a yardstick.
    Yardstick,
    /// Points only.
    Points,
}

/// What stands at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartMark {
    /// Nothing.
    None,
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A diamond.
    Diamond,
    /// A large ring: an extreme worth a look.
    Ring,
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
    /// Its axis.
    pub along: Along,
    /// Where on it.
    pub value: f64,
    /// What it is.
    pub label: String,
}

impl Chart {
    /// Whether a measured point can be drawn.
    pub fn is_empty(&self) -> bool {
        let drawn = |line: &ChartLine| {
            line.style.stroke != Stroke::Yardstick
                && line.points.iter().any(|point| self.fits(point))
        };
        !self.series.iter().any(drawn)
    }

    /// Whether a point has a place on both axes.
    pub(crate) fn fits(&self, point: &ChartPoint) -> bool {
        self.x.scale.takes(point.x) && self.y.scale.takes(point.y)
    }
}

#[cfg(test)]
mod tests;
