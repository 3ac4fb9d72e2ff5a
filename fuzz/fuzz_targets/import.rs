//! Fuzz target of imports: reading any file neither panics nor takes long, and its records can be
//! stored.
#![no_main]

use libfuzzer_sys::fuzz_target;
use record::Record;

fuzz_target!(|bytes: &[u8]| {
    let Ok(records) = import::read("input", bytes) else { return };
    for mut record in records {
        record.findings = findings::conclude(&record);
        let text = record.to_json();
        let back = Record::from_json(&text).expect("a record that was imported can be read again");
        assert_eq!(back.to_json(), text, "and is the same");
    }
});
