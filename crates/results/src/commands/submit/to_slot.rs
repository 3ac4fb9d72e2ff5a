//! Sending a run to the mail slot of a collection (`flashmark-collection serve`), by curl.

use std::io::Write;
use std::process::{Command, Stdio};

use record::text::printable;

use crate::commands::submit::document::SubmissionDocument;
use crate::repository::packed;
use program::exit::{OrExit, Result, refuse, usage};
use program::printing::print;

/// Variable with the token that a collection gave to its sender.
const TOKEN: &str = "FLASHMARK_TOKEN";

/// True if an address is that of a web server.
pub fn is_slot(address: &str) -> bool {
    (address.starts_with("http://") || address.starts_with("https://"))
        && !address.ends_with(".git")
}

/// Sends the run and prints the answer. The token is on no command line, which all users can read.
pub fn send(address: &str, document: &SubmissionDocument) -> Result<()> {
    let body = packed(&document.run).or_usage()?.bytes;
    let mut file = tempfile::NamedTempFile::new().or_internal()?;
    file.write_all(&body).or_internal()?;
    let address = format!("{}/records", address.trim_end_matches('/'));
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut asked = format!(
        "url = {}\ndata-binary = {}\nheader = \"Content-Type: application/gzip\"\n",
        quoted(&address),
        quoted(&format!("@{}", file.path().display()))
    );
    if let Ok(token) = std::env::var(TOKEN) {
        asked
            .push_str(&format!("header = {}\n", quoted(&format!("Authorization: Bearer {token}"))));
    }
    let words =
        ["--silent", "--show-error", "--fail-with-body", "--max-time", "120", "--config", "-"];
    let child = Command::new("curl")
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        return usage("a mail slot needs curl, which is not installed");
    };
    child
        .stdin
        .take()
        .map_or(Ok(()), |mut stdin| stdin.write_all(asked.as_bytes()))
        .or_internal()?;
    let ended = child.wait_with_output().or_internal()?;
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    if ended.status.success() {
        return print(&format!("{}\n", printable(said.trim())));
    }
    let why = format!("{} {}", said.trim(), String::from_utf8_lossy(&ended.stderr).trim());
    refuse(format_args!("it was not taken: {}", printable(why.trim())))
}
