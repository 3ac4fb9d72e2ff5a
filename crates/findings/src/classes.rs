//! Speed classes: which the medium reaches, which its registers and its box promise, what was tested of each, and what was not
//! (peers.md wish 11).

use record::units::{Bytes, BytesPerSecond, Iops, KIB};
use record::{Claims, Finding, Record, Severity};

use crate::draft::Draft;
use crate::figure::{self, Figure};
use crate::thresholds::{ANDROID, APP, Class, RASPBERRY_PI, SPEED, UHS, VIDEO};

/// A class against the figures of this record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Every figure it asks for reaches it.
    Held,
    /// One is below.
    Missed,
    /// One is below or above by less than it is known to.
    Unclear,
    /// What it asks for was not all measured.
    Untested,
}

/// What one class needs of one figure: (figure, at least).
fn needs<'a>(record: &'a Record, class: &Class) -> Vec<(Option<Figure<'a>>, f64)> {
    let mut needs = vec![(figure::sustained_write(record), class.write_bps)];
    if let Some(bps) = class.read_bps {
        needs.push((figure::sequential(record, "sequential-read"), bps));
    }
    if let Some([reads, writes]) = class.random {
        needs.push((figure::random_read(record, 4 * KIB), reads));
        needs.push((figure::random_write(record, 4 * KIB), writes));
    }
    needs
}

fn standing(record: &Record, class: &Class) -> (Standing, Option<f64>) {
    let mut all = Some(1.0);
    let mut worst = Standing::Held;
    let mut missed: Option<f64> = None;
    for (found, least) in needs(record, class) {
        let Some(found) = found else {
            if worst == Standing::Held || worst == Standing::Unclear {
                worst = Standing::Untested;
            }
            continue;
        };
        let share = found.above(least);
        // A quarter of a percent is the grain of the link's clock, no promise broken.
        match (found.value >= least * 0.9975, share) {
            (true, Some(share)) if share < 0.9 && worst == Standing::Held => worst = Standing::Unclear,
            (true, _) => {}
            (false, Some(share)) if share > 0.1 => {
                if worst == Standing::Held {
                    worst = Standing::Unclear;
                }
            }
            (false, share) => {
                worst = Standing::Missed;
                missed = [missed, share.map(|share| 1.0 - share)].into_iter().flatten().reduce(f64::max);
            }
        }
        all = all.zip(share).map(|(all, share)| all * share);
    }
    (worst, if worst == Standing::Missed { missed } else { all })
}

/// `classes`: the best of each family that it reaches, and what was not tested.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    figure::sustained_write(record)?;
    let families: [&[Class]; 4] = [&SPEED, &UHS, &VIDEO, &APP];
    let best = |family: &&[Class]| family.iter().rev().find(|class| standing(record, class).0 == Standing::Held).map(|class| class.name);
    let mut reached: Vec<&str> = families.iter().filter_map(best).collect();
    reached.extend([ANDROID, RASPBERRY_PI].iter().filter(|class| standing(record, class).0 == Standing::Held).map(|class| class.name));
    let every = || families.into_iter().flatten().chain([&ANDROID, &RASPBERRY_PI]);
    let named = |wanted: Standing| every().filter(|class| standing(record, class).0 == wanted).map(|class| class.name).collect::<Vec<_>>();
    let mut statement = match reached.as_slice() {
        [] => "It reaches the figures of no speed class.".to_owned(),
        names => format!("It reaches the figures of {}.", names.join(", ")),
    };
    let (missed, unclear, untested) = (named(Standing::Missed), named(Standing::Unclear), named(Standing::Untested));
    for (what, names) in [("Too slow for", missed), ("Too close to tell", unclear), ("Not tested in full", untested)] {
        if !names.is_empty() {
            let gap = if what == "Too slow for" { "" } else { ":" };
            statement += &format!(" {what}{gap} {}.", names.join(", "));
        }
    }
    let figures = needs(record, &ANDROID).into_iter().filter_map(|(figure, _)| figure).collect::<Vec<_>>();
    let line = |class: &Class| {
        let random = class.random.map(|[r, w]| format!(", {} random reads and {} writes of 4 KiB", Iops(r), Iops(w))).unwrap_or_default();
        let read = class.read_bps.map(|bps| format!(", {} read", BytesPerSecond(bps))).unwrap_or_default();
        format!("{}: {} written in sequence{read}{random} ({})", class.name, BytesPerSecond(class.write_bps), class.source)
    };
    let named_classes = every().filter(|class| reached.contains(&class.name)).map(line).collect::<Vec<_>>();
    Some(Draft::info("classes", statement).figures(&figures).notes(named_classes).notes(conditions(record)).done())
}

/// What the official tests do and this one does not.
fn conditions(record: &Record) -> Vec<String> {
    let queue = match record.target.link.as_ref().and_then(|link| link.command_queue) {
        Some(true) => "on",
        Some(false) => "off",
        None => "not known",
    };
    vec![
        "tested: writes in sequence over data that lies there, at least to the end of what the suite wrote; not tested: directory updates in between, free allocation units (flash.md D1)".to_owned(),
        format!("A1 and A2 were tested one I/O at a time; the command queue, which A2 is defined with, is {queue}"),
    ]
}

/// A promise, its threshold, and what was measured.
struct Held<'a> {
    claim: String,
    promised: f64,
    measured: Option<Measured<'a>>,
    show: fn(f64) -> String,
}

enum Measured<'a> {
    Figure(Figure<'a>),
    /// A size that was probed.
    Found(f64),
    /// A size that the medium declares, and nobody looked.
    Declared(f64),
}

impl Measured<'_> {
    fn value(&self) -> f64 {
        match self {
            Measured::Figure(figure) => figure.value,
            Measured::Found(value) | Measured::Declared(value) => *value,
        }
    }
    fn below(&self, threshold: f64) -> Option<f64> {
        match self {
            Measured::Figure(figure) => figure.below(threshold),
            Measured::Found(_) | Measured::Declared(_) => None,
        }
    }
}

/// `claim` for each thing the box claims, `class-claim` for each class the registers claim. A printed claim that fails is a failure of the
/// medium: the user asked. A capacity may be 7 % below the printed one, as formatted media are.
pub(crate) fn claims(record: &Record) -> Vec<Finding> {
    let printed = record.medium.claims.clone().unwrap_or_default();
    let mut findings: Vec<Finding> =
        held(record, &printed).into_iter().map(|held| judged(held, "claim", "The claim", Severity::Failure)).collect();
    let registers = record.medium.classes.clone().unwrap_or_default();
    let declared = Claims {
        speed_class: registers.speed_class,
        uhs_grade: registers.uhs_grade,
        video_class: registers.video_class,
        app_class: registers.app_class,
        ..Claims::default()
    };
    findings.extend(held(record, &declared).into_iter().map(|held| judged(held, "class-claim", "The registers' claim", Severity::Warning)));
    findings
}

fn held<'a>(record: &'a Record, claims: &Claims) -> Vec<Held<'a>> {
    let rate = |value: f64| BytesPerSecond(value).to_string();
    let iops = |value: f64| Iops(value).to_string();
    let write = || figure::sustained_write(record).map(Measured::Figure);
    let read = || figure::sequential(record, "sequential-read").map(Measured::Figure);
    let mut all = Vec::new();
    let mut hold = |claim: String, promised: f64, measured, show: fn(f64) -> String| all.push(Held { claim, promised, measured, show });
    if let Some(bytes) = claims.capacity_bytes {
        // What was found to be there counts, else what the medium says it has.
        let found = crate::capacity::real_bytes(record).map(|size| Measured::Found(size as f64));
        let size = found.or_else(|| record.medium.capacity_bytes.map(|size| Measured::Declared(size as f64)));
        hold(format!("capacity {}", Bytes(bytes)), bytes as f64 * 0.93, size, |value| Bytes(value as u64).to_string());
    }
    let classes = [("C", claims.speed_class, 1.0), ("U", claims.uhs_grade, 10.0), ("V", claims.video_class, 1.0)];
    for (letter, class, factor) in
        classes.into_iter().filter_map(|(letter, class, factor)| Some((letter, class?, factor))).filter(|(_, class, _)| *class > 0)
    {
        let megabytes = f64::from(class) * factor;
        hold(format!("{letter}{class}, at least {megabytes} MB/s written in sequence"), megabytes * 1e6, write(), rate);
    }
    if let Some(class) = claims.app_class.filter(|class| *class > 0) {
        let [reads, writes] = APP[if class == 1 { 0 } else { 1 }].random.unwrap_or_default();
        hold(format!("A{class}, {reads} random reads a second"), reads, figure::random_read(record, 4 * KIB).map(Measured::Figure), iops);
        hold(
            format!("A{class}, {writes} random writes a second"),
            writes,
            figure::random_write(record, 4 * KIB).map(Measured::Figure),
            iops,
        );
        hold(format!("A{class}, 10 MB/s written in sequence"), 10e6, write(), rate);
    }
    for (what, promised, measured) in [("reading", claims.read_bps, read()), ("writing", claims.write_bps, write())] {
        if let Some(promised) = promised {
            hold(format!("{what} at {}", rate(promised)), promised, measured, rate);
        }
    }
    all
}

fn judged(held: Held<'_>, id: &str, whose: &str, failing: Severity) -> Finding {
    let Held { claim, promised, measured, show } = held;
    let Some(measured) = measured else {
        return Draft::info(id, format!("{whose} of {claim} was not tested by this run.")).done();
    };
    let found = match &measured {
        Measured::Figure(_) => format!("{} measured", show(measured.value())),
        Measured::Found(_) => format!("{} are there", show(measured.value())),
        Measured::Declared(_) => format!("it says {} of itself, which was not checked", show(measured.value())),
    };
    let below = measured.below(promised);
    let draft = if measured.value() >= promised {
        Draft::info(id, format!("{whose} of {claim} holds: {found}.")).surely(below.map(|share| 1.0 - share))
    } else if below.is_some_and(|share| share < 0.95) {
        Draft::warning(id, format!("{whose} of {claim} probably does not hold: {found}, but the figure is not certain enough to say so."))
            .surely(below)
    } else {
        Draft::new(id, failing, format!("{whose} of {claim} does not hold: {found}.")).surely(below)
    };
    match &measured {
        Measured::Figure(figure) => draft.figure(figure).done(),
        Measured::Found(value) => draft.note(format!("size that was found: {}", show(*value))).done(),
        Measured::Declared(value) => draft.note(format!("declared size: {}", show(*value))).done(),
    }
}
