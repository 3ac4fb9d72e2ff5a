//! Queries of a collection to its database: statements with values in, rows out. The SQL is the
//! same for SQLite and PostgreSQL; its values are `$1`, `$2`, ..

use super::CollectionError;
use super::error::DatabaseError;

/// A value of a statement or a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SqlValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> SqlValue {
        SqlValue::Text(printable(text))
    }
}

impl From<u64> for SqlValue {
    fn from(number: u64) -> SqlValue {
        SqlValue::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for SqlValue {
    fn from(number: u32) -> SqlValue {
        SqlValue::Integer(i64::from(number))
    }
}

impl From<bool> for SqlValue {
    fn from(yes: bool) -> SqlValue {
        SqlValue::Integer(i64::from(yes))
    }
}

impl From<f64> for SqlValue {
    fn from(number: f64) -> SqlValue {
        SqlValue::Real(number)
    }
}

impl From<Vec<u8>> for SqlValue {
    fn from(bytes: Vec<u8>) -> SqlValue {
        SqlValue::Blob(bytes)
    }
}

impl<T: Into<SqlValue>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> SqlValue {
        value.map_or(SqlValue::Null, Into::into)
    }
}

/// Replaces NUL, which PostgreSQL refuses in a text: both databases are to hold the same.
fn printable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Values of a row, taken in the order of the statement's columns.
pub(super) struct SqlRow(std::vec::IntoIter<SqlValue>);

impl SqlRow {
    pub fn new(values: Vec<SqlValue>) -> SqlRow {
        SqlRow(values.into_iter())
    }

    fn next(&mut self) -> SqlValue {
        self.0.next().unwrap_or(SqlValue::Null)
    }

    pub fn text(&mut self) -> Result<String, CollectionError> {
        self.optional_text()?.ok_or_else(|| CollectionError::damaged("a text is missing"))
    }

    pub fn optional_text(&mut self) -> Result<Option<String>, CollectionError> {
        match self.next() {
            SqlValue::Null => Ok(None),
            SqlValue::Text(text) => Ok(Some(text)),
            other => {
                Err(CollectionError::damaged(format!("{other:?} stands where a text belongs")))
            }
        }
    }

    pub fn number(&mut self) -> Result<u64, CollectionError> {
        match self.next() {
            SqlValue::Integer(number) if number >= 0 => Ok(number.unsigned_abs()),
            other => Err(CollectionError::damaged(format!(
                "{other:?} stands where a whole number belongs"
            ))),
        }
    }

    pub fn optional_real(&mut self) -> Result<Option<f64>, CollectionError> {
        match self.next() {
            SqlValue::Null => Ok(None),
            SqlValue::Real(number) => Ok(Some(number)),
            SqlValue::Integer(number) => Ok(Some(number as f64)),
            other => {
                Err(CollectionError::damaged(format!("{other:?} stands where a number belongs")))
            }
        }
    }

    pub fn blob(&mut self) -> Result<Vec<u8>, CollectionError> {
        match self.next() {
            SqlValue::Blob(bytes) => Ok(bytes),
            other => Err(CollectionError::damaged(format!(
                "{other:?} stands where a compressed run belongs"
            ))),
        }
    }
}

/// Purpose of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// All statements see the same state.
    Read,
    /// No other thread or process writes meanwhile.
    Write,
}

/// A connection to a database.
pub(super) trait Connection: Send {
    /// Executes a statement; returns the number of rows that it changed.
    fn execute(&mut self, sql: &str, values: &[SqlValue]) -> Result<u64, DatabaseError>;
    /// Executes a statement; returns its rows.
    fn query(&mut self, sql: &str, values: &[SqlValue]) -> Result<Vec<SqlRow>, DatabaseError>;
    /// Executes several statements without values.
    fn script(&mut self, sql: &str) -> Result<(), DatabaseError>;
    /// Begins a transaction; with [`Intent::Write`], other writers wait until it ends.
    fn begin(&mut self, intent: Intent) -> Result<(), DatabaseError>;
    /// True if the database belongs to another program.
    fn is_foreign(&mut self) -> Result<bool, DatabaseError>;
    /// Marks the database as a collection of flashmark, in the transaction of the first migration.
    fn mark(&mut self) -> Result<(), DatabaseError>;
    /// True if the server still answers.
    fn is_alive(&mut self) -> bool;
}
