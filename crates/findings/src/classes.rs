//! Speed classes: which the medium reaches, which its registers and its box promise, what was tested of each, and what was not
//! (docs/field/peers.md#class-test).

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

/// In flight where a class was defined with a command queue: A2 is what a card does with all 32 places of it taken (docs/field/classes.md#minimum-rates). A1 asks for one
/// at a time.
const QUEUE: u64 = 32;

/// A figure that a class asks for.
struct Need<'a> {
    measured: Option<Figure<'a>>,
    least: f64,
    /// Why being below says nothing of the class, where it does not: it was not measured as the class defines it.
    excuse: Option<&'static str>,
}

const ONE_AT_A_TIME: &str = "it was measured one at a time";
const TOO_SHALLOW: &str = "it was measured with fewer in flight than its command queue takes";
const NO_QUEUE: &str = "the command queue is off here";
const FASTER_WHEN_DEEP: &str = "it reaches the figure with several in flight, and the class's own conditions are not public";

/// Random I/O of 4 KiB against what an application class promises. The best that was measured at any depth may reach it; only what was measured at the
/// depth of its definition may miss it.
fn random_need<'a>(record: &'a Record, test: &'a str, least: f64, is_queued: bool) -> Need<'a> {
    let alone = if test == "random-read" { figure::random_read(record, 4 * KIB) } else { figure::random_write(record, 4 * KIB) };
    let deep = figure::deep(record, test, 4 * KIB, 2);
    let reaches = |figure: &Figure| figure.value >= least * GRAIN;
    if !is_queued {
        let excuse = deep.filter(reaches).and(Some(FASTER_WHEN_DEEP));
        return Need { measured: alone, least, excuse };
    }
    let queued = figure::deep(record, test, 4 * KIB, QUEUE);
    let is_off = record.target.link.as_ref().and_then(|link| link.command_queue) == Some(false);
    let excuse = match (is_off, &queued, &deep) {
        (true, ..) => Some(NO_QUEUE),
        (false, Some(_), _) => None,
        (false, None, Some(_)) => Some(TOO_SHALLOW),
        (false, None, None) => Some(ONE_AT_A_TIME),
    };
    let all = [alone, deep, queued].into_iter().flatten();
    Need { measured: all.max_by(|a, b| a.value.total_cmp(&b.value)), least, excuse }
}

/// A quarter of a percent is the grain of the link's clock, no promise broken.
const GRAIN: f64 = 0.9975;

/// What one class needs.
fn needs<'a>(record: &'a Record, class: &Class) -> Vec<Need<'a>> {
    let in_a_row = |measured, least| Need { measured, least, excuse: None };
    let mut needs = vec![in_a_row(figure::sustained_write(record), class.write_bps)];
    if let Some(bps) = class.read_bps {
        needs.push(in_a_row(figure::sequential(record, "sequential-read"), bps));
    }
    if let Some([reads, writes]) = class.random {
        needs.push(random_need(record, "random-read", reads, class.is_queued));
        needs.push(random_need(record, "random-write", writes, class.is_queued));
    }
    needs
}

/// How a figure stands to what is asked of it, with the probability that it is above.
fn standing_of(need: &Need) -> (Standing, Option<f64>) {
    let Some(found) = &need.measured else { return (Standing::Untested, None) };
    let share = found.above(need.least);
    let standing = match (found.value >= need.least * GRAIN, share) {
        (true, Some(share)) if share < 0.9 => Standing::Unclear,
        (true, _) => Standing::Held,
        (false, _) if need.excuse.is_some() => Standing::Untested,
        (false, Some(share)) if share > 0.1 => Standing::Unclear,
        (false, _) => Standing::Missed,
    };
    (standing, share)
}

fn standing(record: &Record, class: &Class) -> (Standing, Option<f64>) {
    let all: Vec<(Standing, Option<f64>)> = needs(record, class).iter().map(standing_of).collect();
    let order = [Standing::Missed, Standing::Untested, Standing::Unclear];
    let worst = order.into_iter().find(|wanted| all.iter().any(|(standing, _)| standing == wanted)).unwrap_or(Standing::Held);
    let missed = all.iter().filter(|(standing, _)| *standing == Standing::Missed).filter_map(|(_, share)| share.map(|share| 1.0 - share));
    let held = all.iter().map(|(_, share)| *share).try_fold(1.0, |product, share| share.map(|share| product * share));
    (worst, if worst == Standing::Missed { missed.reduce(f64::max) } else { held })
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
    for (what, names) in [("Too slow for", missed), ("Too close to tell", unclear), ("Cannot be told here", untested)] {
        if !names.is_empty() {
            let gap = if what == "Too slow for" { "" } else { ":" };
            statement += &format!(" {what}{gap} {}.", names.join(", "));
        }
    }
    let figures = needs(record, &ANDROID).into_iter().filter_map(|need| need.measured).collect::<Vec<_>>();
    let excused = || APP.iter().filter(|class| standing(record, class).0 == Standing::Untested);
    let excuses = excused().flat_map(|class| {
        let open = needs(record, class).into_iter().filter(|need| standing_of(need).0 == Standing::Untested);
        let why = open.filter_map(|need| need.excuse).next();
        why.map(|why| format!("{} cannot be told here: {why}", class.name))
    });
    let excuses: Vec<String> = excuses.collect();
    let line = |class: &Class| {
        let random = class.random.map(|[r, w]| format!(", {} random reads and {} writes of 4 KiB", Iops(r), Iops(w))).unwrap_or_default();
        let read = class.read_bps.map(|bps| format!(", {} read", BytesPerSecond(bps))).unwrap_or_default();
        format!("{}: {} written in sequence{read}{random} ({})", class.name, BytesPerSecond(class.write_bps), class.source)
    };
    let named_classes = every().filter(|class| reached.contains(&class.name)).map(line).collect::<Vec<_>>();
    Some(Draft::info("classes", statement).figures(&figures).notes(named_classes).notes(excuses).notes(conditions(record)).done())
}

/// What the official tests do and this one does not.
fn conditions(record: &Record) -> Vec<String> {
    let queue = match record.target.link.as_ref().and_then(|link| link.command_queue) {
        Some(true) => "on",
        Some(false) => "off",
        None => "not known",
    };
    vec![
        "tested: writes in sequence over data that lies there, at least to the end of what the suite wrote; not tested: directory updates in between, free allocation units (docs/field/classes.md#minimum-rates)".to_owned(),
        format!("A1 asks for one I/O at a time; A2 is defined with a command queue, which is {queue}, and only {QUEUE} in flight can show that it is missed"),
    ]
}

/// A promise, its threshold, and what was measured.
struct Held<'a> {
    claim: String,
    promised: f64,
    measured: Option<Measured<'a>>,
    show: fn(f64) -> String,
    /// Why being below breaks no promise, where it does not.
    excuse: Option<&'static str>,
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
    let write = || figure::sustained_write(record).map(Measured::Figure);
    let read = || figure::sequential(record, "sequential-read").map(Measured::Figure);
    let mut all = Vec::new();
    let mut hold = |claim: String, promised: f64, measured, show: fn(f64) -> String| {
        all.push(Held { claim, promised, measured, show, excuse: None });
    };
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
    for (what, promised, measured) in [("reading", claims.read_bps, read()), ("writing", claims.write_bps, write())] {
        if let Some(promised) = promised {
            hold(format!("{what} at {}", rate(promised)), promised, measured, rate);
        }
    }
    all.extend(app_class(record, claims));
    all
}

/// What an application class promises.
fn app_class<'a>(record: &'a Record, claims: &Claims) -> Vec<Held<'a>> {
    let Some(number) = claims.app_class.filter(|class| *class > 0) else { return Vec::new() };
    let class = &APP[if number == 1 { 0 } else { 1 }];
    let iops = |value: f64| Iops(value).to_string();
    let random = |(test, what, least): (&'static str, &str, f64)| {
        let Need { measured, least, excuse } = random_need(record, test, least, class.is_queued);
        let measured = measured.map(Measured::Figure);
        Held { claim: format!("A{number}, {least} random {what} a second"), promised: least, measured, show: iops, excuse }
    };
    let [reads, writes] = class.random.unwrap_or_default();
    let mut held: Vec<Held> = [("random-read", "reads", reads), ("random-write", "writes", writes)].into_iter().map(random).collect();
    held.push(Held {
        claim: format!("A{number}, 10 MB/s written in sequence"),
        promised: class.write_bps,
        measured: figure::sustained_write(record).map(Measured::Figure),
        show: |value| BytesPerSecond(value).to_string(),
        excuse: None,
    });
    held
}

fn judged(held: Held<'_>, id: &str, whose: &str, failing: Severity) -> Finding {
    let Held { claim, promised, measured, show, excuse } = held;
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
    } else if let Some(excuse) = excuse {
        Draft::info(id, format!("Whether the promise of {claim} holds cannot be told here: {excuse} ({found})."))
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
