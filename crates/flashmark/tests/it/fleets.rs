//! The Ansible role for many machines: the program knows every command that it types.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use flashmark::cli::Cli;
use yaml_rust2::{Yaml, YamlLoader};

fn yaml_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            yaml_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "yml") {
            found.push(path);
        }
    }
}

/// All `argv` below this node, as words.
fn commands(node: &Yaml, found: &mut Vec<Vec<String>>) {
    match node {
        Yaml::Array(nodes) => nodes.iter().for_each(|node| commands(node, found)),
        Yaml::Hash(map) => {
            for (key, value) in map {
                match (key.as_str(), value.as_vec()) {
                    (Some("argv"), Some(words)) => {
                        found
                            .push(words.iter().map(|word| word.as_str().unwrap().into()).collect());
                    }
                    _ => commands(value, found),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn the_role_types_what_the_program_knows() {
    let role = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/ansible");
    let (mut files, mut typed) = (Vec::new(), Vec::new());
    yaml_files(&role, &mut files);
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let documents = YamlLoader::load_from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        documents.iter().for_each(|node| commands(node, &mut typed));
    }
    let defaults = fs::read_to_string(role.join("roles/flashmark/defaults/main.yml")).unwrap();
    let defaults = &YamlLoader::load_from_str(&defaults).unwrap()[0];
    assert!(typed.len() >= 3, "{typed:?}");
    for words in typed {
        let filled = words.iter().map(|word| {
            let variable = word.trim_matches(['{', '}', ' ']);
            defaults[variable].as_str().unwrap_or(word)
        });
        let parsed = Cli::try_parse_from(filled);
        assert!(parsed.is_ok(), "{words:?}: {:?}", parsed.err());
    }
}
