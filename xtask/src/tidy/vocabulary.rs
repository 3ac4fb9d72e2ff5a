//! Words of the code itself: names and comments use the terms of the field, as its sentences do.

use super::Fault;
use super::project::Project;
use super::sources::Token;

/// Words that names do without, in snake case, and what is said instead; `*` for any ending.
pub const NAMES: [(&str, &str); 49] = [
    ("accus*", "adverse"),
    ("accusations", "adverse_findings"),
    ("bed", "bench: TestBench"),
    ("beneath", "stored_on: StoredOn"),
    ("cell_gate", "cell_usability"),
    ("come_to_rest", "steady"),
    ("deed*", "audit event: AuditEvent"),
    ("disturb*", "host stall, after-effect"),
    ("doubt", "caveat, flag"),
    ("doubted", "caveat"),
    ("doubts", "caveats, flags"),
    ("ears", "forwarder, on_progress"),
    ("flatter*", "benchmark_bias"),
    ("gone_quiet", "silent"),
    ("heard", "progress"),
    ("in_a_row", "sequential, consecutive"),
    ("in_sequence", "sequential"),
    ("known_cost", "FixedCostDevice"),
    ("lane", "slot, worker"),
    ("lanes", "in_flight, workers"),
    ("lend*", "backup"),
    ("lent", "backed_up"),
    ("look_again", "recheck"),
    ("nature", "class: FsClass"),
    ("of_blame", "caveat_of_negative"),
    ("of_praise", "caveats_of_positive"),
    ("one_at_a_time", "qd1, depth_1"),
    ("overwhelm*", "fill_cache"),
    ("owed*", "not_restored"),
    ("owes", "not_restored"),
    ("picture", "topology: BlockTopology"),
    ("prime_again", "repeat_fills"),
    ("probe_anew", "retry_probe"),
    ("probed_anew", "probe_retried"),
    ("said", "message, statement, reported"),
    ("second_look", "recheck"),
    ("shelf", "category"),
    ("shelves", "categories"),
    ("shown_cache*", "observed_cache"),
    ("sound_figure", "UsableEstimate"),
    ("standings", "ranks, levels"),
    ("standstill*", "host_stall"),
    ("stood_still*", "host_stall"),
    ("strain", "pressure: HostPressure"),
    ("stray*", "not_medium, unexplained"),
    ("told", "reported, distinguished"),
    ("undisturbed*", "without_host_stalls"),
    ("unfit", "not_suitable"),
    ("use_standing", "UseLevel"),
];

/// Names that say nothing of what they hold, as `message`, `output` or `answer` do.
const EMPTY_NAMES: [&str; 3] = ["says", "tell", "tells"];

/// Names that hold a word because files, suites and command lines do.
const STORED: [&str; 6] = [
    "in_a_row",
    "overwhelm",
    "overwhelm_bytes",
    "overwhelm_max_bytes",
    "overwhelm_time",
    "overwhelmed_bytes",
];

/// How a word begins that comments do without, and what is said instead.
pub const COMMENTS: [(&str, &str); 6] = [
    ("accus", "say against the medium"),
    ("doubt", "caveat"),
    ("flatter", "overstate"),
    ("in a row", "sequential; of counts, in succession"),
    ("overwhelm", "fill"),
    ("standstill", "host stall"),
];

/// Phrases in which such a word has its usual sense, or names what is stored (`doubtful`).
const USUAL: [&str; 4] = ["any doubt", "beyond doubt", "doubtful", "in doubt"];

/// Words with which a doc comment asks a question in place of naming the thing.
const QUESTIONS: [&str; 6] = ["How", "What", "Where", "Whether", "Who", "Why"];

/// The most of a hundred doc comments that may begin so. Lower it when there are fewer.
const MAX_QUESTIONS_PERCENT: usize = 2;

/// A name in snake case: `BlockTopology` is `block_topology`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    let mut is_after_small = false;
    for c in name.chars() {
        if c.is_uppercase() && is_after_small {
            text.push('_');
        }
        is_after_small = c.is_lowercase() || c.is_ascii_digit();
        text.extend(c.to_lowercase());
    }
    text
}

/// True if a name holds the word, or a word that begins so where it ends with `*`.
fn holds(name: &str, word: &str) -> bool {
    let name = format!("_{name}_");
    match word.strip_suffix('*') {
        Some(stem) => name.contains(&format!("_{stem}")),
        None => name.contains(&format!("_{word}_")),
    }
}

fn is_name(token: &Token) -> bool {
    let is_letter = |c: char| c.is_alphabetic() || c == '_';
    token.text.starts_with(is_letter) && !token.text.contains(['"', '\''])
}

/// Names of every kind are in the field's words: of types, functions, fields and variables.
pub fn names_are_in_the_fields_words(project: &Project) -> Vec<Fault> {
    let why = "a person of the field must be able to guess a name";
    let mut faults = Vec::new();
    for (path, tokens) in project.sources("crates/").chain(project.sources("validation/")) {
        for token in tokens.iter().filter(|token| is_name(token)) {
            let name = snake(&token.text);
            if STORED.contains(&name.as_str()) {
                continue;
            }
            if EMPTY_NAMES.contains(&name.as_str()) {
                let what = format!("line {}: {}; name what it holds", token.line, token.text);
                faults.push(Fault::new(path, what, why));
            }
            if let Some((_, instead)) = NAMES.iter().find(|(word, _)| holds(&name, word)) {
                let what = format!("line {}: {}; say {instead}", token.line, token.text);
                faults.push(Fault::new(path, what, why));
            }
        }
    }
    faults
}

/// Name of the function that begins in a line, if one does.
fn function(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_item = before
        .split_whitespace()
        .all(|word| word.starts_with("pub") || ["async", "const", "unsafe"].contains(&word));
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (is_item && !name.is_empty()).then_some(name)
}

/// Test functions are named in the field's words too: the rule on names reads sources without
/// tests.
pub fn tests_are_named_in_the_fields_words(project: &Project) -> Vec<Fault> {
    let why = "the name of a test is what is read when it fails";
    let is_ours = |path: &str| path.starts_with("crates/") || path.starts_with("validation/");
    let mut faults = Vec::new();
    for (path, text) in commented(project).filter(|(path, _)| is_ours(path)) {
        for (number, line) in (1..).zip(text.lines()) {
            let Some(name) = function(line) else { continue };
            if let Some((_, instead)) = NAMES.iter().find(|(word, _)| holds(name, word)) {
                let what = format!("line {number}: {name}; say {instead}");
                faults.push(Fault::new(path, what, why));
            }
        }
    }
    faults
}

/// The comment of a line that is nothing else: what stands behind its slashes.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.trim_start_matches(['/', '!']).trim())
}

/// Sources in which comments are looked at; those of this check quote the words.
fn commented(project: &Project) -> impl Iterator<Item = (&str, &str)> {
    let is_ours = |path: &str| path.ends_with(".rs") && !path.starts_with("xtask/src/tidy");
    project.all().filter(move |(path, _)| is_ours(path))
}

/// A comment without code and links.
fn prose(comment: &str) -> String {
    let text: String = comment.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let words = text.split_whitespace().filter(|word| !word.contains("docs/"));
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Comments are in the field's words.
pub fn comments_are_in_the_fields_words(project: &Project) -> Vec<Fault> {
    let why = "a comment is for somebody who does not know our words";
    let mut faults = Vec::new();
    for (path, text) in commented(project) {
        for (number, line) in (1..).zip(text.lines()) {
            let Some(comment) = comment(line) else { continue };
            let text = USUAL.iter().fold(prose(comment), |text, usual| text.replace(usual, ""));
            let begins = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric());
            let refused = COMMENTS
                .iter()
                .find(|(word, _)| text.match_indices(word).any(|(at, _)| begins(at)));
            if let Some((word, instead)) = refused {
                let what = format!("line {number}: '{word}' in a comment; say {instead}");
                faults.push(Fault::new(path, what, why));
            }
        }
    }
    faults
}

/// First lines of the doc comments of a source.
fn doc_comments(text: &str) -> impl Iterator<Item = &str> {
    let is_doc = |line: &str| line.starts_with("/// ") || line.starts_with("//! ");
    let lines = text.lines().map(str::trim);
    let before = std::iter::once("").chain(lines.clone());
    lines
        .zip(before)
        .filter(move |(line, before)| is_doc(line) && !before.starts_with("//"))
        .map(|(line, _)| line.trim_start_matches(['/', '!']).trim())
}

/// Few doc comments begin with a question: a noun or a verb says what the thing is.
pub fn doc_comments_name_the_thing(project: &Project) -> Vec<Fault> {
    let why = "a list of doc comments is read as a list of things";
    let all: Vec<&str> = commented(project).flat_map(|(_, text)| doc_comments(text)).collect();
    let asks = |line: &&&str| QUESTIONS.contains(&line.split(' ').next().unwrap_or_default());
    let asking = all.iter().filter(asks).count();
    let percent = asking * 100 / all.len().max(1);
    if percent <= MAX_QUESTIONS_PERCENT {
        return Vec::new();
    }
    let what = format!(
        "{asking} of {} doc comments begin with a question ({percent} %, at most {MAX_QUESTIONS_PERCENT} %)",
        all.len()
    );
    vec![Fault::new("crates", what, why)]
}
