//! OpenAPI 3.1 description of the API, made from its handlers and types: `utoipa` describes the
//! routes, `schemars` the types of a run, which are those of the published record schema.

use axum::extract::State;
use axum::response::Response;
use report::collection as made;

use crate::client::CachingHeaders;
use crate::pages::{FOR_EVER, RenderedPage, kept, packed, prefix_of};
use crate::problem::Problem;
use crate::state::App;
use std::sync::LazyLock;

use askama::Template;
use record::Published;
use record::collection::{CollectionLine, CollectionRun, Media};
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The complete description, with all types.
static WHOLE: LazyLock<Value> = LazyLock::new(|| {
    let (_, api) = crate::api::router().split_for_parts();
    let mut whole = serde_json::to_value(api).expect("a description is JSON");
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    generator.subschema_for::<CollectionRun>();
    generator.subschema_for::<CollectionLine>();
    generator.subschema_for::<Media>();
    generator.subschema_for::<Published>();
    let types = generator.take_definitions(true);
    if let Some(Value::Object(schemas)) = whole.pointer_mut("/components/schemas") {
        schemas.extend(types);
    }
    let others = json!({
        "description": "Any other problem",
        "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } }
    });
    let paths = whole["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    for operation in
        paths.filter_map(Value::as_object_mut).flat_map(|operations| operations.values_mut())
    {
        if let Some(Value::Object(responses)) = operation.get_mut("responses") {
            responses.insert("default".to_owned(), others.clone());
        }
    }
    whole
});

/// The description as JSON, for a site whose paths begin with `prefix`.
pub fn json(prefix: &str) -> String {
    let mut whole = WHOLE.clone();
    whole["servers"] = json!([{ "url": if prefix.is_empty() { "/" } else { prefix } }]);
    whole.to_string()
}

#[derive(Template)]
#[template(path = "api.html")]
struct ApiPage<'a> {
    about: &'a str,
    prefix: &'a str,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    method: String,
    path: &'a str,
    summary: String,
    about: String,
    token: &'static str,
}

/// Sentence that says if a call needs a token.
fn token(operation: &Value) -> &'static str {
    match operation.get("security").and_then(Value::as_array) {
        Some(ways) if ways.contains(&json!({})) => "A token may be sent along.",
        Some(_) => "Needs a token.",
        None => "",
    }
}

/// Text without Markdown code marks.
fn plain(text: &str) -> String {
    text.replace('`', "")
}

/// The description as HTML for people: the body of a page.
pub fn page(prefix: &str) -> String {
    let text = |value: &'static Value, name: &str| {
        value.get(name).and_then(Value::as_str).unwrap_or_default()
    };
    let paths = WHOLE["paths"].as_object().into_iter().flatten();
    let row = |path: &'static String, method: &String, operation: &'static Value| Row {
        method: method.to_uppercase(),
        path,
        summary: plain(text(operation, "summary")),
        about: plain(text(operation, "description")),
        token: token(operation),
    };
    let operations = paths.flat_map(|(path, operations)| {
        operations.as_object().into_iter().flatten().map(move |(method, it)| (path, method, it))
    });
    let rows = operations.map(|(path, method, operation)| row(path, method, operation)).collect();
    let page = ApiPage { about: text(&WHOLE["info"], "description"), prefix, rows };
    page.render().expect("a template that compiled renders into memory")
}
/// Page of the API for people.
pub async fn shown(
    State(app): State<App>,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    kept(&app, &conditional, "api".to_owned(), 0, FOR_EVER, || {
        packed(&app, |_, site| {
            let body = page(prefix_of(site));
            Ok(RenderedPage::page(made::framed(site, "Interface for programs", &body)))
        })
    })
    .await
}
