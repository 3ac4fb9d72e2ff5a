//! The verdict of a run as a picture to post: one SVG file with its own style, no links and no
//! script.

use std::fmt::Write as _;

use findings::Figures;
use record::Record;
use record::collection::{FigureUnit, HeadlineFigure};
use record::text::printable;
use report::text::{answers, fold};
use report::yardstick::{DISK_BPS, DISK_IOPS};
use report::{figure, words};

use crate::chart::escape;

/// Width of the picture, height of a line and left edge, in CSS pixels.
const WIDTH: f64 = 720.0;
const LINE: f64 = 24.0;
const LEFT: f64 = 32.0;
/// Columns of text that fit, whatever font the reader has.
const COLUMNS: usize = 74;
/// Where the scale begins, and its width.
const SCALE: [f64; 2] = [450.0, 230.0];
/// Ends of the scale: times a 5400 rpm laptop disk, from a hundredth to a thousand.
const DECADES: [f64; 2] = [-2.0, 3.0];

const STYLE: &str = "\
text{font:16px system-ui,sans-serif;fill:#1c2430}.strong{font-weight:600}.warn{fill:#8a4b00}\
.alarm{fill:#b01e2e;font-weight:600}.soft{fill:#5a6472;font-size:13px}\
line{stroke:#c9d0d8}.bar{stroke:#2563a8;stroke-width:6}circle{fill:#12375f}";

/// Main figures with their short names.
const SHOWN: [(HeadlineFigure, &str); 4] = [
    (HeadlineFigure::RandomWrite4k, "random write, 4 KiB"),
    (HeadlineFigure::RandomRead4k, "random read, 4 KiB"),
    (HeadlineFigure::SequentialWrite, "write"),
    (HeadlineFigure::SequentialRead, "read"),
];

/// The answers of a record, and its main figures with their 95 % intervals against a disk.
pub fn card(record: &Record) -> String {
    let mut lines = vec![("strong", words::medium_line(record))];
    lines.extend(answers(record).into_iter().map(|(tone, text)| (tone.class(), text)));
    let (mut body, mut y) = (String::new(), 2.0 * LINE);
    for (class, text) in lines {
        for line in fold(&text, COLUMNS, false).lines() {
            text_at(&mut body, class, LEFT, y, line);
            y += LINE;
        }
    }
    let (top, mut bars) = (y - LINE / 2.0, String::new());
    for (wanted, name) in SHOWN {
        y += bar(&mut bars, record, wanted, name, y);
    }
    if !bars.is_empty() {
        body += &scale(top, y - LINE / 2.0);
        body += &bars;
        y += LINE;
    }
    let origin = format!("flashmark {}, {}", record.run.software.version, record.run.id);
    text_at(&mut body, "soft", LEFT, y, &printable(&origin));
    let height = y + LINE;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\"><style>{STYLE}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{body}</svg>\n"
    )
}

fn text_at(out: &mut String, class: &str, x: f64, y: f64, text: &str) {
    let _ = write!(out, "<text class=\"{class}\" x=\"{x}\" y=\"{y:.0}\">{}</text>", escape(text));
}

/// A figure with its interval as a bar; returns its height, 0 where there is none.
fn bar(out: &mut String, record: &Record, wanted: HeadlineFigure, name: &str, y: f64) -> f64 {
    let Some(known) = Figures::of(record).get(wanted) else { return 0.0 };
    let shown = figure::show(known.cell, known.metric, &known.estimate);
    let Ok(printed) = shown.printed() else { return 0.0 };
    let disk = match wanted.entry().unit {
        FigureUnit::Bps => DISK_BPS,
        FigureUnit::Iops | FigureUnit::Ns => DISK_IOPS,
    };
    let interval = record::units::without_unit(printed.interval, printed.text);
    text_at(out, "plain", LEFT, y + 6.0, &format!("{name}: {}, {interval}", printed.text));
    let at = |value: f64| place(value / disk);
    if let Some([low, high]) = known.estimate.ci95 {
        let _ = write!(
            out,
            "<line class=\"bar\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.0}\" y2=\"{y:.0}\"/>",
            at(low),
            at(high)
        );
    }
    let _ = write!(out, "<circle cx=\"{:.1}\" cy=\"{y:.0}\" r=\"5\"/>", at(known.estimate.value));
    LINE
}

/// Place on the scale of so many times a disk.
fn place(times: f64) -> f64 {
    let [first, last] = DECADES;
    let share = (times.max(1e-9).log10().clamp(first, last) - first) / (last - first);
    SCALE[0] + share * SCALE[1]
}

/// The scale below the figures, a line for each factor of ten.
fn scale(top: f64, bottom: f64) -> String {
    let mut out = String::new();
    for decade in DECADES[0] as i32..=DECADES[1] as i32 {
        let times = 10f64.powi(decade);
        let x = place(times);
        let _ =
            write!(out, "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top:.0}\" y2=\"{bottom:.0}\"/>");
        text_at(&mut out, "soft", x - 8.0, bottom + 14.0, &record::units::times(times));
    }
    text_at(
        &mut out,
        "soft",
        LEFT,
        bottom + 14.0,
        "times a 5400 rpm laptop disk; with the 95 % interval",
    );
    out
}
