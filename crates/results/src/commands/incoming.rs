//! Records that wait for a reviewer: `receive` keeps one, `incoming` lists them, `accept` and
//! `reject` decide. A record waits as `incoming/SENDER/ID.json.gz`, as it would be below `records/`.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use collection::Upload;
use record::Published;
use record::collection::RunHeadline;
use record::text::{hex, printable};
use record::units::{Bytes, MIB};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Resource, Rlimit, setrlimit};
use sha2::{Digest, Sha256};

use crate::cli::{AcceptFlags, IncomingFlags, ReceiveFlags, RejectFlags};
use crate::repository::judging::{JudgedRecord, judge, look_at, run_in};
use crate::repository::{
    ACCEPTED, GUEST, MAX_PACKED, RecordFile, Repository, is_account, packed, write,
};
use program::exit::{Exit, OrExit, Result, refuse, usage};
use program::printing::{print, print_document};

/// File of the accounts that may send: the SHA-256 of a token and the account, a line each.
const TOKENS: &str = "tokens.txt";
/// Folder of the records that wait.
const INCOMING: &str = "incoming";
/// Most bytes of the records of guests that wait, and as many of those of accounts: 1,300 of the
/// largest.
const QUOTA_BYTES: u64 = 128 * MIB;
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
    let Upload { run, headline, caveats } = upload;
    let id = collection::content_name(&run);
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
        let is_guest = |sender: &str| sender == GUEST;
        let alike = waiting.iter().filter(|it| is_guest(&it.sender) == is_guest(&flags.sender));
        let used_bytes: u64 = alike.map(size).sum();
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
    print_document(&format!(
        "{known}, as {id} of {}: {}\n",
        flags.sender,
        in_short(&run, &headline, &caveats)
    ))?;
    Ok(Exit::Done)
}

/// What a reviewer sees of a run.
fn in_short(run: &Published, headline: &RunHeadline, doubts: &[String]) -> String {
    let verdict = headline.verdict.as_deref().unwrap_or("no verdict");
    let doubt = if doubts.is_empty() {
        "sound".to_owned()
    } else {
        format!("doubtful: {}", doubts.join("; "))
    };
    printable(&format!("{}. {verdict} {doubt}", run.name()))
}

/// The records that wait.
fn waiting(repository: &Repository) -> Vec<RecordFile> {
    repository.records_in(INCOMING)
}

/// The records that wait, each judged beside those of the collection and the others that wait.
fn judged(repository: &Repository) -> Result<Vec<JudgedRecord>> {
    let waits = |file: &RecordFile| file.path.starts_with(repository.dir().join(INCOMING));
    let all = [repository.records(), waiting(repository)].concat();
    let judged = judge(repository, all, waits, |file| Ok(look_at(file))).or_internal()?;
    Ok(judged.into_iter().filter(|one| waits(&one.file)).collect())
}

/// Lists the records that wait, each with what its judgement is.
pub fn list(flags: &IncomingFlags) -> Result {
    let repository = Repository::open(&flags.dir).or_usage()?;
    let judged = judged(&repository)?;
    for JudgedRecord { file, found, doubts } in &judged {
        let text = match found {
            Ok(run) => in_short(&run.run, &run.headline, doubts),
            Err(why) => printable(why),
        };
        print(&format!("{}/{}: {text}\n", file.sender, file.id))?;
    }
    print(&format!("{} waiting\n", report::words::count(judged.len(), "record")))?;
    Ok(Exit::Done)
}

/// The only of these files under this id, `SENDER/ID`, or the beginning of one.
fn find(files: Vec<RecordFile>, id: &str) -> Result<RecordFile> {
    let is_it = |file: &RecordFile| {
        file.id.starts_with(id) || format!("{}/{}", file.sender, file.id).starts_with(id)
    };
    let found = files.into_iter().filter(is_it);
    match found.collect::<Vec<_>>().as_slice() {
        [one] => Ok(one.clone()),
        [] => usage(format_args!("no record '{}' waits", printable(id))),
        _ => usage(format_args!("several records that wait begin with '{}'", printable(id))),
    }
}

/// Puts a record among those of the collection, under the sender that it came from.
pub fn accept(flags: &AcceptFlags) -> Result {
    let repository = Repository::open(&flags.dir).or_usage()?;
    let file = find(waiting(&repository), &flags.id)?;
    if let Some(one) = judged(&repository)?.into_iter().find(|one| one.file == file)
        && let Err(why) = one.verdict()
    {
        if one.found.is_err() {
            return refuse(printable(&why));
        }
        if flags.because.is_none() {
            return refuse(format_args!("it is {}; --because REASON takes it", printable(&why)));
        }
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
    let file = find(waiting(&repository), &flags.id)?;
    fs::remove_file(&file.path).or_internal()?;
    print(&format!("{} of {} is removed\n", file.id, file.sender))?;
    Ok(Exit::Done)
}
