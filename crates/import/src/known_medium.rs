//! What a person knows of the medium, and the text does not say.

use record::{MediumKind, Record};

/// Facts about a medium that were told beside the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownMedium {
    /// What the run is called.
    pub label: Option<String>,
    /// Who made the medium.
    pub vendor: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Its size.
    pub capacity_bytes: Option<u64>,
    /// What kind of medium it is.
    pub kind: Option<MediumKind>,
}

impl KnownMedium {
    /// What a record says of its medium: told at an earlier import, it still holds.
    #[must_use]
    pub fn of(record: &Record) -> KnownMedium {
        let medium = &record.medium;
        KnownMedium {
            label: record.run.label.clone(),
            vendor: medium.vendor.clone(),
            model: medium.model.clone(),
            capacity_bytes: medium.capacity_bytes,
            kind: Some(medium.kind).filter(|kind| *kind != MediumKind::Unknown),
        }
    }

    /// Puts what is known in the place of what the text says.
    pub fn tell(&self, record: &mut Record) {
        let medium = &mut record.medium;
        medium.kind = self.kind.unwrap_or(medium.kind);
        medium.capacity_bytes = self.capacity_bytes.or(medium.capacity_bytes);
        let given =
            |text: &Option<String>, own: &mut Option<String>| *own = text.clone().or(own.take());
        given(&self.vendor, &mut medium.vendor);
        given(&self.model, &mut medium.model);
        given(&self.label, &mut record.run.label);
    }
}
