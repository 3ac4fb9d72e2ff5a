//! Tokens that allow changes. A token is a secret of at least 128 random bits, shown once to its
//! maker; the collection stores its SHA-256, which is enough for secrets nobody can guess
//! (passwords would need more).

use record::text::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::connection::{Connection, SqlValue};
use super::error::ErrorContext;
use super::{Collection, CollectionError};

/// Permission of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenKind {
    /// Replaces and withdraws one run.
    Edit,
    /// Submits under a name.
    Api,
    /// Judges quarantined runs.
    Moderator,
}

impl TokenKind {
    const ALL: [TokenKind; 3] = [TokenKind::Edit, TokenKind::Api, TokenKind::Moderator];

    /// Name in JSON and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            TokenKind::Edit => "edit",
            TokenKind::Api => "api",
            TokenKind::Moderator => "moderator",
        }
    }
}

/// Stored facts of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Permission: to change one run, to submit, or to moderate.
    pub kind: TokenKind,
    /// Id of the run that an edit token allows to change.
    pub run: Option<String>,
    /// Owner, in words.
    pub label: String,
    /// Time of its creation, in RFC 3339.
    pub created: String,
    /// Time at which it was revoked, in RFC 3339; `None` while it is valid.
    pub revoked: Option<String>,
}

fn hash(secret: &str) -> SqlValue {
    SqlValue::Text(hex(&Sha256::digest(secret.as_bytes())))
}

fn keep(
    connection: &mut dyn Connection,
    secret: &str,
    token: &Token,
) -> Result<(), CollectionError> {
    let sql = "INSERT INTO tokens (hash, kind, run, label, created, revoked) VALUES ($1, $2, $3, $4, $5, $6)";
    let values = [
        hash(secret),
        SqlValue::from(token.kind.name()),
        SqlValue::from(token.run.as_deref()),
        SqlValue::from(token.label.as_str()),
        SqlValue::from(token.created.as_str()),
        SqlValue::from(token.revoked.as_deref()),
    ];
    connection.execute(sql, &values).changing()?;
    Ok(())
}

/// Stores the token that comes with a submission.
pub(super) fn keep_edit(
    connection: &mut dyn Connection,
    secret: &str,
    run: &str,
    created: &str,
) -> Result<(), CollectionError> {
    let token = Token {
        kind: TokenKind::Edit,
        run: Some(run.to_owned()),
        label: String::new(),
        created: created.to_owned(),
        revoked: None,
    };
    keep(connection, secret, &token)
}

impl Collection {
    /// Makes a secret a token.
    ///
    /// # Errors
    /// If it already is one, or the database fails.
    pub fn grant(&self, secret: &str, token: &Token) -> Result<(), CollectionError> {
        self.pool.write(|connection| keep(connection, secret, token))
    }

    /// Token of a secret, also one that was revoked; `None` if the secret is not a token.
    ///
    /// # Errors
    /// If the database fails.
    pub fn token(&self, secret: &str) -> Result<Option<Token>, CollectionError> {
        let sql = "SELECT kind, run, label, created, revoked FROM tokens WHERE hash = $1";
        let found =
            self.pool.look(|connection| connection.query(sql, &[hash(secret)]).reading())?;
        let token = |mut row: super::connection::SqlRow| {
            let kind = row.text()?;
            let kind = TokenKind::ALL.into_iter().find(|known| known.name() == kind);
            let kind =
                kind.ok_or_else(|| CollectionError::damaged("a token of an unknown kind"))?;
            Ok(Token {
                kind,
                run: row.optional_text()?,
                label: row.text()?,
                created: row.text()?,
                revoked: row.optional_text()?,
            })
        };
        found.into_iter().next().map(token).transpose()
    }

    /// Revokes a token; returns true if it was valid until now.
    ///
    /// # Errors
    /// If the database fails.
    pub fn revoke(&self, secret: &str, when: &str) -> Result<bool, CollectionError> {
        let sql = "UPDATE tokens SET revoked = $1 WHERE hash = $2 AND revoked IS NULL";
        let changed = self.pool.write(|connection| {
            connection.execute(sql, &[SqlValue::from(when), hash(secret)]).changing()
        })?;
        Ok(changed > 0)
    }
}
