//! Copy of a finished run for the user who called sudo: root hands the run to a process with the
//! user's rights, which keeps a copy in the user's home, so that `show` finds it without sudo. Root
//! itself writes nothing in places that others can change.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use program::exit::{Exit, OrExit, Result, usage};
use program::printing::print_document;
use record::text::printable;
use store::{RunDir, Store};

/// Hidden command of that process.
pub const COMMAND: &str = "keep-copy";
/// Files that only the maker of a run needs: its lock, and the backup that is yet to be restored.
const NOT_COPIED: [&str; 2] = [store::LOCK_FILE, store::BACKUP_FILE];
/// Most bytes of a run that are taken.
const MAX_BYTES: u64 = 1 << 30;

/// A user of this machine who became root through sudo.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Invoker {
    user: u32,
    group: u32,
    name: String,
    home: PathBuf,
}

impl Invoker {
    /// The user who called sudo; `None` if this process is not root by sudo, or the user chose
    /// where results go.
    fn of_process() -> Option<Invoker> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        if variable("FLASHMARK_HOME").is_some() || !rustix::process::geteuid().is_root() {
            return None;
        }
        let account = |user: u32| {
            let found = Command::new("getent").args(["passwd", &user.to_string()]).output();
            String::from_utf8(found.ok()?.stdout).ok()
        };
        Invoker::of(variable, account)
    }

    /// The invoking user from variables, and from the line of an account as passwd(5) has it. sudo
    /// sets `SUDO_UID` and `SUDO_GID` (sudo(8), "ENVIRONMENT").
    fn of(
        variable: impl Fn(&str) -> Option<OsString>,
        account: impl Fn(u32) -> Option<String>,
    ) -> Option<Invoker> {
        let number = |name: &str| variable(name)?.to_str()?.parse::<u32>().ok();
        let user = number("SUDO_UID").filter(|user| *user != 0)?;
        let line = account(user)?;
        let fields: Vec<&str> = line.trim().split(':').collect();
        let home = PathBuf::from(fields.get(5)?);
        let group = number("SUDO_GID").unwrap_or(user);
        home.is_absolute().then(|| Invoker { user, group, name: fields[0].to_owned(), home })
    }

    /// Hands the files of a run to a process with the user's rights; returns the directory that it
    /// made.
    fn keep(&self, dir: &RunDir) -> io::Result<PathBuf> {
        let mut child = Command::new(std::env::current_exe()?)
            .args([COMMAND, dir.name()])
            .env_clear()
            .env("HOME", &self.home)
            .current_dir("/")
            .uid(self.user)
            .gid(self.group)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut to = BufWriter::new(child.stdin.take().expect("it was asked for"));
        let sent = send(dir.path(), &mut to).and_then(|()| to.flush());
        drop(to);
        let ended = child.wait_with_output()?;
        let text = |bytes: &[u8]| printable(String::from_utf8_lossy(bytes).trim());
        if !ended.status.success() {
            return Err(io::Error::other(text(&ended.stderr)));
        }
        sent.map(|()| text(&ended.stdout).into())
    }
}

/// Writes the files of a run as a line `length name` and their bytes each.
fn send(dir: &Path, to: &mut impl Write) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().into_string().unwrap_or_default();
        if !entry.file_type()?.is_file() || NOT_COPIED.contains(&name.as_str()) {
            continue;
        }
        let bytes = fs::read(entry.path())?;
        writeln!(to, "{} {name}", bytes.len())?;
        to.write_all(&bytes)?;
    }
    Ok(())
}

/// Reads the files of a run as [`to_invoker`] sends them: name and bytes of each.
///
/// # Errors
/// They are cut off, or longer than any run.
pub fn receive(from: &mut impl BufRead) -> io::Result<Vec<(String, Vec<u8>)>> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidData, "these are no files of a run");
    let (mut files, mut all) = (Vec::new(), 0u64);
    loop {
        let mut head = String::new();
        if from.read_line(&mut head)? == 0 {
            return Ok(files);
        }
        let (length, name) = head.trim_end().split_once(' ').ok_or_else(invalid)?;
        let length: u64 = length.parse().map_err(|_| invalid())?;
        all = all.saturating_add(length);
        if all > MAX_BYTES {
            return Err(invalid());
        }
        let mut bytes = Vec::new();
        from.take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length {
            return Err(invalid());
        }
        files.push((name.to_owned(), bytes));
    }
}

/// Keeps a copy of a finished run for the user who called sudo, and prints where.
pub fn to_invoker(dir: &RunDir, quiet: bool) {
    let Some(invoker) = Invoker::of_process() else { return };
    match invoker.keep(dir) {
        Ok(_) if quiet => {}
        Ok(path) => {
            program::say!("Kept for {} as well: {}", printable(&invoker.name), path.display());
        }
        Err(error) => program::say!(
            "flashmark: no copy could be kept for {}: {error}; `sudo flashmark show` finds the run",
            printable(&invoker.name)
        ),
    }
}

/// Keeps the files of a run that it reads from standard input, with the rights of the user who called
/// sudo, and prints where: the hidden command `keep-copy`.
pub fn keep(name: &str) -> Result {
    let files = receive(&mut io::stdin().lock()).or_usage()?;
    if files.is_empty() {
        return usage("no files of a run came in; this command is for flashmark itself");
    }
    let dir = Store::open(Store::default_root()).adopt(name, &files).or_internal()?;
    print_document(&format!("{}\n", dir.path().display()))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invoker(set: &[(&str, &str)]) -> Option<Invoker> {
        let value = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        let account = |user| (user == 1000).then(|| "ada:x:1000:1001::/home/ada:/bin/sh\n".into());
        Invoker::of(value, account)
    }

    #[test]
    fn only_root_by_sudo_has_an_invoker() {
        let ada = invoker(&[("SUDO_UID", "1000"), ("SUDO_GID", "1001")]).unwrap();
        assert_eq!((ada.user, ada.group, ada.home), (1000, 1001, "/home/ada".into()));
        assert_eq!(invoker(&[]), None, "a login of root's own");
        assert_eq!(invoker(&[("SUDO_UID", "0")]), None, "root called sudo");
        assert_eq!(invoker(&[("SUDO_UID", "4242")]), None, "an account that is gone");
        assert_eq!(invoker(&[("SUDO_UID", "../1000")]), None);
    }

    #[test]
    fn files_come_through_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("journal.jsonl"), b"1\n2 3\n").unwrap();
        fs::write(dir.path().join("matrix.xlsx"), [0, 10, 255, 10]).unwrap();
        fs::write(dir.path().join(store::LOCK_FILE), b"4711").unwrap();
        let mut sent = Vec::new();
        send(dir.path(), &mut sent).unwrap();
        let mut files = receive(&mut sent.as_slice()).unwrap();
        files.sort();
        let expected =
            [("journal.jsonl", b"1\n2 3\n".to_vec()), ("matrix.xlsx", vec![0, 10, 255, 10])];
        assert_eq!(files, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
        assert!(receive(&mut &sent[..sent.len() - 1]).is_err(), "cut off");
        assert!(receive(&mut b"99999999999999999999 x\n".as_slice()).is_err());
    }
}
