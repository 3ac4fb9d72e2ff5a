//! Stored form of a run: JSON, compressed.

use std::borrow::Cow;

use record::Published;
use record::collection::{Model, Origin, RunHeadline};
use record::units::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{CollectionError, finite};

/// Level of zstd. A real run is mostly digits of curves: level 3 makes them 4 % larger than level 2
/// and takes 1.6 times as long; level 7 compresses as level 2 does.
const LEVEL: i32 = 2;
/// Longest document, in bytes; a compressed one that claims more is a trap, or damaged.
const MAX_BYTES: u64 = 256 << 20;

/// Stored form of a revision: the part of an entry that never changes.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RevisionDocument {
    pub model: Model,
    pub origin: Origin,
    pub headline: RunHeadline,
    pub run: Published,
}

/// A run ready for the database.
pub(super) struct PackedRun {
    /// SHA-256 of the published run as JSON, without its findings; identifies the content.
    pub content: [u8; 32],
    /// The [`RevisionDocument`] as JSON, compressed with zstd.
    pub body: Vec<u8>,
}

/// The part of a document before its run.
#[derive(Serialize)]
struct Head<'a> {
    model: &'a Model,
    origin: Origin,
    headline: &'a RunHeadline,
}

impl RevisionDocument {
    /// Compresses the document for the database.
    ///
    /// # Errors
    /// If its JSON could never be read back: it holds a number that is not finite, or is too large.
    pub fn pack(&self) -> Result<PackedRun, CollectionError> {
        let unrepresentable = |why: String| CollectionError::Unrepresentable { why };
        finite::check(self).map_err(|error| unrepresentable(error.to_string()))?;
        // The run is long, so it is written once for both.
        let run =
            serde_json::to_vec(&self.run).map_err(|error| unrepresentable(error.to_string()))?;
        let head = Head { model: &self.model, origin: self.origin, headline: &self.headline };
        let mut json =
            serde_json::to_vec(&head).map_err(|error| unrepresentable(error.to_string()))?;
        json.pop();
        json.extend_from_slice(b",\"run\":");
        json.extend_from_slice(&run);
        json.push(b'}');
        if json.len() as u64 > MAX_BYTES {
            return Err(unrepresentable(format!("it has {}", Bytes(json.len() as u64))));
        }
        let body = zstd::bulk::compress(&json, LEVEL)
            .map_err(|error| unrepresentable(error.to_string()))?;
        // Runs that a server takes in have no findings: their bytes are those just written.
        let is_bare = self.run.findings.is_empty();
        let content = if is_bare { Sha256::digest(&run).into() } else { content(&self.run)? };
        Ok(PackedRun { content, body })
    }

    /// Decompresses and reads a document from the database; errors where it is damaged.
    pub fn unpack(body: &[u8]) -> Result<RevisionDocument, CollectionError> {
        let damaged =
            |why: String| CollectionError::damaged(format!("a run in it cannot be read: {why}"));
        let reader =
            zstd::stream::Decoder::new(body).map_err(|error| damaged(error.to_string()))?;
        let mut json = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(reader, MAX_BYTES), &mut json)
            .map_err(|error| damaged(error.to_string()))?;
        serde_json::from_slice(&json).map_err(|error| damaged(error.to_string()))
    }
}

/// SHA-256 of a run's content, as [`PackedRun`] has it. Findings follow from the content and are
/// not part of it.
pub(super) fn content(run: &Published) -> Result<[u8; 32], CollectionError> {
    let measured = match run.findings.is_empty() {
        true => Cow::Borrowed(run),
        false => Cow::Owned(Published { findings: Vec::new(), ..run.clone() }),
    };
    let json = serde_json::to_vec(measured.as_ref())
        .map_err(|error| CollectionError::Unrepresentable { why: error.to_string() })?;
    Ok(Sha256::digest(&json).into())
}

/// Name of a run in every collection, made of its content: 16 letters and digits.
///
/// # Errors
/// If the run holds a number that is not finite.
pub fn content_name(run: &Published) -> Result<String, CollectionError> {
    Ok(id_of(&content(run)?))
}

/// Name of a run: the first 80 bits of its content in Base32 (RFC 4648, in small letters), which
/// has no digits that look like letters.
pub(super) fn id_of(content: &[u8; 32]) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let bits = content[..10].iter().fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    (0..16).rev().map(|at| char::from(LETTERS[(bits >> (5 * at) & 31) as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_letters_and_digits() {
        let mut content = [0u8; 32];
        assert_eq!(id_of(&content), "aaaaaaaaaaaaaaaa");
        content[..10].copy_from_slice(b"foobarfoob");
        // RFC 4648: "foobar" begins MZXW6YTB
        assert!(id_of(&content).starts_with("mzxw6ytb"), "{}", id_of(&content));
    }
}
