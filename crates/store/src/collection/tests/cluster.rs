//! A throwaway PostgreSQL: a cluster of its own in a temporary directory, reached through a socket
//! there, and over a network only if a test asks for it.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// A running server. Dropping it stops it and removes all of it.
pub struct Cluster {
    dir: tempfile::TempDir,
    programs: PathBuf,
    as_user: Option<&'static str>,
    databases: AtomicU64,
}

impl Cluster {
    /// Starts a server; `None` if PostgreSQL is not installed, with a message on standard error
    /// that the test harness does not capture.
    pub fn start() -> io::Result<Option<Cluster>> {
        Cluster::start_with("-c listen_addresses=''", &[])
    }

    /// Starts a server with settings and files of its own in its data directory.
    pub fn start_with(settings: &str, files: &[(&str, &str)]) -> io::Result<Option<Cluster>> {
        let Some(programs) = programs() else {
            let missing = "\n*** PostgreSQL is not installed: NOT TESTED ON POSTGRESQL. apt install postgresql, or ./test, which does it ***\n";
            io::stderr().write_all(missing.as_bytes())?;
            return Ok(None);
        };
        // initdb refuses root; other users may not be able to look into the directory that TMPDIR
        // names.
        let is_root = output(Command::new("id").arg("-u"))?.trim() == "0";
        let place = if is_root { PathBuf::from("/tmp") } else { std::env::temp_dir() };
        let dir = tempfile::Builder::new().prefix("flashmark-pg-").tempdir_in(place)?;
        let cluster = Cluster {
            dir,
            programs,
            as_user: is_root.then_some("postgres"),
            databases: AtomicU64::new(0),
        };
        if is_root {
            output(Command::new("chown").arg("postgres").arg(cluster.dir.path()))?;
        }
        let data = cluster.data();
        cluster.run(
            "initdb",
            &[
                "--no-sync",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "-U",
                "flashmark",
                "-D",
                &data,
            ],
        )?;
        for (name, content) in files {
            let path = PathBuf::from(&data).join(name);
            fs::write(&path, content)?;
            // The server takes no key that others can read.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            if is_root {
                output(Command::new("chown").arg("postgres").arg(&path))?;
            }
        }
        let options = format!(
            "{settings} -c unix_socket_directories='{}' -c max_connections=60",
            cluster.dir.path().display()
        );
        let log = cluster.dir.path().join("log").display().to_string();
        cluster.run(
            "pg_ctl",
            &["-w", "-t", "600", "-D", &data, "-l", &log, "-o", &options, "start"],
        )?;
        Ok(Some(cluster))
    }

    /// Makes an empty database; returns its address.
    pub fn database(&self) -> io::Result<String> {
        let name = format!("test{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let socket = self.dir.path().display().to_string();
        self.run("createdb", &["-h", &socket, "-U", "flashmark", &name])?;
        Ok(format!("postgres://flashmark@/{name}?host={socket}"))
    }

    /// Size of the data directory in bytes.
    #[allow(dead_code, reason = "only benches ask")]
    pub fn bytes(&self) -> io::Result<u64> {
        let usage = output(Command::new("du").args(["-s", "-B1"]).arg(self.data()))?;
        usage
            .split_whitespace()
            .next()
            .and_then(|bytes| bytes.parse().ok())
            .ok_or_else(|| io::Error::other("du told no size"))
    }

    /// Runs a statement with psql.
    #[allow(dead_code, reason = "only some tests do what the collection itself would not")]
    pub fn psql(&self, address: &str, sql: &str) -> io::Result<String> {
        self.run(
            "psql",
            &["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address, "-c", sql],
        )
    }

    /// Saves a database with pg_dump and restores it into an empty one; returns the address of
    /// that.
    #[allow(dead_code, reason = "only the tests of the collection save one")]
    pub fn copy_of(&self, address: &str) -> io::Result<String> {
        let file = self.dir.path().join(format!("dump{}", self.databases.load(Ordering::Relaxed)));
        let file = file.display().to_string();
        self.run("pg_dump", &["--no-sync", "-Fc", "-f", &file, "-d", address])?;
        let copy = self.database()?;
        self.run("pg_restore", &["--exit-on-error", "-d", &copy, &file])?;
        Ok(copy)
    }

    fn data(&self) -> String {
        self.dir.path().join("data").display().to_string()
    }

    fn run(&self, program: &str, arguments: &[&str]) -> io::Result<String> {
        let program = self.programs.join(program);
        let mut command = match self.as_user {
            Some(user) => {
                let mut command = Command::new("runuser");
                command.args(["-u", user, "--"]).arg(&program);
                command
            }
            None => Command::new(&program),
        };
        // The server's user may not be allowed to enter the current directory.
        output(command.args(arguments).current_dir(self.dir.path()))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ =
            self.run("pg_ctl", &["-w", "-t", "600", "-m", "immediate", "-D", &self.data(), "stop"]);
    }
}

/// Directory of the server's programs: the newest that Debian has installed, or that of the search
/// path.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
        })
        .collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates =
        found.into_iter().rev().map(|(_, path)| path).chain(std::env::split_paths(&path));
    candidates.into_iter().find(|dir| dir.join("initdb").is_file() && dir.join("pg_ctl").is_file())
}

fn output(command: &mut Command) -> io::Result<String> {
    // The started server keeps inherited files open: a pipe would never end.
    let error = tempfile::tempfile()?;
    let stdout = tempfile::tempfile()?;
    let status = command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(error.try_clone()?)
        .status()?;
    let read = |mut file: fs::File| {
        io::Seek::rewind(&mut file)?;
        io::read_to_string(file)
    };
    if status.success() {
        return read(stdout);
    }
    Err(io::Error::other(format!("{command:?}: {}", read(error)?.trim())))
}
