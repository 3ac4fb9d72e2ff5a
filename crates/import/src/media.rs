//! Grouping of the results in a text by medium.
//!
//! In a log of one card some tools name it and others do not: results without a name belong to the
//! medium that was named last before them, and those before any name to the first.
//!
//! A line with a model begins a medium. A heading, or a numbered comment below an article, does so
//! only if what follows repeats a measurement that the medium has already: many people write a
//! heading above each tool.

use std::collections::{BTreeMap, BTreeSet};

use record::Medium;

use super::MAX_MEDIA;
use super::imported_run::{Fill, ImportedRun};
use super::text::{ImportText, group, re, short};

/// Names of a medium in a text: its model, its device without the number of a partition, the
/// directory in which a file was written (a relative path names nothing), and its number, if the text
/// names none of several. Names of different kinds do not contradict each other.
type Names = [Option<String>; 4];

/// A run with one of its results, or with none but what it says of the medium.
struct Part {
    /// Number of the run, and of the result in it.
    order: (usize, usize),
    group: usize,
    run: ImportedRun,
}

/// Sections that belong to one medium, unless their results name several.
#[derive(Default)]
struct Group {
    /// Line of its begin.
    begin: usize,
    /// Medium that its model lines or its heading name.
    medium: Medium,
    /// True if that is a heading, which holds for named devices, too: a reader has one name.
    is_headed: bool,
    /// Measurements without a model.
    measured: BTreeSet<String>,
}

/// What may begin a section.
enum Mark<'a> {
    /// A line such as "Model Number: ..", with the medium that it begins.
    Model(&'a Medium),
    /// A heading and its level: 1 is the highest.
    Heading(usize, String),
    /// "8. Is this one good?": a comment of somebody else; or the begin of the text.
    Item,
}

/// Groups results by medium, those of each medium in the order of the text, each as a run of its
/// own.
pub(super) fn by_medium(source: &ImportText, mut found: Vec<ImportedRun>) -> Vec<Vec<ImportedRun>> {
    found.sort_by_key(ImportedRun::first_place);
    let groups = groups(source, &found);
    let mut parts: Vec<Part> =
        (0..).zip(found).flat_map(|(nth, run)| parts(&groups, nth, run)).collect();
    parts.sort_by_key(|part| part.run.first_place());
    let (named, unnamed): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|part| names_of(&part.run) != Names::default());
    let mut media: Vec<(Names, Vec<Part>)> = Vec::new();
    // Group, line and medium of each named result.
    let mut named_at: Vec<(usize, usize, usize)> = Vec::new();
    for part in named {
        let names = names_of(&part.run);
        let medium = medium_of(&media, &names, groups.len() == 1);
        if medium == media.len() {
            media.push(Default::default());
        }
        // A list of all devices of a machine says nothing about the rest of the text.
        if part.run.tool != "iostat" {
            named_at.push((part.group, part.run.first_place(), medium));
        }
        let (known, parts) = &mut media[medium];
        known.iter_mut().zip(names).for_each(|(known, name)| *known = known.take().or(name));
        parts.push(part);
    }
    named_at.sort_unstable();
    let (is_one, is_any) = (media.len() == 1, !media.is_empty());
    let mut nameless: BTreeMap<(usize, Option<usize>), usize> = BTreeMap::new();
    for mut part in unnamed {
        // Activity of a device without a name is never that of another.
        let apart = Some(part.order.0).filter(|_| is_any && part.run.tool == "iostat");
        let place = (part.group, part.run.first_place());
        let after = named_at.partition_point(|(group, at, _)| (*group, *at) <= place);
        let in_group =
            |at: usize| named_at.get(at).filter(|it| it.0 == part.group && apart.is_none());
        let medium = after.checked_sub(1).and_then(in_group).or_else(|| in_group(after));
        if medium.is_some() && !is_one {
            let text = "the text names several media; this names none and was taken for that named last before it";
            for (_, cell) in &mut part.run.cells {
                cell.note(text);
            }
        }
        let medium = medium.map(|(.., medium)| *medium).unwrap_or_else(|| {
            *nameless.entry((part.group, apart)).or_insert_with(|| {
                media.push(Default::default());
                media.len() - 1
            })
        });
        media[medium].1.push(part);
    }
    let mut media: Vec<_> = media.into_iter().map(|(_, parts)| in_order(parts)).collect();
    media.sort_by_key(|runs| runs.first().map(ImportedRun::first_place));
    media
}

/// The runs of a medium by their first lines; the results of one stay together.
fn in_order(mut parts: Vec<Part>) -> Vec<ImportedRun> {
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for part in &parts {
        let least = first.entry(part.order.0).or_insert(usize::MAX);
        *least = part.run.first_place().min(*least);
    }
    parts.sort_by_key(|part| (first[&part.order.0], part.order));
    parts.into_iter().map(|part| part.run).collect()
}

/// Splits a run; each part has the medium that its group names, unless it has another of its own.
fn parts(groups: &[Group], nth: usize, mut run: ImportedRun) -> Vec<Part> {
    let of_line = |at: usize| groups.partition_point(|group| group.begin <= at).saturating_sub(1);
    if run.is_identity() {
        return vec![Part { order: (nth, 0), group: of_line(run.begin), run }];
    }
    let cells = std::mem::take(&mut run.cells).into_iter().enumerate();
    let part = |(index, (at, cell))| {
        let mut run = ImportedRun { cells: vec![(at, cell)], ..run.clone() };
        let Group { medium, is_headed, .. } = &groups[of_line(at)];
        let is_open = *is_headed || run.target.device.is_none() && run.tool != "iostat";
        if run.medium.model.is_none() && is_open {
            let Medium { model, serial, firmware, .. } = medium.clone();
            run.medium = Medium { model, serial, firmware, ..run.medium };
        }
        Part { order: (nth, index), group: of_line(at), run }
    };
    cells.map(part).collect()
}

fn names_of(run: &ImportedRun) -> Names {
    let path = Some(&run.target.path).filter(|path| path.starts_with('/'));
    let directory = path.and_then(|path| path.rsplit_once('/')).map(|(parent, _)| parent);
    let device = run.target.device.as_deref().map(whole_disk);
    [
        run.medium.model.clone(),
        device.map(str::to_owned),
        directory.filter(|_| device.is_none()).map(str::to_owned),
        run.ordinal.map(|number| number.to_string()),
    ]
}

/// Device of a partition: "sdb" of "sdb1", "mmcblk0" of "mmcblk0p1".
pub(super) fn whole_disk(device: &str) -> &str {
    let base = device.trim_end_matches(|c: char| c.is_ascii_digit());
    match base.strip_suffix('p') {
        Some(disk) if disk.ends_with(|c: char| c.is_ascii_digit()) => disk,
        _ if ["sd", "vd", "hd", "xvd"].iter().any(|kind| base.starts_with(kind)) => base,
        _ => device,
    }
}

/// Index of the medium with one of these names, else of the only medium if no name contradicts and
/// no section begins another, else the length of `media`.
fn medium_of(media: &[(Names, Vec<Part>)], names: &Names, is_one_group: bool) -> usize {
    let fits = |known: &Names| {
        let mut pairs = known.iter().zip(names);
        pairs.all(|(a, b)| a.is_none() || b.is_none() || a == b)
    };
    let shares = |known: &Names| known.iter().zip(names).any(|(a, b)| a.is_some() && a == b);
    let shared = media.iter().position(|(known, _)| fits(known) && shares(known));
    let only = || (is_one_group && media.len() == 1 && fits(&media[0].0)).then_some(0);
    shared.or_else(only).unwrap_or(media.len())
}

/// Finds the groups of a text.
fn groups(source: &ImportText, found: &[ImportedRun]) -> Vec<Group> {
    let models: Vec<_> = found.iter().filter(|run| run.is_identity()).collect();
    let mut marks = marks(source);
    marks.extend(models.iter().map(|run| (run.begin, Mark::Model(&run.medium))));
    marks.sort_by_key(|(at, _)| *at);
    let mut is_another_model =
        models.windows(2).map(|pair| pair[0].medium.model != pair[1].medium.model);
    let is_one = !is_another_model.any(|is| is) && found.iter().all(|run| run.ordinal.is_none());
    let measured = measured(found);
    let from = |line: usize| measured.partition_point(|(place, _)| *place < line);
    let mut groups = vec![Group::default()];
    let mut headings: Vec<(usize, &str)> = Vec::new();
    let ends = marks.iter().skip(1).map(|(at, _)| *at).chain([usize::MAX]);
    for ((begin, mark), end) in marks.iter().zip(ends) {
        let here = &measured[from(*begin)..from(end)];
        if let Mark::Heading(level, text) = mark {
            headings.push((*level, text));
        }
        let has_room = groups.len() < MAX_MEDIA;
        let Some(group) = groups.last() else { break };
        let is_another = has_room
            && match mark {
                Mark::Model(medium) => !is_one && group.is_other(medium),
                _ => here.iter().any(|(_, key)| group.measured.contains(key)),
            };
        let is_first = groups.len() == 1 && group.measured.is_empty();
        if is_another {
            groups.push(Group { begin: *begin, ..Group::default() });
        }
        let Some(group) = groups.last_mut() else { break };
        if let Mark::Model(medium) = mark {
            group.medium = (*medium).clone();
        }
        if here.is_empty() {
            continue;
        }
        if group.medium.model.is_none() && (is_another || is_first) {
            let heading = headings.iter().min_by_key(|(level, _)| *level);
            let name = heading.map(|(_, text)| *text).filter(|text| !is_of_a_step(text));
            group.medium.model = name.map(str::to_owned);
            group.is_headed = name.is_some();
        }
        headings.clear();
        group.measured.extend(here.iter().map(|(_, key)| key.clone()));
    }
    if let ([only], true) = (&mut groups[..], models.is_empty()) {
        (only.medium, only.is_headed) = (Medium::default(), false);
    }
    groups
}

impl Group {
    /// True if a medium is not that of the group so far.
    fn is_other(&self, medium: &Medium) -> bool {
        let Medium { model, serial, .. } = &self.medium;
        if model.is_none() && serial.is_none() {
            return !self.measured.is_empty();
        }
        let has_serials = serial.is_some() && medium.serial.is_some();
        *model != medium.model || has_serials && *serial != medium.serial
    }
}

/// True if a heading names a run, not a medium.
fn is_of_a_step(heading: &str) -> bool {
    re!(r"(?i)^(?:runs?|tests?|pass|results?|before|after|step|attempt|try|output|benchmarks?|\d+)\b")
        .is_match(heading)
}

/// What was measured without a model, by its line.
fn measured(found: &[ImportedRun]) -> Vec<(usize, String)> {
    let unnamed = found.iter().filter(|run| run.medium.model.is_none());
    let results = unnamed.flat_map(|run| run.cells.iter().map(move |cell| (run, cell)));
    let key = |(run, (place, cell)): (&ImportedRun, &(usize, record::Cell))| {
        (*place, format!("{} {} {} {:?}", run.target.path, run.tool, cell.test, cell.params))
    };
    let mut measured: Vec<_> = results.map(key).collect();
    measured.sort();
    measured
}

fn marks<'a>(source: &ImportText) -> Vec<(usize, Mark<'a>)> {
    let mut marks = vec![(0, Mark::Item)];
    for (at, line) in source.numbered() {
        let heading = re!(r"^(#{1,6}) +(\S.*?)[ #]*$").captures(line);
        let bold = re!(r"^\s*(\*\*)([^*]+)\*\*:?\s*$").captures(line);
        let next = source.line(at + 1).trim_start();
        let is_apart = next.is_empty() || next.starts_with("```");
        if let Some(heading) = heading.filter(|_| is_apart) {
            let level = group(&heading, 1).len();
            marks.push((at, Mark::Heading(level, short(group(&heading, 2), 60))));
        } else if let Some(bold) = bold {
            marks.push((at, Mark::Heading(7, short(group(&bold, 2), 60))));
        } else if re!(r"^ {0,4}\d{1,3}\. +\S").is_match(line) {
            marks.push((at, Mark::Item));
        }
    }
    marks
}
