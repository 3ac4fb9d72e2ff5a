//! `cargo validation fleet`: the Ansible role of `deploy/ansible` on three hosts with sshd in network
//! namespaces, one of which is cut off and crashes in the middle of a check.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::attached::medium::Program;
use crate::programs::succeed;

const HOSTS: &str = include_str!("fleet/hosts.sh");
const NAMES: [&str; 3] = ["card1", "card2", "card3"];
/// Host that is cut off.
const LOST: &str = "card2";

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Version of ansible-core that is installed below target/.
    #[arg(long, default_value = "2.14.*")]
    ansible: String,
}

/// Runs the playbook until nothing changes, and prints the result of each run.
///
/// # Errors
/// If a tool is missing, or the playbook does not do what it promises.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "network namespaces need root");
    ensure!(Path::new("/usr/sbin/sshd").exists(), "sshd is missing: apt install openssh-server");
    let program = Program::build(root)?;
    let playbook = ansible(root, &flags.ansible)?;
    let fleet = Fleet::up(tempfile::tempdir_in(root.join("target"))?)?;
    fs::write(fleet.at("inventory.yml"), inventory(&fleet, program.word()))?;
    let play = || {
        let mut command = Command::new(&playbook);
        command.args(["check.yml", "-i"]).arg(fleet.at("inventory.yml"));
        command.current_dir(root.join("deploy/ansible")).env("ANSIBLE_NOCOLOR", "1");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };

    let mut first = play().spawn()?;
    fleet.wait_for_a_cell(&mut first)?;
    fleet.control(&["cut", LOST])?;
    fleet.control(&["crash", LOST])?;
    let first = all_output(first.wait_with_output()?);
    ensure!(first.contains(&format!("Something is missing of: {LOST}. ")), "{first}");
    ensure!(!recap(&first, LOST)?.contains("unreachable=0"), "{first}");
    for host in NAMES {
        let expected = if host == LOST { 0 } else { 2 };
        ensure!(fleet.records(host)?.len() == expected, "{host}: {:?}", fleet.records(host)?);
    }
    println!("1. {LOST} cut off and crashed: named; the others checked, their records here");

    fleet.control(&["heal", LOST])?;
    let kept: Vec<_> = [NAMES[0], NAMES[2]].map(|host| fleet.records(host)).into_iter().collect();
    let interrupted = fleet.runs(LOST)?;
    let second = all_output(play().output()?);
    ensure!(!recap(&second, LOST)?.contains("changed=0"), "{second}");
    for (host, kept) in [NAMES[0], NAMES[2]].into_iter().zip(kept) {
        ensure!(recap(&second, host)?.contains("changed=0"), "{second}");
        ensure!(fleet.records(host)? == kept?, "{host} was measured again");
    }
    let records = fleet.records(LOST)?;
    ensure!(records.len() == 2 && interrupted.is_subset(&records), "{interrupted:?}: {records:?}");
    println!(
        "2. {LOST} reachable again: its run resumed, what was missing done; no change elsewhere"
    );

    let third = all_output(play().output()?);
    for host in NAMES {
        let recap = recap(&third, host)?;
        ensure!(recap.contains("changed=0") && recap.contains("failed=0"), "{third}");
    }
    println!("3. Once more: no change on any host");
    Ok(())
}

/// Installs Ansible in an environment of its own; returns its path.
fn ansible(root: &Path, version: &str) -> Result<PathBuf> {
    let home = root.join("target/ansible");
    let playbook = home.join("bin/ansible-playbook");
    if !playbook.exists() {
        succeed(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        let package = format!("ansible-core=={version}");
        succeed(Command::new(home.join("bin/pip")).args(["install", "--quiet", &package]))?;
    }
    Ok(playbook)
}

fn inventory(fleet: &Fleet, program: &str) -> String {
    let ssh = fleet.at("ssh_config");
    let hosts = NAMES.map(|name| format!("    {name}:\n")).concat();
    let vars = [
        format!("ansible_ssh_common_args: -F {}", ssh.display()),
        "ansible_python_interpreter: /usr/bin/python3".to_owned(),
        "ansible_become: false".to_owned(),
        format!("flashmark_binary: {program}"),
        "flashmark_targets: [/srv/medium, \"sim:a1\"]".to_owned(),
        "flashmark_budget: 15s".to_owned(),
        format!("flashmark_records: {}", fleet.at("records").display()),
    ];
    format!("all:\n  hosts:\n{hosts}  vars:\n{}", vars.map(|line| format!("    {line}\n")).concat())
}

fn all_output(output: Output) -> String {
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Line of a host in the summary that Ansible prints.
fn recap<'a>(text: &'a str, host: &str) -> Result<&'a str> {
    let recap = text.split("PLAY RECAP").nth(1).with_context(|| format!("no recap: {text}"))?;
    let line = recap.lines().find(|line| line.split(' ').next() == Some(host));
    line.with_context(|| format!("{host} is not in the recap: {text}"))
}

/// Three hosts; they are removed when dropped.
struct Fleet(tempfile::TempDir);

impl Fleet {
    fn up(dir: tempfile::TempDir) -> Result<Fleet> {
        let fleet = Fleet(dir);
        fs::write(fleet.at("hosts.sh"), HOSTS)?;
        fleet.control(&["up", "3"])?;
        for host in NAMES {
            let mut ssh = Command::new("ssh");
            ssh.arg("-F").arg(fleet.at("ssh_config"));
            ssh.args(["-o", "ConnectionAttempts=60", host, "true"]);
            succeed(&mut ssh)?;
        }
        Ok(fleet)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn control(&self, words: &[&str]) -> Result<()> {
        let mut script = Command::new("bash");
        succeed(script.arg(self.at("hosts.sh")).args(words).env("FLEET", self.0.path()))
    }

    /// Waits until the host that will be cut off has a cell of its first run in the journal.
    fn wait_for_a_cell(&self, play: &mut Child) -> Result<()> {
        loop {
            let has_cell = self.runs(LOST)?.iter().any(|run| {
                let journal = self.at(&format!("{LOST}/runs/{run}/journal.jsonl"));
                fs::read_to_string(journal).is_ok_and(|text| text.lines().count() > 3)
            });
            if has_cell {
                return Ok(());
            }
            if play.try_wait()?.is_some() {
                bail!("the playbook ended before {LOST} measured anything");
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Names of the runs on a host.
    fn runs(&self, host: &str) -> Result<BTreeSet<String>> {
        names(&self.at(&format!("{host}/runs")))
    }

    /// Names of the runs of a host whose records were fetched.
    fn records(&self, host: &str) -> Result<BTreeSet<String>> {
        names(&self.at(&format!("records/{host}")))
    }
}

/// Names in a directory, which need not exist, without hidden files and extensions.
fn names(dir: &Path) -> Result<BTreeSet<String>> {
    if !dir.exists() {
        return Ok(BTreeSet::new());
    }
    let names = fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name().into_string()));
    let names = names.collect::<std::io::Result<Vec<_>>>()?.into_iter().flatten();
    Ok(names
        .filter(|name| !name.starts_with('.'))
        .map(|name| name.trim_end_matches(".json").to_owned())
        .collect())
}

impl Drop for Fleet {
    fn drop(&mut self) {
        if let Err(why) = self.control(&["down"]) {
            eprintln!("{why:#}");
        }
    }
}
