//! Reading of a record that anybody may have written: whole or the part that is published, plain or
//! packed with gzip, within limits of size and depth.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::bufread::GzDecoder;
use serde::Deserialize;

use crate::{Published, Record, SCHEMA};

/// Beginning of every version of the form.
const FAMILY: &str = "flashmark/";
/// Longest record that is read, packed or not, in bytes: one that claims more is a trap.
pub const MAX_RECORD_BYTES: usize = 256 << 20;

/// The text of a record cannot be unpacked.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what they are")]
pub enum UnpackError {
    #[error("the document has {bytes} bytes; at most {most} are taken")]
    Long { bytes: usize, most: usize },
    #[error("the body unpacks to more than {0} bytes")]
    LongUnpacked(usize),
    #[error("the body is not packed with gzip, or damaged: {0}")]
    Damaged(#[from] std::io::Error),
    #[error("{0} bytes follow what is packed in the body")]
    Followed(usize),
}

/// The text in these bytes, which may be packed with gzip. Unpacking stops as soon as the text is
/// longer than `most` bytes.
///
/// # Errors
/// It is longer, or damaged.
pub fn unpacked(body: &[u8], most: usize) -> Result<Cow<'_, [u8]>, UnpackError> {
    if !body.starts_with(&[0x1f, 0x8b]) {
        let bytes = body.len();
        return if bytes > most {
            Err(UnpackError::Long { bytes, most })
        } else {
            Ok(Cow::Borrowed(body))
        };
    }
    let (mut packed, mut json) = (GzDecoder::new(body), Vec::new());
    packed.by_ref().take(most as u64 + 1).read_to_end(&mut json)?;
    if json.len() > most {
        return Err(UnpackError::LongUnpacked(most));
    }
    match packed.into_inner() {
        [] => Ok(Cow::Owned(json)),
        rest => Err(UnpackError::Followed(rest.len())),
    }
}

/// A record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Not JSON, or not of this form.
    #[error("not a flashmark record: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It cannot be unpacked.
    #[error("not a flashmark record: {0}")]
    Packed(#[from] UnpackError),
    /// JSON of another format: its schema is not a version of this form.
    #[error("not a flashmark record: its schema is '{found}', not '{SCHEMA}'")]
    Foreign {
        /// Schema that it names.
        found: String,
    },
    /// A newer version wrote it.
    #[error(
        "the record is of form '{found}', this version reads '{SCHEMA}'; a newer flashmark reads it"
    )]
    Newer {
        /// Schema that it names.
        found: String,
    },
}

impl Record {
    /// Parses a record. A newer form is an error of its own.
    pub fn from_json(text: &str) -> Result<Record, RecordError> {
        #[derive(Deserialize)]
        struct Probe {
            schema: String,
        }
        let read = match Record::decode(text) {
            Ok(record) if record.schema == SCHEMA => return Ok(record),
            read => read,
        };
        let probe: Probe = serde_json::from_str(text)?;
        match probe.schema {
            ours if ours == SCHEMA => {}
            found if found.starts_with(FAMILY) => return Err(RecordError::Newer { found }),
            found => return Err(RecordError::Foreign { found }),
        }
        Ok(read?)
    }

    /// Reads a record; with an `id`, which becomes that of its run, also one of which only the
    /// published part is there.
    ///
    /// # Errors
    /// It is not a record of this version.
    pub fn read(body: &[u8], id: Option<&str>) -> Result<Record, RecordError> {
        let text = unpacked(body, MAX_RECORD_BYTES)?;
        let text = String::from_utf8_lossy(&text);
        let published = |id| {
            let run = Published::decode(&text).ok().filter(|run| run.schema == SCHEMA)?;
            Some(run.to_record(id))
        };
        Record::from_json(&text).or_else(|error| id.and_then(published).ok_or(error))
    }
}
