//! Environment of a test: its database, servers that use it, and the program of a sender.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::Value;
use store::collection::{Address, Collection};
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::http::{Answer, Request};
use crate::sibling::sibling;

/// A directory for servers, and the database that they use.
pub struct SiteEnvironment {
    dir: TempDir,
    /// The database, unless it is the default file of a server.
    database: Option<String>,
    _cluster: Option<Arc<Cluster>>,
}

impl SiteEnvironment {
    /// Without any configuration: the server makes an SQLite file.
    pub fn sqlite() -> SiteEnvironment {
        SiteEnvironment { dir: tempfile::tempdir().unwrap(), database: None, _cluster: None }
    }

    /// A real PostgreSQL; `None` with a message if it is not installed. All tests share one, which
    /// ends with the last test that uses it.
    pub fn postgresql() -> Option<SiteEnvironment> {
        static RUNNING: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let cluster = match running.upgrade() {
            Some(cluster) => cluster,
            None => Arc::new(Cluster::start().unwrap()?),
        };
        *running = Arc::downgrade(&cluster);
        drop(running);
        Some(SiteEnvironment {
            dir: tempfile::tempdir().unwrap(),
            database: Some(cluster.database().unwrap()),
            _cluster: Some(cluster),
        })
    }

    /// Name of the database for file names.
    pub fn name(&self) -> &'static str {
        if self.database.is_some() { "postgresql" } else { "sqlite" }
    }

    /// A path in the directory, for files of a test.
    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The collection as stored, read without a server.
    pub fn collection(&self) -> Collection {
        let address = match &self.database {
            Some(address) => Address::parse(address).unwrap(),
            None => Address::Sqlite(self.at("flashmark.db")),
        };
        Collection::open(&address).unwrap()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flashmark-site"));
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os()
            .filter(|(name, _)| name.as_encoded_bytes().starts_with(b"FLASHMARK_"))
        {
            command.env_remove(name);
        }
        command
    }

    fn database_words(&self) -> Vec<String> {
        self.database
            .iter()
            .flat_map(|address| ["--database".to_owned(), address.clone()])
            .collect()
    }

    /// Starts a server with these flags besides the port and, if there is one, the database.
    pub fn serve(&self, words: &[&str]) -> Server {
        let log = self.at("server.log");
        let error = fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let mut command = self.command();
        command
            .args(["--listen", "127.0.0.1:0", "--turn-timeout", "300"])
            .args(self.database_words())
            .args(words)
            .stdout(Stdio::piped())
            .stderr(error);
        let mut child = command.spawn().unwrap();
        let mut stdout_lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let at = stdout_lines.by_ref().map_while(Result::ok).find_map(|line| {
            line.strip_prefix("Listening on http://")?.trim_end_matches('/').parse().ok()
        });
        let Some(at) = at else {
            let _ = child.kill();
            panic!(
                "the server did not start: {:?}: {}",
                child.wait(),
                fs::read_to_string(log).unwrap()
            );
        };
        // The pipe is drained: later output must not block the server.
        std::thread::spawn(move || stdout_lines.for_each(drop));
        Server { child, at, log }
    }

    /// Token of a moderator or of a sender.
    pub fn token(&self, kind: &str) -> String {
        let mut command = self.command();
        command.arg("token").args(self.database_words()).args(["--kind", kind, "--label", "tests"]);
        let output = command.output().unwrap();
        let printed = succeeded(&output, &command);
        let secret = printed
            .split_whitespace()
            .rev()
            .find(|word| word.len() >= 64 && word.chars().all(|c| c.is_ascii_hexdigit()));
        secret.unwrap_or_else(|| panic!("no token: {printed}")).to_owned()
    }
}

/// A running server; killed when dropped.
pub struct Server {
    child: Child,
    /// Address of its socket.
    pub at: SocketAddr,
    log: PathBuf,
}

impl Server {
    /// Its URL: "http://127.0.0.1:40123".
    pub fn base(&self) -> String {
        format!("http://{}", self.at)
    }

    /// Answer to a GET.
    pub fn get(&self, target: &str) -> Answer {
        self.send(&Request::new("GET", target))
    }

    /// Answer to a request; panics if there is none.
    pub fn send(&self, request: &Request) -> Answer {
        request.send(self.at).unwrap_or_else(|error| {
            panic!("{} {}: {error}: {}", request.method, request.target, self.stderr())
        })
    }

    /// JSON of a successful GET.
    pub fn json(&self, target: &str) -> Value {
        let answer = self.get(target);
        assert_eq!(answer.status, 200, "{target}: {}", answer.text());
        answer.json()
    }

    /// Answer to a submission.
    pub fn submit(&self, run: &record::Published) -> Answer {
        self.send(&Request::new("POST", "/api/v1/runs").json(serde_json::to_vec(run).unwrap()))
    }

    /// Its output on standard error so far.
    pub fn stderr(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Kills it with SIGKILL.
    pub fn kill_9(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it with SIGTERM, as a service manager does; it must exit with success, and in time.
    pub fn end(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let until = Instant::now() + Duration::from_secs(300);
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert_eq!(status.code(), Some(0), "{}", self.stderr());
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it did not end when it was asked to: {}", self.stderr());
    }

    /// Asserts that no thread panicked and no request failed inside it.
    pub fn is_sound(&self) {
        let stderr = self.stderr();
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert_eq!(self.get("/healthz").status, 200);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let _ = writeln!(
                io::stderr(),
                "what the server said:\n{}",
                fs::read_to_string(&self.log).unwrap_or_default()
            );
        }
    }
}

/// The program of a sender, with a directory of its own for runs.
pub struct Flashmark {
    home: TempDir,
}

impl Flashmark {
    /// A program without runs.
    pub fn new() -> Flashmark {
        Flashmark { home: tempfile::tempdir().unwrap() }
    }

    /// Its directory, also for files of tests.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Standard output of a command that must succeed.
    pub fn done(&self, words: &[&str]) -> String {
        let mut command = Command::new(program());
        command
            .args(words)
            .env("FLASHMARK_HOME", self.home())
            .current_dir(self.home())
            .stdin(Stdio::null());
        let output = command.output().unwrap();
        succeeded(&output, &command)
    }
}

fn succeeded(output: &Output, command: &Command) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{command:?}: {}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Path of the built `flashmark`.
fn program() -> PathBuf {
    sibling(Path::new(env!("CARGO_BIN_EXE_flashmark-site")), "flashmark")
}
