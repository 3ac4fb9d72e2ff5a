//! Names under which media are kept: look-alike letters are equal, vendors and products have one
//! spelling, and media without a name are never grouped.
//!
//! `names.toml` lists names with their sources; anybody may add one.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use record::collection::Model;
use record::{MediumKind, Published};
use serde::Deserialize;
use unicode_security::skeleton;

/// The table in its file.
#[derive(Deserialize)]
struct Table {
    vendor: Vec<Vendor>,
    medium: Vec<Product>,
}

#[derive(Deserialize)]
struct Vendor {
    name: String,
    aliases: Vec<String>,
    /// All of its names in folded form, the usual one first.
    #[serde(skip)]
    folded: Vec<String>,
}

/// A product with all of its names.
#[derive(Deserialize)]
struct Product {
    kind: MediumKind,
    vendor: String,
    model: String,
    aliases: Vec<String>,
    #[serde(default)]
    registers: Vec<Register>,
    #[serde(default)]
    usb: Vec<String>,
    #[serde(default)]
    disk_models: Vec<String>,
    #[serde(skip)]
    vendor_folded: String,
    /// All names of this product in folded form, without the vendor.
    #[serde(skip)]
    folded: Vec<String>,
}

/// Name of a product in the registers of a card.
#[derive(Clone, Deserialize)]
struct Register {
    name: String,
    /// True if several products share it.
    #[serde(default)]
    ambiguous: bool,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table: Table =
        toml::from_str(include_str!("../names.toml")).expect("the table is read in the tests");
    for vendor in &mut table.vendor {
        vendor.folded =
            std::iter::once(&vendor.name).chain(&vendor.aliases).map(|name| folded(name)).collect();
    }
    let registers = || table.medium.iter().flat_map(|product| &product.registers);
    let shared: BTreeSet<String> =
        registers().filter(|it| it.ambiguous).map(|it| it.name.clone()).collect();
    for product in &mut table.medium {
        product.registers.retain(|it| !shared.contains(&it.name));
        let vendor = folded(&product.vendor);
        product.folded = std::iter::once(&product.model)
            .chain(&product.aliases)
            .chain(product.registers.iter().map(|it| &it.name))
            .chain(&product.disk_models)
            .map(|name| parted(&table.vendor, &vendor, &folded(name)).1)
            .collect();
        product.vendor_folded = vendor;
    }
    table
});

/// Beginning of the model name of a run without a name.
const UNNAMED: &str = "unnamed";

/// The model under which a run is kept: its product if the table knows it, else the names in the
/// run with look-alike letters made equal. A run without a name gets a model of its own.
pub fn model_of(run: &Published) -> Model {
    let plain = Model::of(run);
    if is_nameless(run) {
        let model = format!("{UNNAMED} {:08x}", mark_of(run));
        return Model { vendor: String::new(), model, ..plain };
    }
    if run.kind == MediumKind::Simulated {
        return plain;
    }
    if let Some(product) = product_of(run) {
        let vendor = product.vendor_folded.clone();
        return Model { vendor, model: folded(&product.model), ..plain };
    }
    let (vendor, model) = parted(&TABLE.vendor, &folded(&plain.vendor), &folded(&plain.model));
    Model { vendor, model, ..plain }
}

/// Usual name of the medium: "Samsung EVO Plus 64 GB".
pub fn name_of(run: &Published) -> String {
    match product_of(run).filter(|_| !is_nameless(run) && run.kind != MediumKind::Simulated) {
        Some(product) => run.named(product.vendor.clone(), product.model.clone()),
        None => run.name(),
    }
}

/// Other names of a model's product in lower case, for a search; empty if there are none.
pub fn other_names_of(kind: MediumKind, vendor: &str, model: &str) -> String {
    let is_it = |product: &&Product| {
        product.kind == kind && product.vendor_folded == vendor && folded(&product.model) == model
    };
    let Some(product) = TABLE.medium.iter().find(is_it) else { return String::new() };
    let names: Vec<String> = product
        .aliases
        .iter()
        .chain(product.registers.iter().map(|it| &it.name))
        .chain(&product.usb)
        .chain(&product.disk_models)
        .map(|name| name.to_lowercase())
        .collect();
    names.join(" ")
}

/// Names that a person has to review: praise, two vendors, or a program name similar to Flashmark.
pub(crate) fn caveats(run: &Published) -> Vec<String> {
    let (vendor, model) = run.spelled();
    let (vendor, model) = (folded(&vendor), folded(&model));
    let praise = ["verified", "official", "genuine", "authentic", "certified", "flashmark"];
    let has_praise = praise.iter().find(|word| {
        [&vendor, &model].iter().any(|text| text.split_whitespace().any(|it| it.contains(*word)))
    });
    let praised = has_praise.map(|word| format!("its name has the word '{word}' in it"));
    let maker = known_vendor(&TABLE.vendor, &vendor);
    let other = TABLE.vendor.iter().find(|other| {
        maker.is_some_and(|maker| maker.name != other.name) && begins_with(&model, other).is_some()
    });
    let two = other
        .map(|other| format!("its vendor is {vendor}, and its model begins with {}", other.name));
    let software = folded(&run.software.name);
    let letters: String = software.chars().filter(|c| c.is_alphanumeric()).collect();
    let is_like_ours = letters.contains("flashmark") && !run.software.is_flashmark();
    let imitated =
        is_like_ours.then(|| format!("its software is called {software}, and is not Flashmark"));
    [praised, two, imitated].into_iter().flatten().collect()
}

/// True if nothing identifies the medium: no name at all, or only that of a reader or of a virtual
/// disk.
fn is_nameless(run: &Published) -> bool {
    let has_label = run.label.as_deref().is_some_and(|label| !label.trim().is_empty());
    let (vendor, model) = run.spelled();
    let pretended = matches!(run.kind, MediumKind::Virtual | MediumKind::Loop)
        || run.behind_reader == Some(true);
    let is_called_so = vendor.is_empty() && folded(&model).starts_with(UNNAMED);
    (vendor.is_empty() && model.is_empty()) || (pretended && !has_label) || is_called_so
}

/// A 32-bit hash (FNV-1a) that two measurements are unlikely to share.
fn mark_of(run: &Published) -> u32 {
    let text = format!("{} {} {:?}", run.seed, run.elapsed_ns, run.started);
    text.bytes()
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619))
}

/// The product that a run names.
fn product_of(run: &Published) -> Option<&'static Product> {
    let (vendor, model) = run.spelled();
    let (vendor, model) = parted(&TABLE.vendor, &folded(&vendor), &folded(&model));
    let text = without_capacity(&model);
    let fits = |product: &&Product| {
        product.kind == run.kind
            && (product.vendor_folded == vendor || vendor.is_empty())
            && product.folded.iter().any(|name| is_like(&text, name) || is_like(&model, name))
    };
    only(TABLE.medium.iter().filter(fits)).or_else(|| of_usb_id(run))
}

/// The product with this USB id, if it is unique: used if the name of the run is unknown.
fn of_usb_id(run: &Published) -> Option<&'static Product> {
    let id = run.link.as_ref()?.usb_id.as_deref().filter(|_| run.kind == MediumKind::Usb)?;
    let has = |product: &&Product| {
        product.kind == MediumKind::Usb && product.usb.iter().any(|known| known == id)
    };
    only(TABLE.medium.iter().filter(has))
}

/// The only item; `None` if there are none or several, as an ambiguous name or id identifies
/// nothing.
fn only(mut found: impl Iterator<Item = &'static Product>) -> Option<&'static Product> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Vendor and model in folded form: the vendor by its usual name, the model without it.
fn parted(makers: &[Vendor], vendor: &str, model: &str) -> (String, String) {
    let maker = known_vendor(makers, vendor).or_else(|| {
        makers.iter().find(|maker| vendor.is_empty() && begins_with(model, maker).is_some())
    });
    match maker {
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

fn known_vendor<'a>(makers: &'a [Vendor], name: &str) -> Option<&'a Vendor> {
    makers.iter().find(|maker| maker.folded.iter().any(|known| known == name))
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

#[cfg(test)]
mod tests;
