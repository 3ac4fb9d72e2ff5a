//! The built-in reference data as a repository of records: `reference/` of this project.

use anyhow::{Context, Result, ensure};

use super::{RECORDS, SETTINGS, Settings, packed};

/// Account under which its records are kept.
const ACCOUNT: &str = "flashmark";

/// Files of the repository by their paths in it, sorted: the settings, and a record of each medium
/// of a publication.
///
/// # Errors
/// An entry is larger than a record may be.
pub fn files() -> Result<Vec<(String, Vec<u8>)>> {
    let settings = Settings {
        reference: vec![ACCOUNT.to_owned()],
        ..Settings::new("Published measurements of flash", None)
    };
    let settings = serde_json::to_string_pretty(&settings)? + "\n";
    let mut files = vec![(SETTINGS.to_owned(), settings.into_bytes())];
    for entry in import::reference::entries() {
        let record = packed(&entry.run).with_context(|| entry.id.clone())?;
        ensure!(record.left_out.is_empty() && record.run == entry.run, "{} is too large", entry.id);
        let id = collection::content_name(&record.run);
        files.push((format!("{RECORDS}/{ACCOUNT}/{id}.json.gz"), record.bytes));
    }
    files.sort();
    Ok(files)
}
