//! The program `flashmark-collection`: results of many, imported, exported, submitted, judged and
//! published.

pub mod cli;
pub mod commands;
pub mod export;
mod parallel;
mod repository;
mod shared_file;
