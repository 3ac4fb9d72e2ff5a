//! Parts of the open files that could not be read.

use std::fs;
use std::path::Path;

use crate::mounts::{Mount, mounts};
use crate::roots::Roots;

/// Parts that could not be read. They are reported and refuse nothing: an empty result is not a
/// proof.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotSeen {
    /// Number of processes whose open files may not be read.
    pub processes: u32,
    /// True if `/proc` hides the processes of other users (mount option hidepid).
    pub hidden: bool,
    /// True if there are processes outside of this PID namespace.
    pub outside: bool,
    /// Number of loop devices whose backing file is known only by its name, not its identity.
    pub loops: u32,
}

impl NotSeen {
    /// Descriptions, one for each part; empty if everything was read.
    pub fn words(&self) -> Vec<String> {
        let plural = |count: u32, one: &str, many: &str| {
            if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
        };
        let mut words = Vec::new();
        if self.processes > 0 {
            words.push(format!(
                "the open files of {} (run as root to see them)",
                plural(self.processes, "process", "processes")
            ));
        }
        if self.hidden {
            words.push("processes of other users, which /proc hides (hidepid)".to_owned());
        }
        if self.outside {
            words.push("processes outside of this container (PID namespace)".to_owned());
        }
        if self.loops > 0 {
            words.push(format!(
                "which file is below {} (run as root to see it)",
                plural(self.loops, "loop device", "loop devices")
            ));
        }
        words
    }

    /// Note for a record on the users of the target that could not be seen; `None` if everything
    /// was read.
    pub fn note(&self) -> Option<String> {
        let words = self.words();
        (!words.is_empty()).then(|| {
            format!(
                "whether another program uses the target was looked at without {}",
                words.join(", and without ")
            )
        })
    }
}

/// Limits that apply to every search.
pub(super) fn limits(roots: &Roots) -> NotSeen {
    if !roots.is_real() {
        return NotSeen::default();
    }
    NotSeen {
        hidden: is_hidden(roots, rustix::process::geteuid().is_root()),
        outside: is_contained(&roots.proc),
        ..NotSeen::default()
    }
}

/// True if processes of other users are hidden: of several mounts at /proc, the last counts.
fn is_hidden(roots: &Roots, is_root: bool) -> bool {
    let table = mounts(roots);
    let proc = table.iter().rev().find(|mount| mount.at == roots.proc);
    !is_root && proc.is_some_and(hides)
}

/// True if the option hidepid hides processes (proc(5)): it takes numbers and, since Linux 5.8,
/// names.
fn hides(proc: &Mount) -> bool {
    proc.option("hidepid").is_some_and(|how| !matches!(how, "0" | "off"))
}

/// True if this process is in a PID namespace of its own: the first one has a fixed number
/// (linux/proc_ns.h, PROC_PID_INIT_INO).
fn is_contained(proc: &Path) -> bool {
    fs::read_link(proc.join("self/ns/pid")).is_ok_and(|name| name != Path::new("pid:[4026531836]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_seen_is_in_the_note() {
        assert_eq!(NotSeen::default().note(), None);
        let all = NotSeen { processes: 12, hidden: true, outside: true, loops: 1 };
        insta::assert_snapshot!(all.note().unwrap(), @"whether another program uses the target was looked at without the open files of 12 processes (run as root to see them), and without processes of other users, which /proc hides (hidepid), and without processes outside of this container (PID namespace), and without which file is below 1 loop device (run as root to see it)");
    }
    #[test]
    fn root_sees_what_proc_hides_from_others() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::copied(dir.path());
        let hidden = |options: &[&str], is_root| {
            let proc = roots.proc.display();
            let line = |options| format!("20 1 0:20 / {proc} rw - proc proc rw{options}\n");
            let table: String = options.iter().map(line).collect();
            std::fs::create_dir_all(roots.proc.join("self")).unwrap();
            std::fs::write(roots.proc.join("self/mountinfo"), table).unwrap();
            is_hidden(&roots, is_root)
        };
        assert!(hidden(&[",hidepid=2"], false) && hidden(&[",hidepid=invisible"], false));
        assert!(!hidden(&[",hidepid=2"], true));
        assert!(!hidden(&[""], false) && !hidden(&[",hidepid=0"], false) && !hidden(&[], false));
        assert!(hidden(&["", ",hidepid=1"], false) && !hidden(&[",hidepid=1", ""], false));
    }
}
