//! Columns that are filled from a run: facts of the medium for its line, facts of the host for its
//! effects on the figures.

use record::Published;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use record::text::{hex, one_line};

/// Facts of a host by which figures are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Facet {
    /// Version of the kernel, its first two numbers: "6.12".
    Kernel,
    /// Architecture of the processor.
    Arch,
    /// Board or product name of the host: "Raspberry Pi 4 Model B Rev 1.4".
    Board,
    /// The reader or bridge by its USB name, else the driver.
    Reader,
    /// Interface of the medium: "usb 2.0".
    Interface,
}

impl Facet {
    /// All facets, in the order in which effects are listed.
    pub const ALL: [Facet; 5] =
        [Facet::Kernel, Facet::Arch, Facet::Board, Facet::Reader, Facet::Interface];

    /// Name in JSON and of the column in the table `runs`.
    pub const fn name(self) -> &'static str {
        match self {
            Facet::Kernel => "kernel",
            Facet::Arch => "arch",
            Facet::Board => "board",
            Facet::Reader => "reader",
            Facet::Interface => "interface",
        }
    }

    /// Value of the fact in a run; `None` where it is unknown.
    pub(super) fn of(self, run: &Published) -> Option<String> {
        let link = run.link.clone().unwrap_or_default();
        let value = match self {
            Facet::Kernel => run.kernel.as_deref().map(first_two_numbers),
            Facet::Arch => run.arch.clone(),
            Facet::Board => run.board.clone(),
            Facet::Reader => link.usb_name.or(link.driver),
            Facet::Interface => run.interface_words(),
        };
        value.map(|text| one_line(&text, 80)).filter(|text| !text.is_empty())
    }
}

/// First two numbers of a kernel's version: "6.12" of "6.12.3-rpi-v8".
fn first_two_numbers(version: &str) -> String {
    version.split(['.', '-', '+']).take(2).collect::<Vec<_>>().join(".")
}

/// Key of a run's host, the same for all its runs: the published key, else a hash of architecture,
/// board and processors. Two boards of one make then count as one host, and so do two kernels on
/// one board. `None` where none of these is known.
pub(super) fn host_key(run: &Published) -> Option<String> {
    if run.host_key.is_some() {
        return run.host_key.clone();
    }
    let facts = (&run.arch, &run.board, &run.cpu, &run.cpus);
    if matches!(facts, (None, None, None, None)) {
        return None;
    }
    let text = format!("{facts:?}");
    Some(hex(&Sha256::digest(text.as_bytes())[..8]))
}

/// Speed classes for the filter: " c10 u1 a1 ", so that " a1 " finds a whole word.
pub(super) fn classes(run: &Published) -> String {
    let words = run.class_words();
    if words.is_empty() { String::new() } else { format!(" {} ", words.join(" ").to_lowercase()) }
}

/// Makes a name for an address: small letters, digits, single hyphens.
pub(super) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    let slug: String = slug.chars().take(72).collect();
    let slug = slug.trim_matches('-').to_owned();
    if slug.is_empty() { "medium".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_an_address() {
        for (name, expected) in [
            ("SanDisk SD32G 32 GB", "sandisk-sd32g-32-gb"),
            ("  --..  ", "medium"),
            ("Größe ' OR 1=1 --", "gr-e-or-1-1"),
            ("../../etc", "etc"),
            ("日本", "medium"),
        ] {
            assert_eq!(slug(name), expected);
        }
    }

    #[test]
    fn kernels_are_distinguished_by_two_numbers() {
        assert_eq!(
            [
                first_two_numbers("6.12.3-rpi-v8"),
                first_two_numbers("5.10-rc3"),
                first_two_numbers("7")
            ],
            ["6.12", "5.10", "7"]
        );
    }
}
