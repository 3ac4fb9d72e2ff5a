//! Makes a trace of any length, to see what a replay costs: `cargo run --release -p flashmark-workloads
//! --example make_trace -- 10000000 FILE`. Up to four requests in flight, reads and writes of 4 KiB
//! at random offsets in the first GiB, and a flush now and then.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a tool that prints")]

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufWriter;

use device::Op;
use flashmark_workloads::trace::{Issue, RequestFlags, TraceHeader, TraceWriter};

const PLACES: u64 = (1 << 30) / 4096;
const AT_ONCE: usize = 4;
const APART_NS: u64 = 50_000;

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(requests), Some(path)) =
        (words.next().and_then(|word| word.parse::<u64>().ok()), words.next())
    else {
        println!("make_trace REQUESTS FILE");
        std::process::exit(2);
    };
    let header = TraceHeader {
        device: "made".into(),
        recorder: "make_trace".into(),
        ..TraceHeader::default()
    };
    let mut writer = TraceWriter::new(BufWriter::new(File::create(&path)?), &header, 0)?;
    let mut random = stats::Random::new(1);
    let mut under_way = VecDeque::new();
    for number in 0..requests {
        let op = match (number % 64, random.below(4)) {
            (63, _) => Op::Flush,
            (_, 0) => Op::Read,
            _ => Op::Write,
        };
        let (offset_bytes, length_bytes) =
            if op == Op::Flush { (0, 0) } else { (random.below(PLACES) * 4096, 4096) };
        let time_ns = number * APART_NS;
        let (flags, device, pid) = (RequestFlags::NONE, 1, 1);
        let issue = Issue { time_ns, op, flags, offset_bytes, length_bytes, device, pid };
        writer.issued(&issue)?;
        under_way.push_back(issue);
        if under_way.len() == AT_ONCE
            && let Some(done) = under_way.pop_front()
        {
            writer.completed(time_ns + APART_NS / 2, &done)?;
        }
    }
    writer.finish()?;
    Ok(())
}
