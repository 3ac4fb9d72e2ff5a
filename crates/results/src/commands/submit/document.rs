//! Document that is sent: the published part of a record, as text, without private words.

use flate2::Compression;
use record::{Published, Record};

use crate::repository::write_packed;
use program::exit::{OrExit, Result};
use session::published_run;

/// A run as it is sent to a collection.
pub struct SubmissionDocument {
    /// The published part of the run; what is private in its texts is blanked.
    pub run: Published,
    /// The run as JSON: these bytes, and no others.
    pub json: String,
    /// Size of the same, packed with gzip.
    pub packed_bytes: u64,
    /// Texts in which something private was blanked.
    pub blanked: usize,
}

impl SubmissionDocument {
    /// Packs what a collection gets of a record.
    pub fn of(record: &Record) -> Result<SubmissionDocument> {
        let (run, blanked) = published_run::of(record)?;
        let json = record::json::indented(&run.encode());
        let packed = write_packed(Vec::new(), Compression::default(), &json).or_internal()?;
        let (json, packed_bytes) = (json + "\n", packed.len() as u64);
        Ok(SubmissionDocument { run, json, packed_bytes, blanked })
    }
}

#[cfg(test)]
mod tests {
    use record::Flag;

    use super::*;

    fn record() -> Record {
        let text = include_str!("../../../../../fixtures/records/flashmark-0.1.0-sim.json");
        Record::from_json(text).expect("the fixture is a record")
    }

    #[test]
    fn private_words_are_blanked_wherever_they_turn_up() {
        let mut record = record();
        record.medium.serial = Some("0xDEADBEEF42".into());
        record.medium.by_id = vec!["mmc-SD32G_0xDEADBEEF42".into()];
        record.medium.model = Some("SD32G 0xDEADBEEF42".into());
        record.target.path = "/media/jane/card".into();
        record.cells[0].reason = Some("cannot write /media/jane/card/test: no space".into());
        record.cells[0].on = Some("mmc-SD32G_0xDEADBEEF42".into());
        record.flags.push(Flag::Note { text: "by jane".into() });
        let document = SubmissionDocument::of(&record).unwrap();
        let cell = &document.run.cells[0];
        for (text, is) in [
            (&document.run.model, "SD32G [not published]"),
            (&cell.reason, "cannot write [not published]/test: no space"),
            // The longest first.
            (&cell.on, "[not published]"),
        ] {
            assert_eq!(text.as_deref(), Some(is));
        }
        assert!(!document.json.contains("DEADBEEF") && !document.json.contains("/media"));
        assert_eq!(document.blanked, 3);
    }

    #[test]
    fn names_of_devices_and_short_words_stay() {
        let mut record = record();
        record.medium.serial = Some("1".into());
        record.target.path = "/dev/sda".into();
        record.cells[0].reason = Some("1 error on /dev/sda".into());
        assert_eq!(SubmissionDocument::of(&record).unwrap().blanked, 0);
    }

    #[test]
    fn what_cannot_be_printed_does_not_leave() {
        let mut record = record();
        record.medium.model = Some(" STORE\u{0}N\nGO\u{202e} ".into());
        let document = SubmissionDocument::of(&record).unwrap();
        assert_eq!(document.run.model.as_deref(), Some("STORE N GO"));
    }
}
