//! Facts about a medium that the user knows and the text does not have.

use record::{MediumKind, Record};

/// Facts about a medium that the user states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownMedium {
    /// Label of the run.
    pub label: Option<String>,
    /// Maker of the medium.
    pub vendor: Option<String>,
    /// Model of the medium.
    pub model: Option<String>,
    /// Capacity of the medium, in bytes.
    pub capacity_bytes: Option<u64>,
    /// Kind of the medium.
    pub kind: Option<MediumKind>,
}

impl KnownMedium {
    /// Facts in a record that was imported earlier, which still hold.
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

    /// Replaces the facts of a record by those that are known here.
    pub fn apply_to(&self, record: &mut Record) {
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
