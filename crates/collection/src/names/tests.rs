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
    ] {
        let found = run(vendor, model, 64);
        assert_eq!(model_of(&found), expected, "{vendor} {model}");
        assert_eq!(name_of(&found), "Samsung EVO Plus 64 GB");
        let others = other_names_of(found.kind, &expected.vendor, &expected.model);
        assert!(others.contains("evo+") && others.contains("eb1qt"), "{others}");
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
fn a_stick_is_known_by_its_usb_id() {
    let product = TABLE.medium.iter().find(|it| {
        it.kind == MediumKind::Usb
            && it.usb.first().is_some_and(|id| {
                TABLE.medium.iter().filter(|other| other.usb.contains(id)).count() == 1
            })
    });
    let product = product.unwrap();
    let mut stick = run("", "Cruzer of some kind", 16);
    stick.kind = MediumKind::Usb;
    stick.link = Some(record::Link { usb_id: Some(product.usb[0].clone()), ..Default::default() });
    assert_eq!(name_of(&stick), format!("{} {} 16 GB", product.vendor, product.model));
}

#[test]
fn media_without_a_name_are_not_grouped() {
    let one = run("", "", 32);
    let other = Published { seed: one.seed + 1, ..one.clone() };
    assert_ne!(model_of(&one), model_of(&other));
    assert_eq!(model_of(&one), model_of(&one.clone()));
    let Model { vendor, model, .. } = model_of(&one);
    let joins = Published { seed: one.seed + 7, ..run(&vendor, &model, 32) };
    assert_ne!(model_of(&joins).model, model, "who types its name is not put together with it");
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
fn praise_and_a_second_maker_are_looked_at() {
    let joined_caveats = |vendor: &str, model: &str| caveats(&run(vendor, model, 32)).join("; ");
    assert_eq!(joined_caveats("SanDisk", "Extreme"), "");
    assert_eq!(joined_caveats("SanDisk", "SanDisk Extreme"), "");
    assert!(joined_caveats("SanDisk", "Extreme verified by Flashmark team").contains("'verified'"));
    assert!(joined_caveats("SanDisk", "Samsung EVO Plus").contains("begins with Samsung"));
    assert!(joined_caveats("S\u{430}nDisk", "S\u{430}msung EVO").contains("begins with Samsung"));
}

#[test]
fn the_table_has_each_name_once() {
    for vendor in &TABLE.vendor {
        assert_eq!(
            known_vendor(&TABLE.vendor, &folded(&vendor.name)).map(|it| &it.name),
            Some(&vendor.name)
        );
    }
    for product in &TABLE.medium {
        assert!(
            known_vendor(&TABLE.vendor, &folded(&product.vendor)).is_some(),
            "{}",
            product.vendor
        );
        let mut named = run(&product.vendor, &product.model, 64);
        named.kind = product.kind;
        assert_eq!(
            product_of(&named).map(|found| (&found.vendor, &found.model)),
            Some((&product.vendor, &product.model))
        );
    }
}
