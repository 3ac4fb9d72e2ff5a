//! The lines of the table: computed from the runs whenever one is added or removed, and read back.

use std::collections::{BTreeMap, HashMap};

use collection::consensus::{Consensus, Vote};
use record::collection::{CollectionLine, HeadlineFigure, HostSpread, Model, Origin};

use super::columns::{kind_named, origin_named};
use super::connection::{Connection, SqlRow, SqlValue};
use super::error::ErrorContext;
use super::{CollectionError, columns};

/// Columns that identify a line, as values of a statement.
pub(super) fn key_values((model, origin, is_fake): &(Model, Origin, bool)) -> [SqlValue; 6] {
    [
        SqlValue::from(model.kind.name()),
        SqlValue::from(model.vendor.as_str()),
        SqlValue::from(model.model.as_str()),
        SqlValue::from(model.capacity_gb),
        SqlValue::from(origin.name()),
        SqlValue::from(*is_fake),
    ]
}

/// SQL condition for the runs that count.
const COUNTED: &str = "FROM runs WHERE line = $1 AND status = 'accepted'";

/// Votes of the runs of a line.
fn votes_of(connection: &mut dyn Connection, line: u64) -> Result<Vec<Vote>, CollectionError> {
    let sql = format!(
        "SELECT sender, host, interface, verdict, claims, {} {COUNTED}",
        columns::figures()
    );
    let rows = connection.query(&sql, &[SqlValue::from(line)]).reading()?;
    rows.into_iter().map(vote).collect()
}

fn vote(mut row: SqlRow) -> Result<Vote, CollectionError> {
    let (sender, host) = (row.optional_text()?, row.optional_text()?);
    let (interface, verdict) = (row.optional_text()?, row.optional_text()?);
    let claims = row.text()?.split_whitespace().map(str::to_owned).collect();
    let mut figures = BTreeMap::new();
    for figure in HeadlineFigure::ALL {
        if let Some(value) = row.optional_real()? {
            figures.insert(figure, value);
        }
    }
    Ok(Vote { sender, host, interface, verdict, claims, figures })
}

/// A bit for each confirmed figure, in the order of `HeadlineFigure::ALL`.
fn confirmed(figures: &BTreeMap<HeadlineFigure, HostSpread>) -> u64 {
    let bit = |(figure, spread): (&HeadlineFigure, &HostSpread)| {
        u64::from(spread.is_confirmed()) << *figure as u64
    };
    figures.iter().map(bit).sum()
}

/// The most frequent text among the senders of a line; of equals, that of the run that came first.
fn usual(
    connection: &mut dyn Connection,
    line: u64,
    column: &str,
) -> Result<Option<String>, CollectionError> {
    let sql = format!(
        "SELECT {column} {COUNTED} GROUP BY {column} ORDER BY count(DISTINCT coalesce(sender, '')) DESC, \
         CASE WHEN coalesce({column}, '') = '' THEN 1 ELSE 0 END, min(received), min(number) LIMIT 1"
    );
    let row = connection.query(&sql, &[SqlValue::from(line)]).reading()?.into_iter().next();
    row.map_or(Ok(None), |mut row| row.optional_text())
}

/// Computes a line from its runs; `audit_number` is that of the audit entry that changed them. A
/// line of fakes also updates the line that leaves them out.
pub(super) fn refresh(
    connection: &mut dyn Connection,
    line: u64,
    audit_number: u64,
) -> Result<(), CollectionError> {
    let votes = votes_of(connection, line)?;
    let Consensus { figures, verdict, apart } = Consensus::of(&votes);
    let newest = format!("SELECT max(received) {COUNTED}");
    let newest = connection.query(&newest, &[SqlValue::from(line)]).reading()?.into_iter().next();
    let latest = newest.map_or(Ok(None), |mut row| row.optional_text())?;
    let mut usual = |column: &str| usual(connection, line, column);
    let (name, interface, classes) = (usual("name")?, usual("interface")?, usual("classes")?);
    let mut names = vec!["interface", "classes", "runs", "latest", "changed", "confirmed"];
    let mut values = vec![
        SqlValue::from(line),
        SqlValue::from(interface.as_deref()),
        SqlValue::from(classes.as_deref().unwrap_or_default()),
        SqlValue::from(votes.len() as u64),
        SqlValue::from(latest.as_deref().unwrap_or_default()),
        SqlValue::from(audit_number),
        SqlValue::from(confirmed(&figures)),
    ];
    // A line without runs keeps the name it had.
    if let Some(name) = name {
        let searched = searched(connection, line, &name)?;
        names.extend(["name", "name_folded"]);
        values.extend([SqlValue::from(name.as_str()), SqlValue::from(searched.as_str())]);
    }
    for figure in HeadlineFigure::ALL {
        names.push(columns::figure(figure));
        values.push(SqlValue::from(figures.get(&figure).map(|spread| spread.median)));
    }
    let sql = format!("UPDATE lines SET {} WHERE number = $1", columns::assignments(&names, 2));
    connection.execute(&sql, &values).changing()?;
    let unrepresentable =
        |error: serde_json::Error| CollectionError::Unrepresentable { why: error.to_string() };
    let json = serde_json::to_string(&figures).map_err(unrepresentable)?;
    let apart =
        apart.map(|apart| serde_json::to_string(&apart)).transpose().map_err(unrepresentable)?;
    let details = "UPDATE line_details SET verdict = $2, figures = $3, apart = $4 WHERE line = $1";
    connection
        .execute(
            details,
            &[
                SqlValue::from(line),
                SqlValue::from(verdict.as_deref()),
                SqlValue::from(json.as_str()),
                SqlValue::from(apart.as_deref()),
            ],
        )
        .changing()?;
    count_fakes(connection, line)
}

/// Searchable text of a line: its name and all others of its product, in small letters.
fn searched(
    connection: &mut dyn Connection,
    line: u64,
    name: &str,
) -> Result<String, CollectionError> {
    let sql = "SELECT kind, vendor, model FROM lines WHERE number = $1";
    let row = connection.query(sql, &[SqlValue::from(line)]).reading()?.into_iter().next();
    let Some(mut row) = row else { return Ok(name.to_lowercase()) };
    let (kind, vendor, model) = (kind_named(&row.text()?)?, row.text()?, row.text()?);
    let others = collection::other_names_of(kind, &vendor, &model);
    Ok(format!("{} {others}", name.to_lowercase()).trim_end().to_owned())
}

/// Stores the number of fakes in the line of a model and in that of its fakes: senders that had
/// one, plus runs without a sender.
fn count_fakes(connection: &mut dyn Connection, line: u64) -> Result<(), CollectionError> {
    let same = "o.kind = l.kind AND o.vendor = l.vendor AND o.model = l.model AND o.capacity_gb = l.capacity_gb AND o.origin = l.origin";
    let counted = "SELECT count(DISTINCT r.sender) + sum(CASE WHEN r.sender IS NULL THEN 1 ELSE 0 END) \
                   FROM runs r WHERE r.line = o.number AND r.status = 'accepted'";
    let siblings = format!(
        "SELECT o.number, o.is_fake, coalesce(({counted}), 0), o.fakes FROM lines l JOIN lines o ON {same} WHERE l.number = $1"
    );
    let mut found = Vec::new();
    for mut row in connection.query(&siblings, &[SqlValue::from(line)]).reading()? {
        found.push((row.number()?, row.number()? == 1, row.number()?, row.number()?));
    }
    let fakes: u64 =
        found.iter().filter(|(_, is_fake, ..)| *is_fake).map(|(_, _, fakes, _)| fakes).sum();
    for (number, ..) in found.into_iter().filter(|(.., stored)| *stored != fakes) {
        let values = [SqlValue::from(fakes), SqlValue::from(number)];
        connection.execute("UPDATE lines SET fakes = $1 WHERE number = $2", &values).changing()?;
    }
    Ok(())
}

/// Columns of a line, from `lines l` and `line_details d`.
pub(super) const COLUMNS: &str = "l.slug, l.name, l.kind, l.vendor, l.model, l.capacity_gb, l.origin, l.interface, l.classes, l.runs, \
                                  l.fakes, l.is_fake, d.figures, d.verdict, d.apart, l.latest";

/// Makes a line from a row with [`COLUMNS`].
pub(super) fn line_of(mut row: SqlRow) -> Result<CollectionLine, CollectionError> {
    let (slug, name) = (row.text()?, row.text()?);
    let model = Model {
        kind: kind_named(&row.text()?)?,
        vendor: row.text()?,
        model: row.text()?,
        capacity_gb: row.number()?,
    };
    let origin = origin_named(&row.text()?)?;
    let interface = row.optional_text()?;
    let classes = row.text()?.split_whitespace().map(str::to_uppercase).collect();
    let (runs, fakes, is_fake) = (row.number()?, row.number()?, row.number()? == 1);
    let figures = row.text()?;
    let figures = serde_json::from_str(&figures)
        .map_err(|error| CollectionError::damaged(format!("figures of {slug}: {error}")))?;
    let verdict = row.optional_text()?;
    let apart = row.optional_text()?.map(|apart| serde_json::from_str(&apart)).transpose();
    let apart = apart
        .map_err(|error| CollectionError::damaged(format!("runs apart in {slug}: {error}")))?;
    let latest = row.text()?;
    Ok(CollectionLine {
        slug,
        name,
        other_names: collection::other_names_of(model.kind, &model.vendor, &model.model),
        model,
        origin,
        interface,
        classes,
        runs,
        fakes,
        is_fake,
        figures,
        verdict,
        apart,
        latest,
    })
}

/// Lines in the order of these numbers. A line whose runs have all gone meanwhile is left out.
pub(super) fn of_numbers(
    connection: &mut dyn Connection,
    numbers: &[u64],
) -> Result<Vec<CollectionLine>, CollectionError> {
    let Some(last) = numbers.last() else { return Ok(Vec::new()) };
    // Lengths are rounded up to powers of two, filled with the last number: few statements are then
    // prepared for any length.
    let places = numbers.len().next_power_of_two();
    let values: Vec<SqlValue> = numbers
        .iter()
        .chain(std::iter::repeat(last))
        .take(places)
        .map(|number| SqlValue::from(*number))
        .collect();
    let sql = format!(
        "SELECT l.number, {COLUMNS} FROM lines l JOIN line_details d ON d.line = l.number WHERE l.number IN ({}) AND l.runs > 0",
        columns::places(1, places)
    );
    let mut found = HashMap::with_capacity(numbers.len());
    for mut row in connection.query(&sql, &values).reading()? {
        found.insert(row.number()?, line_of(row)?);
    }
    Ok(numbers.iter().filter_map(|number| found.remove(number)).collect())
}
