//! Tasks of the command line.

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::{dist, docs, generated, layers, programs, schema};

/// The workspace's own tools.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub enum Task {
    /// Checks who imports whom, the size of each crate, and links and commands in documents.
    Layers(layers::Flags),
    /// Writes the JSON Schema of the record to docs/record.schema.json.
    Schema(generated::Flags),
    /// Writes the screen of README and the columns of docs/analysis.md from the programs themselves.
    Docs(generated::Flags),
    /// Writes the man pages and completions of all programs below a directory such as ~/.local.
    Pages {
        /// The directory.
        prefix: PathBuf,
    },
    /// Builds the static programs of a target; writes archive, packages and checksums to target/dist.
    Dist(dist::Flags),
}

/// Does a task in the checkout at `root`.
pub fn run(root: &Path, task: Task) -> anyhow::Result<()> {
    match task {
        Task::Layers(flags) => layers::run(root, &flags),
        Task::Schema(flags) => schema::run(root, &flags),
        Task::Docs(flags) => docs::run(root, &flags),
        Task::Pages { prefix } => programs::programs()
            .iter()
            .try_for_each(|(program, _)| dist::documents::of_the_flags(program, &prefix)),
        Task::Dist(flags) => dist::run(root, &flags),
    }
}
