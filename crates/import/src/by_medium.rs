//! Grouping of the results in a text by medium.
//!
//! In a log of one card some tools name it and others do not: results without a name belong to the
//! medium that was named last before them, and those before any name to the first.

use std::collections::BTreeMap;

use record::Cell;

use super::imported_run::{ImportedRun, note};
use super::sections::Groups;
use super::text::ImportText;

/// Names of a medium in a text: its model, its device without the number of a partition, the
/// directory in which a file was written (a relative path names nothing), and its number, if the text
/// names none of several. Names of different kinds do not contradict each other.
type Names = [Option<String>; 4];

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

/// Groups results by medium, those of each medium in the order of the text.
pub(super) fn by_medium(source: &ImportText, mut found: Vec<ImportedRun>) -> Vec<Vec<ImportedRun>> {
    found.sort_by_key(ImportedRun::first_place);
    let groups = Groups::of(source, &found);
    let mut parts: Vec<(usize, ImportedRun)> =
        found.into_iter().flat_map(|run| in_groups(&groups, run)).collect();
    parts.sort_by_key(|(_, part)| part.first_place());
    let (named, unnamed): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|(_, run)| names_of(run) != Names::default());
    let mut media: Vec<(Names, Vec<ImportedRun>)> = Vec::new();
    // Line and medium of each named result, by group.
    let mut named_at: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (group, run) in named {
        let names = names_of(&run);
        let medium = medium_of(&media, &names, groups.is_one());
        if medium == media.len() {
            media.push(Default::default());
        }
        // A list of all devices of a machine says nothing about the rest of the text.
        if run.tool != "iostat" {
            let places = run.places.iter().copied().chain(run.is_identity().then_some(run.begin));
            named_at.entry(group).or_default().extend(places.map(|place| (place, medium)));
        }
        let known = media[medium].0.iter_mut().zip(names);
        known.for_each(|(known, name)| *known = known.take().or(name));
        media[medium].1.push(run);
    }
    named_at.values_mut().for_each(|places| places.sort_unstable());
    let mut media: Vec<Vec<ImportedRun>> = media.into_iter().map(|(_, runs)| runs).collect();
    add_unnamed(&mut media, &named_at, unnamed);
    media.iter_mut().for_each(|runs| runs.sort_by_key(ImportedRun::first_place));
    media.sort_by_key(|runs| runs.first().map(ImportedRun::first_place));
    media
}

/// Splits a run by the groups of sections in which its results are; each part has the medium that
/// its group names, unless it has another of its own.
fn in_groups(groups: &Groups, mut run: ImportedRun) -> Vec<(usize, ImportedRun)> {
    if run.is_identity() {
        return vec![(groups.of_line(run.begin), run)];
    }
    let results = std::mem::take(&mut run.places).into_iter().zip(std::mem::take(&mut run.cells));
    let mut parts: Vec<(usize, ImportedRun)> = Vec::new();
    for (place, cell) in results {
        let group = groups.of_line(place);
        if parts.last().is_none_or(|(last, _)| *last != group) {
            let mut part = run.clone();
            groups.name(group, &mut part);
            parts.push((group, part));
        }
        if let Some((_, part)) = parts.last_mut() {
            part.push(place, cell);
        }
    }
    parts
}

/// Index of the medium with one of these names, else of the only medium if no name contradicts and
/// no section begins another, else the length of `media`.
fn medium_of(media: &[(Names, Vec<ImportedRun>)], names: &Names, is_one_group: bool) -> usize {
    let fits = |known: &Names| {
        let mut pairs = known.iter().zip(names);
        pairs.all(|(a, b)| a.is_none() || b.is_none() || a == b)
    };
    let shares = |known: &Names| known.iter().zip(names).any(|(a, b)| a.is_some() && a == b);
    let shared = media.iter().position(|(known, _)| fits(known) && shares(known));
    let only = || (is_one_group && media.len() == 1 && fits(&media[0].0)).then_some(0);
    shared.or_else(only).unwrap_or(media.len())
}

/// Adds results without a name: to the medium that was named last before them in their group, else
/// to the first there; a group that names none is a medium of its own. Activity of a device without
/// a name is never that of another.
fn add_unnamed(
    media: &mut Vec<Vec<ImportedRun>>,
    named_at: &BTreeMap<usize, Vec<(usize, usize)>>,
    unnamed: Vec<(usize, ImportedRun)>,
) {
    let (is_one, named) = (media.len() == 1, media.len());
    let mut nameless: BTreeMap<usize, usize> = BTreeMap::new();
    for (group, run) in unnamed {
        if run.tool == "iostat" && named > 0 {
            media.push(vec![run]);
            continue;
        }
        let ImportedRun { cells, places, .. } = run.clone();
        let mut parts: Vec<(usize, ImportedRun)> = Vec::new();
        let here = named_at.get(&group).map_or(&[][..], Vec::as_slice);
        for (place, mut cell) in places.into_iter().zip(cells) {
            let after = here.partition_point(|(at, _)| *at <= place);
            let medium = here.get(after.saturating_sub(1)).map(|(_, medium)| *medium);
            if medium.is_some() && !is_one {
                note_guess(&mut cell);
            }
            let medium = medium.unwrap_or_else(|| {
                *nameless.entry(group).or_insert_with(|| {
                    media.push(Vec::new());
                    media.len() - 1
                })
            });
            if parts.last().is_none_or(|(last, _)| *last != medium) {
                let empty = ImportedRun { cells: Vec::new(), places: Vec::new(), ..run.clone() };
                parts.push((medium, empty));
            }
            if let Some((_, part)) = parts.last_mut() {
                part.push(place, cell);
            }
        }
        parts.into_iter().for_each(|(medium, part)| media[medium].push(part));
    }
}

fn note_guess(cell: &mut Cell) {
    note(
        cell,
        "the text names several media; this names none and was taken for that named last before it",
    );
}
