//! Studies that compare the program with other tools and with known truth, by hand and at night.

mod agree;
mod agree_work;
mod articles;
mod attached_medium;
mod bench;
mod buses;
mod machine;
mod mounted;
mod pairs;
mod programs;
mod released;
mod section;
mod studies;
mod tests_program;
mod torture;
mod truth;
mod verdicts;

use std::path::Path;

use clap::Parser as _;

fn main() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it lies in the checkout");
    studies::run(root, studies::Study::parse())
}
