//! `flashmark-collection serve`: pages, and a slot for records from which a reviewer takes them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::submit::{RECORD, collection};
use crate::support::{Flashmark, Ran, Scratch, has_tool, times};

/// A record with enough I/Os to be known again.
const CHECK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/records/check-a1.json");

/// A collection with a record and pages, and its server.
struct Server {
    _scratch: Scratch,
    flashmark: Flashmark,
    dir: String,
    child: Child,
    address: String,
}

impl Server {
    fn start() -> Server {
        let (flashmark, (scratch, dir)) = (Flashmark::new(), collection());
        flashmark.done(&["submit", RECORD, "--to", &dir, "--sender", "ada", "--yes"]);
        let hash = record::text::hex(&Sha256::digest("secret"));
        fs::write(format!("{dir}/tokens.txt"), format!("{hash} bea\n")).unwrap();
        let site = format!("{dir}/site");
        flashmark.done(&["publish", &site, "--collection", &dir, "--no-reference"]);
        let mut command = flashmark.command(&["serve", &dir, "--listen", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        let address = said.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Server { _scratch: scratch, flashmark, dir, child, address }
    }

    /// Status and whole answer of a request.
    fn ask(&self, head: &str, body: &[u8]) -> Option<(u16, String)> {
        asked(&self.address, head, body)
    }

    fn post(&self, body: &[u8], token: &str) -> (u16, String) {
        let head = match token {
            "" => "POST /records HTTP/1.1\r\n".to_owned(),
            token => format!("POST /records HTTP/1.1\r\nAuthorization: Bearer {token}\r\n"),
        };
        self.ask(&head, body).unwrap()
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.flashmark.run(&[words, &[&self.dir]].concat())
    }

    /// Records that wait, or are in the collection, by their path in it.
    fn files(&self, folder: &str) -> Vec<PathBuf> {
        let entries = |dir: &Path| -> Vec<PathBuf> {
            fs::read_dir(dir).into_iter().flatten().map(|it| it.unwrap().path()).collect()
        };
        let senders = entries(&Path::new(&self.dir).join(folder));
        let all = senders.iter().flat_map(|sender| entries(sender));
        // Others are not written to their end, and have another name then.
        all.filter(|path| path.extension().is_some_and(|it| it == "gz")).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn asked(address: &str, head: &str, body: &[u8]) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    let length = body.len();
    let head = format!("{head}Host: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
    // Who is refused early may be hung up on.
    let _ = stream.write_all(&[head.as_bytes(), body].concat());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    Some((answer.get(9..12)?.parse().ok()?, answer))
}

/// Packed record that is different for each number.
fn record(number: usize) -> Vec<u8> {
    let shown = Flashmark::new().done(&["submit", RECORD, "--show"]).out;
    let mut run: Value = serde_json::from_str(&shown).unwrap();
    run["label"] = format!("number {number}").into();
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(run.to_string().as_bytes()).unwrap();
    packer.finish().unwrap()
}

#[test]
fn a_record_waits_in_the_slot_until_a_reviewer_takes_it() {
    let server = Server::start();
    let index = |server: &Server| server.ask("GET /index.html HTTP/1.1\r\n", b"").unwrap();
    let (status, page) = index(&server);
    assert!(status == 200 && page.contains("cache-control: no-cache"), "{page}");
    let tag = page.split("etag: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let again = format!("GET /index.html HTTP/1.1\r\nIf-None-Match: {tag}\r\n");
    assert_eq!(server.ask(&again, b"").unwrap().0, 304);
    let run = server.files("records")[0].file_name().unwrap().to_str().unwrap().to_owned();
    let (_, kept) = server.ask(&format!("GET /data/run/{run} HTTP/1.1\r\n"), b"").unwrap();
    assert!(kept.contains("immutable"), "a file named by its content never changes");

    let of_guest = server.post(&record(1), "");
    assert!(of_guest.0 == 201 && of_guest.1.contains(" of guest: card 8 GB"), "{}", of_guest.1);
    assert_eq!(server.post(&record(1), "").0, 201, "it is there already");
    assert_eq!(server.post(&record(2), "stolen").0, 401);
    assert_eq!(server.post(&record(2), "secret").0, 201);
    assert_eq!(server.post(b"{\"schema\": 1}", "").0, 422);
    assert_eq!(server.post(&vec![b' '; 100_001], "").0, 413);
    for path in ["/../tokens.txt", "/%2e%2e/tokens.txt", "/incoming/", "/records"] {
        assert_ne!(server.ask(&format!("GET {path} HTTP/1.1\r\n"), b"").unwrap().0, 200, "{path}");
    }
    assert_eq!(index(&server).1.split("\r\n\r\n").nth(1), page.split("\r\n\r\n").nth(1));

    let waiting = server.files("incoming");
    let id = |sender: &str| {
        let is_of = |path: &&PathBuf| path.parent().unwrap().ends_with(sender);
        let name = waiting.iter().find(is_of).unwrap().file_name().unwrap().to_str().unwrap();
        name.trim_end_matches(".json.gz").to_owned()
    };
    let listed = server.run(&["incoming"]);
    assert!(listed.out.contains("2 records waiting"), "{listed}");
    let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let place = |folder: &str| {
        Path::new(&server.dir).join(format!("{folder}/guest/{}.json.gz", id("guest")))
    };
    let received = modified(&place("incoming"));
    // One measurement under two names, and nobody has said which is right.
    for model in ["Ultra", "Extreme"] {
        let shown = server.flashmark.done(&["submit", CHECK, "--show"]).out;
        let mut run: Value = serde_json::from_str(&shown).unwrap();
        (run["kind"], run["target"]) = ("sd".into(), "block".into());
        (run["profile"], run["engine"], run["model"]) = (Value::Null, Value::Null, model.into());
        assert_eq!(server.post(run.to_string().as_bytes(), "secret").0, 201);
    }
    let listed = server.run(&["incoming"]).out.replace("\n  ", " ");
    let copies =
        listed.lines().filter(|line| line.contains("doubtful: its latencies are those of"));
    let copies: Vec<&str> = copies.map(|line| line.split(':').next().unwrap()).collect();
    assert_eq!(copies.len(), 2, "{listed}");
    let refused = server.run(&["accept", copies[0]]);
    assert!(refused.code == Some(3) && refused.err.contains("--because"), "{refused}");
    assert_eq!(server.run(&["accept", copies[0], "--because", "seen"]).code, Some(0));
    assert_eq!(server.run(&["reject", copies[1]]).code, Some(0));
    assert_eq!(server.run(&["accept", &format!("guest/{}", id("guest"))]).code, Some(0));
    assert_eq!(modified(&place("records")), received, "what came since is newer");
    assert_eq!(server.run(&["reject", &id("bea")[..6]]).code, Some(0));
    assert_eq!(server.run(&["accept", &id("bea")]).code, Some(2), "it waits no more");
    assert_eq!(server.files("incoming"), Vec::<PathBuf>::new());
    assert_eq!(server.run(&["validate"]).code, Some(0));
}

#[test]
fn one_command_sends_a_run_to_a_slot() {
    if !has_tool("curl") {
        return;
    }
    let server = Server::start();
    let to = format!("http://{}", server.address);
    let sent = |token: &str| {
        let mut command = server.flashmark.command(&["submit", RECORD, "--to", &to, "--yes"]);
        Ran::of(command.env("FLASHMARK_TOKEN", token))
    };
    let (good, bad) = (sent("secret"), sent("stolen"));
    assert!(good.code == Some(0) && good.out.contains("Kept for a reviewer"), "{good}");
    assert!(bad.code == Some(3) && bad.err.contains("nobody here has this token"), "{bad}");
}

/// Whatever was acknowledged is there when the slot is killed.
#[test]
fn a_killed_slot_has_all_that_it_acknowledged() {
    let mut server = Server::start();
    let all = times("POSTS", 24) as usize;
    let records: Vec<Vec<u8>> = (0..all).map(record).collect();
    // Bodies that never end are in nobody's way.
    let endless = b"POST /records HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n{";
    let slow = [(); 50].map(|()| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        stream.write_all(endless).unwrap();
        stream
    });
    let (address, kill_at) = (server.address.clone(), all / 2);
    let kept: Vec<usize> = std::thread::scope(|scope| {
        let (done, count) = std::sync::mpsc::channel();
        let posts: Vec<_> = (0..4)
            .map(|thread| {
                let (records, address, done) = (&records, &address, done.clone());
                scope.spawn(move || {
                    let mut kept = Vec::new();
                    for at in (thread..all).step_by(4) {
                        let answer = asked(address, "POST /records HTTP/1.1\r\n", &records[at]);
                        if answer.is_some_and(|(status, _)| status == 201) {
                            kept.push(at);
                            let _ = done.send(());
                        }
                    }
                    kept
                })
            })
            .collect();
        drop(done);
        count.iter().take(kill_at).for_each(drop);
        server.child.kill().unwrap();
        posts.into_iter().flat_map(|posts| posts.join().unwrap()).collect()
    });
    drop(slow);
    assert!(kept.len() >= kill_at, "{kept:?}");
    let labels: Vec<Value> = server
        .files("incoming")
        .iter()
        .map(|path| {
            let file = flate2::read::GzDecoder::new(fs::File::open(path).unwrap());
            serde_json::from_reader::<_, Value>(file).unwrap()["label"].take()
        })
        .collect();
    for at in kept {
        assert!(labels.contains(&format!("number {at}").into()), "{at}");
    }
}
