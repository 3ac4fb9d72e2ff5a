//! `flashmark submit` against a listener that answers as a server may, and as no server should.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use flate2::read::GzDecoder;
use record::{Published, Record};

use crate::support::{Flashmark, Ran, has_tool};

pub const RECORD: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/records/flashmark-0.1.0-sim.json");
const TOKEN: &str = "5f0c6d";

/// Request that a listener received: its head and its body.
pub struct Request {
    head: String,
    body: Vec<u8>,
}

impl Request {
    fn has(&self, line: &str) -> bool {
        self.head.lines().any(|found| found.eq_ignore_ascii_case(line))
    }

    pub fn unpacked(&self) -> String {
        let mut text = String::new();
        GzDecoder::new(self.body.as_slice()).read_to_string(&mut text).unwrap();
        text
    }
}

/// Listens on this machine, answers the first request, and then closes.
pub struct Listener {
    pub address: String,
    requests: Receiver<Request>,
}

impl Listener {
    pub fn answering(answer: impl Into<Vec<u8>>) -> Listener {
        let (listener, answer) = (TcpListener::bind("127.0.0.1:0").unwrap(), answer.into());
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            connection.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
            if let Some(request) = request(&mut connection) {
                let _ = sender.send(request);
            }
            let _ = connection.write_all(&answer);
        });
        Listener { address, requests }
    }

    pub fn request(&self) -> Request {
        self.requests.recv_timeout(Duration::from_secs(300)).unwrap()
    }
}

/// Reads a request with all of its body; `None` if it is not a request.
fn request(connection: &mut TcpStream) -> Option<Request> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
                })
                .unwrap_or(0);
            if bytes.len() >= end + 4 + length {
                return Some(Request { head, body: bytes[end + 4..].to_vec() });
            }
        }
        // A greeting of TLS has no empty line.
        if bytes.first() == Some(&0x16) {
            return None;
        }
        match connection.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(got) => bytes.extend_from_slice(&buffer[..got]),
        }
    }
}

fn answer(status: &str, kind: &str, more: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{more}Connection: close\r\n\r\n{body}",
        body.len()
    )
}

pub fn receipt(body: &str) -> String {
    answer("201 Created", "application/json", "", body)
}

fn problem(status: &str, more: &str, code: &str, reason: &str) -> String {
    let body = format!(r#"{{"status":{},"code":"{code}","reason":"{reason}"}}"#, &status[..3]);
    answer(status, "application/problem+json", more, &body)
}

pub const ACCEPTED: &str = r#"{"id":"abc234","slug":"x","status":"accepted","is_new":true,"revision":1,"edit_token":"5f0c6d","page":"/run/abc234","reasons":[]}"#;

/// The program with these words, without the tokens and proxies in the environment of the tests.
pub fn command(flashmark: &Flashmark, words: &[&str]) -> Command {
    let mut command = flashmark.command(words);
    for name in [
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "FLASHMARK_TOKEN",
    ] {
        command.env_remove(name);
    }
    command
}

/// Output of `flashmark submit` with these words.
fn submit(words: &[&str], token: Option<&str>) -> Ran {
    let flashmark = Flashmark::new();
    let mut command = command(&flashmark, &[&["submit"], words].concat());
    command.envs(token.map(|token| ("FLASHMARK_TOKEN", token)));
    Ran::of(&mut command)
}

/// Message after the server gives this answer to a submission.
fn message_after(answer: impl Into<Vec<u8>>) -> String {
    let listener = Listener::answering(answer);
    let ran = submit(&[RECORD, "--to", &listener.address, "--yes"], None);
    let (_, rest) = ran
        .err
        .split_once(" lines of JSON.\n")
        .unwrap_or_else(|| panic!("nothing was shown: {ran}"));
    Ran { err: rest.to_owned(), ..ran }
        .transcript(&[(&listener.address, "http://SITE"), (RECORD, "RECORD")])
}

#[test]
fn what_is_shown_is_what_is_sent() {
    let listener = Listener::answering(receipt(ACCEPTED));
    let shown = submit(&[RECORD, "--show"], None);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    let ran = submit(&[RECORD, "--to", &format!("{}/", listener.address), "--yes"], None);
    let request = listener.request();
    assert_eq!(request.unpacked(), shown.out);
    assert!(request.has("POST /api/v1/runs HTTP/1.1"), "{}", request.head);
    assert!(
        request.has("content-encoding: gzip") && request.has("content-type: application/json"),
        "{}",
        request.head
    );
    assert!(!request.head.to_ascii_lowercase().contains("authorization"), "{}", request.head);

    let record = Record::from_json(&std::fs::read_to_string(RECORD).unwrap()).unwrap();
    assert_eq!(serde_json::from_str::<Published>(&shown.out).unwrap(), Published::from(&record));
    assert!(!shown.out.contains(&record.run.id) && !shown.out.contains("\"target_path\""));
    insta::assert_snapshot!(ran.transcript(&[(&listener.address, "http://SITE"), (RECORD, "RECORD")]), @"
    exit 0
    This would be sent to http://SITE, for everyone to read:
      Medium    card 8 GB (simulated medium) 8.00 GB sim
      Label     a hand-checked sample
      Measured  by flashmark 0.1.0, suite quick, took 500 ms
      Results   2 cells with their latencies and curves, 1 left out
      Size      3.24 kB, 1022 B packed
      Not sent  serial number and registers of the medium, paths, and names of this machine and its users
    `flashmark submit RUN --show` prints all of it: 152 lines of JSON.
    --- and on standard output
    Sent: http://SITE/run/abc234
    It is in the collection.

    To change or withdraw it later, keep this token; it is shown only once:
      5f0c6d
      FLASHMARK_TOKEN=5f0c6d flashmark submit RECORD --to http://SITE --replace abc234
      FLASHMARK_TOKEN=5f0c6d flashmark submit --withdraw abc234 --to http://SITE
    ");
}

#[test]
fn nobody_is_asked_so_nothing_is_sent() {
    let listener = Listener::answering(receipt(ACCEPTED));
    let ran = submit(&[RECORD, "--to", &listener.address], None);
    assert_eq!(ran.code, Some(3), "{ran}");
    assert!(
        ran.err.contains("This would be sent") && ran.err.contains("add --yes to send"),
        "{ran}"
    );
    assert!(listener.requests.try_recv().is_err());
}

/// The program asks on a terminal, which `script` gives it; the answer is typed through a pipe.
#[test]
fn who_is_there_is_asked() {
    if !has_tool("script") {
        return;
    }
    for (typed, code, sent) in [("y\n", 0, true), ("\n", 3, false), ("no\n", 3, false)] {
        let listener = Listener::answering(receipt(ACCEPTED));
        let flashmark = Flashmark::new();
        let program = flashmark.command(&[]);
        let line = format!(
            "{} submit '{RECORD}' --to {}",
            program.get_program().to_str().unwrap(),
            listener.address
        );
        let mut command = std::process::Command::new("script");
        command
            .args(["-q", "-e", "-c", &line, "/dev/null"])
            .env("FLASHMARK_HOME", flashmark.home())
            .env_remove("FLASHMARK_TOKEN");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(code), "{typed:?}: {ran}");
        assert!(ran.out.contains("Send it? [y/N]"), "{ran}");
        assert_eq!(listener.requests.try_recv().is_ok(), sent, "{typed:?}");
    }
}

#[test]
fn a_token_goes_to_the_server_and_nowhere_else() {
    for (flag, token) in [(&["--token", TOKEN][..], None), (&[], Some(TOKEN))] {
        let listener =
            Listener::answering(receipt(&ACCEPTED.replace(r#""edit_token":"5f0c6d","#, "")));
        let ran = submit(&[&[RECORD, "--to", &listener.address, "--yes"], flag].concat(), token);
        assert_eq!(ran.code, Some(0), "{ran}");
        assert!(listener.request().has(&format!("authorization: Bearer {TOKEN}")));
        assert!(!ran.to_string().contains(TOKEN), "{ran}");
    }
}

#[test]
fn caveats_are_shown_and_a_run_that_is_there_is_no_error() {
    let doubtful = ACCEPTED
        .replace("accepted", "quarantined")
        .replace("[]", r#"["random-write-4k is 9 times the median","label has an address in it"]"#);
    insta::assert_snapshot!(message_after(receipt(&doubtful)), @r"
exit 0
--- and on standard output
Sent: http://SITE/run/abc234
Someone will look at it before it is in the collection:
  - random-write-4k is 9 times the median
  - label has an address in it

To change or withdraw it later, keep this token; it is shown only once:
  5f0c6d
  FLASHMARK_TOKEN=5f0c6d flashmark submit RECORD --to http://SITE --replace abc234
  FLASHMARK_TOKEN=5f0c6d flashmark submit --withdraw abc234 --to http://SITE
");
    let known = r#"{"id":"abc234","slug":"x","status":"accepted","is_new":false,"revision":2,"page":"/run/abc234"}"#;
    insta::assert_snapshot!(message_after(answer("200 OK", "application/json", "", known)), @r"
exit 0
--- and on standard output
It is there already: http://SITE/run/abc234
It is in the collection.
");
}

#[test]
fn a_run_is_replaced_and_withdrawn_with_its_token() {
    let replaced = ACCEPTED.replace(r#""revision":1,"edit_token":"5f0c6d","#, r#""revision":2,"#);
    let listener = Listener::answering(answer("200 OK", "application/json", "", &replaced));
    let ran = submit(
        &[RECORD, "--to", &format!("{}/cards", listener.address), "--yes", "--replace", "abc234"],
        Some(TOKEN),
    );
    assert!(
        ran.out.starts_with(&format!(
            "Replaced: {}/cards/run/abc234 (revision 2)\n",
            listener.address
        )),
        "{ran}"
    );
    let request = listener.request();
    assert!(
        request.has("PUT /cards/api/v1/runs/abc234 HTTP/1.1")
            && request.has("authorization: Bearer 5f0c6d"),
        "{}",
        request.head
    );
    assert!(request.unpacked().contains("flashmark/1"));

    let listener = Listener::answering(answer(
        "200 OK",
        "application/json",
        "",
        &replaced.replace("accepted", "withdrawn"),
    ));
    let ran = submit(
        &[
            "--withdraw",
            "abc234",
            "--to",
            &listener.address,
            "--yes",
            "--why",
            "wrong card & reader",
        ],
        Some(TOKEN),
    );
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Withdrawn: abc234\n"), "{ran}");
    let request = listener.request();
    assert!(
        request.has("DELETE /api/v1/runs/abc234?why=wrong%20card%20%26%20reader HTTP/1.1"),
        "{}",
        request.head
    );
    assert!(request.body.is_empty());
}

#[test]
fn refusals_are_printed_in_plain_words() {
    let all = [
        problem(
            "413 Content Too Large",
            "",
            "too-large",
            "the body unpacks to more than 67108864 bytes",
        ),
        problem(
            "422 Unprocessable Content",
            "",
            "contradiction",
            "cells[3] (random-write/2).bytes: 9 bytes in 2 I/Os of 4096",
        ),
        problem(
            "429 Too Many Requests",
            "Retry-After: 12\r\n",
            "too-many-requests",
            "10 a minute are taken",
        ),
        problem("503 Service Unavailable", "", "busy", "the database does not answer"),
        problem("401 Unauthorized", "", "token", "no such token"),
        problem("404 Not Found", "", "unknown", "no run has this id"),
    ];
    insta::assert_snapshot!(all.map(message_after).join("\n"), @r"
exit 2
flashmark: http://SITE: the run is too large: the body unpacks to more than 67108864 bytes

exit 2
flashmark: http://SITE: the run was not taken (contradiction): cells[3] (random-write/2).bytes: 9 bytes in 2 I/Os of 4096

exit 5
flashmark: http://SITE: too much was sent in too short a time: 10 a minute are taken; try again in 12 s; it is kept, and `flashmark submit --pending` sends it

exit 5
flashmark: http://SITE: the server cannot do it now: the database does not answer; try again later; it is kept, and `flashmark submit --pending` sends it

exit 2
flashmark: http://SITE: the token does not allow this: no such token

exit 2
flashmark: http://SITE: there is no such run: no run has this id
");
}

#[test]
fn a_foreign_server_is_reported_as_one() {
    let page = "<html><body>It works!</body></html>";
    let all = [
        answer("200 OK", "text/html", "", page),
        answer("405 Method Not Allowed", "text/html", "", page),
        answer(
            "301 Moved Permanently",
            "text/html",
            "Location: https://elsewhere.example/\r\n",
            page,
        ),
        answer("200 OK", "application/json", "", "{}"),
        String::new(),
    ];
    insta::assert_snapshot!(all.map(message_after).join("\n"), @r"
exit 2
flashmark: http://SITE is no collection of Flashmark: it answers 200 OK, and nothing that flashmark-site would say; is the address right?

exit 2
flashmark: http://SITE is no collection of Flashmark: it answers 405 Method Not Allowed, and nothing that flashmark-site would say; is the address right?

exit 2
flashmark: http://SITE points to 'https://elsewhere.example/'; if you trust that, give it with --to

exit 2
flashmark: http://SITE is no collection of Flashmark: it answers 200 OK, and nothing that flashmark-site would say; is the address right?

exit 5
flashmark: cannot reach http://SITE: it ended the connection without an answer; it is kept, and `flashmark submit --pending` sends it
");
    let garbage = message_after("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n\r\n");
    assert!(
        garbage.starts_with("exit 5\n") && garbage.contains("does not speak HTTP"),
        "{garbage}"
    );
    let endless = message_after(answer("200 OK", "application/json", "", &" ".repeat(2 << 20)));
    assert!(endless.starts_with("exit 5\n") && endless.contains("longer than any"), "{endless}");
}

#[test]
fn a_hostile_server_writes_nothing_of_its_own_on_the_terminal() {
    let hostile = r#"{"id":"abc\u001b[2J","status":"acc\nepted","is_new":true,"revision":1,"edit_token":"a\u001b]0;b","page":"/run/\u001b[31mx","reasons":["\u001b[1;1Hhello\u202e"]}"#;
    let message = message_after(receipt(hostile));
    assert!(message.starts_with("exit 0\n"), "{message}");
    assert!(!message.chars().any(|c| c == '\u{1b}' || c == '\u{202e}'), "{message:?}");
    let long = message_after(problem("422 Unprocessable Content", "", "x", &"long ".repeat(5000)));
    assert!(long.len() < 1000, "{}", long.len());
}

#[test]
fn an_unreachable_server_is_reported_with_the_reason() {
    // A port that no other test is given.
    let refused = submit(&[RECORD, "--to", "http://127.0.0.1:1", "--yes"], None);
    assert_eq!(refused.code, Some(5), "{refused}");
    assert!(
        refused.err.contains("the connection was refused: nothing listens there; it is kept"),
        "{refused}"
    );

    let nobody = submit(&[RECORD, "--to", "https://nobody.invalid", "--yes"], None);
    assert_eq!(nobody.code, Some(5), "{nobody}");
    assert!(nobody.err.contains("cannot reach https://nobody.invalid: "), "{nobody}");

    let plain = Listener::answering(answer("400 Bad Request", "text/html", "", "what?"));
    let encrypted =
        submit(&[RECORD, "--to", &plain.address.replace("http:", "https:"), "--yes"], None);
    assert_eq!(encrypted.code, Some(5), "{encrypted}");
    assert!(encrypted.err.contains("the encrypted connection cannot be made"), "{encrypted}");
}

#[test]
fn a_token_over_an_open_line_is_warned_of() {
    let warned = submit(&[RECORD, "--to", "http://192.0.2.1"], Some(TOKEN));
    assert!(warned.code == Some(3) && warned.err.contains("unencrypted"), "{warned}");
    let quiet = submit(&[RECORD, "--to", "http://127.0.0.1:9"], Some(TOKEN));
    assert!(quiet.code == Some(3) && !quiet.err.contains("unencrypted"), "{quiet}");
}
