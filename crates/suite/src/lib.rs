//! The tests, one file each, and the runner that puts them in order.
