use super::*;

#[test]
fn a_label_cannot_pass_for_another_key() {
    let text = "DEVNAME=/dev/sdb\nLABEL=a\nTYPE=swap\nLABEL=b\nUUID=false\nmore\\ of\\ it\nUUID=74D9-BF3C\nTYPE=ext4\n";
    let signature = probe::parse(text);
    assert_eq!(
        (signature.kind.as_deref(), signature.uuid.as_deref()),
        (Some("ext4"), Some("74D9-BF3C"))
    );
    assert_eq!(signature.label.as_deref(), Some("a"));
    assert_eq!(
        probe::parse("LABEL=MY\\ PHO\\\"TOS\\\\\n x\nTYPE=vfat\n").label.as_deref(),
        Some("MY PHO\"TOS\\\n x")
    );
}

/// An item of 3 GiB in a partition, or on all of the medium.
fn item(partition: Option<u32>, kind: Option<&str>, label: Option<&str>) -> ContentItem {
    ContentItem {
        partition,
        offset_bytes: u64::from(partition.unwrap_or(0)) << 20,
        size_bytes: 3 << 30,
        kind: kind.map(str::to_owned),
        label: label.map(str::to_owned),
        ..ContentItem::default()
    }
}

fn known(items: Vec<ContentItem>) -> Contents {
    Contents { items, unknown: None }
}

#[test]
fn a_label_is_harmless_on_a_terminal_and_one_line() {
    let label = format!("\u{1b}[2J\n\u{9b}1m\u{202e}{}", "x".repeat(64 << 10));
    let contents = known(vec![item(None, Some("ext4"), Some(&label))]);
    for line in contents.lines().into_iter().chain([contents.summary()]) {
        let is_harmful = line.chars().any(|c| c.is_control() || c == '\u{202e}');
        assert!(!is_harmful && line.len() < 400, "{line:?}");
    }
    let [line] = &contents.lines()[..] else { panic!() };
    assert!(line.starts_with("ext4 '\\u{1b}[2J\\n\\u{9b}1m\\u{202e}xxx"), "{line:?}");
    assert_eq!(contents.identity_lines().iter().map(|line| line.lines().count()).sum::<usize>(), 1);
}

#[test]
fn what_was_found_in_words() {
    let gpt = item(None, Some("gpt"), None);
    let table = ContentItem { table: true, uuid: Some("01-02".to_owned()), ..gpt };
    let mut contents = known(vec![
        table.clone(),
        item(Some(1), Some("vfat"), Some("BOOT")),
        item(Some(2), Some("linux_raid_member"), None),
        item(Some(3), None, None),
    ]);
    insta::assert_snapshot!(contents.lines().join("\n"), @r"
    partition table gpt, 3 partitions
    partition 1: vfat 'BOOT', 3 GiB
    partition 2: linux_raid_member (part of an array), 3 GiB
    partition 3: nothing that is known, 3 GiB
    ");
    insta::assert_snapshot!(contents.summary(), @"gpt with vfat 'BOOT', linux_raid_member (part of an array)");
    insta::assert_snapshot!(contents.identity_lines().join("\n"), @r"
    partition table at 0+3221225472 kind=gpt uuid=01-02
    signature at 1048576+3221225472 kind=vfat label=BOOT
    signature at 2097152+3221225472 kind=linux_raid_member
    signature at 3145728+3221225472
    ");
    contents.unknown = Some("partition 4: it did not answer within 10 s".to_owned());
    let last = contents.lines().pop().unwrap();
    assert_eq!(last, "there may be more: partition 4: it did not answer within 10 s");
    assert_eq!(contents.is_empty(), Some(false));
    assert_eq!(known(vec![table]).summary(), "a partition table (gpt)");
}

#[test]
fn only_contents_that_could_be_read_are_called_empty() {
    let bare = item(Some(1), None, None);
    let half = Contents { items: vec![bare.clone()], unknown: Some(String::new()) };
    for (contents, is_empty, line) in [
        (
            Contents::default(),
            Some(true),
            "nothing that is recognised; data without a signature would not be",
        ),
        (Contents::unknown("it is gone"), None, "cannot be told: it is gone"),
        (known(vec![bare]), Some(true), "partition 1: nothing that is known, 3 GiB"),
        (half, None, "partition 1: nothing that is known, 3 GiB"),
    ] {
        assert_eq!((contents.is_empty(), contents.lines()[0].as_str()), (is_empty, line));
    }
}

#[test]
fn of_many_things_four_are_named_and_the_rest_is_counted() {
    let named = |many| {
        let one = |index| item(Some(index), Some(&format!("fs{index}")), None);
        known((1..=many).map(one).collect()).summary()
    };
    assert_eq!(named(4), "fs1, fs2, fs3, fs4");
    assert_eq!(named(5), "fs1, fs2, fs3, fs4, and 1 more");
    assert_eq!(named(12), "fs1, fs2, fs3, fs4, and 8 more");
}

#[test]
fn contents_seen_by_udev_are_listed_for_device_and_partitions() {
    let row = serde_json::json!({ "name": "sdb", "fstype": null, "pttype": "dos", "ptuuid": "1", "children": [
        { "name": "sdb1", "fstype": "LVM2_member", "label": null, "uuid": "u", "pttype": "dos", "children": [
            { "name": "vg-home", "fstype": "ext4", "label": "HOME", "uuid": "v" }] }] });
    let partition = Partition {
        name: "sdb1".to_owned(),
        path: "/dev/sdb1".into(),
        number: DeviceNumber { major: 8, minor: 17 },
        index: 1,
        offset_bytes: 1 << 20,
        size_bytes: 1 << 30,
        by_id: Vec::new(),
    };
    let contents = Contents {
        items: system_view::of_row(&row, 2 << 30, &[partition]),
        unknown: Some("no right to read it".to_owned()),
    };
    insta::assert_snapshot!(contents.lines().join("\n"), @r"
    partition table dos, 1 partition
    partition 1: LVM2_member (part of a volume group), 1 GiB
    there may be more: no right to read it
    ");
}

proptest::proptest! {
    #[test]
    fn no_answer_of_a_tool_makes_it_panic(text in "\\PC*", words in "(LABEL|TYPE|UUID|PTTYPE)(=|\\\\|\n|\\PC){0,20}", head in proptest::collection::vec(proptest::num::u8::ANY, 0..3000)) {
        let _ = probe::parse(&text);
        let _ = probe::parse(&words);
        let _ = superblock::ext_mounted(&head);
        let _ = superblock::image(&head);
    }
}
