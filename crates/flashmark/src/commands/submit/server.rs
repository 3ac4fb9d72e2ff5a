//! Client of a collection's server. Its answers are not trusted: they are bounded, and shown as one
//! printable line.

use std::time::Duration;

use record::text::printable;
use serde::Deserialize;
use ureq::http::{Response, StatusCode, Uri};
use ureq::{Agent, Body};

use crate::exit::{Exit, Failure, Result, usage};

/// Longest answer that is read, in bytes: a receipt has a few hundred.
const ANSWER_BYTES: u64 = 1 << 20;
/// Longest time for connecting, and for a whole request.
const CONNECT: Duration = Duration::from_secs(15);
const ALTOGETHER: Duration = Duration::from_secs(180);
/// Characters of an answer that are shown.
const SHOWN: usize = 400;

/// A collection's server, with the token for it, if there is one.
pub struct CollectionServer {
    agent: Agent,
    /// Its address without the slash at the end.
    base: String,
    uri: Uri,
    token: Option<String>,
}

/// The server's receipt for a run.
#[derive(Debug, Deserialize)]
pub struct ServerReceipt {
    /// The run's name there.
    pub id: String,
    /// Its status: accepted, quarantined, rejected or withdrawn.
    #[serde(alias = "standing")] // as earlier servers call it
    pub status: String,
    /// True if it was not there before.
    pub is_new: bool,
    /// Number of its revision: 1, and one more with each replacement.
    #[serde(default)]
    pub revision: u32,
    /// Token that allows replacing and withdrawing it.
    #[serde(default)]
    pub edit_token: Option<String>,
    /// Path of its page, from the root of the site.
    #[serde(default)]
    pub page: String,
    /// Reasons why it is not accepted yet.
    #[serde(default)]
    pub reasons: Vec<String>,
}

/// The collection does not take this run, now or later.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RunRefused(String);

/// The server's reason to refuse a request (RFC 9457, in the words of flashmark-site).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: String,
    reason: String,
}

impl CollectionServer {
    /// The server at an address.
    pub fn at(address: &str, token: Option<&str>) -> Result<CollectionServer> {
        let base = address.trim().trim_end_matches('/');
        // What stands before an @ may be a password.
        let shown = address
            .rsplit_once('@')
            .map_or_else(|| printable(address), |(_, host)| format!("..@{}", printable(host)));
        let wrong = |what: &str| {
            usage(format_args!(
                "'{shown}' is no address of a collection: {what}; write https://HOST"
            ))
        };
        let Ok(uri) = base.parse::<Uri>() else { return wrong("it cannot be read") };
        if !matches!(uri.scheme_str(), Some("https" | "http")) {
            return wrong("it begins neither with https:// nor with http://");
        }
        if uri.host().is_none_or(str::is_empty)
            || uri.query().is_some()
            || base.contains(['#', '@'])
        {
            return wrong("it is more or less than a host and a path");
        }
        if token.is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
            return usage("the token holds characters that no token has");
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A token must not follow wherever an answer points.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(ALTOGETHER))
            .user_agent(concat!("flashmark/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(CollectionServer {
            agent: config.into(),
            base: base.to_owned(),
            uri,
            token: token.map(str::to_owned),
        })
    }

    /// Its address as typed, without the slash at the end.
    pub fn name(&self) -> &str {
        &self.base
    }

    /// Warning before a token is sent without encryption; empty if there is no danger.
    pub fn warning(&self) -> &'static str {
        let host = self.uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let is_near = host == "localhost"
            || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
        match &self.token {
            Some(_) if self.uri.scheme_str() == Some("http") && !is_near => {
                "Your token would go there unencrypted: anyone on the way can read it. https:// is better.\n"
            }
            _ => "",
        }
    }

    /// The address of a run's page.
    pub fn page(&self, receipt: &ServerReceipt) -> String {
        let page = printable(&receipt.page);
        let path = self.uri.path().trim_end_matches('/');
        match page.strip_prefix(path) {
            _ if page.starts_with("https://") || page.starts_with("http://") => page,
            Some(rest) if rest.starts_with('/') => format!("{}{rest}", self.base),
            _ => format!("{}/run/{}", self.base, printable(&receipt.id)),
        }
    }

    /// Sends a run, packed with gzip.
    pub fn submit(&self, packed: &[u8]) -> Result<ServerReceipt> {
        let request = self.agent.post(self.address("runs"));
        self.receipt(
            self.with_token(request)
                .content_type("application/json")
                .header("content-encoding", "gzip")
                .send(packed),
        )
    }

    /// Replaces a run by another.
    pub fn replace(&self, id: &str, packed: &[u8]) -> Result<ServerReceipt> {
        let request = self.agent.put(self.address(&format!("runs/{id}")));
        self.receipt(
            self.with_token(request)
                .content_type("application/json")
                .header("content-encoding", "gzip")
                .send(packed),
        )
    }

    /// Withdraws a run.
    pub fn withdraw(&self, id: &str, why: &str) -> Result<()> {
        let request = self.agent.delete(self.address(&format!("runs/{id}"))).query("why", why);
        let answer = self.with_token(request).call().map_err(|error| self.unreachable(&error))?;
        let status = answer.status();
        let text = self.text(answer)?;
        if status.is_success()
            && (text.trim().is_empty() || serde_json::from_str::<serde_json::Value>(&text).is_ok())
        {
            return Ok(());
        }
        Err(self.foreign_server(status))
    }

    fn address(&self, what: &str) -> String {
        format!("{}/api/v1/{what}", self.base)
    }

    fn with_token<B>(&self, request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
        let request = request.header("accept", "application/json");
        match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    fn receipt(
        &self,
        answer: std::result::Result<Response<Body>, ureq::Error>,
    ) -> Result<ServerReceipt> {
        let answer = answer.map_err(|error| self.unreachable(&error))?;
        let status = answer.status();
        let text = self.text(answer)?;
        serde_json::from_str(&text).map_err(|_| self.foreign_server(status))
    }

    /// Text of an answer with a status of success.
    fn text(&self, mut answer: Response<Body>) -> Result<String> {
        let status = answer.status();
        let header = |name: &str| {
            answer
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(|text| shortened(&printable(text)))
        };
        let (elsewhere, wait) = (header("location"), header("retry-after"));
        let text =
            answer.body_mut().with_config().limit(ANSWER_BYTES).lossy_utf8(true).read_to_string();
        if status.is_redirection() {
            let to =
                elsewhere.map_or_else(|| "somewhere else".to_owned(), |place| format!("'{place}'"));
            return usage(format_args!(
                "{} points to {to}; if you trust that, give it with --to",
                self.base
            ));
        }
        let text = text.map_err(|error| self.unreachable(&error))?;
        if status.is_success() { Ok(text) } else { Err(self.refused(status, &text, wait)) }
    }

    /// Failure without a connection, or with one that broke.
    fn unreachable(&self, error: &ureq::Error) -> Failure {
        let what = match error {
            ureq::Error::HostNotFound => "no host of that name is known".to_owned(),
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                "the connection was refused: nothing listens there".to_owned()
            }
            ureq::Error::Timeout(_) => "it does not answer in time".to_owned(),
            ureq::Error::Rustls(error) => {
                format!(
                    "the encrypted connection cannot be made ({error}); is it http:// there, or its certificate no good?"
                )
            }
            ureq::Error::Io(error) => io_error_text(error),
            ureq::Error::Protocol(error) => {
                format!("what answers there does not speak HTTP ({error})")
            }
            ureq::Error::BodyExceedsLimit(_) => {
                "its answer is longer than any of a collection; no flashmark-site is there"
                    .to_owned()
            }
            other => other.to_string(),
        };
        let error = anyhow::anyhow!("cannot reach {}: {}", self.base, shortened(&printable(&what)));
        Failure { exit: Exit::Internal, error }
    }

    /// Failure of a request that the server refused.
    fn refused(&self, status: StatusCode, text: &str, wait: Option<String>) -> Failure {
        let problem: Problem = serde_json::from_str(text).unwrap_or_default();
        let (reason, code) =
            (shortened(&printable(&problem.reason)), shortened(&printable(&problem.code)));
        let later = match wait.as_deref().map(str::parse::<u64>) {
            Some(Ok(seconds)) => format!("; try again in {seconds} s"),
            _ => "; try again later".to_owned(),
        };
        if reason.is_empty() || code.is_empty() {
            // A proxy speaks for the server behind it.
            return match status.as_u16() {
                429 | 502..=504 => Failure {
                    exit: Exit::Internal,
                    error: anyhow::anyhow!(
                        "{} cannot take it now: it answers {status}{later}",
                        self.base
                    ),
                },
                _ => self.foreign_server(status),
            };
        }
        let (exit, what) = match status.as_u16() {
            401 | 403 => (Exit::Usage, format!("the token does not allow this: {reason}")),
            404 => (Exit::Usage, format!("there is no such run: {reason}")),
            409 | 410 => (Exit::Usage, format!("that cannot be done any more: {reason}")),
            413 => (Exit::Usage, format!("the run is too large: {reason}")),
            429 => {
                (Exit::Internal, format!("too much was sent in too short a time: {reason}{later}"))
            }
            500.. => (Exit::Internal, format!("the server cannot do it now: {reason}{later}")),
            _ => (Exit::Usage, format!("the run was not taken ({code}): {reason}")),
        };
        let what = format!("{}: {what}", self.base);
        let error = match status.as_u16() {
            401 | 403 | 404 | 429 | 500.. => anyhow::anyhow!(what),
            _ => RunRefused(what).into(),
        };
        Failure { exit, error }
    }

    /// Failure if something other than a collection's server answers.
    fn foreign_server(&self, status: StatusCode) -> Failure {
        let error = anyhow::anyhow!(
            "{} is no collection of Flashmark: it answers {status}, and nothing that flashmark-site would say; is the address right?",
            self.base
        );
        Failure { exit: Exit::Usage, error }
    }
}

/// An error of a connection in words.
fn io_error_text(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof
        | std::io::ErrorKind::ConnectionReset
        | std::io::ErrorKind::BrokenPipe => "it ended the connection without an answer".to_owned(),
        std::io::ErrorKind::InvalidData => {
            format!(
                "the encrypted connection cannot be made ({error}); is it http:// there, or its certificate no good?"
            )
        }
        _ => error.to_string(),
    }
}

fn shortened(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() { format!("{shown}..") } else { shown }
}
