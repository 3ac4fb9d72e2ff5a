//! HTTP client that sends exactly the given bytes, even invalid ones.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Method: "GET".
    pub method: String,
    /// Path and query, as on the wire.
    pub target: String,
    /// Header fields besides those of every request.
    pub heads: Vec<(String, String)>,
    /// Body.
    pub body: Option<Vec<u8>>,
}

impl Request {
    /// A request without a body.
    pub fn new(method: &str, target: impl Into<String>) -> Request {
        Request { method: method.to_owned(), target: target.into(), heads: Vec::new(), body: None }
    }

    /// Adds a header field.
    pub fn head(mut self, name: &str, value: impl Into<String>) -> Request {
        self.heads.push((name.to_owned(), value.into()));
        self
    }

    /// Adds an edit, API or moderator's token.
    pub fn bearer(self, token: &str) -> Request {
        self.head("authorization", format!("Bearer {token}"))
    }

    /// Adds a JSON body with its media type.
    pub fn json(self, body: impl Into<Vec<u8>>) -> Request {
        let mut request = self.head("content-type", "application/json");
        request.body = Some(body.into());
        request
    }

    /// The request as bytes on the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = format!(
            "{} {} HTTP/1.1\r\nhost: flashmark.test\r\nconnection: close\r\n",
            self.method, self.target
        );
        for (name, value) in &self.heads {
            head += &format!("{name}: {value}\r\n");
        }
        let has_head = |name: &str| self.heads.iter().any(|(known, _)| known == name);
        if let Some(body) = self
            .body
            .as_ref()
            .filter(|_| !has_head("content-length") && !has_head("transfer-encoding"))
        {
            head += &format!("content-length: {}\r\n", body.len());
        }
        let mut bytes = (head + "\r\n").into_bytes();
        bytes.extend(self.body.iter().flatten());
        bytes
    }

    /// Sends the request and waits for the answer.
    pub fn send(&self, to: SocketAddr) -> io::Result<Answer> {
        exchange(to, &self.bytes(), self.method == "HEAD")
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status: 200.
    pub status: u16,
    /// Header fields by lower-case name; the last of several with one name.
    pub heads: BTreeMap<String, String>,
    /// Body as received.
    pub body: Vec<u8>,
}

impl Answer {
    /// A header field; empty if it is missing.
    pub fn head(&self, name: &str) -> &str {
        self.heads.get(name).map_or("", String::as_str)
    }

    /// Body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.status, self.text()))
    }

    /// Status, code and reason of a rejection, whose form is checked: "422 out-of-range: ...".
    pub fn refusal(&self) -> String {
        assert!(self.head("content-type").starts_with("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status, "{problem}");
        let (code, reason) =
            (problem["code"].as_str().unwrap(), problem["reason"].as_str().unwrap());
        assert!(!code.is_empty() && reason.len() > 10, "{problem} says too little");
        format!("{} {code}: {reason}", self.status)
    }
}

/// Sends bytes on a new connection while it reads the answer: a server may answer before it has
/// read everything.
pub fn exchange(to: SocketAddr, bytes: &[u8], without_body: bool) -> io::Result<Answer> {
    let stream = connect(to)?;
    std::thread::scope(|scope| {
        let mut writing = stream.try_clone()?;
        // A failed write is no error: only the answer counts.
        scope.spawn(move || writing.write_all(bytes));
        let answer = read_answer(&stream, without_body);
        stream.shutdown(Shutdown::Both).ok();
        answer
    })
}

/// A connection that gives up after five minutes of silence.
pub fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&to, Duration::from_secs(300))?;
    stream.set_read_timeout(Some(Duration::from_secs(300)))?;
    stream.set_write_timeout(Some(Duration::from_secs(300)))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Reads one answer.
pub fn read_answer(stream: &TcpStream, without_body: bool) -> io::Result<Answer> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let status = first
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .ok_or_else(|| io::Error::other(format!("no answer: {first:?}")))?;
    let mut heads = BTreeMap::new();
    loop {
        let next = line(&mut reader)?;
        let Some((name, value)) = next.split_once(':') else { break };
        heads.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let mut body = Vec::new();
    if !without_body && status != 204 && status != 304 {
        if heads.get("transfer-encoding").is_some_and(|coding| coding == "chunked") {
            read_chunks(&mut reader, &mut body)?;
        } else if let Some(length) =
            heads.get("content-length").and_then(|length| length.parse().ok())
        {
            body.resize(length, 0);
            reader.read_exact(&mut body)?;
        } else {
            reader.read_to_end(&mut body)?;
        }
    }
    Ok(Answer { status, heads, body })
}

fn read_chunks(reader: &mut impl io::BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let head = line(reader)?;
        let length = u64::from_str_radix(head.trim(), 16)
            .map_err(|_| io::Error::other(format!("no length of a chunk: {head:?}")))?;
        if reader.take(length).read_to_end(body)? as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line(reader)?;
        if length == 0 {
            return Ok(());
        }
    }
}

fn line(reader: &mut impl io::BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    if reader.read_until(b'\n', &mut bytes)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']).to_owned())
}
