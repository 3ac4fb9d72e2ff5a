//! Kinds of file systems, and their meaning for a measurement.

use record::Flag;

use crate::mounts::Mount;

/// Class of a file system by where its data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FsClass {
    /// A medium of this machine.
    Local,
    /// Main memory: tmpfs, ramfs, devtmpfs, hugetlbfs.
    Memory,
    /// A network, or the host of this virtual machine.
    Remote,
    /// Nothing is stored: proc, sysfs and their kind.
    Pseudo,
    /// One directory over others (overlay).
    Overlay,
}

/// File systems that are not local, by the kernel's names for them; a name with `fuse.` is as it
/// stands, others may have it before them.
const CLASSES: [(FsClass, &str); 5] = [
    (
        FsClass::Remote,
        "nfs nfs4 cifs smb3 smbfs 9p virtiofs ceph afs ncpfs coda lustre gpfs glusterfs beegfs \
         orangefs davfs vboxsf prl_fs ocfs2 gfs2 sshfs s3fs rclone davfs2 vmhgfs-fuse",
    ),
    (
        FsClass::Remote,
        "fuse.gvfsd-fuse fuse.ceph-fuse fuse.curlftpfs fuse.goofys fuse.gcsfuse fuse.mount-s3 \
         fuse.juicefs fuse.seaweedfs fuse.smbnetfs",
    ),
    (FsClass::Overlay, "overlay aufs unionfs unionfs-fuse mergerfs fuse-overlayfs"),
    (FsClass::Memory, "tmpfs ramfs devtmpfs hugetlbfs"),
    (
        FsClass::Pseudo,
        "proc sysfs cgroup cgroup2 devpts debugfs tracefs securityfs pstore bpf configfs mqueue \
         efivarfs fusectl binfmt_misc autofs rpc_pipefs nsfs selinuxfs nfsd",
    ),
];

/// Class of a file system, by the kernel's name for it ("ext4", "fuse.sshfs").
pub fn fs_class(kind: &str) -> FsClass {
    let bare = kind.strip_prefix("fuse.").unwrap_or(kind);
    let is_among = |names: &str, kind: &str| names.split(' ').any(|name| name == kind);
    let is_of = |(class, names): &&(FsClass, &str)| match class {
        FsClass::Memory | FsClass::Pseudo => is_among(names, kind),
        _ => is_among(names, bare) || is_among(names, kind),
    };
    CLASSES.iter().find(is_of).map_or(FsClass::Local, |(class, _)| *class)
}

/// True if the file system may store less than what was written.
///
/// ZFS, UBIFS and JFFS2 compress by default; ZFS does not show it in its mount options.
pub fn compresses(mount: &Mount) -> bool {
    let set = |name: &str| {
        mount.has_option(name)
            || mount.option(name).is_some_and(|value| value != "none" && value != "no")
    };
    match mount.kind.as_str() {
        "btrfs" => set("compress") || set("compress-force"),
        "f2fs" => set("compress_algorithm"),
        "bcachefs" => set("compression") || set("background_compression"),
        "ubifs" => mount.option("compr") != Some("none"),
        "zfs" | "jffs2" | "squashfs" | "erofs" | "cramfs" => true,
        _ => false,
    }
}

/// Caveats about anything measured on this file system.
pub fn flags(mount: &Mount) -> Vec<Flag> {
    let mut flags = Vec::new();
    match fs_class(&mount.kind) {
        FsClass::Memory => flags.push(Flag::MemoryFilesystem),
        FsClass::Overlay => flags.push(Flag::Note {
            text: format!(
                "{} lays directories over one another: the first write to a file copies it",
                mount.kind
            ),
        }),
        _ => {}
    }
    if compresses(mount) {
        flags.push(Flag::CompressedFilesystem);
    }
    flags
}

/// Size and free space of a file system, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Size of the file system, free or not (statvfs).
    pub size_bytes: u64,
    /// Bytes that this user may still fill.
    pub free_bytes: u64,
}
