//! The five articles that Flashmark is based on: authors, measurements and findings.
//!
//! Their figures are records ([`crate::reference`]); a test of the program checks each
//! number of a finding against them and the page that it cites.

use std::collections::BTreeMap;

use record::Published;
use record::text::printable;

use crate::column_figures::{ColumnFigure, RunFigures};
use crate::{figure, words};

mod conclusion;
mod figures;
mod medium_row;
mod own_table;
mod text;

pub use figures::{ArticleRow, MeasureCommand, MediumFigures, PickCell};
use figures::{commands, groups, without_any};
pub use own_table::{of_suite, own_table, run_name};
pub use text::{list, text};

/// An article in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Article {
    /// Its number, counted from 000.
    pub number: &'static str,
    /// Name of its page of published figures, counted from 1: "article-1".
    pub key: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Author, as far as the article says.
    pub author: &'static str,
    /// Year of publication.
    pub year: u16,
    /// Web address of the article.
    pub address: &'static str,
    /// The quantities that it measures.
    pub measures: &'static str,
    /// Its finding, with figures of its own.
    pub found: &'static str,
    /// Arguments of `flashmark` that repeat its measurements, in their order; TARGET is a device, a
    /// directory or a file.
    pub again: &'static [&'static str],
    /// The file below docs/field that has these figures.
    pub file: &'static str,
    /// The section of that file.
    pub section: &'static str,
}

/// An article with the records of its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct ArticleFigures {
    /// The article.
    pub article: &'static Article,
    /// A record for each medium on a host.
    pub runs: Vec<Published>,
}

impl ArticleFigures {
    /// Number of figures.
    pub fn count(&self) -> usize {
        self.runs.iter().map(|run| run.cells.len()).sum()
    }

    /// Day of the publication, as far as it is known: "2012-01-25", "2011".
    pub fn date(&self) -> String {
        let day = self.runs.iter().find_map(|run| run.started.as_deref()?.get(..10));
        day.map_or_else(|| self.article.year.to_string(), str::to_owned)
    }
}

impl Article {
    /// Reference to the figures of the finding: "docs/field/ext2.md, Morton's benchmark".
    pub fn cited(&self) -> String {
        format!("docs/field/{}, {}", self.file, self.section)
    }
}

/// The five articles, in the order of their numbers.
pub const ARTICLES: [Article; 5] = [
    Article {
        number: "000",
        key: "article-1",
        title: "Compact Flash benchmarks",
        author: "Greg (abatis.org.uk)",
        year: 2005,
        address: "http://abatis.org.uk/CFbench.html",
        measures: "random reads by block size (IOTest) in the first GB of a CF card and of disks",
        found: "At random reads the Kingston CF 24x was 8.3 times as fast as a 7200 rpm disk in \
                blocks of 512 B, and 4.7 times in blocks of 4 KiB; its sequential reads were 9.2 MB/s. \
                32-bit transfers (hdparm -c1) made it 70 % faster, on a Celeron 500 as on an XP 2000+.",
        again: &["run TARGET --suite seeds:000", "compare RUN RUN"],
        file: "classic-tools.md",
        section: "IOTest",
    },
    Article {
        number: "001",
        key: "article-2",
        title: "Compact Flash benchmarks, updated 7/2007",
        author: "R. Gregory (abatis.org.uk)",
        year: 2007,
        address: "http://abatis.org.uk/CFbenchPart2.html",
        measures: "random reads by block size (thrash) and sequential rates of CF cards and disks",
        found: "At random reads a 10000 rpm disk is faster than the Fujifilm CF 100x from blocks \
                of about 100 KB on; sequentially the card does 15.4 MB/s and the disk 65 MB/s.",
        again: &["run TARGET --suite seeds:001", "compare RUN RUN"],
        file: "classic-tools.md",
        section: "IOTest",
    },
    Article {
        number: "002",
        key: "article-3",
        title: "Flash Module Benchmark Collection: SD Cards, CF Cards, USB Sticks",
        author: "Gordan",
        year: 2012,
        address: "http://www.altechnative.net/2012/01/25/flash-module-benchmark-collection-sd-cards-cf-cards-usb-sticks/",
        measures: "dd from 4 KiB to 1 MiB, and iozone in 4 KiB: writes, rewrites, random reads and \
                   writes",
        found: "The Kingston Ultimate 266x CF card writes 38.2 MB/s in blocks of 1 MiB and 1 random \
                write of 4 KiB a second; the SanDisk Extreme USB stick writes 56.2 MB/s and 566 of \
                them.",
        again: &["run TARGET --suite seeds:002"],
        file: "published-figures.md",
        section: "Gordan's table",
    },
    Article {
        number: "003",
        key: "article-4",
        title: "Filesystems, Schedulers with CompactFlash",
        author: "Pitt-Pladdy",
        year: 2012,
        address: "https://www.pitt-pladdy.com/blog/_20120214-133809_0000_Filesystems_Schedulers_with_CompactFlash/",
        measures: "the time that a poll of Cacti takes by file system and scheduler, access times \
                   (seeker), iostat",
        found: "On the Duracell 300x CF card a poll of Cacti was complete after 117 s with ext2 and \
                131 s with ext4 without a journal; xfs with the deadline scheduler took 74 to 78 s, \
                a SATA disk 32 to 45 s.",
        again: &[
            "run TARGET --suite seeds:003",
            "matrix TARGET --fs ext2,ext3,ext4,ext4-nojournal,jfs,xfs --scheduler none,mq-deadline,bfq --work rrd,threads",
            "watch TARGET --interval 10s",
        ],
        file: "rrdtool.md",
        section: "Replay and published times",
    },
    Article {
        number: "004",
        key: "article-5",
        title: "Flash storage devices and how slow they are",
        author: "J. Morton",
        year: 2011,
        address: "http://sandbox.movial.com/blog/2011/02/flash-storage-devices-and-how-slow-they-are/",
        measures: "sequential writes of zeros and of random data, single writes of 512 B, formatting and filling \
                   ext2",
        found: "A write of 512 B at a random place takes 107 to 826 ms on ten of eleven sticks and \
                cards, and 21.5 ms on a disk; the Transcend Class 10 card writes zeros at 16.65 MB/s \
                and random data at 8.99 MB/s.",
        again: &["run TARGET --suite seeds:004"],
        file: "ext2.md",
        section: "Morton's benchmark",
    },
];

/// The article with a number ("004") or with the name of its page ("article-5"). A bare "4" is
/// neither: it would be the fifth by number and the fourth by name.
pub fn named(name: &str) -> Option<&'static Article> {
    ARTICLES.iter().find(|article| article.number == name || article.key == name)
}

/// The most media beside an article.
pub const MAX_PICKED: usize = 5;

/// A selected medium with its figures, by the name of the column.
pub struct Pick {
    /// Its name.
    pub name: String,
    /// Address of its page, or empty.
    pub href: String,
    /// Its figures.
    pub found: BTreeMap<String, ColumnFigure>,
}

impl Pick {
    /// Up to [`MAX_PICKED`] runs, without a page to link to.
    pub fn of_runs(runs: &[RunFigures]) -> Vec<Pick> {
        let pick = |(name, found): &RunFigures| Pick {
            name: printable(name),
            href: String::new(),
            found: found.clone(),
        };
        runs.iter().take(MAX_PICKED).map(pick).collect()
    }

    /// The figure of that name, or else the one measured with other data; true in the second case.
    fn nearest(&self, name: &str) -> Option<(&ColumnFigure, bool)> {
        let other = || self.found.get(&format!("{name}-data")).map(|it| (it, true));
        self.found.get(name).map(|it| (it, false)).or_else(other)
    }
}

/// An article as a table: the finding, every figure, and the command for each column.
pub struct ArticleTable {
    /// The article.
    pub article: &'static Article,
    date: String,
    count: usize,
    /// Heads of the columns of the selected media.
    pub heads: Vec<PickHead>,
    /// All figures by medium and host.
    pub groups: Vec<MediumFigures>,
    /// Names of selected media without any of the figures.
    pub without_any: Vec<String>,
    /// Commands that measure the columns.
    pub commands: Vec<MeasureCommand>,
    /// Explanation of "one run".
    pub one_run: &'static str,
}

impl ArticleTable {
    /// The figures of an article beside those of the selected media.
    pub fn of(of: &ArticleFigures, picks: &[Pick]) -> ArticleTable {
        let groups = groups(of, picks);
        let head = |pick: &Pick| PickHead { name: pick.name.clone(), href: pick.href.clone() };
        ArticleTable {
            article: of.article,
            date: of.date(),
            count: of.count(),
            heads: picks.iter().map(head).collect(),
            without_any: without_any(&groups, picks),
            groups,
            commands: commands(of),
            one_run: figure::ONE_RUN_MEANS,
        }
    }

    /// True if a figure is also shown in another unit, or with its repeats.
    pub fn has_ours(&self) -> bool {
        let mut rows = self.groups.iter().flat_map(|group| &group.rows);
        rows.any(|row| !row.ours.is_empty() || !row.repeats.is_empty())
    }

    /// Number of columns of the table.
    pub fn columns(&self) -> usize {
        2 + usize::from(self.has_ours()) + self.heads.len()
    }

    /// "Article 004: Flash storage devices and how slow they are".
    pub fn heading(&self) -> String {
        format!("Article {}: {}", self.article.number, self.article.title)
    }

    /// Author, date, and the number of figures.
    pub fn facts(&self) -> String {
        let count = words::count(self.count, "figure");
        format!("{} · {} · {count}", self.article.author, self.date)
    }
}

/// Head of the column of a medium; without an address if it has no page.
pub struct PickHead {
    /// Name of the medium.
    pub name: String,
    /// Address of its page.
    pub href: String,
}
