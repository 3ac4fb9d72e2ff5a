//! Names of media and models, from what a medium, a reader or a person says of itself: one line of
//! printable text each.

use super::{Model, Origin};
use crate::{MediumKind, Published, TargetKind};

/// Longest name of a vendor or a model that is kept, in characters.
const LONGEST: usize = 80;
/// Bytes of a GB.
const GB: u64 = 1_000_000_000;

impl Model {
    /// Model of a run.
    ///
    /// A card behind a reader that hides its registers has the reader's name; the label of the run
    /// is better, if it has one. Below 1 GB the megabytes are part of the model, because whole GB
    /// do not distinguish such media.
    pub fn of(run: &Published) -> Model {
        let (vendor, model) = run.spelled();
        let mut model = folded(&model);
        if let Some(mb) =
            run.labelled_bytes().filter(|bytes| *bytes < GB).map(|bytes| bytes / 1_000_000)
        {
            model = format!("{model} {mb} mb").trim().to_owned();
        }
        Model {
            kind: run.kind,
            vendor: folded(&vendor),
            model,
            capacity_gb: run.labelled_bytes().map_or(0, |bytes| bytes.saturating_add(GB / 2) / GB),
        }
    }
}

impl Origin {
    /// Origin of a run of one's own machine.
    pub fn of(run: &Published) -> Origin {
        let is_simulated = run.kind == MediumKind::Simulated
            || run.target == TargetKind::Simulated
            || run.profile.is_some();
        match run.software.is_flashmark() {
            _ if is_simulated => Origin::Simulated,
            true => Origin::Measured,
            false => Origin::Imported,
        }
    }
}

impl Published {
    /// Name of the medium for people: "SanDisk SD32G 32 GB", as the run spells it. Never empty.
    pub fn name(&self) -> String {
        let (vendor, model) = self.spelled();
        self.named(vendor, model)
    }

    /// Name with this vendor and model: "SanDisk SD32G 32 GB".
    pub fn named(&self, vendor: String, model: String) -> String {
        let mut words = vec![if model.is_empty() && vendor.is_empty() {
            format!("Unknown {}", self.kind.words())
        } else {
            vendor.clone()
        }];
        // Many models already begin with their maker.
        if !vendor.is_empty() && folded(&model).starts_with(&folded(&vendor)) {
            words.clear();
        }
        words.push(model);
        words.push(self.labelled_bytes().map(capacity_words).unwrap_or_default());
        let name = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        // A label often has the capacity as well.
        let capacity = self.labelled_bytes().map(capacity_words).unwrap_or_default();
        let squeezed = |text: &str| folded(text).replace(' ', "");
        match name.strip_suffix(&capacity).map(str::trim_end) {
            Some(rest) if !capacity.is_empty() && squeezed(rest).contains(&squeezed(&capacity)) => {
                rest.to_owned()
            }
            _ => name,
        }
    }

    /// Capacity as its maker would print it: as the box claims it, or derived from the real size.
    pub fn labelled_bytes(&self) -> Option<u64> {
        let claimed = self
            .claims
            .as_ref()
            .and_then(|claims| claims.capacity_bytes)
            .filter(|bytes| *bytes > 0);
        claimed.or_else(|| {
            self.capacity_bytes.filter(|bytes| *bytes > 0).map(|bytes| labelled(bytes, self.kind))
        })
    }

    /// Interface in a few words of small letters: "usb 2.0", "sd uhs-i", "sata". `None` if nothing
    /// is known.
    pub fn interface_words(&self) -> Option<String> {
        let interface = line(self.interface.as_deref().unwrap_or_default()).to_lowercase();
        let mode = self
            .link
            .as_ref()
            .and_then(|link| link.mode.as_deref())
            .map(|mode| line(mode).to_lowercase())
            .unwrap_or_default();
        let words = match (interface.as_str(), mode.as_str()) {
            ("usb", "1.5 mbit/s" | "12 mbit/s") => "usb 1.1",
            ("usb", "480 mbit/s") => "usb 2.0",
            ("usb", "5000 mbit/s") => "usb 3.0",
            ("usb", "10000 mbit/s") => "usb 3.1",
            ("usb", "20000 mbit/s") => "usb 3.2",
            ("mmc", mode) if mode.starts_with("sd uhs") => "sd uhs-i",
            ("mmc", mode) if mode.starts_with("sd high") => "sd high speed",
            ("mmc", mode) if mode.starts_with("mmc") => mode.split(',').next().unwrap_or("mmc"),
            ("mmc", _) if self.kind == MediumKind::Sd => "sd",
            ("ata", mode) if mode.starts_with("sata") => "sata",
            ("nvme", mode) if mode.starts_with("pcie") => "nvme",
            (interface, _) => interface,
        };
        (!words.is_empty()).then(|| words.to_owned())
    }

    /// The classes that its box or its registers claim: "C10", "U1", "V30", "A1", in this order.
    pub fn class_words(&self) -> Vec<String> {
        let (claims, classes) =
            (self.claims.clone().unwrap_or_default(), self.classes.clone().unwrap_or_default());
        let claimed = [
            ("C", claims.speed_class.or(classes.speed_class)),
            ("U", claims.uhs_grade.or(classes.uhs_grade)),
            ("V", claims.video_class.or(classes.video_class)),
            ("A", claims.app_class.or(classes.app_class)),
        ];
        claimed
            .into_iter()
            .filter_map(|(letter, class)| {
                Some(format!("{letter}{}", class.filter(|class| (1..1000).contains(class))?))
            })
            .collect()
    }

    /// Vendor and model as the run spells them, in one line of printable text each; empty if
    /// unknown. A label replaces a model that a reader hides.
    pub fn spelled(&self) -> (String, String) {
        let known = |text: &Option<String>| line(text.as_deref().unwrap_or_default());
        let (label, model) = (known(&self.label), known(&self.model));
        let first = |texts: [String; 3]| texts.into_iter().find(|text| !text.is_empty());
        if self.kind == MediumKind::Simulated {
            let profile = known(&self.profile).trim_start_matches("sim:").to_owned();
            return (String::new(), first([profile, model, label]).unwrap_or_default());
        }
        if !label.is_empty() && (self.behind_reader == Some(true) || model.is_empty()) {
            return (String::new(), label);
        }
        let vendor = first([known(&self.vendor), known(&self.manufacturer), String::new()]);
        (vendor.unwrap_or_default(), model)
    }
}

/// Makes one line of printable text without odd spaces, of at most [`LONGEST`] characters.
fn line(text: &str) -> String {
    crate::text::one_line(text, LONGEST)
}

/// Folds a text for comparison: small letters, and one kind of space; many media have underscores
/// for spaces.
fn folded(text: &str) -> String {
    line(&text.replace('_', " ").to_lowercase())
}

/// Capacity in words: "32 GB", "512 MB", "2 TB".
fn capacity_words(bytes: u64) -> String {
    match bytes {
        0..GB => format!("{} MB", bytes / 1_000_000),
        _ if bytes >= 1000 * GB && bytes.is_multiple_of(500 * GB) => {
            format!(
                "{} TB",
                crate::units::significant(bytes as f64 / 1e12)
                    .trim_end_matches('0')
                    .trim_end_matches('.')
            )
        }
        _ => format!("{} GB", bytes.saturating_add(GB / 2) / GB),
    }
}

/// Capacity that is printed on a medium of so many bytes. Makers of disks follow IDEMA LBA1-03;
/// flash cards and sticks are sold as powers of two and have up to a tenth less or, if somebody
/// counted in GiB, a little more.
fn labelled(bytes: u64, kind: MediumKind) -> u64 {
    if let Some(gb) = idema_gb(bytes) {
        return gb * GB;
    }
    // A card never has such a round number.
    if bytes.is_multiple_of(10 * GB) {
        return bytes;
    }
    let unit = if bytes < GB * 9 / 10 { 1_000_000 } else { GB };
    let power = (0..16)
        .map(|exponent| unit << exponent)
        .find(|label| (label / 100 * 90..=label / 100 * 108).contains(&bytes));
    let flash = !matches!(
        kind,
        MediumKind::Ssd
            | MediumKind::Nvme
            | MediumKind::Disk
            | MediumKind::Virtual
            | MediumKind::Loop
    );
    power.filter(|_| flash).unwrap_or(bytes.saturating_add(unit / 2) / unit * unit)
}

/// GB of a disk that has exactly the sectors that IDEMA LBA1-03 gives to a number of GB.
fn idema_gb(bytes: u64) -> Option<u64> {
    let beyond = (bytes / 512).checked_sub(97_696_368)?;
    (bytes.is_multiple_of(512) && beyond.is_multiple_of(1_953_504))
        .then_some(beyond / 1_953_504 + 50)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Claims, Link, Medium, Record, SpeedClasses};

    fn published(medium: Medium, label: Option<&str>) -> Published {
        let text = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
        let mut record = Record::from_json(text).expect("the fixture is a record");
        (record.medium, record.run.label) = (medium, label.map(str::to_owned));
        Published::from(&record)
    }

    fn card(vendor: &str, model: &str, capacity_bytes: u64) -> Medium {
        let non_empty = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Medium {
            kind: MediumKind::Sd,
            vendor: non_empty(vendor),
            model: non_empty(model),
            capacity_bytes: Some(capacity_bytes),
            ..Medium::default()
        }
    }

    fn kind_named(name: &str) -> MediumKind {
        MediumKind::ALL.into_iter().find(|kind| kind.name() == name).unwrap()
    }

    fn answer(question: &str) -> String {
        let (kind, of) = question.split_once(' ').unwrap();
        let words: Vec<&str> = of.split(" | ").collect();
        let [first, rest @ ..] = &words[..] else { unreachable!() };
        let bytes = |text: &str| text.replace('_', "").parse::<u64>().unwrap();
        match kind {
            "capacity" => capacity_words(bytes(first)),
            "sectors" => format!("{:?}", idema_gb(bytes(first) * 512)),
            "bytes" => format!("{:?}", idema_gb(bytes(first))),
            "label" => labelled(bytes(first), kind_named(rest[0])).to_string(),
            "link" => {
                let mut run = published(card("a", "b", 1 << 35), None);
                run.interface = Some((*first).to_owned());
                run.link =
                    rest.first().map(|mode| Link { mode: Some((*mode).into()), ..Link::default() });
                run.interface_words().unwrap_or_else(|| "none".to_owned())
            }
            _ => {
                let medium = card(
                    rest[0].trim_matches('"'),
                    &rest[1].trim_matches('"').replace("\\0", "\0"),
                    bytes(first),
                );
                let reader =
                    Medium { behind_reader: Some(true), kind: MediumKind::Usb, ..medium.clone() };
                let label = rest.get(2).copied().unwrap_or_default().replace("\\u202e", "\u{202e}");
                let run =
                    published(if kind == "behind-reader" { reader } else { medium }, Some(&label));
                let Model { vendor, model, capacity_gb, .. } = Model::of(&run);
                format!("{}: {vendor}|{model}|{capacity_gb}", run.name())
            }
        }
    }

    #[test]
    fn media_capacities_and_links_have_the_names_of_the_rows() {
        crate::cases::check_rows("src/collection/spelling.txt", answer);
    }

    #[test]
    fn what_another_program_measured_was_imported() {
        let mut run = published(card("a", "b", 1 << 35), None);
        let origin = |run: &Published, name: &str| {
            let software = crate::Software { name: name.into(), ..run.software.clone() };
            Origin::of(&Published { software, ..run.clone() })
        };
        assert_eq!(origin(&run, "fio"), Origin::Simulated, "its target says so");
        run.target = crate::TargetKind::Block;
        assert_eq!(
            ["fio", "flashmark", " Flashmark", ""].map(|name| origin(&run, name)),
            [Origin::Imported, Origin::Measured, Origin::Measured, Origin::Measured]
        );
    }

    #[test]
    fn classes_in_a_few_words() {
        let mut run = published(card("a", "b", 1 << 35), None);
        run.classes = Some(SpeedClasses {
            speed_class: Some(10),
            uhs_grade: Some(1),
            app_class: Some(0),
            ..SpeedClasses::default()
        });
        run.claims = Some(Claims { app_class: Some(1), ..Claims::default() });
        assert_eq!(run.class_words(), ["C10", "U1", "A1"]);
        for (app_class, words) in [(999, "C10 U1 A999"), (1000, "C10 U1")] {
            run.claims = Some(Claims { app_class: Some(app_class), ..Claims::default() });
            assert_eq!(run.class_words().join(" "), words);
        }
    }

    #[test]
    fn no_bytes_are_no_capacity() {
        let claims = |bytes| Some(Claims { capacity_bytes: Some(bytes), ..Claims::default() });
        for (bytes, claims, labelled) in [
            (0, None, None),
            (8_000_000_000, claims(0), Some(8_000_000_000)),
            (8_000_000_000, claims(64_000_000_000), Some(64_000_000_000)),
        ] {
            let medium = Medium { claims, ..card("a", "b", bytes) };
            assert_eq!(published(medium, None).labelled_bytes(), labelled);
        }
    }

    #[test]
    fn a_name_is_cut_after_eighty_characters() {
        assert_eq!(line(&"x".repeat(81)), "x".repeat(80));
        let long = format!("{} y", "x".repeat(79));
        assert_eq!(line(&long), "x".repeat(79));
    }

    proptest::proptest! {
        #[test]
        fn a_name_is_one_line_whatever_a_medium_reports(vendor in ".{0,120}", model in ".{0,120}", bytes: u64, label in proptest::option::of(".{0,200}")) {
            let run = published(card(&vendor, &model, bytes), label.as_deref());
            let name = run.name();
            assert!(!name.is_empty() && name.chars().count() < 200 && !name.chars().any(char::is_control), "{name:?}");
            let key = Model::of(&run);
            assert_eq!(key.model.to_lowercase(), key.model);
            assert!(!key.model.chars().chain(key.vendor.chars()).any(char::is_control));
        }
    }
}
