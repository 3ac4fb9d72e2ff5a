//! The program `flashmark-lab`: file systems, real work, traces, simulated media as block devices.

pub mod attach;
pub mod cli;
pub mod commands;
mod workbook;
