//! Records that wait for a reviewer: `receive` keeps one, `incoming` lists them, `accept` and
//! `reject` decide. A record waits as `incoming/SENDER/ID.json.gz`, as it would be below `records/`.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use collection::Upload;
use record::text::{hex, printable};
use record::units::{Bytes, MIB};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Resource, Rlimit, setrlimit};
use sha2::{Digest, Sha256};

use crate::cli::{AcceptFlags, IncomingFlags, ReceiveFlags, RejectFlags};
use crate::repository::judging::{look_at, run_in};
use crate::repository::{ACCEPTED, MAX_PACKED, RecordFile, Repository, is_account, packed, write};
use program::exit::{Exit, OrExit, Result, refuse, usage};
use program::printing::{print, print_document};

/// File of the accounts that may send: the SHA-256 of a token and the account, a line each.
const TOKENS: &str = "tokens.txt";
/// Folder of the records that wait.
const INCOMING: &str = "incoming";
/// Most bytes of all records that wait, 2600 of the largest.
const QUOTA_BYTES: u64 = 256 * MIB;
/// Most memory in bytes, and most seconds of processor, in which a record is judged: those of
/// `full` need 150 MB and 2 s.
const JUDGE_BYTES: u64 = 1024 * MIB;
const JUDGE_S: u64 = 20;

/// The account whose token this is.
pub fn sender_of(collection: &Path, token: &str) -> Option<String> {
    let digest = hex(&Sha256::digest(token.trim().as_bytes()));
    let tokens = fs::read_to_string(collection.join(TOKENS)).ok()?;
    let accounts = tokens.lines().filter_map(|line| line.split_once(char::is_whitespace));
    let found = accounts.filter(|(hash, _)| *hash == digest).map(|(_, account)| account.trim());
    found.map(str::to_lowercase).find(|account| is_account(account))
}

/// Judges the record on standard input and keeps it for a reviewer. Refuses where no room is left.
pub fn receive(flags: &ReceiveFlags) -> Result {
    let limit = |most| Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(Resource::As, limit(JUDGE_BYTES)).or_internal()?;
    setrlimit(Resource::Cpu, limit(JUDGE_S)).or_internal()?;
    let repository = Repository::open(&flags.dir).or_usage()?;
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_PACKED as u64 + 1).read_to_end(&mut bytes).or_internal()?;
    let refused = |why: String| {
        print_document(&format!("{}\n", printable(&why)))?;
        Ok(Exit::MediumFailed)
    };
    // What is kept is what was judged, without anything else that was in the document.
    let packed = match run_in(&bytes) {
        Ok(upload) => packed(&upload.run).or_usage()?,
        Err(why) => return refused(why),
    };
    let upload = match run_in(&packed.bytes) {
        Ok(upload) => upload,
        Err(why) => return refused(why),
    };
    let id = collection::content_name(&upload.run);
    let folder = repository.dir().join(INCOMING);
    fs::create_dir_all(&folder).or_internal()?;
    // Two records at once are counted one after the other.
    let lock = fs::File::open(&folder).or_internal()?;
    flock(&lock, FlockOperation::LockExclusive).or_internal()?;
    let path = repository.place_in(INCOMING, &flags.sender, &id);
    let waiting = waiting(&repository);
    let is_known = waiting.iter().any(|file| file.path == path)
        || repository.place(&flags.sender, &id).exists();
    if !is_known {
        let size = |file: &RecordFile| fs::metadata(&file.path).map_or(0, |found| found.len());
        let used_bytes: u64 = waiting.iter().map(size).sum();
        if used_bytes + packed.bytes.len() as u64 > QUOTA_BYTES {
            return refuse(format_args!(
                "{} of records wait for a reviewer already; try again when they are looked at",
                Bytes(used_bytes)
            ));
        }
        if let Err(error) = write(&path, &packed.bytes) {
            return refuse(error);
        }
    }
    let known = if is_known { "It is here already" } else { "Kept for a reviewer" };
    print_document(&format!("{known}, as {id} of {}: {}\n", flags.sender, in_short(&upload)))?;
    Ok(Exit::Done)
}

/// What a reviewer sees of a record.
fn in_short(upload: &Upload) -> String {
    let verdict = upload.headline.verdict.as_deref().unwrap_or("no verdict");
    let doubt = if upload.caveats.is_empty() { "sound" } else { "doubtful" };
    let caveats = upload.caveats.iter().map(|caveat| format!("; {caveat}"));
    let text = format!("{}. {verdict} {doubt}{}", upload.run.name(), caveats.collect::<String>());
    printable(&text)
}

/// The records that wait.
fn waiting(repository: &Repository) -> Vec<RecordFile> {
    repository.records_in(INCOMING)
}

/// Lists the records that wait, each with what its judgement is.
pub fn list(flags: &IncomingFlags) -> Result {
    let repository = Repository::open(&flags.dir).or_usage()?;
    let waiting = waiting(&repository);
    for file in &waiting {
        let text = match crate::repository::judging::read(file) {
            Ok(upload) => in_short(&upload),
            Err(why) => printable(&why),
        };
        print(&format!("{}  {}: {text}\n", file.id, file.sender))?;
    }
    print(&format!("{} waiting\n", report::words::count(waiting.len(), "record")))?;
    Ok(Exit::Done)
}

/// The record that waits under this id or the beginning of one.
fn find(repository: &Repository, id: &str) -> Result<RecordFile> {
    let found = waiting(repository).into_iter().filter(|file| file.id.starts_with(id));
    match found.collect::<Vec<_>>().as_slice() {
        [one] => Ok(one.clone()),
        [] => usage(format_args!("no record '{}' waits", printable(id))),
        _ => usage(format_args!("several records that wait begin with '{}'", printable(id))),
    }
}

/// Puts a record among those of the collection, under the sender that it came from.
pub fn accept(flags: &AcceptFlags) -> Result {
    let repository = Repository::open(&flags.dir).or_usage()?;
    let file = find(&repository, &flags.id)?;
    match look_at(&file) {
        Err(why) => return refuse(printable(&why)),
        Ok(run) if run.id != file.id => return refuse("it is not the record that was sent"),
        Ok(_) => {}
    }
    let to = repository.place(&file.sender, &file.id);
    to.parent().map_or(Ok(()), fs::create_dir_all).or_internal()?;
    if let Some(reason) = &flags.because {
        let accepted = repository.dir().join(ACCEPTED);
        let mut text = fs::read_to_string(&accepted).unwrap_or_default();
        text.push_str(&format!("{} {}\n", file.id, printable(reason)));
        write(&accepted, text.as_bytes()).or_internal()?;
    }
    // Moved, it keeps the time at which it was received.
    fs::rename(&file.path, &to).or_internal()?;
    print(&format!("{} is in the collection\n", repository.place_of(&to).display()))?;
    Ok(Exit::Done)
}

/// Removes a record that waits.
pub fn reject(flags: &RejectFlags) -> Result {
    let repository = Repository::open(&flags.dir).or_usage()?;
    let file = find(&repository, &flags.id)?;
    fs::remove_file(&file.path).or_internal()?;
    print(&format!("{} of {} is removed\n", file.id, file.sender))?;
    Ok(Exit::Done)
}
