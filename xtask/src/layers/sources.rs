//! Sources as the compiler reads them, without comments and tests.

use std::iter::Peekable;

use proc_macro2::{TokenStream, TokenTree, token_stream::IntoIter};

/// The tokens of a source, without comments and what is built for tests only; none of a file that
/// is no Rust. Brackets are tokens of their own, a string stands with its quotes.
pub fn tokens(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    flatten(source.parse::<TokenStream>().unwrap_or_default().into_iter(), &mut found);
    found
}

fn flatten(stream: IntoIter, found: &mut Vec<String>) {
    let mut trees = stream.peekable();
    while let Some(tree) = trees.next() {
        if tree.to_string() == "#" {
            if trees.peek().is_some_and(|next| next.to_string() == "!") {
                trees.next();
            }
            skip_comment_or_test(&mut trees);
            continue;
        }
        if let TokenTree::Group(group) = &tree {
            let text = tree.to_string();
            found.extend(text.chars().next().map(String::from));
            flatten(group.stream().into_iter(), found);
            found.extend(text.chars().next_back().map(String::from));
        } else {
            found.push(tree.to_string());
        }
    }
}

/// Passes over the brackets of an attribute that is a doc comment, and over the whole item of one
/// that says it is for tests.
fn skip_comment_or_test(trees: &mut Peekable<IntoIter>) {
    let Some(TokenTree::Group(attribute)) = trees.peek() else { return };
    let words: String = attribute.stream().into_iter().map(|tree| tree.to_string()).collect();
    if words == "cfg(test)" {
        trees.find(|tree| tree.to_string() == ";" || tree.to_string().ends_with('}'));
    } else if words.starts_with("doc=") {
        trees.next();
    }
}

/// True if a file holds nothing but tests.
pub fn is_tests(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    format!("/{path}").contains("/tests/")
        || path.contains("/testing")
        || ["tests.rs", "trial.rs"].contains(&name)
}
