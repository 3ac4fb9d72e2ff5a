//! The API exercised from its own description: for every operation that /api/v1/openapi.json names,
//! requests of all sorts, sound and hostile. Whatever comes: no 5xx, a status that the description
//! names, and a body of the form it names.
//!
//! `FLASHMARK_SITE_REQUESTS` says how many requests each operation gets (a few in passing),
//! `FLASHMARK_SITE_SEED` which ones.

mod hostile;
mod made;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};

use serde_json::{Value, json};

use crate::chance::{random, times};
use crate::durability::UNHURRIED;
use crate::ground::{Ground, Server};
use crate::http::{Answer, Request};
use crate::runs;
use made::Known;

/// What any request may meet before it comes to its operation: only these may be told by `default`,
/// for all operations alike.
const GENERAL: [u16; 9] = [400, 401, 404, 405, 413, 414, 429, 431, 503];
const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// One operation of the description.
struct Operation<'a> {
    method: &'a str,
    path: &'a str,
    /// Its own part of the description.
    told: &'a Value,
    /// Parameters of the operation and of its path.
    parameters: Vec<&'a Value>,
}

/// What the server says of its API.
struct Description {
    document: Value,
}

impl Description {
    fn of(server: &Server) -> Description {
        Description { document: server.json("/api/v1/openapi.json") }
    }

    fn operations(&self) -> Vec<Operation<'_>> {
        let mut all = Vec::new();
        for (path, item) in self.document["paths"].as_object().unwrap() {
            for method in METHODS.into_iter().filter(|method| item[method].is_object()) {
                let shared = item["parameters"].as_array().into_iter().flatten();
                let own = item[method]["parameters"].as_array().into_iter().flatten();
                let parameters =
                    shared.chain(own).map(|parameter| self.resolved(parameter)).collect();
                all.push(Operation { method, path, told: &item[method], parameters });
            }
        }
        // What takes things away comes last.
        all.sort_by_key(|operation| operation.method == "delete");
        all
    }

    /// What a part means, where it only refers to another part.
    fn resolved<'a>(&'a self, part: &'a Value) -> &'a Value {
        match part["$ref"].as_str() {
            Some(reference) => self
                .document
                .pointer(reference.trim_start_matches('#'))
                .unwrap_or_else(|| panic!("{reference} leads nowhere")),
            None => part,
        }
    }

    /// What is wrong with an answer, by the description; nothing where it is as told.
    fn fault(
        &self,
        operation: &Operation,
        answer: &Answer,
        validators: &mut Validators,
    ) -> Option<String> {
        // Being full is told with 503, and is no fault.
        if answer.status >= 500 && answer.status != 503 {
            return Some("the server failed".to_owned());
        }
        let responses = &operation.told["responses"];
        let told = responses
            .get(answer.status.to_string())
            .or_else(|| responses.get("default").filter(|_| GENERAL.contains(&answer.status)));
        let Some(told) = told.map(|told| self.resolved(told)) else {
            return Some(format!(
                "a status that its description does not have: {:?}",
                responses.as_object().unwrap().keys().collect::<Vec<_>>()
            ));
        };
        let kind =
            answer.head("content-type").split(';').next().unwrap_or_default().trim().to_owned();
        let Some(content) = told["content"].as_object().filter(|content| !content.is_empty())
        else {
            return (!answer.body.is_empty())
                .then(|| format!("a body ({kind}) where its description has none"));
        };
        let Some(form) = content.get(&kind) else {
            return Some(format!(
                "{kind:?} where its description has {:?}",
                content.keys().collect::<Vec<_>>()
            ));
        };
        if !kind.ends_with("json") || form["schema"].is_null() {
            return None;
        }
        match serde_json::from_slice(&answer.body) {
            Ok(body) => validators.fault(self, &form["schema"], &body),
            Err(error) => Some(format!("it says it is JSON: {error}")),
        }
    }
}

/// Schemas made ready once.
#[derive(Default)]
struct Validators(BTreeMap<String, jsonschema::Validator>);

impl Validators {
    fn fault(&mut self, description: &Description, schema: &Value, body: &Value) -> Option<String> {
        let validator = self.0.entry(schema.to_string()).or_insert_with(|| {
            // The document itself is where its references lead.
            let mut whole = json!({"components": description.document["components"]});
            whole["allOf"] = json!([schema]);
            jsonschema::draft202012::new(&whole).unwrap_or_else(|error| panic!("{schema}: {error}"))
        });
        validator
            .iter_errors(body)
            .next()
            .map(|error| format!("a body of another form: at {}: {error}", error.instance_path()))
    }
}

/// Every operation, with requests of all sorts.
pub fn answers_are_as_described(ground: &Ground) {
    let server = ground.serve(&UNHURRIED);
    let mut chance = random("requests from the description of the API");
    let known = Known::new(&server, ground);
    let description = Description::of(&server);
    let mut validators = Validators::default();
    let mut faults = BTreeSet::new();
    let mut seen: BTreeMap<String, BTreeMap<u16, u64>> = BTreeMap::new();
    let operations = description.operations();
    assert!(operations.len() >= 10, "{} operations", operations.len());
    for operation in &operations {
        let name = format!("{} {}", operation.method.to_uppercase(), operation.path);
        for _ in 0..times("SITE_REQUESTS", 150) {
            if operation.path.ends_with("/undo") {
                known.judge(&server);
            }
            let request = made::request(&description, operation, &known, &mut chance);
            let answer = match request.send(server.at) {
                Ok(answer) => answer,
                Err(error) => {
                    faults.insert(format!("{name}: no answer ({error}) to {}", shown(&request)));
                    continue;
                }
            };
            *seen.entry(name.clone()).or_default().entry(answer.status).or_default() += 1;
            if let Some(fault) = description.fault(operation, &answer, &mut validators) {
                let body: String = answer.text().chars().take(300).collect();
                faults.insert(format!(
                    "{name}: {} {fault}\n   to {}\n   {body}",
                    answer.status,
                    shown(&request)
                ));
            }
        }
    }
    tell(&seen);
    let few: Vec<&String> = faults.iter().take(20).collect();
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        few.into_iter().cloned().collect::<Vec<_>>().join("\n")
    );
    // What is sound got through as well: a test that is always refused shows nothing.
    for (name, statuses) in &seen {
        assert!(
            statuses.keys().any(|status| *status < 400),
            "{name} never succeeded: {statuses:?}"
        );
    }
    assert_eq!(ground.collection().check().unwrap(), Vec::<String>::new());
    server.is_sound();
    server.end();
}

/// How often each status came.
fn tell(seen: &BTreeMap<String, BTreeMap<u16, u64>>) {
    let lines: Vec<String> =
        seen.iter().map(|(name, statuses)| format!("  {name}: {statuses:?}\n")).collect();
    io::stderr().write_all(lines.concat().as_bytes()).unwrap();
}

/// A request in a line, cut where it is long.
fn shown(request: &Request) -> String {
    let text = String::from_utf8_lossy(&request.bytes()).replace("\r\n", " | ");
    let short: String = text.chars().take(600).collect();
    if short.len() < text.len() { short + "..." } else { short }
}

/// The description itself: named, versioned, every operation with an id and a summary, every
/// refusal in the same form.
#[test]
fn the_description_describes() {
    let ground = Ground::sqlite();
    let server = ground.serve(&[]);
    let description = Description::of(&server);
    let document = &description.document;
    assert!(document["openapi"].as_str().unwrap().starts_with("3."), "{}", document["openapi"]);
    assert!(
        document["info"]["title"].as_str().unwrap().contains("lashmark"),
        "{}",
        document["info"]
    );
    let mut ids = BTreeSet::new();
    for operation in description.operations() {
        let name = format!("{} {}", operation.method, operation.path);
        assert!(
            ids.insert(
                operation.told["operationId"]
                    .as_str()
                    .unwrap_or_else(|| panic!("{name} has no id"))
            ),
            "{name}"
        );
        let says = operation.told["summary"]
            .as_str()
            .or_else(|| operation.told["description"].as_str())
            .unwrap_or_default();
        assert!(says.len() > 5, "{name} says nothing");
        for (status, response) in operation.told["responses"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(status, _)| *status >= &"400".to_owned())
        {
            let content = &description.resolved(response)["content"];
            assert!(content["application/problem+json"].is_object(), "{name} {status}: {content}");
        }
    }
    for wanted in ["post /api/v1/runs", "delete /api/v1/runs/{id}", "get /api/v1/lines"] {
        let (method, path) = wanted.split_once(' ').unwrap();
        assert!(document["paths"][path][method].is_object(), "{wanted} is not described");
    }
    // It is strict enough to notice an answer of another form.
    let operations = description.operations();
    let run = operations
        .iter()
        .find(|operation| (operation.method, operation.path) == ("get", "/api/v1/runs/{id}"))
        .unwrap();
    let sent = server.submit(&runs::measured("Described", "D1", 1)).json();
    let mut answer = server.get(&format!("/api/v1/runs/{}", sent["id"].as_str().unwrap()));
    let mut validators = Validators::default();
    assert_eq!(description.fault(run, &answer, &mut validators), None);
    let mut body = answer.json();
    body["run"]["cells"][0]["ops"] = json!("many");
    answer.body = body.to_string().into_bytes();
    assert!(
        description.fault(run, &answer, &mut validators).is_some_and(|fault| fault.contains("ops"))
    );
    answer.status = 418;
    assert!(
        description
            .fault(run, &answer, &mut validators)
            .is_some_and(|fault| fault.contains("status"))
    );
}
