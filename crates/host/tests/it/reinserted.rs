//! Test of the search for a medium that was taken out and put in again.

use std::path::Path;

use flashmark_host::{Access, nodes_like, resolve};
use record::{Record, Run};

use crate::machine::Machine;

/// A record of a partition, and nodes that may be its medium.
#[test]
fn a_medium_matches_that_of_a_record_by_all_its_properties() {
    let machine = Machine::of("known stick");
    let record = |node: &str, size_bytes| {
        let found = resolve(&machine.roots, node, Access::Read).unwrap();
        let mut record = Record::new(Run::default());
        record.target = found.record(&machine.roots, node);
        record.medium = machine.found("sdb").medium;
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
    assert_eq!(changed(&part, &|record| record.target.device = Some("sdb11".into())), 0);
    assert_eq!(changed(&part, &|record| record.target.device = Some("sdd1".into())), 1);
    assert_eq!(changed(&part, &|record| record.target.device = Some("mmcblk0p1".into())), 1);
    assert_eq!(changed(&part, &|record| record.target.device = None), 0);
    assert_eq!(changed(&whole, &|record| record.medium.capacity_bytes = Some(8 << 29)), 0);
    assert_eq!(changed(&whole, &|record| record.medium.capacity_bytes = None), 0);
    assert_eq!(changed(&whole, &|record| record.medium.serial = Some("another".into())), 0);
    assert_eq!(changed(&whole, &|record| record.medium.model = Some("another".into())), 0);
    assert_eq!(changed(&whole, &|record| record.medium.vendor = None), 0);
    assert_eq!(changed(&whole, &|record| record.medium.cid = Some("00".into())), 0);
    assert_eq!(changed(&whole, &|record| record.target.backing = Some("/image".into())), 0);
}
