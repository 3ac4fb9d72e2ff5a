//! What is drawn out of a run into columns: of the medium for its line, of the host for what a host
//! does to the figures.

use record::Published;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::document::hex;

/// What a host is told apart by, when figures are held against each other.
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
    /// How it is attached: "usb 2.0".
    Interface,
}

impl Facet {
    /// All facets, in the order in which effects are listed.
    pub const ALL: [Facet; 5] =
        [Facet::Kernel, Facet::Arch, Facet::Board, Facet::Reader, Facet::Interface];

    /// Its name in JSON and its column in the table `runs`.
    pub const fn name(self) -> &'static str {
        match self {
            Facet::Kernel => "kernel",
            Facet::Arch => "arch",
            Facet::Board => "board",
            Facet::Reader => "reader",
            Facet::Interface => "interface",
        }
    }

    /// What a run says of it.
    pub(super) fn of(self, run: &Published) -> Option<String> {
        let link = run.link.clone().unwrap_or_default();
        let told = match self {
            Facet::Kernel => run.kernel.as_deref().map(first_two_numbers),
            Facet::Arch => run.arch.clone(),
            Facet::Board => run.board.clone(),
            Facet::Reader => link.usb_name.or(link.driver),
            Facet::Interface => run.interface_words(),
        };
        told.map(|text| tidy(&text)).filter(|text| !text.is_empty())
    }
}

/// The first two numbers of a kernel's version: "6.12" of "6.12.3-rpi-v8".
fn first_two_numbers(version: &str) -> String {
    version.split(['.', '-', '+']).take(2).collect::<Vec<_>>().join(".")
}

/// One line of at most 80 characters: it becomes a name in a table.
fn tidy(text: &str) -> String {
    let printable: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    printable.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect()
}

/// What is the same for all runs of one host, as far as anything of it is published: its key, else a
/// hash of architecture, board and processors. Two boards of one make are then one host to us; two
/// kernels on one board are too. `None` where none of these is known.
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

/// Classes for the filter: " c10 u1 a1 ", so that " a1 " finds a whole one.
pub(super) fn classes(run: &Published) -> String {
    let words = run.class_words();
    if words.is_empty() { String::new() } else { format!(" {} ", words.join(" ").to_lowercase()) }
}

/// A name for an address: small letters, digits, single hyphens.
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
    fn kernels_are_told_apart_by_two_numbers() {
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
