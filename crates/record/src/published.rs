//! Allow-list of what may be published, converted by hand. No serial numbers, host names, user
//! names or paths.

use serde::{Deserialize, Serialize};

use crate::{
    Cell, Claims, Filesystem, Finding, Flag, Host, Link, Medium, MediumKind, Queue, Record, Run,
    Skip, Software, SpeedClasses, Target, TargetKind,
};

/// The published subset of a record. A field that is not named here is not published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(missing_docs, reason = "each field is the record's field of the same name")]
pub struct Published {
    pub schema: String,
    pub started: Option<String>,
    pub elapsed_ns: u64,
    pub seed: u64,
    pub suite: String,
    pub label: Option<String>,
    pub software: Software,
    pub kind: MediumKind,
    pub vendor: Option<String>,
    pub model: Option<String>,
    pub firmware: Option<String>,
    pub capacity_bytes: Option<u64>,
    pub interface: Option<String>,
    pub manufacturer: Option<String>,
    pub oem: Option<String>,
    pub made: Option<String>,
    pub classes: Option<SpeedClasses>,
    pub claims: Option<Claims>,
    pub behind_reader: Option<bool>,
    pub rotational: Option<bool>,
    pub profile: Option<String>,
    pub target: TargetKind,
    pub filesystem: Option<String>,
    pub mount_options: Option<String>,
    pub queue: Option<Queue>,
    pub link: Option<Link>,
    pub engine: Option<String>,
    pub kernel: Option<String>,
    pub arch: Option<String>,
    pub board: Option<String>,
    pub cpu: Option<String>,
    pub cpus: Option<u32>,
    pub governor: Option<String>,
    pub cells: Vec<Cell>,
    pub skipped: Vec<Skip>,
    pub flags: Vec<Flag>,
    pub findings: Vec<Finding>,
}

impl From<&Record> for Published {
    fn from(record: &Record) -> Published {
        let medium = &record.medium;
        let host = record.host.clone().unwrap_or_default();
        let filesystem = record.target.filesystem.clone().unwrap_or_default();
        Published {
            schema: record.schema.clone(),
            started: record.run.started.clone(),
            elapsed_ns: record.run.elapsed_ns,
            seed: record.run.seed,
            suite: record.run.suite.clone(),
            label: record.run.label.clone(),
            software: record.run.software.clone(),
            kind: medium.kind,
            vendor: medium.vendor.clone(),
            model: medium.model.clone(),
            firmware: medium.firmware.clone(),
            capacity_bytes: medium.capacity_bytes,
            interface: medium.interface.clone(),
            manufacturer: medium.manufacturer.clone(),
            oem: medium.oem.clone(),
            made: medium.made.clone(),
            classes: medium.classes.clone(),
            claims: medium.claims.clone(),
            behind_reader: medium.behind_reader,
            rotational: medium.rotational,
            profile: medium.profile.clone(),
            target: record.target.kind,
            filesystem: filesystem.kind,
            mount_options: filesystem.options,
            queue: record.target.queue.clone(),
            link: record.target.link.clone(),
            engine: record.target.engine.clone(),
            kernel: host.kernel,
            arch: host.arch,
            board: host.board,
            cpu: host.cpu,
            cpus: host.cpus,
            governor: host.governor,
            cells: record.cells.clone(),
            skipped: record.skipped.clone(),
            flags: record.flags.clone(),
            findings: record.findings.clone(),
        }
    }
}

impl Published {
    /// Makes a record in which everything unpublished is blank, for code that draws conclusions or
    /// pages from records.
    pub fn to_record(&self, id: &str) -> Record {
        let run = Run {
            id: id.to_owned(),
            started: self.started.clone(),
            elapsed_ns: self.elapsed_ns,
            seed: self.seed,
            suite: self.suite.clone(),
            label: self.label.clone(),
            software: self.software.clone(),
            ..Run::default()
        };
        let medium = Medium {
            kind: self.kind,
            vendor: self.vendor.clone(),
            model: self.model.clone(),
            firmware: self.firmware.clone(),
            capacity_bytes: self.capacity_bytes,
            interface: self.interface.clone(),
            manufacturer: self.manufacturer.clone(),
            oem: self.oem.clone(),
            made: self.made.clone(),
            classes: self.classes.clone(),
            claims: self.claims.clone(),
            behind_reader: self.behind_reader,
            rotational: self.rotational,
            profile: self.profile.clone(),
            ..Medium::default()
        };
        let filesystem = Filesystem {
            kind: self.filesystem.clone(),
            options: self.mount_options.clone(),
            ..Filesystem::default()
        };
        let target = Target {
            kind: self.target,
            filesystem: (filesystem != Filesystem::default()).then_some(filesystem),
            queue: self.queue.clone(),
            link: self.link.clone(),
            engine: self.engine.clone(),
            ..Target::default()
        };
        let host = Host {
            kernel: self.kernel.clone(),
            arch: self.arch.clone(),
            board: self.board.clone(),
            cpu: self.cpu.clone(),
            cpus: self.cpus,
            governor: self.governor.clone(),
            ..Host::default()
        };
        Record {
            schema: self.schema.clone(),
            run,
            medium,
            host: (host != Host::default()).then_some(host),
            target,
            cells: self.cells.clone(),
            skipped: self.skipped.clone(),
            flags: self.flags.clone(),
            findings: self.findings.clone(),
            plan: Vec::new(),
            summary: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_is_all_that_comes_back() {
        let text = include_str!("../../../fixtures/records/flashmark-0.1.0-sim.json");
        let record = Record::from_json(text).expect("the fixture is a record");
        let published = Published::from(&record);
        assert_eq!(Published::from(&published.to_record(&record.run.id)), published);
    }
    #[test]
    fn absent_host_and_filesystem_stay_absent() {
        let text = include_str!("../../../fixtures/records/flashmark-0.1.0-sim.json");
        let mut record = Record::from_json(text).expect("the fixture is a record");
        record.host = None;
        record.target.filesystem = None;
        let come_back = |record: &Record| Published::from(record).to_record("a");
        assert_eq!(come_back(&record).host, None);
        assert_eq!(come_back(&record).target.filesystem, None);
        let host = Host { cpus: Some(4), ..Host::default() };
        let filesystem = Filesystem { kind: Some("ext4".into()), ..Filesystem::default() };
        record.host = Some(host.clone());
        record.target.filesystem = Some(filesystem.clone());
        assert_eq!(come_back(&record).host, Some(host));
        assert_eq!(come_back(&record).target.filesystem, Some(filesystem));
    }
}
