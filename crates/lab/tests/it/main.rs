//! Works on real directories: they give cells, leave nothing behind, end when told to, and name what went wrong.

mod file_device;
mod kernel;
mod works;
