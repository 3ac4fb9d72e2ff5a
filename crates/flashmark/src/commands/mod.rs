//! One file per command.

pub mod attach;
pub mod capture;
pub mod compare;
pub mod export;
pub mod import;
pub mod list;
pub mod matrix;
pub mod publish;
pub mod replay;
pub mod report;
pub mod restore;
pub mod resume;
pub mod run;
pub mod runs;
pub mod show;
pub mod sim;
pub mod submit;
pub mod tests;
pub mod watch;
