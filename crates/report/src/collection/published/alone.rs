//! Page of a publication as one file: its style is inside, and its only link is the publication
//! itself.

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use record::PublishedSource;
use sha2::{Digest as _, Sha256};

use super::SourceTable;
use crate::collection::address::assets;
use crate::collection::picks::{MAX_PICKED, Pick};
use crate::column_figures::RunFigures;

#[derive(Template)]
#[template(path = "collection/alone.html")]
struct AlonePage<'a> {
    policy: String,
    style: &'static str,
    table: SourceTable<'a>,
}

/// The page of one publication with up to [`MAX_PICKED`] runs beside it, self-contained HTML.
pub fn published_alone(source: &PublishedSource, runs: &[RunFigures]) -> String {
    let picks: Vec<Pick> = runs.iter().take(MAX_PICKED).map(Pick::of_run).collect();
    let style = assets()[0].text;
    let hash = STANDARD.encode(Sha256::digest(style));
    let page = AlonePage {
        policy: format!(
            "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'"
        ),
        style,
        table: SourceTable::of(source, &picks),
    };
    page.render().expect("a template that compiled renders into memory")
}
