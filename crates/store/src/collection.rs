//! Collections of published runs, in SQLite or PostgreSQL: one code path, the same SQL, one set of
//! migrations.
//!
//! A submission is durable when [`Collection::submit`] returns. Each line of the table (a model of
//! one origin, fakes apart) is computed in the transaction that adds or removes one of its runs,
//! not when somebody looks at it. The fields by which lines are filtered and sorted are held in
//! memory too: a page is a search in memory and fifty lines read from the database.
//! docs/collection.md lists the tables.
//!
//! The caller passes in the time and the secrets. All calls block; asynchronous code runs them on a
//! thread of their own.
//!
//! Begin reading at `migrations/0001_collection.sql` (the tables), `write.rs` (all changes),
//! `query.rs` and `catalogue.rs` (the most frequent queries).

mod address;
mod audit;
mod bulk;
mod catalogue;
mod check;
mod columns;
mod connection;
mod copies;
mod document;
mod effects;
mod error;
mod facts;
mod finite;
mod line_index;
mod lines;
mod listing;
mod media;
mod migrations;
mod pool;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod postgres_tls;
mod query;
mod read;
mod runs;
mod sqlite;
mod submission;
#[cfg(test)]
mod tests;
mod tokens;
mod write;
mod writer;

use std::sync::Arc;

pub use address::Address;
pub use audit::Audited;
pub use bulk::BulkJudgement;
pub use document::content_name;
pub use effects::HostEffect;
pub use error::{CollectionError, DatabaseError};
pub use facts::Facet;
pub use listing::{ListedRun, RunFilter, RunOrder, reasons_of};
pub use read::{Counts, Revision};
pub use submission::{Submission, SubmissionReceipt};
pub use tokens::{Token, TokenKind};

/// A collection of published runs. A clone is another handle to the same collection; any thread may
/// use any handle at any time.
#[derive(Clone)]
pub struct Collection {
    pool: Arc<pool::ConnectionPool>,
    catalogue: Arc<catalogue::Catalogue>,
}

impl Collection {
    /// Opens a collection. Creates it if it does not exist, and applies missing migrations.
    ///
    /// # Errors
    /// If the database cannot be reached, holds something else, or was made by a newer version.
    pub fn open(address: &Address) -> Result<Collection, CollectionError> {
        let pool = pool::ConnectionPool::new(address.clone());
        migrations::apply(&pool)?;
        Ok(Collection { pool: Arc::new(pool), catalogue: Arc::default() })
    }

    /// Address of the database, without a password.
    pub fn address(&self) -> String {
        self.pool.address().to_string()
    }
}
