//! Reads what the kernel recorded, puts it in order, and writes the trace.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::format::{TracepointFormat, kind};
use super::page::PageLayout;
use super::tracefs::{Buffer, Instance, Tracefs};
use super::{CaptureError, CaptureSource, Captured, Sink, clock_ns};
use crate::trace::kernel::{Action, BlockEvent};
use crate::trace::rwbs;

/// How often the buffers are emptied. At 10,000 I/Os a second that is 30 pages.
pub(super) const ROUND: Duration = Duration::from_millis(100);
/// Pages of one buffer in a round, beyond which the next round follows at once.
const BUSY_PAGES: usize = 64;
/// Pages of one buffer in a round at most, so that a flood does not keep the others waiting.
const MAX_PAGES: usize = 4096;
/// Room for a page of the buffer; kernels since 6.8 can have larger ones than memory has.
pub(super) const PAGE_BYTES: usize = 64 << 10;
/// Events younger than this wait for the next round: another processor may still be writing down an
/// earlier one.
pub(super) const SETTLED_NS: u64 = 20_000_000;

/// Whether it can be done here; what is missing is the error. Removes what killed captures left.
pub fn prepare() -> Result<(), CaptureError> {
    clean_tracefs()?.format("block_rq_issue").map(drop)
}

/// Tracefs, readable and without what killed captures left.
pub(super) fn clean_tracefs() -> Result<Tracefs, CaptureError> {
    if !rustix::process::geteuid().is_root() {
        return Err(CaptureError::NoRights);
    }
    let tracefs = Tracefs::open()?;
    tracefs.remove_stale();
    tracefs.layout()?;
    Ok(tracefs)
}

/// Records into `sink` until it is full, its time is over, or `stop`.
pub fn record<W: Write>(
    source: &CaptureSource,
    sink: &mut Sink<W>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(&Captured),
) -> Result<(), CaptureError> {
    let tracefs = Tracefs::open()?;
    let layout = tracefs.layout()?;
    let actions = [
        if source.has_requests() { Action::Issued } else { Action::Queued },
        Action::Completed,
        Action::Requeued,
    ];
    let events: Vec<(Action, &str)> = actions
        .into_iter()
        .zip(source.events())
        .filter_map(|(action, name)| Some((action, name?)))
        .collect();
    let kinds = events
        .iter()
        .map(|(action, name)| Ok((tracefs.format(name)?, *action)))
        .collect::<Result<_, CaptureError>>()?;
    let instance = Instance::make(tracefs)?;
    let clock = instance.set_clock()?;
    for (_, name) in &events {
        instance.set(&format!("events/block/{name}/filter"), &source.filter())?;
        instance.set(&format!("events/block/{name}/enable"), "1")?;
    }
    // Declared after the instance, so closed before it is removed.
    let buffers = instance.buffers()?;
    let mut rounds =
        Rounds { source, layout, kinds, buffers, page: vec![0; PAGE_BYTES], waiting: Vec::new() };
    instance.set("tracing_on", "1")?;
    loop {
        let over = stop.load(Ordering::SeqCst) || sink.is_over();
        if over {
            instance.set("tracing_on", "0")?;
        }
        let settled_ns = if over { u64::MAX } else { clock_ns(clock).saturating_sub(SETTLED_NS) };
        let most_pages = rounds.go(settled_ns, sink)?;
        sink.keep()?;
        on_progress(sink.so_far());
        if over || sink.is_full() {
            return Ok(());
        }
        if most_pages < BUSY_PAGES {
            std::thread::sleep(ROUND);
        }
    }
}

/// Empties the buffers again and again.
struct Rounds<'a> {
    source: &'a CaptureSource,
    layout: PageLayout,
    kinds: Vec<(TracepointFormat, Action)>,
    buffers: Vec<Buffer>,
    page: Vec<u8>,
    /// Events that may not be in order yet.
    waiting: Vec<BlockEvent>,
}

impl Rounds<'_> {
    /// Takes what there is and writes what is older than `settled_ns`. Gives the pages of the
    /// fullest buffer.
    fn go<W: Write>(&mut self, settled_ns: u64, sink: &mut Sink<W>) -> Result<usize, CaptureError> {
        let Rounds { source, layout, kinds, buffers, page, waiting, .. } = self;
        let mut most_pages = 0;
        for buffer in buffers.iter_mut() {
            let lost = buffer.newly_lost()?;
            if lost > 0 {
                sink.lost(lost)?;
            }
            let mut pages = 0;
            while pages < MAX_PAGES {
                let length = buffer.read(page)?;
                if length == 0 {
                    break;
                }
                pages += 1;
                let events = layout.events(&page[..length]);
                waiting.extend(
                    events.filter_map(|(time_ns, event)| read(kinds, source, time_ns, event)),
                );
            }
            most_pages = most_pages.max(pages);
        }
        // Stable: what one processor wrote down in one nanosecond stays in its order.
        waiting.sort_by_key(|event| event.time_ns);
        let settled = waiting.partition_point(|event| event.time_ns < settled_ns);
        for event in waiting.drain(..settled) {
            sink.take(&event)?;
            if sink.is_full() {
                break;
            }
        }
        Ok(most_pages)
    }
}

/// An event of the kernel's, where it is one of these kinds and about an I/O.
fn read(
    kinds: &[(TracepointFormat, Action)],
    source: &CaptureSource,
    time_ns: u64,
    event: &[u8],
) -> Option<BlockEvent> {
    let id = kind(event)?;
    let (format, action) = kinds.iter().find(|(format, _)| format.id == id)?;
    let fields = format.read(event)?;
    let what = rwbs(fields.rwbs)?;
    Some(BlockEvent {
        time_ns,
        action: *action,
        what,
        offset_bytes: source.offset_bytes(fields.sector),
        length_bytes: fields.length_bytes,
        device: fields.device,
        pid: fields.pid,
    })
}
