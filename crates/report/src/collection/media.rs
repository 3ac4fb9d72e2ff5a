//! Media of one model that differ from the rest, in words.

use record::collection::{CollectionLine, FigureUnit, Media, MediumApart, MediumFigure};
use record::text::printable;

use super::address::{Links, is_slug};
use super::figures;
use crate::words;

/// Digits of a key that name a medium on its page.
const SHORT_KEY: usize = 8;
/// Most links to runs of a medium.
const MAX_LINKS: usize = 5;

/// Section of a page about the individual media of a line.
pub(super) struct MediaView {
    pub summary: String,
    pub apart: Vec<ApartView>,
}

/// A medium that differs from the others.
pub(super) struct ApartView {
    pub name: String,
    /// Name and address of its newest runs.
    pub runs: Vec<(String, String)>,
    pub sentences: Vec<String>,
}

/// The section; `None` if no run has a key of its medium.
pub(super) fn view(links: &Links, line: &CollectionLine, media: &Media) -> Option<MediaView> {
    (media.media > 0).then(|| MediaView {
        summary: summary(line, media),
        apart: media.apart.iter().map(|medium| apart(links, medium)).collect(),
    })
}

fn summary(line: &CollectionLine, media: &Media) -> String {
    let several =
        |n: u64, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut text = format!(
        "{} of this model, in {}.",
        several(media.media, "medium", "media"),
        words::count(media.runs as usize, "run")
    );
    match line.runs.saturating_sub(media.runs) {
        0 => {}
        1 => text += " 1 run does not say which medium it is of.",
        n => text += &format!(" {n} runs do not say which medium they are of."),
    }
    text += &match (media.apart.len(), media.media as usize <= stats::MIN_OTHERS) {
        (0, true) => format!(
            " Fewer than {}: too few to say whether one differs from the others.",
            stats::MIN_OTHERS + 1
        ),
        (0, false) => " None differs from the others.".to_owned(),
        (1, _) => " 1 differs from the others:".to_owned(),
        (n, _) => format!(" {n} differ from the others:"),
    };
    text
}

fn apart(links: &Links, medium: &MediumApart) -> ApartView {
    let short = medium.medium_key.get(..SHORT_KEY).unwrap_or(&medium.medium_key);
    let mut sentences: Vec<String> = medium.figures.iter().map(sentence).collect();
    if medium.has_own_hosts {
        let caveat = "No other medium was measured on its host: it may be the host that differs.";
        sentences.push(caveat.to_owned());
    }
    let runs = medium.runs.iter().filter(|id| is_slug(id)).take(MAX_LINKS);
    ApartView {
        name: format!("Medium {}", printable(short)),
        runs: runs.map(|id| (id.clone(), links.run(id))).collect(),
        sentences,
    }
}

/// "Random write, 4 KiB: 12.1 IOPS (1 run), 3.0x slower than the median of 29 others, 36.4 IOPS
/// (the middle of them: 34.0 IOPS to 38.9 IOPS)."
fn sentence(apart: &MediumFigure) -> String {
    let figure = apart.figure;
    let speed = match figure.unit() {
        FigureUnit::Iops | FigureUnit::Bps => apart.ratio,
        FigureUnit::Ns => 1.0 / apart.ratio,
    };
    let with_unit = |value| figures::with_unit(figure, value);
    format!(
        "{}: {} ({}), {} the median of {} others, {} (the middle of them: {} to {}).",
        figures::head(figure),
        with_unit(apart.value),
        words::count(apart.runs as usize, "run"),
        words::against(speed),
        apart.siblings,
        with_unit(apart.siblings_median),
        with_unit(apart.siblings_low),
        with_unit(apart.siblings_high),
    )
}
