//! What the events of the block layer hold, and where: the kernel says it in
//! `events/block/NAME/format`.

use std::collections::HashMap;

/// Where a field lies in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    offset: usize,
    size: usize,
}

/// One kind of event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracepointFormat {
    /// The number that events of this kind begin with.
    pub id: u16,
    dev: Field,
    sector: Field,
    nr_sector: Field,
    rwbs: Field,
    pid: Field,
}

/// What an event says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields<'a> {
    /// The kernel's number of the device: major << 20 | minor.
    pub device: u32,
    /// First sector of 512 bytes, counted on the whole device.
    pub sector: u64,
    /// Length in bytes: the event's `nr_sector` times 512.
    pub length_bytes: u64,
    /// What it does, in the kernel's letters.
    pub rwbs: &'a str,
    /// Process in whose context the event was recorded (`common_pid`).
    pub pid: u32,
}

impl TracepointFormat {
    /// From the text of a `format` file; what is missing in it is the error.
    pub fn parse(text: &str) -> Result<TracepointFormat, String> {
        let id = text
            .lines()
            .find_map(|line| line.strip_prefix("ID:"))
            .and_then(|id| id.trim().parse().ok());
        let fields: HashMap<&str, Field> = text.lines().filter_map(field).collect();
        let needed = |name: &str, sizes: &[usize]| {
            let found =
                fields.get(name).filter(|field| sizes.is_empty() || sizes.contains(&field.size));
            found
                .copied()
                .ok_or_else(|| format!("the event has no field '{name}' of a size that is known"))
        };
        Ok(TracepointFormat {
            id: id.ok_or("the event has no ID")?,
            dev: needed("dev", &[4])?,
            sector: needed("sector", &[4, 8])?,
            nr_sector: needed("nr_sector", &[4])?,
            rwbs: needed("rwbs", &[])?,
            pid: needed("common_pid", &[4])?,
        })
    }

    /// Reads an event of this kind; none where it is too short.
    pub fn read<'a>(&self, event: &'a [u8]) -> Option<Fields<'a>> {
        let letters = event.get(self.rwbs.offset..self.rwbs.offset + self.rwbs.size)?;
        let letters = letters.split(|byte| *byte == 0).next()?;
        Some(Fields {
            device: number(event, self.dev)? as u32,
            sector: number(event, self.sector)?,
            length_bytes: number(event, self.nr_sector)? * 512,
            rwbs: str::from_utf8(letters).ok()?,
            pid: number(event, self.pid)? as u32,
        })
    }
}

/// An event of any kind, by the names of its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFields {
    /// The number that events of this kind begin with.
    pub id: u16,
    fields: Vec<(String, Field)>,
}

impl EventFields {
    /// From the text of a `format` file.
    pub fn parse(text: &str) -> Option<EventFields> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        let fields = text.lines().filter_map(field);
        Some(EventFields {
            id,
            fields: fields.map(|(name, field)| (name.to_owned(), field)).collect(),
        })
    }

    /// The value of a field of 4 or 8 bytes.
    pub fn get(&self, event: &[u8], name: &str) -> Option<u64> {
        let (_, field) = self.fields.iter().find(|(known, _)| known == name)?;
        number(event, *field)
    }

    /// The arguments of a system call: the fields after its number.
    pub fn arguments(&self, event: &[u8]) -> [u64; 6] {
        let after = self.fields.iter().skip_while(|(name, _)| name != "__syscall_nr").skip(1);
        let mut all = [0; 6];
        for (slot, (_, field)) in all.iter_mut().zip(after) {
            *slot = number(event, *field).unwrap_or(0);
        }
        all
    }
}

/// The number that tells the kind of an event.
pub fn kind(event: &[u8]) -> Option<u16> {
    event.get(..2)?.try_into().ok().map(u16::from_ne_bytes)
}

/// A line `field:TYPE NAME;    offset:N;    size:N;    signed:N;`.
fn field(line: &str) -> Option<(&str, Field)> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';').map(str::trim);
    let name = parts.next()?.rsplit(' ').next()?;
    let name = name.split('[').next()?;
    let mut number = |what: &str| parts.next()?.strip_prefix(what)?.parse().ok();
    Some((name, Field { offset: number("offset:")?, size: number("size:")? }))
}

fn number(event: &[u8], field: Field) -> Option<u64> {
    let bytes = event.get(field.offset..field.offset + field.size)?;
    match field.size {
        4 => Some(u64::from(u32::from_ne_bytes(bytes.try_into().ok()?))),
        8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of Linux 6.18.
    const ISSUE: &str = "name: block_rq_issue\nID: 2104\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n\tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;\n";

    fn event() -> Vec<u8> {
        let mut event = vec![0; 64];
        let mut put = |at: usize, bytes: &[u8]| event[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &2104u16.to_ne_bytes());
        put(4, &697u32.to_ne_bytes());
        put(8, &(7u32 << 20 | 3).to_ne_bytes());
        put(16, &5_000_000_000u64.to_ne_bytes());
        put(24, &8u32.to_ne_bytes());
        put(34, b"WFS");
        event
    }

    #[test]
    fn an_event_is_read_by_the_format_file_of_the_kernel() {
        let format = TracepointFormat::parse(ISSUE).unwrap();
        assert_eq!((format.id, kind(&event())), (2104, Some(2104)));
        let read = Fields {
            device: 7 << 20 | 3,
            sector: 5_000_000_000,
            length_bytes: 4096,
            rwbs: "WFS",
            pid: 697,
        };
        assert_eq!(format.read(&event()), Some(read));
        assert_eq!(format.read(&event()[..40]), None);
    }

    #[test]
    fn a_kernel_whose_event_lacks_something_is_not_misread() {
        let without =
            |name: &str| TracepointFormat::parse(&ISSUE.replace(name, "other")).unwrap_err();
        insta::assert_snapshot!(without(" sector;"), @"the event has no field 'sector' of a size that is known");
        insta::assert_snapshot!(without("ID:"), @"the event has no ID");
    }
}
