//! Connection to PostgreSQL, for a collection that several programs share.

use std::collections::HashMap;
use std::error::Error;
use std::time::Duration;

use bytes::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Statement};

use super::connection::{Connection, Intent, SqlRow, SqlValue};
use super::error::DatabaseError;
use super::postgres_tls::{configure, refusal};

/// Longest wait for a server that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most prepared statements that are kept; then all are dropped.
const PREPARED: usize = 500;
/// Number of the advisory lock of writers: "flashmk" in ASCII.
const WRITERS_LOCK: i64 = 0x66_6c61_7368_6d6b;

pub(super) struct Postgres {
    client: Client,
    prepared: HashMap<String, Statement>,
}

impl From<postgres::Error> for DatabaseError {
    fn from(error: postgres::Error) -> DatabaseError {
        if let Some(why) = refusal(&error) {
            return DatabaseError(why);
        }
        // The error's own text is only "db error".
        let message = error.as_db_error().map(|refused| refused.message().to_owned());
        let cause = error.source().map(ToString::to_string);
        DatabaseError(message.unwrap_or_else(|| {
            cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
        }))
    }
}

impl Postgres {
    pub fn open(url: &str) -> Result<Postgres, DatabaseError> {
        let (mut config, tls) = configure(url)?;
        config.connect_timeout(PATIENCE).application_name("flashmark");
        let mut client = config.connect(tls)?;
        let encoding: String = client.query_one("SHOW server_encoding", &[])?.get(0);
        if encoding != "UTF8" {
            return Err(DatabaseError(format!(
                "the database is encoded in {encoding}; make one in UTF8: createdb -T template0 -E UTF8 NAME"
            )));
        }
        Ok(Postgres { client, prepared: HashMap::new() })
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, DatabaseError> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        if self.prepared.len() >= PREPARED {
            self.prepared.clear();
        }
        let statement = self.client.prepare(sql)?;
        self.prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

impl ToSql for SqlValue {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            SqlValue::Null => Ok(IsNull::Yes),
            SqlValue::Integer(number) if *kind == Type::FLOAT8 => {
                (*number as f64).to_sql(kind, out)
            }
            SqlValue::Integer(number) => number.to_sql(kind, out),
            SqlValue::Real(number) => number.to_sql(kind, out),
            SqlValue::Text(text) => text.to_sql(kind, out),
            SqlValue::Blob(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::FLOAT8, Type::TEXT, Type::BYTEA].contains(kind)
    }

    to_sql_checked!();
}

fn values_of(row: &postgres::Row) -> Result<SqlRow, DatabaseError> {
    let value = |(at, column): (usize, &postgres::Column)| {
        Ok(match *column.type_() {
            Type::INT8 => {
                row.try_get::<_, Option<i64>>(at)?.map_or(SqlValue::Null, SqlValue::Integer)
            }
            Type::FLOAT8 => {
                row.try_get::<_, Option<f64>>(at)?.map_or(SqlValue::Null, SqlValue::Real)
            }
            Type::BYTEA => {
                row.try_get::<_, Option<Vec<u8>>>(at)?.map_or(SqlValue::Null, SqlValue::Blob)
            }
            _ => row.try_get::<_, Option<String>>(at)?.map_or(SqlValue::Null, SqlValue::Text),
        })
    };
    Ok(SqlRow::new(
        row.columns().iter().enumerate().map(value).collect::<Result<_, DatabaseError>>()?,
    ))
}

/// Makes the list of parameters that a statement takes.
fn all(values: &[SqlValue]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl Connection for Postgres {
    fn execute(&mut self, sql: &str, values: &[SqlValue]) -> Result<u64, DatabaseError> {
        let statement = self.prepare(sql)?;
        Ok(self.client.execute(&statement, &all(values))?)
    }

    fn query(&mut self, sql: &str, values: &[SqlValue]) -> Result<Vec<SqlRow>, DatabaseError> {
        let statement = self.prepare(sql)?;
        self.client.query(&statement, &all(values))?.iter().map(values_of).collect()
    }

    fn script(&mut self, sql: &str) -> Result<(), DatabaseError> {
        // Texts are ordered by their bytes, as in SQLite, and not by the customs of the server's
        // country.
        Ok(self.client.batch_execute(&sql.replace(" TEXT", " TEXT COLLATE \"C\""))?)
    }

    fn begin(&mut self, intent: Intent) -> Result<(), DatabaseError> {
        let sql = match intent {
            Intent::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".to_owned(),
            // Each statement after the lock sees what whoever held it before has written.
            Intent::Write => format!(
                "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({WRITERS_LOCK})"
            ),
        };
        Ok(self.client.batch_execute(&sql)?)
    }

    fn is_foreign(&mut self) -> Result<bool, DatabaseError> {
        let tables = "SELECT count(*) FILTER (WHERE tablename = 'migrations'), count(*) FILTER (WHERE tablename IN ('runs', 'lines')) \
                      FROM pg_tables WHERE schemaname = current_schema()";
        let row = self.client.query_one(tables, &[])?;
        Ok(row.get::<_, i64>(0) == 0 && row.get::<_, i64>(1) > 0)
    }

    fn mark(&mut self) -> Result<(), DatabaseError> {
        Ok(())
    }

    fn is_alive(&mut self) -> bool {
        !self.client.is_closed()
    }
}
