//! Mutants that are known to survive, each with the reason: most do the same as the source.

use std::sync::LazyLock;

use serde::Deserialize;

use super::places::Mutant;

/// A mutant that is known to survive, and why.
#[derive(Deserialize)]
pub struct Known {
    /// The end of the file's path.
    file: String,
    /// The line as it stands in the source, without the space around it.
    line: String,
    /// What becomes of what, as the table shows it; any change of the line without it.
    change: Option<String>,
    /// Why nothing can notice it, or why nothing has to.
    pub why: String,
    /// Whether it does the same as the source, whatever it is given: no test could notice it, and it
    /// does not count.
    #[serde(default)]
    pub same: bool,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    known: Vec<Known>,
}

static LIST: LazyLock<List> = LazyLock::new(|| {
    toml::from_str(include_str!("known.toml")).expect("the list is read by a test")
});

/// What is known of a mutant that survives.
pub fn known(mutant: &Mutant) -> Option<&'static Known> {
    let fits = |known: &&Known| {
        mutant.path.ends_with(&known.file)
            && mutant.shown == known.line
            && known.change.as_ref().is_none_or(|change| *change == mutant.change())
    };
    LIST.known.iter().find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that was changed since may well be noticed now.
    #[test]
    fn every_line_of_the_list_stands_in_its_file() {
        let files = crate::tidy::listed(crate::root()).unwrap();
        for known in &LIST.known {
            let stands = files.iter().filter(|path| path.ends_with(&known.file)).any(|path| {
                let text = std::fs::read_to_string(crate::root().join(path)).unwrap();
                text.lines().any(|line| line.trim() == known.line)
            });
            assert!(stands, "{}: {}", known.file, known.line);
        }
    }
}
