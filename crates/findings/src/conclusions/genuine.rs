//! Is it what it says: its size, its data, its registers, tricks with content.

pub(crate) mod capacity;
pub(crate) mod content;
pub(crate) mod identity;
pub(crate) mod no_sign;
pub(crate) mod read_back;
