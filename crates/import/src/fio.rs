//! fio: JSON and json+, the normal text, and the report of Raspberry Pi Diagnostics.

mod add_up;
mod diagnostics;
mod json;
mod normal;
mod options;
mod same_job;

use record::{Cell, Content, Direction, Params, Path, Sync};

use self::options::Job;
use super::imported_run::{Fill, of_params, our_test, word};

pub(super) use self::diagnostics::JOBS;
pub(super) use self::json::JSON;
pub(super) use self::normal::NORMAL;
pub(super) use self::same_job::keep_fullest_form;

/// Makes the cell of a job and a direction. Its test is ours if the procedure is the same (one I/O
/// at a time past the page cache, one thread), else fio's. Without a direction it covers reads and
/// writes together.
fn cell(job: &Job, direction: Option<Direction>) -> Cell {
    let direction = direction.or(job.direction());
    let is_read = direction == Some(Direction::Read);
    // A job that only writes and has read has verified what it wrote.
    let is_verified = is_read && job.direction() == Some(Direction::Write);
    let Params { sync, content, .. } = job.params;
    let is_plain_data = matches!(content, None | Some(Content::Incompressible));
    let is_plain = job.params.queue_depth == 1
        && job.params.threads == 1
        && job.params.path == Path::Direct
        && (is_read || sync == Sync::None && is_plain_data);
    let ours = job.params.pattern.zip(direction).map(|(order, way)| our_test(order, way));
    let ours = ours.filter(|_| is_plain && job.is_simple && !job.is_mixed());
    let of_both = direction.map_or("mixed", |_| word(direction));
    let kind = if job.kind.is_empty() { of_both } else { &job.kind };
    let (test, form) = match ours {
        Some(ours) => (ours.to_owned(), None),
        None if job.is_mixed() => (format!("fio:{kind}"), Some(of_both)),
        None if is_verified => (format!("fio:{}", kind.replace("write", "read")), Some("verify")),
        None => (format!("fio:{kind}"), None),
    };
    let params = Params {
        direction,
        block_bytes: job.block_bytes(direction),
        sync: if is_read { Sync::None } else { sync },
        content: content.filter(|_| !is_read),
        form: form.map(str::to_owned),
        ..job.params.clone()
    };
    job.notes.iter().fold(of_params(test, params), |cell, text| cell.note(text.as_str()))
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
