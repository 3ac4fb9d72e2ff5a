//! Page of an article as one file: its style is inside, and its only link is the article itself.

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::SourceTable;
use crate::articles::ArticleFigures;
use crate::collection::address::assets;
use crate::collection::picks::{MAX_PICKED, Pick};
use crate::column_figures::RunFigures;

#[derive(Template)]
#[template(path = "collection/alone.html")]
struct AlonePage {
    policy: String,
    style: &'static str,
    table: SourceTable,
}

/// The page of one article with up to [`MAX_PICKED`] runs beside it, self-contained HTML.
pub fn published_alone(of: &ArticleFigures, runs: &[RunFigures]) -> String {
    let picks: Vec<Pick> = runs.iter().take(MAX_PICKED).map(Pick::of_run).collect();
    let style = assets()[0].text;
    let hash = STANDARD.encode(Sha256::digest(style));
    let page = AlonePage {
        policy: format!(
            "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'"
        ),
        style,
        table: SourceTable::of(of, &picks),
    };
    page.render().expect("a template that compiled renders into memory")
}
