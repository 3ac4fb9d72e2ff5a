//! `cargo validation packages`: lintian checks the Debian packages; then they are installed in a
//! fresh Debian, used, upgraded, removed and purged.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::programs::{output, succeed};

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Debian suite that is installed.
    #[arg(long, default_value = "stable")]
    suite: String,
    /// Use the packages in target/dist, and build none.
    #[arg(long)]
    no_build: bool,
}

const PROGRAMS: [&str; 2] = ["flashmark", "flashmark-site"];
const SETTINGS: &str = "/etc/default/flashmark-site";
const COLLECTION: &str = "/var/lib/flashmark-site/flashmark.db";

/// Shell command that makes a directory ($1) the root of a command (the rest), with the usual
/// mounts.
const MOUNTED: &str = r#"mount --bind "$1" "$1"; mount -t proc proc "$1/proc"; exec chroot "$@""#;

/// Builds both packages and tries them; prints the time of each step.
///
/// # Errors
/// If a package has a fault, or a tool is missing.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let dist = root.join("target/dist");
    if !flags.no_build {
        timed("build", || succeed(cargo(root).args(["xtask", "dist", "--deb"])))?;
    }
    let architecture = output(Command::new("dpkg").arg("--print-architecture"))?;
    let packages = PROGRAMS.map(|name| package(&dist, name, architecture.trim()));
    let packages = packages.into_iter().collect::<Result<Vec<_>>>()?;
    timed("lintian", || {
        succeed(
            Command::new("lintian")
                .args(["--allow-root", "--fail-on=error,warning"])
                .args(&packages),
        )
    })?;
    let scratch = tempfile::tempdir_in(&dist)?;
    let debian = Debian(scratch.path().join("debian"));
    timed("debootstrap", || {
        succeed(
            Command::new("debootstrap")
                .args(["--variant=minbase", &flags.suite])
                .arg(&debian.0)
                .stdout(Stdio::null()),
        )
    })?;
    debian.holds_what_packages_promise(&packages)
}

/// Path of the only package of a program, of the version that was built last.
fn package(dist: &Path, name: &str, architecture: &str) -> Result<PathBuf> {
    let (start, end) = (format!("{name}_"), format!("_{architecture}.deb"));
    let mut found =
        fs::read_dir(dist)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let found = found.find(|it| it.starts_with(&start) && it.ends_with(&end));
    Ok(dist.join(found.with_context(|| format!("no {start}*{end} in {}", dist.display()))?))
}

/// A Debian in a directory.
struct Debian(PathBuf);

impl Debian {
    fn holds_what_packages_promise(&self, packages: &[PathBuf]) -> Result<()> {
        let inside = self.0.join("packages");
        fs::create_dir(&inside)?;
        timed("install", || self.install(packages))?;
        self.measures()?;
        timed("start the site, one page", || self.serves())?;
        self.sh(&format!("echo FLASHMARK_SITE_TITLE=kept >>{SETTINGS}"))?;
        let newer =
            packages.iter().map(|package| newer(package, &inside)).collect::<Result<Vec<_>>>()?;
        timed("upgrade", || self.install(&newer))?;
        ensure!(
            self.sh(&format!("cat {SETTINGS}"))?.contains("=kept"),
            "an upgrade lost {SETTINGS}"
        );
        self.sh("flashmark --version && flashmark-site check --database sqlite:/var/lib/flashmark-site/flashmark.db")?;
        timed("remove", || self.apt("remove", &PROGRAMS))?;
        self.sh(&format!("! command -v flashmark && ! command -v flashmark-site && test -e {SETTINGS} && test -e {COLLECTION}"))?;
        timed("purge", || self.apt("purge", &PROGRAMS[1..]))?; // the other one has no settings
        self.sh(&format!("test -e {COLLECTION}")).context("purging lost a collection")?;
        let left = self.sh("rm -r /var/lib/flashmark-site /packages; find / -xdev -path /root -prune -o -name '*flashmark*' -print")?;
        ensure!(left.is_empty(), "purging left {left}");
        println!("all is as it should be");
        Ok(())
    }

    /// Judges a directory, measures a simulated medium, writes a page.
    fn measures(&self) -> Result<()> {
        let verdict = timed("verdict on a directory", || {
            self.sh("flashmark check /root --budget 15s --json")
        })?;
        ensure!(verdict.contains("\"genuine\""), "no verdict: {verdict}");
        timed("a run of sim:class10 with its page", || {
            self.sh("flashmark run sim:class10 --quiet --html /tmp/page.html && grep -q '</html>' /tmp/page.html")
        })?;
        self.sh("zcat /usr/share/man/man1/flashmark-check.1.gz | grep -q budget")?;
        self.sh("bash -n /usr/share/bash-completion/completions/flashmark.bash").map(drop)
    }

    /// Starts the command of the unit as a user without rights; it must answer.
    fn serves(&self) -> Result<()> {
        self.sh("install -d -o nobody /var/lib/flashmark-site")?;
        let mut server = self
            .command("setpriv", &["--reuid=nobody", "--clear-groups", "flashmark-site"])
            .args(["--listen", "127.0.0.1:0", "--database", &format!("sqlite:{COLLECTION}")])
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = BufReader::new(server.stdout.take().expect("it is piped"));
        let address = stdout
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("Listening on ").map(str::to_owned))
            .context("the server did not start")?;
        let page = ureq::get(format!("{address}/")).call()?.body_mut().read_to_string()?;
        ensure!(page.contains("</html>"), "no page: {page}");
        let pid = rustix::process::Pid::from_child(&server);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        ensure!(server.wait()?.success(), "the server did not stop in good order");
        Ok(())
    }

    fn install(&self, packages: &[PathBuf]) -> Result<()> {
        let inside = packages.iter().map(|package| {
            let name = package.file_name().context("a package is a file")?;
            let copy = self.0.join("packages").join(name);
            if *package != copy {
                fs::copy(package, &copy)?;
            }
            Ok(Path::new("/packages").join(name))
        });
        self.apt("install", &inside.collect::<Result<Vec<_>>>()?)
    }

    fn apt(&self, what: &str, packages: &[impl AsRef<OsStr>]) -> Result<()> {
        let mut apt =
            self.command("apt-get", &["--quiet=2", "--yes", "--no-install-recommends", what]);
        output(apt.args(packages).env("DEBIAN_FRONTEND", "noninteractive")).map(drop)
    }

    /// Runs a shell command in it; returns its output.
    fn sh(&self, line: &str) -> Result<String> {
        output(&mut self.command("sh", &["-euc", line]))
    }

    /// Command in it, in a mount namespace of its own with a /proc.
    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "sh", "-euc", MOUNTED, "sh"])
            .arg(&self.0)
            .arg(program)
            .args(words)
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", "/root");
        command
    }
}

/// Makes the same package with a higher version, in another directory.
fn newer(package: &Path, directory: &Path) -> Result<PathBuf> {
    let unpacked = tempfile::tempdir()?;
    succeed(Command::new("dpkg-deb").arg("-R").arg(package).arg(unpacked.path()))?;
    let control = unpacked.path().join("DEBIAN/control");
    let text = fs::read_to_string(&control)?;
    let version = text.lines().find(|line| line.starts_with("Version: ")).context("no version")?;
    fs::write(&control, text.replace(version, &format!("{version}+newer")))?;
    let name = package.file_stem().context("a package is a file")?.to_string_lossy();
    let made = directory.join(format!("{name}+newer.deb"));
    succeed(
        Command::new("dpkg-deb")
            .args(["-Zgzip", "-b"])
            .arg(unpacked.path())
            .arg(&made)
            .stdout(Stdio::null()),
    )?;
    Ok(made)
}

fn cargo(root: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    cargo
}

fn timed<T>(what: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
    let began = Instant::now();
    let done = step().with_context(|| what.to_owned())?;
    println!("{what}: {:.1} s", began.elapsed().as_secs_f64());
    Ok(done)
}
