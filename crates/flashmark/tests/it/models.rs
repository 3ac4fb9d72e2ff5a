//! Models of the media of the articles, compared with every column that was published of them: each
//! is within 25 %. The tests of the program measure the models, as
//! they would measure a card.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use record::units::significant;
use record::{Published, quantities};
use report::articles::ARTICLES;
use report::column_figures::{ColumnFigure, column_figures};

use crate::support::Flashmark;

/// Largest deviation of a model, in percent of the published figure.
const FIT_PERCENT: f64 = 25.0;

/// A medium of the articles: profile, model and interface as the published records name them.
const MEDIA: [(&str, &str, &str); 9] = [
    ("cf-lexar-300x", "Professional 300x (LEXAR ATA FLASH CARD, FW 20090202)", ""),
    ("cf-kingston-266x", "Ultimate 266x (ULTIMATE CF CARD, FW Ver7.02K)", ""),
    ("cf-sandisk-ultra", "Ultra (SDCFH-004G, FW HDX 7.07)", ""),
    ("usb3-extreme", "Extreme USB 3.0", "usb 3.0"),
    ("class6", "Class 6 4GB", ""),
    ("class10", "Class 10 4GB", ""),
    ("usb2-voyager", "Voyager 16GB (blue)", ""),
    ("usb2-kingston", "16GB 100 (orig.)", ""),
    ("usb2-cruzer", "Cruzer 16GB", ""),
];

/// The tests that measure published columns.
const TESTS: &str = "zero-fill,random-fill,sector-write,record-ops,sequential-write,\
                     sequential-read,seek,ext2-format,ext2-fill";

/// A published figure and the figure of its model.
struct Fit {
    profile: &'static str,
    column: String,
    head: String,
    unit: &'static str,
    published: f64,
    modelled: f64,
}

impl Fit {
    fn percent(&self) -> f64 {
        (self.modelled / self.published - 1.0) * 100.0
    }
}

/// Figures of the columns that the program measures on a model.
fn measured(profile: &str) -> BTreeMap<String, ColumnFigure> {
    let flashmark = Flashmark::new();
    let target = format!("sim:{profile}");
    let words = ["run", &target, "--suite", "seeds", "--only", TESTS, "--seed", "5", "--quiet"];
    flashmark.done(&words);
    column_figures(&flashmark.record().cells)
}

/// Every published column of a medium beside its model.
fn fits(&(profile, model, interface): &(&'static str, &str, &str)) -> Vec<Fit> {
    let figures = measured(profile);
    let articles = ARTICLES.iter().flat_map(report::reference::article);
    let of_it: Vec<Published> = articles
        .filter(|run| run.model.as_deref() == Some(model))
        .filter(|run| interface.is_empty() || run.interface.as_deref() == Some(interface))
        .collect();
    of_it
        .iter()
        .flat_map(|run| &run.cells)
        .flat_map(quantities)
        .filter(|(column, _)| column.family != "cpu")
        .map(|(column, figure)| Fit {
            profile,
            modelled: figures.get(&column.name).map_or(f64::NAN, |own| own.figure.value),
            published: figure.value,
            column: column.name,
            head: column.head,
            unit: column.unit,
        })
        .collect()
}

fn table(fits: &[Fit]) -> String {
    let mut table = String::from(
        "| profile | column | published | modelled | off by |\n|---|---|---:|---:|---:|\n",
    );
    for fit in fits {
        let (published, modelled) = (significant(fit.published), significant(fit.modelled));
        writeln!(
            table,
            "| {} | {}, {} | {published} | {modelled} | {:+.1} % |",
            fit.profile,
            fit.head,
            fit.unit,
            fit.percent()
        )
        .unwrap();
    }
    table
}

#[test]
fn every_published_column_of_a_model_is_met() {
    let fits: Vec<Fit> = MEDIA.iter().flat_map(fits).collect();
    let wrong: Vec<String> = fits
        .iter()
        .filter(|fit| fit.percent().abs() > FIT_PERCENT || fit.percent().is_nan())
        .map(|fit| format!("{} {}: {:+.1} %", fit.profile, fit.column, fit.percent()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", table(&fits));
    insta::assert_snapshot!("models", table(&fits));
}
