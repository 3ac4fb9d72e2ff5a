//! The line to which a run belongs: found, or added with a free address.

use record::collection::{Model, Origin};
use record::text::hex;
use sha2::Digest as _;

use super::Writer;
use crate::collection::connection::SqlValue;
use crate::collection::error::ErrorContext;
use crate::collection::submission::PreparedSubmission;
use crate::collection::{CollectionError, facts, lines};

/// Key of the line to which a run belongs.
pub(super) type LineKey = (Model, Origin, bool);

impl Writer<'_> {
    /// Line to which a run belongs: its number and its name in addresses.
    pub(super) fn line(
        &mut self,
        one: &PreparedSubmission,
    ) -> Result<(u64, String), CollectionError> {
        let key = (one.document.model.clone(), one.document.origin, one.document.headline.is_fake);
        if let Some(known) = self.known_lines.get(&key) {
            return Ok(known.clone());
        }
        let found = match self.find_line(&key)? {
            Some(found) => found,
            None => self.add_line(&key, &collection::name_of(&one.document.run))?,
        };
        self.known_lines.insert(key, found.clone());
        Ok(found)
    }

    fn find_line(&mut self, key: &LineKey) -> Result<Option<(u64, String)>, CollectionError> {
        let sql = "SELECT number, slug FROM lines \
                   WHERE kind = $1 AND vendor = $2 AND model = $3 AND capacity_gb = $4 AND origin = $5 AND is_fake = $6";
        let found =
            self.connection.query(sql, &lines::key_values(key)).reading()?.into_iter().next();
        found.map(|mut row| Ok((row.number()?, row.text()?))).transpose()
    }

    fn add_line(&mut self, key: &LineKey, name: &str) -> Result<(u64, String), CollectionError> {
        let slug = self.free_slug(key, name)?;
        let number = self.next_line;
        self.next_line += 1;
        let sql = "INSERT INTO lines (number, slug, kind, vendor, model, capacity_gb, origin, is_fake, name, name_folded, classes, runs, \
                   fakes, latest) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', 0, 0, '')";
        let mut values = vec![SqlValue::from(number), SqlValue::from(slug.as_str())];
        values.extend(lines::key_values(key));
        values.extend([SqlValue::from(name), SqlValue::from(name.to_lowercase().as_str())]);
        self.connection.execute(sql, &values).changing()?;
        let details = "INSERT INTO line_details (line, figures) VALUES ($1, '{}')";
        self.connection.execute(details, &[SqlValue::from(number)]).changing()?;
        Ok((number, slug))
    }

    /// Makes a free name for an address: "sandisk-sd32g-32-gb". Other origins than measurements,
    /// and fakes, get a suffix; a name that only ends so, or is taken, gets a hash of the model.
    fn free_slug(
        &mut self,
        (model, origin, is_fake): &LineKey,
        name: &str,
    ) -> Result<String, CollectionError> {
        let name = facts::slug(name);
        let suffix = if *origin == Origin::Measured { "" } else { origin.name() };
        let fake = if *is_fake { "fake" } else { "" };
        let plain = facts::slug(&format!("{name} {suffix} {fake}"));
        let of_others = Origin::ALL.map(Origin::name).into_iter().chain(["fake"]);
        let is_called_so =
            name.rsplit('-').next().is_some_and(|last| of_others.clone().any(|it| it == last));
        // Somebody may have taken the name of any hash before.
        for attempt in 0.. {
            let slug = if attempt == 0 && !is_called_so {
                plain.clone()
            } else {
                // The first hash is that of earlier versions: addresses must not change.
                let text = match attempt {
                    0 | 1 => format!("{model:?}"),
                    _ => format!("{attempt} {model:?} {origin:?} {is_fake}"),
                };
                let hash = hex(&sha2::Sha256::digest(text.as_bytes()));
                format!("{plain}-{}", &hash[..8])
            };
            let sql = "SELECT number FROM lines WHERE slug = $1";
            if self.connection.query(sql, &[SqlValue::from(slug.as_str())]).reading()?.is_empty() {
                return Ok(slug);
            }
        }
        Err(CollectionError::damaged(format!("no address is left for {model:?}")))
    }
}
