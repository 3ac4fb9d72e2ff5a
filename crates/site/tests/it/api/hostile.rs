//! What decent clients do not send.

use serde_json::{Value, json};

use stats::Random;

/// Text that is something else to somebody: to SQL, HTML, a shell, a file system, a terminal, an
/// address, a parser of numbers.
pub fn text(chance: &mut Random) -> String {
    const TEXTS: [&str; 28] = [
        "",
        " ",
        "0",
        "-1",
        "1e309",
        "NaN",
        "18446744073709551616",
        "9223372036854775807",
        "null",
        "true",
        "'",
        "' OR '1'='1",
        "\"; DROP TABLE runs; --",
        "<script>alert(1)</script>",
        "../../../etc/passwd",
        "..",
        ".",
        "/",
        "\\",
        "%",
        "%25",
        "_",
        "\0",
        "\u{202e}abc",
        "\u{fdd0}",
        "💾",
        "a\r\nset-cookie: a=b",
        "*",
    ];
    match chance.below(12) {
        0 => "x".repeat(1 + chance.below(5000) as usize),
        1 => (0..chance.below(40))
            .filter_map(|_| char::from_u32(chance.below(0x11_0000) as u32))
            .collect(),
        _ => (*chance.pick(&TEXTS)).to_owned(),
    }
}

/// A part of an address that is written as nobody should, and yet is one that HTTP carries.
pub fn address(chance: &mut Random) -> String {
    const PARTS: [&str; 14] = [
        "%00",
        "%",
        "%zz",
        "%ff%fe",
        "%c0%af",
        "..%2f..%2fetc",
        "%2e%2e",
        "%0d%0aset-cookie:a=b",
        "+",
        "a=b=c",
        "&&&",
        ";",
        "[]",
        "%F0%9F%92%BE",
    ];
    (0..=chance.below(3)).map(|_| *chance.pick(&PARTS)).collect()
}

/// The value of a head: without line ends, which would end it.
pub fn head(chance: &mut Random) -> String {
    let text = text(chance);
    text.chars().filter(|c| !c.is_control()).take(500).collect()
}

/// Changes something somewhere in a document.
pub fn spoil(document: &mut Value, chance: &mut Random) {
    let mut place = document;
    loop {
        let is_leaf = match &*place {
            Value::Object(fields) => fields.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => true,
        };
        if is_leaf || chance.below(6) == 0 {
            break;
        }
        place = match place {
            Value::Object(fields) => {
                let at = chance.below(fields.len() as u64) as usize;
                fields.values_mut().nth(at).expect("it is below their number")
            }
            Value::Array(items) => {
                let at = chance.below(items.len() as u64) as usize;
                &mut items[at]
            }
            _ => unreachable!("leaves end the walk"),
        };
    }
    *place = other(place, chance);
}

/// Something else in a value's place.
fn other(was: &Value, chance: &mut Random) -> Value {
    match chance.below(12) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(u64::MAX),
        3 => json!(f64::MAX),
        4 => json!(-0.0),
        5 => json!(1e-320),
        6 => json!([]),
        7 => json!({}),
        8 => json!([was, was, was]),
        9 => json!({ "a": was }),
        10 => (0..chance.below(40)).fold(was.clone(), |inner, _| json!([inner])),
        _ => json!(text(chance)),
    }
}

/// Changes bytes of a document: it is cut, torn, or something is in its midst.
pub fn spoil_bytes(bytes: &mut Vec<u8>, chance: &mut Random) {
    let length = bytes.len() as u64;
    let at = chance.below(length + 1) as usize;
    match chance.below(5) {
        0 => bytes.truncate(at),
        1 => bytes.splice(at..at, (0..8).map(|_| chance.bits() as u8)).for_each(drop),
        2 => bytes.splice(at..at, *b"NaN").for_each(drop),
        3 if length > 0 => bytes[chance.below(length) as usize] ^= 1 << chance.below(8),
        _ => bytes.extend_from_slice(b"{}"),
    }
}
