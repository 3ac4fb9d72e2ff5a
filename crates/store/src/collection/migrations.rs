//! Migrations of the database. One that was released is never changed; a new one is added. The
//! columns of figures are not part of them: missing ones are added.

use record::collection::FIGURES;

use super::connection::{Connection, SqlValue};
use super::error::ErrorContext;
use super::pool::ConnectionPool;
use super::{CollectionError, audit, columns, copies, lines};

/// All migrations; the first has number 1.
const STEPS: [(&str, &str); 8] = [
    ("collection", include_str!("migrations/0001_collection.sql")),
    ("looked through in memory", include_str!("migrations/0002_looked_through_in_memory.sql")),
    ("senders", include_str!("migrations/0003_senders.sql")),
    ("media told apart", include_str!("migrations/0004_media_told_apart.sql")),
    ("judging many", include_str!("migrations/0005_judging_many.sql")),
    ("marks of cells", include_str!("migrations/0006_marks_of_cells.sql")),
    ("claims have voices", include_str!("migrations/0007_claims_have_voices.sql")),
    ("words", include_str!("migrations/0008_words.sql")),
];

/// Applies the migrations that a database lacks.
pub(super) fn apply(pool: &ConnectionPool) -> Result<(), CollectionError> {
    let known = STEPS.len() as u64;
    let found = pool.look(|connection| {
        if connection.is_foreign().opening()? {
            return Err(CollectionError::Foreign { what: pool.address().to_string() });
        }
        applied(connection)
    })?;
    if found > known {
        return Err(CollectionError::Newer { found, known });
    }
    (found..known).try_for_each(|_| pool.write(next_step))?;
    add_figures(pool)?;
    once(pool, "marks", copies::mark_all)?;
    once(pool, "lines", make_lines)
}

/// Runs a computation that a migration asked for, once, after all migrations: it needs columns that
/// later ones add.
fn once(
    pool: &ConnectionPool,
    what: &str,
    work: fn(&mut dyn Connection) -> Result<(), CollectionError>,
) -> Result<(), CollectionError> {
    let asked = "SELECT what FROM pending WHERE what = $1";
    let is_asked = |connection: &mut dyn Connection| {
        Ok(!connection.query(asked, &[SqlValue::from(what)]).reading()?.is_empty())
    };
    if !pool.look(is_asked)? {
        return Ok(());
    }
    pool.write(|connection| {
        // Another process may have been faster.
        if !is_asked(connection)? {
            return Ok(());
        }
        work(connection)?;
        let done = "DELETE FROM pending WHERE what = $1";
        connection.execute(done, &[SqlValue::from(what)]).changing()?;
        Ok(())
    })
}

/// Computes all lines.
fn make_lines(connection: &mut dyn Connection) -> Result<(), CollectionError> {
    let changed = audit::Chain::end_of(connection)?.number();
    for mut row in connection.query("SELECT number FROM lines", &[]).reading()? {
        lines::refresh(connection, row.number()?, changed)?;
    }
    Ok(())
}

/// Applies the first steps only, as an older version would have.
#[cfg(test)]
pub(super) fn apply_first(pool: &ConnectionPool, steps: usize) -> Result<(), CollectionError> {
    (0..steps).try_for_each(|_| pool.write(next_step))?;
    add_figures(pool)
}

/// Adds the columns of figures that a database lacks.
fn add_figures(pool: &ConnectionPool) -> Result<(), CollectionError> {
    let missing = || pool.look(|connection| Ok(additions(connection)));
    let wanted = missing()?;
    if wanted.is_empty() {
        return Ok(());
    }
    let added = pool.write(|connection| connection.script(&wanted.join("; ")).changing());
    // Another process may have been faster.
    if missing()?.is_empty() { Ok(()) } else { added }
}

/// Statements that add each missing column of a figure.
fn additions(connection: &mut dyn Connection) -> Vec<String> {
    let mut lacks = |table: &str, columns: &str| {
        connection.query(&format!("SELECT {columns} FROM {table} LIMIT 1"), &[]).is_err()
    };
    let mut additions = Vec::new();
    for table in ["lines", "runs"] {
        if lacks(table, &columns::figures()) {
            let missing = FIGURES.iter().map(|it| it.column).filter(|column| lacks(table, column));
            let add = |column| format!("ALTER TABLE {table} ADD COLUMN {column} DOUBLE PRECISION");
            additions.extend(missing.map(add));
        }
    }
    additions
}

/// Number of the last migration that was applied; 0 for an empty database.
fn applied(connection: &mut dyn Connection) -> Result<u64, CollectionError> {
    let Ok(rows) = connection.query("SELECT coalesce(max(number), 0) FROM migrations", &[]) else {
        return Ok(0);
    };
    rows.into_iter().next().map_or(Ok(0), |mut row| row.number())
}

/// Applies one migration, unless another process was faster.
fn next_step(connection: &mut dyn Connection) -> Result<(), CollectionError> {
    connection
        .script(
            "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL)",
        )
        .changing()?;
    let at = applied(connection)?;
    let Some((name, sql)) = STEPS.get(at as usize) else { return Ok(()) };
    if at == 0 {
        connection.mark().changing()?;
    }
    connection.script(sql).changing()?;
    connection
        .execute(
            "INSERT INTO migrations (number, name) VALUES ($1, $2)",
            &[SqlValue::from(at + 1), SqlValue::from(*name)],
        )
        .changing()?;
    Ok(())
}
