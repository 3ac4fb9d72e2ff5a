//! Publications from which the figures are, each with all of its figures.

use record::units::Bytes;
use record::{PublishedSource, SourceFigure};

use super::cells::{cell, published, tool};
use super::{FigureKind, ReferenceRow, rows};

/// Addresses of the five articles, empty where none is known.
const ARTICLES: [&str; 5] = [
    "http://abatis.org.uk/CFbench.html",
    "http://abatis.org.uk/CFbenchPart2.html",
    "http://www.altechnative.net/2012/01/25/flash-module-benchmark-collection-sd-cards-cf-cards-usb-sticks/",
    "https://www.pitt-pladdy.com/blog/_20120214-133809_0000_Filesystems_Schedulers_with_CompactFlash/",
    "",
];

/// All publications, the five articles first, then the others in the order of the tables. Every row
/// is a figure of one of them.
pub fn sources() -> Vec<PublishedSource> {
    let mut found: Vec<(&'static ReferenceRow, PublishedSource)> = Vec::new();
    for row in rows() {
        let is_of = |(first, _): &&mut (&ReferenceRow, PublishedSource)| {
            first.table == row.table && first.source_url == row.source_url
        };
        match found.iter_mut().find(is_of) {
            Some((_, source)) => source.figures.push(figure(row)),
            None => {
                let number = 1 + found.iter().filter(|(it, _)| it.table == row.table).count();
                found.push((row, source(row, number)));
            }
        }
    }
    found.into_iter().map(|(_, source)| source).collect()
}

fn source(row: &ReferenceRow, number: usize) -> PublishedSource {
    let article = ARTICLES.iter().position(|address| *address == row.source_url);
    let article = article.filter(|_| row.table == "articles");
    let site = row.source_url.split("//").nth(1).unwrap_or_default();
    let site = site.split('/').next().unwrap_or_default().trim_start_matches("www.");
    let (key, title) = match article {
        Some(at) => (format!("article-{}", at + 1), format!("Article {at:03}")),
        None => {
            let table = row.table.replace('_', "-");
            (format!("{table}-{number}"), site.to_owned())
        }
    };
    PublishedSource {
        key,
        title,
        address: row.source_url.clone(),
        date: row.source_date.clone(),
        figures: vec![figure(row)],
    }
}

fn figure(row: &ReferenceRow) -> SourceFigure {
    let is_unnamed = row.tool.is_empty();
    SourceFigure {
        id: row.row_id.clone(),
        medium: medium(row),
        host: joined([&row.host_board, &row.host_adaptor, &row.host_kernel], ", "),
        what: what(row),
        tool: if is_unnamed { String::new() } else { tool(row).to_owned() },
        printed: published(row),
        kind: kind(row.kind),
        place: row.locator.clone(),
        cell: cell(row),
    }
}

fn joined<'a>(parts: impl IntoIterator<Item = &'a String>, between: &str) -> String {
    let filled: Vec<&str> =
        parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    filled.join(between)
}

fn medium(row: &ReferenceRow) -> String {
    let capacity =
        row.device_capacity_gb.as_ref().map_or(String::new(), |gb| format!("{} GB", gb.text));
    let class = row.claimed_class.clone();
    joined([&row.device_brand, &row.device_model, &capacity, &row.device_type, &class], " ")
}

/// Procedure in the words of the row: metric if it is not a rate, operation, block, the rest.
fn what(row: &ReferenceRow) -> String {
    let is_rate = matches!(row.metric.as_str(), "throughput" | "iops");
    let metric = if is_rate { String::new() } else { row.metric.replace('_', " ") };
    let operation = row.operation.replace('_', " ");
    let block = row.block_size_bytes.map_or(String::new(), |block| Bytes(block).to_string());
    let depth = row.queue_depth.filter(|depth| *depth > 1);
    let depth = depth.map_or(String::new(), |depth| format!("depth {depth}"));
    let threads = row.threads.filter(|threads| *threads > 1);
    let threads = threads.map_or(String::new(), |threads| format!("{threads} threads"));
    let data = ["zeroes", "random data"].into_iter().find(|data| row.notes.starts_with(data));
    let data = data.unwrap_or_default().to_owned();
    let parts = [
        &metric,
        &operation,
        &block,
        &data,
        &depth,
        &threads,
        &row.span,
        &row.filesystem,
        &row.scheduler,
    ];
    joined(parts, ", ")
}

fn kind(kind: FigureKind) -> &'static str {
    match kind {
        FigureKind::Measured => "measured",
        FigureKind::MeasuredApprox => "measured, about",
        FigureKind::Derived => "derived",
        FigureKind::Statement => "statement",
        FigureKind::Threshold => "limit",
        FigureKind::Claim => "claim",
        FigureKind::Setup => "set-up",
    }
}
