//! Lists of runs for moderators: filtered by status and sender, in several orders.

use record::collection::{HeadlineFigure, Origin, SubmissionStatus};

use super::columns::{origin_named, status_named};
use super::connection::{SqlRow, SqlValue};
use super::error::ErrorContext;
use super::{Collection, CollectionError, columns};

/// Number of runs that are sorted by suspicion or sender: the newest that fit.
const LOOKED_THROUGH: usize = 10_000;

/// The order of a list of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunOrder {
    /// The earliest received first.
    #[default]
    Oldest,
    /// The latest received first.
    Newest,
    /// Most reasons first; of as many, the one farthest from the median of its line.
    Suspicion,
    /// By sender; the newest first within each.
    Sender,
}

impl RunOrder {
    /// All orders.
    pub const ALL: [RunOrder; 4] =
        [RunOrder::Oldest, RunOrder::Newest, RunOrder::Suspicion, RunOrder::Sender];

    /// Name in addresses.
    pub const fn name(self) -> &'static str {
        match self {
            RunOrder::Oldest => "oldest",
            RunOrder::Newest => "newest",
            RunOrder::Suspicion => "suspicion",
            RunOrder::Sender => "sender",
        }
    }

    /// Finds the order of that name.
    pub fn named(name: &str) -> Option<RunOrder> {
        RunOrder::ALL.into_iter().find(|order| order.name() == name)
    }
}

/// Filter, order and length of a list of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Status of the runs.
    pub status: SubmissionStatus,
    /// Sender of the runs, as named in the audit; `None` for all senders.
    pub sender: Option<String>,
    /// Order of the list.
    pub order: RunOrder,
    /// Most runs in the list.
    pub count: usize,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRun {
    /// Name of the run in the collection.
    pub id: String,
    /// Name of its medium.
    pub name: String,
    /// Address of its line.
    pub slug: String,
    /// Time at which it was received, in RFC 3339.
    pub received: String,
    /// Status of the run.
    pub status: SubmissionStatus,
    /// Origin of the run.
    pub origin: Origin,
    /// Number of its latest revision, from 1.
    pub revision: u32,
    /// Sender of that revision, as named in the audit.
    pub who: String,
    /// Reasons for which that revision was quarantined, or replaced another.
    pub reasons: Vec<String>,
    /// Largest factor between one of its figures and the median of its line, at least 1; 1 where
    /// none is known.
    pub distance: f64,
}

/// Splits the stored text of a quarantine into its reasons.
pub fn reasons_of(why: &str) -> Vec<String> {
    why.split("; ").filter(|reason| !reason.is_empty()).map(str::to_owned).collect()
}

impl Collection {
    /// The first runs of a list. Sorting by suspicion or sender covers the newest 10 000 that fit.
    ///
    /// # Errors
    /// If the database fails.
    pub fn list_runs(&self, filter: &RunFilter) -> Result<Vec<ListedRun>, CollectionError> {
        let own: Vec<String> =
            HeadlineFigure::ALL.map(|figure| format!("r.{}", columns::figure(figure))).into();
        let median: Vec<String> =
            HeadlineFigure::ALL.map(|figure| format!("l.{}", columns::figure(figure))).into();
        let (way, limit) = match filter.order {
            RunOrder::Oldest => ("", filter.count),
            RunOrder::Newest => (" DESC", filter.count),
            RunOrder::Suspicion | RunOrder::Sender => (" DESC", LOOKED_THROUGH),
        };
        let sql = format!(
            "SELECT r.id, r.name, l.slug, r.received, r.status, l.origin, r.revision, v.who, v.why, {}, {} \
             FROM runs r JOIN lines l ON l.number = r.line \
             JOIN revisions v ON v.run = r.number AND v.revision = r.revision \
             WHERE r.status = $1 AND ($2 = '' OR v.who = $2) ORDER BY r.received{way}, r.number{way} LIMIT $3",
            own.join(", "),
            median.join(", ")
        );
        let values = [
            SqlValue::from(filter.status.name()),
            SqlValue::from(filter.sender.as_deref().unwrap_or_default()),
            SqlValue::from(limit as u64),
        ];
        let rows = self.pool.look(|connection| connection.query(&sql, &values).reading())?;
        let mut runs = rows.into_iter().map(listed).collect::<Result<Vec<_>, _>>()?;
        match filter.order {
            RunOrder::Oldest | RunOrder::Newest => {}
            RunOrder::Suspicion => runs.sort_by(|a, b| {
                let reasons = b.reasons.len().cmp(&a.reasons.len());
                reasons.then_with(|| b.distance.total_cmp(&a.distance))
            }),
            RunOrder::Sender => runs.sort_by(|a, b| a.who.cmp(&b.who)),
        }
        runs.truncate(filter.count);
        Ok(runs)
    }
}

fn listed(mut row: SqlRow) -> Result<ListedRun, CollectionError> {
    let (id, name, slug, received) = (row.text()?, row.text()?, row.text()?, row.text()?);
    let (status, origin) = (status_named(&row.text()?)?, origin_named(&row.text()?)?);
    let (revision, who, why) = (row.number()? as u32, row.text()?, row.text()?);
    let mut figures =
        || HeadlineFigure::ALL.iter().map(|_| row.optional_real()).collect::<Result<Vec<_>, _>>();
    let (own, medians) = (figures()?, figures()?);
    let factors = own.into_iter().zip(medians).filter_map(|(own, median)| factor(own?, median?));
    Ok(ListedRun {
        distance: factors.fold(1.0, f64::max),
        reasons: reasons_of(&why),
        id,
        name,
        slug,
        received,
        status,
        origin,
        revision,
        who,
    })
}

/// Factor between a figure and a median, at least 1, whichever of them is larger.
fn factor(own: f64, median: f64) -> Option<f64> {
    let factor = (own / median).max(median / own);
    (own > 0.0 && median > 0.0 && factor.is_finite()).then_some(factor)
}
