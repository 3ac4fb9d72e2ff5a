//! Packs the records of `reference/` into one file: a record is a line of it.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "files become part of the program"
)]

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::DeflateEncoder;

const RECORDS: &str = "reference/records/flashmark";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={RECORDS}");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    let entries = fs::read_dir(RECORDS)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    let file = fs::File::create(Path::new(&out).join("reference.deflate"))?;
    let mut encoder = DeflateEncoder::new(file, Compression::best());
    for path in paths {
        let mut record = String::new();
        GzDecoder::new(fs::File::open(path)?).read_to_string(&mut record)?;
        encoder.write_all(record.trim_end().as_bytes())?;
        encoder.write_all(b"\n")?;
    }
    encoder.finish()?;
    Ok(())
}
