//! `flashmark init`: makes a collection, a repository of records that needs no server.

use std::path::Path;

use record::text::printable;
use report::display::shell_word;

use crate::cli::InitFlags;
use crate::repository::{ACCEPTED, RECORDS, Release, Repository, SETTINGS, Settings, write};
use program::exit::{Exit, OrExit, Result, refuse, usage};
use program::printing::print_document;

/// Files of a new repository beside its settings.
const FILES: [(&str, &str); 4] = [
    (".gitignore", "incoming/\nsite/\n"),
    ("README.md", include_str!("../../repository/README.md")),
    (".github/workflows/validate.yml", include_str!("../../repository/validate.yml")),
    (".github/workflows/publish.yml", include_str!("../../repository/publish.yml")),
];

/// Makes a repository in a directory that is new, empty or a fresh clone.
pub fn run(flags: &InitFlags) -> Result {
    let dir = &flags.dir;
    if Repository::is_at(dir) {
        return refuse(format_args!("'{}' is a collection already", printable(&shown(dir))));
    }
    let taken = FILES.iter().map(|(name, _)| *name).chain([ACCEPTED, RECORDS]);
    if let Some(name) = taken.clone().find(|name| dir.join(name).exists()) {
        return refuse(format_args!(
            "'{}' has a file '{name}', which would be replaced; take an empty directory",
            printable(&shown(dir))
        ));
    }
    let mut settings = Settings::new(&flags.title, flags.address.clone());
    if let Some(release) = &flags.release {
        let is_sum = |sum: &&str| sum.len() == 64 && sum.bytes().all(|it| it.is_ascii_hexdigit());
        let parts = release.rsplit_once('#').filter(|(_, sum)| is_sum(sum));
        let Some((url, sum)) = parts else {
            return usage("--release takes the address of an archive and its SHA-256: URL#SHA256");
        };
        settings.release = Release { url: Some(url.into()), sha256: Some(sum.into()) };
    }
    let pages = flags.address.as_deref().unwrap_or("the address of this repository's pages");
    for (name, text) in FILES {
        let text = text.replace("TITLE", &flags.title).replace("PAGES", pages);
        write(&dir.join(name), text.as_bytes()).or_internal()?;
    }
    let reasons =
        "# Ids of doubtful records that a person has looked at, and why they are taken.\n";
    write(&dir.join(ACCEPTED), reasons.as_bytes()).or_internal()?;
    write(&dir.join(RECORDS).join(".gitkeep"), "".as_bytes()).or_internal()?;
    let json = serde_json::to_string_pretty(&settings).or_internal()? + "\n";
    write(&dir.join(SETTINGS), json.as_bytes()).or_internal()?;
    let (dir, git) = (printable(&shown(dir)), printable(&shell_word(&shown(dir))));
    // A command that is broken over lines cannot be copied.
    print_document(&format!(
        "A collection in {dir}. To share it:\n  git -C {git} init -b main && git -C {git} add -A && git -C {git} commit -m \"Begin a collection\"\n  git -C {git} remote add origin URL && git -C {git} push -u origin main\nTo add a run to it; YOU is the name that stands beside it:\n  flashmark submit latest --to {git} --sender YOU\nIts pages:\n  flashmark publish site --collection {git}\n"
    ))?;
    Ok(Exit::Done)
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
