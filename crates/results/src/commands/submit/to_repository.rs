//! Adding a run to a collection that is a repository: its record in the right place, and a pull
//! request of it, by the forge's own tool if it is there, else by printed commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use collection::UploadLimits;
use record::text::printable;
use report::display::shell_word;
use store::Store;

use crate::cli::SubmitFlags;
use crate::repository::{PackedRecord, Repository, is_account};
use program::exit::{OrExit, Result, refuse, usage};
use program::printing::print_document;

/// A collection by what was typed: a folder that may be changed in place, or an address that git
/// clones.
pub enum Place {
    Folder(PathBuf),
    Address(String),
}

impl Place {
    /// `None` if it is neither: OWNER/REPO is a repository of GitHub.
    pub fn of(typed: &str) -> Option<Place> {
        let dir = Path::new(typed);
        let is_bare = dir.join("HEAD").is_file() && dir.join("objects").is_dir();
        let starts = ["git@", "ssh://", "git://", "file://"];
        if dir.is_dir() && !is_bare {
            return Some(Place::Folder(dir.to_owned()));
        }
        if dir.is_dir() {
            return Some(Place::Address(dir.canonicalize().ok()?.display().to_string()));
        }
        if typed.ends_with(".git") || starts.iter().any(|start| typed.starts_with(start)) {
            return Some(Place::Address(typed.to_owned()));
        }
        let (owner, name) = typed.split_once('/')?;
        let is_both = is_account(&owner.to_lowercase()) && is_account(&name.to_lowercase());
        is_both.then(|| Place::Address(format!("https://github.com/{owner}/{name}.git")))
    }
}

/// A repository that a run is added to.
pub struct RepositoryTarget {
    repository: Repository,
    sender: String,
    /// The address that it was cloned from, and its branch for pull requests; `None` in a folder of
    /// one's own.
    upstream: Option<(String, String)>,
}

impl RepositoryTarget {
    /// Opens the repository, in its newest state, and finds the account of the sender.
    pub fn of(place: Place, flags: &SubmitFlags) -> Result<RepositoryTarget> {
        let (dir, upstream) = match place {
            Place::Folder(dir) => (dir, None),
            Place::Address(address) => {
                let (dir, branch) = newest(&address)?;
                (dir, Some((address, branch)))
            }
        };
        let repository = Repository::open(&dir).or_usage()?;
        let sender = match &flags.sender {
            Some(sender) => sender.clone(),
            None => account(&dir)?,
        }
        .to_lowercase();
        if !is_account(&sender) {
            return usage(format_args!("'{}' is no account of a forge", printable(&sender)));
        }
        Ok(RepositoryTarget { repository, sender, upstream })
    }

    /// What the record is added to, for people.
    pub fn name(&self) -> String {
        let dir = || self.repository.dir().display().to_string();
        printable(&self.upstream.as_ref().map_or_else(dir, |(address, _)| address.clone()))
    }

    /// Writes the record and makes a pull request of it, or prints how.
    pub fn add(&self, record: &PackedRecord) -> Result<()> {
        let PackedRecord { run, bytes, .. } = record;
        let upload = match collection::read(bytes, &UploadLimits::default()) {
            Ok(upload) => upload,
            Err(rejection) => {
                let why = rejection.to_string();
                return usage(format_args!("it would be refused: {}", printable(&why)));
            }
        };
        let id = collection::content_name(&upload.run);
        let path = self.repository.place(&self.sender, &id);
        if path.exists() {
            let path = path.display().to_string();
            return refuse(format_args!("it is there already: {}", printable(&path)));
        }
        for caveat in &upload.caveats {
            program::say!("A person will have to look at it: {}", printable(caveat));
        }
        let request = PullRequest {
            target: self,
            branch: format!("{}-{id}", self.sender),
            place: self.repository.place_of(&path).display().to_string(),
            subject: subject(&run.name()),
        };
        match &self.upstream {
            None => {
                crate::repository::write(&path, bytes).or_internal()?;
                print_document(&request.in_place())
            }
            Some((address, base)) => {
                let dir = self.repository.dir();
                git(
                    dir,
                    &["checkout", "--quiet", "-B", &request.branch, &format!("origin/{base}")],
                )?;
                crate::repository::write(&path, bytes).or_internal()?;
                request.commit()?;
                request.send(address, base)
            }
        }
    }
}

/// A subject without anything that a shell would read.
fn subject(medium: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || " .,+-()".contains(c) { c } else { ' ' };
    printable(&format!("Add {medium}").chars().map(plain).collect::<String>())
}

/// A record on its way into a repository of others.
struct PullRequest<'a> {
    target: &'a RepositoryTarget,
    branch: String,
    /// Path of the record in the repository.
    place: String,
    subject: String,
}

impl PullRequest<'_> {
    fn dir(&self) -> &Path {
        self.target.repository.dir()
    }

    fn in_place(&self) -> String {
        let (dir, place) = (self.dir().display(), &self.place);
        let git = shell_word(&dir.to_string());
        let subject = &self.subject;
        format!(
            "Written: {dir}/{place}\nTo keep it:\n  git -C {git} add {place}\n  git -C {git} commit -m \"{subject}\"\n"
        )
    }

    /// The commit names the account and no address of the sender.
    fn commit(&self) -> Result<()> {
        let sender = &self.target.sender;
        let (name, email) =
            (format!("user.name={sender}"), format!("user.email={sender}@noreply.invalid"));
        git(self.dir(), &["add", "--", &self.place])?;
        git(self.dir(), &["-c", &name, "-c", &email, "commit", "--quiet", "-m", &self.subject])?;
        Ok(())
    }

    /// Sends it by the tool of the forge, or prints how to send it.
    fn send(&self, address: &str, base: &str) -> Result<()> {
        let fork = Fork::of(address, &self.target.sender);
        let (dir, branch, subject) = (self.dir(), &self.branch, &self.subject);
        let head = format!("{}:{branch}", self.target.sender);
        let by_tool = fork.owner.as_ref().and_then(|of| {
            let (fork_it, request, text) = if has("gh") {
                (["gh", "repo", "fork", of, "--clone=false"], ["gh", "pr", "create"], "--body")
            } else if has("tea") {
                (
                    ["tea", "repos", "fork", "--repo", of],
                    ["tea", "pulls", "create"],
                    "--description",
                )
            } else {
                return None;
            };
            let body = "One record, by flashmark-collection submit.";
            let what = ["--base", base, "--head", &head, "--title", subject, text, body];
            let request = [&request[..], &["--repo", of], &what].concat();
            let forked = ran(dir, &fork_it);
            let pushed =
                forked.and_then(|_| ran(dir, &["git", "push", "--quiet", &fork.address, branch]));
            Some(pushed.and_then(|_| ran(dir, &request)))
        });
        match by_tool {
            Some(Ok(said)) => {
                return print_document(&format!("Sent: {}\n", printable(said.trim())));
            }
            Some(Err(why)) => program::say!("{} It can be sent by hand:", printable(&why)),
            None => {}
        }
        print_document(&format!(
            "To send it:\n  {}\n  git -C {} push {} {branch}\n  {}\n",
            fork.made,
            shell_word(&dir.display().to_string()),
            shell_word(&fork.address),
            fork.asked(base, &head)
        ))
    }
}

/// The sender's copy of a repository.
struct Fork {
    /// OWNER/REPO of the original on a forge; `None` for a path.
    owner: Option<String>,
    address: String,
    /// How it is made.
    made: String,
    /// Address of the original's pages.
    pages: String,
}

impl Fork {
    fn of(address: &str, sender: &str) -> Fork {
        let whole = address.trim_end_matches('/').trim_end_matches(".git");
        let pages = whole
            .replace("git@", "https://")
            .replacen(".org:", ".org/", 1)
            .replacen(".com:", ".com/", 1);
        let mut parts = whole.rsplitn(3, ['/', ':']);
        let (name, owner, start) = (parts.next(), parts.next(), parts.next());
        let is_path = whole.starts_with('/') || whole.starts_with("file:");
        match (name, owner, start) {
            (Some(name), Some(owner), Some(start)) if !is_path => {
                let between = &whole[start.len()..=start.len()];
                Fork {
                    owner: Some(format!("{owner}/{name}")),
                    address: format!("{start}{between}{sender}/{name}.git"),
                    made: format!("open {pages}/fork"),
                    pages,
                }
            }
            _ => {
                let copy = format!("{}-{sender}.git", whole.trim_start_matches("file://"));
                let made =
                    format!("git clone --bare {} {}", shell_word(address), shell_word(&copy));
                Fork { owner: None, address: copy, made, pages }
            }
        }
    }

    /// How its owner is asked to take a branch.
    fn asked(&self, base: &str, head: &str) -> String {
        match self.owner {
            Some(_) => format!("open {}/compare/{base}...{head}", self.pages),
            None => format!("and tell the owner: {} {head}", self.address),
        }
    }
}

/// A clone of a collection among the files of this program, in its newest state; and the name of
/// its main branch.
fn newest(address: &str) -> Result<(PathBuf, String)> {
    let digest = crate::commands::publish::TextDigest::default().with(address).text();
    let dir = Store::default_root().join(".collections").join(&digest[..16]);
    if dir.join(".git").exists() {
        git(&dir, &["fetch", "--quiet", "--prune", "origin"])?;
    } else {
        std::fs::create_dir_all(&dir).or_internal()?;
        program::say!("A copy of {} ..", printable(address));
        git(&dir, &["clone", "--quiet", "--no-checkout", "--", address, "."])?;
    }
    let branches = git(&dir, &["branch", "--remotes", "--format=%(refname:lstrip=3)"])?;
    let head = git(&dir, &["ls-remote", "--symref", "origin", "HEAD"]).unwrap_or_default();
    let head =
        head.lines().find_map(|line| line.strip_prefix("ref: refs/heads/")?.split('\t').next());
    let names: Vec<&str> = branches.lines().filter(|name| *name != "HEAD").collect();
    let wanted = head.into_iter().chain(["main", "master"]);
    let Some(base) =
        wanted.into_iter().find(|name| names.contains(name)).or(names.first().copied())
    else {
        return usage(format_args!(
            "'{}' has no branch yet: it is no collection",
            printable(address)
        ));
    };
    git(&dir, &["checkout", "--quiet", "--detach", "--force", &format!("origin/{base}")])?;
    Ok((dir, base.to_owned()))
}

/// The account that the tool of the forge is signed in with, or that git knows.
fn account(dir: &Path) -> Result<String> {
    let tools: [&[&str]; 2] =
        [&["gh", "api", "user", "--jq", ".login"], &["git", "config", "github.user"]];
    let names = tools.iter().filter_map(|tool| ran(dir, tool).ok());
    let name = names.map(|name| name.trim().to_owned()).find(|name| !name.is_empty());
    match name {
        Some(name) => Ok(name),
        None => usage(
            "which account of the forge sends it? Say --sender ACCOUNT, or: git config --global github.user ACCOUNT",
        ),
    }
}

fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|ran| ran.status.success())
}

/// Output of a tool in a directory, or what it says on standard error.
fn ran(dir: &Path, words: &[&str]) -> std::result::Result<String, String> {
    let ran = Command::new(words[0]).args(&words[1..]).current_dir(dir).output();
    let ran = ran.map_err(|error| format!("{} cannot be started: {error}.", words[0]))?;
    match ran.status.success() {
        true => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
        false => Err(format!("{}: {}.", words[0], String::from_utf8_lossy(&ran.stderr).trim())),
    }
}

fn git(dir: &Path, words: &[&str]) -> Result<String> {
    ran(dir, &[&["git"], words].concat()).map_err(|why| anyhow::anyhow!(printable(&why))).or_usage()
}
