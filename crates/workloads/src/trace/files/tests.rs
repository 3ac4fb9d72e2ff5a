use proptest::prelude::*;

use super::*;

/// A database that was there, a journal that comes and goes, a file made and moved; what is
/// elsewhere, failed or not of a file lies between.
pub(crate) const SOME_CALLS: &str = r#"
execve("/usr/bin/work", [...], 0x7ffd /* 20 vars */) = 0
openat(AT_FDCWD</srv>, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3</etc/ld.so.cache>
close(3</etc/ld.so.cache>) = 0
openat(AT_FDCWD</srv>, "data/db", O_RDWR|O_CREAT|O_CLOEXEC, 0644) = 3</srv/data/db>
pread64(3</srv/data/db>, ""..., 4096, 4096) = 4096
access("data/db-journal", F_OK) = -1 ENOENT (No such file or directory)
openat(AT_FDCWD</srv>, "data/db-journal", O_RDWR|O_CREAT|O_CLOEXEC, 0644) = 4</srv/data/db-journal>
pwrite64(4</srv/data/db-journal>, ""..., 512, 0) = 512
fsync(4</srv/data/db-journal>) = 0
pwrite64(3</srv/data/db>, ""..., 4096, 8192) = 4096
fdatasync(3</srv/data/db>) = 0
close(4</srv/data/db-journal>) = 0
unlink("data/db-journal") = 0
write(9</srv/log>, ""..., 80) = 80
write(1<pipe:[77]>, ""..., 80) = 80
mkdir("/srv/new", 0755) = 0
openat(AT_FDCWD</srv>, "./new/part", O_WRONLY|O_CREAT|O_EXCL, 0644) = 4</srv/new/part>
write(4</srv/new/part>, ""..., 1000) = 1000
dup2(4</srv/new/part>, 5) = 5</srv/new/part>
writev(5</srv/new/part>, [...], 2) = 2000
ftruncate(4</srv/new/part>, 10) = 0
rename("new", "made") = 0
symlink("../log", "made/link") = 0
openat(AT_FDCWD</srv>, "made/link", O_RDONLY|O_DIRECTORY) = -1 ENOTDIR (Not a directory)
openat(AT_FDCWD</srv>, "made/part", O_RDONLY) = 6</srv/made/part>
lseek(6</srv/made/part>, 4, SEEK_SET) = 4
read(6</srv/made/part>, ""..., 4096) = 6
read(6</srv/made/part>, "", 4096) = 0
mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3</srv/data/db>, 0) = 0x7f64
mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE, 3</srv/data/db>, 0) = 0x7f65
fallocate(3</srv/data/db>, 0, 0, 4096) = 0
fallocate(3</tmp/other>, 0, 0, 4096) = 0
close(4</srv/made/part>) = 0
close(5</srv/made/part>) = 0
close(6</srv/made/part>) = 0
unlinkat(AT_FDCWD</srv>, "made/part", 0) = 0
unlinkat(AT_FDCWD</srv>, "made/link", 0) = 0
unlinkat(AT_FDCWD</srv>, "made", AT_REMOVEDIR) = 0
+++ exited with 0 +++
"#;

/// What strace writes of these calls, one after the other, 10 us apart, in a thread.
pub(crate) fn traced(calls: &str) -> String {
    let calls = calls.lines().filter(|call| !call.is_empty()).zip(0..);
    calls.map(|(call, at)| format!("7 1795922970.{:06} {call}\n", at * 10)).collect()
}

pub(crate) fn survey(text: impl AsRef<[u8]>) -> Result<FileTraceSurvey, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    FileTrace::open(file.path(), "/srv")
        .and_then(|trace| FileTraceSurvey::of(&trace))
        .map_err(|error| error.to_string().replace(&file.path().display().to_string(), "TRACE"))
}

/// The operations of a text, a line each.
fn operations(text: &str) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let mut operations = FileTrace::open(file.path(), "/srv").unwrap().operations().unwrap();
    let next = || operations.next_operation().unwrap();
    let shown =
        |it: FileOperation| format!("{} {}+{} {:?}\n", it.thread, it.at_ns, it.took_ns, it.action);
    std::iter::from_fn(next).map(shown).collect()
}

#[test]
fn files_that_existed_before_are_inferred_from_operations() {
    let survey = survey(traced(SOME_CALLS)).unwrap();
    let before: Vec<(&str, Option<u64>)> =
        survey.before.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
    assert_eq!(before, [("data", None), ("data/db", Some(8192)), ("log", Some(0))]);
    let counts: Vec<String> =
        survey.counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    assert_eq!(
        counts.join(", "),
        "5 close, 1 fdatasync, 1 fsync, 1 mkdir, 5 open, 3 read, 1 rename, 1 rmdir, 1 symlink, 1 truncate, 3 unlink, 5 write"
    );
    assert_eq!(survey.written_bytes, 512 + 4096 + 80 + 3000);
    assert_eq!(survey.end, FileTraceEnd { unattributed: 1, mappings: 1, cut: false });
}

#[test]
fn what_was_read_and_nothing_wrote_was_there() {
    let calls = r#"
openat(AT_FDCWD</srv>, "a", O_RDONLY) = 3</srv/a>
pread64(3</srv/a>, ""..., 10, 90) = 10
openat(AT_FDCWD</srv>, "dir", O_RDONLY) = 4</srv/dir>
openat(4</srv/dir>, "b", O_WRONLY|O_CREAT, 0644) = 5</srv/dir/b>
rename("old", "new") = 0
openat(AT_FDCWD</srv>, "new/c/d", O_RDONLY) = 6</srv/new/c/d>
link("a", "e") = 0
unlink("a") = 0
openat(AT_FDCWD</srv>, "e", O_RDONLY) = 7</srv/e>
"#;
    let before = survey(traced(calls)).unwrap().before;
    let before: Vec<(&str, Option<u64>)> =
        before.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
    let there =
        [("a", Some(100)), ("dir", None), ("old", None), ("old/c", None), ("old/c/d", Some(0))];
    assert_eq!(before, there);
}

/// Threads share what one of them opened, a copy stays open, and a call comes where it began.
#[test]
fn calls_of_several_threads_are_in_the_order_in_which_they_began() {
    let text = r#"1 100.000001 openat(AT_FDCWD</srv>, "a", O_RDWR|O_APPEND) = 3</srv/a>
1 100.000002 fsync(3</srv/a> <unfinished ...>
2 100.000003 read(9<pipe:[1]>,  <unfinished ...>
2 100.000004 <... read resumed>""..., 10) = 5
2 100.000005 read(3</srv/a>, ""..., 10) = 10
2 100.000006 close(3</srv/a> <unfinished ...>
3 100.000007 --- SIGCHLD {si_signo=SIGCHLD} ---
2 100.000008 <... close resumed>) = 0
1 100.000009 <... fsync resumed>) = 0
1 100.000010 write(3</srv/a>, ""..., 5) = 5
1 100.000011 read(3</srv/a>,  <unfinished ...>
1 100.000012 +++ killed by SIGKILL +++
4 100.000013 openat(AT_FDCWD</srv>, "b", O_RDWR) = 3</srv/b>
4 100.000014 dup(3</srv/b> <unfinished ...>
5 100.000015 close(3</srv/b>) = 0
4 100.000016 <... dup resumed>) = 5</srv/b>
4 100.000017 fsync(5</srv/b>) = 0
"#;
    insta::assert_snapshot!(operations(text), @r#"
    1 0+0 Open { path: "a", file: 1, flags: OFlags(APPEND | RDWR) }
    1 1000+7000 Fsync { file: 1 }
    2 4000+0 Read { file: 1, offset: 0, bytes: 10 }
    1 8000+0 Close { file: 1 }
    1 9000+0 Open { path: "a", file: 2, flags: OFlags(APPEND | RDWR) }
    1 9000+0 Write { file: 2, offset: None, bytes: 5 }
    1 11000+0 Close { file: 2 }
    4 12000+0 Open { path: "b", file: 3, flags: OFlags(RDWR) }
    4 16000+0 Fsync { file: 3 }
    "#);
}

#[test]
fn paths_are_read_as_they_are_escaped() {
    let text = traced(
        r#"
openat(AT_FDCWD</srv/x>, "../c<>\"\303\251\n x", O_WRONLY|O_CREAT, 0666) = 3</srv/c\74\76"\303\251\n x>
write(3</srv/c\74\76"\303\251\n x (deleted)>, ""..., 1) = 1
chdir("/srv") = 0
mkdir("d/", 0777) = 0
mkdir("/srv2", 0777) = 0
openat(AT_FDCWD, "/proc/self/maps", O_RDONLY) = 4</proc/7/maps>
copy_file_range(3</srv/c\74\76"\303\251\n x>, NULL, 5</srv/to>, [8], 100, 0) = 7
"#,
    );
    insta::assert_snapshot!(operations(&text), @r#"
    7 0+0 Open { path: "c<>\"é\n x", file: 1, flags: OFlags(CREATE | WRONLY) }
    7 10000+0 Write { file: 1, offset: Some(0), bytes: 1 }
    7 30000+0 Mkdir { path: "d" }
    7 60000+0 Read { file: 1, offset: 1, bytes: 7 }
    7 60000+0 Open { path: "to", file: 2, flags: OFlags(RDWR) }
    7 60000+0 Write { file: 2, offset: Some(8), bytes: 7 }
    "#);
}

#[test]
fn what_is_no_trace_is_refused_in_words() {
    let text = [
        survey(""),
        survey("{\"flashmark_file_trace\":1}\n"),
        survey("12:30:01 openat(AT_FDCWD, \"a\", O_RDONLY) = 3\n"),
        survey("7 1.000000 close(3) = 0\nhalf a line\n"),
        survey(traced("pwrite64(3</srv/a>, \"\"..., 1, 9223372036854775807) = 1")),
        survey(traced("mkdir(\"/srv/a\", 0777) = 0\nunlink(\"/srv/a/b\") = 0")),
    ];
    let text = text.map(|found| found.unwrap_err());
    insta::assert_snapshot!(text.join("\n"), @r"
    the trace 'TRACE' is empty
    the trace 'TRACE' is damaged at line 1: it is no output of strace; `strace -f -ttt -y -s 0 -e trace=%file,%desc -o TRACE PROGRAM` records a program
    the trace 'TRACE' is damaged at line 1: it is no output of strace; `strace -f -ttt -y -s 0 -e trace=%file,%desc -o TRACE PROGRAM` records a program
    the trace 'TRACE' is damaged at line 2: it does not begin with a thread and a time, as strace writes them with -f -ttt
    the trace 'TRACE' is damaged at line 1: no system call takes 1 bytes at 9223372036854775807
    the trace 'TRACE' is damaged at line 2: 'a/b' is used, and nothing made it in 'a', which is new: an operation is missing
    ");
}

/// As kill -9 or a full disk leaves it: cut anywhere, also within a line.
#[test]
fn of_a_trace_that_was_cut_what_is_there_counts() {
    let text = traced(SOME_CALLS);
    for length in text.find('\n').unwrap() + 1..text.len() {
        let is_cut = !text[..length].ends_with('\n');
        assert_eq!(survey(&text[..length]).unwrap().end.cut, is_cut, "{length}");
    }
}

proptest! {
    /// Bytes of any kind, and lines that begin as they should, are read or refused.
    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        swaps in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        rest in "[a-z0-9_]{0,9}[(<>\"\\\\,=|)\\[\\]{} .A-Z/0-9-]{0,60}",
    ) {
        let _ = survey(&bytes);
        let mut text = traced(SOME_CALLS).into_bytes();
        for (at, byte) in swaps {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let _ = survey(&text);
        let calls = ["openat", "read", "renameat2", "dup2", "symlinkat", "<... read resumed>", ""];
        let lines = calls.map(|call| format!("7 1.000000 {call}({rest}\n8 2.5 {call}{rest}\n"));
        let _ = survey(lines.concat());
    }
}
