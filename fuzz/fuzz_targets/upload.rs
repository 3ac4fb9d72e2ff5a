//! Fuzz target of uploads to a collection, packed or plain. An accepted upload is accepted again,
//! and is the same.
#![no_main]

use collection::{UploadLimits, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = UploadLimits::default();
    match read(bytes, &limits) {
        Err(rejection) => {
            assert!(!rejection.reason.chars().any(char::is_control), "{rejection}");
        }
        Ok(taken) => {
            let json = taken.run.encode();
            assert_eq!(read(json.as_bytes(), &limits).as_ref(), Ok(&taken), "taken again");
            assert!(!taken.run.name().is_empty());
        }
    }
});
