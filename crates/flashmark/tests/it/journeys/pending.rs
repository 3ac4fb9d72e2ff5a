//! Runs that a collection could not take when they were submitted.

use crate::submit::{Listener, RECORD, command};
use crate::support::{Flashmark, Ran};

use super::site::Site;

fn ran(flashmark: &Flashmark, words: &[&str]) -> Ran {
    Ran::of(&mut command(flashmark, words))
}

/// Number of files in the list of waiting runs.
fn waiting(flashmark: &Flashmark) -> usize {
    std::fs::read_dir(flashmark.home().join(".pending")).map_or(0, Iterator::count)
}

#[test]
fn what_a_stopped_server_missed_arrives_once_it_runs() {
    let (flashmark, mut site) = (Flashmark::new(), Site::start());
    let address = site.address.clone();
    let submit = ["submit", RECORD, "--to", &address, "--yes"];
    site.stop();
    for _ in 0..2 {
        let unsent = ran(&flashmark, &submit);
        assert!(unsent.code == Some(5) && unsent.err.contains("submit --pending"), "{unsent}");
        assert_eq!(waiting(&flashmark), 1, "kept once");
    }
    let later = ran(&flashmark, &["submit", "--pending"]);
    assert!(later.code == Some(5) && later.err.contains("refused"), "{later}");
    assert_eq!(waiting(&flashmark), 1, "it goes on waiting");
    assert!(ran(&flashmark, &["runs"]).out.starts_with("No runs"), "the list is no run");

    site.start_again();
    let elsewhere = ran(&flashmark, &["submit", "--pending", "--to", "http://127.0.0.1:1"]);
    assert_eq!((elsewhere.code, elsewhere.out.as_str()), (Some(0), "Nothing waits to be sent.\n"));
    let sent = ran(&flashmark, &["submit", "--pending"]);
    assert!(sent.code == Some(0) && sent.out.starts_with("Sent: "), "{sent}");
    assert!(sent.out.contains(" --replace "), "its token is printed: {sent}");
    let again = ran(&flashmark, &["submit", "--pending"]);
    assert_eq!((again.code, again.out.as_str()), (Some(0), "Nothing waits to be sent.\n"));
    let known = ran(&flashmark, &submit);
    assert!(known.out.starts_with("It is there already"), "{known}");
}

/// The server took the run, and its answer was lost.
#[test]
fn a_run_that_arrived_unnoticed_is_there_once_and_no_longer_waits() {
    let (flashmark, mut site) = (Flashmark::new(), Site::start());
    let address = site.address.clone();
    let submit = ["submit", RECORD, "--to", &address, "--yes"];
    site.stop();
    assert_eq!(ran(&flashmark, &submit).code, Some(5));
    site.start_again();
    let other = Flashmark::new();
    assert_eq!(ran(&other, &submit).code, Some(0));
    let known = ran(&flashmark, &["submit", "--pending"]);
    assert!(known.code == Some(0) && known.out.starts_with("It is there already"), "{known}");
    assert_eq!(waiting(&flashmark), 0);
}

#[test]
fn a_run_sent_by_hand_no_longer_waits() {
    let (flashmark, mut site) = (Flashmark::new(), Site::start());
    let address = site.address.clone();
    let submit = ["submit", RECORD, "--to", &address, "--yes"];
    site.stop();
    assert_eq!(ran(&flashmark, &submit).code, Some(5));
    site.start_again();
    assert_eq!(ran(&flashmark, &submit).code, Some(0));
    assert_eq!(waiting(&flashmark), 0);
}

fn answer(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Keeps a run for an address whose next answer is this one, and sends the waiting runs.
fn sent_later(status: &str, body: &str) -> (Flashmark, Ran) {
    let flashmark = Flashmark::new();
    let unsent = Listener::answering(answer("503 Service Unavailable", "<html>nginx</html>"));
    let ran_first = ran(&flashmark, &["submit", RECORD, "--to", &unsent.address, "--yes"]);
    assert!(ran_first.code == Some(5), "a proxy speaks for its server: {ran_first}");
    let (old, listener) = (unsent.address, Listener::answering(answer(status, body)));
    for entry in std::fs::read_dir(flashmark.home().join(".pending")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text.replace(&old, &listener.address)).unwrap();
    }
    let later = ran(&flashmark, &["submit", "--pending"]);
    (flashmark, later)
}

#[test]
fn only_a_refusal_of_the_run_ends_its_waiting() {
    let problem = |code: &str| format!(r#"{{"code":"{code}","reason":"because"}}"#);
    for (status, body, code, left) in [
        ("422 Unprocessable Content", problem("contradiction"), 2, 0),
        ("413 Content Too Large", problem("too-large"), 2, 0),
        ("401 Unauthorized", problem("no-token"), 2, 1),
        ("429 Too Many Requests", problem("rate"), 5, 1),
        ("200 OK", "<html>Accept the terms of this hotel</html>".to_owned(), 2, 1),
    ] {
        let (flashmark, later) = sent_later(status, &body);
        assert_eq!((later.code, waiting(&flashmark)), (Some(code), left), "{status}: {later}");
    }
}
