//! Errors of a collection.

use std::io;

/// A collection could not be opened, read or changed.
#[derive(Debug, thiserror::Error)]
pub enum CollectionError {
    /// The address is not that of a database.
    #[error("'{given}' is no database; write sqlite:FILE or postgres://USER@HOST/NAME")]
    Address {
        /// Address that was given, without its password.
        given: String,
    },
    /// The program was built without PostgreSQL.
    #[error("this program was built without PostgreSQL; flashmark-site has it, or use sqlite:FILE")]
    NoPostgres,
    /// A newer version made the collection.
    #[error(
        "the collection has step {found} of its form, this version knows {known}; a newer flashmark reads it"
    )]
    Newer {
        /// Number of the last migration that was applied.
        found: u64,
        /// Number of the last migration of this version.
        known: u64,
    },
    /// The database holds something other than a collection of flashmark.
    #[error("{what} is not a collection of flashmark; name another file, or an empty database")]
    Foreign {
        /// Address of the database that was opened, without a password.
        what: String,
    },
    /// The collection has no run of that name.
    #[error("there is no run '{id}' in the collection")]
    NoSuchRun {
        /// Name that was asked for.
        id: String,
    },
    /// The run was withdrawn, which is final.
    #[error("run '{id}' was withdrawn")]
    Withdrawn {
        /// Name of the run that was withdrawn.
        id: String,
    },
    /// Another run has the same content.
    #[error("the collection already has this run: '{id}'")]
    AlreadyThere {
        /// Name of that run.
        id: String,
    },
    /// The number is not that of the last judgement of many runs.
    #[error("event {event} is not the last judgement of many runs{}", last_in_words(*.last))]
    NotLastEvent {
        /// The number in the audit that was given.
        event: u64,
        /// Number of the last judgement that can be undone.
        last: Option<u64>,
    },
    /// The submission holds something that cannot be stored.
    #[error("this run cannot be kept: {why}")]
    Unrepresentable {
        /// Reason in words: "its worst-stall is NaN".
        why: String,
    },
    /// The database holds something that this program never stores.
    #[error("the collection is damaged: {what}")]
    Damaged {
        /// Fault in words: "a text is missing".
        what: String,
    },
    /// The database refused or failed.
    #[error("the collection could not be {doing}: {source}")]
    Database {
        /// Action on the collection that failed: "opened", "read" or "changed".
        doing: &'static str,
        /// Error of the database.
        source: DatabaseError,
    },
    /// The receiver of the entries could not take one.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn last_in_words(last: Option<u64>) -> String {
    last.map_or_else(|| "; there is none to undo".to_owned(), |last| format!("; that is {last}"))
}

/// Error text of a database.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DatabaseError(pub(super) String);

impl CollectionError {
    pub(super) fn damaged(what: impl Into<String>) -> CollectionError {
        CollectionError::Damaged { what: what.into() }
    }
}

/// Adds the action that failed to the error of a database.
pub(super) trait ErrorContext<T> {
    fn opening(self) -> Result<T, CollectionError>;
    fn reading(self) -> Result<T, CollectionError>;
    fn changing(self) -> Result<T, CollectionError>;
}

impl<T> ErrorContext<T> for Result<T, DatabaseError> {
    fn opening(self) -> Result<T, CollectionError> {
        self.map_err(|source| CollectionError::Database { doing: "opened", source })
    }
    fn reading(self) -> Result<T, CollectionError> {
        self.map_err(|source| CollectionError::Database { doing: "read", source })
    }
    fn changing(self) -> Result<T, CollectionError> {
        self.map_err(|source| CollectionError::Database { doing: "changed", source })
    }
}
