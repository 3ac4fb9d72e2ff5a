//! One figure for one thing: a number with a unit in a sentence is in the table of its screen or
//! among the figures of the record, or the sentence says what else it is.

use std::collections::BTreeSet;

use record::Outcome;
use record::units::{Bytes, GIB, decimal, significant};

use super::{Shown, shown};

/// Words around a number which say that it is not a figure of the record.
const OTHER: &str = include_str!("no_figures.txt");

const RATES: [&str; 5] = ["IOPS", "B/s", "kB/s", "MB/s", "GB/s"];
const OTHER_UNITS: [&str; 17] = [
    "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "ns", "µs", "ms", "s", "min", "h",
    "%", "Mbit/s",
];
/// Number of words before and after a number that are looked at.
const AROUND: usize = 5;

/// A number with its unit, and the words around it.
struct Quantity {
    text: String,
    context: String,
}

impl Quantity {
    fn is_rate(&self) -> bool {
        RATES.iter().any(|unit| self.text.ends_with(&format!(" {unit}")))
    }

    /// True if the sentence says that it is something other than a figure.
    fn is_other(&self) -> bool {
        OTHER
            .lines()
            .filter_map(|line| line.split_once(" | "))
            .any(|(words, _)| self.context.contains(words))
    }
}

/// Numbers with a unit in a text.
fn quantities(text: &str) -> Vec<Quantity> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let bare = |word: &str| {
        word.trim_matches(|c: char| "(),;:[]".contains(c)).trim_end_matches('.').to_owned()
    };
    let is_number = |word: &str| bare(word).parse::<f64>().is_ok();
    let is_unit = |word: &str| RATES.iter().chain(&OTHER_UNITS).any(|unit| *unit == bare(word));
    let masked = |at: usize, of: usize| match words[at] {
        word if at == of => word.replace(&bare(word), "#"),
        word if is_number(word) => word.replace(&bare(word), "N"),
        word => word.to_owned(),
    };
    let quantity = |at: usize| Quantity {
        text: format!("{} {}", bare(words[at]), bare(words[at + 1])),
        context: (at.saturating_sub(AROUND)..words.len().min(at + AROUND))
            .map(|it| masked(it, at))
            .collect::<Vec<_>>()
            .join(" "),
    };
    let found = (1..words.len()).filter(|&at| is_number(words[at - 1]) && is_unit(words[at]));
    found.map(|at| quantity(at - 1)).collect()
}

fn texts(of: &str) -> impl Iterator<Item = String> {
    quantities(of).into_iter().map(|it| it.text)
}

/// Sizes that the record states: of I/Os, spans and the medium, and what a probe found.
fn sizes(shown: &Shown) -> impl Iterator<Item = String> {
    let record = &shown.record;
    let params = record
        .cells
        .iter()
        .map(|cell| &cell.params)
        .flat_map(|params| [params.block_bytes, params.span_bytes, params.span_offset_bytes]);
    let metrics = record.cells.iter().flat_map(|cell| &cell.metrics.other);
    let found = metrics.filter(|(name, _)| name.ends_with("_bytes")).flat_map(|(_, bytes)| {
        [Some(bytes.value), bytes.ci95.map(|it| it[0]), bytes.ci95.map(|it| it[1])]
    });
    let found = found.map(|bytes| bytes.map(|bytes| bytes as u64));
    let medium = [record.medium.capacity_bytes, record.medium.au_bytes];
    let written = record.findings.iter().map(|finding| match &finding.outcome {
        Some(Outcome::Use(found)) => found.within_bytes,
        _ => None,
    });
    let all = params.chain(medium).chain(found).chain(written).flatten();
    all.flat_map(|bytes| {
        [
            Bytes(bytes).to_string(),
            decimal(bytes),
            format!("{} GiB", significant(bytes as f64 / GIB as f64)),
        ]
    })
}

/// The sentences of a screen, without the line of what the run took, and its table.
fn parts(screen: &str) -> (String, &str) {
    let (sentences, table) = screen.split_once("95 % interval").unwrap_or((screen, ""));
    let lines = sentences.lines().filter(|line| !line.contains(" suite, "));
    (lines.collect::<Vec<_>>().join("\n"), table)
}

/// Numbers of the sentences of a screen that are in neither set: a rate must be in the table,
/// anything else must be a figure of the record.
fn unknown(sentences: &str, table: &BTreeSet<String>, known: &BTreeSet<String>) -> Vec<Quantity> {
    let is_known = |it: &Quantity| {
        table.contains(&it.text) || it.is_other() || (!it.is_rate() && known.contains(&it.text))
    };
    quantities(sentences).into_iter().filter(|it| !is_known(it)).collect()
}

#[test]
fn a_number_in_a_sentence_is_a_figure_of_the_record() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for it in shown() {
        let (sentences, table) = parts(&it.screen);
        let table: BTreeSet<String> = texts(table).collect();
        let evidence = it.record.findings.iter().flat_map(|it| &it.evidence);
        let known: BTreeSet<String> = evidence
            .flat_map(|line| texts(&findings::evidence_text(line, &it.record)).collect::<Vec<_>>())
            .chain(texts(&it.all))
            .chain(sizes(it))
            .chain(table.iter().cloned())
            .collect();
        let in_sentences = unknown(&sentences, &table, &known);
        checked += quantities(&sentences).len();
        let statements = it.record.findings.iter().flat_map(|finding| {
            checked += quantities(&finding.statement).len();
            unknown(&finding.statement, &known, &known)
        });
        for number in in_sentences.into_iter().chain(statements) {
            wrong.push(format!("{}: {}: {}", it.name, number.text, number.context));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 500, "{checked}");
}

#[test]
fn a_number_of_another_cell_is_noticed() {
    let set = |of: &str| texts(of).collect::<BTreeSet<String>>();
    let (table, known) = (set("4 KiB  6.09 IOPS"), set("5.57 IOPS 6.09 IOPS 12.8 ms"));
    let wrong = |sentence: &str| {
        unknown(sentence, &table, &known).into_iter().map(|it| it.text).collect::<Vec<_>>()
    };
    assert_eq!(wrong("Random writes of 4 KiB reach 5.57 IOPS (5 to 6)."), ["5.57 IOPS"]);
    assert!(
        wrong("It reaches 6.09 IOPS, the slowest 12.8 ms; good for video at 50 Mbit/s.").is_empty()
    );
    assert_eq!(wrong("The slowest took 12.9 ms."), ["12.9 ms"]);
}
