//! Fuzz target of uploads to a collection. The first byte selects packed or plain data. An accepted
//! upload is accepted again, and is the same.
#![no_main]

use collection::{UploadLimits, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, body)) = bytes.split_first() else { return };
    let limits = UploadLimits::default();
    match read(body, (*first == b'z').then_some("gzip"), &limits) {
        Err(rejection) => {
            assert!(!rejection.reason.chars().any(char::is_control), "{rejection}");
        }
        Ok(taken) => {
            let json = serde_json::to_vec(&taken.run).expect("what was JSON is JSON");
            assert_eq!(
                read(&json, None, &limits).as_ref(),
                Ok(&taken),
                "what was taken is taken again"
            );
            assert!(!taken.run.name().is_empty());
        }
    }
});
