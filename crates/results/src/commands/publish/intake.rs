//! Adding runs to a tree: each becomes a file of it, from which pages are made, and stays in memory
//! without its cells.

use std::io::{Read, Write};

use anyhow::{Context, Result};
use collection::Upload;
use flate2::Compression;
use record::{Cell, Published, Record};

use super::filling::{TextDigest, Tree};
use crate::repository::judging::RunInShort;
use crate::repository::{thinned, write_packed};

/// Path of a run's file in a tree.
pub fn path_of(id: &str) -> String {
    format!("data/run/{id}.json.gz")
}

/// Adds a run. `source` is the digest of what it is read from: the old tree may have it.
pub fn take<E>(
    tree: &Tree,
    source: TextDigest,
    read: impl FnOnce() -> std::result::Result<Upload, E>,
) -> Result<std::result::Result<RunInShort, E>> {
    let source = source.text();
    if let Some(known) = tree.old().runs.get(&source)
        && tree.take_over(&path_of(&known.id))
    {
        let mut known = known.clone();
        known.source = source;
        return Ok(Ok(known));
    }
    let upload = match read() {
        Ok(upload) => upload,
        Err(error) => return Ok(Err(error)),
    };
    let (mut short, cells) = RunInShort::of(upload);
    keep(tree, &short.id, &short.run, cells)?;
    short.source = source;
    Ok(Ok(short))
}

/// Writes the file of a run: a record that `flashmark show` reads, with thinned curves. A file that
/// is there already holds the same run.
pub fn keep(tree: &Tree, id: &str, run: &Published, mut cells: Vec<Cell>) -> Result<()> {
    let path = path_of(id);
    let Some(file) = tree.create_new(&path)? else { return Ok(()) };
    thinned(&mut cells);
    let mut record = run.to_record(id);
    record.cells = cells;
    write_packed(file, Compression::new(LEVEL), &record.encode())?
        .flush()
        .with_context(|| format!("cannot write {path}"))
}

/// Level of gzip: most of a run is digits, of which level 9 saves 1 % more and takes twice as long.
const LEVEL: u32 = 6;

/// The cells in the file of a run.
pub fn cells_of(tree: &Tree, id: &str) -> Result<Vec<Cell>> {
    let mut packed = Vec::new();
    tree.file(&path_of(id))?.read_to_end(&mut packed)?;
    Ok(Record::read(&packed, None)?.cells)
}
