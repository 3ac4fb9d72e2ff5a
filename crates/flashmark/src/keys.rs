//! Keys by which a collection tells media and hosts apart without learning which they are.

use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use record::text::printable;
use record::{Published, Record};
use sha2::Sha256;

use crate::exit::{Result, usage};
use crate::medium_identity::has_own_identity;

/// Bytes of a secret key.
const SECRET_BYTES: usize = 32;
/// Bytes of a key of a medium or a host.
const KEY_BYTES: usize = 16;

/// Secret key of the owner of the media, from a file.
pub struct KeyFile {
    secret: [u8; SECRET_BYTES],
    /// The file, for messages.
    path: PathBuf,
}

impl KeyFile {
    /// Reads a file with 64 hexadecimal digits.
    ///
    /// # Errors
    /// It cannot be read or holds something else; the error says how to make one.
    pub fn read(path: &Path) -> Result<KeyFile> {
        let shown = printable(&path.display().to_string());
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return usage(format_args!("--keys {shown}: {error}")),
        };
        match secret_of(text.trim()) {
            Some(secret) => Ok(KeyFile { secret, path: path.to_owned() }),
            None => usage(format_args!(
                "--keys {shown}: it does not hold 64 hexadecimal digits; `openssl rand -hex {SECRET_BYTES} > FILE` makes one"
            )),
        }
    }

    /// Reads the file that a flag names, if it was given.
    ///
    /// # Errors
    /// As [`KeyFile::read`].
    pub fn given(path: Option<&Path>) -> Result<Option<KeyFile>> {
        path.map(KeyFile::read).transpose()
    }

    /// Adds the keys of the medium and the host to a published run, as far as the record identifies
    /// them.
    pub fn add(&self, record: &Record, run: &mut Published) {
        let medium = Some(&record.medium).filter(|medium| has_own_identity(medium));
        let medium = medium.and_then(|medium| medium.cid.as_ref().or(medium.serial.as_ref()));
        run.medium_key = medium.map(|identity| self.key("medium", identity.trim()));
        let host = record.host.as_ref().and_then(|host| host.id.as_ref());
        run.host_key = host.map(|identity| self.key("host", identity));
    }

    /// Message about the keys of a run before it is sent.
    pub fn announced(&self, run: &Published) -> String {
        let of = match (&run.medium_key, &run.host_key) {
            (Some(_), Some(_)) => "the medium and the host",
            (Some(_), None) => "the medium; the record does not tell the host",
            (None, Some(_)) => "the host; the medium does not tell which one it is",
            (None, None) => {
                return "none: neither medium nor host tells which one it is".to_owned();
            }
        };
        format!("of {of} (secret: {})", self.path.display())
    }

    fn key(&self, what: &str, identity: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).expect("any length is taken");
        mac.update(what.as_bytes());
        mac.update(&[0]);
        mac.update(identity.as_bytes());
        record::text::hex(&mac.finalize().into_bytes()[..KEY_BYTES])
    }
}

fn secret_of(text: &str) -> Option<[u8; SECRET_BYTES]> {
    if text.len() != 2 * SECRET_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut secret = [0; SECRET_BYTES];
    for (at, byte) in secret.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_hmac_of_the_identity() {
        let secret = secret_of(&"0b".repeat(SECRET_BYTES)).unwrap();
        let keys = KeyFile { secret, path: PathBuf::from("lab.key") };
        // printf 'medium\0%s' 4C530001 | openssl dgst -sha256 -mac HMAC -macopt hexkey:0b0b..
        assert_eq!(keys.key("medium", "4C530001"), "313d6a540b35eb4618c98e0bf9934a5f");
        assert_ne!(keys.key("host", "4C530001"), keys.key("medium", "4C530001"));
    }

    #[test]
    fn a_secret_has_sixty_four_digits() {
        assert!(secret_of(&"aB".repeat(SECRET_BYTES)).is_some());
        for bad in
            [String::new(), "ab".repeat(31), "ab".repeat(33), "xy".repeat(32), "é".repeat(32)]
        {
            assert_eq!(secret_of(&bad), None, "{bad}");
        }
    }
}
