//! The released site on a collection: a visitor waits for the whole answer, not only for its query.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use record::collection::Query;
use report::collection::query;

/// A server that runs until this is dropped.
pub struct Served {
    child: Child,
    at: String,
    agent: ureq::Agent,
}

impl Served {
    /// Starts the server on the collection at that address, on a free port of this machine.
    pub fn start(program: &Path, database: &str) -> Result<Served> {
        let mut command = Command::new(program);
        command.args([
            "--listen",
            "127.0.0.1:0",
            "--no-reference",
            "--per-minute",
            "1000000",
            "--burst",
            "1000000",
            "--database",
            database,
        ]);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("the server cannot be started")?;
        let lines = BufReader::new(child.stdout.take().context("no standard output")?).lines();
        let at = lines.map_while(Result::ok).find_map(|line| {
            Some(line.strip_prefix("Listening on ")?.trim_end_matches('/').to_owned())
        });
        let agent = ureq::Agent::config_builder().proxy(None).build().into();
        Ok(Served { child, at: at.context("the server did not start")?, agent })
    }

    /// Requests one page of the table, compressed as for browsers; returns its bytes on the wire.
    pub fn table(&self, query: &Query) -> Result<usize> {
        let address = format!("{}/?{}", self.at, query::to_text(query));
        // The answer is not unpacked: that would be the time of the client.
        let mut answer = self.agent.get(&address).header("Accept-Encoding", "gzip").call()?;
        Ok(answer.body_mut().read_to_vec()?.len())
    }

    /// Submits a run as JSON; an error unless it is a new run.
    pub fn submit(&self, body: &[u8]) -> Result<()> {
        let address = format!("{}/api/v1/runs", self.at);
        let answer =
            self.agent.post(&address).header("Content-Type", "application/json").send(body)?;
        ensure!(answer.status() == 201, "{address}: {}", answer.status());
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // The server is measured, not judged: its exit status does not matter.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
