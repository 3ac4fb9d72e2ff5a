//! Where io_uring is left alone: on 32-bit systems, for which the binding has no layouts. Stands in
//! for `uring`, so that nothing else needs to know.

use std::io;
use std::sync::Arc;

use device::{Completion, IoError, Request};

use crate::buffers::Buffers;
use crate::flights::Flights;
use crate::target::Target;

/// Never made: [`Uring::new`] always fails here.
pub(crate) enum Uring {}

pub(crate) fn is_available() -> bool {
    false
}

impl Uring {
    pub fn new(_: Arc<Target>, _: Arc<Flights>, _: Arc<Buffers>) -> io::Result<Uring> {
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
