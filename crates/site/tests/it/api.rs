//! Tests of the API by schemathesis, from its own description: valid, odd and hostile requests to
//! every operation. No request may get a 5xx; status, media type and body must be as described, and
//! requests without the needed token must be rejected.
//!
//! `FLASHMARK_SITE_REQUESTS` sets the number of random requests to each operation besides the
//! constant ones (default: a few), `FLASHMARK_SITE_SEED` their seed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::chance::{seed, times};
use crate::durability::UNHURRIED;
use crate::environment::SiteEnvironment;
use crate::runs;
use crate::skipped::skipped;

/// Checks left out: a schema cannot express all rules for valid data, and a count above its bound
/// is treated as the bound.
const NOT_CHECKED: &str = "positive_data_acceptance,negative_data_rejection";

/// Command of schemathesis, as `./test` installs it, for a description at this address or path.
fn schemathesis(environment: &SiteEnvironment, description: &str) -> Option<Command> {
    let made = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/consumers/bin/schemathesis");
    if !Path::new(made).is_file() {
        skipped("needs schemathesis; ./test installs it");
        return None;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    let mut command = Command::new(made);
    command
        .args(["--config-file", &format!("{folder}/api.toml"), "run", description])
        .args(["--checks", "all", "--exclude-checks", NOT_CHECKED])
        .args(["--generation-database", "none", "--no-color", "--request-timeout", "300"])
        .args(["--seed", &seed("requests from the description of the API").to_string()])
        .args(["--header", &format!("Authorization: Bearer {}", environment.token("moderator"))])
        .current_dir(environment.at("."))
        .envs([("SCHEMATHESIS_HOOKS", "api_hooks"), ("PYTHONPATH", folder)])
        .env("PYTHONDONTWRITEBYTECODE", "yes");
    Some(command)
}

/// On PostgreSQL, if installed, which rejects more texts than SQLite.
#[test]
fn answers_are_as_described() {
    let environment = SiteEnvironment::postgresql().unwrap_or_else(SiteEnvironment::sqlite);
    let server = environment.serve(&UNHURRIED);
    let description = format!("{}/api/v1/openapi.json", server.base());
    let Some(mut command) = schemathesis(&environment, &description) else { return };
    let sent = |seed| server.submit(&runs::measured("Known", &format!("K{}", seed % 9), seed));
    let runs: Vec<Value> = (0..40).map(|seed| sent(seed).json()).collect();
    let texts = |name: &str| -> String {
        runs.iter().map(|run| run[name].as_str().unwrap()).collect::<Vec<_>>().join(" ")
    };
    command
        .args(["--phases", "examples,coverage,fuzzing"])
        .args(["--max-examples", &times("SITE_REQUESTS", 5).to_string()])
        .envs([("KNOWN_IDS", texts("id")), ("KNOWN_SLUGS", texts("slug"))]);
    let output = command.output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{report}\n{errors}");
    assert_eq!(environment.collection().check().unwrap(), Vec::<String>::new());
    server.is_sound();
    server.end();
}

/// An answer of another form than described is noticed.
#[test]
fn a_wrong_description_is_noticed() {
    let environment = SiteEnvironment::sqlite();
    let server = environment.serve(&UNHURRIED);
    let mut description = server.json("/api/v1/openapi.json");
    let answer = &mut description["paths"]["/api/v1/lines"]["get"]["responses"]["200"];
    answer["content"]["application/json"]["schema"] = json!({"type": "string"});
    let file = environment.at("wrong.json");
    fs::write(&file, description.to_string()).unwrap();
    let Some(mut command) = schemathesis(&environment, file.to_str().unwrap()) else { return };
    command
        .args(["--url", &server.base(), "--include-path", "/api/v1/lines"])
        .args(["--phases", "fuzzing", "--max-examples", "2"])
        .envs([("KNOWN_IDS", "0 1"), ("KNOWN_SLUGS", "none")]);
    let output = command.output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && report.contains("violates schema"), "{report}");
}

/// The description itself: named, versioned, every operation with an id and a summary, every
/// rejection in the same form.
#[test]
fn the_description_describes() {
    let environment = SiteEnvironment::sqlite();
    let document = environment.serve(&[]).json("/api/v1/openapi.json");
    assert!(document["openapi"].as_str().unwrap().starts_with("3."), "{}", document["openapi"]);
    let info = &document["info"];
    assert!(info["title"].as_str().unwrap().contains("lashmark"), "{info}");
    let operations: Vec<(String, &Value)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().iter();
            methods.map(move |(method, operation)| (format!("{method} {path}"), operation))
        })
        .filter(|(_, operation)| operation["responses"].is_object())
        .collect();
    let mut ids = BTreeSet::new();
    for (name, operation) in &operations {
        let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{name} has no id"));
        assert!(ids.insert(id), "{name}");
        let texts = ["summary", "description"].map(|field| operation[field].as_str());
        assert!(texts.into_iter().flatten().any(|text| text.len() > 5), "{name} says nothing");
        for (status, response) in operation["responses"].as_object().unwrap() {
            let form = &response["content"]["application/problem+json"];
            assert!(status.as_str() < "400" || form.is_object(), "{name} {status}: {response}");
        }
    }
    for wanted in ["post /api/v1/runs", "delete /api/v1/runs/{id}", "get /api/v1/lines"] {
        assert!(operations.iter().any(|(name, _)| name == wanted), "{wanted} is not described");
    }
}
