//! Replacement of `uring` on 32-bit systems, for which the io_uring binding has no layouts: other
//! code needs no special case.

use std::io;
use std::sync::Arc;

use device::{Completion, IoError, Request};

use crate::buffers::Buffers;
use crate::in_flight::InFlightTable;
use crate::target::Target;

/// Never created: [`Uring::new`] always fails here.
pub(crate) enum Uring {}

pub(crate) fn is_available() -> bool {
    false
}

impl Uring {
    pub fn new(_: Arc<Target>, _: Arc<InFlightTable>, _: Arc<Buffers>) -> io::Result<Uring> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn submit(&mut self, _: &Request) {
        match *self {}
    }

    pub fn reap(&mut self, _: usize, _: &mut Vec<Completion>) -> Result<(), IoError> {
        match *self {}
    }

    pub fn idle(&mut self, _: u64) -> Result<(), IoError> {
        match *self {}
    }
}
