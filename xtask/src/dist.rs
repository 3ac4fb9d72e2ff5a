//! `cargo xtask dist`: the static programs of one target with their documents, as an archive and as
//! Debian packages.

pub mod documents;
#[cfg(test)]
mod tests;
mod third_party;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use program::programs::{COLLECTION, FLASHMARK, LAB, Program};

/// Released programs.
const PROGRAMS: [&Program; 3] = [&FLASHMARK, &LAB, &COLLECTION];
/// Their crates.
const CRATES: [&str; 3] = ["flashmark", "flashmark-lab", "flashmark-results"];

/// Flags of the task.
#[derive(clap::Args)]
pub struct Flags {
    /// Triple of the target; this machine's without it.
    #[arg(long)]
    target: Option<String>,
    /// Builds with cargo-zigbuild, which has a linker and a C compiler for every target.
    #[arg(long)]
    zig: bool,
    /// Makes Debian packages too, with cargo-deb.
    #[arg(long)]
    deb: bool,
}

/// Cargo's profile of released programs.
const PROFILE: &str = "packaged";

/// Writes archive, packages and checksums to target/dist.
///
/// # Errors
/// Where a program does not build, or a tool is missing or fails.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let target = flags.target.clone().map_or_else(this_machine, Ok)?;
    let dist = root.join("target/dist");
    let built = build(root, &target, flags.zig)?;
    for program in PROGRAMS {
        let tree = tree(&dist, program);
        if tree.exists() {
            fs::remove_dir_all(&tree).with_context(|| format!("removing {}", tree.display()))?;
        }
        documents::write(root, program, &tree)?;
        third_party::write(root, program, &target, &tree)?;
        fs::create_dir_all(tree.join("bin"))?;
        fs::copy(built.join(program.name), tree.join("bin").join(program.name))
            .with_context(|| format!("{} in {}", program.name, built.display()))?;
    }
    archive(root, &dist, &target)?;
    if flags.deb {
        for program in PROGRAMS {
            debian_package(root, &dist, program, &target)?;
        }
    }
    checksums(&dist)
}

/// Directory with the files of a program below its prefix (`/usr`, `/usr/local`).
fn tree(dist: &Path, program: &Program) -> PathBuf {
    dist.join("tree").join(program.name)
}

/// Builds the programs together, each crate once; returns their directory.
fn build(root: &Path, target: &str, zig: bool) -> Result<PathBuf> {
    let flags = format!("CARGO_TARGET_{}_RUSTFLAGS", target.to_uppercase().replace('-', "_"));
    succeed(
        cargo(root)
            .arg(if zig { "zigbuild" } else { "build" })
            .args(["--profile", PROFILE, "--locked", "--bins", "--target", target])
            .args(CRATES.iter().flat_map(|name| ["--package", name]))
            .env(flags, "-C target-feature=+crt-static"),
    )?;
    Ok(root.join("target").join(target).join(PROFILE))
}

/// Names a program's manifest to cargo.
fn manifest(program: &Program) -> String {
    format!("--manifest-path={}/Cargo.toml", program.sources)
}

/// Packs the trees into one archive. The same sources give the same bytes.
fn archive(root: &Path, dist: &Path, target: &str) -> Result<()> {
    let name = format!("flashmark-{}-{target}", env!("CARGO_PKG_VERSION"));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+w,go-w"])
        .arg(format!("--mtime=@{}", seconds_of_commit(root)?))
        .arg(format!("--transform=s,^\\.,{name},"))
        .args(["--use-compress-program=gzip -9n", "-cf"])
        .arg(dist.join(format!("{name}.tar.gz")));
    for program in PROGRAMS {
        tar.arg("-C").arg(tree(dist, program)).arg(".");
    }
    succeed(&mut tar)
}

fn debian_package(root: &Path, dist: &Path, program: &Program, target: &str) -> Result<()> {
    succeed(
        cargo(root)
            .args(["deb", "--quiet", "--no-build", "--no-strip", "--locked"])
            .arg(manifest(program))
            .args(["--target", target, "--output"])
            .arg(dist)
            .env("SOURCE_DATE_EPOCH", seconds_of_commit(root)?),
    )
    .context("cargo deb comes with `cargo install --locked cargo-deb`")
}

/// Writes SHA256SUMS of all existing archives and packages.
fn checksums(dist: &Path) -> Result<()> {
    let mut names: Vec<String> = fs::read_dir(dist)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".tar.gz") || name.ends_with(".deb"))
        .collect();
    names.sort();
    let sums = output(Command::new("sha256sum").args(&names).current_dir(dist))?;
    fs::write(dist.join("SHA256SUMS"), &sums)?;
    print!("{sums}");
    Ok(())
}

/// Command of cargo in the checkout, with its target directory there too.
fn cargo(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).env("CARGO_TARGET_DIR", root.join("target"));
    cargo
}

/// Triple of this machine.
fn this_machine() -> Result<String> {
    let version = output(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

/// Time of the last commit in seconds since 1970: the only time in the packages.
fn seconds_of_commit(root: &Path) -> Result<String> {
    let said = output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root))?;
    Ok(said.trim().to_owned())
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
