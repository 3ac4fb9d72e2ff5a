//! Checks of the project and documents that are made from the code.
#![allow(clippy::print_stdout, reason = "a tool that prints")]

mod dist;
mod docs;
mod generated;
mod layers;
mod programs;
mod schema;
mod tasks;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::Parser as _;

fn main() -> anyhow::Result<()> {
    tasks::run(root(), tasks::Task::parse())
}

/// Path of the checkout: the one in which cargo runs this, or else the one in which it was built.
fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let own = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        own.parent().expect("xtask lies in the workspace").to_owned()
    });
    &ROOT
}

#[cfg(test)]
mod tests {
    use super::*;
    use generated::Flags;

    #[test]
    fn the_project_keeps_its_rules() {
        layers::run(root(), &layers::Flags::default()).unwrap();
    }

    #[test]
    fn the_generated_documents_are_up_to_date() {
        schema::run(root(), &Flags { check: true }).unwrap();
        docs::run(root(), &Flags { check: true }).unwrap();
    }
}
