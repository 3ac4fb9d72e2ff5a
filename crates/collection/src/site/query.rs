//! Query strings of the table. The names are those of the form on its page, which the script reads:
//! `?kind=sd&page=2`.

use record::collection::{FigureUnit, Query};

/// Number of lines on a page.
pub const LINES: u32 = 50;

/// Factor from a figure's displayed unit to the stored one: rates are shown and requested in MB/s
/// (10^6), times in ms.
pub fn unit_factor(unit: FigureUnit) -> f64 {
    match unit {
        FigureUnit::Iops => 1.0,
        FigureUnit::Bps | FigureUnit::Ns => 1e6,
    }
}

/// Unit after a displayed number.
pub fn unit_name(unit: FigureUnit) -> &'static str {
    match unit {
        FigureUnit::Iops => "IOPS",
        FigureUnit::Bps => "MB/s",
        FigureUnit::Ns => "ms",
    }
}

/// The query string of a query; empty for the default query. Default values are left out.
pub fn to_text(query: &Query) -> String {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    pairs.extend(query.kinds.iter().map(|kind| ("kind", kind.name().to_owned())));
    pairs.extend(query.origins.iter().map(|origin| ("origin", origin.name().to_owned())));
    let page = (query.page > 0).then(|| (u64::from(query.page) + 1).to_string());
    pairs.extend(page.map(|page| ("page", page)));
    let text: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    text.join("&")
}

/// Percent-encoded text for an address (RFC 3986: all but letters, digits and `-._~`).
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte))
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}
