//! A tool as a table: the lines of its output as regular expressions with named groups, and what
//! each line is.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use record::{Cell, Direction};
use regex::Regex;

use super::IozoneUnit;
use super::imported_run::ImportedRun;
use super::reading::Reading;
use super::text::{self, ImportText, decimal, short, size, whole};

/// Sign by which the output of a tool is recognised.
pub(crate) struct Sign {
    /// Sign in words: "a line '.. copied, .. s, ..'".
    pub what: &'static str,
    pub is_there: fn(&ImportText) -> bool,
}

/// A tool: its name in records, that of its output in messages, the factor of its prefixes, and what
/// else of a [`Table`] it needs; then its signs in words, with regular expressions any of which may
/// match anywhere in the text; then its lines: what each is, its pattern, and the function that gives
/// its results.
macro_rules! tool {
    (
        $tool:literal, $output:literal, $step:literal $(, $part:ident: $how:expr)*;
        $([$what:literal: $($sign:expr),+])+
        $($does:ident $pattern:expr $(=> $give:expr)?;)*
    ) => {
        $crate::table::Tool {
            table: $crate::table::Table {
                tool: $tool,
                output: $output,
                step: $step,
                signs: &[$($crate::table::Sign {
                    what: $what,
                    is_there: |source| false $(|| $crate::text::re!($sign).is_match(source.text))+,
                }),+],
                lines: &[$($crate::table::Line($pattern, $crate::table::Does::$does $(($give))?)),*],
                $($part: $how,)*
                ..$crate::table::Table::EMPTY
            },
            patterns: std::sync::OnceLock::new(),
        }
    };
}
pub(crate) use tool;

/// A tool.
pub(crate) struct Tool {
    pub table: Table,
    /// Those of its lines.
    pub patterns: OnceLock<Vec<Regex>>,
}

/// What the output of a tool is.
pub(crate) struct Table {
    /// Name in records: "hdparm".
    pub tool: &'static str,
    /// Name of its output in messages: "hdparm output".
    pub output: &'static str,
    /// Signs of its output, all of which are required.
    pub signs: &'static [Sign],
    /// Factor of its prefixes: 1000 or 1024.
    pub step: f64,
    pub lines: &'static [Line],
    /// Takes facts of a run after each line.
    pub facts: fn(&mut Known, &mut ImportedRun),
    /// Makes the results that are spread over the lines of a block, at its end.
    pub ends: Give,
    /// True for a list in which each medium has each test once: a result of a test that the medium
    /// already has is of another.
    pub is_one_medium_each: bool,
    /// Reads the results of a tool whose output no table fits; its lines only tell what is no
    /// result.
    pub by_hand: Option<ByHand>,
}

impl Table {
    pub const EMPTY: Table = Table {
        tool: "",
        output: "",
        signs: &[],
        step: 1000.0,
        lines: &[],
        facts: |_, _| {},
        ends: |_| Ok(Vec::new()),
        is_one_medium_each: false,
        by_hand: None,
    };
}

/// A kind of line: its pattern, and what it is. The first that matches counts.
pub(crate) struct Line(pub &'static str, pub Does);

/// What a line is.
#[derive(Clone, Copy)]
pub(crate) enum Does {
    /// Its groups are known from here on. A new `device`, `path` or `model` begins a medium.
    Says,
    /// The same, and all that was known before is over.
    Begins,
    /// It is the first line of a result: those before it give theirs, and what they say of all
    /// results holds on.
    Starts,
    /// It completes results.
    Gives(Give),
    /// It repeats figures of other lines, or its figures are not of a medium.
    Repeats,
    /// Its groups are known from here on; what it says is read elsewhere (`failed`).
    Leaves,
    /// It may be the begin of a line that was wrapped, of a kind above this one. If the next lines
    /// do not complete it, it is of a kind below.
    Wraps,
}

/// Results, or why a line cannot be read.
pub(crate) type Made = Result<Vec<Cell>, String>;

/// Makes the results of what is known.
pub(crate) type Give = fn(&Known) -> Made;

/// Reads the results in a text.
pub(crate) type ByHand = fn(&ImportText, &mut Reading) -> Vec<ImportedRun>;

/// Longest line of a table, in bytes.
const LONGEST: usize = 2000;
/// Groups that name a medium.
const NAMES: [&str; 3] = ["device", "path", "model"];

/// Named groups of the lines so far.
#[derive(Clone, Default)]
pub(crate) struct Known {
    at: usize,
    step: f64,
    /// Unit of a bare table of iozone, if the user gives it.
    pub unit: Option<IozoneUnit>,
    texts: BTreeMap<String, String>,
    /// Groups of each line that has a group `each_..`.
    each: Vec<Known>,
}

impl Known {
    /// Groups of each line with this group `each_..`.
    pub fn each(&self, name: &str) -> impl Iterator<Item = &Known> {
        self.each.iter().filter(move |line| line.has(name))
    }

    /// Text of a group; empty if it is not known.
    pub fn text(&self, name: &str) -> &str {
        self.texts.get(name).map_or("", String::as_str)
    }

    /// Text of a group that is known and not empty, shortened.
    pub fn short(&self, name: &str, most: usize) -> Option<String> {
        Some(short(self.text(name), most)).filter(|text| !text.is_empty())
    }

    /// True if a group is known.
    pub fn has(&self, name: &str) -> bool {
        self.texts.contains_key(name)
    }

    /// Sets a count under the name of a group.
    pub fn set(&mut self, name: &str, count: usize) {
        self.texts.insert(name.to_owned(), count.to_string());
    }

    /// Forgets a group.
    pub fn drop(&mut self, name: &str) {
        self.texts.remove(name);
    }

    /// Number of a group, with a point or a comma.
    pub fn number(&self, name: &str) -> Option<f64> {
        decimal(self.text(name))
    }

    /// Whole number of a group.
    pub fn count(&self, name: &str) -> Option<u64> {
        whole(self.text(name))
    }

    /// Bytes of a group; prefixes are of 1024.
    pub fn size(&self, name: &str) -> Option<u64> {
        size(&self.text(name).replace(' ', ""))
    }

    /// Bytes a second of a group "12.1 MB/s", in the prefixes of the tool.
    pub fn rate(&self, name: &str) -> Option<f64> {
        text::rate(self.text(name), self.step)
    }

    /// Nanoseconds of a group "2.01 ms".
    pub fn time(&self, name: &str) -> Option<f64> {
        text::time(self.text(name))
    }

    /// Direction in the words of a group; `None` if they have neither or both.
    pub fn direction(&self, name: &str) -> Option<Direction> {
        let lower = self.text(name).to_ascii_lowercase();
        match (lower.contains("read"), lower.contains("writ")) {
            (true, false) => Some(Direction::Read),
            (false, true) => Some(Direction::Write),
            _ => None,
        }
    }

    /// Forgets the groups of a line and those of each line, but for the name of the medium.
    fn forget(&mut self, pattern: &Regex) {
        let over = pattern.capture_names().flatten().filter(|name| !NAMES.contains(name));
        over.for_each(|name| self.drop(name));
        self.each.clear();
    }

    /// Takes the groups of a line; true if they name another medium than before.
    fn learn(&mut self, pattern: &Regex, line: &str) -> bool {
        let Some(found) = pattern.captures(line) else { return false };
        let names = pattern.capture_names().flatten();
        let groups = names.map(|name| (name, found.name(name).map(|it| it.as_str().trim())));
        if pattern.as_str().contains("(?<each_") {
            let texts = groups.filter_map(|(name, it)| Some((name.to_owned(), it?.to_owned())));
            let (step, texts) = (self.step, texts.collect());
            self.each.push(Known { step, texts, ..Known::default() });
            return false;
        }
        let mut is_another = false;
        for (name, text) in groups {
            let before = self.texts.remove(name);
            self.texts.extend(text.map(|text| (name.to_owned(), text.to_owned())));
            is_another |= NAMES.contains(&name) && before.as_deref() != text;
        }
        is_another
    }
}

impl Tool {
    /// Reads a text: a run for each medium that it names.
    pub fn read(
        &self,
        source: &ImportText,
        unit: Option<IozoneUnit>,
        reading: &mut Reading,
    ) -> Vec<ImportedRun> {
        if let Some(read) = self.table.by_hand {
            let runs = read(source, reading);
            let is_read = runs.iter().any(|run| !run.cells.is_empty());
            let is_apart = |line: &str| self.patterns().iter().any(|it| it.is_match(line));
            let apart = source.numbered().filter(|(_, line)| is_read && is_apart(line));
            apart.for_each(|(at, _)| reading.take(at));
            return runs;
        }
        let mut runs = vec![ImportedRun::by(self.table.tool)];
        let mut known = Known { step: self.table.step, unit, ..Known::default() };
        let mut next = 0;
        for (at, line) in source.numbered() {
            if at < next {
                continue;
            }
            let Some((kind, line, lines)) = self.kind(source, at, line) else { continue };
            let (pattern, does) = (&self.patterns()[kind], self.table.lines[kind].1);
            next = at + lines;
            if matches!(does, Does::Begins | Does::Starts) {
                self.end(&mut runs, &mut known, reading);
                known.forget(pattern);
            }
            if matches!(does, Does::Begins) {
                known.texts.retain(|name, _| NAMES.contains(&name.as_str()));
            }
            known.at = at;
            let is_another = known.learn(pattern, &line);
            if is_another && !begin(&mut runs, &known, reading) {
                break;
            }
            let Some(run) = runs.last_mut() else { break };
            let is_taken = match does {
                Does::Repeats => true,
                Does::Leaves | Does::Wraps => false,
                Does::Says | Does::Begins | Does::Starts => {
                    self.tell(&mut known, run);
                    true
                }
                Does::Gives(give) => {
                    let given = reading.accept(at, give(&known));
                    let is_there =
                        |cell: &Cell| run.cells.iter().any(|(_, it)| it.test == cell.test);
                    let is_next = given.as_ref().is_none_or(|cells| cells.iter().any(is_there));
                    if self.table.is_one_medium_each && is_next {
                        if !reading.has_room(at, runs.len()) {
                            break;
                        }
                        runs.push(ImportedRun::by(self.table.tool));
                    }
                    let cells = given.unwrap_or_default();
                    let is_given = !cells.is_empty();
                    let Some(run) = runs.last_mut() else { break };
                    reading.add_all(run, at, cells);
                    self.tell(&mut known, run);
                    known.forget(pattern);
                    is_given
                }
            };
            if is_taken {
                reading.take_many(at, lines);
            }
        }
        self.end(&mut runs, &mut known, reading);
        runs.retain(|run| !self.table.is_one_medium_each || !run.cells.is_empty());
        if self.table.is_one_medium_each && runs.len() > 1 {
            (1..).zip(&mut runs).for_each(|(number, run)| run.ordinal = Some(number));
        }
        runs
    }

    /// Takes facts of a run.
    fn tell(&self, known: &mut Known, run: &mut ImportedRun) {
        if let Some(version) = known.short("version", 20) {
            run.version = version;
        }
        (self.table.facts)(known, run);
    }

    /// Ends a block.
    fn end(&self, runs: &mut [ImportedRun], known: &mut Known, reading: &mut Reading) {
        let cells = reading.accept(known.at, (self.table.ends)(known)).unwrap_or_default();
        if let Some(run) = runs.last_mut() {
            self.tell(known, run);
            reading.add_all(run, known.at, cells);
        }
    }

    fn patterns(&self) -> &[Regex] {
        self.patterns.get_or_init(|| {
            let compiled = |line: &Line| Regex::new(line.0).expect("a pattern of ours");
            self.table.lines.iter().map(compiled).collect()
        })
    }

    /// Kind of a line; the line, with one or two to which it was wrapped; and their number.
    fn kind(&self, source: &ImportText, at: usize, line: &str) -> Option<(usize, String, usize)> {
        let is_whole = |kind: &usize| !matches!(self.table.lines[*kind].1, Does::Wraps);
        let kinds = |line: &str| {
            let is_short = line.len() < LONGEST;
            let patterns = self.patterns().iter().enumerate();
            let fits = patterns.filter(|(_, pattern)| is_short && pattern.is_match(line));
            fits.map(|(kind, _)| kind).collect::<Vec<_>>()
        };
        let of_line = kinds(line);
        let first = *of_line.first()?;
        let mut joined = line.trim_end().to_owned();
        for count in (2..=3).take_while(|_| !is_whole(&first)) {
            let next = source.line(at + count - 1).trim();
            // A line of its own is not the rest of another.
            if kinds(next).iter().any(is_whole) {
                break;
            }
            joined = format!("{joined} {next}");
            if let Some(kind) = kinds(&joined).first().filter(|kind| **kind < first) {
                return Some((*kind, joined, count));
            }
        }
        let whole = of_line.into_iter().find(is_whole)?;
        Some((whole, line.to_owned(), 1))
    }
}

/// Goes on with the run of the medium that is known now, as the last; false if there are too many.
fn begin(runs: &mut Vec<ImportedRun>, known: &Known, reading: &mut Reading) -> bool {
    let Some(last) = runs.last() else { return false };
    let version = last.version.clone();
    let mut next = ImportedRun { version, begin: known.at, ..ImportedRun::by(last.tool) };
    next.medium.model = known.short("model", 60);
    let device = known.text("device").trim_start_matches("/dev/");
    if !device.is_empty() {
        next.on(&format!("/dev/{device}"));
    }
    next.on(known.text("path"));
    let is_it = |run: &ImportedRun| {
        (&run.target.path, &run.medium.model) == (&next.target.path, &next.medium.model)
    };
    if let Some(place) = runs.iter().position(is_it) {
        runs[place..].rotate_left(1);
        return true;
    }
    let is_named = last.target.device.is_some() || last.medium.model.is_some();
    if last.cells.is_empty() && !is_named {
        runs.pop();
    }
    let has_room = reading.has_room(known.at, runs.len());
    if has_room {
        runs.push(next);
    }
    has_room
}
