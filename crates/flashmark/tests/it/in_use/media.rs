//! Block devices: a loop device stands for the medium.

use std::path::Path;

use super::super::support::{EXT4, LoopDevice, Scratch, tool};
use super::files::{another_run, container, virtual_machine};
use super::holding::{Holder, Undo, attached, driver, mounted, partition, tried, unmount_by_name};
use super::{Arranged, Case, Compared, Stage};

pub const CASES: &[Case] = &[
    ("mounted", || mounted_medium(false)),
    ("a partition mounted", || mounted_medium(true)),
    ("a partition mounted, itself named", || mounted_partition(1)),
    ("a partition mounted, another one named", || mounted_partition(2)),
    ("a partition mounted, another one only read", || mounted_partition(2).map(Stage::only_read)),
    ("mounted in another mount namespace", || mounted_elsewhere(false)),
    ("a partition mounted in another mount namespace", || mounted_elsewhere(true)),
    ("unmounted by name, a file on it still open", lazily_unmounted),
    ("swap", swap),
    ("held exclusively, with partitions", exclusive_with_partition),
    ("open for writing by another node", by_another_node),
    ("the partition open for writing, the whole named", || partition_and_whole(true)),
    ("the whole open for writing, the partition named", || partition_and_whole(false)),
    ("a virtual machine", || virtual_machine(attached_medium()?, "")),
    ("a virtual machine that only reads", || virtual_machine(attached_medium()?, ",readonly=on")),
    ("a process in a container", || container(attached_medium()?)),
    ("the file behind it open for writing", || {
        behind("f=open(path,'r+b')", "image is held open for writing by python3")
    }),
    ("the file behind it locked", || {
        behind(
            "f=open(path,'rb');fcntl.flock(f,fcntl.LOCK_SH)",
            "image is locked (flock) by python3",
        )
    }),
    ("another run that writes", || another_run(attached_medium()?, true)),
    ("another run that reads", || another_run(attached_medium()?, false)),
    ("the disk of the running system", running_system),
    ("the disk of the running system, only read", || running_system().map(Stage::only_read)),
    ("a file system in a process's hands (FUSE)", fuse),
];

/// A loop device over a file of its own.
pub fn medium() -> Result<(Stage, LoopDevice), String> {
    let mut stage = Stage::file();
    let device = attached(&stage.target, &[])?;
    device.word().clone_into(&mut stage.target);
    let stage = stage.erased_as(device.word());
    Ok((stage, device))
}

/// The same, detached last.
pub fn attached_medium() -> Arranged {
    medium().map(|(stage, attached)| stage.keeps(attached))
}

/// The same with the first partition.
fn partitioned() -> Result<(Stage, LoopDevice, String), String> {
    let (stage, attached) = medium()?;
    let partition = partition(&attached, 1);
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
    let (mut stage, attached, first) = partitioned()?;
    partition(&attached, 2);
    make_filesystem(&first);
    let at = stage.scratch.directory("mnt");
    let mount = mounted(&[QUIETLY, &[first.as_str()]].concat(), &at)?;
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

fn exclusive_with_partition() -> Arranged {
    let (stage, attached, _partition) = partitioned()?;
    let holder = Holder::python(attached.node(), "f=os.open(path,os.O_RDONLY|os.O_EXCL)")?;
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
