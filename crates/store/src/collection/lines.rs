//! The lines of the table: made anew from the runs whenever one comes or goes, and read back.

use std::collections::BTreeMap;

use record::collection::{Figure, Line, Model, Origin, Spread};

use super::connection::{Connection, Row, Value};
use super::error::While;
use super::spread::spread;
use super::write::{kind_named, origin_named};
use super::{CollectionError, columns};

/// What tells lines apart, as values of a statement.
pub(super) fn key_values((model, origin, is_fake): &(Model, Origin, bool)) -> [Value; 6] {
    [
        Value::from(model.kind.name()),
        Value::from(model.vendor.as_str()),
        Value::from(model.model.as_str()),
        Value::from(model.capacity_gb),
        Value::from(origin.name()),
        Value::from(*is_fake),
    ]
}

/// What of a run goes into its line.
struct Member {
    received: String,
    name: String,
    host: Option<String>,
    interface: Option<String>,
    classes: String,
    verdict: Option<String>,
    figures: Vec<Option<f64>>,
}

fn members(connection: &mut dyn Connection, line: u64) -> Result<Vec<Member>, CollectionError> {
    let sql = format!(
        "SELECT received, name, host, interface, classes, verdict, {} FROM runs WHERE line = $1 AND standing = 'accepted' \
         ORDER BY received, number",
        columns::figures()
    );
    let rows = connection.query(&sql, &[Value::from(line)]).reading()?;
    let member = |mut row: Row| {
        Ok(Member {
            received: row.text()?,
            name: row.text()?,
            host: row.optional_text()?,
            interface: row.optional_text()?,
            classes: row.text()?,
            verdict: row.optional_text()?,
            figures: Figure::ALL.iter().map(|_| row.optional_real()).collect::<Result<_, _>>()?,
        })
    };
    rows.into_iter().map(member).collect()
}

/// Makes a line anew from its runs. A line of fakes also shows in the line that they are left out of.
pub(super) fn refresh(connection: &mut dyn Connection, line: u64) -> Result<(), CollectionError> {
    let members = members(connection, line)?;
    let figures: BTreeMap<Figure, Spread> = Figure::ALL
        .into_iter()
        .enumerate()
        .filter_map(|(at, figure)| {
            let values = members.iter().filter_map(|member| Some((member.host.as_deref(), member.figures[at]?)));
            Some((figure, spread(values)?))
        })
        .collect();
    // What is the same for all of them is taken from the first that says it.
    let first = |said: fn(&Member) -> Option<&str>| members.iter().find_map(said);
    let name = first(|member| Some(&member.name)).unwrap_or_default();
    let mut names = vec!["name", "name_folded", "interface", "classes", "runs", "latest"];
    let mut values = vec![
        Value::from(line),
        Value::from(name),
        Value::from(name.to_lowercase().as_str()),
        Value::from(first(|member| member.interface.as_deref())),
        Value::from(first(|member| Some(member.classes.as_str()).filter(|classes| !classes.is_empty())).unwrap_or_default()),
        Value::from(members.len() as u64),
        Value::from(members.last().map_or("", |last| &last.received)),
    ];
    if members.is_empty() {
        // It keeps the name it had.
        names.drain(..2);
        values.drain(1..3);
    }
    for figure in Figure::ALL {
        names.push(columns::figure(figure));
        values.push(Value::from(figures.get(&figure).map(|spread| spread.median)));
    }
    let sql = format!("UPDATE lines SET {} WHERE number = $1", columns::assignments(&names, 2));
    connection.execute(&sql, &values).changing()?;
    let json = serde_json::to_string(&figures).map_err(|error| CollectionError::Unrepresentable { why: error.to_string() })?;
    let verdict = Value::from(members.last().and_then(|last| last.verdict.as_deref()));
    let details = "UPDATE line_details SET verdict = $2, figures = $3 WHERE line = $1";
    connection.execute(details, &[Value::from(line), verdict, Value::from(json.as_str())]).changing()?;
    count_fakes(connection, line)
}

/// Tells the line of a model, and that of its fakes, how many fakes there are.
fn count_fakes(connection: &mut dyn Connection, line: u64) -> Result<(), CollectionError> {
    let same = "o.kind = l.kind AND o.vendor = l.vendor AND o.model = l.model AND o.capacity_gb = l.capacity_gb AND o.origin = l.origin";
    let siblings = format!("SELECT o.number, o.is_fake, o.runs, o.fakes FROM lines l JOIN lines o ON {same} WHERE l.number = $1");
    let mut found = Vec::new();
    for mut row in connection.query(&siblings, &[Value::from(line)]).reading()? {
        found.push((row.number()?, row.number()? == 1, row.number()?, row.number()?));
    }
    let fakes: u64 = found.iter().filter(|(_, is_fake, ..)| *is_fake).map(|(_, _, runs, _)| runs).sum();
    for (number, ..) in found.into_iter().filter(|(.., said)| *said != fakes) {
        let values = [Value::from(fakes), Value::from(number)];
        connection.execute("UPDATE lines SET fakes = $1 WHERE number = $2", &values).changing()?;
    }
    Ok(())
}

/// Columns of a line, of `lines l` and `line_details d`.
pub(super) const COLUMNS: &str = "l.slug, l.name, l.kind, l.vendor, l.model, l.capacity_gb, l.origin, l.interface, l.classes, l.runs, \
                                  l.fakes, l.is_fake, d.figures, d.verdict, l.latest";

/// A line of a row with [`COLUMNS`].
pub(super) fn line_of(mut row: Row) -> Result<Line, CollectionError> {
    let (slug, name) = (row.text()?, row.text()?);
    let model = Model { kind: kind_named(&row.text()?)?, vendor: row.text()?, model: row.text()?, capacity_gb: row.number()? };
    let origin = origin_named(&row.text()?)?;
    let interface = row.optional_text()?;
    let classes = row.text()?.split_whitespace().map(str::to_uppercase).collect();
    let (runs, fakes, is_fake) = (row.number()?, row.number()?, row.number()? == 1);
    let figures = row.text()?;
    let figures = serde_json::from_str(&figures).map_err(|error| CollectionError::damaged(format!("figures of {slug}: {error}")))?;
    let (verdict, latest) = (row.optional_text()?, row.text()?);
    Ok(Line { slug, name, model, origin, interface, classes, runs, fakes, is_fake, figures, verdict, latest })
}
