//! Connection to SQLite: one file in WAL mode, so that readers never wait for the writer.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{OpenFlags, ToSql, params_from_iter};

use super::connection::{Connection, Intent, SqlRow, SqlValue};
use super::error::DatabaseError;

/// Longest wait of a statement for another process that writes.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time between two attempts at what SQLite itself does not wait for.
const PAUSE: Duration = Duration::from_millis(5);
/// Application id in the file's header: "flmk" in ASCII.
const APPLICATION_ID: i64 = 0x666c_6d6b;
/// Pages (of 4 kB) in the write-ahead log at which a commit copies them into the file, which takes
/// as long as many commits. A run with all its curves is some sixty: less than one submission in a
/// hundred has to wait for it.
const LOG_PAGES: u32 = 8192;
/// Most prepared statements that are kept; the table alone has a few dozen.
const PREPARED: usize = 200;

pub(super) struct Sqlite(rusqlite::Connection);

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> DatabaseError {
        DatabaseError(error.to_string())
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

impl Sqlite {
    /// Opens a file; creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Sqlite, DatabaseError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = rusqlite::Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        let mut opened = Sqlite::prepared(connection)?;
        // Somebody else's file is left as it is.
        if !opened.is_foreign()? {
            // A commit is durable when it returns: it survives a power cut too.
            opened.log_ahead()?;
            opened.script(&format!(
                "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = {LOG_PAGES}"
            ))?;
        }
        Ok(opened)
    }

    /// Switches to the write-ahead log. SQLite fails at once where others open the file at the same
    /// time, whatever the timeout, so that it is tried again until [`PATIENCE`] is over.
    fn log_ahead(&mut self) -> Result<(), DatabaseError> {
        self.0.busy_timeout(PAUSE)?;
        let mut waited = Duration::ZERO;
        loop {
            match self.0.execute_batch("PRAGMA journal_mode = WAL") {
                Err(error) if is_busy(&error) && waited < PATIENCE => {
                    std::thread::sleep(PAUSE);
                    waited += 2 * PAUSE;
                }
                switched => {
                    self.0.busy_timeout(PATIENCE)?;
                    return Ok(switched?);
                }
            }
        }
    }

    pub fn in_memory() -> Result<Sqlite, DatabaseError> {
        Sqlite::prepared(rusqlite::Connection::open_in_memory()?)
    }

    fn prepared(connection: rusqlite::Connection) -> Result<Sqlite, DatabaseError> {
        connection.execute_batch(
            "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384",
        )?;
        connection.set_prepared_statement_cache_capacity(PREPARED);
        Ok(Sqlite(connection))
    }

    fn number(&self, sql: &str) -> Result<i64, DatabaseError> {
        Ok(self.0.query_row(sql, [], |row| row.get(0))?)
    }
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            SqlValue::Null => ValueRef::Null,
            SqlValue::Integer(number) => ValueRef::Integer(*number),
            SqlValue::Real(number) => ValueRef::Real(*number),
            SqlValue::Text(text) => ValueRef::Text(text.as_bytes()),
            SqlValue::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Replaces `$1`, a name to SQLite, with `?1`, a number.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

impl Connection for Sqlite {
    fn execute(&mut self, sql: &str, values: &[SqlValue]) -> Result<u64, DatabaseError> {
        Ok(self.0.prepare_cached(&numbered(sql))?.execute(params_from_iter(values))? as u64)
    }

    fn query(&mut self, sql: &str, values: &[SqlValue]) -> Result<Vec<SqlRow>, DatabaseError> {
        let mut statement = self.0.prepare_cached(&numbered(sql))?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(values))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let value = |at| Ok::<SqlValue, DatabaseError>(owned(row.get_ref(at)?));
            found.push(SqlRow::new((0..columns).map(value).collect::<Result<_, _>>()?));
        }
        Ok(found)
    }

    fn script(&mut self, sql: &str) -> Result<(), DatabaseError> {
        Ok(self.0.execute_batch(sql)?)
    }

    fn begin(&mut self, intent: Intent) -> Result<(), DatabaseError> {
        // A transaction that takes the lock later can find that someone else has written meanwhile,
        // and must then be given up.
        self.script(if intent == Intent::Write { "BEGIN IMMEDIATE" } else { "BEGIN" })
    }

    fn is_foreign(&mut self) -> Result<bool, DatabaseError> {
        // In this order: another process that makes the collection meanwhile commits both at once.
        let holds_tables = self.number("SELECT count(*) FROM sqlite_schema")? > 0;
        let id = self.number("PRAGMA application_id")?;
        Ok(id != APPLICATION_ID && (id != 0 || holds_tables))
    }

    fn mark(&mut self) -> Result<(), DatabaseError> {
        self.script(&format!("PRAGMA application_id = {APPLICATION_ID}"))
    }

    fn is_alive(&mut self) -> bool {
        true
    }
}

fn owned(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(number) => SqlValue::Integer(number),
        ValueRef::Real(number) => SqlValue::Real(number),
        ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => SqlValue::Blob(bytes.to_owned()),
    }
}
