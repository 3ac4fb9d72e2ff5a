//! The studies, one subcommand each.

use std::path::Path;

use clap::Parser;

use crate::{agree, agree_work, articles, bench, buses, torture, truth, verdicts};

/// Studies that compare the program with other tools and with known truth.
#[derive(Parser)]
#[command(name = "cargo validation", bin_name = "cargo validation")]
pub enum Study {
    /// Compare our figures with fio's, on a loop device of its own. Needs root.
    Agree(agree::Flags),
    /// Compare the works on a mounted file system with fio, on a loop device of its own. Needs
    /// root.
    AgreeWork(agree_work::Flags),
    /// Compare our form of the articles' tests with the tools they used, on a loop device of its
    /// own; the table of docs/articles.md. Installs hdparm, iostat and iozone. Needs root.
    Articles(articles::Flags),
    /// Read 512 bytes at random places of a device, as seeker does, and print what it prints.
    Seeker(articles::Seeks),
    /// Do one work in a directory and print its cells.
    Work(agree_work::Once),
    /// Compare the verdicts on databases and loggers with SQLite and a logger on the same attached
    /// medium; the table of docs/simulated-media.md. Needs root.
    Verdicts(verdicts::Flags),
    /// Measure the speed of the program, as ratios to fio.
    Bench(bench::Flags),
    /// Compare the results of `standard` on simulated media with the truth; with --reruns, results
    /// on real storage with each other (root); the tables of docs/truth.md.
    Truth(truth::Flags),
    /// Kill, stop, unplug and cut the power, at random and often, and count what is lost; the table
    /// of docs/reliability.md. Needs root.
    Torture(torture::Flags),
    /// Test the program on media behind the kernel's drivers of USB, SD, NVMe and SCSI in virtual
    /// machines: they are pulled out, fail, stop answering and are exchanged; the table of
    /// docs/buses.md. Needs root.
    Buses(buses::Flags),
}

/// Does a study on the checkout that lies at `root`.
pub fn run(root: &Path, study: Study) -> anyhow::Result<()> {
    match study {
        Study::Agree(flags) => agree::run(root, &flags),
        Study::AgreeWork(flags) => agree_work::run(root, &flags),
        Study::Articles(flags) => articles::run(root, &flags),
        Study::Seeker(flags) => articles::seek(&flags),
        Study::Work(flags) => agree_work::once(&flags),
        Study::Verdicts(flags) => verdicts::run(root, &flags),
        Study::Bench(flags) => bench::run(root, &flags),
        Study::Truth(flags) => truth::run(root, &flags),
        Study::Torture(flags) => torture::run(root, &flags),
        Study::Buses(flags) => buses::run(root, &flags),
    }
}
