//! `flashmark publish`: a collection as a tree of files that any web server can serve.

use std::path::Path;
use std::process::Command;

use record::text::printable;
use report::display::shell_word;
use report::words;

use crate::cli::PublishFlags;
use crate::commands::whole_dir::WholeDir;
use crate::repository::Repository;
use program::exit::{Exit, OrExit, Result, refuse, usage};
use program::printing::print;

mod filling;
mod intake;
mod source;
mod tree;

pub(crate) use filling::TextDigest;
use filling::Tree;
use source::PublishedLines;

/// Makes a static site of a collection or of runs; exit code 2 if there is nothing to publish.
pub fn run(flags: &PublishFlags) -> Result {
    if Repository::is_at(&flags.dir) {
        let dir = printable(&flags.dir.display().to_string());
        return refuse(format_args!(
            "'{dir}' is a collection; pages of it are made in another directory: flashmark publish site --collection {}",
            shell_word(&dir)
        ));
    }
    let place = WholeDir::take(&flags.dir)?;
    let repository = flags.collection.as_deref().map(Repository::open).transpose().or_usage()?;
    let settings = repository.as_ref().map(|repository| &repository.settings);
    let title = flags.title.clone().or(settings.map(|settings| settings.title.clone()));
    let title = title.unwrap_or_else(|| "Flashmark collection".to_owned());
    tree::begin(place.scratch()).or_internal()?;
    let tree = Tree::new(place.scratch(), &flags.dir).or_internal()?;
    let now = program::clock::now();
    let source = match &repository {
        Some(repository) => {
            PublishedLines::of_repository(repository, flags.no_reference, &tree, &now)?
        }
        None => PublishedLines::of_runs(&flags.runs, flags.no_reference, &tree, &now)?,
    };
    if source.is_empty() {
        return usage(
            "there is nothing to publish; measure something first: flashmark run . --suite quick",
        );
    }
    let submit_to = flags.collection.as_deref().and_then(origin);
    tree::write(&tree, &source, &title, submit_to).or_internal()?;
    let written = tree.finish().or_internal()?;
    place.appear()?;
    let (lines, runs) = source.built_in();
    let index = flags.dir.join("index.html");
    print(&format!(
        "{}, {}; of the built-in reference data {} and {}; {} in {}\nOpen {}, or serve the directory with any file server.\n",
        words::count(source.media() - lines, "line"),
        words::count(source.runs() - runs, "run"),
        words::count(lines, "line"),
        words::count(runs, "run"),
        words::count(written, "file"),
        flags.dir.display(),
        index.display()
    ))?;
    Ok(Exit::Done)
}

/// The public address that a collection was cloned from; a path would tell of this machine.
fn origin(dir: &Path) -> Option<String> {
    let words = ["remote", "get-url", "origin"];
    let ran = Command::new("git").arg("-C").arg(dir).args(words).output().ok()?;
    let address = String::from_utf8(ran.stdout).ok()?.trim().to_owned();
    let is_public = address.starts_with("https://") && !address.contains('@');
    is_public.then_some(address)
}
