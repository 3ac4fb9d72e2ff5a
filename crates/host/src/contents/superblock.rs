//! Fields of superblocks and headers that no tool prints quickly.

use record::Moment;

/// Byte offset of the superblock of ext2, ext3 and ext4 (the kernel's
/// Documentation/filesystems/ext4/super.rst).
const EXT_SUPERBLOCK: usize = 1024;
/// Its magic number, with its byte offset in the superblock.
const EXT_MAGIC: (usize, u16) = (0x38, 0xef53);
/// `s_mtime`: time of the last mount, in seconds since 1970; 0 for never.
const EXT_MOUNTED: usize = 0x2c;
/// `s_mtime_hi`: the eight bits above.
const EXT_MOUNTED_HIGH: usize = 0x275;

/// Time of the last mount of an ext file system, from its first 2 KiB; `None` if these are not of
/// an ext file system.
pub fn ext_mounted(head: &[u8]) -> Option<String> {
    let block = head.get(EXT_SUPERBLOCK..)?;
    let magic = u16::from_le_bytes(block.get(EXT_MAGIC.0..EXT_MAGIC.0 + 2)?.try_into().ok()?);
    if magic != EXT_MAGIC.1 {
        return None;
    }
    let low = u32::from_le_bytes(block.get(EXT_MOUNTED..EXT_MOUNTED + 4)?.try_into().ok()?);
    let high = *block.get(EXT_MOUNTED_HIGH)?;
    let seconds = u64::from(high) << 32 | u64::from(low);
    Some(if seconds == 0 { "never".to_owned() } else { date(seconds) })
}

/// Image formats of media, by their first bytes.
pub fn image(head: &[u8]) -> Option<&'static str> {
    // QEMU's docs/interop/qcow2.txt; VMware's Virtual Disk Format 1.1; [MS-VHDX] 2.2.1;
    // VirtualBox's VDICore.h (VDI_IMAGE_SIGNATURE)
    let starts = [
        (&b"QFI\xfb"[..], "qcow2"),
        (b"KDMV", "vmdk"),
        (b"# Disk DescriptorFile", "vmdk"),
        (b"vhdxfile", "vhdx"),
        (b"conectix", "vhd"),
    ];
    let named = starts.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| *name);
    named.or_else(|| (head.get(0x40..0x44)? == [0x7f, 0x10, 0xda, 0xbe]).then_some("vdi"))
}

/// A time in seconds since 1970 as "2026-11-20 18:04 UTC".
pub fn date(seconds: u64) -> String {
    let text = Moment(i128::from(seconds) * 1_000_000_000).to_string();
    text.split_once('T')
        .map_or_else(String::new, |(date, time)| format!("{date} {} UTC", &time[..5]))
}
