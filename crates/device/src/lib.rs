//! The contract of a device, its guards and wrappers, and what is written to it.
