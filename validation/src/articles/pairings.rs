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
    /// True if both watch what another program does.
    pub fn is_watching(&self) -> bool {
        self.ours.starts_with("watch")
    }

    /// True if both work in a directory of a file system.
    pub fn is_in_directory(&self) -> bool {
        self.ours.contains("DIR")
    }
}

/// All pairings in order. Amounts are smaller than published: the ratio counts.
#[rustfmt::skip]
pub const PAIRINGS: [Pairing; 12] = [
    Pairing { article: "000", tool: "hdparm -t DEV",
        ours: "run DEV --suite seeds --only buffered-read --set buffered-read.form=device --set buffered-read.runs=1 --set buffered-read.pause=0s",
        columns: &["hdparm"] },
    Pairing { article: "000", tool: "hdparm -t --direct DEV",
        ours: "run DEV --suite seeds --only buffered-read --set buffered-read.form=direct --set buffered-read.runs=1 --set buffered-read.pause=0s",
        columns: &["hdparm-direct"] },
    Pairing { article: "000", tool: "hdparm -T DEV",
        ours: "run DEV --suite seeds --only buffered-read --set buffered-read.form=cache --set buffered-read.runs=1 --set buffered-read.pause=0s",
        columns: &["hdparm-cache"] },
    Pairing { article: "000", tool: "seeker DEV 3 8",
        ours: "run DEV --suite seeds:000 --only random-read --set random-read.block=512B --set random-read.region=whole --set random-read.threads=8 --set random-read.min_time=3s --set random-read.max_time=3s",
        columns: &["seeks"] },
    Pairing { article: "002", tool: "dd if=/dev/zero of=DEV oflag=direct bs=4k count=1024",
        ours: "run DEV --suite seeds --only sequential-write --set sequential-write.content=zeros --set sequential-write.block=4KiB --set sequential-write.total=4MiB",
        columns: &["dd-write-4k"] },
    Pairing { article: "002", tool: "dd if=/dev/zero of=DEV oflag=direct bs=1M count=96",
        ours: "run DEV --suite seeds --only sequential-write --set sequential-write.content=zeros --set sequential-write.block=1MiB --set sequential-write.total=96MiB",
        columns: &["dd-write-1m"] },
    Pairing { article: "002", tool: "dd if=DEV of=/dev/null iflag=direct bs=16k count=1024",
        ours: "run DEV --suite seeds:002 --only sequential-read --set sequential-read.block=16KiB --set sequential-read.total=16MiB",
        columns: &["dd-read-16k"] },
    Pairing { article: "002", tool: "dd if=DEV of=/dev/null iflag=direct bs=1M count=96",
        ours: "run DEV --suite seeds:002 --only sequential-read --set sequential-read.block=1MiB --set sequential-read.total=96MiB",
        columns: &["dd-read-1m"] },
    Pairing { article: "002", tool: "iozone -i 0 -i 2 -I -r 4K -s 2m -o -O +r +D -f DIR/iozone.tmp",
        ours: "run DIR --suite seeds --only record-ops --set prime.span=16MiB --set prime.passes=1 --set record-ops.size=2MiB --set record-ops.forms=write,rewrite,random-read,random-write",
        columns: &["iozone-write-4k", "iozone-rewrite-4k", "iozone-random-read-4k", "iozone-random-write-4k"] },
    Pairing { article: "003", tool: "seeker DEV 3 1",
        ours: "run DEV --suite seeds --only seek --set seek.path=buffered --set seek.time=3s",
        columns: &["seeks"] },
    Pairing { article: "003", tool: "iostat -dx -o JSON DEV 3 2",
        ours: "watch DEV --interval 3s --count 1 --json",
        columns: &["r/s", "r_await"] },
    Pairing { article: "003", tool: "iozone -T -t 4 -s 512k -r 4k -I -i0 -i1 -i2",
        ours: "work threads DIR --set forms=published --set size=512KiB --set pause=0s",
        columns: &["threads-write-4k-4-children", "threads-rewrite-4k-4-children", "threads-read-4k-4-children", "threads-random-read-4k-4-children", "threads-random-write-4k-4-children", "threads-read-4k-4-parent", "threads-random-read-4k-4-parent"] },
];
