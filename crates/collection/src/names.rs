//! Names under which media are kept. The register of names (`names.toml`) has each product with its
//! spellings and sources; anybody may add one, and a collection may have a file of its own beside
//! it. A medium that a sender calls otherwise has no name: its line has the kind, the capacity and
//! the maker's number, and no rank.

use std::sync::LazyLock;

use record::collection::Model;
use record::text::hex;
use record::{MediumKind, Published};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use unicode_security::skeleton;

/// Place of a run in a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Kind, vendor, model, and the capacity as labelled.
    pub model: Model,
    /// Capacity class in bytes: one disk is sold as 480, 500 and 512 GB, and readers cut off a
    /// little more.
    pub class_bytes: u64,
    /// Name for people: "Samsung EVO Plus 64 GB".
    pub name: String,
    /// Other names of the product in small letters, for a search.
    pub other_names: String,
    /// True if the register has it, or the publisher of the collection says so.
    pub is_listed: bool,
}

impl Entry {
    /// Kind, vendor, model and capacity class: runs with the same stand under one name.
    pub fn key(&self) -> (MediumKind, String, String, u64) {
        let Model { kind, vendor, model, .. } = &self.model;
        (*kind, vendor.clone(), model.clone(), self.class_bytes)
    }
}

/// The register of names.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Names {
    vendor: Vec<Vendor>,
    medium: Vec<Product>,
    /// Profiles of simulated media.
    profiles: Vec<String>,
}

#[derive(Deserialize)]
struct Vendor {
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
    /// All of its names as [`alike`] gives them.
    #[serde(skip)]
    folded: Vec<String>,
}

/// A product with all of its names.
#[derive(Deserialize)]
struct Product {
    kind: MediumKind,
    vendor: String,
    model: String,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    registers: Vec<Register>,
    #[serde(default)]
    usb: Vec<String>,
    #[serde(default)]
    disk_models: Vec<String>,
    #[serde(skip)]
    vendor_folded: String,
    /// All names of this product as [`alike`] gives them, without the vendor.
    #[serde(skip)]
    folded: Vec<String>,
}

/// Name of a product in the registers of a card.
#[derive(Deserialize)]
struct Register {
    name: String,
    /// True if several products share it.
    #[serde(default)]
    ambiguous: bool,
}

const BUILT_IN: &str = include_str!("../names.toml");
static NAMES: LazyLock<Names> =
    LazyLock::new(|| Names::with("").expect("the table is read in the tests"));

/// Beginning of the model name of a run without a name.
const UNNAMED: &str = "unnamed";

impl Names {
    /// The names of the program.
    pub fn built_in() -> &'static Names {
        &NAMES
    }

    /// The names of the program, and those in a text of the same form.
    ///
    /// # Errors
    /// The text is no table of names.
    pub fn with(own: &str) -> Result<Names, String> {
        let read = |text: &str| toml::from_str::<Names>(text).map_err(|error| error.to_string());
        let (mut names, own) = (read(BUILT_IN)?, read(own)?);
        names.vendor.extend(own.vendor);
        names.profiles.extend(own.profiles);
        for vendor in &mut names.vendor {
            let all = std::iter::once(&vendor.name).chain(&vendor.aliases);
            vendor.folded = all.map(|name| alike(name)).collect();
        }
        let mut medium = std::mem::take(&mut names.medium);
        medium.extend(own.medium);
        let registers = medium.iter().flat_map(|product| &product.registers);
        let shared: Vec<String> =
            registers.filter(|it| it.ambiguous).map(|it| it.name.clone()).collect();
        for product in &mut medium {
            product.registers.retain(|it| !shared.contains(&it.name));
            let vendor = alike(&product.vendor);
            product.folded = std::iter::once(&product.model)
                .chain(&product.aliases)
                .chain(product.registers.iter().map(|it| &it.name))
                .chain(&product.disk_models)
                .map(|name| names.parted(&vendor, &alike(name)).1)
                .collect();
            product.vendor_folded = names.parted(&vendor, "").0;
        }
        names.medium = medium;
        Ok(names)
    }

    /// Place of a run that a sender sent: by the register only. The names in it serve to find it
    /// there, and are not shown.
    pub fn of_sender(&self, run: &Published) -> Entry {
        let plain = Model::of(run);
        let is_profile = run.kind == MediumKind::Simulated && self.profiles.contains(&plain.model);
        if is_profile || self.product_of(run).is_some() {
            let is_listed = is_profile || is_sold(run.kind, class_of(run));
            return Entry { is_listed, ..self.of_publisher(run) };
        }
        let number = number_of(run);
        let called = alike(&format!("{} {}", plain.vendor, plain.model));
        let model = match is_nameless(run) {
            true => format!("{UNNAMED} {:08x}", mark_of(run)),
            false => format!("unlisted {}", hex(&Sha256::digest(called)[..4])),
        };
        let size = run.named(String::new(), String::new());
        let size = size.trim_start_matches(&format!("Unknown {}", run.kind.words()));
        let kind = record::text::capitalised(run.kind.words());
        let comma = if number.is_empty() { "" } else { ", " };
        Entry {
            class_bytes: class_of(run),
            name: format!("{kind}{size}{comma}{number}"),
            model: Model { vendor: number, model, ..plain },
            other_names: String::new(),
            is_listed: false,
        }
    }

    /// Place of a run whose names the publisher of the collection answers for: one's own, or
    /// published by others. Without a product in the register it has its own names, with look-alike
    /// letters made equal. A run without a name is a line of its own.
    pub fn of_publisher(&self, run: &Published) -> Entry {
        let plain = Model::of(run);
        let (mut name, mut other_names, class_bytes) = (run.name(), String::new(), class_of(run));
        let model = if is_nameless(run) {
            let model = format!("{UNNAMED} {:08x}", mark_of(run));
            Model { vendor: String::new(), model, ..plain }
        } else if let Some(product) = self.product_of(run) {
            name = run.named(product.vendor.clone(), product.model.clone());
            other_names = product.other_names();
            let (vendor, model) = (folded(&product.vendor), folded(&product.model));
            Model { vendor, model, ..plain }
        } else {
            Model { vendor: folded(&plain.vendor), model: folded(&plain.model), ..plain }
        };
        Entry { model, class_bytes, name, other_names, is_listed: true }
    }

    /// The product that a run names, or else the one with its USB id.
    fn product_of(&self, run: &Published) -> Option<&Product> {
        if is_nameless(run) || run.kind == MediumKind::Simulated {
            return None;
        }
        let (vendor, model) = run.spelled();
        // What a bus says in place of a maker.
        let vendor = Some(alike(&vendor)).filter(|it| !BUSES.iter().any(|bus| alike(bus) == *it));
        let vendor = vendor.unwrap_or_default();
        let (maker, text) = self.parted(&vendor, &alike(&without_capacity(&folded(&model))));
        let (_, whole) = self.parted(&vendor, &alike(&model));
        let fits = |product: &&Product| {
            product.kind == run.kind
                && (product.vendor_folded == maker || maker.is_empty())
                && product.folded.iter().any(|name| is_like(&text, name) || is_like(&whole, name))
        };
        let id = run.link.as_ref().and_then(|link| link.usb_id.as_ref());
        let has_id =
            |it: &&Product| it.kind == run.kind && id.is_some_and(|id| it.usb.contains(id));
        only(self.medium.iter().filter(fits)).or_else(|| only(self.medium.iter().filter(has_id)))
    }

    /// Vendor and model in folded form: the vendor by its usual name, the model without it.
    fn parted(&self, vendor: &str, model: &str) -> (String, String) {
        let known =
            |name: &str| self.vendor.iter().find(|it| it.folded.iter().any(|it| it == name));
        let begins = |maker: &&Vendor| vendor.is_empty() && begins_with(model, maker).is_some();
        match known(vendor).or_else(|| self.vendor.iter().find(begins)) {
            Some(maker) => {
                let rest = begins_with(model, maker).unwrap_or(model);
                (maker.folded[0].clone(), rest.to_owned())
            }
            None => {
                let rest = model.strip_prefix(&format!("{vendor} ")).unwrap_or(model);
                (vendor.to_owned(), rest.to_owned())
            }
        }
    }
}

impl Product {
    fn other_names(&self) -> String {
        let registers = self.registers.iter().map(|it| &it.name);
        let names = self.aliases.iter().chain(registers).chain(&self.usb).chain(&self.disk_models);
        names.map(|name| name.to_lowercase()).collect::<Vec<_>>().join(" ")
    }
}

/// Vendors that a bus reports for any medium.
const BUSES: [&str; 3] = ["ata", "usb", "generic"];

/// The maker's number: "0781:5567" on USB, "0x1b/534d" in the registers of a card. Empty if there
/// is none.
fn number_of(run: &Published) -> String {
    let is_hex = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let usb = run.link.as_ref().and_then(|link| link.usb_id.as_deref());
    let usb =
        usb.filter(|id| id.split_once(':').is_some_and(|(a, b)| is_hex(a, 4) && is_hex(b, 4)));
    let maker = run.manufacturer.as_deref().and_then(|text| text.get(..4));
    let maker = maker.filter(|text| text.strip_prefix("0x").is_some_and(|id| is_hex(id, 2)));
    match (usb, maker, &run.oem) {
        (Some(usb), ..) => usb.to_lowercase(),
        (None, Some(maker), Some(oem)) if oem.len() == 2 => {
            format!("{}/{}", maker.to_lowercase(), hex(oem.as_bytes()))
        }
        (None, Some(maker), _) => maker.to_lowercase(),
        (None, None, _) => String::new(),
    }
}

/// Capacity class of a run in bytes: the power of two that it is sold as or a little below or
/// above, else two digits.
fn class_of(run: &Published) -> u64 {
    let bytes = run.labelled_bytes().unwrap_or(0);
    let unit = if bytes < 900_000_000 { 1_000_000 } else { 1_000_000_000 };
    let near = |label: &u64| (label / 100 * 90..=label / 100 * 108).contains(&bytes);
    if let Some(power) = (0..24).map(|exponent| unit << exponent).find(near) {
        return power;
    }
    let digits = bytes.checked_ilog10().unwrap_or(0).saturating_sub(1);
    let step = 10_u64.pow(digits);
    (bytes.saturating_add(step / 2)) / step * step
}

/// True if media of this kind are sold in this class: nobody answers for 37 GB of a known card.
fn is_sold(kind: MediumKind, class_bytes: u64) -> bool {
    let is_power = |unit: u64| class_bytes == unit << (class_bytes / unit).max(1).ilog2();
    let is_drive = matches!(kind, MediumKind::Ssd | MediumKind::Nvme | MediumKind::Disk);
    let step = 10_u64.pow(class_bytes.checked_ilog10().unwrap_or(0).saturating_sub(1));
    let sizes = [20, 40, 10, 12, 14, 15, 16, 18, 22, 24, 30, 32, 36, 60, 72, 75, 80];
    let sizes = if is_drive { &sizes[..] } else { &sizes[..2] };
    let most = match kind {
        MediumKind::CompactFlash | MediumKind::Emmc => 1_024_000_000_000,
        MediumKind::Sd | MediumKind::Usb => 4_096_000_000_000,
        _ => 131_072_000_000_000,
    };
    let is_size =
        is_power(1_000_000_000) || is_power(1_000_000) || sizes.contains(&(class_bytes / step));
    is_size && class_bytes <= most
}

/// Why a person has to look at the name of a run's program: it is called like Flashmark.
pub(crate) fn caveat(run: &Published) -> Option<String> {
    let software = folded(&run.software.name);
    let letters: String = software.chars().filter(|c| c.is_alphanumeric()).collect();
    (letters.contains("flashmark") && !run.software.is_flashmark())
        .then(|| format!("its software is called {software}, and is not Flashmark"))
}

/// True if nothing identifies the medium: no name at all, or only that of a reader or of a virtual
/// disk.
fn is_nameless(run: &Published) -> bool {
    let has_label = run.label.as_deref().is_some_and(|label| !label.trim().is_empty());
    let (vendor, model) = run.spelled();
    let pretended = matches!(run.kind, MediumKind::Virtual | MediumKind::Loop)
        || run.behind_reader == Some(true);
    (vendor.is_empty() && model.is_empty()) || (pretended && !has_label)
}

/// A 32-bit hash (FNV-1a) that two measurements are unlikely to share.
fn mark_of(run: &Published) -> u32 {
    let text = format!("{} {} {:?}", run.seed, run.elapsed_ns, run.started);
    text.bytes()
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619))
}

/// The only item; `None` if there are none or several, as an ambiguous name or id identifies
/// nothing.
fn only<'a>(mut found: impl Iterator<Item = &'a Product>) -> Option<&'a Product> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The rest of a model name after that of its vendor; `None` if it does not begin with one.
fn begins_with<'a>(model: &'a str, maker: &Vendor) -> Option<&'a str> {
    maker.folded.iter().find_map(|known| {
        let rest = model.strip_prefix(known.as_str())?.strip_prefix(' ')?;
        (!rest.is_empty()).then_some(rest)
    })
}

/// The name without words for capacity or form factor: "evo plus" of "evo plus 64gb microsdxc u3".
fn without_capacity(model: &str) -> String {
    let is_size = |word: &str| {
        let digits = word.trim_end_matches("gb").trim_end_matches("tb").trim_end_matches("mb");
        digits != word && (digits.is_empty() || digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let forms =
        ["microsd", "microsdhc", "microsdxc", "sd", "sdhc", "sdxc", "card", "uhs-i", "a1", "a2"];
    let words: Vec<&str> = model.split(' ').collect();
    let kept: Vec<&str> = words
        .iter()
        .enumerate()
        .filter(|(at, word)| {
            let next = words.get(at + 1).copied().unwrap_or_default();
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            !(is_size(word) || forms.contains(word) || is_number && is_size(next))
        })
        .map(|(_, word)| *word)
        .collect();
    if kept.is_empty() { model.to_owned() } else { kept.join(" ") }
}

/// True if a text matches a name in which `*` stands for any letters and digits.
fn is_like(text: &str, name: &str) -> bool {
    let Some((start, rest)) = name.split_once('*') else { return text == name };
    let Some(tail) = text.strip_prefix(start) else { return false };
    (0..=tail.len())
        .filter(|at| tail.is_char_boundary(*at))
        .take_while(|at| tail[..*at].chars().all(char::is_alphanumeric))
        .any(|at| is_like(&tail[at..], rest))
}

/// Folded form of a text: lower case, single spaces, "+" as a word, and look-alike letters of other
/// alphabets as Latin ones (Unicode TR 39).
fn folded(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '_' => plain.push(' '),
            '+' => plain.push_str(" plus "),
            c if c.is_ascii() => plain.push(c),
            c => {
                let like: String = skeleton(c.encode_utf8(&mut [0; 4])).collect();
                if like.is_ascii() { plain.push_str(&like) } else { plain.push(c) }
            }
        }
    }
    plain.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Form in which texts are equal that look alike: digits for letters, "rn" for "m".
fn alike(text: &str) -> String {
    let like = |c: char| match c {
        '0' => 'o',
        '1' | 'i' | '|' | '!' => 'l',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '8' => 'b',
        other => other,
    };
    let text: String = folded(text).chars().map(like).collect();
    text.replace("rn", "m").replace("vv", "w")
}

#[cfg(test)]
mod tests;
