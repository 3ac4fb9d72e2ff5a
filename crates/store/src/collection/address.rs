//! Address of a collection.

use std::fmt;
use std::path::PathBuf;

use super::CollectionError;

/// Address of a collection.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// A file of SQLite; it is created if it does not exist.
    Sqlite(PathBuf),
    /// SQLite in memory: it ends with its last handle.
    Memory,
    /// A database of PostgreSQL, as `postgres://user@host/name` or
    /// `postgres:///name?host=/run/postgresql`. It may hold a password.
    Postgres(String),
}

impl Address {
    /// Reads `sqlite:FILE`, `sqlite::memory:`, `postgres://..` and `postgresql://..`.
    ///
    /// # Errors
    /// If it is none of these; the error lists them.
    pub fn parse(text: &str) -> Result<Address, CollectionError> {
        match text.split_once(':') {
            Some(("sqlite", ":memory:")) => Ok(Address::Memory),
            Some(("sqlite", path)) if !path.is_empty() => Ok(Address::Sqlite(PathBuf::from(path))),
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                Ok(Address::Postgres(text.to_owned()))
            }
            _ => Err(CollectionError::Address { given: without_password(text) }),
        }
    }
}

impl std::str::FromStr for Address {
    type Err = CollectionError;
    fn from_str(text: &str) -> Result<Address, CollectionError> {
        Address::parse(text)
    }
}

impl fmt::Display for Address {
    /// Writes the address as it is typed, but without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Address::Memory => write!(f, "sqlite::memory:"),
            Address::Postgres(url) => write!(f, "{}", without_password(url)),
        }
    }
}

impl fmt::Debug for Address {
    /// Writes it as [`fmt::Display`] does, without a password: addresses end up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Removes the text between the colon and the at sign, and a `password=` of the query.
fn without_password(url: &str) -> String {
    let (url, query) = url.split_once('?').map_or((url, None), |(url, query)| (url, Some(query)));
    let shown = match url
        .split_once("//")
        .and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?)))
    {
        Some((scheme, (user, host))) => {
            format!("{scheme}//{}@{host}", user.split(':').next().unwrap_or_default())
        }
        None => url.to_owned(),
    };
    let kept: Vec<&str> = query
        .into_iter()
        .flat_map(|query| query.split('&'))
        .filter(|pair| !pair.starts_with("password="))
        .collect();
    if kept.is_empty() { shown } else { format!("{shown}?{}", kept.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_passwords() {
        let shown = |text: &str| {
            Address::parse(text)
                .map(|address| address.to_string())
                .map_err(|error| error.to_string())
        };
        let addresses =
            ["sqlite:cards.db", "sqlite::memory:", "postgresql:///cards?host=/run/postgresql"];
        assert_eq!(addresses.map(shown), addresses.map(|text| Ok(text.to_owned())));
        let secret = shown("postgres://me:secret@db.example/cards?password=also&sslmode=disable");
        assert_eq!(secret.as_deref(), Ok("postgres://me@db.example/cards?sslmode=disable"));
        for bad in ["cards.db", "mysql://me@host/x", "sqlite:", "postgres:cards"] {
            assert_eq!(
                shown(bad),
                Err(format!(
                    "'{bad}' is no database; write sqlite:FILE or postgres://USER@HOST/NAME"
                ))
            );
        }
        assert!(shown("mysql://me:secret@host/x").is_err_and(|error| !error.contains("secret")));
    }
}
