//! The user who called the program through sudo: what root measures for him is kept in his home and
//! belongs to him, so that he finds it without sudo.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::{Path, PathBuf};

use crate::atomic::parent_of;

/// A user of this machine who became root through sudo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Invoker {
    user: u32,
    group: u32,
    /// His home directory.
    pub home: PathBuf,
}

impl Invoker {
    /// The invoking user, where this process is root by sudo.
    pub fn of_process() -> Option<Invoker> {
        let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let user = rustix::process::geteuid().as_raw();
        Invoker::of(|name| std::env::var_os(name), user, &accounts)
    }

    /// The same from variables, the effective user and the text of `/etc/passwd`. sudo sets
    /// `SUDO_UID` and `SUDO_GID` (sudo(8), "ENVIRONMENT").
    pub fn of(
        variable: impl Fn(&str) -> Option<OsString>,
        effective_user: u32,
        accounts: &str,
    ) -> Option<Invoker> {
        let number = |name: &str| variable(name)?.to_str()?.parse::<u32>().ok();
        let user = number("SUDO_UID").filter(|user| effective_user == 0 && *user != 0)?;
        let home = accounts.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let is_his = fields.get(2)?.parse() == Ok(user);
            is_his.then(|| PathBuf::from(fields.get(5).copied().unwrap_or_default()))
        })?;
        let group = number("SUDO_GID").unwrap_or(user);
        home.is_absolute().then_some(Invoker { user, group, home })
    }

    /// Gives him what root has just made in a directory of his.
    fn owns(&self, path: &Path) -> io::Result<()> {
        let is_his_place = fs::metadata(parent_of(path)).is_ok_and(|it| it.uid() == self.user);
        if is_his_place { lchown(path, Some(self.user), Some(self.group)) } else { Ok(()) }
    }
}

/// Gives the invoking user of sudo what was just made at `path`, where it lies in a directory of
/// his; does nothing for everyone else.
pub(crate) fn give_to_invoker(path: &Path) -> io::Result<()> {
    Invoker::of_process().map_or(Ok(()), |invoker| invoker.owns(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNTS: &str = "root:x:0:0:root:/root:/bin/bash\nada:x:1000:1001::/home/ada:/bin/sh\n";

    fn invoker(set: &[(&str, &str)], effective_user: u32) -> Option<PathBuf> {
        let value = |name: &str| {
            set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        Invoker::of(value, effective_user, ACCOUNTS).map(|it| it.home)
    }

    #[test]
    fn only_root_by_sudo_has_an_invoker() {
        let ada = [("SUDO_UID", "1000"), ("SUDO_GID", "1001")];
        assert_eq!(invoker(&ada, 0), Some("/home/ada".into()));
        assert_eq!(invoker(&ada, 1000), None, "a variable alone makes nobody root");
        assert_eq!(invoker(&[], 0), None, "a login of root's own");
        assert_eq!(invoker(&[("SUDO_UID", "0")], 0), None, "root called sudo");
        assert_eq!(invoker(&[("SUDO_UID", "4242")], 0), None, "an account that is gone");
        assert_eq!(invoker(&[("SUDO_UID", "../1000")], 0), None);
    }
}
