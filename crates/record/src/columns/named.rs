//! Columns by name, also ones that are not in the list.

use super::{
    FORMS, FigureColumn, SCHEDULERS, columns, completion_column, cpu_column, dd_column,
    random_column, record_column, threads_column,
};
use crate::units::{KIB, MIB};

/// Column of that name; every quantity of a cell has one.
pub fn column_named(name: &str) -> Option<FigureColumn> {
    let listed = columns().iter().find(|column| column.name == name).cloned();
    // A name that only resembles the parsed one is not valid: "dd-write-04k".
    listed.or_else(|| read(name).filter(|column| column.name == name))
}

fn read(name: &str) -> Option<FigureColumn> {
    let (family, rest) = name.split_once('-')?;
    match family {
        "cpu" => column_named(rest)
            .filter(|of| of.family != "cpu" && matches!(of.unit, "IOPS" | "MB/s" | "seeks/s"))
            .map(|of| cpu_column(&of)),
        "random" => way(rest).and_then(|(way, size)| Some(random_column(way, bytes(size)?))),
        "dd" => {
            let (rest, is_zeros) =
                rest.strip_suffix("-data").map_or((rest, true), |it| (it, false));
            way(rest).and_then(|(way, size)| Some(dd_column(way, bytes(size)?, is_zeros)))
        }
        "iozone" => {
            let (form, size) = rest.rsplit_once('-')?;
            Some(record_column(known_form(form)?, bytes(size)?))
        }
        "threads" => threads(rest),
        "completion" => completion(rest),
        _ => None,
    }
}

fn way(rest: &str) -> Option<(&str, &str)> {
    rest.split_once('-').filter(|(way, _)| matches!(*way, "write" | "read"))
}

fn known_form(form: &str) -> Option<&str> {
    FORMS.contains(&form).then_some(form)
}

fn threads(rest: &str) -> Option<FigureColumn> {
    let (rest, is_honest) = rest.strip_prefix("honest-").map_or((rest, false), |it| (it, true));
    let mut parts = rest.rsplitn(4, '-');
    let (view, threads, size) = (parts.next()?, parts.next()?, parts.next()?);
    let form = known_form(parts.next()?)?;
    let threads = threads.parse::<u32>().ok().filter(|threads| (2..=4096).contains(threads))?;
    threads_column(form, is_honest, bytes(size)?, threads, view)
}

fn completion(rest: &str) -> Option<FigureColumn> {
    let split = |scheduler: &&str| rest.strip_suffix(*scheduler)?.strip_suffix('-');
    let (fs, scheduler) =
        SCHEDULERS.iter().find_map(|scheduler| Some((split(scheduler)?, *scheduler)))?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = (1..=20).contains(&fs.len()) && fs.chars().all(is_plain);
    is_name.then(|| completion_column(fs, scheduler))
}

/// Bytes of "4k", "1m", "512", up to 1 GiB.
fn bytes(size: &str) -> Option<u64> {
    let (digits, unit) = match size.strip_suffix('k') {
        Some(digits) => (digits, KIB),
        None => size.strip_suffix('m').map_or((size, 1), |digits| (digits, MIB)),
    };
    let bytes = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    (1..=1024 * MIB).contains(&bytes).then_some(bytes)
}
