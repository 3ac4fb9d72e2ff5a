//! Everything about the project that is not the program: checks, generated documents, comparisons with other tools.

mod agree;
mod agree_work;
mod attached;
mod bench;
mod docs;
mod footprint;
mod generated;
mod pages;
mod released;
mod schema;
mod section;
mod tasks;
mod tidy;
mod torture;
mod truth;

use std::path::Path;

use clap::Parser as _;

fn main() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    tasks::run(root, tasks::Task::parse())
}
