//! The studies, one subcommand each.

use std::path::Path;

use clap::Parser;

use crate::{
    agree, agree_work, articles, attached, before_after, bench, buses, fleet, footprint, liars,
    packages, reruns, torture, truth,
};

/// Studies that hold the program against other tools and against known truth.
#[derive(Parser)]
#[command(name = "cargo validation", bin_name = "cargo validation")]
pub enum Study {
    /// Measures whether our numbers agree with fio's, on a loop device of its own (root).
    Agree(agree::Flags),
    /// Measures whether works on a mounted file system agree with fio, on a loop device of its own
    /// (root).
    AgreeWork(agree_work::Flags),
    /// Holds our form of what the articles did against the tools they used, on a loop device of its
    /// own; the table of docs/articles.md. Installs hdparm and iozone. Needs root.
    Articles(articles::Flags),
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
    /// Tries the program on media behind the kernel's drivers of USB, SD, NVMe and SCSI in virtual
    /// machines: pulls them out, lets them fail, stop answering and be exchanged; the table of
    /// docs/buses.md. Needs root.
    Buses(buses::Flags),
    /// Runs the Ansible role on three hosts in network namespaces, one of which is cut off and crashes.
    /// Installs Ansible below target/. Needs root and openssh-server.
    Fleet(fleet::Flags),
    /// Measures how large the program is, how fast it starts, how much memory a run takes.
    Footprint(footprint::Flags),
    /// Counts how far lies move a figure of a collection; the table of docs/liars.md.
    Liars(liars::Flags),
    /// Holds the Debian packages against lintian, and installs, uses, upgrades, removes and purges them
    /// in a fresh Debian. Needs root, lintian, debootstrap and cargo-deb.
    Packages(packages::Flags),
}

/// Does a study on the checkout that lies at `root`.
pub fn run(root: &Path, study: Study) -> anyhow::Result<()> {
    match study {
        Study::Agree(flags) => agree::run(root, &flags),
        Study::AgreeWork(flags) => agree_work::run(root, &flags),
        Study::Articles(flags) => articles::run(root, &flags),
        Study::Work(flags) => agree_work::once(&flags),
        Study::Attached(flags) => attached::run(root, &flags),
        Study::Bench(flags) => bench::run(root, &flags),
        Study::Truth(flags) => truth::run(root, &flags),
        Study::Reruns(flags) => reruns::run(root, &flags),
        Study::BeforeAfter(flags) => before_after::run(root, &flags),
        Study::Torture(flags) => torture::run(root, &flags),
        Study::Buses(flags) => buses::run(root, &flags),
        Study::Fleet(flags) => fleet::run(root, &flags),
        Study::Footprint(flags) => footprint::run(root, &flags),
        Study::Liars(flags) => liars::run(root, &flags),
        Study::Packages(flags) => packages::run(root, &flags),
    }
}
