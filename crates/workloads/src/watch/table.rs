//! Columns in the order and under the names of `iostat -x`, as a wide line and as a JSON object.

use record::{Activity, IoCounters};
use serde_json::{Map, Value};

/// A column of `iostat -x`: its head, and its value; `None` if the kernel does not count it.
type Column = (&'static str, fn(&Activity) -> Option<f64>);

fn discard(activity: &Activity, of: fn(IoCounters) -> f64) -> Option<f64> {
    activity.discard.map(of)
}

/// All columns: those of sysstat 12 in its order, then those of older versions that people still
/// use.
pub(super) const COLUMNS: [Column; 25] = [
    ("r/s", |a| Some(a.read.ios_per_s)),
    ("rkB/s", |a| Some(a.read.kib_per_s)),
    ("rrqm/s", |a| Some(a.read.merged_per_s)),
    ("%rrqm", |a| Some(a.read.merged_percent)),
    ("r_await", |a| Some(a.read.await_ms)),
    ("rareq-sz", |a| Some(a.read.size_kib)),
    ("w/s", |a| Some(a.write.ios_per_s)),
    ("wkB/s", |a| Some(a.write.kib_per_s)),
    ("wrqm/s", |a| Some(a.write.merged_per_s)),
    ("%wrqm", |a| Some(a.write.merged_percent)),
    ("w_await", |a| Some(a.write.await_ms)),
    ("wareq-sz", |a| Some(a.write.size_kib)),
    ("d/s", |a| discard(a, |flow| flow.ios_per_s)),
    ("dkB/s", |a| discard(a, |flow| flow.kib_per_s)),
    ("drqm/s", |a| discard(a, |flow| flow.merged_per_s)),
    ("%drqm", |a| discard(a, |flow| flow.merged_percent)),
    ("d_await", |a| discard(a, |flow| flow.await_ms)),
    ("dareq-sz", |a| discard(a, |flow| flow.size_kib)),
    ("f/s", |a| a.flush.map(|[per_s, _]| per_s)),
    ("f_await", |a| a.flush.map(|[_, await_ms]| await_ms)),
    ("aqu-sz", |a| Some(a.queue)),
    ("%util", |a| Some(a.busy_percent)),
    ("await", |a| Some(a.await_ms)),
    ("areq-sz", |a| Some(a.size_kib)),
    ("svctm", |a| Some(a.service_ms)),
];

/// Columns of a device's name.
const NAME: usize = 10;

fn width(head: &str) -> usize {
    head.len().max(8)
}

/// Heads above each [`line`].
pub fn header() -> String {
    let heads = COLUMNS.iter().map(|(head, _)| format!(" {head:>width$}", width = width(head)));
    format!("{:<NAME$}{}", "Device", heads.collect::<String>())
}

/// A value by the head of its column, with so many digits after the point; "-" if the kernel does
/// not count it, and nothing where there is no such column.
pub fn shown(head: &str, activity: &Activity, digits: usize) -> String {
    let column = COLUMNS.iter().find(|(name, _)| *name == head);
    column.map_or(String::new(), |(_, value)| {
        value(activity).map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    })
}

/// One device in one line, in iostat's order, with two digits after the point; "-" if the kernel
/// does not count it.
pub fn line(name: &str, activity: &Activity) -> String {
    let value =
        |(head, _): &Column| format!(" {:>width$}", shown(head, activity, 2), width = width(head));
    format!("{name:<NAME$}{}", COLUMNS.iter().map(value).collect::<String>())
}

/// One device as a JSON object under iostat's own names, in full precision; null if the kernel does
/// not count it.
pub fn object(name: &str, activity: &Activity) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("disk_device".into(), name.into());
    object.insert("interval_s".into(), activity.interval_s.into());
    // In JSON, iostat's names have no sign of a percentage.
    let value = |(head, value): &Column| (head.replace('%', ""), value(activity).into());
    object.extend(COLUMNS.iter().map(value));
    object
}
