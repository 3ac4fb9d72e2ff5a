//! Commands of the articles, and our form of each. DEV is the loop device, DIR a directory on an
//! ext4 there.

/// One tool and our form of its work.
pub struct Pairing {
    /// Number of the article: "002".
    pub article: &'static str,
    /// Command line for a shell.
    pub tool: &'static str,
    /// Words after the program's name, or "work NAME DIR .." of this program.
    pub ours: &'static str,
    /// Names of the columns that both have.
    pub columns: &'static [&'static str],
}

impl Pairing {
    /// True if both work in a directory of a file system.
    pub fn is_in_directory(&self) -> bool {
        self.ours.contains("DIR")
    }
}

const fn pairing(
    article: &'static str,
    tool: &'static str,
    ours: &'static str,
    columns: &'static [&'static str],
) -> Pairing {
    Pairing { article, tool, ours, columns }
}

/// All pairings in order. Amounts are smaller than published: the ratio counts.
#[rustfmt::skip]
pub const PAIRINGS: [Pairing; 9] = [
    pairing("000", "hdparm -t DEV",
        "run DEV --suite seeds --only buffered-read --set buffered-read.form=device --set buffered-read.runs=1",
        &["hdparm"]),
    pairing("000", "hdparm -t --direct DEV",
        "run DEV --suite seeds --only buffered-read --set buffered-read.form=direct --set buffered-read.runs=1",
        &["hdparm-direct"]),
    pairing("000", "hdparm -T DEV",
        "run DEV --suite seeds --only buffered-read --set buffered-read.form=cache --set buffered-read.runs=1",
        &["hdparm-cache"]),
    pairing("002", "dd if=/dev/zero of=DEV oflag=direct bs=4k count=16384",
        "run DEV --suite seeds --only sequential-write --set sequential-write.content=zeros --set sequential-write.block=4KiB --set sequential-write.total=64MiB",
        &["dd-write-4k"]),
    pairing("002", "dd if=/dev/zero of=DEV oflag=direct bs=1M count=512",
        "run DEV --suite seeds --only sequential-write --set sequential-write.content=zeros --set sequential-write.block=1MiB --set sequential-write.total=512MiB",
        &["dd-write-1m"]),
    pairing("002", "dd if=DEV of=/dev/null iflag=direct bs=16k count=16384",
        "run DEV --suite seeds --only sequential-read --set sequential-read.block=16KiB --set sequential-read.total=256MiB",
        &["dd-read-16k"]),
    pairing("002", "dd if=DEV of=/dev/null iflag=direct bs=1M count=512",
        "run DEV --suite seeds --only sequential-read --set sequential-read.block=1MiB --set sequential-read.total=512MiB",
        &["dd-read-1m"]),
    pairing("002", "iozone -i 0 -i 2 -I -r 4K -s 16m -o -O +r +D -f DIR/iozone.tmp",
        "run DIR --suite seeds --only record-ops --set record-ops.size=16MiB --set record-ops.forms=write,rewrite,random-read,random-write",
        &["iozone-write-4k", "iozone-rewrite-4k", "iozone-random-read-4k", "iozone-random-write-4k"]),
    pairing("003", "iozone -T -t 4 -s 1m -r 4k -I -i0 -i1 -i2",
        "work threads DIR --set forms=published",
        &["threads-write-4k-4-children", "threads-rewrite-4k-4-children", "threads-read-4k-4-children", "threads-random-read-4k-4-children", "threads-random-write-4k-4-children", "threads-read-4k-4-parent", "threads-random-read-4k-4-parent"]),
];
