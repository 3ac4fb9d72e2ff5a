//! Commands and their exact answers as pages to read: `cases/` has a file for each subject.

use std::fs;

use crate::support::Scratch;

/// Runs each file with results of its own. `NAME.in` holds the files that the commands of
/// `NAME.trycmd` read; if there is a `NAME.out`, they run in a copy of it.
///
/// With `TRYCMD=overwrite` the answers are written to the files.
#[test]
fn commands_answer_as_in_the_case_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cases");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|it| it == "trycmd"));
    std::thread::scope(|scope| {
        for file in files {
            scope.spawn(move || {
                let results = Scratch::new();
                trycmd::TestCases::new()
                    .register_bin("flashmark", assert_cmd::cargo::cargo_bin!("flashmark"))
                    .env("FLASHMARK_HOME", results.word())
                    .env("COLUMNS", "80")
                    .env("LC_ALL", "C.UTF-8")
                    .insert_var("[RESULTS]", results.word().to_owned())
                    .unwrap()
                    .case(file)
                    .run();
            });
        }
    });
}
