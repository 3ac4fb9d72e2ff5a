//! Block devices: a loop device stands for the medium.

use std::path::Path;

use super::super::support::{EXT4, Scratch, tool};
use super::files::{FIRST_THREAD_ENDED, MAPPED, another_run, container, virtual_machine};
use super::holding::{Attached, Holder, Undo, driver, mounted, tried, unmount_by_name};
use super::{Arranged, Case, Compared, Stage};

pub const CASES: &[Case] = &[
    Case { name: "mounted", arrange: || mounted_medium(false) },
    Case { name: "a partition mounted", arrange: || mounted_medium(true) },
    Case { name: "a partition mounted, itself named", arrange: || mounted_partition(1) },
    Case { name: "a partition mounted, another one named", arrange: || mounted_partition(2) },
    Case {
        name: "a partition mounted, another one only read",
        arrange: || mounted_partition(2).map(Stage::only_read),
    },
    Case { name: "mounted in another mount namespace", arrange: || mounted_elsewhere(false) },
    Case {
        name: "a partition mounted in another mount namespace",
        arrange: || mounted_elsewhere(true),
    },
    Case { name: "unmounted by name, a file on it still open", arrange: lazily_unmounted },
    Case { name: "swap", arrange: swap },
    Case {
        name: "held exclusively",
        arrange: || {
            held(
                "f=os.open(path,os.O_RDONLY|os.O_EXCL)",
                &[
                    " is held open by another program or mounted out of sight (it is open in ",
                    "python3",
                    "); release it first, or choose another medium",
                ],
            )
        },
    },
    Case { name: "held exclusively, with partitions", arrange: exclusive_with_partition },
    Case {
        name: "open for writing",
        arrange: || held("f=open(path,'r+b')", &["is held open for writing by python3"]),
    },
    Case {
        name: "open for writing, exclusively",
        arrange: || {
            held("f=os.open(path,os.O_RDWR|os.O_EXCL)", &["is held open for writing by python3"])
        },
    },
    Case { name: "open for writing by another node", arrange: by_another_node },
    Case {
        name: "shared writable mapping, descriptor closed",
        arrange: || held(MAPPED, &["is mapped for writing by python3"]),
    },
    Case {
        name: "a process whose first thread has ended",
        arrange: || held(FIRST_THREAD_ENDED, &["is held open for writing by python3"]),
    },
    Case {
        name: "flock, exclusive",
        arrange: || {
            held(
                "f=open(path,'rb');fcntl.flock(f,fcntl.LOCK_EX)",
                &["is locked (flock) by python3"],
            )
        },
    },
    Case {
        name: "flock, shared",
        arrange: || {
            held(
                "f=open(path,'rb');fcntl.flock(f,fcntl.LOCK_SH)",
                &["is locked (flock) by python3"],
            )
        },
    },
    Case {
        name: "POSIX read lock",
        arrange: || {
            held(
                "f=open(path,'rb');fcntl.lockf(f,fcntl.LOCK_SH)",
                &["is locked (POSIX lock) by python3"],
            )
        },
    },
    Case {
        name: "the partition open for writing, the whole named",
        arrange: || partition_and_whole(true),
    },
    Case {
        name: "the whole open for writing, the partition named",
        arrange: || partition_and_whole(false),
    },
    Case { name: "a virtual machine", arrange: || virtual_machine(attached_medium()?, "") },
    Case {
        name: "a virtual machine that only reads",
        arrange: || virtual_machine(attached_medium()?, ",readonly=on"),
    },
    Case { name: "a process in a container", arrange: || container(attached_medium()?) },
    Case {
        name: "the file behind it open for writing",
        arrange: || behind("f=open(path,'r+b')", "image is held open for writing by python3"),
    },
    Case {
        name: "the file behind it locked",
        arrange: || {
            behind(
                "f=open(path,'rb');fcntl.flock(f,fcntl.LOCK_SH)",
                "image is locked (flock) by python3",
            )
        },
    },
    Case { name: "another run that writes", arrange: || another_run(attached_medium()?, true) },
    Case { name: "another run that reads", arrange: || another_run(attached_medium()?, false) },
    Case { name: "the disk of the running system", arrange: running_system },
    Case {
        name: "the disk of the running system, only read",
        arrange: || running_system().map(Stage::only_read),
    },
    Case { name: "a file system in a process's hands (FUSE)", arrange: fuse },
];

/// A loop device over a file of its own.
pub fn medium() -> Result<(Stage, Attached), String> {
    let mut stage = Stage::file();
    let attached = Attached::over(&stage.target)?;
    attached.word().clone_into(&mut stage.target);
    let stage = stage.erased_as(attached.word());
    Ok((stage, attached))
}

/// The same, detached last.
fn attached_medium() -> Arranged {
    medium().map(|(stage, attached)| stage.keeps(attached))
}

/// The same with the first partition.
fn partitioned() -> Result<(Stage, Attached, String), String> {
    let (stage, attached) = medium()?;
    let partition = attached.partition(1)?.to_str().unwrap().to_owned();
    Ok((stage, attached, partition))
}

fn make_filesystem(node: &str) {
    tool(EXT4[0], &[&EXT4[1..], &[node]].concat());
    tool("sync", &[]);
}

/// Mount options with which the medium is not written.
pub const QUIETLY: &[&str] = &["-o", "ro,noload"];

fn mounted_medium(in_part: bool) -> Arranged {
    let (stage, attached, partition) = partitioned()?;
    let node = if in_part { partition } else { attached.word().to_owned() };
    make_filesystem(&node);
    let at = stage.scratch.directory("mnt");
    let mount = mounted(&[QUIETLY, &[node.as_str()]].concat(), &at)?;
    let reason = format!(
        "'{}' is in use: {} is mounted at {}; unmount it first, or name a directory on it",
        attached.word(),
        node.trim_start_matches("/dev/"),
        at.display()
    );
    Ok(stage.refused_with(reason).keeps(attached).keeps(mount))
}

/// The first partition is mounted, and this one is the target.
fn mounted_partition(named: u32) -> Arranged {
    let (mut stage, attached, partition) = partitioned()?;
    attached.partition(2)?;
    make_filesystem(&partition);
    let at = stage.scratch.directory("mnt");
    let mount = mounted(&[QUIETLY, &[partition.as_str()]].concat(), &at)?;
    stage.target = format!("{}p{named}", attached.word());
    let reason = format!(
        "'{}' is a partition of {name}, which is in use: {name}p1 is mounted at {}; unmount it first, or name a directory on it",
        stage.target,
        at.display(),
        name = attached.name()
    );
    Ok(stage.refused_with(reason).keeps(attached).keeps(mount))
}

fn mounted_elsewhere(in_part: bool) -> Arranged {
    let (stage, attached, partition) = partitioned()?;
    let node = if in_part { partition } else { attached.word().to_owned() };
    make_filesystem(&node);
    let at = stage.scratch.directory("mnt");
    let holder = Holder::elsewhere(&format!("mount -o ro,noload {node} {}", at.display()))?;
    let reason = format!(
        "{} is mounted at {} in the mount namespace of ",
        node.trim_start_matches("/dev/"),
        at.display()
    );
    let name = holder.name();
    Ok(stage.refused_with(reason).refused_with(name).keeps(attached).keeps(holder))
}

fn lazily_unmounted() -> Arranged {
    let (stage, attached) = medium()?;
    make_filesystem(attached.word());
    let at = stage.scratch.directory("mnt");
    tried("mount", &["-o", "ro,noload", attached.word(), at.to_str().unwrap()])?;
    let undo = Undo::by(&["umount", at.to_str().unwrap()]);
    let holder = Holder::python(&at, "f=os.open(path,os.O_RDONLY)")?;
    unmount_by_name(&at)?;
    Ok(stage
        .refused_with("held open by another program or mounted out of sight")
        .keeps(undo)
        .keeps(attached)
        .keeps(holder))
}

fn swap() -> Arranged {
    let (stage, attached) = medium()?;
    tried("mkswap", &[attached.word()])?;
    tried("swapon", &["--priority", "0", attached.word()])?;
    let undo = Undo::by(&["swapoff", attached.word()]);
    let reason = format!(
        "'{}' is in use: {} is swap space; swapoff it first, or choose another medium",
        attached.word(),
        attached.name()
    );
    Ok(stage.comparing(Compared::FirstPage).refused_with(reason).keeps(attached).keeps(undo))
}

fn held(code: &str, reasons: &[&str]) -> Arranged {
    let (stage, attached) = medium()?;
    let holder = Holder::python(&attached.node, code)?;
    let stage = reasons
        .iter()
        .fold(stage, |stage, words| stage.refused_with(*words))
        .refused_with(holder.name());
    let name = attached.name().to_owned();
    Ok(stage.refused_with(name).keeps(attached).keeps(holder))
}

fn exclusive_with_partition() -> Arranged {
    let (stage, attached, _partition) = partitioned()?;
    let holder = Holder::python(&attached.node, "f=os.open(path,os.O_RDONLY|os.O_EXCL)")?;
    let name = holder.name();
    Ok(stage
        .refused_with("held open by another program or mounted out of sight")
        .refused_with(name)
        .keeps(attached)
        .keeps(holder))
}

/// Another node with the same number, outside `/dev`.
fn by_another_node() -> Arranged {
    let (stage, attached) = medium()?;
    let node = stage.scratch.at("node");
    let number = tool("stat", &["-c", "%Hr %Lr", attached.word()]);
    let (major, minor) = number.split_once(' ').unwrap();
    tried("mknod", &[node.to_str().unwrap(), "b", major, minor])?;
    let holder = Holder::python(&node, "f=open(path,'r+b')")?;
    let name = holder.name();
    Ok(stage
        .refused_with("is held open for writing by python3")
        .refused_with(name)
        .keeps(attached)
        .keeps(holder))
}

fn partition_and_whole(named_whole: bool) -> Arranged {
    let (mut stage, attached, partition) = partitioned()?;
    let whole = attached.word().to_owned();
    let (named, open) = if named_whole { (&whole, &partition) } else { (&partition, &whole) };
    stage.target.clone_from(named);
    let holder = Holder::python(Path::new(open), "f=open(path,'r+b')")?;
    let reason =
        format!("{} is held open for writing by python3", open.trim_start_matches("/dev/"));
    let name = holder.name();
    Ok(stage
        .erased_as(&whole)
        .refused_with(reason)
        .refused_with(name)
        .keeps(attached)
        .keeps(holder))
}

/// A loop device whose backing file is held by a program, which then holds the device.
fn behind(code: &str, reason: &str) -> Arranged {
    let (stage, attached) = medium()?;
    let holder = Holder::python(stage.image.as_deref().unwrap(), code)?;
    let name = holder.name();
    Ok(stage.refused_with(reason).refused_with(name).keeps(attached).keeps(holder))
}

fn running_system() -> Arranged {
    let source = tried("findmnt", &["--noheadings", "--output", "SOURCE", "/"])?;
    if !source.starts_with("/dev/") || !Path::new(&source).exists() {
        return Err(format!("the root file system is on {source}"));
    }
    let start = format!("flashmark: '{source}' is ");
    let stage = Stage::new(Scratch::new(), &source).refused_with(start);
    Ok(stage.refused_with("the running system is on it (/)"))
}

fn fuse() -> Arranged {
    driver("fuse", "fuse")?;
    tried("which", &["fuse2fs"])?;
    let (stage, attached) = medium()?;
    make_filesystem(attached.word());
    let at = stage.scratch.directory("mnt");
    tried("fuse2fs", &[attached.word(), at.to_str().unwrap()])?;
    let undo = Undo::by(&["umount", at.to_str().unwrap()]);
    // It notes the mount on the medium, by the kernel's cache, when it answers for the first time.
    std::fs::read_dir(&at).unwrap();
    tool("sync", &[]);
    let reason = format!("{} is mounted at {}", attached.name(), at.display());
    Ok(stage.refused_with(reason).keeps(attached).keeps(undo))
}
