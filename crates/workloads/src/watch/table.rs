//! Columns in the order and under the names of `iostat -x`, as a wide line and as a JSON object.

use record::{Activity, IoCounters};
use serde_json::{Map, Value};

/// A column of `iostat -x`.
#[derive(Clone, Copy)]
pub struct WatchColumn {
    /// Its head in iostat's table.
    pub name: &'static str,
    /// Its name in the JSON that iostat prints.
    pub key: &'static str,
    /// Its value; `None` if the kernel does not count it.
    pub value: fn(&Activity) -> Option<f64>,
}

const fn column(
    name: &'static str,
    key: &'static str,
    value: fn(&Activity) -> Option<f64>,
) -> WatchColumn {
    WatchColumn { name, key, value }
}

fn discard(activity: &Activity, of: fn(IoCounters) -> f64) -> Option<f64> {
    activity.discard.map(of)
}

/// All columns: those of sysstat 12 in its order, then those of older versions that people still
/// use.
pub const COLUMNS: [WatchColumn; 25] = [
    column("r/s", "r/s", |a| Some(a.read.ios_per_s)),
    column("rkB/s", "rkB/s", |a| Some(a.read.kib_per_s)),
    column("rrqm/s", "rrqm/s", |a| Some(a.read.merged_per_s)),
    column("%rrqm", "rrqm", |a| Some(a.read.merged_percent)),
    column("r_await", "r_await", |a| Some(a.read.await_ms)),
    column("rareq-sz", "rareq-sz", |a| Some(a.read.size_kib)),
    column("w/s", "w/s", |a| Some(a.write.ios_per_s)),
    column("wkB/s", "wkB/s", |a| Some(a.write.kib_per_s)),
    column("wrqm/s", "wrqm/s", |a| Some(a.write.merged_per_s)),
    column("%wrqm", "wrqm", |a| Some(a.write.merged_percent)),
    column("w_await", "w_await", |a| Some(a.write.await_ms)),
    column("wareq-sz", "wareq-sz", |a| Some(a.write.size_kib)),
    column("d/s", "d/s", |a| discard(a, |flow| flow.ios_per_s)),
    column("dkB/s", "dkB/s", |a| discard(a, |flow| flow.kib_per_s)),
    column("drqm/s", "drqm/s", |a| discard(a, |flow| flow.merged_per_s)),
    column("%drqm", "drqm", |a| discard(a, |flow| flow.merged_percent)),
    column("d_await", "d_await", |a| discard(a, |flow| flow.await_ms)),
    column("dareq-sz", "dareq-sz", |a| discard(a, |flow| flow.size_kib)),
    column("f/s", "f/s", |a| a.flush.map(|[per_s, _]| per_s)),
    column("f_await", "f_await", |a| a.flush.map(|[_, await_ms]| await_ms)),
    column("aqu-sz", "aqu-sz", |a| Some(a.queue)),
    column("%util", "util", |a| Some(a.busy_percent)),
    column("await", "await", |a| Some(a.await_ms)),
    column("areq-sz", "areq-sz", |a| Some(a.size_kib)),
    column("svctm", "svctm", |a| Some(a.service_ms)),
];

/// Columns of a device's name.
const NAME: usize = 10;

fn width(column: &WatchColumn) -> usize {
    column.name.len().max(8)
}

/// Heads above each [`line`].
pub fn header() -> String {
    let heads =
        COLUMNS.iter().map(|column| format!(" {:>width$}", column.name, width = width(column)));
    format!("{:<NAME$}{}", "Device", heads.collect::<String>())
}

/// A value by the head of its column, with so many digits after the point; "-" if the kernel does
/// not count it, and nothing where there is no such column.
pub fn shown(head: &str, activity: &Activity, digits: usize) -> String {
    let column = COLUMNS.iter().find(|column| column.name == head);
    let value = column.map(|column| (column.value)(activity));
    value.map_or(String::new(), |value| {
        value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    })
}

/// One device in one line, in iostat's order, with two digits after the point; "-" if the kernel
/// does not count it.
pub fn line(name: &str, activity: &Activity) -> String {
    let shown = |column: &WatchColumn| shown(column.name, activity, 2);
    let values =
        COLUMNS.iter().map(|column| format!(" {:>width$}", shown(column), width = width(column)));
    format!("{name:<NAME$}{}", values.collect::<String>())
}

/// One device as a JSON object under iostat's own names, in full precision; null if the kernel does
/// not count it.
pub fn object(name: &str, activity: &Activity) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("disk_device".into(), name.into());
    object.insert("interval_s".into(), activity.interval_s.into());
    object.extend(
        COLUMNS.iter().map(|column| (column.key.to_owned(), (column.value)(activity).into())),
    );
    object
}
