//! What a collection asks of a database: statements with values in, rows out. SQL is written once, for SQLite and PostgreSQL alike; values
//! are `$1`, `$2`, .. in it.

use super::CollectionError;
use super::error::Fault;

/// A value of a statement or a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(printable(text))
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Integer(i64::from(number))
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Value {
        Value::Integer(i64::from(yes))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Real(number)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Value {
        Value::Blob(bytes)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// PostgreSQL takes no NUL in a text, and both are to hold the same.
fn printable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The values of a row, taken in the order of the statement's columns.
pub(super) struct Row(std::vec::IntoIter<Value>);

impl Row {
    pub fn new(values: Vec<Value>) -> Row {
        Row(values.into_iter())
    }

    fn next(&mut self) -> Value {
        self.0.next().unwrap_or(Value::Null)
    }

    pub fn text(&mut self) -> Result<String, CollectionError> {
        self.optional_text()?.ok_or_else(|| CollectionError::damaged("a text is missing"))
    }

    pub fn optional_text(&mut self) -> Result<Option<String>, CollectionError> {
        match self.next() {
            Value::Null => Ok(None),
            Value::Text(text) => Ok(Some(text)),
            other => Err(CollectionError::damaged(format!("{other:?} stands where a text belongs"))),
        }
    }

    pub fn number(&mut self) -> Result<u64, CollectionError> {
        match self.next() {
            Value::Integer(number) if number >= 0 => Ok(number.unsigned_abs()),
            other => Err(CollectionError::damaged(format!("{other:?} stands where a whole number belongs"))),
        }
    }

    pub fn optional_real(&mut self) -> Result<Option<f64>, CollectionError> {
        match self.next() {
            Value::Null => Ok(None),
            Value::Real(number) => Ok(Some(number)),
            Value::Integer(number) => Ok(Some(number as f64)),
            other => Err(CollectionError::damaged(format!("{other:?} stands where a number belongs"))),
        }
    }

    pub fn blob(&mut self) -> Result<Vec<u8>, CollectionError> {
        match self.next() {
            Value::Blob(bytes) => Ok(bytes),
            other => Err(CollectionError::damaged(format!("{other:?} stands where a compressed run belongs"))),
        }
    }
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// All statements see the same state.
    Read,
    /// Nobody else writes meanwhile, in this process or another.
    Write,
}

/// A connection to a database.
pub(super) trait Connection: Send {
    /// Rows that were changed.
    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault>;
    /// All rows that a statement gives.
    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Fault>;
    /// Several statements without values.
    fn script(&mut self, sql: &str) -> Result<(), Fault>;
    /// Begins a transaction.
    fn begin(&mut self, intent: Intent) -> Result<(), Fault>;
    /// Whether this is a database that something else lives in.
    fn is_foreign(&mut self) -> Result<bool, Fault>;
    /// Marks it as ours, in the transaction of the first migration.
    fn mark(&mut self) -> Result<(), Fault>;
    /// Whether the server still talks to us.
    fn is_alive(&mut self) -> bool;
}
