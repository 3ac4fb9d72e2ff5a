//! Conditions of the measurement: facts in a record about medium, link, host and run, in words.

use record::text::{capitalised, printable};
use record::units::{Bytes, BytesPerSecond, Iops, Nanos};
use record::{Claims, Host, Medium, PlannedCell, Record, SpeedClasses, Target};
use report::tables::Table;
use report::words;

/// Pairs of name and value; unknown values are left out.
#[derive(Default)]
struct Facts(Vec<(String, String)>);

impl Facts {
    fn add(&mut self, name: &str, value: Option<impl ToString>) {
        let value =
            value.map(|value| printable(&value.to_string())).filter(|value| !value.is_empty());
        self.0.extend(value.map(|value| (name.to_owned(), value)));
    }
}

/// All sections that are not empty.
pub(super) fn sections(record: &Record) -> Vec<(&'static str, Vec<(String, String)>)> {
    let mut sections = vec![
        ("Medium", medium(&record.medium)),
        ("Target", target(&record.target)),
        ("Run", run(record)),
    ];
    sections.extend(record.host.as_ref().map(|h| ("Host", host(h))));
    sections.retain(|(_, facts)| !facts.is_empty());
    sections
}

fn yes(flag: Option<bool>) -> Option<&'static str> {
    flag.map(|flag| if flag { "yes" } else { "no" })
}

fn medium(medium: &Medium) -> Vec<(String, String)> {
    let mut facts = Facts::default();
    facts.add("Kind", Some(words::kind(medium.kind)));
    facts.add("Vendor", medium.vendor.as_ref());
    facts.add("Model", medium.model.as_ref());
    facts.add("Firmware", medium.firmware.as_ref());
    facts.add("Serial number", medium.serial.as_ref());
    facts.add("Capacity", medium.capacity_bytes.map(exact));
    facts.add("Interface", medium.interface.as_ref());
    facts.add("Manufacturer", medium.manufacturer.as_ref());
    facts.add("OEM", medium.oem.as_ref());
    facts.add("Made", medium.made.as_ref());
    facts.add("CID", medium.cid.as_ref());
    facts.add("CSD", medium.csd.as_ref());
    facts.add("SCR", medium.scr.as_ref());
    facts.add("SSR", medium.ssr.as_ref());
    facts.add("Allocation unit", medium.au_bytes.map(Bytes));
    facts.add("Speed classes", medium.classes.as_ref().map(classes));
    facts.add("Box claims", medium.claims.as_ref().map(claims));
    facts.add("Behind a reader", yes(medium.behind_reader));
    facts.add("Rotates", yes(medium.rotational));
    facts.add("Removable", yes(medium.removable));
    facts.add("Profile", medium.profile.as_ref());
    if let Some(health) = &medium.health {
        facts.add("Life used", health.used_percent.map(|used| format!("{used} %")));
        facts.add("Written in its life", health.written_bytes.map(exact));
        facts.add("Media errors", health.media_errors);
        facts.add("Pre-EOL", health.pre_eol);
        facts.add("Health says", health.source.as_ref());
    }
    facts.0
}

fn exact(bytes: u64) -> String {
    format!("{} ({bytes} bytes)", Bytes(bytes))
}

fn marks(marks: [(&str, Option<u32>); 4]) -> Vec<String> {
    marks.into_iter().filter_map(|(letter, class)| Some(format!("{letter}{}", class?))).collect()
}

fn classes(classes: &SpeedClasses) -> String {
    marks([
        ("C", classes.speed_class),
        ("U", classes.uhs_grade),
        ("V", classes.video_class),
        ("A", classes.app_class),
    ])
    .join(" ")
}

fn claims(claims: &Claims) -> String {
    let mut texts: Vec<String> =
        claims.capacity_bytes.map(|bytes| Bytes(bytes).to_string()).into_iter().collect();
    texts.extend(marks([
        ("C", claims.speed_class),
        ("U", claims.uhs_grade),
        ("V", claims.video_class),
        ("A", claims.app_class),
    ]));
    texts.extend(claims.read_bps.map(|bps| format!("reads {}", BytesPerSecond(bps))));
    texts.extend(claims.write_bps.map(|bps| format!("writes {}", BytesPerSecond(bps))));
    texts.extend(claims.random_read_iops.map(|iops| format!("random reads {}", Iops(iops))));
    texts.extend(claims.random_write_iops.map(|iops| format!("random writes {}", Iops(iops))));
    texts.extend(claims.write_p99_ns.map(|ns| format!("p99 within {}", Nanos(ns))));
    texts.extend(claims.write_max_ns.map(|ns| format!("longest within {}", Nanos(ns))));
    texts.join(", ")
}

fn target(target: &Target) -> Vec<(String, String)> {
    let mut facts = Facts::default();
    facts.add("Kind", Some(format!("{:?}", target.kind).to_lowercase()));
    facts.add("Path", Some(&target.path));
    facts.add("Device", target.device.as_ref());
    facts.add("Engine", target.engine.as_ref());
    facts.add("Backing", target.backing.as_ref());
    if let Some(fs) = &target.filesystem {
        facts.add("File system", fs.kind.as_ref());
        facts.add("Mount options", fs.options.as_ref());
        facts.add("Mounted from", fs.source.as_ref());
        facts.add("Its size", fs.size_bytes.map(Bytes));
        facts.add("Free", fs.free_bytes.map(Bytes));
        facts.add("Partition begins at", fs.partition_offset_bytes.map(exact));
    }
    if let Some(link) = &target.link {
        facts.add("Driver", link.driver.as_ref());
        facts.add("Link", link.mode.as_ref());
        facts.add("Link carries at most", link.max_bps.map(BytesPerSecond));
        facts.add(
            "USB",
            Some(
                [&link.usb_id, &link.usb_name]
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
        );
        facts.add("Commands at once", link.queue_depth);
        facts.add("Command queue", yes(link.command_queue));
    }
    if let Some(queue) = &target.queue {
        facts.add("Scheduler", queue.scheduler.as_ref());
        facts.add("Largest command", queue.max_sectors_kb.map(|kb| format!("{kb} KiB")));
        facts.add("Logical block", queue.logical_block_bytes.map(Bytes));
        facts.add("Physical block", queue.physical_block_bytes.map(Bytes));
        facts.add("Write cache", queue.write_cache.as_ref());
        facts.add("Read ahead", queue.read_ahead_kb.map(|kb| format!("{kb} KiB")));
        facts.add("Requests that may wait", queue.nr_requests);
    }
    facts.0
}

fn run(record: &Record) -> Vec<(String, String)> {
    let run = &record.run;
    let mut facts = Facts::default();
    facts.add("Suite", Some(&run.suite));
    facts.add("Command", Some(run.command.join(" ")));
    let commit =
        run.software.commit.as_deref().map(|commit| format!(" ({commit})")).unwrap_or_default();
    facts.add("Software", Some(format!("{} {}{commit}", run.software.name, run.software.version)));
    facts.add("Seed", Some(run.seed));
    facts.add("Run", Some(&run.id));
    facts.add("Started", run.started.as_ref());
    facts.add("Finished", run.finished.as_ref());
    facts.add("Time by the device's clock", (run.elapsed_ns > 0).then_some(Nanos(run.elapsed_ns)));
    facts.add("Ended", Some(format!("{:?}", run.ended).to_lowercase()));
    facts.add(
        "Taken up again",
        (run.resumed > 0).then(|| words::count(run.resumed as usize, "time")),
    );
    facts.add("Written to the medium", Some(Bytes(record.written_bytes())));
    facts.add("Record form", Some(&record.schema));
    facts.0
}

fn host(host: &Host) -> Vec<(String, String)> {
    let mut facts = Facts::default();
    facts.add("Board", host.board.as_ref());
    facts.add("Processor", host.cpu.as_ref());
    facts.add("Processors", host.cpus);
    facts.add("Governor", host.governor.as_ref());
    facts.add("Memory", host.memory_bytes.map(Bytes));
    facts.add("Memory copies at", host.memory_bps.map(BytesPerSecond));
    facts.add("Kernel", host.kernel.as_ref());
    facts.add("Architecture", host.arch.as_ref());
    facts.add("Virtualised", host.virtualised.as_ref());
    facts.add("Clock source", host.clocksource.as_ref());
    facts.add("Load at the start", host.load);
    facts.add("Throttled", host.throttled.as_ref());
    facts.add("Kernel options", Some(host.kernel_options.join(" ")));
    for (name, value) in &host.vm {
        facts.add(&printable(name), Some(value));
    }
    for temperature in &host.temperatures {
        let ends: Vec<String> = [temperature.start_celsius, temperature.end_celsius]
            .into_iter()
            .flatten()
            .map(|c| format!("{c} °C"))
            .collect();
        facts.add(
            &format!("Temperature {}", printable(&temperature.sensor)),
            Some(ends.join(" to ")),
        );
    }
    facts.0
}

/// The tests that were planned, each with how many of its cells have a result, and its limits.
pub(super) fn plan(record: &Record) -> Table {
    let mut table = Table::new(&["Planned", "#Cells", "#Done", "#At most", "#Writes at most"]);
    let mut tests: Vec<&str> = record.plan.iter().map(|planned| planned.test.as_str()).collect();
    tests.dedup();
    for (at, test) in tests.iter().enumerate() {
        if tests[..at].contains(test) {
            continue;
        }
        let planned: Vec<&PlannedCell> =
            record.plan.iter().filter(|planned| planned.test == *test).collect();
        let is_done = |planned: &&&PlannedCell| record.cells.iter().any(|it| it.id == planned.id);
        let written: u64 =
            planned.iter().map(|it| it.max_written_bytes).fold(0, u64::saturating_add);
        let settings = words::settings(&planned[0].params);
        let notes = if settings.is_empty() { Vec::new() } else { vec![table.note(settings)] };
        table.push(
            vec![
                capitalised(&words::test(test)),
                planned.len().to_string(),
                planned.iter().filter(is_done).count().to_string(),
                Nanos(planned.iter().map(|it| it.max_ns).fold(0, u64::saturating_add)).to_string(),
                if written == 0 { "-".to_owned() } else { Bytes(written).to_string() },
            ],
            notes,
        );
    }
    table
}

/// True if the record has data that its owner may not want to publish.
pub(super) fn is_private(record: &Record) -> bool {
    let medium = &record.medium;
    medium.serial.is_some()
        || medium.cid.is_some()
        || !medium.by_id.is_empty()
        || !record.target.path.starts_with("sim:")
}

/// File name for the record: letters, digits and hyphens of the run's id.
pub(super) fn file_name(record: &Record) -> String {
    let id: String = record
        .run
        .id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(80)
        .collect();
    format!("flashmark-{}.json", if id.is_empty() { "record" } else { &id })
}
