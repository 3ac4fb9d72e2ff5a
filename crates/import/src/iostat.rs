//! iostat -x: activity of devices while something else ran. Old columns (rsec/s, avgrq-sz, svctm)
//! and current ones; kB are 1024 bytes, sectors 512.

use super::prelude::*;

const HEAD: &str = r"(?m)^[ \t]*(?<head>(?:.*\s)?r/s\s(?:.*\s)?w/s\s.*%util)[ \t]*$";
/// Figures of a device, which an old head may not name.
const ROW: &str = r"^\s*(?:(?<device>[A-Za-z]\S*)\s+)?(?<row>[\d.,-]+(?:\s+[\d.,-]+){9,})\s*$";

pub(super) static TABLE: Tool = tool! {
    "iostat", "iostat -x output", 1024.0, facts: of_run;
    ["a head with 'r/s', 'w/s' and '%util'": HEAD]
    ["a line of figures below it": r"(?m)%util[ \t]*\n.*\d\s+\d"]
    // "Linux 6.1.0 (name) 11/20/26 _x86_64_ (2 CPU)". The name of the machine is left out.
    Says r"^Linux (?<kernel>\S+).*?(?:\s_(?<arch>.*?)_\s.*?)?\((?:(?<cpus>\d+) )?[^(]*CPU\)";
    Says HEAD;
    Gives ROW => of_look;
    Leaves r"^\s*(?<head>)$";
};

fn of_run(known: &mut Known, run: &mut ImportedRun) {
    run.target.kind = TargetKind::Block;
    if known.has("kernel") {
        run.host = Some(Host {
            kernel: known.short("kernel", 60),
            arch: known.short("arch", 20),
            cpus: known.text("cpus").parse().ok(),
            ..Host::default()
        });
    }
    let look = run.cells.len();
    if let Some((_, cell)) = run.cells.last_mut().filter(|_| known.has("row")) {
        let text = "the first look is the mean since the machine was started";
        cell.label("look", &look.to_string()).note_if(look == 1 && known.has("kernel"), text);
    }
}

/// Columns, our names of them, and the factors for their values; `?` is a direction.
const COLUMNS: [(&str, &str, f64); 17] = [
    ("r/s", "read_iops", 1.0),
    ("w/s", "write_iops", 1.0),
    ("d/s", "discards_per_s", 1.0),
    ("f/s", "flushes_per_s", 1.0),
    ("?sec/s", "?_bps", 512.0),
    ("?kB/s", "?_bps", KIB as f64),
    ("?MB/s", "?_bps", MIB as f64),
    ("?rqm/s", "?_merges_per_s", 1.0),
    ("%?rqm", "?_merges_percent", 1.0),
    ("await", "await_ns", 1e6),
    ("?_await", "?_await_ns", 1e6),
    ("avgrq-sz", "request_bytes", 512.0),
    ("areq-sz", "request_bytes", KIB as f64),
    ("?areq-sz", "?_request_bytes", KIB as f64),
    ("avgqu-sz|aqu-sz", "queue_length", 1.0),
    ("svctm", "service_ns", 1e6),
    ("%util", "busy_percent", 1.0),
];
const WAYS: [(&str, &str); 4] = [("r", "read"), ("w", "write"), ("d", "discard"), ("f", "flush")];

/// Our name of a column, and the factor for its values.
fn of_column(name: &str) -> Option<(String, f64)> {
    COLUMNS.iter().find_map(|(theirs, ours, factor)| {
        let is_it = |letter: &str| theirs.replace('?', letter).split('|').any(|it| it == name);
        let (_, way) = WAYS.iter().find(|(letter, _)| is_it(letter))?;
        Some((ours.replace('?', way), *factor))
    })
}

fn of_look(known: &Known) -> Made {
    let names: Vec<&str> = known.text("head").split_whitespace().collect();
    let figures: Vec<&str> = known.text("row").split_whitespace().collect();
    let n_titles = usize::from(known.has("device"));
    if names.len() != figures.len() + n_titles {
        return Ok(Vec::new());
    }
    let mut cell = cell("iostat", None, None, None);
    for (name, text) in names.iter().skip(n_titles).zip(figures) {
        let Some((ours, factor)) = of_column(name) else { continue };
        // Some languages have a decimal comma.
        let value = decimal(text)
            .ok_or_else(|| format!("{name} is '{}', which is no number", short(text, 20)))?;
        cell = cell.other(&ours, value * factor, 1);
    }
    let sum = |names: [&str; 2]| {
        let figures = names.iter().filter_map(|name| cell.metrics.other.get(*name));
        figures.map(|figure| figure.value).sum::<f64>()
    };
    let (iops, bps) = (sum(["read_iops", "write_iops"]), sum(["read_bps", "write_bps"]));
    Ok(vec![cell.rates(Some(iops), Some(bps), 1)])
}
