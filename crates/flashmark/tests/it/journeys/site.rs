//! A collection's server for the length of a journey.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

#[path = "../../../../../tests/sibling.rs"]
mod sibling;

/// A running server with an empty collection of its own; ended when dropped.
pub struct Site {
    child: Child,
    /// Its address: "http://127.0.0.1:40123".
    pub address: String,
    dir: TempDir,
}

impl Site {
    /// Starts the server at a free port, without a limit on the number of submissions.
    pub fn start() -> Site {
        let dir = tempfile::tempdir().unwrap();
        let (child, address) = serve(dir.path(), "127.0.0.1:0");
        Site { child, address, dir }
    }

    /// The directory that it was started in, with its collection.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Ends it; the collection stays.
    pub fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again, at the same address.
    pub fn start_again(&mut self) {
        self.child = serve(self.dir.path(), self.address.trim_start_matches("http://")).0;
    }
}

fn serve(dir: &Path, listen: &str) -> (Child, String) {
    let program = Path::new(assert_cmd::cargo::cargo_bin!("flashmark"));
    let mut child = Command::new(sibling::sibling(program, "flashmark-site"))
        .args(["--listen", listen, "--no-reference", "--per-minute", "100000"])
        .args(["--burst", "100000"])
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| Some(line.strip_prefix("Listening on ")?.trim_end_matches('/').into()))
        .expect("the server says where it listens");
    // Whatever it prints later must not make it wait.
    std::thread::spawn(move || lines.for_each(drop));
    (child, address)
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
