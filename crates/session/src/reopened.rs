//! The medium of an earlier session: found at whatever node it has now, and recognised by its
//! contents.
//!
//! Names are not enough. Behind a reader, serial number, model and size are the reader's, and the
//! owner may have formatted and filled the same card meanwhile. So before anything is written, the
//! medium is compared with what the journal says of it.

use device::content::DataGenerator;
use device::{ExtentGuard, Extents};
use host::Roots;
use record::{Fingerprint, Record, TargetKind, Wait};
use store::Replayed;
use suite::Plan;
use suite::definition::Suite;
use suite::fingerprint::{self, FingerprintHistory, Recognition, UnfinishedCell};

use crate::request::RunRequest;
use crate::target::Target;
use program::exit::{OrExit, Result, refuse};

/// Facts that an earlier session left.
pub struct EarlierSession<'a> {
    /// Request of that session.
    pub request: &'a RunRequest,
    /// Its journal, replayed.
    pub replayed: &'a Replayed,
    /// Its plan.
    pub plan: &'a Plan,
    /// Name of the run.
    pub run: &'a str,
}

/// Fingerprint of a medium before a run writes to it; `None` if no data of others can be at risk.
pub fn fingerprint(
    opened: &mut Target,
    plan: &Plan,
    seed: u64,
    waits: &mut Vec<Wait>,
) -> Result<Option<Fingerprint>> {
    if !matches!(opened.target.kind, TargetKind::Block | TargetKind::File) {
        return Ok(None);
    }
    let starts = opened.partition_starts();
    let contents = opened.contents.as_ref().map(host::Contents::identity_lines).unwrap_or_default();
    let places = fingerprint::places(&opened.info.facts, &plan.cells, &starts, seed);
    // Nothing may be written yet.
    let mut medium = ExtentGuard::new(opened.device(), Extents::default());
    medium.begin_turn("checksums before the start");
    let marks = fingerprint::read_marks(&mut medium, &places, None).or_io()?;
    waits.extend(medium.take_waits());
    let boot_id = host::boot_id(&Roots::default());
    Ok(Some(Fingerprint { diskseq: opened.target.diskseq, boot_id, contents, marks }))
}

impl EarlierSession<'_> {
    fn record(&self) -> &Record {
        &self.replayed.record
    }

    /// Opens the run's medium and recognises it: where it was, where it is found by its identity,
    /// or where the user says that it is (`by_hand`). Of several candidates the one that is
    /// recognised is taken.
    pub fn open(&self, by_hand: Option<&str>) -> Result<(Target, Recognition)> {
        self.open_with(by_hand, &Target::open, &|target| self.recognise(target))
    }

    /// The same for a run that opens and recognises its medium in its own way.
    pub fn open_with(
        &self,
        by_hand: Option<&str>,
        open: &dyn Fn(&RunRequest) -> Result<Target>,
        recognise: &dyn Fn(&mut Target) -> Result<Recognition>,
    ) -> Result<(Target, Recognition)> {
        let mut refused = None;
        let mut strange = None;
        for place in possible_locations(&self.request.target, self.record(), by_hand) {
            let request = RunRequest { target: place, reopened: true, ..self.request.clone() };
            let same = open(&request)
                .and_then(|target| self.may_be_it(&target, by_hand.is_some()).map(|()| target));
            match same.and_then(|mut target| Ok((recognise(&mut target)?, target))) {
                Ok((found @ Recognition::Strange { .. }, target)) => {
                    strange = strange.or(Some((target, found)));
                }
                Ok((recognised, target)) => return Ok((target, recognised)),
                Err(failure) => refused = refused.or(Some(failure)),
            }
        }
        match (strange, refused) {
            (Some(strange), _) => Ok(strange),
            (None, Some(failure)) => Err(failure),
            (None, None) => refuse(self.not_found()),
        }
    }

    /// Refuses a medium whose identity is not that of the run's; a user who names the place by hand
    /// may have put the card into another reader: then only the size counts.
    fn may_be_it(&self, opened: &Target, by_hand: bool) -> Result<()> {
        let same =
            if by_hand { opened.as_large_as(self.record()) } else { opened.same_as(self.record()) };
        same.or_refuse()
    }

    /// Compares the contents of the medium with the journal. Reads only.
    fn recognise(&self, opened: &mut Target) -> Result<Recognition> {
        if !matches!(opened.target.kind, TargetKind::Block | TargetKind::File) {
            return Ok(Recognition::Ours);
        }
        let store::JournalFingerprints { fingerprint, marks, marked_after, begun } =
            &self.replayed.traces;
        let before =
            fingerprint.as_ref().map(|fingerprint| fingerprint.marks.clone()).unwrap_or_default();
        let traces = FingerprintHistory {
            before,
            later: marked_after.iter().copied().zip(marks.iter().copied()).collect(),
            writers: UnfinishedCell::begun(&self.record().plan, begun),
        };
        fingerprint::recognise(opened.device(), &DataGenerator::new(self.request.seed), &traces)
            .or_io()
    }

    fn not_found(&self) -> String {
        let medium = report::words::medium_line(self.record());
        format!(
            "the medium of {} is not there ({medium}); put it in again, or say where it is: flashmark resume {} /dev/sdX",
            self.run, self.run
        )
    }
}

/// Places where the medium of a run may be, the likeliest first: where the user says (`by_hand`), or
/// where it was, and where a device of its identity is.
fn possible_locations(target: &str, record: &Record, by_hand: Option<&str>) -> Vec<String> {
    if let Some(target) = by_hand {
        return vec![target.to_owned()];
    }
    let mut places = vec![target.to_owned()];
    if record.target.kind == TargetKind::Block {
        let others = host::nodes_like(&Roots::default(), record);
        let others = others.iter().map(|path| path.display().to_string());
        places.extend(others.filter(|path| path != target));
    }
    places
}

/// Plan of a resumed run: all cells of its journal except those that were left out.
pub fn plan_of(record: &Record, time_limit_ns: Option<u64>) -> Plan {
    let skipped = |id: &str| record.skipped.iter().any(|skip| skip.test == id);
    let cells = record.plan.iter().filter(|planned| !skipped(&planned.id)).cloned().collect();
    let rounds = Suite::built_in(&record.run.suite).is_some_and(|suite| suite.rounds);
    let (suite, skipped) = (record.run.suite.clone(), record.skipped.clone());
    Plan { suite, cells, skipped, time_limit_ns, rounds, repeat: record.run.repeat }
}
