use super::*;

/// A database that was there, a journal that comes and goes, a file made and moved.
pub(crate) fn some_actions() -> Vec<FileAction> {
    let open = |path: &str, file, flags: &str, new, bytes| FileAction::Open {
        path: path.into(),
        file,
        flags: flags.into(),
        new,
        bytes,
    };
    vec![
        FileAction::WasOpen {
            path: "log".into(),
            file: 9,
            flags: "write+append".into(),
            bytes: 100,
        },
        open("data/db", 1, "read+write+create", false, 8192),
        FileAction::Read { file: 1, offset: 0, bytes: 4096 },
        open("data/db-journal", 2, "read+write+create", true, 0),
        FileAction::Write { file: 2, offset: Some(0), bytes: 512 },
        FileAction::Fsync { file: 2 },
        FileAction::Write { file: 1, offset: Some(8192), bytes: 4096 },
        FileAction::Fdatasync { file: 1 },
        FileAction::Close { file: 2 },
        FileAction::Unlink { path: "data/db-journal".into() },
        FileAction::Write { file: 9, offset: None, bytes: 80 },
        FileAction::Mkdir { path: "new".into() },
        open("new/part", 3, "write+create+exclusive", true, 0),
        FileAction::Write { file: 3, offset: Some(0), bytes: 3000 },
        FileAction::Truncate { file: 3, bytes: 10 },
        FileAction::Rename { from: "new".into(), to: "made".into(), directory: true },
        FileAction::Symlink { path: "made/link".into(), target: "../log".into() },
        open("made/part", 4, "read", false, 10),
        FileAction::Close { file: 3 },
        FileAction::Close { file: 4 },
        FileAction::Unlink { path: "made/part".into() },
        FileAction::Unlink { path: "made/link".into() },
        FileAction::Rmdir { path: "made".into() },
    ]
}

/// A trace of these, one after the other in a thread.
pub(crate) fn write(path: &Path, actions: &[FileAction]) {
    let file = std::fs::File::create(path).unwrap();
    let header = FileTraceHeader { directory: "/srv".into(), ..FileTraceHeader::default() };
    let mut writer = FileTraceWriter::new(io::BufWriter::new(file), &header).unwrap();
    for (action, number) in actions.iter().zip(0..) {
        let operation =
            FileOperation { at_ns: number * 10, took_ns: 5, thread: 7, action: action.clone() };
        writer.operation(&operation).unwrap();
    }
    writer.finish(0, 0).unwrap();
}

fn survey(path: &Path) -> Result<FileTraceSurvey, String> {
    FileTrace::open(path)
        .and_then(|trace| FileTraceSurvey::of(&trace))
        .map_err(|error| error.to_string().replace(&path.display().to_string(), "TRACE"))
}

fn of_text(lines: &[&str]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines.join("\n")).unwrap();
    survey(file.path()).unwrap_err()
}

const HEAD: &str = r#"{"flashmark_file_trace":1}"#;

fn of_operation(operation: &str) -> String {
    let line = format!(r#"{{"at_ns":0,"took_ns":1,"thread":1,{operation}}}"#);
    of_text(&[HEAD, &line, r#"{"end":{"operations":1}}"#])
}

#[test]
fn files_that_existed_before_are_inferred_from_operations() {
    let file = tempfile::NamedTempFile::new().unwrap();
    write(file.path(), &some_actions());
    let survey = survey(file.path()).unwrap();
    let before: Vec<(&str, Option<u64>)> =
        survey.before.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
    assert_eq!(before, [("data", None), ("data/db", Some(8192)), ("log", Some(100))]);
    assert_eq!((survey.operations(), survey.counts["open"], survey.was_open.len()), (22, 4, 1));
    assert_eq!((survey.read_bytes, survey.written_bytes), (4096, 512 + 4096 + 80 + 3000));
    // The database, the log and the new file before it is cut.
    assert_eq!(survey.most_bytes, 12_288 + 180 + 3000);
}

#[test]
fn a_stranger_can_read_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    write(file.path(), &some_actions()[..5]);
    let text = std::fs::read_to_string(file.path()).unwrap();
    insta::assert_snapshot!(text, @r#"
    {"flashmark_file_trace":1,"directory":"/srv","started":null,"kernel":null}
    {"at_ns":0,"took_ns":5,"thread":7,"op":"was_open","path":"log","file":9,"flags":"write+append","bytes":100}
    {"at_ns":10,"took_ns":5,"thread":7,"op":"open","path":"data/db","file":1,"flags":"read+write+create","new":false,"bytes":8192}
    {"at_ns":20,"took_ns":5,"thread":7,"op":"read","file":1,"offset":0,"bytes":4096}
    {"at_ns":30,"took_ns":5,"thread":7,"op":"open","path":"data/db-journal","file":2,"flags":"read+write+create","new":true,"bytes":0}
    {"at_ns":40,"took_ns":5,"thread":7,"op":"write","file":2,"offset":0,"bytes":512}
    {"end":{"operations":4,"unattributed":0,"lost":0}}
    "#);
}

#[test]
fn a_file_in_a_directory_that_was_moved_was_there_under_its_old_name() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let moved = FileAction::Rename { from: "old".into(), to: "new".into(), directory: true };
    let flags = "read".into();
    let open = FileAction::Open { path: "new/a/b".into(), file: 1, flags, new: false, bytes: 3 };
    write(file.path(), &[moved, open]);
    let before: Vec<String> = survey(file.path()).unwrap().before.into_keys().collect();
    assert_eq!(before, ["old", "old/a", "old/a/b"]);
}

#[test]
fn what_cannot_be_done_again_is_refused_in_words() {
    let text = [
        of_text(&[""]),
        of_text(&["flashmark-trace"]),
        of_text(&[r#"{"flashmark_file_trace":2}"#]),
        of_text(&[HEAD, r#"{"end":{"operations":3}}"#]),
        of_operation(r#""op":"unlink","path":"../etc/passwd""#),
        of_operation(r#""op":"mkdir","path":"/etc/x""#),
        of_operation(r#""op":"rename","from":"a","to":"b//c""#),
        of_operation(r#""op":"open","path":"a","file":1,"flags":"read+fast""#),
        of_operation(r#""op":"read","file":5,"offset":0,"bytes":1"#),
        of_operation(r#""op":"write","file":5,"offset":9223372036854775807,"bytes":1"#),
        of_operation(r#""op":"format""#),
        of_text(&[HEAD, "half a line", r#"{"end":{"operations":0}}"#]),
    ];
    insta::assert_snapshot!(text.join("\n"), @r#"
    the trace 'TRACE' is empty
    the trace 'TRACE' is damaged at line 1: it is no recording of operations on files; `flashmark capture --files DIR` makes one
    the trace 'TRACE' is a recording of files of version 2; this flashmark reads version 1
    the trace 'TRACE' is damaged at line 2: 0 operations are in it, and it ends after 3
    the trace 'TRACE' is damaged at line 2: the path '../etc/passwd' is not one below the directory
    the trace 'TRACE' is damaged at line 2: the path '/etc/x' is not one below the directory
    the trace 'TRACE' is damaged at line 2: the path 'b//c' is not one below the directory
    the trace 'TRACE' is damaged at line 2: the flags 'read+fast' are unknown
    the trace 'TRACE' is damaged at line 2: the file 5 is not open
    the trace 'TRACE' is damaged at line 2: no system call takes 1 bytes at 9223372036854775807
    the trace 'TRACE' is damaged at line 2: this is no operation (data did not match any variant of untagged enum Line)
    the trace 'TRACE' is damaged at line 2: this is no operation (expected value at line 1 column 1)
    "#);
}

/// As kill -9 or a full disk leaves it: cut anywhere, also within a line.
#[test]
fn of_a_trace_that_was_cut_what_is_there_counts() {
    let file = tempfile::NamedTempFile::new().unwrap();
    write(file.path(), &some_actions());
    let text = std::fs::read(file.path()).unwrap();
    let lines = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count() as u64;
    let head = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for length in head..text.len() - 1 {
        std::fs::write(file.path(), &text[..length]).unwrap();
        let survey = survey(file.path()).unwrap();
        // Whole but for the newline counts as well; the header and what was open are none.
        let whole = text[length] == b'\n' && length > head;
        let wanted = (lines(&text[..length]) + u64::from(whole)).saturating_sub(2);
        assert_eq!((survey.operations(), survey.end.cut), (wanted, true), "{length}");
    }
}

#[test]
fn flags_are_the_same_after_words() {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::SYNC | OFlags::DIRECTORY;
    assert_eq!(flag_words(flags), "read+write+create+sync+directory");
    assert_eq!(open_flags(&flag_words(flags)), Some(flags));
    assert_eq!(flag_words(OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC), "write+temporary");
}
