//! Targets that look as if they were in use and are not.

use std::fs;
use std::path::Path;

use super::super::support::Scratch;
use super::holding::{Attached, Holder, mounted};
use super::media::medium;
use super::{Arranged, Case, Stage};

pub const CASES: &[Case] = &[
    Case { name: "a file that is only read by another", arrange: || held("f=open(path,'rb')") },
    Case {
        name: "a file that another has a path to (O_PATH)",
        arrange: || held("f=os.open(path,os.O_PATH)"),
    },
    Case {
        name: "a file mapped for reading by another",
        arrange: || held("f=open(path,'rb');m=mmap.mmap(f.fileno(),4096,prot=mmap.PROT_READ)"),
    },
    Case {
        name: "a file mapped privately by another",
        arrange: || held("f=open(path,'rb');m=mmap.mmap(f.fileno(),4096,flags=mmap.MAP_PRIVATE)"),
    },
    Case {
        name: "a file that was just written and closed",
        arrange: || held("open(path,'r+b').close()"),
    },
    Case { name: "a file with two hard links", arrange: two_links },
    Case { name: "a file beside a lock file", arrange: lock_file },
    Case { name: "a file with the inode number of one that is written", arrange: same_inode },
    Case {
        name: "a file made anew under the name of one that a loop device has",
        arrange: made_anew,
    },
    Case {
        name: "a file that is open for writing for a moment",
        arrange: || held("f=open(path,'r+b');threading.Timer(0.2,f.close).start()"),
    },
    Case { name: "a loop device with nothing on it", arrange: || held_medium("pass") },
    Case {
        name: "a medium that is only read by another",
        arrange: || held_medium("f=open(path,'rb')"),
    },
    Case {
        name: "a medium that another has a path to (O_PATH)",
        arrange: || held_medium("f=os.open(path,os.O_PATH)"),
    },
    Case { name: "a medium with partitions and no mounts", arrange: partitions },
    Case {
        name: "a medium that is open for writing for a moment",
        arrange: || held_medium("f=open(path,'r+b');threading.Timer(0.2,f.close).start()"),
    },
    Case {
        name: "a medium that is locked for a moment, as udev does",
        arrange: || {
            held_medium(
                "f=open(path,'rb');fcntl.flock(f,fcntl.LOCK_SH);threading.Timer(0.2,f.close).start()",
            )
        },
    },
    Case { name: "a medium beside one that is written", arrange: beside },
];

fn held(code: &str) -> Arranged {
    let stage = Stage::file();
    let holder = Holder::python(Path::new(&stage.target), code)?;
    Ok(stage.keeps(holder))
}

fn held_medium(code: &str) -> Arranged {
    let (stage, attached) = medium()?;
    let holder = Holder::python(&attached.node, code)?;
    Ok(stage.keeps(attached).keeps(holder))
}

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
        let (attached, at) = (Attached::over(&image)?, scratch.directory(name));
        let mount = mounted(&[attached.word()], &at)?;
        keep.push(Box::new(attached));
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
    let attached = Attached::over(&stage.target)?;
    fs::remove_file(&stage.target).unwrap();
    stage.scratch.image("image", 24 << 20);
    Ok(stage.keeps(attached))
}

fn partitions() -> Arranged {
    let (stage, attached) = medium()?;
    attached.partition(1)?;
    attached.partition(2)?;
    Ok(stage.keeps(attached))
}

fn beside() -> Arranged {
    let (stage, attached) = medium()?;
    let (other, written) = medium()?;
    let holder = Holder::python(&written.node, "f=open(path,'r+b');fcntl.flock(f,fcntl.LOCK_EX)")?;
    Ok(stage.keeps(other).keeps(attached).keeps(written).keeps(holder))
}
