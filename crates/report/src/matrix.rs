//! Results of a matrix, for a terminal and as parts of a page: the best combination, its advantage,
//! and the commands that set it up.

use findings::matrix::{CombinationResult, ContestRank, Matrix, WorkPlaces};
use record::text::printable;
use record::units::significant;
use record::{Cell, Ended, Record, TargetKind};

use crate::tables::Table;
use crate::words;

/// Sentence on an unfinished matrix: it counts tries, not the cells of each.
pub fn state(record: &Record) -> Option<String> {
    let is_done = |cell: &&Cell| cell.is_headline() && cell.is_of_combination();
    let tries = record.cells.iter().filter(is_done).count();
    let how = match record.run.ended {
        Ended::Complete => return None,
        Ended::Running => "is running",
        Ended::Interrupted => "was interrupted",
        Ended::Error => "was stopped by a failure of the medium or the machine",
    };
    let planned = record.plan.len();
    let added = match tries.saturating_sub(planned) {
        0 => String::new(),
        n => format!(", and {n} of those that are added until the ranking is certain"),
    };
    let done = tries.min(planned);
    Some(format!(
        "The matrix {how}: {done} of {planned} planned tries are done{added}; flashmark resume continues it."
    ))
}

/// All combinations of one work, the best first.
pub fn ranking(work: &WorkPlaces) -> Table {
    let unit = if work.larger_is_better { "#A second" } else { "#Seconds" };
    let mut table = Table::new(&[
        "File system",
        "Mounted",
        "Scheduler",
        unit,
        "#Of the best speed",
        "95 % interval",
        "#n",
        "#Slowest",
        "#Fairness",
        "Status",
    ]);
    for place in &work.places {
        table.push(
            vec![
                printable(&place.combination.filesystem_words()),
                printable(&place.combination.mount_options),
                printable(&place.combination.scheduler),
                significant(place.centre),
                significant(place.relative),
                interval(place),
                place.figures.len().to_string(),
                place.worst_stall_ns.map(words::stall).unwrap_or_else(|| "-".to_owned()),
                place.fairness.map(significant).unwrap_or_else(|| "-".to_owned()),
                rank(place.rank).to_owned(),
            ],
            Vec::new(),
        );
    }
    table
}

fn interval(place: &CombinationResult) -> String {
    place
        .ci95
        .map(|[low, high]| format!("{} to {}", significant(low), significant(high)))
        .unwrap_or_default()
}

fn rank(rank: ContestRank) -> &'static str {
    match rank {
        ContestRank::Best => "best",
        ContestRank::Worse => "worse",
        ContestRank::Same => "equal within 10 %",
        ContestRank::Unclear => "cannot be told here",
    }
}

/// Average number of extents of the files, and the cost; `None` if no file system reports them.
pub fn fragmentation(matrix: &Matrix) -> Option<Table> {
    let mut table = Table::new(&[
        "Work",
        "File system",
        "Scheduler",
        "#Extents a file before",
        "#After",
        "#Reading takes, times one piece",
    ]);
    let shown = |value: Option<f64>| value.map(significant).unwrap_or_else(|| "-".to_owned());
    for work in &matrix.works {
        for place in &work.places {
            let [before, after] = place.extents_per_file;
            if before.is_none() && after.is_none() && place.fragmentation_read_ratio.is_none() {
                continue;
            }
            let combination =
                [&work.work, &place.combination.filesystem_words(), &place.combination.scheduler]
                    .map(|word| printable(word));
            let figures = [shown(before), shown(after), shown(place.fragmentation_read_ratio)];
            table.push(combination.into_iter().chain(figures).collect(), Vec::new());
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Per-thread rates of each combination and phase in MB/s, as means of the tries: the children,
/// parent, minimum and maximum of iozone; `None` if no work had several threads.
pub fn threads(record: &Record) -> Option<Table> {
    let mut table = Table::new(&[
        "File system",
        "Scheduler",
        "Phase",
        "#Children",
        "#Parent",
        "#Slowest thread",
        "#Fastest thread",
        "#n",
    ]);
    type Views = [Option<f64>; 4];
    let mut phases: Vec<([&str; 3], Vec<Views>)> = Vec::new();
    for cell in &record.cells {
        let Some(views) = record::thread_views(cell) else { continue };
        let form = cell.params.form.as_deref().unwrap_or_default();
        let key = [cell.label("filesystem"), cell.label("scheduler"), form];
        match phases.iter_mut().find(|(known, _)| *known == key) {
            Some((_, tries)) => tries.push(views),
            None => phases.push((key, vec![views])),
        }
    }
    for (key, tries) in &phases {
        let mean = |view: usize| {
            let values: Vec<f64> = tries.iter().filter_map(|views| views[view]).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            if values.is_empty() { "-".to_owned() } else { significant(mean) }
        };
        let words = key.map(printable).into_iter();
        let figures = (0..4).map(mean).chain([tries.len().to_string()]);
        table.push(words.chain(figures).collect(), Vec::new());
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Commands that set up the recommended combination, with its name; they are printed, never run.
/// With several works it is the combination that is near the best for all of them.
pub fn commands(record: &Record, matrix: &Matrix) -> Option<(String, Vec<(&'static str, String)>)> {
    let best = match matrix.overall.first() {
        Some(best) => matrix
            .works
            .first()?
            .places
            .iter()
            .find(|place| place.combination == best.combination)?,
        None => matrix.works.first()?.best()?,
    };
    let device = match (record.target.kind, &record.target.device) {
        (TargetKind::Block, Some(device)) => format!("/dev/{device}"),
        _ => "/dev/DEVICE".to_owned(),
    };
    let kind = best.combination.filesystem.split('-').next().unwrap_or_default();
    let mkfs = if best.mkfs.is_empty() { format!("mkfs.{kind} DEVICE") } else { best.mkfs.clone() };
    let options = if best.combination.mount_options.is_empty() {
        "defaults"
    } else {
        &best.combination.mount_options
    };
    let pass = if kind.starts_with("ext") { 2 } else { 0 };
    let lines = vec![
        ("make the file system; this erases everything on it", mkfs.replace("DEVICE", &device)),
        (
            "a line of /etc/fstab; `blkid` shows the UUID",
            format!("UUID=THE-UUID  /MOUNT/POINT  {kind}  {options}  0  {pass}"),
        ),
        (
            "a file in /etc/udev/rules.d, for example 60-scheduler.rules",
            udev(record, &best.combination.scheduler),
        ),
    ];
    Some((best.combination.words(), lines))
}

/// A udev rule that sets the scheduler whenever the medium is plugged in, matched by its identity.
fn udev(record: &Record, scheduler: &str) -> String {
    let medium = &record.medium;
    let quoted = |text: &str| text.replace(['"', '\\'], "?");
    let which = match (&medium.cid, &medium.serial, &record.target.device) {
        (Some(cid), ..) => format!("ATTRS{{cid}}==\"{}\"", quoted(cid)),
        (None, Some(serial), _) => format!("ENV{{ID_SERIAL_SHORT}}==\"{}\"", quoted(serial)),
        (None, None, Some(device)) => format!("KERNEL==\"{}\"", quoted(device)),
        (None, None, None) => "KERNEL==\"DEVICE\"".to_owned(),
    };
    format!(
        "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", {which}, ATTR{{queue/scheduler}}=\"{}\"",
        quoted(scheduler)
    )
}
