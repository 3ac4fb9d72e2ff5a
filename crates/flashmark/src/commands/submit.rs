//! `flashmark submit`: a run for a collection that others can read. Nothing leaves this machine
//! that the user was not shown, or could not have been shown.

use std::io::{BufRead, IsTerminal, Write};

use record::Published;
use record::text::printable;
use record::units::{Bytes, Nanos};

use crate::cli::SubmitFlags;
use crate::commands::show::load;
use crate::exit::{Exit, OrExit, Result, refuse, usage};
use crate::keys::KeyFile;
use crate::outputs::{print, print_document};

mod document;
mod pending;
mod server;
#[cfg(feature = "export")]
mod to_repository;

use document::SubmissionDocument;
use pending::PendingRun;
use server::{CollectionServer, ServerReceipt};

/// Sends a run to a collection, or withdraws one from it; prints first what would be done, and
/// asks.
pub fn run(flags: &SubmitFlags) -> Result {
    if let Some(id) = &flags.withdraw {
        return withdraw(flags, id);
    }
    if flags.pending {
        return send_pending(flags);
    }
    let name = flags.run.as_deref().unwrap_or("latest");
    let record = load(name)?;
    if let Some(why) = record::not_medium_reason(&record.flags, &record.cells) {
        return usage(format_args!(
            "{} {why}; it tells nothing of a medium, and is not sent. Measure a directory or a device of the medium itself",
            printable(name)
        ));
    }
    let keys = KeyFile::given(flags.keys.as_deref())?;
    let document = SubmissionDocument::of(&record, keys.as_ref())?;
    if let Err(rejection) = collection::check(&document.run) {
        return usage(format_args!(
            "{} would be refused by every collection, and is not sent: {}",
            printable(name),
            printable(&rejection.to_string())
        ));
    }
    if flags.show {
        print_document(&document.json)?;
        return Ok(Exit::Done);
    }
    #[cfg(feature = "export")]
    if let Some(address) = flags.to.as_deref().filter(|to| to_repository::is_repository(to)) {
        return add(address, flags, &document, keys.as_ref());
    }
    let server = server(flags)?;
    let what = match &flags.replace {
        Some(id) => format!("This would replace run {} at {}:", printable(id), server.name()),
        None => format!("This would be sent to {}, for everyone to read:", server.name()),
    };
    crate::say_text!("{}{}", announced(&document, &what, keys.as_ref()), server.warning());
    agreed("Send it?", flags.yes)?;
    let receipt = match &flags.replace {
        Some(id) => server.replace(id, &document.packed)?,
        None => submit(&server, &document, record.run.id)?,
    };
    print_document(&receipt_text(&receipt, &server, name))?;
    Ok(Exit::Done)
}

/// Writes a run into a repository of records.
#[cfg(feature = "export")]
fn add(
    address: &str,
    flags: &SubmitFlags,
    document: &SubmissionDocument,
    keys: Option<&KeyFile>,
) -> Result {
    let target = to_repository::RepositoryTarget::of(address, flags)?;
    let what = format!("This would be written to {}, for everyone to read:", target.name());
    crate::say_text!("{}", announced(document, &what, keys));
    agreed("Write it?", flags.yes)?;
    target.add(document)?;
    Ok(Exit::Done)
}

/// Sends a run, and keeps it for later where the collection cannot take it now.
fn submit(
    server: &CollectionServer,
    document: &SubmissionDocument,
    name: String,
) -> Result<ServerReceipt> {
    let pending = PendingRun { to: server.name().to_owned(), name, json: document.json.clone() };
    match server.submit(&document.packed) {
        Ok(receipt) => {
            pending.forget()?;
            Ok(receipt)
        }
        Err(failure) if failure.exit == Exit::Internal => {
            let kept = match pending.keep() {
                Ok(()) => "it is kept, and `flashmark submit --pending` sends it".to_owned(),
                Err(why) => format!("it cannot be kept for later: {why}"),
            };
            Err(anyhow::anyhow!("{failure}; {kept}")).or_internal()
        }
        Err(failure) => Err(failure),
    }
}

/// Sends the runs that are kept for later; each was shown and agreed to.
fn send_pending(flags: &SubmitFlags) -> Result {
    let to = flags.to.as_deref().map(|to| to.trim().trim_end_matches('/'));
    let token = token(flags);
    if token.is_some() && to.is_none() {
        return usage("a token is of one collection: name it with --to");
    }
    let (count, exit) = pending::send_all(to, token, |run, server, receipt| {
        print_document(&receipt_text(receipt, server, &run.name))
    })?;
    if count == 0 {
        print("Nothing waits to be sent.\n")?;
    }
    Ok(exit)
}

fn token(flags: &SubmitFlags) -> Option<&str> {
    flags.token.as_deref().map(str::trim).filter(|token| !token.is_empty())
}

fn withdraw(flags: &SubmitFlags, id: &str) -> Result {
    let server = server(flags)?;
    crate::say!(
        "Run {} would be taken out of the collection at {}, for good.",
        printable(id),
        server.name()
    );
    agreed("Withdraw it?", flags.yes)?;
    server.withdraw(id, &flags.why)?;
    print(&format!("Withdrawn: {}\n", printable(id)))?;
    Ok(Exit::Done)
}

/// The collection's server, if the run needs no other information.
fn server(flags: &SubmitFlags) -> Result<CollectionServer> {
    let Some(address) = &flags.to else {
        return usage(
            "name a collection with --to URL or FLASHMARK_COLLECTION; --show prints what would be sent",
        );
    };
    let token = token(flags);
    for id in flags.replace.iter().chain(&flags.withdraw) {
        if id.is_empty()
            || !id
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        {
            return usage(format_args!(
                "'{}' is no id of a run in a collection; its page ends with it",
                printable(id)
            ));
        }
        if token.is_none() {
            return usage(
                "only who sent a run can change it: give the token that was printed then with --token or FLASHMARK_TOKEN",
            );
        }
    }
    CollectionServer::at(address, token)
}

/// Summary of what would be sent; `what` names the receiver.
fn announced(document: &SubmissionDocument, what: &str, keys: Option<&KeyFile>) -> String {
    let run = &document.run;
    let mut lines = vec![
        ("Medium", medium(run)),
        ("Label", run.label.clone().unwrap_or_default()),
        ("Measured", measured(run)),
    ];
    lines.push(("Host", host(run)));
    lines.push(("Results", results(run)));
    lines.extend(keys.map(|keys| ("Keys", keys.announced(run))));
    lines.push((
        "Size",
        format!(
            "{}, {} packed",
            Bytes(document.json.len() as u64),
            Bytes(document.packed.len() as u64)
        ),
    ));
    lines.push((
        "Not sent",
        "serial number and registers of the medium, paths, and names of this machine and its users"
            .to_owned(),
    ));
    if document.blanked > 0 {
        lines.push((
            "Blanked",
            format!("what told one of these, in {} of the texts", document.blanked),
        ));
    }
    let lines = lines
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!("  {name:<9} {}\n", printable(&text)));
    format!(
        "{what}\n{}`flashmark submit RUN --show` prints all of it: {} lines of JSON.\n",
        lines.collect::<String>(),
        document.json.lines().count(),
    )
}

fn medium(run: &Published) -> String {
    let mut words = vec![run.name(), format!("({})", run.kind.words())];
    words.extend(run.capacity_bytes.map(|bytes| Bytes(bytes).to_string()));
    words.extend(run.interface_words());
    words.extend(run.firmware.as_ref().map(|firmware| format!("firmware {firmware}")));
    words.join(" ")
}

fn measured(run: &Published) -> String {
    let mut words = vec![
        format!("by {} {}", run.software.name, run.software.version).trim_end().to_owned(),
        format!("suite {}", run.suite),
    ];
    words.extend(run.started.clone());
    words.push(format!("took {}", Nanos(run.elapsed_ns)));
    words.join(", ")
}

fn host(run: &Published) -> String {
    let mut words: Vec<String> =
        [&run.board, &run.cpu, &run.arch].into_iter().flatten().cloned().collect();
    words.extend(run.kernel.as_ref().map(|kernel| format!("kernel {kernel}")));
    words.extend(run.filesystem.clone());
    words.join(", ")
}

fn results(run: &Published) -> String {
    let counted = |n: usize, one: &str, many: &str| match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    };
    let parts = [
        counted(
            run.cells.len(),
            "cell with its latencies and curves",
            "cells with their latencies and curves",
        ),
        counted(run.skipped.len(), "left out", "left out"),
        counted(run.findings.len(), "finding", "findings"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Asks for consent, if someone is there to answer.
fn agreed(question: &str, yes: bool) -> Result<()> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return refuse(
            "nothing was sent: without a terminal nobody can confirm; add --yes to send without a question",
        );
    }
    crate::say_text!("{question} [y/N] ");
    std::io::stderr().flush().or_internal()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).or_internal()?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        refuse("nothing was sent")
    }
}

/// Outcome of a submission, in a few lines.
fn receipt_text(receipt: &ServerReceipt, server: &CollectionServer, name: &str) -> String {
    let mut text = match (receipt.is_new, receipt.revision) {
        (false, _) => format!("It is there already: {}\n", server.page(receipt)),
        (true, 0 | 1) => format!("Sent: {}\n", server.page(receipt)),
        (true, revision) => format!("Replaced: {} (revision {revision})\n", server.page(receipt)),
    };
    let (id, status) = (printable(&receipt.id), printable(&receipt.status));
    text += &match status.as_str() {
        "accepted" => "It is in the collection.\n".to_owned(),
        "quarantined" => "Someone will look at it before it is in the collection:\n".to_owned(),
        other => format!("Its status is '{other}'.\n"),
    };
    for reason in &receipt.reasons {
        text += &format!("  - {}\n", printable(reason));
    }
    if let Some(token) = &receipt.edit_token {
        let (token, to, name) = (printable(token), server.name(), quoted(name));
        text += &format!(
            "\nTo change or withdraw it later, keep this token; it is shown only once:\n  {token}\n"
        );
        text += &format!(
            "  FLASHMARK_TOKEN={token} flashmark submit {name} --to {to} --replace {id}\n"
        );
        text += &format!("  FLASHMARK_TOKEN={token} flashmark submit --withdraw {id} --to {to}\n");
    }
    text
}

/// A name quoted for the shell.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("'{}'", printable(name).replace('\'', r"'\''"))
    }
}
