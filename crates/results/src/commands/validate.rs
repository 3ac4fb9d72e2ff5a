//! `flashmark validate`: whether a collection would take these records, and why not.

mod whole_collection;

use std::path::{Path, PathBuf};

use record::text::printable;
use report::words;

use crate::cli::ValidateFlags;
use crate::parallel::each_of;
use crate::repository::Repository;
use crate::shared_file::{self, Verdict};
use program::exit::{Exit, OrExit, Result, usage};
use program::printing::print;

/// Judges each file and prints a line for it; exit code 1 where one would be refused or would wait
/// for a person.
pub fn run(flags: &ValidateFlags) -> Result {
    if let [dir] = flags.files.as_slice()
        && (flags.since.is_some() || Repository::is_at(dir))
    {
        return whole_collection::check(dir, flags);
    }
    if flags.since.is_some() {
        return usage("--since is for one collection; name its directory alone");
    }
    let files = files_of(&flags.files)?;
    // Of each run only its line is kept: thousands of runs are larger than the memory.
    let lines = |at: usize| {
        let verdicts = shared_file::judged(&shared_file::read(&files[at])?)?;
        Ok(verdicts.iter().map(line_of).collect::<Vec<_>>())
    };
    let verdicts = each_of(files.len(), lines).or_usage()?;
    let mut counts = [0; 3];
    let each = files
        .iter()
        .zip(verdicts)
        .flat_map(|(file, lines)| lines.into_iter().map(move |line| (file, line)));
    for (file, (place, line)) in each {
        counts[place] += 1;
        if place > 0 || !flags.quiet {
            print(&format!("{}: {line}\n", printable(&file.display().to_string())))?;
        }
    }
    let [sound, doubtful, refused] = counts;
    print(&format!(
        "{}: {sound} sound, {doubtful} doubtful, {refused} refused\n",
        words::count(sound + doubtful + refused, "record")
    ))?;
    Ok(if doubtful + refused == 0 { Exit::Done } else { Exit::MediumFailed })
}

/// The files themselves, and the records below the directories, sorted by name.
fn files_of(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in given {
        if path.is_dir() {
            below(path, &mut files).or_usage()?;
        } else {
            files.push(path.clone());
        }
    }
    if files.is_empty() {
        return usage(
            "there is no record below these directories; records end with .json or .json.gz",
        );
    }
    Ok(files)
}

fn below(dir: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries =
        std::fs::read_dir(dir)?.collect::<std::io::Result<Vec<std::fs::DirEntry>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            below(&path, files)?;
        } else if kind.is_file() && (name.ends_with(".json") || name.ends_with(".json.gz")) {
            files.push(path);
        }
    }
    Ok(())
}

/// Column in which a verdict is counted (0 sound, 1 doubtful, 2 refused), and its line.
fn line_of(verdict: &Verdict) -> (usize, String) {
    match verdict {
        Ok(upload) if upload.caveats.is_empty() => {
            (0, format!("sound, {}", printable(&upload.run.name())))
        }
        Ok(upload) => (1, format!("doubtful: {}", printable(&upload.caveats.join("; ")))),
        Err(rejection) => (2, format!("refused: {}", printable(&rejection.to_string()))),
    }
}
