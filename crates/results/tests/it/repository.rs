//! A collection without a server: from a run to a line on a page of a repository, by the commands
//! that a contributor types and the steps of its workflow.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Flashmark, Ran, Scratch, has_tool, on_one_line, tool};

/// A bare repository with a fresh collection in it, as a forge hosts it, and a place for clones.
struct Forge {
    scratch: Scratch,
    flashmark: Flashmark,
}

impl Forge {
    /// `None` without git, which is printed.
    fn new() -> Option<Forge> {
        if !has_tool("git") {
            return None;
        }
        let forge = Forge { scratch: Scratch::new(), flashmark: Flashmark::new() };
        let (bare, owner) = (forge.word("cards.git"), forge.word("owner"));
        // Its branch is not the one that the forge expected.
        tool("git", &["init", "--quiet", "--bare", "-b", "master", &bare]);
        forge.flashmark.done(&["init", &owner, "--title", "Our cards"]);
        forge.git("owner", &["init", "--quiet", "-b", "main"]);
        forge.commit("owner", "Begin a collection");
        forge.git("owner", &["push", "--quiet", &bare, "main"]);
        Some(forge)
    }

    fn word(&self, name: &str) -> String {
        self.scratch.at(name).to_str().unwrap().to_owned()
    }

    fn git(&self, dir: &str, words: &[&str]) -> String {
        let dir = self.word(dir);
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        tool("git", &[["-C", &dir].as_slice(), &who, words].concat())
    }

    fn commit(&self, dir: &str, subject: &str) {
        self.git(dir, &["add", "-A"]);
        self.git(dir, &["commit", "--quiet", "-m", subject]);
    }

    /// Clones the repository under this name, changes something and commits it.
    fn change(&self, dir: &str, change: impl FnOnce(&Path)) {
        let words = ["clone", "--quiet", "-b", "main"];
        tool("git", &[&words[..], &[&self.word("cards.git"), &self.word(dir)]].concat());
        change(&self.scratch.at(dir));
        self.commit(dir, "Change something");
    }

    /// Output of the pull request's workflow for a clone.
    fn checked(&self, dir: &str, sender: &str) -> Ran {
        let words = ["validate", &self.word(dir), "--sender", sender];
        self.flashmark.run(&[words.as_slice(), &["--since", "origin/main"]].concat())
    }

    /// A record that names no simulated medium and is accepted: it has too few I/Os to tell.
    /// `change` makes a different record of it.
    fn record(&self, name: &str, change: impl FnOnce(&mut serde_json::Value)) -> String {
        let text = fs::read_to_string(crate::submit::RECORD).unwrap();
        let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
        record["medium"]["kind"] = "sd".into();
        record["medium"]["vendor"] = "SanDisk".into();
        record["medium"]["model"] = "SD32G".into();
        record["medium"]["profile"] = serde_json::Value::Null;
        record["target"]["kind"] = "block".into();
        record["target"]["engine"] = "io_uring".into();
        change(&mut record);
        let file = self.scratch.file(name, record.to_string());
        file.to_str().unwrap().to_owned()
    }

    fn submit(&self, record: &str, dir: &str, sender: &str) -> Ran {
        let words = ["submit", record, "--to", &self.word(dir), "--sender", sender, "--yes"];
        self.flashmark.run(&words)
    }
}

fn records(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for sender in fs::read_dir(dir.join("records")).unwrap().map(|entry| entry.unwrap().path()) {
        if sender.is_dir() {
            found.extend(fs::read_dir(sender).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

/// What `gh` does, in a folder instead of GitHub.
const GH: &str = r#"#!/bin/sh
case "$1 $2" in
    "api user") echo Ada ;;
    "repo fork") test -e "$FORGE/ada" || git clone -q --bare "$FORGE/our/cards.git" "$FORGE/ada/cards.git" ;;
    "pr create") echo "$@" >> "$FORGE/asked"; echo https://github.com/our/cards/pull/1 ;;
esac
"#;

/// Two commands, with the forge's tool, lead from a run to a pull request; what they print without
/// it leads there too.
#[test]
fn a_run_becomes_a_line_of_a_published_page() {
    let Some(forge) = Forge::new() else { return };
    let hub = forge.scratch.directory("hub");
    fs::create_dir(hub.join("our")).unwrap();
    fs::rename(forge.scratch.at("cards.git"), hub.join("our/cards.git")).unwrap();
    let tools = forge.scratch.directory("tools");
    let gh = forge.scratch.file("tools/gh", GH);
    fs::set_permissions(&gh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let new_user = Flashmark::new();
    let submit = |medium: &str, to: &str, path: String| {
        new_user.done(&["run", &format!("sim:{medium}"), "--suite", "quick"]);
        let mut command = new_user.command(&["submit", "latest", "--to", to, "--yes"]);
        command.env("PATH", path).env("FORGE", &hub).env("GIT_CONFIG_COUNT", "2");
        command.env("GIT_CONFIG_KEY_0", format!("url.{}/.insteadOf", hub.display()));
        command.env("GIT_CONFIG_VALUE_0", "https://github.com/");
        command.env("GIT_CONFIG_KEY_1", "github.user").env("GIT_CONFIG_VALUE_1", "Ada");
        Ran::of(&mut command)
    };
    let path = std::env::var("PATH").unwrap();
    for (at, medium) in ["a1", "class10"].iter().enumerate() {
        let sent = submit(medium, "our/cards", format!("{}:{path}", tools.display()));
        assert_eq!(sent.out, "Sent: https://github.com/our/cards/pull/1\n", "{sent}");
        let asked = fs::read_to_string(hub.join("asked")).unwrap();
        let head = asked.lines().nth(at).unwrap().split("--head ada:").nth(1).unwrap();
        let branch = head.split(' ').next().unwrap();
        // The pull request, of one record on the newest main branch.
        forge.git(
            "owner",
            &["fetch", "--quiet", hub.join("ada/cards.git").to_str().unwrap(), branch],
        );
        forge.git("owner", &["checkout", "--quiet", "FETCH_HEAD"]);
        let words = ["validate", &forge.word("owner"), "--since", "main", "--sender"];
        let checked = forge.flashmark.run(&[&words[..], &["Ada"]].concat());
        assert!(checked.out.contains("1 record taken, 0 wrong"), "{checked}");
        let stolen = forge.flashmark.run(&[&words[..], &["mallory"]].concat());
        assert_eq!(stolen.code, Some(1), "it is ada's record");
        assert!(!forge.git("owner", &["log", "-1", "--format=%ae"]).contains("example.org"));
    }
    let runs = new_user.done(&["runs"]);
    assert!(!runs.out.contains("collections"), "the copy of a collection is no run: {runs}");
    // By hand: a copy of a repository in a folder.
    let bare = hub.join("our/cards.git");
    let sent = submit("a1", bare.to_str().unwrap(), path);
    let typed = sent.out.lines().filter(|line| line.starts_with("  git ")).collect::<Vec<_>>();
    assert_eq!(typed.len(), 2, "{sent}");
    for line in typed {
        tool("sh", &["-c", line]);
    }
    let branches = tool("git", &["-C", hub.join("our/cards-ada.git").to_str().unwrap(), "branch"]);
    assert!(branches.contains("ada-"), "{branches}");
    // The maintainer merges it, and the workflow publishes.
    forge.git("owner", &["checkout", "--quiet", "-B", "main"]);
    forge.flashmark.done(&["publish", &forge.word("site"), "--collection", &forge.word("owner")]);
    let page = fs::read_to_string(forge.scratch.at("site/simulated.html")).unwrap();
    assert!(page.contains("class10"), "{page}");
}

/// Writes a file of a clone, and its directories.
fn put(dir: &Path, place: &str, text: impl AsRef<[u8]>) {
    let path = dir.join(place);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Adds another repository below the records.
fn add_link(dir: &Path) {
    let link = format!("160000,{},records/mallory/sub", "1".repeat(40));
    let words = ["-C", dir.to_str().unwrap(), "update-index", "--add", "--cacheinfo", &link];
    tool("git", &words);
    fs::create_dir_all(dir.join("records/mallory/sub")).unwrap();
    put(dir, "records/mallory/x.json.gz", "x");
}

fn add_reference(dir: &Path, sender: &str) {
    let record = of_reference();
    let name = record.file_name().unwrap().to_str().unwrap();
    put(dir, &format!("records/{sender}/{name}"), fs::read(&record).unwrap());
}

fn name_reference(dir: &Path) {
    let text = fs::read_to_string(dir.join(SETTINGS)).unwrap();
    put(dir, SETTINGS, text.replace("published", "mallory"));
}

/// A change of a clone, who sends it, and what is printed.
type Change = (fn(&Path), &'static str, &'static str);

const ONLY: &str = "changes files below records/mallory/ only";
const NO_RECORD: &str = "refused: a record is records/ACCOUNT";
const OF_MAINTAINERS: &str = "published has reference data, which maintainers change";

const CHANGES: [Change; 11] = [
    (|dir| fs::remove_file(&records(dir)[0]).unwrap(), "mallory", ONLY),
    (|dir| fs::remove_file(&records(dir)[0]).unwrap(), "ada", "0 records taken, 0 wrong"),
    (
        |dir| fs::rename(dir.join("records/ada"), dir.join("records/mallory")).unwrap(),
        "mallory",
        ONLY,
    ),
    (|dir| put(dir, "accepted.txt", "anything mine\n"), "mallory", "accepted.txt: refused"),
    (|dir| put(dir, ".github/workflows/validate.yml", ""), "mallory", "validate.yml: refused"),
    (name_reference, "mallory", "flashmark-collection.json: refused"),
    (|dir| put(dir, "records/mallory/deep/x.json.gz", "x"), "mallory", NO_RECORD),
    (add_link, "mallory", "records/mallory/sub: refused: a record is records/"),
    (|dir| add_reference(dir, "published"), "mallory", OF_MAINTAINERS),
    (|dir| add_reference(dir, "published"), "published", OF_MAINTAINERS),
    (
        |dir| (0..101).for_each(|at| put(dir, &format!("records/mallory/x{at}.json.gz"), "x")),
        "mallory",
        "101 files change; at most 100 are looked at",
    ),
];

#[test]
fn a_pull_request_changes_records_of_its_sender_only() {
    let Some(forge) = Forge::new() else { return };
    set_reference(&forge, "published");
    let sent = forge.submit(&forge.record("card.json", |_| ()), "owner", "ada");
    assert_eq!(sent.code, Some(0), "{sent}");
    forge.commit("owner", "Add a card");
    forge.git("owner", &["push", "--quiet", &forge.word("cards.git"), "main"]);
    for (at, (change, sender, printed)) in CHANGES.into_iter().enumerate() {
        let dir = format!("change-{at}");
        forge.change(&dir, change);
        let checked = forge.checked(&dir, sender);
        assert!(checked.flat().contains(printed), "{at} {printed}: {checked}");
        assert_eq!(checked.code, Some(i32::from(!printed.ends_with("0 wrong"))), "{checked}");
    }
}

/// A pull request is judged by the workflow of the main branch: a workflow of its own could accept
/// everything.
#[test]
fn a_pull_request_is_judged_by_the_workflow_of_the_main_branch() {
    let scratch = Scratch::new();
    let dir = scratch.at("cards");
    Flashmark::new().done(&["init", dir.to_str().unwrap()]);
    let text = fs::read_to_string(dir.join(".github/workflows/validate.yml")).unwrap();
    let workflow = &yaml_rust2::YamlLoader::load_from_str(&text).unwrap()[0];
    assert_eq!(workflow["on"].as_str(), Some("pull_request_target"), "{text}");
    assert_eq!(workflow["permissions"]["contents"].as_str(), Some("read"));
    let steps = workflow["jobs"]["validate"]["steps"].as_vec().unwrap();
    let checkout = steps.iter().position(|step| step["uses"].as_str().is_some()).unwrap();
    assert_eq!(steps[checkout]["with"]["persist-credentials"].as_bool(), Some(false));
    let run: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    let commands: Vec<&str> = run
        .iter()
        .flat_map(|run| run.lines())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let from_main = ["git", "curl", "echo", "tar", "test", "../bin/flashmark-collection"];
    assert_eq!(commands, from_main, "nothing of the pull request is run");
    assert!(run[0].starts_with("git show HEAD^1:flashmark-collection.json"), "{run:?}");
    assert!(run[1].contains("validate . --sender \"$SENDER\" --since HEAD^1"), "{run:?}");
    for name in ["validate", "publish"] {
        let text = fs::read_to_string(dir.join(format!(".github/workflows/{name}.yml"))).unwrap();
        let used = text
            .lines()
            .filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "));
        for action in used {
            let (_, commit) = action.split_once('@').unwrap();
            assert!(commit.len() > 40 && commit.as_bytes()[40] == b' ', "{action}");
        }
    }
    let reference = steps[checkout]["with"]["ref"].as_str().unwrap();
    assert!(reference.starts_with("refs/pull/") && reference.ends_with("/merge"), "{reference}");
}

/// Standard error of a publish of the owner's collection, on one line.
fn published(forge: &Forge) -> String {
    let site = forge.word("site");
    let words = ["publish", &site, "--collection", &forge.word("owner"), "--no-reference"];
    let ran = forge.flashmark.run(&words);
    assert_eq!(ran.code, Some(0), "{ran}");
    on_one_line(&ran.err)
}

#[test]
fn links_that_lead_nowhere_and_empty_directories_are_named() {
    let Some(forge) = Forge::new() else { return };
    let good = forge.record("good.json", |_| ());
    assert_eq!(forge.submit(&good, "owner", "ada").code, Some(0));
    let link_to = |to: &str, place: &str| {
        let place = forge.scratch.at("owner/records").join(place);
        std::os::unix::fs::symlink(to, place).unwrap();
    };
    let link = |place: &str| link_to("/nonexistent", place);
    link("cem");
    link_to("ada", "dee");
    forge.scratch.directory("owner/records/bob");
    link("ada/aaaaaaaaaaaaaaaa.json.gz");
    forge.scratch.directory("owner/records/ada/bbbbbbbbbbbbbbbb.json.gz");
    let stderr = published(&forge);
    for place in ["cem", "bob", "ada/aaaaaaaaaaaaaaaa.json.gz", "ada/bbbbbbbbbbbbbbbb.json.gz"] {
        let named = format!("records/{place} is left out: refused: a record is");
        assert!(stderr.contains(&named), "{place}: {stderr}");
    }
    let words = ["validate", &forge.word("owner")];
    let checked = forge.flashmark.run(&words);
    // A directory is empty where all of a sender's records were taken out.
    assert!(checked.out.contains("records/cem: refused"), "{checked}");
    assert!(checked.out.contains("records/dee: refused"), "{checked}");
    assert!(checked.out.contains("1 record taken, 3 wrong"), "{checked}");
}

#[test]
fn a_name_is_shown_once_a_maintainer_lists_it_and_no_time_to_come() {
    let Some(forge) = Forge::new() else { return };
    let card = forge.record("card.json", |record| {
        record["run"]["started"] = "9998-01-01T00:00:00Z".into();
        record["medium"]["model"] = "Unheard of".into();
    });
    assert_eq!(forge.submit(&card, "owner", "zoe").code, Some(0));
    let table = || {
        published(&forge);
        fs::read_to_string(forge.scratch.at("site/data/table.json")).unwrap()
    };
    assert!(!table().contains("Unheard") && table().contains("\"SD card 8 GB\""), "{}", table());
    assert!(!table().contains("9998") && !table().contains("1970"), "{}", table());
    let names = "[[medium]]\nkind = \"sd\"\nvendor = \"SanDisk\"\nmodel = \"Unheard of\"\n";
    put(&forge.scratch.at("owner"), "names.toml", names);
    assert!(table().contains("SanDisk Unheard of 8 GB"), "{}", table());
}

/// The project's own repository of reference data.
const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference");

/// Origins of the lines of a published tree: slug and origin.
fn origins(site: &Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(site.join("data/collection.json")).unwrap();
    let collection: serde_json::Value = serde_json::from_str(&text).unwrap();
    let word = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap().to_owned();
    let lines = collection["lines"].as_array().unwrap();
    lines.iter().map(|line| (word(line, "slug"), word(line, "origin"))).collect()
}

#[test]
fn the_reference_data_are_published_by_the_commands_of_the_workflow() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let reference = scratch.at("reference");
    std::os::unix::fs::symlink(REFERENCE, reference).unwrap();
    let root = Path::new(REFERENCE).parent().unwrap();
    let workflow = fs::read_to_string(root.join(".github/workflows/reference.yml")).unwrap();
    let steps: Vec<&str> = workflow
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- run: target/release/flashmark-collection "))
        .collect();
    assert_eq!(steps.len(), 2, "{workflow}");
    for step in steps {
        let words: Vec<&str> = step.split(' ').collect();
        let ran = Ran::of(flashmark.command(&words).current_dir(scratch.path()));
        assert_eq!(ran.code, Some(0), "{step}: {ran}");
        assert!(!ran.err.contains("left out"), "{step}: {ran}");
    }
    let site = scratch.at("site");
    let lines = origins(&site);
    assert!(lines.len() > 100, "{lines:?}");
    for (slug, origin) in &lines {
        assert_eq!(origin, "reference", "{slug}");
        let page = fs::read_to_string(site.join(format!("medium/{slug}.html"))).unwrap();
        assert!(page.contains("with the source at each run"), "{slug}");
    }
    let card = fs::read_to_string(site.join("medium/duracell-300x-udma-8-gb-reference.html"));
    let card = card.unwrap_or_else(|_| panic!("{lines:?}"));
    assert!(card.contains("href=\"http"), "its source is linked: {card}");
    let index = fs::read_to_string(site.join("index.html")).unwrap();
    assert!(index.contains("Published measurements of flash"), "{index}");
    let list = fs::read_to_string(site.join("reference.html")).unwrap();
    assert!(list.contains("-reference.html"), "{list}");
    let data = fs::read_to_string(site.join("data/collection.json")).unwrap();
    assert!(data.contains("\"senders\":0") && !data.contains("\"senders\":1"), "{data}");
    let table = fs::read_to_string(site.join("data/table.json")).unwrap();
    assert!(lines.iter().all(|(slug, _)| table.contains(&format!("[\"{slug}\""))), "{table}");
}

const SETTINGS: &str = "flashmark-collection.json";

/// Marks the records of an account as reference data, as a maintainer does.
fn set_reference(forge: &Forge, account: &str) {
    let settings = forge.scratch.at("owner").join(SETTINGS);
    let text = fs::read_to_string(&settings).unwrap();
    let marked = format!("\"reference\": [\"{account}\"],\n  \"title\"");
    fs::write(settings, text.replace("\"title\"", &marked)).unwrap();
}

/// The path of a record of the project's reference data.
fn of_reference() -> PathBuf {
    let mut found = records(Path::new(REFERENCE));
    found.sort();
    found.remove(0)
}

#[test]
fn no_record_makes_itself_reference_data() {
    let Some(forge) = Forge::new() else { return };
    set_reference(&forge, "published");
    // A copy of it comes first by its name; another says of itself all that the record of a
    // publication does.
    for account in ["published", "abe"] {
        add_reference(&forge.scratch.at("owner"), account);
    }
    let claims = forge.record("claims.json", |record| {
        record["run"]["software"]["name"] = "iozone".into();
        record["run"]["suite"] = "published".into();
        let source = "published by others, 2012-01-25: https://example.org/mine";
        record["flags"] = serde_json::json!([{ "flag": "note", "text": source }]);
        record["origin"] = "reference".into();
    });
    let sent = forge.submit(&claims, "owner", "mallory");
    assert_eq!(sent.code, Some(0), "{sent}");
    let stderr = published(&forge);
    assert!(!stderr.contains("left out"), "{stderr}");
    let mut lines = origins(&forge.scratch.at("site"));
    lines.sort_by(|a, b| a.1.cmp(&b.1));
    let found: Vec<&str> = lines.iter().map(|(_, origin)| origin.as_str()).collect();
    assert_eq!(found, ["imported", "reference"], "{lines:?}");
    let page = forge.scratch.at(&format!("site/medium/{}.html", lines[0].0));
    let page = fs::read_to_string(page).unwrap();
    assert!(!page.contains("href=\"https://example.org/mine"), "{page}");
}

#[test]
fn an_account_that_no_forge_has_is_an_error_of_the_maintainer() {
    let Some(forge) = Forge::new() else { return };
    set_reference(&forge, "../x");
    let checked = forge.flashmark.run(&["validate", &forge.word("owner")]);
    assert_eq!(checked.code, Some(2), "{checked}");
}
