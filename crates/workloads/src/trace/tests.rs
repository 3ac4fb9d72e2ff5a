use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;

pub(crate) fn issue(time_ns: u64, op: Op, offset_bytes: u64, length_bytes: u64) -> Issue {
    Issue { time_ns, op, fua: false, offset_bytes, length_bytes, device: 8 << 20 }
}

pub(crate) fn all(steps: &mut dyn Steps) -> Result<Vec<TraceEvent>, TraceError> {
    let mut found = Vec::new();
    while let Some(step) = steps.next()? {
        found.push(step);
    }
    Ok(found)
}

/// A file of blktrace's with these steps.
pub(crate) fn written(steps: &[TraceEvent]) -> Vec<u8> {
    let mut issued = Vec::new();
    let record = |step: &TraceEvent| {
        let (time_ns, happened, issue) = match step {
            TraceEvent::Issued(issue) => {
                issued.push(*issue);
                (issue.time_ns, ISSUE, *issue)
            }
            TraceEvent::Completed { time_ns, number, .. } => {
                (*time_ns, COMPLETE, issued[*number as usize])
            }
        };
        let moves = match issue.op {
            Op::Read => READ,
            Op::Write => WRITE,
            Op::Flush => READ | FLUSH,
            Op::Discard => WRITE | 1 << 29,
        };
        let action = happened | moves | if issue.fua { 1 << 31 } else { 0 };
        let (sector, bytes) = (issue.offset_bytes / 512, issue.length_bytes as u32);
        let mut record = raw(false, time_ns, sector, bytes, action, 0);
        record[36..40].copy_from_slice(&issue.device.to_le_bytes());
        record
    };
    steps.iter().flat_map(record).collect()
}

fn read(bytes: &[u8]) -> (Result<Vec<TraceEvent>, TraceError>, Option<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t");
    std::fs::write(&path, bytes).unwrap();
    match open(&path).and_then(|trace| trace.steps()) {
        Ok(mut steps) => (all(&mut *steps), steps.cut_off()),
        Err(error) => (Err(error), None),
    }
}

/// A request, and when it was done; `None` if that was not recorded.
pub(crate) type Request = (Issue, Option<u64>);

/// Requests to so many devices of so many sectors, in the order of time, from 0. A recording tells
/// them apart by device, operation and place, so none is asked for again while it is under way.
pub(crate) fn any_requests(devices: u32, sectors: u64) -> impl Strategy<Value = Vec<Request>> {
    let op = prop_oneof![3 => Just(Op::Read), 3 => Just(Op::Write), 1 => Just(Op::Flush), 1 => Just(Op::Discard)];
    let took = prop::option::weighted(0.95, 1u64..200_000);
    let one = (0u64..50_000, took, op, (0..sectors, 1u64..32), any::<bool>(), 0..devices);
    proptest::collection::vec(one, 1..80).prop_map(|all| {
        let (mut now_ns, mut requests) = (0, Vec::<Request>::new());
        for (gap_ns, took_ns, op, (sector, length), fua, device) in all {
            let (sector, length) = if op == Op::Flush { (0, 0) } else { (sector, length) };
            let like = issue(now_ns, op, sector * 512, length * 512);
            let issue = Issue { fua, device: like.device | device, ..like };
            let place = |it: &Issue| (it.device, it.op, it.offset_bytes);
            let is_free = |(other, done): &Request| {
                place(other) != place(&issue) || done.is_some_and(|done| done <= now_ns)
            };
            if requests.iter().all(is_free) {
                requests.push((issue, took_ns.map(|took_ns| now_ns + took_ns)));
                now_ns += gap_ns;
            }
        }
        requests
    })
}

/// The events of requests. One that is done when another is issued is done before it.
pub(crate) fn events(requests: &[Request]) -> Vec<TraceEvent> {
    let mut events = Vec::new();
    for (number, (issue, done)) in (0..).zip(requests) {
        events.push(TraceEvent::Issued(*issue));
        let (op, issued_ns) = (issue.op, issue.time_ns);
        events.extend(done.map(|time_ns| TraceEvent::Completed { time_ns, number, op, issued_ns }));
    }
    events.sort_by_key(|event| (event.time_ns(), matches!(event, TraceEvent::Issued(_))));
    events
}

proptest! {
    #[test]
    fn what_is_written_is_read(requests in any_requests(3, 1 << 40)) {
        let steps = events(&requests);
        let (found, cut_off) = read(&written(&steps));
        prop_assert_eq!(found.unwrap(), steps);
        prop_assert_eq!(cut_off, None);
    }

    /// Wherever a recording breaks off, what is read is a beginning of it, and the break is said.
    #[test]
    fn a_trace_that_breaks_off_is_reported_as_cut_off(
        requests in any_requests(3, 1 << 40),
        cut in 0.0f64..1.0,
    ) {
        let steps = events(&requests);
        let whole = written(&steps);
        let bytes = &whole[..(whole.len() as f64 * cut) as usize];
        match read(bytes) {
            (Ok(found), cut_off) => {
                prop_assert!(steps.starts_with(&found));
                let whole = bytes.len() / 48 * 48;
                let said = format!("t breaks off within the record at byte {whole}");
                prop_assert_eq!(cut_off, (whole < bytes.len()).then_some(said));
            }
            (Err(error), _) => prop_assert!(bytes.len() < 4, "{error}"),
        }
    }

    /// Regression: a part of a request at the last sector ended in an overflow.
    #[test]
    fn no_records_and_no_bytes_make_a_reader_panic(
        records in proptest::collection::vec(
            (any::<u64>(), any::<bool>(), 0usize..4, any::<u32>(), 0usize..3),
            0..40,
        ),
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let sectors = [0, 8, u64::MAX >> 9, u64::MAX];
        let records = records.iter().flat_map(|(time_ns, is_read, at, bytes, action)| {
            let action = [QUEUE, ISSUE, COMPLETE][*action] | if *is_read { READ } else { WRITE };
            raw(false, *time_ns, sectors[*at], bytes & !511, action, 0)
        });
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.blktrace.0");
        std::fs::write(&path, records.chain(bytes).collect::<Vec<u8>>()).unwrap();
        if let Ok(trace) = open(&path) {
            let _ = TraceSurvey::of(&trace, &AtomicBool::new(false));
        }
    }
}

/// A record of blktrace's, in either byte order.
fn raw(big: bool, time_ns: u64, sector: u64, bytes: u32, action: u32, cpu: u32) -> Vec<u8> {
    let u32s = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let u64s = |value: u64| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut record = [u32s(0x6561_7407), u32s(1)].concat();
    record.extend(u64s(time_ns));
    record.extend(u64s(sector));
    [bytes, action, 42, 8 << 20 | 16, cpu, 0]
        .into_iter()
        .for_each(|value| record.extend(u32s(value)));
    record
}

const QUEUE: u32 = 1 | 1 << 20;
const ISSUE: u32 = 7 | 1 << 22;
const COMPLETE: u32 = 8 | 1 << 23;
const WRITE: u32 = 1 << 17;
const READ: u32 = 1 << 16;
const FLUSH: u32 = 1 << 18;

/// The file of one of two processors in which blktrace recorded these lines, "cpu N TIME ACTION KINDS
/// SECTOR BYTES": what happened (Q, D, C, R as of blkparse), and of what kind the request is (R, W, F
/// for a flush, A for durable; P of a program to the drive, N a notice). "message TEXT" is a payload
/// of the first one.
pub(crate) fn of_processor(lines: &[String], this: &str, big: bool) -> Vec<u8> {
    let number = |word: &str| word.parse::<u64>().unwrap();
    let bit = |kind| match kind {
        'R' => READ,
        'W' => WRITE,
        'F' => FLUSH,
        'A' => 1 << 31,
        'P' => 1 << 25,
        _ => 1 << 26,
    };
    let record = |line: &String| match line.split(' ').collect::<Vec<_>>()[..] {
        ["cpu", cpu, time_ns, happened, kinds, sector, bytes] if cpu == this => {
            let happened = match happened {
                "Q" => QUEUE,
                "D" => ISSUE,
                "C" => COMPLETE,
                _ => 6,
            };
            let action = kinds.chars().map(bit).fold(happened, |all, bit| all | bit);
            raw(big, number(time_ns), number(sector), number(bytes) as u32, action, 0)
        }
        ["message", text] if this == "0" => {
            let mut record = raw(big, 900, 0, 0, bit('N') | 2, 0);
            record[46 + usize::from(big)] = text.len() as u8;
            [&record, text.as_bytes()].concat()
        }
        _ => Vec::new(),
    };
    lines.iter().flat_map(record).collect()
}

/// What is said of files that are no traces, or broken ones.
#[test]
fn what_cannot_be_read_is_named_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let foreign = raw(false, 0, 0, 0, 0, 0);
    let mut old = foreign.clone();
    old[0] = 6;
    let files = [
        at("empty", b""),
        at("picture", b"\x89PNG\r\n\x1a\n"),
        at("note", b"dear diary"),
        at("old.blktrace.0", &old),
        at("garbled.blktrace.0", &[foreign, vec![9; 60]].concat()),
        at("log1", b"fio version 1 iolog\n"),
        at("log3", b"fio version 3 iolog\n10 f write 0 4096\n20 f paint 0 4096\n"),
        at("nothing", b"fio version 3 iolog\n10 f add\n"),
        dir.path().join("none"),
    ];
    let messages: Vec<String> = files
        .iter()
        .map(|path| {
            let error = open(path)
                .and_then(|trace| TraceSurvey::of(&trace, &AtomicBool::new(false)))
                .unwrap_err();
            error.to_string().replace(&format!("{}/", dir.path().display()), "")
        })
        .collect();
    insta::assert_snapshot!(messages.join("\n"), @r"
    the trace 'empty' is empty
    'picture' is not a trace: it begins with the bytes 89 50 4e 47 0d 0a 1a 0a; a file of blktrace's (NAME.blktrace.0) or a fio iolog (version 2 or 3) can be replayed
    'note' is not a trace: it begins with 'dear diary'; a file of blktrace's (NAME.blktrace.0) or a fio iolog (version 2 or 3) can be replayed
    the trace 'old.blktrace.0' is a blktrace of version 6; this flashmark reads version 7, which blktrace writes since 2006
    the trace 'garbled.blktrace.0' is damaged at byte 48: there is no record where one must begin
    the trace 'log1' is a fio iolog of version 1; this flashmark reads versions 2 and 3
    the trace 'log3' is damaged at line 3: 'paint' is no action of an iolog's
    the trace 'nothing' (a fio iolog) holds no read, write, flush or discard
    cannot read the trace 'none': No such file or directory (os error 2)
    ");
}
