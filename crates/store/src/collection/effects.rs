//! Effect of the host on the figures of a medium: the runs on one kind of host against all others
//! of the same line.

use std::collections::BTreeSet;

use collection::consensus::spread;
use record::collection::{HeadlineFigure, HostSpread};

use super::connection::SqlValue;
use super::error::ErrorContext;
use super::facts::Facet;
use super::{Collection, CollectionError, columns};

/// A figure on one kind of host against the rest. Both sides have at least one run; their spreads
/// have the number of runs and the medians.
#[derive(Clone, Debug, PartialEq)]
pub struct HostEffect {
    /// Fact by which the hosts are grouped.
    pub facet: Facet,
    /// Value of that fact: "6.12", "Raspberry Pi 4 Model B Rev 1.4".
    pub group: String,
    /// The headline figure that is compared.
    pub figure: HeadlineFigure,
    /// Spread of that figure over the runs on hosts of this group.
    pub inside: HostSpread,
    /// Spread over the runs on all other hosts whose value is known.
    pub outside: HostSpread,
}

/// Number of groups of a facet that are compared: those with most runs.
const GROUPS: usize = 20;

struct Measured {
    host: Option<String>,
    facets: Vec<Option<String>>,
    figures: Vec<Option<f64>>,
}

impl Collection {
    /// Effects of each fact by which hosts differ (kernel, architecture, board, reader, interface):
    /// for each of its values and each figure the median there and elsewhere. Empty if all hosts
    /// are alike.
    ///
    /// # Errors
    /// If the database fails.
    pub fn host_effects(&self, slug: &str) -> Result<Vec<HostEffect>, CollectionError> {
        let facets = Facet::ALL.map(Facet::name).join(", ");
        let sql = format!(
            "SELECT host, {facets}, {} FROM runs WHERE line = (SELECT number FROM lines WHERE slug = $1) AND status = 'accepted'",
            columns::figures()
        );
        let rows = self
            .pool
            .look(|connection| connection.query(&sql, &[SqlValue::from(slug)]).reading())?;
        let mut runs = Vec::with_capacity(rows.len());
        for mut row in rows {
            runs.push(Measured {
                host: row.optional_text()?,
                facets: Facet::ALL.iter().map(|_| row.optional_text()).collect::<Result<_, _>>()?,
                figures: HeadlineFigure::ALL
                    .iter()
                    .map(|_| row.optional_real())
                    .collect::<Result<_, _>>()?,
            });
        }
        Ok(Facet::ALL
            .iter()
            .enumerate()
            .flat_map(|(at, facet)| of_facet(&runs, *facet, at))
            .collect())
    }
}

fn of_facet(runs: &[Measured], facet: Facet, at: usize) -> Vec<HostEffect> {
    let known: Vec<&Measured> = runs.iter().filter(|run| run.facets[at].is_some()).collect();
    let groups: BTreeSet<&str> = known.iter().filter_map(|run| run.facets[at].as_deref()).collect();
    let count =
        |group: &str| known.iter().filter(|run| run.facets[at].as_deref() == Some(group)).count();
    let mut groups: Vec<(usize, &str)> =
        groups.into_iter().map(|group| (count(group), group)).collect();
    if groups.len() < 2 {
        return Vec::new();
    }
    groups.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    groups.truncate(GROUPS);
    let effect = |group: &str, number: usize, figure: HeadlineFigure| {
        let side = |inside: bool| {
            let of_side =
                known.iter().filter(|run| (run.facets[at].as_deref() == Some(group)) == inside);
            spread(of_side.filter_map(|run| Some((run.host.as_deref(), run.figures[number]?))))
        };
        Some(HostEffect {
            facet,
            group: group.to_owned(),
            figure,
            inside: side(true)?,
            outside: side(false)?,
        })
    };
    let effect = &effect;
    groups
        .into_iter()
        .flat_map(|(_, group)| {
            HeadlineFigure::ALL
                .into_iter()
                .enumerate()
                .filter_map(move |(number, figure)| effect(group, number, figure))
        })
        .collect()
}
