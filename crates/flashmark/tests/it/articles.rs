//! The five articles: the findings of each, and a medium beside the figures of one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use record::{Cell, nearest_command, quantities};
use report::articles::{ARTICLES, Article};

use crate::support::{Flashmark, Scratch};

/// A card that has figures of two columns of article 004.
fn with_card() -> Flashmark {
    let flashmark = Flashmark::new();
    let only = "sector-write,zero-fill";
    flashmark.done(&["run", "sim:class10", "--suite", "seeds", "--only", only, "--quiet"]);
    flashmark
}

fn cells(article: &Article) -> Vec<Cell> {
    report::reference::article(article).into_iter().flat_map(|run| run.cells).collect()
}

/// Every number in a text: "107", "21.5".
fn numbers(text: &str) -> BTreeSet<String> {
    let tokens = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let tokens = tokens.map(|token| token.trim_matches('.')).filter(|token| !token.is_empty());
    tokens.map(str::to_owned).collect()
}

/// "flashmark watch" was printed eleven times, and the program refused it. A page has a command
/// beside each figure, also where the screen has one for several.
#[test]
fn every_printed_command_is_taken() {
    let flashmark = with_card();
    for article in ARTICLES {
        let screen = flashmark.done(&["report", "--article", article.number]).out;
        let printed = screen.lines().filter_map(|line| line.strip_prefix("    flashmark "));
        let mut commands: BTreeSet<String> = printed.map(str::to_owned).collect();
        for again in article.again {
            assert!(commands.contains(*again), "{again}: {screen}");
        }
        for cell in cells(&article) {
            commands.extend(quantities(&cell).into_iter().map(|(column, _)| column.command));
            commands.extend(nearest_command(&cell).map(str::to_owned));
        }
        for command in commands {
            let line = command.replace("TARGET", "sim:class10").replace("RUN", "latest");
            let words: Vec<&str> = line.split(' ').collect();
            // Others than a run need a real device: only their words are read.
            let plan = if words[0] == "run" { &["--plan"][..] } else { &["--help"][..] };
            let ran = flashmark.run(&[&words[..], plan].concat());
            assert!(ran.code == Some(0) || ran.err.contains("nothing to do: "), "{words:?}: {ran}");
        }
    }
}

/// A sentence of a finding is only as good as its numbers.
#[test]
fn every_number_of_a_finding_is_a_figure_of_the_article() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/field");
    for article in ARTICLES {
        let cited = numbers(&fs::read_to_string(docs.join(article.file)).unwrap());
        let printed =
            cells(&article).iter().flat_map(|it| numbers(it.label("published"))).collect();
        let known: BTreeSet<String> = &cited | &printed;
        let missing: Vec<String> = numbers(article.found).difference(&known).cloned().collect();
        assert!(missing.is_empty(), "{}: {missing:?}", article.number);
    }
}

#[test]
fn every_section_that_is_cited_exists() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/field");
    for article in ARTICLES {
        let text = fs::read_to_string(docs.join(article.file)).unwrap();
        let heads = text.lines().filter(|line| line.starts_with('#'));
        let mut names = heads.map(|line| line.trim_start_matches('#').trim());
        assert!(names.any(|name| name == article.section), "{}", article.cited());
    }
}

#[test]
fn a_narrow_screen_has_blocks_and_no_wider_line_than_what_is_copied() {
    let flashmark = with_card();
    let words = ["report", "--article", "004", "latest"];
    let narrow = crate::support::Ran::of(flashmark.command(&words).env("COLUMNS", "50"));
    for line in narrow.out.lines().filter(|line| line.chars().count() > 50) {
        let bare = line.trim();
        assert!(bare.starts_with("http") || bare.starts_with("flashmark run"), "{line}");
    }
    assert!(narrow.out.contains("    class10 (simulated): "), "{narrow}");
}

#[test]
fn the_page_is_one_file_with_every_figure_and_its_run() {
    let (flashmark, scratch) = (with_card(), Scratch::new());
    for article in ARTICLES {
        let file = scratch.at(&format!("{}.html", article.number));
        let html = file.to_str().unwrap();
        let ran =
            flashmark.done(&["report", "--article", article.number, "latest", "--html", html]);
        assert_eq!(ran.out, format!("{html}\n"));
        let page = fs::read_to_string(&file).unwrap();
        assert!(page.len() < 300_000, "{}: {} bytes", article.number, page.len());
        for cell in cells(&article) {
            let row = cell.label("row");
            assert!(page.contains(&format!("id=\"{row}\"")), "{row}");
        }
        assert!(page.contains("class10 (simulated)</th>"), "{page}");
        assert!(page.contains("<code>flashmark "), "{page}");
        for outside in ["<script", "<link rel=\"stylesheet", "src=\"", "<form"] {
            assert!(!page.contains(outside), "{outside} in {}", article.number);
        }
    }
    let page = fs::read_to_string(scratch.at("004.html")).unwrap();
    assert!(page.contains("Morton&#39;s benchmark") && page.contains("16.65 MB/s and random"));
    let page = fs::read_to_string(scratch.at("003.html")).unwrap();
    assert!(page.contains("class10 (simulated) has none of these figures"), "{page}");
}

/// Commands that the rows of docs/articles.md have.
const TYPED: [&str; 9] =
    ["run", "compare", "report", "runs", "matrix", "watch", "import", "publish", "explain"];

/// Commands of a row of docs/articles.md. A row may add to the command of the row before ("the same
/// with `--set ..`") or change the value of its last setting (`.. forms=rewrite`).
fn commands_of(column: &str, before: &str) -> Vec<String> {
    let quoted = column.split('`').skip(1).step_by(2);
    let command = |text: &str| match text.split_once(' ').map_or((text, ""), |it| it) {
        ("..", change) => {
            let key = change.split('=').next().unwrap_or_default();
            before.rsplit_once(&format!("{key}=")).map(|(head, _)| format!("{head}{change}"))
        }
        ("--set", _) => Some(format!("{before} {text}")),
        (first, _) if TYPED.contains(&first) => Some(text.to_owned()),
        _ => None,
    };
    quoted.filter_map(command).collect()
}

/// The words of a command of the document, with media, runs and files in place of its letters: a run
/// is planned on a simulated card, and what needs a device gets `--help`.
fn typed(command: &str, runs: &[String; 2], scratch: &Scratch) -> Vec<String> {
    let on_device = ["matrix", "watch", "run /dev/"];
    let more = match command {
        command if on_device.iter().any(|start| command.starts_with(start)) => " --help",
        command if command.starts_with("run ") && !command.ends_with("--plan") => " --plan",
        _ => "",
    };
    let is_run = command.starts_with("run ");
    let stand_in = |word: &str| match word {
        "T" | "D" if is_run => "sim:a1".to_owned(),
        "A" | "A2" | "C" => runs[0].clone(),
        "B" | "B2" | "D" => runs[1].clone(),
        "FILE" if command.starts_with("import") => {
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import/hdparm_t.txt").to_owned()
        }
        "FILE" | "DIR" => scratch.at(word).to_str().unwrap().to_owned(),
        other => other.to_owned(),
    };
    format!("{command}{more}").split(' ').map(stand_in).collect()
}

/// Each of the 72 rows is typed. Simulated media have no host to compare by (exit code 1) and no
/// page cache.
#[test]
fn the_command_of_every_row_of_the_document_is_a_command() {
    let (flashmark, scratch) = (with_card(), Scratch::new());
    flashmark.done(&["run", "sim:class6", "--only", "random-read", "--quiet"]);
    let name = |run: &PathBuf| run.file_name().unwrap().to_str().unwrap().to_owned();
    let runs: [String; 2] =
        flashmark.runs().iter().map(name).collect::<Vec<_>>().try_into().unwrap();
    let document =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/articles.md"));
    let document = document.unwrap();
    let rows = document.lines().take_while(|line| !line.starts_with("## Beside the tools"));
    let rows = rows.filter(|line| line.starts_with("| ") && !line.starts_with("| what |"));
    let (mut count, mut before) = (0, String::new());
    for row in rows {
        count += 1;
        for command in commands_of(row.split(" | ").nth(1).unwrap_or_default(), &before) {
            let words = typed(&command, &runs, &scratch);
            let ran = flashmark.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
            let is_taken = ran.code == Some(0)
                || command.starts_with("compare --by") && ran.code == Some(1)
                || command.contains("path=buffered") && ran.err.contains("needs a page cache");
            assert!(is_taken, "{row}\n{}: {ran}", words.join(" "));
            before = command;
        }
    }
    assert_eq!(count, 72, "rows of docs/articles.md");
}
