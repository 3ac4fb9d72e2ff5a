//! Names of cells in a list: cells that would have the same name also get the settings in which
//! they differ.

use std::collections::BTreeMap;

use record::Params;
use record::units::{Bytes, quantity};

use crate::words;

/// Names by the id of the cell.
#[derive(Clone, Default)]
pub struct CellNames(BTreeMap<String, String>);

impl CellNames {
    /// Names for cells, each given by its id, its name without the others, and its parameters.
    pub fn of<'a>(cells: impl IntoIterator<Item = (&'a str, String, &'a Params)>) -> CellNames {
        let mut alike: BTreeMap<String, Vec<(&str, &Params)>> = BTreeMap::new();
        for (id, name, params) in cells {
            alike.entry(name).or_default().push((id, params));
        }
        let named = alike.iter().flat_map(|(name, cells)| {
            let differences = what_differs(cells.iter().map(|(_, params)| *params));
            cells
                .iter()
                .zip(differences)
                .map(move |((id, _), difference)| (str::to_owned(id), name.clone() + &difference))
        });
        CellNames(named.collect())
    }

    /// Name of the cell with this id; `None` if it is not in the list.
    pub fn get(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}

/// The fewest settings that distinguish each of these cells from the others; empty for a single
/// one.
fn what_differs<'a>(cells: impl Iterator<Item = &'a Params>) -> Vec<String> {
    let settings: Vec<Vec<(String, String)>> = cells.map(settings).collect();
    let mut texts = vec![String::new(); settings.len()];
    let mut names: Vec<&String> = settings.iter().flatten().map(|(name, _)| name).collect();
    names.dedup();
    let mut tried = Vec::new();
    for name in names {
        if is_unique(&texts) {
            break;
        }
        if tried.contains(&name) {
            continue;
        }
        tried.push(name);
        let value = |of: &[(String, String)]| {
            of.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let with: Vec<String> = texts
            .iter()
            .zip(&settings)
            .map(|(text, of)| {
                text.clone() + &value(of).map(|it| format!(", {it}")).unwrap_or_default()
            })
            .collect();
        if distinct(&with) > distinct(&texts) {
            texts = with;
        }
    }
    texts
}

fn is_unique(texts: &[String]) -> bool {
    distinct(texts) == texts.len()
}

fn distinct(texts: &[String]) -> usize {
    texts.iter().collect::<std::collections::BTreeSet<_>>().len()
}

/// Settings that may distinguish cells, as names and texts, the most familiar first.
fn settings(params: &Params) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    all.extend(params.span_bytes.map(|span| ("span".into(), format!("span {}", Bytes(span)))));
    all.push(("depth".into(), format!("depth {}", params.queue_depth)));
    if let Some(pattern) = params.pattern {
        all.push(("pattern".into(), format!("{pattern:?}").to_lowercase()));
    }
    let direction = params.direction.map(|it| format!("{it:?}").to_lowercase());
    all.extend(direction.map(|text| ("direction".into(), text)));
    let at = params.span_offset_bytes.map(|at| format!("at {}", Bytes(at)));
    let others = params.other.iter().map(|(name, value)| {
        let label = words::metric(name);
        (name.clone(), format!("{label} {}", quantity(name, *value)))
    });
    all.extend(others);
    all.extend(at.map(|text| ("offset".into(), text)));
    all
}

#[cfg(test)]
mod tests {
    use record::units::MIB;

    use super::*;

    fn cell(id: &'static str, span: u64, depth: u32, gap: f64) -> (&'static str, Params) {
        let mut params = Params { block_bytes: Some(4096), ..Params::default() };
        (params.span_bytes, params.queue_depth) = (Some(span), depth);
        params.other.insert("total_bytes".into(), span as f64);
        params.other.insert("gap_bytes".into(), gap);
        (id, params)
    }

    fn names(cells: &[(&'static str, Params)]) -> Vec<String> {
        let called = |(id, params): &'_ (&'static str, Params)| {
            (*id, "random-write 4 KiB".to_owned(), params.clone())
        };
        let all: Vec<_> = cells.iter().map(called).collect();
        let names = CellNames::of(all.iter().map(|(id, name, params)| (*id, name.clone(), params)));
        cells.iter().filter_map(|(id, _)| names.get(id)).map(str::to_owned).collect()
    }

    /// Regression: seven lines of progress had the same name "random-write 4 KiB".
    #[test]
    fn cells_of_one_name_get_the_shortest_distinct_names() {
        let spans = [cell("a", 8 * MIB, 1, 0.0), cell("b", 16 * MIB, 1, 0.0)];
        assert_eq!(
            names(&spans),
            ["random-write 4 KiB, span 8 MiB", "random-write 4 KiB, span 16 MiB"]
        );
        let depths = [cell("a", MIB, 1, 0.0), cell("b", MIB, 4, 0.0)];
        assert_eq!(names(&depths), ["random-write 4 KiB, depth 1", "random-write 4 KiB, depth 4"]);
        let gaps = [cell("a", MIB, 1, 4096.0), cell("b", MIB, 1, 8192.0)];
        assert_eq!(
            names(&gaps),
            ["random-write 4 KiB, gap 4 KiB", "random-write 4 KiB, gap 8 KiB"]
        );
        assert_eq!(names(&spans[..1]), ["random-write 4 KiB"]);
        let twice = [cell("a", MIB, 1, 0.0), cell("b", MIB, 1, 0.0)];
        assert_eq!(names(&twice), ["random-write 4 KiB"; 2], "nothing tells repeats apart");
    }
}
