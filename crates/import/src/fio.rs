//! fio: JSON and json+, the normal text, and the report of Raspberry Pi Diagnostics.

mod add_up;
mod diagnostics;
mod json;
mod normal;
mod options;
mod same_job;

use record::{Cell, Content, Direction, Params, Path, Pattern, Sync, test};

use self::options::Job;
use super::imported_run;

pub(super) use self::diagnostics::JOBS;
pub(super) use self::json::IMPORTER as JSON;
pub(super) use self::normal::IMPORTER as NORMAL;
pub(super) use self::same_job::keep_fullest_form;

/// Makes the cell of a job and a direction. Its test is ours if the procedure is the same (one I/O
/// at a time past the page cache, one thread), else fio's. Without a direction it covers reads and
/// writes together.
fn cell(job: &Job, direction: Option<Direction>) -> Cell {
    let direction = direction.or(job.direction());
    // A job that only writes and has read has verified what it wrote.
    let is_verified =
        direction == Some(Direction::Read) && job.direction() == Some(Direction::Write);
    let ours = match (job.order, direction) {
        (Some(Pattern::Sequential), Some(Direction::Read)) => test::SEQUENTIAL_READ,
        (Some(Pattern::Sequential), Some(Direction::Write)) => test::SEQUENTIAL_WRITE,
        (Some(_), Some(Direction::Read)) => test::RANDOM_READ,
        (Some(_), Some(Direction::Write)) => test::RANDOM_WRITE,
        _ => "",
    };
    let is_plain_data = matches!(job.content, None | Some(Content::Incompressible));
    let plain = job.queue_depth == 1
        && job.threads == 1
        && job.path == Path::Direct
        && (direction == Some(Direction::Read) || job.sync == Sync::None && is_plain_data);
    let is_ours = plain && job.is_simple && !ours.is_empty() && !job.is_mixed();
    let (test, form) = match (is_ours, job.is_mixed()) {
        (true, _) => (ours.to_owned(), None),
        (false, true) => (format!("fio:{}", job.kind), Some(word(direction).to_owned())),
        (false, false) if is_verified => {
            (format!("fio:{}", job.kind.replace("write", "read")), Some("verify".to_owned()))
        }
        (false, false) => {
            (format!("fio:{}", if job.kind.is_empty() { word(direction) } else { &job.kind }), None)
        }
    };
    let params = Params {
        direction,
        pattern: job.order,
        block_bytes: job.block_bytes(direction.unwrap_or(Direction::Read)),
        region: job.region,
        span_offset_bytes: job.offset_bytes,
        span_bytes: job.span_bytes,
        queue_depth: job.queue_depth,
        threads: job.threads,
        sync: if direction == Some(Direction::Read) { Sync::None } else { job.sync },
        path: job.path,
        content: job.content.filter(|_| direction != Some(Direction::Read)),
        form,
        ..Params::default()
    };
    let mut cell = imported_run::cell(test, params);
    job.notes.iter().for_each(|text| imported_run::note(&mut cell, text.as_str()));
    cell
}

fn word(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::Read) => "read",
        Some(Direction::Write) => "write",
        None => "mixed",
    }
}

/// Block size, if bytes and I/Os prove that all I/Os had the same.
fn agreed_block(stated: Option<u64>, bytes: f64, ops: f64) -> Option<u64> {
    if ops <= 0.0 || bytes <= 0.0 {
        return stated;
    }
    let mean = bytes / ops;
    match stated {
        Some(stated) if (mean / stated as f64 - 1.0).abs() < 0.01 => Some(stated),
        _ => (mean.fract() == 0.0 && mean % 512.0 == 0.0).then_some(mean as u64),
    }
}
