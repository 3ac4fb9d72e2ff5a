//! The program `flashmark`: measures and judges one medium or several.
//!
//! It is a library only so that `xtask` can use the same flags.

pub mod cli;
pub mod commands;
pub mod several;
