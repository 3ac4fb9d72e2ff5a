//! Collections of published runs, in SQLite or PostgreSQL: one code path, the same SQL, one set of
//! migrations.
//!
//! What comes in is durable when [`Collection::submit`] returns. The table people look at is not
//! computed when they look: each line (a model of one origin, fakes apart) is made anew in the
//! transaction in which one of its runs comes or goes. What lines are filtered and sorted by is
//! held in memory too, so that a page is a look through that and fifty lines read from the
//! database. docs/collection.md says what is in which table.
//!
//! Nothing here asks for the time or makes secrets: both are handed in. All calls block; from
//! asynchronous code they go to a thread of their own.
//!
//! Where to begin reading: `migrations/0001_collection.sql` (the tables), `write.rs` (what changes
//! them), `query.rs` and `catalogue.rs` (what is asked most).

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
#[cfg(test)]
mod tests;
mod tokens;
mod write;

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
pub use tokens::{Token, TokenKind};
pub use write::{Submission, SubmissionReceipt};

/// A collection of published runs. A clone is another handle of the same; all may be used at once
/// from any thread.
#[derive(Clone)]
pub struct Collection {
    pool: Arc<pool::ConnectionPool>,
    catalogue: Arc<catalogue::Catalogue>,
}

impl Collection {
    /// Opens a collection, makes it where there is none, and brings it to the form this version
    /// knows.
    ///
    /// # Errors
    /// Where the database cannot be reached, is something else's, or was made by a newer version.
    pub fn open(address: &Address) -> Result<Collection, CollectionError> {
        let pool = pool::ConnectionPool::new(address.clone());
        migrations::apply(&pool)?;
        Ok(Collection { pool: Arc::new(pool), catalogue: Arc::default() })
    }

    /// Where it is kept, without a password.
    pub fn address(&self) -> String {
        self.pool.address().to_string()
    }
}
