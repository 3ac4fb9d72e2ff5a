//! Which request a completion belongs to. The kernel's events name a request by device and place
//! only.

use std::collections::{HashMap, VecDeque};

use device::Op;

/// Requests open at once, beyond which completions must have been lost and nothing can be told any
/// more.
const MAX_OPEN: usize = 1 << 16;

/// By what a completion names its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey {
    /// The kernel's number of the device.
    pub device: u32,
    /// Operation, as the event of the completion names it.
    pub op: Op,
    /// First byte that is still to be done; 0 for a flush.
    pub offset_bytes: u64,
}

struct Open {
    number: u64,
    left_bytes: u64,
    /// It went back to the queue, and will be issued once more.
    requeued: bool,
}

/// The requests under way in a recording, by place.
#[derive(Default)]
pub struct Pairs {
    open: HashMap<RequestKey, VecDeque<Open>>,
    count: usize,
}

impl Pairs {
    /// A request of so many bytes was issued and is to have this number. `false` if it is one that
    /// had gone back to the queue: that has its number already, and is not to be counted again.
    pub fn issued(&mut self, place: RequestKey, length_bytes: u64, number: u64) -> bool {
        let again = self
            .open
            .get_mut(&place)
            .and_then(|waiting| waiting.iter_mut().find(|open| open.requeued));
        if let Some(open) = again {
            open.requeued = false;
            return false;
        }
        if self.count == MAX_OPEN {
            self.open.clear();
            self.count = 0;
        }
        self.count += 1;
        self.open.entry(place).or_default().push_back(Open {
            number,
            left_bytes: length_bytes,
            requeued: false,
        });
        true
    }

    /// A request went back to the queue (the driver was busy) and will be issued again.
    pub fn requeued(&mut self, place: RequestKey) {
        if let Some(open) = self.open.get_mut(&place).and_then(|waiting| waiting.front_mut()) {
            open.requeued = true;
        }
    }

    /// So many bytes from this place on are done. The number of the request that is done with it;
    /// `None` if some of it is left, or if it was issued before the recording began.
    pub fn completed(&mut self, place: RequestKey, length_bytes: u64) -> Option<u64> {
        let waiting = self.open.get_mut(&place)?;
        let mut open = waiting.pop_front()?;
        if waiting.is_empty() {
            self.open.remove(&place);
        }
        if length_bytes > 0 && length_bytes < open.left_bytes {
            open.left_bytes -= length_bytes;
            let rest =
                RequestKey { offset_bytes: place.offset_bytes.wrapping_add(length_bytes), ..place };
            self.open.entry(rest).or_default().push_back(open);
            return None;
        }
        self.count -= 1;
        Some(open.number)
    }
}
