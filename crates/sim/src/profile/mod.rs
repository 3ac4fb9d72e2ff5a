//! Profiles: descriptions of simulated media, as text that people can read, copy and change.

mod builtin;
mod check;
mod error;
pub mod spec;
pub mod units;

pub use error::ProfileError;
use spec::Spec;

/// The description of a simulated medium.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    name: String,
    spec: Spec,
}

impl Profile {
    /// Reads a profile from the text of its file. `name` is the file's name in errors; its last
    /// part without `.toml` becomes the profile's name.
    ///
    /// # Errors
    /// Unknown and missing keys, values that are impossible and sizes that do not divide, with
    /// file, line and key.
    pub fn parse(name: &str, text: &str) -> Result<Profile, ProfileError> {
        let spec: Spec =
            toml::from_str(text).map_err(|error| ProfileError::reading(name, text, &error))?;
        check::check(&spec).map_err(|(path, problem)| {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            ProfileError::at(name, text, &path, problem)
        })?;
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        Ok(Profile { name: file.strip_suffix(".toml").unwrap_or(file).to_owned(), spec })
    }

    /// Name of its file without folder and `.toml`: "class10".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Description in one line.
    pub fn about(&self) -> &str {
        &self.spec.about
    }

    /// Other names of the profile: its number in docs/field/ftl.md#profiles.
    pub fn aliases(&self) -> &[String] {
        &self.spec.aliases
    }

    /// Source of its numbers.
    pub fn source(&self) -> &str {
        &self.spec.source
    }

    /// The numbers that are guesses.
    pub fn guesses(&self) -> &str {
        &self.spec.guesses
    }

    /// Announced size in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.spec.medium.capacity.0
    }

    /// Size of the allocation unit in bytes, if the medium has one.
    pub fn au_bytes(&self) -> Option<u64> {
        self.spec.log_block.as_ref().map(|ftl| ftl.au.0)
    }

    /// All tables and keys of the profile.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }
}
