//! Compresses the tables of the reference collection. Uncompressed they would be a twentieth of the
//! program.

use std::io::Write as _;
use std::path::Path;
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=reference");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    for entry in fs::read_dir("reference")? {
        let path = entry?.path();
        let (Some(name), Some("csv")) =
            (path.file_stem(), path.extension().and_then(|extension| extension.to_str()))
        else {
            continue;
        };
        let file = fs::File::create(Path::new(&out).join(name).with_extension("deflate"))?;
        let mut encoder = DeflateEncoder::new(file, Compression::best());
        encoder.write_all(&fs::read(&path)?)?;
        encoder.finish()?;
    }
    Ok(())
}
