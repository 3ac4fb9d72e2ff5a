//! Page of an article as one file: its style is inside, and its only link is the article itself.

use askama::Template;
use record::collection::FIGURES;
use report::articles::{ArticleFigures, ArticleTable, Pick};
use report::column_figures::RunFigures;

use crate::{PageHead, allowed};

#[derive(Template)]
#[template(path = "article.html")]
struct ArticlePage {
    policy: String,
    style: String,
    table: ArticleTable,
}

/// The page of one article with up to [`report::articles::MAX_PICKED`] runs beside it,
/// self-contained HTML.
pub fn article(of: &ArticleFigures, runs: &[RunFigures]) -> String {
    let style = site_style();
    let page = ArticlePage {
        policy: format!(
            "default-src 'none'; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
            allowed(&style)
        ),
        style,
        table: ArticleTable::of(of, &Pick::of_runs(runs)),
    };
    page.render().expect("a template that compiled renders into memory")
}

const SITE_STYLE: &str = include_str!("../templates/site.css");

/// Columns other than figures that can be hidden.
const OTHER_COLUMNS: [&str; 5] = ["capacity", "count", "latest", "interface", "verdict"];

/// The style sheet of a collection's pages, with a rule for each column that can be hidden.
pub fn site_style() -> String {
    let figures = (0..FIGURES.len()).map(|at| format!("c{at}"));
    let hidden = figures.chain(OTHER_COLUMNS.map(str::to_owned)).map(|column| {
        format!("main:has(#show-{column}:not(:checked)) .lines .{column} {{ display: none; }}\n")
    });
    PageHead::STYLE.to_owned() + SITE_STYLE + &hidden.collect::<String>()
}
