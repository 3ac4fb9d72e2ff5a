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

fn name_of(run: &Published) -> String {
    Names::built_in().of_publisher(run).name
}

#[test]
fn every_name_of_a_product_leads_to_one_line() {
    let expected = model_of(&run("Samsung", "EVO Plus", 64));
    assert_eq!((expected.vendor.as_str(), expected.model.as_str()), ("samsung", "evo plus"));
    for (vendor, model) in [
        ("SAMSUNG", "EVO+"),
        ("", "Samsung EVO Plus 64GB"),
        ("samsung", "Samsung EVO Plus"),
        ("Samsung Electronics", "evo  plus"),
        ("Samsung", "EVO_Plus 64 GB"),
        ("Samsung", "MB-MC64GA"),
        ("Samsung", "EB1QT"),
        ("S\u{430}msung", "EVO Plus"),
        ("\u{ff33}amsung", "\u{ff25}VO Plus"),
        ("Samsung", "EVO Plus microSDXC"),
        ("Sam5ung", "EV0 P1us"),
        ("SAM\u{405}UNG", "3VO P|us"),
        ("Sarnsung", "EVO Plus"),
        ("ATA", "Samsung EVO Plus"),
    ] {
        let found = run(vendor, model, 64);
        assert_eq!(model_of(&found), expected, "{vendor} {model}");
        assert_eq!(name_of(&found), "Samsung EVO Plus 64 GB");
        let sent = Names::built_in().of_sender(&found);
        let others = &sent.other_names;
        assert!(others.contains("evo+") && others.contains("eb1qt"), "{others}");
        assert_eq!(sent, Names::built_in().of_publisher(&found));
    }
    assert_ne!(model_of(&run("Samsung", "EVO Plus", 128)), expected, "another size");
    assert_ne!(model_of(&run("Samsung", "EVO", 64)), expected);
    assert_ne!(model_of(&run("Samsung", "PRO Plus", 64)), expected);
}

#[test]
fn a_name_that_several_products_share_leads_to_none() {
    assert_eq!(model_of(&run("Samsung", "00000", 64)).model, "00000");
    assert_eq!(name_of(&run("SanDisk", "SL16G", 16)), "SanDisk SL16G 16 GB");
    assert_eq!(model_of(&run("Nobody", "X9000", 16)).model, "x9000");
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
fn one_disk_is_one_line_whatever_reports_its_size() {
    let key = |bytes: u64, kind, model: &str| {
        let run = Published { kind, capacity_bytes: Some(bytes), ..run("Samsung", model, 1) };
        Names::built_in().of_sender(&run).key()
    };
    let disk = |bytes| key(bytes, MediumKind::Ssd, "850 EVO");
    for bytes in
        [500_000_000_000, 499_900_000_000, 512_110_190_592, 480_103_981_056, 500_277_790_720]
    {
        assert_eq!(disk(bytes), disk(500_107_862_016), "{bytes}");
    }
    assert_ne!(disk(250_059_350_016), disk(500_107_862_016));
    assert_ne!(disk(750_156_374_016), disk(500_107_862_016));
    let card = |bytes| key(bytes, MediumKind::Sd, "EVO Plus");
    assert_eq!(card(31_914_983_424), card(29_600_000_000));
    assert_ne!(card(256_901_120), card(512_483_328), "megabytes");
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
    let invented =
        [19, 37, 100, 8192].map(|gb| of(&run("Samsung", "EVO Plus", gb * 100 / 97)).is_listed);
    assert_eq!(invented, [false; 4], "sizes that nobody sells");
    let of_kind = |kind| of(&Published { kind, ..run("Samsung", "EVO Plus", 64) }).is_listed;
    assert!(of_kind(MediumKind::Sd) && !of_kind(MediumKind::Nvme), "a name of another kind");
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
