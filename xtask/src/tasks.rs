//! What can be asked for, and who does it.

use std::path::Path;

use clap::Parser;

use crate::{
    agree, agree_work, attached, before_after, bench, docs, footprint, generated, mutants, picture,
    release_notes, reruns, schema, tidy, torture, truth,
};

/// The workspace's own tools.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub enum Task {
    /// Checks the walls between the crates and the documents beside the code.
    Tidy,
    /// Writes the JSON Schema of the record to docs/record.schema.json.
    Schema(generated::Flags),
    /// Writes docs/command-line.md and docs/tests.md from the program itself.
    Docs(generated::Flags),
    /// Measures whether our numbers agree with fio's, on a loop device of its own (root).
    Agree(agree::Flags),
    /// Measures whether works on a mounted file system agree with fio, on a loop device of its own
    /// (root).
    AgreeWork(agree_work::Flags),
    /// Does one work in a directory and prints its cells.
    Work(agree_work::Once),
    /// Attaches simulated media and measures them with fio, flashbench, f3probe and the program
    /// itself, against what the models say. Needs root.
    Attached(attached::Flags),
    /// Measures how fast the program is, as ratios against fio.
    Bench(bench::Flags),
    /// Holds what `standard` says of simulated media against what is true of them; the table of
    /// docs/truth.md.
    Truth(truth::Flags),
    /// Repeats `check` on real storage and counts how often a run's intervals hold the figures of the
    /// other runs; the table of docs/truth.md. Needs root for the throttled targets.
    Reruns(reruns::Flags),
    /// Counts how often `compare --before --after` finds storage slower that was slowed down, and
    /// storage that was not; the table of docs/truth.md. Needs root.
    BeforeAfter(before_after::Flags),
    /// Kills, stops, unplugs and cuts the power, at random and often, and counts what is lost; the
    /// table of docs/reliability.md. Needs root.
    Torture(torture::Flags),
    /// Writes wrong constants and comparisons into a copy of the sources, one at a time, and sees
    /// whether the tests notice.
    Mutants(mutants::Flags),
    /// Draws the terminal of the README from what the program prints.
    Picture,
    /// Prints what a release says of itself, from CHANGELOG.md.
    ReleaseNotes(release_notes::Flags),
    /// Measures how large the program is, how fast it starts, how much memory a run takes.
    Footprint(footprint::Flags),
}

/// Does a task in the checkout that lies at `root`.
pub fn run(root: &Path, task: Task) -> anyhow::Result<()> {
    match task {
        Task::Tidy => tidy::run(root),
        Task::Schema(flags) => schema::run(root, &flags),
        Task::Docs(flags) => docs::run(root, &flags),
        Task::Agree(flags) => agree::run(root, &flags),
        Task::AgreeWork(flags) => agree_work::run(root, &flags),
        Task::Work(flags) => agree_work::once(&flags),
        Task::Attached(flags) => attached::run(root, &flags),
        Task::Bench(flags) => bench::run(root, &flags),
        Task::Truth(flags) => truth::run(root, &flags),
        Task::Reruns(flags) => reruns::run(root, &flags),
        Task::BeforeAfter(flags) => before_after::run(root, &flags),
        Task::Torture(flags) => torture::run(root, &flags),
        Task::Mutants(flags) => mutants::run(root, &flags),
        Task::Picture => picture::run(root),
        Task::ReleaseNotes(flags) => release_notes::run(root, &flags),
        Task::Footprint(flags) => footprint::run(root, &flags),
    }
}
