//! Results of a matrix, for a terminal and as parts of a page: the best combination, its advantage,
//! and the commands that set it up.

use findings::matrix::{CombinationResult, ContestRank, Matrix, WorkPlaces};
use record::text::printable;
use record::units::significant;
use record::{Cell, Ended, Record, Stop, TargetKind};

use crate::tables::Table;
use crate::words;

/// Sentence on an unfinished matrix: it counts tries, not the cells of each.
pub(crate) fn state(record: &Record) -> Option<String> {
    let is_done = |cell: &&Cell| {
        cell.label("part").is_empty()
            && cell.stop != Stop::Interrupted
            && !cell.is_failed_by_medium()
    };
    let tries = record.cells.iter().filter(is_done).count();
    let how = match record.run.ended {
        Ended::Complete => return None,
        Ended::Running => "is running",
        Ended::Interrupted => "was interrupted",
        Ended::Error => "was stopped by a failure of the medium or the machine",
    };
    Some(format!(
        "The matrix {how}: {tries} of {} planned tries are done; flashmark resume continues it.",
        record.plan.len()
    ))
}

/// All combinations of one work, the best first.
pub(crate) fn ranking(work: &WorkPlaces) -> Table {
    let unit = if work.larger_is_better { "#A second" } else { "#Seconds" };
    let mut table = Table::new(&[
        "File system",
        "Mounted",
        "Scheduler",
        unit,
        "#Of the best",
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

/// Each scheduler over all file systems: ratio to the best at its best and on average, fairness,
/// and longest stall.
pub(crate) fn by_scheduler(work: &WorkPlaces) -> Table {
    let mut table = Table::new(&[
        "Scheduler",
        "#Of the best, at its best",
        "#On average",
        "#Fairness",
        "#Slowest",
    ]);
    let mut names: Vec<&str> = Vec::new();
    for place in &work.places {
        if !names.contains(&place.combination.scheduler.as_str()) {
            names.push(&place.combination.scheduler);
        }
    }
    for name in names {
        let places: Vec<&CombinationResult> =
            work.places.iter().filter(|place| place.combination.scheduler == name).collect();
        let mean = |values: Vec<f64>| {
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let best = places.iter().map(|place| place.relative).max_by(f64::total_cmp);
        let average = mean(places.iter().map(|place| place.relative.ln()).collect()).map(f64::exp);
        let fairness = mean(places.iter().filter_map(|place| place.fairness).collect());
        let worst = places.iter().filter_map(|place| place.worst_stall_ns).max_by(f64::total_cmp);
        let shown = |value: Option<f64>| value.map(significant).unwrap_or_else(|| "-".to_owned());
        let worst = worst.map(words::stall).unwrap_or_else(|| "-".to_owned());
        table.push(
            vec![printable(name), shown(best), shown(average), shown(fairness), worst],
            Vec::new(),
        );
    }
    table
}

/// Average number of extents of the files, and the cost; `None` if no file system reports them.
pub(crate) fn fragmentation(matrix: &Matrix) -> Option<Table> {
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
pub(crate) fn threads(record: &Record) -> Option<Table> {
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
pub(crate) fn commands(
    record: &Record,
    matrix: &Matrix,
) -> Option<(String, Vec<(&'static str, String)>)> {
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

#[cfg(test)]
mod tests {
    use record::{Cell, Estimate, Params, PlannedCell};

    use super::*;
    use crate::demo;

    fn cell(filesystem: &str, scheduler: &str, repeat: u32, figure: f64) -> Cell {
        let mut cell = Cell::begun(
            format!("untar/{filesystem}/{scheduler}#{repeat}"),
            "untar",
            Params::default(),
        );
        cell.metrics.iops = Some(Estimate { value: figure, ci95: None, n: 1 });
        cell.metrics
            .other
            .insert("worst_stall_ns".to_owned(), Estimate { value: 2e6, ci95: None, n: 1 });
        cell.metrics
            .other
            .insert("extents_per_file_after".to_owned(), Estimate { value: 1.5, ci95: None, n: 1 });
        let labels = [
            ("work", "untar"),
            ("filesystem", filesystem),
            ("align", "no"),
            ("mount_options", "noatime"),
            ("scheduler", scheduler),
        ];
        cell.labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        cell.labels.insert("repeat".to_owned(), repeat.to_string());
        cell.labels.insert("mkfs".to_owned(), format!("mkfs.{filesystem} DEVICE"));
        cell
    }

    fn record() -> Record {
        let mut record = demo::good();
        let figures = [
            ("ext4", "none", 100.0),
            ("ext4", "bfq", 50.0),
            ("xfs", "none", 70.0),
            ("xfs", "bfq", 40.0),
        ];
        record.cells = figures
            .iter()
            .flat_map(|(fs, scheduler, figure)| {
                (1..=3).map(move |repeat| cell(fs, scheduler, repeat, figure + f64::from(repeat)))
            })
            .collect();
        let planned = |cell: &Cell| PlannedCell {
            id: cell.id.clone(),
            test: cell.test.clone(),
            params: Params::default(),
            max_ns: 0,
            max_written_bytes: 0,
        };
        record.plan = record.cells.iter().map(planned).collect();
        record.findings = Vec::new();
        record.skipped = Vec::new();
        record.medium.serial = Some("42\"".to_owned());
        record.medium.cid = None;
        record.target.device = Some("sdb".to_owned());
        record.target.kind = TargetKind::Block;
        record
    }

    #[test]
    fn the_best_comes_first_and_with_the_lines_to_type() {
        let record = record();
        let matrix = findings::matrix::of(&record).unwrap();
        let screen = crate::text::summary(&record, 80, false);
        assert!(screen.lines().count() <= 24, "{screen}");
        assert!(screen.contains("ext4 (noatime) with none is best"), "{screen}");
        let text = crate::text::details(&record, &record.run.id, 80, false);
        assert!(
            text.contains("untar: ext4 (noatime) with none is best: 102 per second, 1.42x faster"),
            "{text}"
        );
        let (combination, lines) = commands(&record, &matrix).unwrap();
        assert_eq!(
            (combination.as_str(), lines[0].1.as_str()),
            ("ext4 (noatime) with none", "mkfs.ext4 /dev/sdb")
        );
        insta::assert_snapshot!(lines[1].1, @"UUID=THE-UUID  /MOUNT/POINT  ext4  noatime  0  2");
        insta::assert_snapshot!(lines[2].1, @r#"ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", ENV{ID_SERIAL_SHORT}=="42?", ATTR{queue/scheduler}="none""#);
    }

    #[test]
    fn the_page_has_a_heat_map_and_lets_nothing_out() {
        let mut record = record();
        record.cells[0].labels.insert("scheduler".to_owned(), "<b>evil</b>".to_owned());
        let page = crate::html::page(&record);
        assert!(page.contains("<table class=\"heat\">") && page.contains("h10 equal"), "{page}");
        assert!(!page.contains("<b>evil"), "markup from a record");
        // Only classes carry style: the policy of the page blocks inline styles.
        assert!(!page.contains("style=\""));
    }

    #[test]
    fn an_unfinished_one_counts_tries() {
        let mut record = record();
        record.run.ended = Ended::Interrupted;
        record.cells.truncate(5);
        assert_eq!(
            state(&record).unwrap(),
            "The matrix was interrupted: 5 of 12 planned tries are done; flashmark resume continues it."
        );
    }
}
