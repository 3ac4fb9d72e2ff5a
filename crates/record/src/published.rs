//! Allow-list of what may be published, converted by hand. No serial numbers, host names, user
//! names or paths.

use serde::{Deserialize, Serialize};

use crate::{
    Cell, Claims, Filesystem, Finding, Flag, Health, Host, Link, Medium, MediumKind, Queue, Record,
    Run, Skip, Software, SpeedClasses, Target, TargetKind, WholeMedium,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    pub target: TargetKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<WholeMedium>,
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

/// A struct whose fields of these names are those of others.
macro_rules! copied {
    ($of:ident { $($from:expr => $($field:ident)+;)* } $($rest:tt)*) => {
        $of { $($($field: $from.$field.clone(),)+)* $($rest)* }
    };
}

impl From<&Record> for Published {
    fn from(record: &Record) -> Published {
        let (run, medium, target) = (&record.run, &record.medium, &record.target);
        let host = record.host.clone().unwrap_or_default();
        let filesystem = target.filesystem.clone().unwrap_or_default();
        copied!(Published {
            record => schema cells skipped flags findings;
            run => started elapsed_ns seed suite label software;
            medium => kind vendor model firmware capacity_bytes interface manufacturer oem made;
            medium => classes claims behind_reader rotational profile;
            target => part_of queue link engine;
            host => kernel arch board cpu cpus governor;
        } health: medium.last_health().cloned(), target: target.kind, filesystem: filesystem.kind,
            mount_options: filesystem.options)
    }
}

impl Published {
    /// Makes a record in which everything unpublished is blank, for code that draws conclusions or
    /// pages from records.
    pub fn to_record(&self, id: &str) -> Record {
        let run = copied!(Run {
            self => started elapsed_ns seed suite label software;
        } id: id.to_owned(), ..Run::default());
        let medium = copied!(Medium {
            self => kind vendor model firmware capacity_bytes interface manufacturer oem made;
            self => classes claims behind_reader rotational profile health;
        } ..Medium::default());
        let (kind, options) = (self.filesystem.clone(), self.mount_options.clone());
        let filesystem = Filesystem { kind, options, ..Filesystem::default() };
        let filesystem = (filesystem != Filesystem::default()).then_some(filesystem);
        let target = copied!(Target {
            self => part_of queue link engine;
        } kind: self.target, filesystem, ..Target::default());
        let host = copied!(Host {
            self => kernel arch board cpu cpus governor;
        } ..Host::default());
        let host = (host != Host::default()).then_some(host);
        copied!(Record {
            self => schema cells skipped flags findings;
        } run, medium, host, target, plan: Vec::new(), summary: None)
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
        let health = |used| Some(Health { used_percent: Some(used), ..Health::default() });
        (record.medium.health, record.medium.health_after) = (health(3.0), health(4.0));
        record.host = None;
        record.target.filesystem = None;
        let come_back = |record: &Record| Published::from(record).to_record("a");
        assert_eq!(come_back(&record).medium.health, health(4.0));
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
