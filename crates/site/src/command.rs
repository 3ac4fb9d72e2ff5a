//! The command line of `flashmark-site`.

use std::io::{self, BufRead as _, Write as _};
use std::net::IpAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use record::text::printable;
use rustix::process::{Resource, getrlimit, setrlimit};
use store::collection::{Address, Collection, Token, TokenKind};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::base::Base;
use crate::open_connections;
use crate::problem::Problem;
use crate::quota;
use crate::rate_limit;
use crate::serve::serve;
use crate::state::{App, Quarantine, ServerOptions, now, secret};
use ::collection::UploadLimits;

/// File descriptors to request: one for each connection, and a few for the collection.
const DESCRIPTORS: u64 = 8192;
/// Exit code if the command line is wrong, or the collection cannot be opened.
const USAGE: u8 = 2;
/// Exit code if the server or `check` fails.
const INTERNAL: u8 = 5;

/// Flashmark collection as a web service. Without any flags: a collection in the file flashmark.db,
/// at http://127.0.0.1:8080.
#[derive(Debug, Parser)]
#[command(name = "flashmark-site", version, args_conflicts_with_subcommands = false)]
pub struct Flags {
    /// Address to listen at; port 0 takes a free port.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:8080",
        env = "FLASHMARK_SITE_LISTEN"
    )]
    listen: String,
    /// Database of the collection: sqlite:FILE, which is created if it does not exist, or
    /// postgres://USER@HOST/NAME.
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "sqlite:flashmark.db",
        global = true,
        env = "FLASHMARK_SITE_DATABASE",
        hide_env_values = true
    )]
    database: String,
    /// Public address of the site, for example https://example.org/cards/. Feed readers need it. If
    /// it has a path, all addresses begin with that path.
    #[arg(long, value_name = "URL", env = "FLASHMARK_SITE_BASE")]
    base: Option<Base>,
    /// Title of the site.
    #[arg(
        long,
        value_name = "WORDS",
        default_value = "Flashmark collection",
        env = "FLASHMARK_SITE_TITLE"
    )]
    title: String,
    /// Do not update the built-in reference data. Reference data in the collection stays.
    #[arg(long)]
    no_reference: bool,
    /// Submissions that wait for a moderator.
    #[arg(long, value_enum, default_value_t = Quarantine::Doubtful)]
    quarantine: Quarantine,
    /// Submissions per minute from one address without a token.
    #[arg(long, value_name = "COUNT", default_value_t = rate_limit::PER_MINUTE, value_parser = clap::value_parser!(u32).range(1..))]
    per_minute: u32,
    /// Submissions at once (burst) from one address without a token.
    #[arg(long, value_name = "COUNT", default_value_t = rate_limit::BURST, value_parser = clap::value_parser!(u32).range(1..))]
    burst: u32,
    /// Requests of all kinds per minute from one address, and as many at once; 0 for no limit.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    requests_per_minute: u32,
    /// Bytes stored per day from one address without a token; 0 for no limit.
    #[arg(long, value_name = "BYTES", default_value_t = quota::BYTES_PER_DAY)]
    bytes_per_day: u64,
    /// Bytes stored per day from all addresses without a token; 0 for no limit.
    #[arg(long, value_name = "BYTES", default_value_t = quota::BYTES_PER_DAY_ALL)]
    bytes_per_day_all: u64,
    /// Simultaneous connections from one address, proxies excepted; 0 for no limit.
    #[arg(long, value_name = "COUNT", default_value_t = open_connections::CONNECTIONS)]
    connections: usize,
    /// Address of a trusted proxy, whose X-Forwarded-For is used. May be given several times.
    #[arg(long, value_name = "ADDRESS")]
    proxy: Vec<IpAddr>,
    /// Time limit to receive a submission, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    body_timeout: u64,
    /// Time limit of a request in the queue, in seconds; for tests on a busy machine.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, hide = true)]
    turn_timeout: u64,
    /// Time limit to finish requests in progress when the server stops, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    grace: u64,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a token and print it once; only its hash is kept.
    Token(TokenFlags),
    /// Check the collection for faults: the audit, the lines, every run.
    Check,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct TokenFlags {
    /// Rights of the token.
    #[arg(long, value_enum, required = true)]
    kind: Option<Kind>,
    /// Name of the holder; it is public, in the audit.
    #[arg(long, value_name = "WORDS", required = true)]
    label: Option<String>,
    #[command(subcommand)]
    command: Option<TokenCommand>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// Submit under a name, without the limit for addresses.
    Api,
    /// Judge quarantined submissions, and any run.
    Moderator,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Revoke a token.
    Revoke {
        /// Token, or - to read it from standard input.
        token: String,
    },
}

/// Runs the command of these flags.
pub fn run(flags: Flags) -> ExitCode {
    let exit_with = |error: anyhow::Error, code: u8| {
        eprintln!("flashmark-site: {error:#}");
        ExitCode::from(code)
    };
    let collection = match open(&flags.database) {
        Ok(collection) => collection,
        Err(error) => return exit_with(error, USAGE),
    };
    match &flags.command {
        None => serve_until_signal(&flags, &collection)
            .map_or_else(|(error, code)| exit_with(error, code), |()| ExitCode::SUCCESS),
        Some(Command::Token(token)) => make_or_revoke(&collection, token)
            .map_or_else(|error| exit_with(error, USAGE), |()| ExitCode::SUCCESS),
        Some(Command::Check) => {
            check(&collection).unwrap_or_else(|error| exit_with(error, INTERNAL))
        }
    }
}

fn open(database: &str) -> Result<Collection> {
    Ok(Collection::open(&Address::parse(database)?)?)
}

fn options(flags: &Flags) -> ServerOptions {
    ServerOptions {
        title: flags.title.clone(),
        base: flags.base.clone(),
        quarantine: flags.quarantine,
        per_minute: flags.per_minute,
        burst: flags.burst,
        requests_per_minute: flags.requests_per_minute,
        bytes_per_day: flags.bytes_per_day,
        bytes_per_day_all: flags.bytes_per_day_all,
        connections: flags.connections,
        proxies: flags.proxy.iter().map(IpAddr::to_canonical).collect(),
        limits: UploadLimits::default(),
        body_time: Duration::from_secs(flags.body_timeout),
        answer_time: Duration::from_secs(flags.body_timeout + 60),
        turn_time: Duration::from_secs(flags.turn_timeout),
        ..ServerOptions::default()
    }
}

/// Serves until a signal ends it. The caller keeps the collection: its connections must be closed
/// after the runtime has ended.
fn serve_until_signal(flags: &Flags, collection: &Collection) -> Result<(), (anyhow::Error, u8)> {
    let usage = |error: anyhow::Error| (error, USAGE);
    if !flags.no_reference {
        collection
            .keep_reference(&import::reference::entries(), &now())
            .context("the reference data")
            .map_err(usage)?;
    }
    raise_descriptors();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime =
        runtime.context("threads cannot be started").map_err(|error| (error, INTERNAL))?;
    let app = App::new(collection.clone(), options(flags));
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(&flags.listen).await;
        let listener = listener
            .with_context(|| {
                format!("cannot listen at {}; choose another address with --listen", flags.listen)
            })
            .map_err(usage)?;
        let stop =
            stop().context("signals cannot be handled").map_err(|error| (error, INTERNAL))?;
        announce(&listener, collection).map_err(|error| (error, INTERNAL))?;
        serve(listener, app, Duration::from_secs(flags.grace), stop)
            .await
            .context("the server failed")
            .map_err(|error| (error, INTERNAL))
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
    served
}

fn announce(listener: &TcpListener, collection: &Collection) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "The collection is {}", collection.address())?;
    writeln!(out, "Listening on http://{}", listener.local_addr()?)?;
    Ok(out.flush()?)
}

/// Future that ends with the first signal; a second one ends the process at once.
fn stop() -> io::Result<impl Future<Output = ()>> {
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        either(&mut terminate, &mut interrupt).await;
        eprintln!("flashmark-site: stopping; requests in progress are finished first");
        tokio::spawn(async move {
            either(&mut terminate, &mut interrupt).await;
            std::process::exit(130);
        });
    })
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

/// Raises the limit of file descriptors to the number of connections, if allowed; fewer are no
/// error.
fn raise_descriptors() {
    let mut limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(DESCRIPTORS).min(DESCRIPTORS);
    if limit.current.is_some_and(|current| current < most) {
        limit.current = Some(most);
        // If it is refused, connections wait for each other a little earlier.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

fn make_or_revoke(collection: &Collection, flags: &TokenFlags) -> Result<()> {
    if let Some(TokenCommand::Revoke { token }) = &flags.command {
        return revoke(collection, token);
    }
    let (Some(kind), Some(label)) = (flags.kind, &flags.label) else {
        bail!("a token needs --kind and --label")
    };
    let label = printable(label);
    if label.is_empty() || label.chars().count() > 80 {
        bail!("the label must be a name of 1 to 80 characters; it is shown in the audit");
    }
    let kind = match kind {
        Kind::Api => TokenKind::Api,
        Kind::Moderator => TokenKind::Moderator,
    };
    let token = secret().map_err(error_of)?;
    let known = Token { kind, run: None, label: label.clone(), created: now(), revoked: None };
    collection.grant(&token, &known)?;
    collection.note(
        "operator",
        "made a token",
        None,
        &format!("{}: {label}", kind.name()),
        &now(),
    )?;
    eprintln!("The token of '{label}' ({}). It is shown only once:", kind.name());
    let mut out = io::stdout().lock();
    writeln!(out, "{token}")?;
    Ok(out.flush()?)
}

fn revoke(collection: &Collection, token: &str) -> Result<()> {
    let token = match token {
        "-" => io::stdin().lock().lines().next().transpose()?.unwrap_or_default(),
        token => token.to_owned(),
    };
    let known = collection.token(token.trim())?.context("this token is not known here")?;
    if !collection.revoke(token.trim(), &now())? {
        bail!("this token is already revoked");
    }
    let label = if known.label.is_empty() { known.run.unwrap_or_default() } else { known.label };
    collection.note(
        "operator",
        "revoked a token",
        None,
        &format!("{}: {label}", known.kind.name()),
        &now(),
    )?;
    eprintln!("The token of '{label}' ({}) is revoked.", known.kind.name());
    Ok(())
}

fn check(collection: &Collection) -> Result<ExitCode> {
    let faults = collection.check()?;
    let counts = collection.counts()?;
    let mut out = io::stdout().lock();
    for fault in &faults {
        writeln!(out, "{fault}")?;
    }
    let runs = counts.accepted + counts.quarantined + counts.rejected + counts.withdrawn;
    let state = if faults.is_empty() { "no faults" } else { "faults were found" };
    writeln!(out, "{runs} runs, {} lines: {state}", counts.lines)?;
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn error_of(problem: Problem) -> anyhow::Error {
    anyhow::anyhow!(problem.reason)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        Flags::command().debug_assert();
        let kind = |words: &[&str]| match Flags::try_parse_from(words).map(|flags| flags.command) {
            Ok(Some(Command::Token(TokenFlags {
                command: Some(TokenCommand::Revoke { token }),
                ..
            }))) => format!("revokes {token}"),
            Ok(Some(Command::Token(token))) => {
                format!("makes {:?} for {:?}", token.kind, token.label)
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => format!("{:?}", error.kind()),
        };
        assert_eq!(kind(&["flashmark-site"]), "None");
        assert_eq!(kind(&["flashmark-site", "check", "--database", "sqlite:x.db"]), "Some(Check)");
        let make = [
            "flashmark-site",
            "token",
            "--database",
            "sqlite:x.db",
            "--kind",
            "api",
            "--label",
            "a lab",
        ];
        assert_eq!(kind(&make), "makes Some(Api) for Some(\"a lab\")");
        assert_eq!(
            kind(&["flashmark-site", "token", "--kind", "edit", "--label", "x"]),
            "InvalidValue"
        );
        assert_eq!(kind(&["flashmark-site", "token", "--kind", "api"]), "MissingRequiredArgument");
        assert_eq!(kind(&["flashmark-site", "token", "revoke", "-"]), "revokes -");
        assert_eq!(kind(&["flashmark-site", "--base", "example.org"]), "ValueValidation");
    }
}
