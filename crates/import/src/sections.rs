//! Places in a text at which another medium may begin: lines with a model, headings, and the
//! numbered comments below an article.
//!
//! A model begins a medium. A heading or a comment does only if what follows repeats a measurement
//! that the medium has already: many people write a heading above each tool.

use std::collections::BTreeSet;

use record::{Cell, Medium};

use super::MAX_MEDIA;
use super::imported_run::ImportedRun;
use super::text::{ImportText, group, re, short};

/// What begins a section.
enum Mark<'a> {
    /// A line such as "Model Number: ..", with the medium that it begins.
    Model(&'a Medium),
    /// A heading and its level: 1 is the highest.
    Heading(usize, String),
    /// "8. Is this one good?": a comment of somebody else.
    Item,
}

/// Sections that belong to one medium, unless their results name several.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// Line of its begin.
    begin: usize,
    /// Medium that its model lines or its heading name.
    pub medium: Medium,
    /// True if that is a heading, which holds for named devices, too: a reader has one name.
    is_headed: bool,
    /// Measurements without a model.
    measured: BTreeSet<String>,
}

/// Groups of the sections of a text, in their order.
pub(super) struct Groups(Vec<Group>);

impl Groups {
    /// True if the whole text is one group.
    pub fn is_one(&self) -> bool {
        self.0.len() == 1
    }

    /// Index of the group with a line.
    pub fn of_line(&self, at: usize) -> usize {
        self.0.partition_point(|group| group.begin <= at).saturating_sub(1)
    }

    /// Takes the medium that a group names as that of a run of it that names none.
    pub fn name(&self, index: usize, run: &mut ImportedRun) {
        let group = &self.0[index];
        let is_open = group.is_headed || run.target.device.is_none() && run.tool != "iostat";
        if run.medium.model.is_none() && is_open {
            let Medium { model, serial, firmware, .. } = group.medium.clone();
            run.medium = Medium { model, serial, firmware, ..std::mem::take(&mut run.medium) };
        }
    }

    /// Finds the groups of a text.
    pub fn of(source: &ImportText, found: &[ImportedRun]) -> Groups {
        let mut marks = marks(source);
        let models = found.iter().filter(|run| run.is_identity());
        marks.extend(models.map(|run| (run.first_place(), Mark::Model(&run.medium))));
        marks.sort_by_key(|(at, _)| *at);
        let (is_one, measured) = (is_one_medium(found), measured(found));
        let between = |from: usize, to: usize| {
            let at = |line: usize| measured.partition_point(|(place, _)| *place < line);
            &measured[at(from)..at(to)]
        };
        let first = marks.first().map_or(usize::MAX, |(at, _)| *at);
        let mut groups = vec![Group::default()];
        groups[0].measured.extend(between(0, first).iter().map(|(_, key)| key.clone()));
        let mut headings: Vec<(usize, &str)> = Vec::new();
        let ends = marks.iter().skip(1).map(|(at, _)| *at).chain([usize::MAX]);
        for ((begin, mark), end) in marks.iter().zip(ends) {
            let here = between(*begin, end);
            if let Mark::Heading(level, text) = mark {
                headings.push((*level, text));
            }
            let Some(group) = groups.last() else { break };
            let has_room = groups.len() < MAX_MEDIA;
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
        if let [only] = &mut groups[..]
            && !found.iter().any(ImportedRun::is_identity)
        {
            (only.medium, only.is_headed) = (Medium::default(), false);
        }
        Groups(groups)
    }
}

impl Group {
    /// True if a medium is not that of the group so far.
    fn is_other(&self, medium: &Medium) -> bool {
        let Medium { model, serial, .. } = &self.medium;
        if model.is_none() && serial.is_none() {
            return !self.measured.is_empty();
        }
        let is_another_serial =
            serial.is_some() && medium.serial.is_some() && *serial != medium.serial;
        *model != medium.model || is_another_serial
    }
}

/// True if the model lines of a text name one medium, and its results no more than that.
fn is_one_medium(found: &[ImportedRun]) -> bool {
    let mut named = found.iter().filter(|run| run.is_identity()).map(|run| &run.medium);
    let first = named.next();
    let is_same = |medium: &Medium| first.is_some_and(|first| first.model == medium.model);
    named.all(is_same) && found.iter().all(|run| run.ordinal.is_none())
}

/// True if a heading names a run, not a medium.
fn is_of_a_step(heading: &str) -> bool {
    re!(r"(?i)^(?:runs?|tests?|pass|results?|before|after|step|attempt|try|output|benchmarks?|\d+)\b")
        .is_match(heading)
}

/// What was measured without a model, by its line.
fn measured(found: &[ImportedRun]) -> Vec<(usize, String)> {
    let key = |run: &ImportedRun, cell: &Cell| {
        format!("{} {} {} {:?}", run.target.path, run.tool, cell.test, cell.params)
    };
    let of_run = |run: &ImportedRun| {
        let cells = run.places.iter().zip(&run.cells);
        cells.map(|(place, cell)| (*place, key(run, cell))).collect::<Vec<_>>()
    };
    let unnamed = found.iter().filter(|run| run.medium.model.is_none());
    let mut measured: Vec<(usize, String)> = unnamed.flat_map(of_run).collect();
    measured.sort();
    measured
}

fn marks<'a>(source: &ImportText) -> Vec<(usize, Mark<'a>)> {
    let mut marks = Vec::new();
    for (at, line) in source.numbered() {
        let heading = re!(r"^(#{1,6}) +(\S.*?)[ #]*$").captures(line);
        let bold = re!(r"^\s*\*\*([^*]+)\*\*:?\s*$").captures(line);
        let next = source.line(at + 1).trim_start();
        let is_apart = next.is_empty() || next.starts_with("```");
        if let Some(heading) = heading.filter(|_| is_apart) {
            marks
                .push((at, Mark::Heading(group(&heading, 1).len(), short(group(&heading, 2), 60))));
        } else if let Some(bold) = bold {
            marks.push((at, Mark::Heading(7, short(group(&bold, 1), 60))));
        } else if re!(r"^ {0,4}\d{1,3}\. +\S").is_match(line) {
            marks.push((at, Mark::Item));
        }
    }
    marks
}
