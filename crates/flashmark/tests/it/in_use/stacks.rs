//! Media that other devices are made of.

use std::path::Path;

use super::super::support::{Scratch, tool};
use super::holding::{Holder, Undo, attached, driver, mounted, partition, tried, unmount_by_name};
use super::media::{QUIETLY, medium};
use super::{Arranged, Case, Stage};

pub const CASES: &[Case] = &[
    ("a loop device over it", || looped(false)),
    ("a loop device over its partition", || looped(true)),
    ("a loop device over it, under another node's name", by_another_node),
    ("a loop device over a loop device over it", twice),
    ("a loop device over a file on it, unmounted by name", file_on_it),
    ("a program writes to the loop device over it", program_above),
    ("a program writes to the medium below the named loop device", program_below),
    ("a program writes to another loop device over its file", program_beside),
    ("btrfs member", btrfs),
    ("dm-linear", linear),
    ("LUKS", luks),
    ("LVM", lvm),
    ("MD", md),
    ("bcache", bcache),
    ("nbd", nbd),
    ("zram that writes back to it", zram),
];

/// Words by which the program names a device that another one is made of.
fn part_of(lower: &str, upper: &str, what: &str) -> String {
    let short = |word: &str| word.trim_start_matches("/dev/").to_owned();
    format!("{} is part of {} ({what})", short(lower), short(upper))
}

fn looped(in_part: bool) -> Arranged {
    let (stage, lower) = medium()?;
    let below = if in_part { partition(&lower, 1) } else { lower.word().to_owned() };
    let upper = attached(&below, &[])?;
    let reason = part_of(&below, upper.word(), "loop");
    let advice = "; release it first, or choose another medium";
    Ok(stage.refused_with(reason + advice).keeps(lower).keeps(upper))
}

fn by_another_node() -> Arranged {
    let (stage, lower) = medium()?;
    let node = stage.scratch.at("node");
    let number = tool("stat", &["-c", "%Hr %Lr", lower.word()]);
    let (major, minor) = number.split_once(' ').unwrap();
    tried("mknod", &[node.to_str().unwrap(), "b", major, minor])?;
    let upper = attached(&node, &[])?;
    // the name by which it was attached leads nowhere any more
    std::fs::remove_file(&node).unwrap();
    let reason = part_of(lower.word(), upper.word(), "loop");
    Ok(stage.refused_with(reason).keeps(lower).keeps(upper))
}

fn twice() -> Arranged {
    let (stage, lower) = medium()?;
    let middle = attached(lower.node(), &[])?;
    let upper = attached(middle.node(), &[])?;
    let reason = part_of(middle.word(), upper.word(), "loop");
    Ok(stage.refused_with(reason).keeps(lower).keeps(middle).keeps(upper))
}

/// A file system that is mounted nowhere any more, and is kept alive by a loop device over a file
/// on it.
fn file_on_it() -> Arranged {
    let (stage, lower) = medium()?;
    tried("mkfs.ext4", &["-q", "-F", lower.word()])?;
    let at = stage.scratch.directory("mnt");
    let inside = at.join("inside");
    {
        let _mount = mounted(&[lower.word()], &at)?;
        std::fs::write(&inside, vec![1; 1 << 20]).unwrap();
    }
    // Mounted for writing, the kernel itself would go on writing: ext4 still makes its inode tables.
    let mount = mounted(&[QUIETLY, &[lower.word()]].concat(), &at)?;
    let upper = attached(&inside, &["--read-only"])?;
    unmount_by_name(&at)?;
    drop(mount);
    let reason = part_of(lower.word(), upper.word(), "loop over a file on it");
    Ok(stage.refused_with(reason).keeps(lower).keeps(upper))
}

fn program_above() -> Arranged {
    let (stage, lower) = medium()?;
    let upper = attached(lower.node(), &[])?;
    let holder = Holder::python(upper.node(), "f=open(path,'r+b')")?;
    let reason = part_of(lower.word(), upper.word(), "loop");
    Ok(stage.refused_with(reason).keeps(lower).keeps(upper).keeps(holder))
}

fn program_below() -> Arranged {
    let (mut stage, lower) = medium()?;
    let upper = attached(lower.node(), &[])?;
    let holder = Holder::python(lower.node(), "f=open(path,'r+b')")?;
    stage.target = upper.word().to_owned();
    stage.erase = Some(stage.target.clone());
    let reason = format!("{} is held open for writing by python3", lower.name());
    let name = holder.name();
    Ok(stage.refused_with(reason).refused_with(name).keeps(lower).keeps(upper).keeps(holder))
}

fn program_beside() -> Arranged {
    let (stage, one) = medium()?;
    let other = attached(stage.image.as_deref().unwrap(), &[])?;
    let holder = Holder::python(other.node(), "f=open(path,'r+b')")?;
    let reason = format!("{} is held open for writing by python3", other.name());
    Ok(stage.refused_with(reason).keeps(one).keeps(other).keeps(holder))
}

/// Two large media in one btrfs: the table of mounts names only one of them.
fn btrfs() -> Arranged {
    driver("btrfs", "btrfs")?;
    let scratch = Scratch::new();
    let images = ["one", "two"].map(|name| scratch.at(name));
    for image in &images {
        std::fs::File::create(image).unwrap().set_len(200 << 20).unwrap();
    }
    let [one, two] = [attached(&images[0], &[])?, attached(&images[1], &[])?];
    tried("mkfs.btrfs", &["-q", "-f", one.word(), two.word()])?;
    tried("btrfs", &["device", "scan", one.word(), two.word()])?;
    let at = scratch.directory("mnt");
    let mount = mounted(&[one.word()], &at)?;
    let reason = format!("{} is part of the mounted btrfs", two.name());
    Ok(Stage::new(scratch, two.node()).refused_with(reason).keeps(one).keeps(two).keeps(mount))
}

fn mapped(name: &str, table: &str) -> Result<Undo, String> {
    tried("dmsetup", &["create", name, "--table", table])?;
    Ok(Undo::by(&["dmsetup", "remove", "--retry", name]))
}

fn unique(what: &str) -> String {
    format!("flashmark-it-{what}-{}", std::process::id())
}

fn linear() -> Arranged {
    driver("device-mapper", "dm-mod")?;
    let (stage, lower) = medium()?;
    let above = mapped(&unique("linear"), &format!("0 16384 linear {} 0", lower.word()))?;
    let reason = format!("{} is part of dm-", lower.name());
    Ok(stage.refused_with(reason).refused_with("(dm)").keeps(lower).keeps(above))
}

fn luks() -> Arranged {
    driver("device-mapper", "dm-crypt")?;
    let (stage, lower) = medium()?;
    let key = stage.scratch.file("key", "0123456789abcdef");
    let (key, name) = (key.to_str().unwrap().to_owned(), unique("luks"));
    let format = "luksFormat --batch-mode --type luks1 --pbkdf-force-iterations 1000 --key-file";
    tried("cryptsetup", &format!("{format} {key} {}", lower.word()))?;
    tried("cryptsetup", &["open", "--key-file", &key, lower.word(), &name])?;
    let undo = Undo::by(&["cryptsetup", "close", &name]);
    let reason = format!("{} is part of dm-", lower.name());
    Ok(stage.refused_with(reason).refused_with("(LUKS)").keeps(lower).keeps(undo))
}

fn lvm() -> Arranged {
    driver("device-mapper", "dm-mod")?;
    let (stage, lower) = medium()?;
    let group = unique("group");
    tried("pvcreate", &["-y", lower.word()])?;
    tried("vgcreate", &[&group, lower.word()])?;
    tried("lvcreate", &["-y", "-Zn", "-l", "1", "-n", "volume", &group])?;
    let undo = Undo::by(&["vgchange", "-an", &group]);
    let reason = format!("{} is part of dm-", lower.name());
    Ok(stage.refused_with(reason).refused_with("(LVM)").keeps(lower).keeps(undo))
}

fn md() -> Arranged {
    driver("md", "raid1")?;
    let (stage, lower) = medium()?;
    let node = "/dev/md/flashmark-it";
    let create = format!("--create {node} --run --force --level=1 --raid-devices=1 --metadata=1.0");
    tried("mdadm", &format!("{create} {}", lower.word()))?;
    let undo = Undo::by(&["mdadm", "--stop", node]);
    let reason = format!("{} is part of md", lower.name());
    Ok(stage.refused_with(reason).refused_with("(MD)").keeps(lower).keeps(undo))
}

fn bcache() -> Arranged {
    driver("bcache", "bcache")?;
    let (stage, lower) = medium()?;
    tried("make-bcache", &["--bdev", lower.word()])?;
    // already registered where udev is quick
    let _ = std::fs::write("/sys/fs/bcache/register", lower.word());
    let folder = format!("/sys/block/{}/bcache", lower.name());
    if !Path::new(&folder).exists() {
        return Err("the kernel did not take the backing device".into());
    }
    let undo = Undo::by(&["sh", "-c", &format!("echo 1 > {folder}/stop")]);
    let reason = format!("{} is part of bcache", lower.name());
    Ok(stage.refused_with(reason).refused_with("(bcache)").keeps(lower).keeps(undo))
}

/// A network block device whose server has the medium open; the kernel does not know what the node
/// is made of.
fn nbd() -> Arranged {
    driver("nbd", "nbd")?;
    let (stage, lower) = medium()?;
    tried("qemu-nbd", &["--connect=/dev/nbd0", "--format=raw", lower.word()])?;
    let undo = Undo::by(&["qemu-nbd", "--disconnect", "/dev/nbd0"]);
    Ok(stage.refused_with("is held open for writing by qemu-nbd").keeps(lower).keeps(undo))
}

fn zram() -> Arranged {
    driver("zram", "zram")?;
    if !Path::new("/sys/block/zram0/backing_dev").exists() {
        return Err("this kernel's zram does not write back".into());
    }
    let number = std::fs::read_to_string("/sys/class/zram-control/hot_add")
        .map_err(|error| error.to_string())?;
    let number = number.trim().to_owned();
    let script = format!(
        "echo 1 > /sys/block/zram{number}/reset; echo {number} > /sys/class/zram-control/hot_remove"
    );
    let remove = Undo::by(&["sh", "-c", &script]);
    let (stage, lower) = medium()?;
    let attribute = |name: &str| format!("/sys/block/zram{number}/{name}");
    std::fs::write(attribute("backing_dev"), lower.word()).map_err(|error| error.to_string())?;
    std::fs::write(attribute("disksize"), "16M").map_err(|error| error.to_string())?;
    let reason = part_of(lower.word(), &format!("zram{number}"), "zram");
    Ok(stage.refused_with(reason).keeps(lower).keeps(remove))
}
