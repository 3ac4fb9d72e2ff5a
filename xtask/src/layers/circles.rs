//! Circles among the modules of a crate: two that need each other can only be read together.
//!
//! Looked at are the modules that lie side by side, each with all below it: a module and what it is
//! made of are one thing to those beside it.

use std::collections::{BTreeMap, BTreeSet};

use super::Fault;
use super::project::Project;

/// From the top of the crate: empty for `lib.rs` and `main.rs`.
type Module = Vec<String>;

/// The modules of a crate, with their code.
struct Modules {
    code: BTreeMap<Module, String>,
    /// What a module gives on under a name: the path it stands for.
    given_on: BTreeMap<(Module, String), Vec<String>>,
}

impl Modules {
    fn of(project: &Project, folder: &str) -> Modules {
        let files = project.sources(folder);
        let code =
            files.map(|(path, tokens)| (module(&path[folder.len()..]), paths_joined(tokens)));
        let mut modules = Modules { code: code.collect(), given_on: BTreeMap::new() };
        for (module, code) in &modules.code {
            let public = uses(code).0.into_iter().filter(|(is_public, _)| *is_public);
            for path in public.flat_map(|(_, tree)| paths(tree)) {
                if let (Some(name), Some(full)) =
                    (path.last().cloned(), modules.full(module, &path))
                {
                    modules.given_on.insert((module.clone(), name), full);
                }
            }
        }
        modules
    }

    /// A path as seen from `module`, from the top of the crate; none of another crate.
    fn full(&self, module: &Module, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                let top = module.get(..module.len().checked_sub(ups)?)?;
                Some([top, &path[ups..]].concat())
            }
            _ => {
                let child = [module.as_slice(), std::slice::from_ref(first)].concat();
                self.code.contains_key(&child).then(|| [module, path].concat())
            }
        }
    }

    /// The module in which what a path means is written.
    fn home(&self, path: &[String], depth: usize) -> Module {
        let at = (0..=path.len()).rev().find(|at| self.code.contains_key(&path[..*at]));
        let (module, rest) = path.split_at(at.unwrap_or(0));
        let given_on = rest.first().and_then(|name| {
            self.given_on.get(&(module.to_vec(), name.clone())).filter(|_| depth < DEEPEST)
        });
        match given_on {
            Some(full) => self.home(&[full, &rest[1..]].concat(), depth + 1),
            None => module.to_vec(),
        }
    }

    /// Which modules each needs.
    fn needs(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let of = |module: &Module, code: &str| {
            let (trees, rest) = uses(code);
            let named = trees.into_iter().filter(|(is_public, _)| !is_public);
            let written_out = rest.into_iter().flat_map(written_out);
            let all = named.flat_map(|(_, tree)| paths(tree)).chain(written_out);
            all.filter_map(|path| Some(self.home(&self.full(module, &path)?, 0))).collect()
        };
        self.code.iter().map(|(module, code)| (module, of(module, code))).collect()
    }
}

/// Names are given on over no more modules than this.
const DEEPEST: usize = 6;

/// The path of a file's module: `catalogue::capacity::prober` of `catalogue/capacity/prober.rs`.
fn module(file: &str) -> Module {
    let mut parts: Module = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// Code without strings, with blanks between tokens but not within paths.
fn paths_joined(tokens: &[String]) -> String {
    let code = tokens.iter().map(String::as_str).filter(|text| !text.contains('"'));
    code.collect::<Vec<_>>().join(" ").replace(" : : ", "::")
}

/// The trees of `use` declarations, each with whether it is given on; and the rest of the code.
fn uses(code: &str) -> (Vec<(bool, &str)>, Vec<&str>) {
    let (mut trees, mut rest) = (Vec::new(), Vec::new());
    for statement in code.split(';') {
        let declaration = statement.match_indices("use ").find_map(|(at, word)| {
            let before = statement[..at].trim_end();
            let is_public = before.ends_with("pub") || before.ends_with(')');
            let begins = is_public || before.is_empty() || before.ends_with(['}', '{', ']']);
            begins.then(|| (before, is_public, &statement[at + word.len()..]))
        });
        let (before, is_public, tree) = declaration.unwrap_or((statement, false, ""));
        rest.push(before);
        trees.push((is_public, tree));
    }
    (trees, rest)
}

/// The paths of a `use` tree.
fn paths(tree: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut depth = 0;
    let mut from = 0;
    let ends = tree.char_indices().filter_map(|(at, c)| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        (c == ',' && depth == 0).then_some(at)
    });
    for end in ends.collect::<Vec<_>>().into_iter().chain([tree.len()]) {
        let part = tree[from..end].trim();
        from = end + 1;
        let (head, inside) = part.split_once('{').unwrap_or((part, ""));
        let head = head.split(" as ").next().unwrap_or_default();
        let head: Vec<String> = head
            .split("::")
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        if inside.is_empty() {
            found.extend((!head.is_empty()).then_some(head));
        } else {
            let inside = paths(inside.trim_end().trim_end_matches('}'));
            found.extend(inside.into_iter().map(|rest| [head.clone(), rest].concat()));
        }
    }
    found
}

/// Paths that are written out where they are needed: `crate::a::b`, `child::c`.
fn written_out(code: &str) -> impl Iterator<Item = Vec<String>> {
    let is_name = |part: &&str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let words = code.split(' ').filter(|word| word.contains("::"));
    words.map(move |word| word.split("::").filter(is_name).map(str::to_owned).collect())
}

/// Modules of each that can be reached from it and reach it again, each such group once.
fn circles(edges: &BTreeMap<&str, BTreeSet<&str>>) -> BTreeSet<Vec<String>> {
    let reached = |from: &str| -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = vec![from];
        while let Some(at) = next.pop() {
            for to in edges.get(at).into_iter().flatten() {
                if seen.insert((*to).to_owned()) {
                    next.push(to);
                }
            }
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<String>> =
        edges.keys().map(|from| (*from, reached(from))).collect();
    let circle = |(from, to): (&&str, &BTreeSet<String>)| -> Option<Vec<String>> {
        to.contains(*from).then(|| {
            let back =
                |other: &&String| all.get(other.as_str()).is_some_and(|it| it.contains(*from));
            to.iter().filter(back).cloned().collect()
        })
    };
    all.iter().filter_map(circle).collect()
}

/// Modules that lie side by side need each other in one direction only.
pub fn modules_form_no_circle(project: &Project) -> Vec<Fault> {
    let why = "modules that need each other can only be understood, tested and changed together";
    let folders = project.crates().map(|name| format!("crates/{name}/src/"));
    let mut faults = Vec::new();
    for folder in folders.chain(["xtask/src/".to_owned()]) {
        let modules = Modules::of(project, &folder);
        let needs = modules.needs();
        let parents: BTreeSet<&[String]> =
            modules.code.keys().filter_map(|it| Some(it.split_last()?.1)).collect();
        for parent in parents {
            let child = |module: &'_ Module| {
                module.starts_with(parent).then(|| module.get(parent.len()).cloned()).flatten()
            };
            let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for (module, needed) in &needs {
                let Some(from) = child(module) else { continue };
                let to = needed.iter().filter_map(child).filter(|to| *to != from);
                named.entry(from.clone()).or_default().extend(to);
            }
            let edges = named
                .iter()
                .map(|(from, to)| (from.as_str(), to.iter().map(String::as_str).collect()));
            for circle in circles(&edges.collect()) {
                let file = format!("{folder}{}", parent.join("/"));
                faults.push(Fault::new(file, format!("a circle: {}", circle.join(", ")), why));
            }
        }
    }
    faults
}
