//! Conversion of a [`Query`] to a query string and back. The names are those of the form on the
//! table page, so that a form without script and a link mean the same:
//! `?q=sandisk&kind=sd&class=A1&random-write-4k=500&sort=worst-stall&page=2`.

use record::MediumKind;
use record::collection::{FigureUnit, HeadlineFigure, Origin, Query, SortBy};

/// Most lines on a page that may be requested.
pub const MAX_LINES: u32 = 500;
/// Most columns that an address may name; a family counts as one.
pub const MAX_COLUMNS: usize = 300;
/// Default number of lines on a page.
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

/// Name of an order in addresses.
pub fn sort_name(sort: SortBy) -> &'static str {
    match sort {
        SortBy::Figure(figure) => figure.name(),
        SortBy::Name => "name",
        SortBy::Capacity => "capacity",
        SortBy::Runs => "runs",
        SortBy::Latest => "latest",
    }
}

/// The order with this name.
pub fn sort_named(name: &str) -> Option<SortBy> {
    match name {
        "name" => Some(SortBy::Name),
        "capacity" => Some(SortBy::Capacity),
        "runs" => Some(SortBy::Runs),
        "latest" => Some(SortBy::Latest),
        figure => HeadlineFigure::named(figure).map(SortBy::Figure),
    }
}

/// The query string of a query; empty for the default query. Default values are left out.
pub fn to_text(query: &Query) -> String {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    let mut add = |name, value: Option<String>| {
        pairs.extend(value.filter(|value| !value.is_empty()).map(|value| (name, value)))
    };
    add("q", Some(query.words.clone()));
    query.kinds.iter().for_each(|kind| add("kind", Some(kind.name().to_owned())));
    query.origins.iter().for_each(|origin| add("origin", Some(origin.name().to_owned())));
    add("from-gb", query.capacity_from_gb.map(|gb| gb.to_string()));
    add("to-gb", query.capacity_to_gb.map(|gb| gb.to_string()));
    add("class", query.class.clone());
    add("interface", query.interface.clone());
    for (figure, least) in &query.at_least {
        add(figure.name(), Some((least / unit_factor(figure.unit())).to_string()));
    }
    add("fakes", query.fakes.map(|only| if only { "only" } else { "none" }.to_owned()));
    let sort = query.sort.filter(|sort| *sort != SortBy::default());
    add("sort", sort.map(|sort| sort_name(sort).to_owned()));
    add("reversed", query.reversed.then(|| "1".to_owned()));
    add("per-page", query.per_page.filter(|lines| *lines != LINES).map(|lines| lines.to_string()));
    add("page", (query.page > 0).then(|| (u64::from(query.page) + 1).to_string()));
    let mut text: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
    if !query.columns.is_empty() {
        let names: Vec<String> = query.columns.iter().map(|name| escaped(name)).collect();
        text.push(format!("columns={}", names.join(",")));
    }
    text.join("&")
}

/// The query for the names and values of an address or a form, already percent-decoded. Empty or
/// invalid values are ignored, as a form sends all its fields. Pages are counted from 1 here.
pub fn of_pairs<N: AsRef<str>, V: AsRef<str>>(pairs: impl IntoIterator<Item = (N, V)>) -> Query {
    let mut query = Query::default();
    for (name, value) in pairs {
        let value = value.as_ref().trim();
        if !value.is_empty() {
            set(&mut query, name.as_ref(), value);
        }
    }
    query
}

fn set(query: &mut Query, name: &str, value: &str) {
    let number = || value.parse::<u64>().ok();
    match name {
        "q" => query.words = value.to_owned(),
        "kind" => query.kinds.extend(MediumKind::named(value)),
        "origin" => query.origins.extend(Origin::named(value)),
        "from-gb" => query.capacity_from_gb = number(),
        "to-gb" => query.capacity_to_gb = number(),
        "class" => query.class = Some(value.to_owned()),
        "interface" => query.interface = Some(value.to_owned()),
        "fakes" => {
            query.fakes = [("only", true), ("none", false)]
                .iter()
                .find(|(word, _)| *word == value)
                .map(|(_, only)| *only)
        }
        "sort" => query.sort = sort_named(value),
        "reversed" => query.reversed = value == "1",
        "columns" => value.split(',').for_each(|name| add_column(query, name.trim())),
        "per-page" => {
            query.per_page = number().map(|lines| lines.clamp(1, u64::from(MAX_LINES)) as u32)
        }
        "page" => {
            query.page =
                number().map_or(0, |page| page.saturating_sub(1).min(u64::from(u32::MAX)) as u32)
        }
        _ => {
            let least = value.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
            let asked = HeadlineFigure::named(name)
                .zip(least)
                .filter(|(figure, _)| query.at_least.iter().all(|(known, _)| known != figure));
            query
                .at_least
                .extend(asked.map(|(figure, value)| (figure, value * unit_factor(figure.unit()))));
        }
    }
}

/// Adds a ticked box, or an element of the list in an address. Unknown columns are ignored.
fn add_column(query: &mut Query, name: &str) {
    let is_new = query.columns.len() < MAX_COLUMNS && !query.columns.iter().any(|it| it == name);
    if is_new && record::column_choice(name).is_ok() {
        query.columns.push(name.to_owned());
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The decoded pairs of an address, as in a server.
    fn pairs(text: &str) -> Vec<(String, String)> {
        let plain = |part: &str| {
            let mut bytes = Vec::new();
            let mut rest = part.bytes();
            while let Some(byte) = rest.next() {
                let hex = |digit: Option<u8>| {
                    char::from(digit.unwrap_or(b'0')).to_digit(16).unwrap_or(0) as u8
                };
                bytes.push(if byte == b'%' {
                    hex(rest.next()) * 16 + hex(rest.next())
                } else {
                    byte
                });
            }
            String::from_utf8(bytes).unwrap()
        };
        text.split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (plain(name), plain(value)))
            .collect()
    }

    #[test]
    fn an_address_brings_the_query_back() {
        let query = Query {
            words: "San Disk & <b>ü</b>".into(),
            kinds: vec![MediumKind::Sd, MediumKind::CompactFlash],
            origins: vec![Origin::Reference],
            capacity_from_gb: Some(8),
            capacity_to_gb: Some(64),
            class: Some("A1".into()),
            interface: Some("usb 2.0".into()),
            at_least: vec![
                (HeadlineFigure::RandomWrite4k, 500.0),
                (HeadlineFigure::WorstStall, 250e6),
                (HeadlineFigure::SequentialWrite, 10.5e6),
            ],
            fakes: Some(false),
            sort: Some(SortBy::Figure(HeadlineFigure::WorstStall)),
            reversed: true,
            per_page: Some(100),
            page: 2,
            columns: vec!["dd".into(), "random-write-4k".into()],
        };
        let text = to_text(&query);
        assert_eq!(of_pairs(pairs(&text)), query, "{text}");
        assert!(text.contains("worst-stall=250&sequential-write=10.5&"), "{text}");
        assert!(text.ends_with("&columns=dd,random-write-4k"), "{text}");
    }

    #[test]
    fn boxes_that_are_ticked_and_a_list_are_the_same_columns() {
        let boxes = of_pairs([("columns", "dd"), ("columns", "seeks"), ("columns", "dd")]);
        assert_eq!(boxes, of_pairs([("columns", "dd, seeks,<script>,")]));
        assert_eq!(boxes.columns, ["dd", "seeks"]);
    }

    #[test]
    fn an_empty_form_gives_an_empty_query() {
        assert_eq!(to_text(&Query::default()), "");
        let form = [
            ("q", ""),
            ("kind", ""),
            ("class", " "),
            ("random-write-4k", ""),
            ("sort", "random-write-4k"),
            ("page", "1"),
        ];
        let query = of_pairs(form);
        assert_eq!(
            query,
            Query { sort: Some(SortBy::Figure(HeadlineFigure::RandomWrite4k)), ..Query::default() }
        );
        assert_eq!(to_text(&query), "");
    }

    #[test]
    fn nonsense_is_passed_over() {
        let query = of_pairs([
            ("kind", "'; drop table lines"),
            ("from-gb", "-1"),
            ("random-write-4k", "NaN"),
            ("worst-stall", "inf"),
            ("sort", "1"),
            ("page", "99999999999999999999999"),
            ("per-page", "100000"),
            ("what", "ever"),
        ]);
        assert_eq!(query, Query { per_page: Some(MAX_LINES), ..Query::default() });
    }
}
