//! `sqlite`: small transactions through the real SQLite, each durable when it is committed, as
//! phones, browsers and home automation make them all day. A transaction inserts one row into a
//! table with an index on a random key, so that it changes three or four pages. `wal` appends them
//! to a log and copies that back at each checkpoint (SQLite's own: every 1000 pages); `delete`
//! copies the old pages to a journal, syncs, changes the database, syncs, and removes the journal.
//! `synchronous=FULL`: no committed row is ever lost (sqlite.org/pragma.html#pragma_synchronous).

use std::io;
use std::path::Path as FilePath;

use record::units::MIB;
use record::{Cell, Content, Direction, Params, Sync};
use rusqlite::{Connection, ErrorCode, params};
use suite::TestSettings;
use suite::typed_settings::{TypedSettings as _, settings};

use super::ledger::{Ledger, buffered};
use super::run::{self, WorkloadRun};
use super::{InspectionPoint, WorkError, Workload, WorkloadContext, WorkloadKind};

pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "sqlite",
    defaults: || TestSettings::of("sqlite", Sqlite::LIST),
    make: |settings| {
        let sqlite = Sqlite::read(settings)?;
        if sqlite.value > MIB {
            return Err(settings.bad("value", "a value has at most 1 MiB"));
        }
        Ok(Box::new(sqlite))
    },
};

settings! {
    Sqlite {
        journal: Words(["wal", "delete"]) = "wal,delete", "journal: wal, delete (rollback journal)";
        commits: Count = "2000", "how many commits";
        rows: Count = "1", "rows of a commit";
        value: Size = "100", "bytes of a row's value";
        max_time: Time = "60s", "at most this long a journal mode";
    }
}

impl Sqlite {
    fn mode(
        &self,
        number: usize,
        journal: &str,
        run: &mut WorkloadRun<'_, '_>,
    ) -> Result<Cell, WorkError> {
        let path = run.path(&format!("{journal}.db"));
        let mut database = open(&path).map_err(|error| failure("opening the database", &error))?;
        let chosen = journal_mode(&database, journal)
            .map_err(|error| failure("choosing the journal mode", &error))?;
        if chosen != journal {
            // SQLite keeps to what the file system can: a log needs memory that processes share,
            // which some do not offer.
            let reason = format!(
                "SQLite uses journal mode '{chosen}' on this file system, not '{journal}'; say --set sqlite.journal={chosen}"
            );
            return Err(WorkError::impossible(KIND.name, reason));
        }
        let mut random = run.random("keys");
        let mut value = vec![0u8; self.value as usize];
        let mut ledger = Ledger::default();
        let stop = run.steps("committing", self.commits, self.max_time, |_, _| {
            value.iter_mut().for_each(|byte| *byte = random.bits() as u8);
            let keys: Vec<i64> = (0..self.rows).map(|_| random.bits() as i64).collect();
            let committed =
                ledger.time(self.rows * self.value, || commit(&mut database, &keys, &value));
            committed.map_err(|error| failure("committing", &error))
        })?;
        let rows = ledger.ops() * self.rows;
        let found =
            check(&database).map_err(|error| failure("reading the database back", &error))?;
        if found != Ok(rows) {
            let reason = found.map_or_else(
                |damage| damage,
                |kept| format!("{rows} rows were committed and {kept} are there"),
            );
            return Err(WorkError::damaged(KIND.name, reason));
        }
        database.close().map_err(|(_, error)| failure("closing the database", &error))?;
        let database_bytes = run.check("looking at the database", std::fs::metadata(&path))?.len();
        run.show(InspectionPoint::After);
        run.remove(&path)?;
        let mut cell = ledger.cell(KIND.name, number, self.params(journal), stop);
        cell.metrics.put("database_bytes", database_bytes as f64, 1);
        Ok(cell)
    }

    fn params(&self, journal: &str) -> Params {
        Params {
            direction: Some(Direction::Write),
            sync: Sync::File,
            content: Some(Content::Incompressible),
            other: [("rows", self.rows), ("value_bytes", self.value)]
                .map(|(name, value)| (name.to_owned(), value as f64))
                .into(),
            ..buffered(journal)
        }
    }
}

impl Workload for Sqlite {
    fn needs_bytes(&self) -> u64 {
        // Row, index entry and half-full pages; the log of 1000 pages twice over; and what the file
        // system's own log takes.
        self.commits * self.rows * (self.value + 64) * 3 + (32 << 20)
    }

    /// Returns a cell for each journal mode: `iops` are commits per second. `bytes` are those of
    /// the values, not those that SQLite writes for them.
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        run::each(KIND.name, context, &self.journal, |number, journal, run| {
            self.mode(number, journal, run)
        })
    }
}

fn open(path: &FilePath) -> rusqlite::Result<Connection> {
    let database = Connection::open(path)?;
    database.execute_batch(
        "PRAGMA synchronous=FULL;
         CREATE TABLE entry(id INTEGER PRIMARY KEY, key INTEGER NOT NULL, value BLOB NOT NULL);
         CREATE INDEX entry_by_key ON entry(key);",
    )?;
    Ok(database)
}

/// Sets a journal mode; returns the mode that SQLite then uses.
fn journal_mode(database: &Connection, journal: &str) -> rusqlite::Result<String> {
    database.query_row(&format!("PRAGMA journal_mode={journal}"), [], |row| row.get(0))
}

fn commit(database: &mut Connection, keys: &[i64], value: &[u8]) -> rusqlite::Result<()> {
    let transaction = database.transaction()?;
    {
        let mut insert =
            transaction.prepare_cached("INSERT INTO entry(key, value) VALUES (?1, ?2)")?;
        for key in keys {
            insert.execute(params![key, value])?;
        }
    }
    transaction.commit()
}

/// Number of rows; the inner error is the damage that SQLite finds.
fn check(database: &Connection) -> rusqlite::Result<Result<u64, String>> {
    let verdict: String = database.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Ok(Err(verdict));
    }
    database
        .query_row("SELECT count(*) FROM entry", [], |row| row.get::<_, i64>(0))
        .map(|rows| Ok(rows as u64))
}

/// An error of SQLite as the failure of this work.
fn failure(doing: &str, error: &rusqlite::Error) -> WorkError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => WorkError::no_space(KIND.name, doing),
        _ => WorkError::io(KIND.name, doing, io::Error::other(error.to_string())),
    }
}
