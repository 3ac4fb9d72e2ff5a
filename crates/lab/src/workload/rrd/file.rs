//! Round-robin files as rrdtool 1.7 makes and updates them on a 64-bit little-endian machine
//! (docs/field/rrdtool.md#rrdtool, docs/field/rrdtool.md#test-vectors): the bytes of a new file,
//! and what an update changes. Sources are gauges, archives average or keep the largest.

/// Kind of a consolidation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consolidation {
    Average,
    Max,
}

/// One archive: so many rows, each of so many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Archive {
    pub consolidation: Consolidation,
    pub steps: u64,
    pub rows: u64,
}

/// What all files of a poll have in common.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub sources: Vec<String>,
    pub archives: Vec<Archive>,
    pub step_s: u64,
    pub heartbeat_s: u64,
}

/// Cacti's archives: a day by five minutes, a fortnight by half-hours, two months by two hours, two
/// years by days.
const CACTI: [(u64, u64); 4] = [(1, 600), (6, 700), (24, 775), (288, 797)];

const STAT_HEAD: u64 = 128;
const DS_DEF: u64 = 120;
const RRA_DEF: u64 = 120;
const LIVE_HEAD: u64 = 16;
const PDP_PREP: u64 = 112;
const CDP_PREP: u64 = 80;
const RRA_PTR: u64 = 8;
const VALUE: u64 = 8;
/// Cookie by which rrdtool knows its own byte order.
const FLOAT_COOKIE: f64 = 8.642135E130;
/// rrdtool's "unknown", as a processor of this family makes it from 0/0.
const UNKNOWN_BITS: u64 = 0xfff8_0000_0000_0000;
/// Share of a row's steps that may be unknown.
const XFF: f64 = 0.5;
/// Bytes of a source's last reading, as text, that are kept.
const LAST_TEXT: usize = 29;

impl Shape {
    /// A file as Cacti makes it, with so many sources.
    pub fn cacti(sources: u64) -> Shape {
        let names = ["traffic_in", "traffic_out"];
        let name = |i: u64| {
            names.get(i as usize).map_or_else(|| format!("source_{i}"), |name| (*name).to_owned())
        };
        let archives = [Consolidation::Average, Consolidation::Max]
            .into_iter()
            .flat_map(|consolidation| {
                CACTI.map(|(steps, rows)| Archive { consolidation, steps, rows })
            })
            .collect();
        Shape { sources: (0..sources).map(name).collect(), archives, step_s: 300, heartbeat_s: 600 }
    }

    fn counts(&self) -> (u64, u64) {
        (self.sources.len() as u64, self.archives.len() as u64)
    }

    /// Where the part that every update writes begins: live head, then preparation of sources, of
    /// rows, row pointers.
    pub fn live_offset(&self) -> u64 {
        let (sources, archives) = self.counts();
        STAT_HEAD + DS_DEF * sources + RRA_DEF * archives
    }

    /// Lengths of the four pieces of that part, in their order.
    pub fn live_pieces(&self) -> [u64; 4] {
        let (sources, archives) = self.counts();
        [LIVE_HEAD, PDP_PREP * sources, CDP_PREP * sources * archives, RRA_PTR * archives]
    }

    /// Bytes before the first row.
    pub fn header_bytes(&self) -> u64 {
        self.live_offset() + self.live_pieces().iter().sum::<u64>()
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> u64 {
        VALUE * self.counts().0
    }

    /// Where an archive's rows begin.
    pub fn archive_offset(&self, archive: usize) -> u64 {
        let before: u64 = self.archives[..archive].iter().map(|archive| archive.rows).sum();
        self.header_bytes() + before * self.row_bytes()
    }

    /// Bytes of a file.
    pub fn file_bytes(&self) -> u64 {
        self.archive_offset(self.archives.len())
    }

    /// The part of the header that never changes.
    fn fixed_head(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.live_offset() as usize);
        text(&mut bytes, "RRD", 4);
        text(&mut bytes, "0003", 12);
        bytes.extend(FLOAT_COOKIE.to_le_bytes());
        let (sources, archives) = self.counts();
        [sources, archives, self.step_s].iter().for_each(|count| bytes.extend(count.to_le_bytes()));
        bytes.resize(STAT_HEAD as usize, 0);
        for source in &self.sources {
            let end = bytes.len() + DS_DEF as usize;
            text(&mut bytes, source, 20);
            text(&mut bytes, "GAUGE", 20);
            bytes.extend(self.heartbeat_s.to_le_bytes());
            bytes.extend(0f64.to_le_bytes());
            bytes.extend(UNKNOWN_BITS.to_le_bytes());
            bytes.resize(end, 0);
        }
        for archive in &self.archives {
            let end = bytes.len() + RRA_DEF as usize;
            let name =
                if archive.consolidation == Consolidation::Average { "AVERAGE" } else { "MAX" };
            text(&mut bytes, name, 24);
            bytes.extend(archive.rows.to_le_bytes());
            bytes.extend(archive.steps.to_le_bytes());
            bytes.extend(XFF.to_le_bytes());
            bytes.resize(end, 0);
        }
        bytes
    }
}

/// A word in a field of so many bytes.
fn text(bytes: &mut Vec<u8>, word: &str, field: usize) {
    let end = bytes.len() + field;
    bytes.extend(word.bytes().take(field - 1));
    bytes.resize(end, 0);
}

fn number(bytes: &mut Vec<u8>, value: f64) {
    let bits = if value.is_nan() { UNKNOWN_BITS } else { value.to_bits() };
    bytes.extend(bits.to_le_bytes());
}

/// A source's readings since the last full step.
#[derive(Clone, Debug)]
struct Source {
    last: String,
    unknown_s: u64,
    value: f64,
}

/// A source's steps since an archive's last row.
#[derive(Clone, Copy, Debug)]
struct Row {
    value: f64,
    unknown_steps: u64,
    primary: f64,
    secondary: f64,
}

/// A row that an update writes: where, and one value for each source.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowWrite {
    /// Byte in the file.
    pub offset_bytes: u64,
    /// As it stands there.
    pub values: Vec<u8>,
}

/// What changes in a file's header from update to update.
#[derive(Clone, Debug)]
pub(super) struct State {
    last_s: u64,
    sources: Vec<Source>,
    /// Archive by archive, source by source.
    rows: Vec<Row>,
    current: Vec<u64>,
}

impl State {
    /// A file made at this time, each archive at a row of its own (rrdtool draws them, so that
    /// files do not all turn over at once).
    pub fn created(shape: &Shape, start_s: u64, mut draw: impl FnMut(u64) -> u64) -> State {
        let unknown_s = start_s % shape.step_s;
        let source = Source { last: "U".into(), unknown_s, value: f64::NAN };
        let rows = shape.archives.iter().flat_map(|archive| {
            let unknown_steps =
                (start_s - unknown_s) % (shape.step_s * archive.steps) / shape.step_s;
            let row = Row { value: f64::NAN, unknown_steps, primary: 0.0, secondary: 0.0 };
            std::iter::repeat_n(row, shape.sources.len())
        });
        State {
            last_s: start_s,
            sources: vec![source; shape.sources.len()],
            rows: rows.collect(),
            current: shape.archives.iter().map(|archive| draw(archive.rows)).collect(),
        }
    }

    /// The whole file, before any update.
    pub fn image(&self, shape: &Shape) -> Vec<u8> {
        let mut bytes = shape.fixed_head();
        bytes.extend(self.live());
        bytes.resize_with(shape.header_bytes() as usize, || 0);
        while (bytes.len() as u64) < shape.file_bytes() {
            bytes.extend(UNKNOWN_BITS.to_le_bytes());
        }
        bytes
    }

    /// The part of the header that every update writes.
    pub fn live(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.last_s.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        for source in &self.sources {
            let end = bytes.len() + PDP_PREP as usize;
            text(&mut bytes, &source.last, 32);
            bytes.extend(source.unknown_s.to_le_bytes());
            number(&mut bytes, source.value);
            bytes.resize(end, 0);
        }
        for row in &self.rows {
            let end = bytes.len() + CDP_PREP as usize;
            number(&mut bytes, row.value);
            bytes.extend(row.unknown_steps.to_le_bytes());
            bytes.resize(end - 16, 0);
            number(&mut bytes, row.primary);
            number(&mut bytes, row.secondary);
        }
        self.current.iter().for_each(|row| bytes.extend(row.to_le_bytes()));
        bytes
    }

    /// Takes a reading of every source (`None` where there is none); the rows that become due.
    /// `at_s` is after the last update, and at most one step ends between the two: polls leave none
    /// out. The arithmetic is rrdtool's (`rrd_update.c`), in its order, so that files come out the
    /// same to the bit.
    pub fn update(&mut self, shape: &Shape, at_s: u64, readings: &[Option<u64>]) -> Vec<RowWrite> {
        let interval_s = at_s - self.last_s;
        let (begun, now) = (self.last_s / shape.step_s, at_s / shape.step_s);
        assert!(now - begun <= 1, "a poll leaves out no step");
        let span = Span {
            interval_s,
            before_s: now * shape.step_s - self.last_s.min(now * shape.step_s),
            after_s: at_s % shape.step_s,
        };
        let mut steps = Vec::with_capacity(self.sources.len());
        for (source, reading) in self.sources.iter_mut().zip(readings) {
            let known = reading.filter(|_| interval_s <= shape.heartbeat_s);
            source.last = known.map_or_else(|| "U".to_owned(), |reading| reading.to_string());
            source.last.truncate(LAST_TEXT);
            let new = known.map_or(f64::NAN, |reading| reading as f64 * interval_s as f64);
            if now == begun {
                source.gather(new, interval_s);
            } else {
                steps.push(source.close(new, &span, shape));
            }
        }
        self.last_s = at_s;
        if now == begun { Vec::new() } else { self.consolidate(shape, now, &steps) }
    }

    /// Brings a full step, the last before step number `now`, into the archives.
    fn consolidate(&mut self, shape: &Shape, now: u64, steps: &[f64]) -> Vec<RowWrite> {
        let mut writes = Vec::new();
        let sources = shape.sources.len();
        for (number, archive) in shape.archives.iter().enumerate() {
            let is_due = now.is_multiple_of(archive.steps);
            let rows = &mut self.rows[number * sources..(number + 1) * sources];
            for (row, step) in rows.iter_mut().zip(steps) {
                if archive.steps > 1 {
                    row.consolidate(archive, *step, is_due);
                } else {
                    row.primary = *step;
                }
            }
            if is_due {
                self.current[number] = (self.current[number] + 1) % archive.rows;
                let mut values = Vec::with_capacity(shape.row_bytes() as usize);
                rows.iter().for_each(|row| self::number(&mut values, row.primary));
                let offset_bytes =
                    shape.archive_offset(number) + self.current[number] * shape.row_bytes();
                writes.push(RowWrite { offset_bytes, values });
            }
        }
        writes
    }
}

/// How an update lies to the step that it ends.
struct Span {
    interval_s: u64,
    /// Before the step's end, and after it.
    before_s: u64,
    after_s: u64,
}

impl Source {
    /// A reading within a step (rrdtool's `simple_update`).
    fn gather(&mut self, new: f64, interval_s: u64) {
        match (new.is_nan(), self.value.is_nan()) {
            (true, _) => self.unknown_s += interval_s,
            (false, true) => self.value = new,
            (false, false) => self.value += new,
        }
    }

    /// A reading that ends a step; the step's value (rrdtool's `process_pdp_st`).
    fn close(&mut self, new: f64, span: &Span, shape: &Shape) -> f64 {
        let rate = new / span.interval_s as f64;
        let mut before_unknown = 0.0;
        if new.is_nan() {
            before_unknown = span.before_s as f64;
        } else {
            let value = if self.value.is_nan() { 0.0 } else { self.value };
            self.value = value + rate * span.before_s as f64;
        }
        let mostly_unknown = shape.step_s as f64 / 2.0 < self.unknown_s as f64;
        let step = if span.interval_s > shape.heartbeat_s || mostly_unknown {
            f64::NAN
        } else {
            self.value / ((shape.step_s as f64 - self.unknown_s as f64) - before_unknown)
        };
        if new.is_nan() {
            (self.unknown_s, self.value) = (span.after_s, f64::NAN);
        } else {
            (self.unknown_s, self.value) = (0, rate * span.after_s as f64);
        }
        step
    }
}

impl Row {
    /// Takes a step; where the row is due, its value is `primary` afterwards (rrdtool's
    /// `update_cdp`).
    fn consolidate(&mut self, archive: &Archive, step: f64, is_due: bool) {
        let average = archive.consolidation == Consolidation::Average;
        self.unknown_steps += u64::from(step.is_nan());
        if !is_due {
            self.value = match (step.is_nan(), self.value.is_nan()) {
                (true, _) => self.value,
                (false, true) => step,
                (false, false) if average => self.value + step,
                (false, false) => self.value.max(step),
            };
            return;
        }
        let known = |value: f64, neutral: f64| if value.is_nan() { neutral } else { value };
        let neutral = if average { 0.0 } else { f64::NEG_INFINITY };
        self.secondary = step;
        self.primary = if self.unknown_steps as f64 > archive.steps as f64 * XFF {
            f64::NAN
        } else if average {
            (known(self.value, neutral) + known(step, neutral))
                / (archive.steps - self.unknown_steps) as f64
        } else {
            known(self.value, neutral).max(known(step, neutral))
        };
        (self.value, self.unknown_steps) = (neutral, 0);
    }
}
