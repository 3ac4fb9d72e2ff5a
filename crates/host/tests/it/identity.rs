//! Test of the identity of media.

use std::path::Path;

use flashmark_host::{Access, InventoryEntry, list, nodes_like, resolve};
use record::{MediumKind, Record, Run};

use crate::machine::Machine;

fn only(machine: &Machine) -> InventoryEntry {
    let mut disks = list(&machine.roots);
    assert_eq!(disks.len(), 1, "{disks:?}");
    disks.remove(0)
}

/// An SD card in the slot of a Raspberry Pi.
fn with_card(machine: &Machine) -> String {
    let card = "sys/devices/platform/soc/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa";
    let disk = machine.disk(
        "platform/soc/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0",
        "179:0",
        15_931_539_456,
    );
    machine.link(&format!("{disk}/device"), card);
    let mut ssr = [0u8; 64];
    (ssr[8], ssr[10], ssr[14], ssr[21]) = (4, 0x90, 0x10, 0x01);
    let ssr: String = ssr.iter().map(|byte| format!("{byte:02x}")).collect();
    for (name, text) in [
        ("type", "SD"),
        ("cid", "035344534c31364780b5ef9a00013700"),
        ("csd", "400e00325b59000076b17f800a404000"),
        ("scr", "0235800300000000"),
        ("ssr", &ssr),
        ("name", "SL16G"),
        ("manfid", "0x000003"),
        ("oemid", "0x5344"),
        ("serial", "0xb5ef9a00"),
        ("date", "07/2019"),
        ("fwrev", "0x0"),
        ("preferred_erase_size", "4194304"),
    ] {
        machine.file(&format!("{card}/{name}"), &format!("{text}\n"));
    }
    machine.link(&format!("{card}/driver"), "sys/bus/mmc/drivers/mmcblk");
    machine.link(
        "sys/devices/platform/soc/fe340000.mmc/driver",
        "sys/bus/platform/drivers/sdhci-iproc",
    );
    let ios = "clock:\t\t50000000 Hz\nbus width:\t2 (4 bits)\ntiming spec:\t2 (sd high-speed)\n";
    machine.file("sys/kernel/debug/mmc0/ios", ios);
    disk
}

#[test]
fn a_card_in_a_slot_shows_its_registers() {
    let machine = Machine::new();
    with_card(&machine);
    let mut disk = only(&machine);
    assert_eq!(disk.medium.ssr.take().map(|ssr| ssr.len()), Some(128));
    insta::assert_json_snapshot!(disk.medium, @r#"
    {
      "kind": "sd",
      "vendor": "SanDisk",
      "model": "SL16G",
      "firmware": "0x0",
      "serial": "0xb5ef9a00",
      "capacity_bytes": 15931539456,
      "interface": "mmc",
      "cid": "035344534c31364780b5ef9a00013700",
      "csd": "400e00325b59000076b17f800a404000",
      "scr": "0235800300000000",
      "ssr": null,
      "manufacturer": "0x03 SanDisk",
      "oem": "SD",
      "made": "2019-07",
      "au_bytes": 4194304,
      "classes": {
        "speed_class": 10,
        "uhs_grade": 1,
        "video_class": null,
        "app_class": 1,
        "au_bytes": 4194304,
        "uhs_au_bytes": null
      },
      "behind_reader": false,
      "rotational": false,
      "removable": false,
      "by_id": [],
      "claims": null,
      "health": null,
      "health_after": null,
      "profile": null
    }
    "#);
    assert_eq!(disk.link.driver.as_deref(), Some("sdhci-iproc"));
    assert_eq!(disk.link.mode.as_deref(), Some("sd high-speed, 4 bit, 50 MHz"));
    assert_eq!(disk.link.max_bps, Some(25e6));
    assert!(
        disk.answers_to("035344534C31364780B5EF9A00013700")
            && !disk.answers_to("mmcblk0")
            && !disk.answers_to("")
    );
}

#[test]
fn an_emmc_reports_its_health_and_hides_its_boot_areas() {
    let machine = Machine::new();
    let card = "sys/devices/platform/fe330000.mmc/mmc_host/mmc2/mmc2:0001";
    let disk = machine.disk(
        "platform/fe330000.mmc/mmc_host/mmc2/mmc2:0001/block/mmcblk2",
        "179:32",
        31 << 30,
    );
    machine.disk(
        "platform/fe330000.mmc/mmc_host/mmc2/mmc2:0001/block/mmcblk2/mmcblk2boot0",
        "179:64",
        4 << 20,
    );
    machine.link(&format!("{disk}/device"), card);
    for (name, text) in [
        ("type", "MMC"),
        ("cid", "150100424a4e4234520a1b2c3d4e7f00"),
        ("name", "BJNB4R"),
        ("life_time", "0x01 0x03"),
        ("pre_eol_info", "0x01"),
    ] {
        machine.file(&format!("{card}/{name}"), &format!("{text}\n"));
    }
    let medium = only(&machine).medium;
    assert_eq!(
        (medium.kind, medium.vendor.as_deref()),
        (MediumKind::Emmc, Some("Samsung/SanDisk/LG"))
    );
    let health = medium.health.unwrap();
    assert_eq!(
        (health.used_percent, health.pre_eol, health.source.as_deref()),
        (Some(30.0), Some(1), Some("sysfs"))
    );
}

#[test]
fn a_stick_is_known_by_its_usb_device() {
    let machine = Machine::new();
    machine.with_stick();
    let disk = only(&machine);
    assert_eq!((disk.medium.kind, disk.medium.behind_reader), (MediumKind::Usb, None));
    assert_eq!(disk.medium.by_id, ["usb-SanDisk_Ultra_4C530001230712105454-0:0"]);
    assert_eq!(disk.medium.serial.as_deref(), Some("4C530001230712105454"));
    insta::assert_json_snapshot!(disk.link, @r#"
    {
      "driver": "usb-storage",
      "mode": "480 Mbit/s",
      "max_bps": 53248000.0,
      "usb_id": "0781:5581",
      "usb_name": "SanDisk Ultra",
      "queue_depth": 1,
      "command_queue": null
    }
    "#);
    let queue = disk.queue(&machine.roots);
    assert_eq!(
        (queue.scheduler.as_deref(), queue.max_sectors_kb),
        (Some("mq-deadline"), Some(120))
    );
    assert_eq!(queue.schedulers, ["none", "mq-deadline", "bfq"]);
    assert!(disk.answers_to("4c530001230712105454"));
    assert!(disk.answers_to("/dev/disk/by-id/usb-SanDisk_Ultra_4C530001230712105454-0:0"));
    assert!(
        !disk.answers_to("/dev/disk/by-id/USB-SANDISK_ULTRA_4C530001230712105454-0:0"),
        "letter case matters in a name"
    );
    assert!(!disk.answers_to("/dev/sdb"), "the name sdb is any stick's");
}

#[test]
fn a_partition_answers_to_its_own_name_and_its_medium_does_not() {
    let machine = Machine::new();
    machine.with_stick();
    let disk = only(&machine);
    let partition = Some(&disk.partitions[0]);
    let name = "usb-SanDisk_Ultra_4C530001230712105454-0:0-part1";
    assert!(
        disk.answers_for(partition, name)
            && disk.answers_for(partition, &format!("/dev/disk/by-id/{name}"))
    );
    assert!(
        !disk.answers_to(name) && !disk.answers_to(&format!("/dev/disk/by-id/{name}")),
        "a partition does not give away its medium"
    );
    assert!(
        disk.answers_for(partition, "4c530001230712105454"),
        "the medium's serial number gives away the partition that is the target"
    );
    assert!(
        !disk.answers_for(partition, "/dev/sdb1") && !disk.answers_for(partition, ""),
        "the name sdb1 is any stick's"
    );
    assert_eq!(disk.ids_for(partition)[0], name);
}

#[test]
fn a_loop_device_answers_to_its_path_to_the_letter() {
    let machine = Machine::new();
    let dir = machine.disk("virtual/block/loop16", "7:16", 1 << 30);
    machine.partition(&dir, "loop16p2", "259:2", 1 << 20, 1 << 20);
    let disk = only(&machine);
    assert!(
        disk.answers_to("/dev/loop16")
            && !disk.answers_to("/DEV/LOOP16")
            && !disk.answers_to("/dev/loop16p2")
    );
    let partition = Some(&disk.partitions[0]);
    assert!(
        disk.answers_for(partition, "/dev/loop16p2") && disk.answers_for(partition, "/dev/loop16")
    );
    assert!(
        !disk.answers_for(partition, "/dev/loop16p1")
            && !disk.answers_for(partition, "/dev/LOOP16p2")
    );
}

#[test]
fn a_reader_is_known_by_its_name_or_its_several_slots() {
    let machine = Machine::new();
    let disk = machine.with_stick();
    let scsi = disk.trim_end_matches("/block/sdb");
    machine.file(&format!("{scsi}/model"), "STORAGE DEVICE\n");
    assert_eq!(only(&machine).medium.behind_reader, Some(true));
    machine.file(&format!("{scsi}/model"), "Ultra\n");
    assert_eq!(only(&machine).medium.behind_reader, None);
    machine.file(&scsi.replace("/6:0:0:0", "/6:0:0:1/type"), "0\n");
    assert_eq!(only(&machine).medium.behind_reader, Some(true));
}

#[test]
fn nvme_reports_its_model_and_link_width() {
    let machine = Machine::new();
    let pci = "pci0000:00/0000:00:1d.0/0000:03:00.0";
    let disk = machine.disk(&format!("{pci}/nvme/nvme0/nvme0n1"), "259:0", 512 << 30);
    let controller = format!("sys/devices/{pci}/nvme/nvme0");
    machine.link(&format!("{disk}/device"), &controller);
    for (name, text) in
        [("model", "Samsung SSD 970 EVO"), ("serial", "S466NX0K"), ("firmware_rev", "2B2QEXE7")]
    {
        machine.file(&format!("{controller}/{name}"), &format!("{text}   \n"));
    }
    machine.file(&format!("sys/devices/{pci}/current_link_speed"), "8.0 GT/s PCIe\n");
    machine.file(&format!("sys/devices/{pci}/current_link_width"), "4\n");
    machine.link(&format!("sys/devices/{pci}/driver"), "sys/bus/pci/drivers/nvme");
    let disk = only(&machine);
    assert_eq!(
        (disk.medium.kind, disk.medium.firmware.as_deref()),
        (MediumKind::Nvme, Some("2B2QEXE7"))
    );
    assert_eq!(
        (disk.link.mode.as_deref(), disk.link.driver.as_deref()),
        (Some("PCIe 8 GT/s x4"), Some("nvme"))
    );
    assert_eq!(disk.link.max_bps.map(|bps| (bps / 1e6).round()), Some(3938.0));
}

/// The 256 words of a drive that libata keeps.
fn identify(words: &[(usize, u16)], model: &str) -> String {
    let mut all = [0u16; 256];
    for (at, word) in words {
        all[*at] = *word;
    }
    for (at, pair) in format!("{model:<40}").as_bytes().chunks(2).enumerate() {
        all[27 + at] = u16::from_be_bytes([pair[0], pair[1]]);
    }
    all.chunks(8)
        .map(|line| line.iter().map(|word| format!("{word:04x} ")).collect::<String>() + "\n")
        .collect()
}

#[test]
fn compact_flash_disks_and_ssds_are_distinguished_by_identify_words() {
    for (words, kind) in [
        (vec![(0, 0x848a)], MediumKind::CompactFlash),
        (vec![(0, 0x0040), (83, 0x4004)], MediumKind::CompactFlash),
        (vec![(0, 0x0040), (217, 1)], MediumKind::Ssd),
        (vec![(0, 0x0040), (217, 5400)], MediumKind::Disk),
    ] {
        let mut machine = Machine::new();
        let disk = machine.with_root_disk();
        machine.link(&format!("{disk}/device"), disk.trim_end_matches("/block/sda"));
        machine.file(
            "sys/class/ata_device/dev1.0/id",
            &identify(&words, "LEXAR ATA FLASH CARD 8GB UDMA"),
        );
        machine.file("sys/class/ata_link/link1/sata_spd", "3.0 Gbps\n");
        let disk = only(&machine);
        assert_eq!((disk.medium.kind, disk.medium.interface.as_deref()), (kind, Some("ata")));
        assert_eq!(disk.medium.model.as_deref(), Some("LEXAR ATA FLASH CARD 8GB UDMA"));
        assert_eq!(
            (disk.link.mode.as_deref(), disk.link.max_bps),
            (Some("SATA 3.0 Gbps"), Some(300e6))
        );
    }
}

#[test]
fn an_empty_slot_is_named_and_what_is_no_medium_is_not() {
    let machine = Machine::new();
    for (name, number, size) in [
        ("ram0", "1:0", 4096),
        ("loop0", "7:0", 0),
        ("zram0", "252:0", 0),
        ("loop1", "7:1", 1 << 20),
    ] {
        machine.disk(&format!("virtual/block/{name}"), number, size);
    }
    machine.disk("pci0000:00/usb1/1-2/host7/target7:0:0/7:0:0:0/block/sdc", "8:32", 0);
    let names: Vec<String> = list(&machine.roots).into_iter().map(|disk| disk.name).collect();
    assert_eq!(names, ["loop1", "sdc"]);
}

/// A record of a partition, and nodes that may be its medium.
#[test]
fn a_medium_matches_that_of_a_record_by_all_its_properties() {
    let machine = Machine::new();
    machine.with_stick();
    let record = |node: &str, size_bytes| {
        let found = resolve(&machine.roots, node, Access::Read).unwrap();
        let mut record = Record::new(Run::default());
        record.target = found.record(&machine.roots, node);
        record.medium = only(&machine).medium;
        record.medium.capacity_bytes = Some(size_bytes);
        record
    };
    let like = |record: &Record| nodes_like(&machine.roots, record);
    let whole = record("/dev/sdb", 16_008_609_792);
    assert_eq!(like(&whole), [Path::new("/dev/sdb")]);
    let part = record("/dev/sdb1", 8 << 30);
    assert_eq!(like(&part), [Path::new("/dev/sdb1")]);

    let changed = |of: &Record, change: &dyn Fn(&mut Record)| {
        let mut record = of.clone();
        change(&mut record);
        like(&record).len()
    };
    assert_eq!(changed(&part, &|record| record.target.device = Some("sdb2".into())), 0);
    assert_eq!(changed(&part, &|record| record.target.device = Some("sdd1".into())), 1);
    assert_eq!(changed(&part, &|record| record.target.device = None), 0);
    assert_eq!(changed(&whole, &|record| record.medium.capacity_bytes = Some(8 << 29)), 0);
    assert_eq!(changed(&whole, &|record| record.medium.capacity_bytes = None), 0);
    assert_eq!(changed(&whole, &|record| record.medium.serial = Some("another".into())), 0);
    assert_eq!(changed(&whole, &|record| record.medium.model = Some("another".into())), 0);
    assert_eq!(changed(&whole, &|record| record.medium.vendor = None), 0);
    assert_eq!(changed(&whole, &|record| record.medium.cid = Some("00".into())), 0);
    assert_eq!(changed(&whole, &|record| record.target.backing = Some("/image".into())), 0);
}
