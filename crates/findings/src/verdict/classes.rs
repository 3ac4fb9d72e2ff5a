//! Speed classes: those that the medium reaches, those in its registers and on its box, and what
//! was tested of each (docs/field/peers.md#wishes).

use record::text::capitalised;
use record::units::{Bytes, BytesPerSecond, Iops, KIB};
use record::{Claims, Finding, Outcome, Record, Severity, test};

use crate::figures::figure::{self, UsableEstimate};
use crate::figures::genuineness;
use crate::finding_builder::FindingBuilder;
use record::classes::{ANDROID, APP, Class, RASPBERRY_PI, SPEED, UHS, VIDEO};

/// Result for a class from the figures of this record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClassResult {
    /// Every required figure reaches the class.
    Held,
    /// At least one figure is below the requirement.
    Missed,
    /// A figure is closer to the requirement than its interval can tell.
    Unclear,
    /// Not every required figure was measured.
    Untested,
}

/// Queue depth of a class that is defined with a command queue: A2 needs all 32 places of a card's
/// queue (docs/field/classes.md#minimum-rates). A1 is defined at queue depth 1.
const QUEUE: u64 = 32;

/// A figure that a class requires.
struct ClassRequirement<'a> {
    measured: Option<UsableEstimate<'a>>,
    least: f64,
    /// Reason why a lower value does not count against the class, as it was not measured as the
    /// class defines it; `None` if it counts.
    excuse: Option<&'static str>,
}

const AT_DEPTH_1: &str = "it was measured at queue depth 1";
const TOO_SHALLOW: &str = "it was measured at a lower queue depth than its command queue has";
const NO_QUEUE: &str = "the command queue is off here";
const FASTER_WHEN_DEEP: &str = "it reaches the figure at a higher queue depth, and the exact conditions of the class are not public";

/// Random I/O of 4 KiB against the requirement of an application class. The best value at any depth
/// may reach it; only a value at the defined depth may miss it.
fn random_requirement<'a>(
    record: &'a Record,
    test: &'a str,
    least: f64,
    is_queued: bool,
) -> ClassRequirement<'a> {
    let alone = if test == test::RANDOM_READ {
        figure::random_read(record, 4 * KIB)
    } else {
        figure::random_write(record, 4 * KIB)
    };
    let deep = figure::deep(record, test, 4 * KIB, 2);
    let reaches = |figure: &UsableEstimate| figure.value >= least * GRAIN;
    if !is_queued {
        let excuse = deep.filter(reaches).and(Some(FASTER_WHEN_DEEP));
        return ClassRequirement { measured: alone, least, excuse };
    }
    let queued = figure::deep(record, test, 4 * KIB, QUEUE);
    let is_off = record.target.link.as_ref().and_then(|link| link.command_queue) == Some(false);
    let excuse = match (is_off, &queued, &deep) {
        (true, ..) => Some(NO_QUEUE),
        (false, Some(_), _) => None,
        (false, None, Some(_)) => Some(TOO_SHALLOW),
        (false, None, None) => Some(AT_DEPTH_1),
    };
    let all = [alone, deep, queued].into_iter().flatten();
    ClassRequirement { measured: all.max_by(|a, b| a.value.total_cmp(&b.value)), least, excuse }
}

/// Tolerance for the resolution of the link's clock: a deficit of a quarter of a percent is not a
/// miss.
const GRAIN: f64 = 0.9975;

/// The figures that one class requires.
fn requirements<'a>(record: &'a Record, class: &Class) -> Vec<ClassRequirement<'a>> {
    let sequential = |measured, least| ClassRequirement { measured, least, excuse: None };
    let mut requirements = vec![sequential(figure::sustained_write(record), class.write_bps)];
    if let Some(bps) = class.read_bps {
        requirements.push(sequential(figure::sequential(record, test::SEQUENTIAL_READ), bps));
    }
    if let Some([reads, writes]) = class.random {
        requirements.push(random_requirement(record, test::RANDOM_READ, reads, class.is_queued));
        requirements.push(random_requirement(record, test::RANDOM_WRITE, writes, class.is_queued));
    }
    requirements
}

/// Result for a required figure.
fn requirement_result(required: &ClassRequirement) -> ClassResult {
    let Some(found) = &required.measured else { return ClassResult::Untested };
    match (found.value >= required.least * GRAIN, found.above(required.least)) {
        (true, Some(share)) if share < 0.9 => ClassResult::Unclear,
        (true, _) => ClassResult::Held,
        (false, _) if required.excuse.is_some() => ClassResult::Untested,
        (false, Some(share)) if share > 0.1 => ClassResult::Unclear,
        (false, _) => ClassResult::Missed,
    }
}

fn class_result(record: &Record, class: &Class) -> ClassResult {
    let all: Vec<ClassResult> =
        requirements(record, class).iter().map(requirement_result).collect();
    let order = [ClassResult::Missed, ClassResult::Untested, ClassResult::Unclear];
    order.into_iter().find(|result| all.contains(result)).unwrap_or(ClassResult::Held)
}

/// `classes`: the best class of each family that it reaches, and what was not tested.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    figure::sustained_write(record)?;
    let families: [&[Class]; 4] = [&SPEED, &UHS, &VIDEO, &APP];
    let best = |family: &&[Class]| {
        family
            .iter()
            .rev()
            .find(|class| class_result(record, class) == ClassResult::Held)
            .map(|class| class.name)
    };
    let mut reached: Vec<&str> = families.iter().filter_map(best).collect();
    reached.extend(
        [ANDROID, RASPBERRY_PI]
            .iter()
            .filter(|class| class_result(record, class) == ClassResult::Held)
            .map(|class| class.name),
    );
    let every = || families.into_iter().flatten().chain([&ANDROID, &RASPBERRY_PI]);
    let named = |wanted: ClassResult| {
        every()
            .filter(|class| class_result(record, class) == wanted)
            .map(|class| class.name)
            .collect::<Vec<_>>()
    };
    let mut statement = match reached.as_slice() {
        [] => "It reaches no speed class.".to_owned(),
        names => format!("It reaches {}.", names.join(", ")),
    };
    let (missed, unclear, untested) =
        (named(ClassResult::Missed), named(ClassResult::Unclear), named(ClassResult::Untested));
    for (what, names) in [
        ("Too slow for", missed),
        ("Too close to the limit to tell", unclear),
        ("Cannot be told here", untested),
    ] {
        if !names.is_empty() {
            let gap = if what == "Too slow for" { "" } else { ":" };
            statement += &format!(" {what}{gap} {}.", names.join(", "));
        }
    }
    let figures = requirements(record, &ANDROID)
        .into_iter()
        .filter_map(|required| required.measured)
        .collect::<Vec<_>>();
    let excused =
        || APP.iter().filter(|class| class_result(record, class) == ClassResult::Untested);
    let excuses = excused().flat_map(|class| {
        let open = requirements(record, class)
            .into_iter()
            .filter(|required| requirement_result(required) == ClassResult::Untested);
        let why = open.filter_map(|required| required.excuse).next();
        why.map(|why| format!("{} cannot be told here: {why}", class.name))
    });
    let excuses: Vec<String> = excuses.collect();
    let line = |class: &Class| {
        let random = class
            .random
            .map(|[r, w]| {
                format!(", random reads {} and random writes {} at 4 KiB", Iops(r), Iops(w))
            })
            .unwrap_or_default();
        let read = class
            .read_bps
            .map(|bps| format!(", sequential reads {}", BytesPerSecond(bps)))
            .unwrap_or_default();
        format!(
            "{}: sequential writes {}{read}{random} ({})",
            class.name,
            BytesPerSecond(class.write_bps),
            class.source
        )
    };
    let named_classes =
        every().filter(|class| reached.contains(&class.name)).map(line).collect::<Vec<_>>();
    Some(
        FindingBuilder::info("classes", statement)
            .figures(&figures)
            .notes(named_classes)
            .notes(excuses)
            .notes(conditions(record))
            .done(),
    )
}

/// Conditions of the official tests that this test does not have.
fn conditions(record: &Record) -> Vec<String> {
    let queue = match record.target.link.as_ref().and_then(|link| link.command_queue) {
        Some(true) => "on",
        Some(false) => "off",
        None => "not known",
    };
    vec![
        "tested: sequential writes over existing data; not tested: directory updates in between, free allocation units (docs/field/classes.md#minimum-rates)".to_owned(),
        format!("A1 is defined at queue depth 1; A2 with a command queue, which is {queue} here; only queue depth {QUEUE} can show that A2 is missed"),
    ]
}

/// A promise, its threshold, and the measured value.
struct ClassCheck<'a> {
    claim: String,
    promised: f64,
    measured: Option<ClassFigure<'a>>,
    show: fn(f64) -> String,
    /// Reason why a lower value does not break the promise; `None` if it does.
    excuse: Option<&'static str>,
}

enum ClassFigure<'a> {
    Figure(UsableEstimate<'a>),
    /// A size found by the probe.
    Found(f64),
    /// A size that the medium declares, without a probe.
    Declared(f64),
}

impl ClassFigure<'_> {
    fn value(&self) -> f64 {
        match self {
            ClassFigure::Figure(figure) => figure.value,
            ClassFigure::Found(value) | ClassFigure::Declared(value) => *value,
        }
    }
    fn below(&self, threshold: f64) -> Option<f64> {
        match self {
            ClassFigure::Figure(figure) => figure.below(threshold),
            ClassFigure::Found(_) | ClassFigure::Declared(_) => None,
        }
    }
}

/// `claim` for each claim on the box, `class-claim` for each class in the registers. A printed
/// claim that fails is a failure of the medium, as the user asked for it. A capacity may be 7 %
/// below the printed one, as on formatted media.
pub(crate) fn claims(record: &Record) -> Vec<Finding> {
    let printed = record.medium.claims.clone().unwrap_or_default();
    let mut findings: Vec<Finding> = held(record, &printed)
        .into_iter()
        .map(|held| judged(held, "claim", "claim", Severity::Failure))
        .collect();
    let registers = record.medium.classes.clone().unwrap_or_default();
    let declared = Claims {
        speed_class: registers.speed_class,
        uhs_grade: registers.uhs_grade,
        video_class: registers.video_class,
        app_class: registers.app_class,
        ..Claims::default()
    };
    findings.extend(
        held(record, &declared)
            .into_iter()
            .map(|held| judged(held, "class-claim", "register claim", Severity::Warning)),
    );
    findings
}

fn held<'a>(record: &'a Record, claims: &Claims) -> Vec<ClassCheck<'a>> {
    let rate = |value: f64| BytesPerSecond(value).to_string();
    let write = || figure::sustained_write(record).map(ClassFigure::Figure);
    let read = || figure::sequential(record, test::SEQUENTIAL_READ).map(ClassFigure::Figure);
    let mut all = Vec::new();
    let mut hold = |claim: String, promised: f64, measured, show: fn(f64) -> String| {
        all.push(ClassCheck { claim, promised, measured, show, excuse: None });
    };
    if let Some(bytes) = claims.capacity_bytes {
        // The capacity found counts, else the declared one, unless the medium is a fake with an
        // unfinished probe.
        // A partition's own size is no claim of its medium.
        let whole = record.target.part_of.as_ref().map(|whole| whole.capacity_bytes);
        let promised = bytes as f64 * 0.93;
        let found = genuineness::real_bytes_against(record, promised)
            .filter(|size| *size > 0 && whole.is_none());
        let declared =
            whole.or(record.medium.capacity_bytes).filter(|_| !genuineness::is_fake(record));
        let size = found
            .map(|size| ClassFigure::Found(size as f64))
            .or(declared.map(|size| ClassFigure::Declared(size as f64)));
        hold(format!("capacity {}", Bytes(bytes)), promised, size, |value| {
            Bytes(value as u64).to_string()
        });
    }
    let classes = [
        ("C", claims.speed_class, 1.0),
        ("U", claims.uhs_grade, 10.0),
        ("V", claims.video_class, 1.0),
    ];
    for (letter, class, factor) in classes
        .into_iter()
        .filter_map(|(letter, class, factor)| Some((letter, class?, factor)))
        .filter(|(_, class, _)| *class > 0)
    {
        let megabytes = f64::from(class) * factor;
        hold(
            format!("{letter}{class} (sequential writes of at least {megabytes} MB/s)"),
            megabytes * 1e6,
            write(),
            rate,
        );
    }
    for (what, promised, measured) in [
        ("sequential reads", claims.read_bps, read()),
        ("sequential writes", claims.write_bps, write()),
    ] {
        if let Some(promised) = promised {
            hold(format!("{what} of {}", rate(promised)), promised, measured, rate);
        }
    }
    all.extend(app_class(record, claims));
    all
}

/// Requirements of an application class.
fn app_class<'a>(record: &'a Record, claims: &Claims) -> Vec<ClassCheck<'a>> {
    let Some(number) = claims.app_class.filter(|class| *class > 0) else { return Vec::new() };
    let class = &APP[if number == 1 { 0 } else { 1 }];
    let iops = |value: f64| Iops(value).to_string();
    let random = |(test, what, least): (&'static str, &str, f64)| {
        let ClassRequirement { measured, least, excuse } =
            random_requirement(record, test, least, class.is_queued);
        let measured = measured.map(ClassFigure::Figure);
        ClassCheck {
            claim: format!("A{number} ({least} random {what} IOPS)"),
            promised: least,
            measured,
            show: iops,
            excuse,
        }
    };
    let [reads, writes] = class.random.unwrap_or_default();
    let mut held: Vec<ClassCheck> =
        [(test::RANDOM_READ, "read", reads), (test::RANDOM_WRITE, "write", writes)]
            .into_iter()
            .map(random)
            .collect();
    held.push(ClassCheck {
        claim: format!("A{number} (sequential writes of 10 MB/s)"),
        promised: class.write_bps,
        measured: figure::sustained_write(record).map(ClassFigure::Figure),
        show: |value| BytesPerSecond(value).to_string(),
        excuse: None,
    });
    held
}

fn judged(held: ClassCheck<'_>, id: &str, whose: &str, failing: Severity) -> Finding {
    let ClassCheck { claim, promised, measured, show, excuse } = held;
    let Some(measured) = measured else {
        // An untested class without a request by the user gives no warning.
        let severity =
            if failing == Severity::Failure { Severity::Warning } else { Severity::Info };
        let statement = format!("The {whose} of {claim} was not tested by this run.");
        return FindingBuilder::new(id, severity, statement)
            .outcome(Outcome::Claim { holds: None })
            .done();
    };
    let found = match &measured {
        ClassFigure::Figure(figure) => format!("{} measured", figure.with_interval()),
        ClassFigure::Found(_) => format!("{} found", show(measured.value())),
        ClassFigure::Declared(_) => {
            format!("it declares {}, which was not checked", show(measured.value()))
        }
    };
    let below = measured.below(promised);
    let (holds, severity, statement, confidence) = if measured.value() >= promised
        && below.is_some_and(|share| share > 0.05)
    {
        let statement =
            format!("The {whose} of {claim} probably holds, though not for certain: {found}.");
        (None, Severity::Info, statement, below.map(|share| 1.0 - share))
    } else if measured.value() >= promised {
        let statement = format!("The {whose} of {claim} holds: {found}.");
        (Some(true), Severity::Info, statement, below.map(|share| 1.0 - share))
    } else if let Some(excuse) = excuse {
        let excuse = capitalised(excuse);
        let statement = format!(
            "Cannot be told here: whether the {whose} of {claim} holds. {excuse}: {found}."
        );
        (None, Severity::Info, statement, None)
    } else if below.is_some_and(|share| share < 0.95) {
        let statement = format!(
            "The {whose} of {claim} probably does not hold: {found}, which is not certain enough."
        );
        (None, Severity::Warning, statement, below)
    } else {
        let statement = format!("The {whose} of {claim} does not hold: {found}.");
        (Some(false), failing, statement, below)
    };
    let draft = FindingBuilder::new(id, severity, statement)
        .outcome(Outcome::Claim { holds })
        .with_confidence(confidence);
    match &measured {
        ClassFigure::Figure(figure) => draft.figure(figure).done(),
        ClassFigure::Found(value) => draft.note(format!("size found: {}", show(*value))).done(),
        ClassFigure::Declared(value) => {
            draft.note(format!("declared size: {}", show(*value))).done()
        }
    }
}
