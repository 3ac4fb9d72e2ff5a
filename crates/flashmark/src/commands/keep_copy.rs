//! Hidden command `keep-copy`: keeps a run that root measured by sudo, with the rights of the user
//! who called sudo.

use std::io;

use store::Store;

use program::exit::{Exit, OrExit, Result, usage};
use program::printing::print_document;
use session::hand_over::receive;

/// Keeps the files of a run that it reads from standard input, and prints where.
pub fn run(name: &str) -> Result {
    let files = receive(&mut io::stdin().lock()).or_usage()?;
    if files.is_empty() {
        return usage("no files of a run came in; this command is for flashmark itself");
    }
    let dir = Store::open(Store::default_root()).adopt(name, &files).or_internal()?;
    print_document(&format!("{}\n", dir.path().display()))?;
    Ok(Exit::Done)
}
