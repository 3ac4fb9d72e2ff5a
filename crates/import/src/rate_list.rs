//! Lists of the rates of several media, "5.2 MB/s -- 1 Gigabyte Kingston": the form in which an
//! article gives sequential transfers (docs/field/classic-tools.md#iotest).

use record::Pattern;

use super::imported_run::{ImportedRun, cell, estimate, io, note};
use super::media_list::MediaList;
use super::text::{decimal_rate, group, number, re, short};
use super::{Importer, sign};

const ENTRY: &str = r"(?m)^\s*([\d.]\S*) (\S+/s(?:ec)?)\s*(?:--|–|—)\s*(\S.*)$";

pub(super) const IMPORTER: Importer = Importer {
    name: "a list of rates",
    signs: &[sign!("lines '5.2 MB/s -- name of a medium'", ENTRY)],
    read: |source, _, reading| {
        let mut media = MediaList::default();
        for (at, entry) in source.captures(re!(ENTRY)) {
            let value = number(group(&entry, 1));
            let Some(bps) = value.and_then(|value| decimal_rate(value, group(&entry, 2))) else {
                continue;
            };
            // As for the published row: direction and block size are unknown.
            let mut cell = cell("published:transfer", io(None, Pattern::Sequential, None));
            cell.metrics.bps = Some(estimate(bps, 1));
            note(
                &mut cell,
                "a rate in a list: neither tool nor direction nor block size is in the text",
            );
            let mut found = ImportedRun::by("not stated");
            found.medium.model = Some(short(group(&entry, 3), 60));
            reading.add(&mut found, at, cell);
            media.push(at, found, reading);
        }
        media.0
    },
    is_ignored_line: |_| false,
};
