//! Requests made from a description: parameters and bodies of the forms it names, each now and then
//! spoilt.

use std::cell::Cell;

use serde_json::{Map, Value, json};

use super::{Description, Operation, hostile};
use crate::ground::{Ground, Server};
use crate::http::Request;
use crate::runs;
use stats::Random;

/// What is there, so that requests come to something.
pub struct Known {
    ids: Vec<String>,
    slugs: Vec<String>,
    edit_tokens: Vec<String>,
    moderator: String,
    sender: String,
    run: Value,
    /// A run that is judged again and again, and the last deed of that.
    judged: String,
    deed: Cell<u64>,
}

impl Known {
    /// Sends a few runs, and gets tokens.
    pub fn new(server: &Server, ground: &Ground) -> Known {
        let sent: Vec<Value> = (0..6)
            .map(|seed| {
                server.submit(&runs::measured("Known", &format!("K{}", seed % 2), seed)).json()
            })
            .collect();
        let texts = |name: &str| {
            sent.iter().map(|receipt| receipt[name].as_str().unwrap().to_owned()).collect()
        };
        let lines = server.json("/api/v1/lines");
        let mut slugs: Vec<String> = texts("slug");
        slugs.extend(
            lines["lines"]
                .as_array()
                .unwrap()
                .iter()
                .take(10)
                .map(|line| line["slug"].as_str().unwrap().to_owned()),
        );
        let mut run = serde_json::to_value(runs::measured("Known", "K9", 99)).unwrap();
        // Small enough to be sent a thousand times.
        for cell in run["cells"].as_array_mut().unwrap() {
            cell.as_object_mut().unwrap().remove("series");
        }
        Known {
            ids: texts("id"),
            slugs,
            edit_tokens: texts("edit_token"),
            moderator: ground.token("moderator"),
            sender: ground.token("api"),
            run,
            judged: server.submit(&runs::measured("Known", "K10", 100)).json()["id"]
                .as_str()
                .unwrap()
                .to_owned(),
            deed: Cell::new(0),
        }
    }

    /// Judges a run, so that there is a deed to undo.
    pub fn judge(&self, server: &Server) {
        let judge = |standing: &str| {
            let body = json!({"ids": [self.judged], "standing": standing}).to_string();
            let request = Request::new("POST", "/api/v1/standing").bearer(&self.moderator);
            server.send(&request.json(body)).json()["deed"].as_u64()
        };
        let deed = judge("rejected").or_else(|| judge("accepted"));
        self.deed.set(deed.expect("one of the two changes it"));
    }

    /// A run like others, and yet another one.
    fn run(&self, chance: &mut Random) -> Value {
        let mut run = self.run.clone();
        run["seed"] = json!(chance.bits() >> 12);
        run["model"] = json!(format!("K{}", chance.below(9)));
        run
    }
}

/// A request for an operation.
pub fn request(
    description: &Description,
    operation: &Operation,
    known: &Known,
    chance: &mut Random,
) -> Request {
    let mut path = operation.path.to_owned();
    let mut query = Vec::new();
    let mut heads = Vec::new();
    for parameter in &operation.parameters {
        let name = parameter["name"].as_str().unwrap();
        let is_needed = parameter["required"] == true;
        match parameter["in"].as_str().unwrap() {
            "path" => {
                path = path.replace(
                    &format!("{{{name}}}"),
                    &segment(description, parameter, known, chance),
                )
            }
            "query" if is_needed || chance.below(3) == 0 => {
                query.extend(pairs(description, parameter, known, chance))
            }
            "header" if is_needed || chance.below(3) == 0 => {
                heads.push((name.to_owned(), hostile::head(chance)))
            }
            _ => {}
        }
    }
    if chance.below(12) == 0 {
        query.push(format!(
            "{}={}",
            escaped(&hostile::text(chance)),
            escaped(&hostile::text(chance))
        ));
    }
    let target = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
    let mut request = Request::new(&operation.method.to_uppercase(), target);
    request.heads = heads;
    let mut request = with_token(request, known, chance);
    if operation.told["requestBody"].is_object() || chance.below(25) == 0 {
        request = with_body(request, description, operation, known, chance);
    }
    request
}

/// A part of a path: mostly of something that is there.
fn segment(
    description: &Description,
    parameter: &Value,
    known: &Known,
    chance: &mut Random,
) -> String {
    let name = parameter["name"].as_str().unwrap();
    if chance.below(5) == 0 {
        return escaped_now_and_then(&hostile::text(chance), chance);
    }
    match name {
        "id" | "run" => chance.pick(&known.ids).clone(),
        "slug" | "medium" => chance.pick(&known.slugs).clone(),
        _ => escaped(&plain(&value(description, &parameter["schema"], known, chance, 0))),
    }
}

/// A parameter of the query, once or several times.
fn pairs(
    description: &Description,
    parameter: &Value,
    known: &Known,
    chance: &mut Random,
) -> Vec<String> {
    let name = parameter["name"].as_str().unwrap();
    let times = if chance.below(8) == 0 { 3 } else { 1 };
    let mut made = Vec::new();
    for _ in 0..times {
        let values = match value(description, &parameter["schema"], known, chance, 0) {
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            let value = if chance.below(4) == 0 { hostile::text(chance) } else { plain(&value) };
            made.push(format!("{name}={}", escaped_now_and_then(&value, chance)));
        }
    }
    made
}

/// A value as it stands in an address.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn with_token(request: Request, known: &Known, chance: &mut Random) -> Request {
    match chance.below(10) {
        0..=3 => request.bearer(&known.moderator),
        4 => request.bearer(&known.sender),
        5 => request.bearer(chance.pick(&known.edit_tokens).as_str()),
        6 if chance.below(4) == 0 => request.head("authorization", hostile::head(chance)),
        _ => request,
    }
}

fn with_body(
    request: Request,
    description: &Description,
    operation: &Operation,
    known: &Known,
    chance: &mut Random,
) -> Request {
    let content = &description.resolved(&operation.told["requestBody"])["content"];
    let schema = &content["application/json"]["schema"];
    let is_run = operation.path.contains("/runs") && !operation.path.contains("standing");
    let mut body = match chance.below(4) {
        _ if !is_run => value(description, schema, known, chance, 0),
        0 => value(description, schema, known, chance, 0),
        _ => known.run(chance),
    };
    if chance.below(2) == 0 {
        hostile::spoil(&mut body, chance);
    }
    let mut bytes = body.to_string().into_bytes();
    if chance.below(8) == 0 {
        hostile::spoil_bytes(&mut bytes, chance);
    }
    let mut request = if chance.below(15) == 0 {
        request.head("content-type", hostile::head(chance))
    } else {
        request.head("content-type", "application/json")
    };
    if chance.below(15) == 0 {
        request = request.head(
            "content-encoding",
            *chance.pick(&["gzip", "deflate", "br", "identity", "gzip, gzip", ""]),
        );
    }
    request.body = Some(bytes);
    request
}

/// A value of a schema's form.
fn value(
    description: &Description,
    schema: &Value,
    known: &Known,
    chance: &mut Random,
    depth: u32,
) -> Value {
    let schema = description.resolved(schema);
    for either in ["oneOf", "anyOf"] {
        if let Some(forms) = schema[either].as_array().filter(|forms| !forms.is_empty()) {
            return value(description, chance.pick(forms), known, chance, depth + 1);
        }
    }
    if let Some(forms) = schema["allOf"].as_array() {
        let parts = forms.iter().map(|form| value(description, form, known, chance, depth + 1));
        return Value::Object(
            parts.filter_map(|part| part.as_object().cloned()).flatten().collect(),
        );
    }
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
        return chance.pick(values).clone();
    }
    if let Some(example) = schema.get("example").filter(|_| chance.below(2) == 0) {
        return example.clone();
    }
    match kind(schema, chance) {
        "object" => object(description, schema, known, chance, depth),
        "array" if depth > 6 => json!([]),
        "array" => (0..chance.below(4))
            .map(|_| value(description, &schema["items"], known, chance, depth + 1))
            .collect(),
        "integer" => number(schema, chance),
        "number" if chance.below(2) == 0 => json!(chance.bits() as f64 / 1e9),
        "number" => number(schema, chance),
        "boolean" => Value::Bool(chance.below(2) == 0),
        "null" => Value::Null,
        _ => json!(text(known, chance)),
    }
}

/// The kind of a value; of several one.
fn kind<'a>(schema: &'a Value, chance: &mut Random) -> &'a str {
    match &schema["type"] {
        Value::Array(kinds) if !kinds.is_empty() => chance.pick(kinds).as_str().unwrap_or("string"),
        Value::String(kind) => kind,
        _ if schema["properties"].is_object() => "object",
        _ => "string",
    }
}

fn object(
    description: &Description,
    schema: &Value,
    known: &Known,
    chance: &mut Random,
    depth: u32,
) -> Value {
    let mut made = Map::new();
    let needed: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, form) in schema["properties"].as_object().into_iter().flatten() {
        if needed.contains(&name.as_str()) || (depth < 4 && chance.below(2) == 0) {
            let told = match name.as_str() {
                "deed" if chance.below(4) > 0 => json!(known.deed.get()),
                _ => value(description, form, known, chance, depth + 1),
            };
            made.insert(name.clone(), told);
        }
    }
    Value::Object(made)
}

fn number(schema: &Value, chance: &mut Random) -> Value {
    let least = schema["minimum"].as_i64().unwrap_or(0);
    match chance.below(6) {
        0 => json!(least),
        1 => json!(schema["maximum"].as_i64().unwrap_or(i64::MAX)),
        2 => json!(least + 1),
        _ => json!(least + chance.below(200) as i64),
    }
}

fn text(known: &Known, chance: &mut Random) -> String {
    match chance.below(6) {
        0 => chance.pick(&known.ids).clone(),
        1 => chance.pick(&known.slugs).clone(),
        2 => hostile::text(chance),
        _ => (*chance.pick(&[
            "sd",
            "Known",
            "usb 2.0",
            "A1",
            "flashmark/1",
            "random-write-4k",
            "2026-05-01T12:00:00Z",
            "because",
        ]))
        .to_owned(),
    }
}

/// Text in an address, mostly as it must be written there.
fn escaped_now_and_then(text: &str, chance: &mut Random) -> String {
    if chance.below(6) == 0 { hostile::address(chance) } else { escaped(text) }
}

fn escaped(text: &str) -> String {
    report::collection::query::escaped(text)
}
