//! What can go wrong with a collection.

use std::io;

/// A collection could not be opened, read or changed.
#[derive(Debug, thiserror::Error)]
pub enum CollectionError {
    /// The address names no database.
    #[error("'{given}' is no database; write sqlite:FILE or postgres://USER@HOST/NAME")]
    Address {
        /// What was given, without its password.
        given: String,
    },
    /// The program was built without PostgreSQL.
    #[error("this program was built without PostgreSQL; flashmark-site has it, or use sqlite:FILE")]
    NoPostgres,
    /// Made by a newer version.
    #[error(
        "the collection has step {found} of its form, this version knows {known}; a newer flashmark reads it"
    )]
    Newer {
        /// The last migration that was applied.
        found: u64,
        /// The last one this version has.
        known: u64,
    },
    /// The database holds something that is no collection of flashmark.
    #[error("{what} is not a collection of flashmark; name another file, or an empty database")]
    Foreign {
        /// Address of the database that was opened, without a password.
        what: String,
    },
    /// No run has that name.
    #[error("there is no run '{id}' in the collection")]
    NoSuchRun {
        /// What was asked for.
        id: String,
    },
    /// It was taken back, and stays so.
    #[error("run '{id}' was withdrawn")]
    Withdrawn {
        /// Name of the run that was withdrawn.
        id: String,
    },
    /// The same content is another run's.
    #[error("the collection already has this run: '{id}'")]
    AlreadyThere {
        /// Name of the run that has this content.
        id: String,
    },
    /// Another judgement of many came later, or this was none.
    #[error("event {event} is not the last judgement of many runs{}", last_in_words(*.last))]
    NotLastEvent {
        /// The number in the audit that was given.
        event: u64,
        /// That of the last one that can be undone.
        last: Option<u64>,
    },
    /// The submission holds what cannot be kept.
    #[error("this run cannot be kept: {why}")]
    Unrepresentable {
        /// What cannot be kept, in words: "its worst-stall is NaN".
        why: String,
    },
    /// What is stored is not what this program stores.
    #[error("the collection is damaged: {what}")]
    Damaged {
        /// What does not fit, in words: "a text is missing".
        what: String,
    },
    /// The database refused or failed.
    #[error("the collection could not be {doing}: {source}")]
    Database {
        /// What was being done to the collection: "opened", "read" or "changed".
        doing: &'static str,
        /// What the database said.
        source: DatabaseError,
    },
    /// Whoever is given the entries could not take one.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn last_in_words(last: Option<u64>) -> String {
    last.map_or_else(|| "; there is none to undo".to_owned(), |last| format!("; that is {last}"))
}

/// What a database said.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DatabaseError(pub(super) String);

impl CollectionError {
    pub(super) fn damaged(what: impl Into<String>) -> CollectionError {
        CollectionError::Damaged { what: what.into() }
    }
}

/// Gives what a database said the context of what was being done.
pub(super) trait While<T> {
    fn opening(self) -> Result<T, CollectionError>;
    fn reading(self) -> Result<T, CollectionError>;
    fn changing(self) -> Result<T, CollectionError>;
}

impl<T> While<T> for Result<T, DatabaseError> {
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
