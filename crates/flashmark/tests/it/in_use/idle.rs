//! Targets that look as if they were in use and are not.

use std::fs;
use std::path::Path;

use super::super::support::Scratch;
use super::holding::{Holder, attached, mounted, partition};
use super::media::medium;
use super::{Arranged, Case, Stage};

pub const FILES: &[Case] = &[
    ("a file with two hard links", two_links),
    ("a file beside a lock file", lock_file),
    ("a file with the inode number of one that is written", same_inode),
    ("a file made anew under the name of one that a loop device has", made_anew),
];

pub const MEDIA: &[Case] = &[
    ("a medium with partitions and no mounts", partitions),
    ("a medium beside one that is written", beside),
];

fn two_links() -> Arranged {
    let stage = Stage::file();
    fs::hard_link(&stage.target, stage.scratch.at("link")).unwrap();
    Ok(stage)
}

fn lock_file() -> Arranged {
    let stage = Stage::file();
    let lock = stage.scratch.file("image.lock", "4242\n");
    let holder = Holder::python(&lock, "f=open(path,'r+b');fcntl.flock(f,fcntl.LOCK_EX)")?;
    Ok(stage.keeps(holder))
}

/// Fresh file systems give their first files the same inode numbers.
fn same_inode() -> Arranged {
    let scratch = Scratch::new();
    let mut keep: Vec<Box<dyn std::any::Any>> = Vec::new();
    let [one, two] = ["one", "two"].map(|name| {
        let image = scratch.at(&format!("{name}.image"));
        fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
        super::holding::tried("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()])?;
        let (device, at) = (attached(&image, &[])?, scratch.directory(name));
        let mount = mounted(&[device.word()], &at)?;
        keep.push(Box::new(device));
        keep.push(Box::new(mount));
        fs::write(at.join("image"), vec![1; 24 << 20]).unwrap();
        Ok::<_, String>(at.join("image"))
    });
    let (one, two) = (one?, two?);
    let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
    assert_eq!(inode(&one), inode(&two));
    let holder = Holder::python(&two, "f=open(path,'r+b');fcntl.lockf(f,fcntl.LOCK_EX)")?;
    let mut stage = Stage::new(scratch, &one);
    stage.keep.push(Box::new(InOrder(keep)));
    Ok(stage.keeps(holder))
}

/// Holds things and drops the last first.
struct InOrder(Vec<Box<dyn std::any::Any>>);

impl Drop for InOrder {
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}

fn made_anew() -> Arranged {
    let stage = Stage::file();
    let device = attached(&stage.target, &[])?;
    fs::remove_file(&stage.target).unwrap();
    stage.scratch.image("image", 24 << 20);
    Ok(stage.keeps(device))
}

fn partitions() -> Arranged {
    let (stage, device) = medium()?;
    partition(&device, 1);
    partition(&device, 2);
    Ok(stage.keeps(device))
}

fn beside() -> Arranged {
    let (stage, attached) = medium()?;
    let (other, written) = medium()?;
    let holder = Holder::python(written.node(), "f=open(path,'r+b');fcntl.flock(f,fcntl.LOCK_EX)")?;
    Ok(stage.keeps(other).keeps(attached).keeps(written).keeps(holder))
}
