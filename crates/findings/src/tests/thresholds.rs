//! What records in words come to, at each side of every threshold.

use record::collection::HeadlineFigure;
use record::units::KIB;
use record::{Cell, Flag, Record, Severity, Use, test};

use crate::conclude::{conclude, conclude_for};
use crate::figures::figure::{self, UsableEstimate};
use crate::figures::{Figures, genuineness, usability};
use crate::testing::table::{RowAnswer, check_table};
use crate::testing::{evidence_texts, record_in_words};
use crate::words::headline::headline;
use crate::words::next_steps::next_steps;
use crate::{Analysis, add_caveats, undecided};

const FILE: &str = include_str!("../../../../fixtures/findings/thresholds.txt");

/// "CutShort" as "cut-short", as the file has it.
fn word(of: &impl std::fmt::Debug) -> String {
    let mut word = String::new();
    for letter in format!("{of:?}").chars().take_while(|letter| letter.is_alphanumeric()) {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    word
}

fn level(record: &Record, wanted: Use) -> String {
    let of = |asked: &[Use]| {
        let levels = Analysis::of(record, asked).summary.levels;
        let found = levels.iter().find(|it| it.wanted == wanted);
        found.map_or_else(|| "none".into(), |it| it.level.word().replace(' ', "-"))
    };
    let (actual, silent) = (of(&[wanted]), of(&[]));
    // Nobody asked for another rate of video, and where nothing can be told nothing is.
    if matches!(wanted, Use::Video { .. }) || silent == "not-tested" || actual == silent {
        return actual;
    }
    format!("{actual}, and {silent} without its findings")
}

/// How grave the first finding of this id is, and all that findings of the id say.
fn found(record: &Record, id: &str) -> RowAnswer {
    let findings = conclude(record);
    let mut found = findings.iter().filter(|finding| finding.id == id).peekable();
    let Some(first) = found.peek() else { return RowAnswer::word("no") };
    let word = match first.severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Failure => "failure",
    };
    let confidence = first.confidence;
    let texts = found.map(|it| format!("{}\n{}\n", it.statement, evidence_texts(it, record)));
    RowAnswer { word: word.to_owned(), statement: texts.collect(), confidence }
}

fn headline_figure(name: &str) -> HeadlineFigure {
    let mut all = HeadlineFigure::ALL.into_iter();
    all.find(|it| it.name() == name).unwrap_or_else(|| panic!("there is no figure {name:?}"))
}

/// A figure as it is looked up.
fn figure(record: &Record, name: &str) -> RowAnswer {
    let found: Option<UsableEstimate> = match name.split_once(' ').unwrap_or((name, "")) {
        ("random-write", _) => figure::random_write(record, 4 * KIB),
        ("random-read", _) => figure::random_read(record, 4 * KIB),
        ("random-write-bound", _) => figure::random_write_bound(record, 4 * KIB),
        ("deep", at_least) => {
            figure::deep(record, test::RANDOM_READ, 4 * KIB, at_least.parse().unwrap())
        }
        ("sequential-read", _) => figure::sequential(record, test::SEQUENTIAL_READ),
        ("sustained-write", _) => figure::sustained_write(record),
        ("shown", name) => Figures::of(record).sound(headline_figure(name)),
        ("headline", name) => {
            let value = headline(record).figures.get(&headline_figure(name)).copied();
            return RowAnswer::word(value.map_or("no".to_owned(), |value| value.to_string()));
        }
        _ => panic!("there is no figure {name:?}"),
    };
    found.map_or_else(
        || RowAnswer::word("no"),
        |found| RowAnswer {
            statement: found.with_interval(),
            ..RowAnswer::word(found.value.to_string())
        },
    )
}

fn uses(names: &str) -> Vec<Use> {
    let of = |name: &str| name.parse().unwrap_or_else(|_| panic!("there is no use {name:?}"));
    names.split_whitespace().map(of).collect()
}

/// The numbers of the cells that get this caveat.
fn flagged(mut record: Record, name: &str) -> String {
    add_caveats(&mut record);
    let is_it = |flag: &Flag| word(flag) == name;
    let cells = record.cells.iter().zip(1..);
    let flagged = cells.filter(|(cell, _)| cell.flags.iter().any(is_it));
    let numbers: Vec<String> = flagged.map(|(_, number)| number.to_string()).collect();
    if numbers.is_empty() { "no".into() } else { numbers.join("+") }
}

/// All caveats by the number of the cell; giving them twice changes nothing.
fn caveats(mut record: Record) -> Vec<String> {
    add_caveats(&mut record);
    let once = record.clone();
    add_caveats(&mut record);
    assert_eq!(record, once);
    let of_cell = |(cell, number): (&Cell, u32)| -> Vec<String> {
        cell.flags.iter().map(|flag| format!("{number}: {flag}")).collect()
    };
    record.cells.iter().zip(1..).flat_map(of_cell).collect()
}

fn answer(asked: &str, given: &str) -> RowAnswer {
    let mut record = record_in_words(given);
    let (kind, of) = asked.split_once(' ').unwrap_or((asked, ""));
    let last = || record.cells.last().expect("a cell");
    RowAnswer::word(match kind {
        "is" => return found(&record, of),
        "figure" => return figure(&record, of),
        "headline" => return figure(&record, asked),
        "level" => level(&record, uses(of)[0]),
        "refuses" => usability::exclusion(&record, last()).map_or("no".into(), |it| word(&it)),
        "accuses" => {
            usability::adverse_exclusion(&record, last()).map_or("yes".into(), |it| word(&it))
        }
        "genuine" => word(&genuineness::of(&record)),
        "answers" => {
            let summary = Analysis::of(&record, &uses(of)).summary;
            [summary.genuine, summary.fit, summary.healthy].map(|it| word(&it)).join("/")
        }
        "summary" => {
            let summary = Analysis::of(&record, &uses(of)).summary;
            // Quotation marks are those of the file.
            return RowAnswer::of_lines(&[serde_json::to_string(&summary)
                .unwrap()
                .replace('"', "")]);
        }
        "undecided" => {
            let findings = conclude_for(&record, &uses(of));
            return RowAnswer::of_lines(&undecided(&Record { findings, ..record }, &uses(of)));
        }
        "flagged" => flagged(record, of),
        "caveats" => return RowAnswer::of_lines(&caveats(record)),
        "first" => return RowAnswer::word(conclude(&record)[0].statement.clone()),
        "next" => {
            Analysis::of(&record, &[]).keep_in(&mut record);
            let steps = next_steps(&record).into_iter();
            return RowAnswer::of_lines(
                &steps
                    .map(|it| format!("{} {}", it.words, it.command.join(" ")))
                    .collect::<Vec<_>>(),
            );
        }
        "cell" => {
            let cell = Figures::of(&record).cell(headline_figure(of));
            cell.and_then(|cell| cell.params.block_bytes).map_or("no".into(), |it| it.to_string())
        }
        _ => panic!("nobody knows how to ask {asked:?}"),
    })
}

#[test]
fn every_threshold_is_at_its_value_in_the_file() {
    check_table(FILE, answer);
}
