use record::units::decimal;
use record::{Published, Record};

use super::*;

fn run(vendor: &str, model: &str, gb: u64) -> Published {
    let text = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
    let mut run = Published::from(&Record::from_json(text).unwrap());
    let non_empty = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    (run.kind, run.target, run.profile, run.label) =
        (MediumKind::Sd, record::TargetKind::Block, None, None);
    (run.vendor, run.model, run.capacity_bytes) =
        (non_empty(vendor), non_empty(model), Some(gb * 1_000_000_000 * 97 / 100));
    run
}

fn model_of(run: &Published) -> Model {
    Names::built_in().of_publisher(run).model
}

/// "KIND SIZE | VENDOR | MODEL": the line of such a medium, and whether a sender's is listed. A size is in
/// bytes, or what is printed on it (64GB).
fn line_of(question: &str) -> String {
    let [what, vendor, model] = question.split(" | ").collect::<Vec<_>>()[..] else { panic!() };
    let (kind, size) = what.split_once(' ').unwrap();
    let printed = size.strip_suffix("GB").map(|gb| gb.parse::<u64>().unwrap() * 970_000_000);
    let capacity_bytes = printed.or_else(|| size.parse().ok());
    let kind = serde_json::from_value(kind.into()).unwrap();
    let run = Published { kind, capacity_bytes, ..run(vendor, model, 1) };
    let [found, sent] = [Names::built_in().of_publisher(&run), Names::built_in().of_sender(&run)];
    assert!(!sent.is_listed || sent == found, "{question}: {sent:?}");
    let ((_, vendor, model, class), name) = (found.key(), found.name);
    let listed = if sent.is_listed { "listed" } else { "not listed" };
    format!("{vendor} / {model} / {}: {name}, {listed}", decimal(class))
}

#[test]
fn every_name_and_size_of_a_product_leads_to_one_line() {
    crate::cases::check_rows("src/names/rows.txt", line_of);
    let others = Names::built_in().of_sender(&run("Samsung", "EVO Plus", 64)).other_names;
    assert!(others.contains("evo+") && others.contains("eb1qt"), "{others}");
}

#[test]
fn media_without_a_name_are_not_grouped() {
    let one = run("", "", 32);
    let other = Published { seed: one.seed + 1, ..one.clone() };
    assert_ne!(model_of(&one), model_of(&other));
    assert_eq!(model_of(&one), model_of(&one.clone()));
    let reader = Published { behind_reader: Some(true), ..run("Generic", "USB SD Reader", 32) };
    let another = Published { seed: reader.seed + 1, ..reader.clone() };
    assert_ne!(model_of(&reader), model_of(&another), "a reader is not the card in it");
    let labelled = |run: &Published| Published { label: Some("no-name 8GB".into()), ..run.clone() };
    assert_eq!(model_of(&labelled(&reader)), model_of(&labelled(&another)));
    let disk = Published { kind: MediumKind::Virtual, ..run("QEMU", "HARDDISK", 32) };
    let next = Published { seed: disk.seed + 1, ..disk.clone() };
    assert_ne!(model_of(&disk), model_of(&next));
}

#[test]
fn only_the_register_gives_a_name() {
    let of = |run: &Published| Names::built_in().of_sender(run);
    let mut card = run("Nobody", "Best of all", 32);
    (card.manufacturer, card.oem) = (Some("0x1B Samsung".into()), Some("SM".into()));
    let found = of(&card);
    assert_eq!((found.name.as_str(), found.is_listed), ("SD card 32 GB, 0x1b/534d", false));
    assert_eq!(found.model.vendor, "0x1b/534d");
    assert!(found.model.model.starts_with("unlisted "), "{found:?}");
    assert_eq!(
        of(&run("N0BODY", "8est 0f all", 32)).model.model,
        found.model.model,
        "no second line"
    );
    let mut stick = Published { kind: MediumKind::Usb, ..run("", "Traveler of some kind", 32) };
    for (id, name) in [
        ("1234:abCD", "USB medium 32 GB, 1234:abcd"),
        ("best:card", "USB medium 32 GB"),
        ("0951:1607", "Kingston DataTraveler 100 32 GB"),
    ] {
        stick.link = Some(record::Link { usb_id: Some(id.into()), ..Default::default() });
        assert_eq!(of(&stick).name, name);
    }
    let mut simulated = Published { kind: MediumKind::Simulated, ..run("", "", 32) };
    let mut profile = |name: &str| {
        simulated.profile = Some(name.to_owned());
        of(&simulated)
    };
    assert!(profile("sim:a1").is_listed && !profile("sim:the best").is_listed);
    let own = "[[medium]]\nkind = \"sd\"\nvendor = \"Nobody\"\nmodel = \"Best of all\"\n";
    let found = Names::with(own).unwrap().of_sender(&card);
    assert_eq!((found.name.as_str(), found.is_listed), ("Nobody Best of all 32 GB", true));
    assert!(Names::with("medium = 1").is_err());
}

#[test]
#[allow(clippy::disallowed_methods, reason = "looks which profiles there are")]
fn the_profiles_are_those_of_the_program() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles");
    let names = std::fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.to_str()?.strip_suffix(".toml")?.to_owned())).collect();
    names.sort();
    assert_eq!(Names::built_in().profiles, names);
}

#[test]
fn the_table_has_each_name_once() {
    let names = Names::built_in();
    for product in &names.medium {
        let named = Published { kind: product.kind, ..run(&product.vendor, &product.model, 64) };
        let found = names.product_of(&named).map(|found| (&found.vendor, &found.model));
        assert_eq!(found, Some((&product.vendor, &product.model)));
    }
}
