//! Fuzz target of published records: one that is read stays the same after it was made a record,
//! and after it was written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use record::Published;

fuzz_target!(|bytes: &[u8]| {
    let Ok(run) = serde_json::from_slice::<Published>(bytes) else { return };
    assert_eq!(Published::from(&run.to_record("abc")), run);
    let text = serde_json::to_string(&run).expect("it has only text for keys");
    let back: Published = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(back, run);
});
