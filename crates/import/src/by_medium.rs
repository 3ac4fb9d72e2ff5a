//! Grouping of the results in a text by medium.
//!
//! In a log of one card some tools name it and others do not: results without a name belong to the
//! medium that was named last before them, and those before any name to the first.

use record::Cell;

use super::imported_run::{ImportedRun, note};

/// Names of a medium in a text. Names of different kinds do not contradict each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names {
    model: Option<String>,
    /// Name of the device without the number of a partition.
    device: Option<String>,
    /// Directory in which a file was written; a relative path names nothing.
    directory: Option<String>,
    /// Number of the medium, if the text names none of several.
    ordinal: Option<String>,
}

impl Names {
    fn of(run: &ImportedRun) -> Names {
        let path = Some(&run.target.path).filter(|path| path.starts_with('/'));
        let directory = path.and_then(|path| path.rsplit_once('/')).map(|(parent, _)| parent);
        let device = run.target.device.as_deref().map(whole_disk);
        Names {
            model: run.medium.model.clone(),
            directory: directory.filter(|_| device.is_none()).map(str::to_owned),
            device: device.map(str::to_owned),
            ordinal: run.ordinal.map(|number| number.to_string()),
        }
    }

    fn pairs<'a>(&'a self, other: &'a Names) -> [(&'a Option<String>, &'a Option<String>); 4] {
        [
            (&self.model, &other.model),
            (&self.device, &other.device),
            (&self.directory, &other.directory),
            (&self.ordinal, &other.ordinal),
        ]
    }

    fn contradicts(&self, other: &Names) -> bool {
        self.pairs(other).iter().any(|(a, b)| a.is_some() && b.is_some() && a != b)
    }

    fn shares(&self, other: &Names) -> bool {
        self.pairs(other).iter().any(|(a, b)| a.is_some() && a == b)
    }

    fn add(&mut self, other: Names) {
        self.model = self.model.take().or(other.model);
        self.device = self.device.take().or(other.device);
        self.directory = self.directory.take().or(other.directory);
        self.ordinal = self.ordinal.take().or(other.ordinal);
    }
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
pub(super) fn by_medium(mut found: Vec<ImportedRun>) -> Vec<Vec<ImportedRun>> {
    found.sort_by_key(ImportedRun::first_place);
    let (named, unnamed): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|run| Names::of(run) != Names::default());
    let mut media: Vec<(Names, Vec<ImportedRun>)> = Vec::new();
    let mut named_at: Vec<(usize, usize)> = Vec::new();
    for run in named {
        let names = Names::of(&run);
        let medium = medium_of(&media, &names);
        if medium == media.len() {
            media.push(Default::default());
        }
        // A list of all devices of a machine says nothing about the rest of the text.
        if run.tool != "iostat" {
            named_at.extend(run.places.iter().map(|place| (*place, medium)));
        }
        media[medium].0.add(names);
        media[medium].1.push(run);
    }
    named_at.sort_unstable();
    let mut media: Vec<Vec<ImportedRun>> = media.into_iter().map(|(_, runs)| runs).collect();
    add_unnamed(&mut media, &named_at, unnamed);
    media.iter_mut().for_each(|runs| runs.sort_by_key(ImportedRun::first_place));
    media.sort_by_key(|runs| runs.first().map(ImportedRun::first_place));
    media
}

/// Index of the medium with one of these names, else of the only medium if no name contradicts,
/// else the length of `media`.
fn medium_of(media: &[(Names, Vec<ImportedRun>)], names: &Names) -> usize {
    let fits = |known: &Names| !known.contradicts(names);
    let shared = media.iter().position(|(known, _)| fits(known) && known.shares(names));
    let only = || (media.len() == 1 && fits(&media[0].0)).then_some(0);
    shared.or_else(only).unwrap_or(media.len())
}

fn add_unnamed(
    media: &mut Vec<Vec<ImportedRun>>,
    named_at: &[(usize, usize)],
    unnamed: Vec<ImportedRun>,
) {
    let is_one = named_at.iter().all(|(_, medium)| *medium == named_at[0].1);
    let medium_at = |place: usize| {
        let after = named_at.partition_point(|(at, _)| *at <= place);
        named_at.get(after.saturating_sub(1)).map(|(_, medium)| *medium)
    };
    let nameless = media.len();
    for run in unnamed {
        let mut parts: Vec<(usize, ImportedRun)> = Vec::new();
        let ImportedRun { cells, places, .. } = run.clone();
        for (place, mut cell) in places.into_iter().zip(cells) {
            let medium = medium_at(place).unwrap_or(nameless);
            if !is_one {
                note_guess(&mut cell);
            }
            if parts.last().is_none_or(|(last, _)| *last != medium) {
                let empty = ImportedRun { cells: Vec::new(), places: Vec::new(), ..run.clone() };
                parts.push((medium, empty));
            }
            if let Some((_, part)) = parts.last_mut() {
                part.push(place, cell);
            }
        }
        for (medium, part) in parts {
            if medium == media.len() {
                media.push(Vec::new());
            }
            media[medium].push(part);
        }
    }
}

fn note_guess(cell: &mut Cell) {
    note(
        cell,
        "the text names several media; this names none and was taken for that named last before it",
    );
}
