//! iostat -x: activity of devices while something else ran. Old columns (rsec/s, avgrq-sz, svctm)
//! and current ones; kB are 1024 bytes, sectors 512.

use record::units::{KIB, MIB};
use record::{Host, Params, TargetKind};

use super::imported_run::{ImportedRun, cell, label, note, other, rates};
use super::table::{Known, Made, Tool, tool};
use super::text::{decimal, short};

const HEAD: &str = r"(?m)^[ \t]*(?<head>(?:.*\s)?r/s\s(?:.*\s)?w/s\s.*%util)[ \t]*$";
/// Figures of a device, which an old head may not name.
const ROW: &str = r"^\s*(?:(?<device>[A-Za-z]\S*)\s+)?(?<row>[\d.,-]+(?:\s+[\d.,-]+){9,})\s*$";

pub(super) static TABLE: Tool = tool! {
    "iostat", "iostat -x output", 1024.0;
    ["a head with 'r/s', 'w/s' and '%util'": HEAD]
    ["a line of figures below it": r"(?m)%util[ \t]*\n.*\d\s+\d"]
    // "Linux 6.1.0 (name) 11/20/26 _x86_64_ (2 CPU)". The name of the machine is left out.
    Says r"^Linux (?<kernel>\S+).*?(?:\s_(?<arch>.*?)_\s.*?)?\((?:(?<cpus>\d+) )?[^(]*CPU\)";
    Says HEAD;
    Gives ROW => of_look;
    Leaves r"^\s*(?<head>)$";
}
.facts(of_run);

fn of_run(known: &mut Known, run: &mut ImportedRun) {
    run.target.kind = TargetKind::Block;
    if known.has("kernel") {
        run.host = Some(Host {
            kernel: Some(short(known.text("kernel"), 60)),
            arch: Some(short(known.text("arch"), 20)).filter(|arch| !arch.is_empty()),
            cpus: known.text("cpus").parse().ok(),
            ..Host::default()
        });
    }
    let look = run.cells.len();
    if let Some((_, cell)) = run.cells.last_mut().filter(|_| known.has("row")) {
        label(cell, "look", &look.to_string());
        if look == 1 && known.has("kernel") {
            note(cell, "the first look is the mean since the machine was started");
        }
    }
}

/// Our name of a column, and the factor for its values.
fn of_column(name: &str) -> Option<(String, f64)> {
    let fixed = match name {
        "r/s" => ("read_iops", 1.0),
        "w/s" => ("write_iops", 1.0),
        "d/s" => ("discards_per_s", 1.0),
        "f/s" => ("flushes_per_s", 1.0),
        "await" => ("await_ns", 1e6),
        "avgrq-sz" => ("request_bytes", 512.0),
        "areq-sz" => ("request_bytes", KIB as f64),
        "avgqu-sz" | "aqu-sz" => ("queue_length", 1.0),
        "svctm" => ("service_ns", 1e6),
        "%util" => ("busy_percent", 1.0),
        _ => ("", 0.0),
    };
    if !fixed.0.is_empty() {
        return Some((fixed.0.to_owned(), fixed.1));
    }
    let ways = [("r", "read"), ("w", "write"), ("d", "discard"), ("f", "flush")];
    let (share, rest) = name.strip_prefix('%').map_or((false, name), |rest| (true, rest));
    let (_, way) = ways.iter().find(|(letter, _)| rest.starts_with(letter))?;
    let (what, factor) = match rest.get(1..)? {
        "rqm" if share => ("merges_percent", 1.0),
        _ if share => return None,
        "sec/s" => ("bps", 512.0),
        "kB/s" => ("bps", KIB as f64),
        "MB/s" => ("bps", MIB as f64),
        "rqm/s" => ("merges_per_s", 1.0),
        "_await" => ("await_ns", 1e6),
        "areq-sz" => ("request_bytes", KIB as f64),
        _ => return None,
    };
    Some((format!("{way}_{what}"), factor))
}

fn of_look(known: &Known) -> Made {
    let names: Vec<&str> = known.text("head").split_whitespace().collect();
    let figures: Vec<&str> = known.text("row").split_whitespace().collect();
    let n_titles = usize::from(known.has("device"));
    if names.len() != figures.len() + n_titles {
        return Ok(Vec::new());
    }
    let mut cell = cell("iostat", Params::default());
    for (name, text) in names.iter().skip(n_titles).zip(figures) {
        let Some((ours, factor)) = of_column(name) else { continue };
        // Some languages have a decimal comma.
        let value = decimal(text)
            .ok_or_else(|| format!("{name} is '{}', which is no number", short(text, 20)))?;
        other(&mut cell, &ours, value * factor, 1);
    }
    let sum = |names: [&str; 2]| {
        let figures = names.iter().filter_map(|name| cell.metrics.other.get(*name));
        figures.map(|figure| figure.value).sum::<f64>()
    };
    let (iops, bps) = (sum(["read_iops", "write_iops"]), sum(["read_bps", "write_bps"]));
    rates(&mut cell, Some(iops), Some(bps), 1);
    Ok(vec![cell])
}
