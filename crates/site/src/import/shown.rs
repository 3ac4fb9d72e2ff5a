//! Pages of the form and of the preview. The templates escape all content of a text.

use askama::Template;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{Html, IntoResponse, Response};
use import::plain_text;
use record::MediumKind;
use record::text::printable;
use report::tables::{self, Table};
use report::words;

use super::form::ImportForm;
use super::found::{FoundInText, FoundRecord};
use super::{Added, CARRIED_BYTES, SHOWN_CELLS};
use crate::problem::{Problem, SkipErrorPage, sentence};
use crate::state::App;

/// Most records shown; the others are only counted.
const SHOWN_RECORDS: usize = 50;

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage {
    action: String,
    refused: Option<String>,
    message: Option<String>,
    records: Vec<RecordView>,
    more_records: usize,
    left: Vec<LeftView>,
    more_left: usize,
    /// Digest of the preview, if some of it can be added.
    shown: Option<String>,
    text: String,
    is_too_long_to_carry: bool,
    fields: Vec<Field>,
    kinds: Vec<Choice>,
    units: Vec<Choice>,
}

struct RecordView {
    name: String,
    facts: String,
    tables: Vec<TableView>,
    notes: Vec<String>,
    more_cells: usize,
    /// Reason why it cannot be added.
    refused: Option<String>,
    /// Reasons for a manual review.
    reasons: Vec<String>,
}

struct TableView {
    caption: String,
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

struct LeftView {
    line: u32,
    text: String,
    why: String,
}

struct Field {
    name: &'static str,
    about: &'static str,
    value: String,
}

struct Choice {
    value: &'static str,
    about: String,
    is_chosen: bool,
}

/// The form, with the reason of its rejection.
pub(super) fn form_page(
    app: &App,
    status: StatusCode,
    form: &ImportForm,
    refused: Option<&Problem>,
) -> Response {
    let page = ImportPage {
        refused: refused.map(|problem| sentence(&problem.reason)),
        ..empty(app, form)
    };
    let mut response = answer(app, status, &page);
    if let Some(problem) = refused {
        response.headers_mut().extend(problem.headers());
    }
    response
}

/// The form with its content, after a rejection.
pub(super) fn refused(app: &App, form: &ImportForm, problem: &Problem) -> Response {
    form_page(app, problem.status, form, Some(problem))
}

/// Preview of the records in the text, and the form again.
pub(super) fn found_page(app: &App, form: &ImportForm, found: &FoundInText) -> Response {
    let mut room = SHOWN_CELLS;
    let records: Vec<RecordView> =
        found.records.iter().take(SHOWN_RECORDS).map(|record| view(record, &mut room)).collect();
    let left = found.import.left.iter().map(|left| LeftView {
        line: left.line,
        text: printable(&left.text),
        why: left.why.as_deref().map(printable).unwrap_or_default(),
    });
    let can_add = found.records.iter().any(|record| record.judged.is_ok());
    let is_another = form.is_to_add && form.shown.is_some();
    let page = ImportPage {
        message: is_another.then(|| {
            "This is not what was shown before, so nothing was added. This is what it is now."
                .to_owned()
        }),
        more_records: found.records.len() - records.len(),
        records,
        left: left.collect(),
        more_left: found.import.left_count.saturating_sub(found.import.left.len()),
        shown: can_add.then(|| found.digest.clone()),
        ..empty(app, form)
    };
    answer(app, StatusCode::OK, &page)
}

fn empty(app: &App, form: &ImportForm) -> ImportPage {
    let text = plain_text(&form.text);
    let is_too_long_to_carry = text.len() > CARRIED_BYTES;
    let field = |name, about, value: &String| Field { name, about, value: value.clone() };
    let choice = |value, about: &str, chosen: &str| Choice {
        value,
        about: about.to_owned(),
        is_chosen: value == chosen,
    };
    let kinds = MediumKind::ALL
        .into_iter()
        .filter(|kind| !matches!(kind, MediumKind::Unknown | MediumKind::Simulated));
    ImportPage {
        action: app.address("/import"),
        refused: None,
        message: None,
        records: Vec::new(),
        more_records: 0,
        left: Vec::new(),
        more_left: 0,
        shown: None,
        text: if is_too_long_to_carry { String::new() } else { text },
        is_too_long_to_carry,
        fields: vec![
            field("vendor", "Vendor", &form.vendor),
            field("model", "Model", &form.model),
            field("capacity", "Capacity (32GB)", &form.capacity),
            field("label", "Name of the run", &form.label),
        ],
        kinds: kinds.map(|kind| choice(kind.name(), words::kind(kind), &form.kind)).collect(),
        units: vec![
            choice("ops", "operations a second", &form.iozone_unit),
            choice("kB", "kB/s", &form.iozone_unit),
        ],
    }
}

fn view(found: &FoundRecord, room: &mut usize) -> RecordView {
    let mut record = found.record.clone();
    record.cells.truncate(*room);
    *room -= record.cells.len();
    let software = &record.run.software;
    let tool = printable(&format!("{} {}", software.name, software.version));
    let facts = [tool].into_iter().chain(words::medium_facts(&record));
    let reasons = found.judged.as_ref().map(|judged| judged.reasons.clone()).unwrap_or_default();
    RecordView {
        name: found.name.clone(),
        facts: facts.collect::<Vec<_>>().join(", "),
        notes: record.flags.iter().map(|flag| printable(&flag.to_string())).collect(),
        more_cells: found.cells - record.cells.len(),
        tables: tables::all(&record).into_iter().map(table).collect(),
        refused: found.judged.as_ref().err().map(|problem| printable(&problem.reason)),
        reasons: reasons.iter().map(|reason| printable(reason)).collect(),
    }
}

/// A table without its last column (stop reason), which other tools do not have.
fn table((caption, table): (String, Table)) -> TableView {
    let Table { columns, rows, notes } = table;
    let width = columns.len().saturating_sub(1);
    let row = |row: tables::TableRow| {
        let marks: String = row.notes.iter().map(|note| format!(" [{note}]")).collect();
        let mut cells = row.cells;
        cells.truncate(width);
        if let Some(last) = cells.last_mut() {
            last.push_str(&marks);
        }
        cells
    };
    TableView {
        caption: printable(&caption),
        heads: columns.into_iter().take(width).map(|column| column.name.into_owned()).collect(),
        rows: rows.into_iter().map(row).collect(),
        notes,
    }
}

#[derive(Template)]
#[template(path = "imported.html")]
struct ImportedPage {
    form: String,
    rows: Vec<AddedView>,
}

struct AddedView {
    name: String,
    page: String,
    what: &'static str,
    reasons: Vec<String>,
    edit_token: Option<String>,
    refused: Option<String>,
}

/// Results for each record.
pub(super) fn added_page(app: &App, added: &[Added]) -> Response {
    let row = |added: &Added| match &added.done {
        Ok(receipt) => AddedView {
            name: added.name.clone(),
            page: receipt.page.clone(),
            what: if receipt.is_new {
                crate::pages::status_words(receipt.status)
            } else {
                "was there already"
            },
            reasons: receipt.reasons.iter().map(|reason| printable(reason)).collect(),
            edit_token: receipt.edit_token.clone(),
            refused: None,
        },
        Err(problem) => AddedView {
            name: added.name.clone(),
            page: String::new(),
            what: "not added",
            reasons: Vec::new(),
            edit_token: None,
            refused: Some(printable(&problem.reason)),
        },
    };
    let page = ImportedPage { form: app.address("/import"), rows: added.iter().map(row).collect() };
    answer(app, StatusCode::OK, &page)
}

fn answer(app: &App, status: StatusCode, page: &impl Template) -> Response {
    let body = page.render().expect("a template that compiled renders into memory");
    let page = report::collection::framed_at(app.site(), "Import", "import", &body);
    let mut response = (status, [(CACHE_CONTROL, "no-store")], Html(page)).into_response();
    response.extensions_mut().insert(SkipErrorPage);
    response
}
