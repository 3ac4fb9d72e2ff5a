//! A collection made by an earlier version: opened by this one, saved and restored.

use record::collection::{HeadlineFigure, Origin, RunHeadline};
use record::text::hex;

use super::Database;
use super::copies::measured;
use super::made::headline;
use crate::collection::connection::{Connection, SqlValue};
use crate::collection::document::{PackedRun, RevisionDocument, id_of};
use crate::collection::{Collection, CollectionError, migrations, pool};

/// Steps of the form that the earlier version knew.
const STEPS: usize = 2;

/// Runs that an earlier version stored: sender, origin, random writes in IOPS.
const SENT: [(&str, Origin, f64); 5] = [
    ("anonymous", Origin::Measured, 10.0),
    ("anonymous", Origin::Measured, 12.0),
    ("lab (0123abcd)", Origin::Measured, 14.0),
    ("bench (4567cdef)", Origin::Measured, 15.0),
    ("flashmark", Origin::Reference, 7.0),
];

/// Makes the collection as the earlier version left it; returns the ids of its runs.
fn made_by_an_earlier_version(database: &Database) -> Vec<String> {
    let pool = pool::ConnectionPool::new(database.address.clone());
    migrations::apply_first(&pool, STEPS).unwrap();
    pool.write(|connection| {
        for (number, slug, origin) in
            [(1, "sd32g", "measured"), (2, "sd32g-reference", "reference")]
        {
            line(connection, number, slug, origin)?;
        }
        (1..).zip(SENT).map(|(number, sent)| kept(connection, number, sent)).collect()
    })
    .unwrap()
}

/// Inserts a line whose figures do not weigh senders.
fn line(
    connection: &mut dyn Connection,
    number: u64,
    slug: &str,
    origin: &str,
) -> Result<(), CollectionError> {
    let sql = "INSERT INTO lines (number, slug, kind, vendor, model, capacity_gb, origin, is_fake, name, name_folded, interface, \
               classes, runs, fakes, latest, changed, random_write_4k) VALUES ($1, $2, 'sd', 'sandisk', 'sd32g', 32, $3, 0, \
               'SanDisk SD32G 32 GB', 'sandisk sd32g 32 gb', 'sd uhs-i', ' c10 a1 ', 4, 0, '2026-05-04T12:00:00Z', 5, 13.0)";
    let values = [SqlValue::from(number), SqlValue::from(slug), SqlValue::from(origin)];
    connection.execute(sql, &values).unwrap();
    let figures =
        r#"{"random-write-4k":{"median":13.0,"low":10.0,"high":15.0,"runs":4,"hosts":4}}"#;
    let sql = "INSERT INTO line_details (line, verdict, figures) VALUES ($1, 'old', $2)";
    connection.execute(sql, &[SqlValue::from(number), SqlValue::from(figures)]).unwrap();
    Ok(())
}

/// A headline with a fault, for which the earlier version had no column.
fn faulty(value: f64) -> RunHeadline {
    RunHeadline { faults: vec!["capacity".to_owned(), "span-cache".to_owned()], ..headline(value) }
}

fn kept(
    connection: &mut dyn Connection,
    number: u64,
    (who, origin, value): (&str, Origin, f64),
) -> Result<String, CollectionError> {
    let run = measured(number, number);
    let model = collection::model_of(&run);
    let document = RevisionDocument { model, origin, headline: faulty(value), run };
    let PackedRun { content, body } = document.pack()?;
    let id = id_of(&content);
    let received = format!("2026-05-{number:02}T12:00:00Z");
    let line = if origin == Origin::Reference { 2u64 } else { 1 };
    let sql = "INSERT INTO runs (number, id, line, standing, revision, received, name, interface, classes, random_write_4k) \
               VALUES ($1, $2, $3, 'accepted', 1, $4, 'SanDisk SD32G 32 GB', 'sd uhs-i', ' c10 a1 ', $5)";
    let values = [
        SqlValue::from(number),
        SqlValue::from(id.as_str()),
        SqlValue::from(line),
        SqlValue::from(received.as_str()),
        SqlValue::from(value),
    ];
    connection.execute(sql, &values).unwrap();
    let sql = "INSERT INTO revisions (run, revision, content, received, who, why, body) VALUES ($1, 1, $2, $3, $4, '', $5)";
    let values = [
        SqlValue::from(number),
        SqlValue::from(hex(&content).as_str()),
        SqlValue::from(received.as_str()),
        SqlValue::from(who),
        SqlValue::from(body),
    ];
    connection.execute(sql, &values).unwrap();
    Ok(id)
}

/// The sender of each run, in the order in which they came in.
fn senders(collection: &Collection) -> Vec<Option<String>> {
    let sql = "SELECT sender FROM runs WHERE number <= 5 ORDER BY number";
    let rows = collection.pool.look(|connection| Ok(connection.query(sql, &[]).unwrap())).unwrap();
    rows.into_iter().map(|mut row| row.optional_text().unwrap()).collect()
}

fn is_whole(collection: &Collection, ids: &[String]) {
    for (id, (_, origin, value)) in ids.iter().zip(SENT) {
        let entry = collection.entry(id).unwrap().unwrap();
        assert_eq!((entry.origin, &entry.headline), (origin, &faulty(value)));
    }
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        senders(collection),
        [
            some("anonymous"),
            some("anonymous"),
            some("lab (0123abcd)"),
            some("bench (4567cdef)"),
            None
        ]
    );
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

pub fn an_earlier_collection_is_brought_up_to_date(database: &Database) {
    let ids = made_by_an_earlier_version(database);
    let collection = database.open();
    is_whole(&collection, &ids);
    let line = collection.line("sd32g").unwrap().unwrap();
    let spread = &line.figures[&HeadlineFigure::RandomWrite4k];
    // Anonymous runs have one voice, of 11: with 14 and 15 the median is 14, and no longer 13.
    assert_eq!((spread.median, spread.senders, spread.runs), (14.0, 3, 4));
    // Runs that came in before marks existed have them, too.
    let marked = "SELECT count(DISTINCT run) FROM run_marks";
    let marked = collection
        .pool
        .look(|connection| connection.query(marked, &[]).unwrap().remove(0).number());
    assert_eq!(marked.unwrap(), SENT.len() as u64);
    let faults = "SELECT count(*) FROM runs WHERE claims = 'capacity span-cache'";
    let faulty = collection
        .pool
        .look(|connection| connection.query(faults, &[]).unwrap().remove(0).number());
    assert_eq!(faulty.unwrap(), SENT.len() as u64);
    // Only once: later changes of the lines stay.
    drop(collection);
    database.meddle("UPDATE line_details SET verdict = 'not made anew'");
    let line = database.open().line("sd32g").unwrap().unwrap();
    assert_eq!(line.verdict.as_deref(), Some("not made anew"));
}

pub fn a_backup_is_whole(database: &Database) {
    let ids = made_by_an_earlier_version(database);
    let collection = database.open();
    let withdrawn = super::made::submission(9, "SD64G", None, 5.0);
    let withdrawn = collection.submit(withdrawn).unwrap().id;
    collection.withdraw(&withdrawn, "me", "my mistake", "2026-06-01T00:00:00Z").unwrap();
    let lines = collection.all_lines().unwrap();
    // It is made while the collection is open, of the form before and of this one.
    let copy = database.backup();
    let restored = copy.open();
    assert_eq!(restored.all_lines().unwrap(), lines);
    assert_eq!(restored.counts().unwrap(), collection.counts().unwrap());
    assert_eq!(restored.audit(0, 100).unwrap(), collection.audit(0, 100).unwrap());
    restored.withdraw(&ids[0], "me", "", "2026-06-02T00:00:00Z").unwrap();
    assert_eq!(restored.check().unwrap(), Vec::<String>::new(), "and goes on as one");
    is_whole(&collection, &ids);
}

pub fn a_backup_of_an_earlier_version_is_brought_up_to_date(database: &Database) {
    let ids = made_by_an_earlier_version(database);
    is_whole(&database.backup().open(), &ids);
}
