//! Checks that the folders of a crate use each other in one direction only, so that a reader of one folder needs to
//! know only those below it.
//!
//! Each crate has a graph of its top-level modules: the folders and files directly in `src`. Each of these folders has
//! a graph of the files and folders directly in it. An edge means that code of one names the other: by an import,
//! another path or a re-export. Tests are left out. The root of a crate, and the file that declares a folder's modules,
//! are not nodes: a name that they re-export counts for the module that it comes from. Among top-level modules, no
//! cycle is allowed. Within a folder, files may use each other, but a cycle that contains a folder is refused.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Source,
    modules::{Crate, Names},
    none, sources,
};

/// The edges, each with the place of its first occurrence.
#[derive(Default)]
struct Graph {
    edges: BTreeMap<(String, String), String>,
}

/// Modules of one folder that all reach each other.
struct Cycle {
    folder: String,
    members: BTreeSet<String>,
    graph: Graph,
}

impl Graph {
    /// Returns the graph of the modules directly in a module.
    fn of(read: &Crate, outer: &[String]) -> Self {
        let mut graph = Self::default();
        for mention in &read.mentions {
            let Some(path) = read.absolute(&mention.module, &mention.path) else { continue };
            let ends = read.child(outer, &mention.module).zip(read.child(outer, &path));
            if let Some(ends) = ends.filter(|(from, to)| from != to) {
                graph.edges.entry(ends).or_insert_with(|| mention.place.clone());
            }
        }
        graph
    }

    /// Returns the subgraph of these modules.
    fn within(&self, members: &BTreeSet<String>) -> Self {
        let inner = self.edges.iter().filter(|((from, to), _)| members.contains(from) && members.contains(to));
        Self { edges: inner.map(|(ends, place)| (ends.clone(), place.clone())).collect() }
    }

    /// Returns the reachable modules, each with its predecessor on a shortest path.
    fn reached<'a>(&'a self, start: &'a str) -> BTreeMap<&'a str, &'a str> {
        let mut before = BTreeMap::new();
        let mut left = std::collections::VecDeque::from([start]);
        while let Some(at) = left.pop_front() {
            for (_, to) in self.edges.keys().filter(|(from, _)| from == at) {
                if !before.contains_key(to.as_str()) {
                    before.insert(to.as_str(), at);
                    left.push_back(to);
                }
            }
        }
        before
    }

    /// Returns the strongly connected components of more than one module.
    fn components(&self) -> BTreeSet<BTreeSet<String>> {
        let starts: BTreeSet<&str> = self.edges.keys().map(|(from, _)| from.as_str()).collect();
        let reached: BTreeMap<&str, _> = starts.iter().map(|&start| (start, self.reached(start))).collect();
        let in_one = |a: &str, b: &str| reached[a].contains_key(b) && reached.get(b).is_some_and(|b| b.contains_key(a));
        let component =
            |&start: &&str| reached[start].keys().filter(|at| in_one(start, at)).map(|&at| at.to_owned()).collect();
        starts.iter().map(component).filter(|component: &BTreeSet<String>| component.len() > 1).collect()
    }

    /// Returns the edges of the shortest cycle through one of the modules, with their places.
    fn shortest_cycle<'a>(&self, through: impl Iterator<Item = &'a String>) -> Vec<String> {
        let cycle = |start: &String| {
            let before = self.reached(start);
            let mut edges = Vec::new();
            let mut to = start.as_str();
            while edges.is_empty() || to != start {
                let from = *before.get(to)?;
                let place = &self.edges[&(from.to_owned(), to.to_owned())];
                edges.push(format!("{from} names {to}: {place}"));
                to = from;
            }
            edges.reverse();
            Some(edges)
        };
        through.filter_map(cycle).min_by_key(Vec::len).unwrap_or_default()
    }
}

/// Returns the cycles of a crate: among its top-level modules, and in each folder those that contain a folder.
fn cycles(root: &str, read: &Crate) -> Vec<Cycle> {
    let source_folder = root.rsplit_once('/').expect("a root is in a folder").0.to_owned();
    let outers = std::iter::once(Names::new()).chain(read.folders(&[]).into_iter().map(|name| vec![name]));
    let mut found = Vec::new();
    for outer in outers {
        let inner = read.folders(&outer);
        let is_meant = |members: &BTreeSet<String>| outer.is_empty() || !members.is_disjoint(&inner);
        let folder = [std::slice::from_ref(&source_folder), outer.as_slice()].concat().join("/");
        let graph = Graph::of(read, &outer);
        for members in graph.components().into_iter().filter(is_meant) {
            found.push(Cycle { folder: folder.clone(), graph: graph.within(&members), members });
        }
    }
    found
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let edges = self.graph.shortest_cycle(self.members.iter()).join("\n    ");
        let members: Vec<&str> = self.members.iter().map(String::as_str).collect();
        write!(out, "{}: {} use each other\n    {edges}", self.folder, members.join(", "))
    }
}

fn names(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn folders_form_no_cycles() {
    let sources = sources();
    let is_root = |path: &str| {
        let parts: Vec<&str> = path.split('/').collect();
        matches!(parts[..], ["src", "lib.rs"] | [_, "src", "lib.rs" | "main.rs"])
    };
    let roots: Vec<&str> = sources.iter().map(|source| source.path.as_str()).filter(|path| is_root(path)).collect();
    assert!(roots.len() >= 8, "only {roots:?} were found");
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for root in roots {
        let read = Crate::read(root, &sources);
        found.append(&mut cycles(root, &read));
        // The quotes of procedural macros are code of other crates.
        unknown.extend(read.unknown().into_iter().filter(|_| root != "macros/src/lib.rs").map(str::to_owned));
    }
    none(unknown, "a path that this test cannot follow: name each item by the module that it is in");
    let found = found.iter().map(Cycle::to_string).collect();
    none(found, "modules that use each other: move the shared code into a module below both");
}

/// Returns the cycles of a crate with these files in its folder `src`.
fn cycles_of(files: &[(&str, &str)]) -> Vec<Cycle> {
    let source = |&(path, text): &(&str, &str)| Source { path: format!("src/{path}"), text: text.to_owned() };
    cycles("src/lib.rs", &Crate::read("src/lib.rs", &files.iter().map(source).collect::<Vec<_>>()))
}

/// Returns whether the modules `x` and `y` use each other, in a crate with this root. `y` uses `x`; the text of `x` is
/// given.
fn is_cycle(root: &str, x: &str) -> bool {
    let root = format!("mod x; mod y; {root}");
    let found = cycles_of(&[("lib.rs", &root), ("x.rs", x), ("y.rs", "pub struct Y; fn f(_: crate::x::X) {}")]);
    found.iter().any(|cycle| cycle.members == names("x y"))
}

#[test]
fn cycles_are_found() {
    for x in [
        "use crate::y::Y;",
        "use crate::{z::Z, y::{self, Y as Other}};",
        "use super::y;",
        "pub(crate) use crate::y::*;",
        "fn f() { let a = '\"'; crate::y::f::<u8>(a); }",
        "fn f<T: crate::y::Trait>(_: T) {}",
        "#[derive(crate::y::Derived)] struct X;",
        "macro_rules! x { () => { $crate::y::f() } }",
        "mod inner { fn f() { super::super::y::f() } }",
        "#[cfg(not(test))] use crate::y::Y;",
        "#[cfg(test)] use crate::z::Z; use crate::y::Y;",
        "#[cfg(test)] fn f<A, B>(a: A, b: B) { g() } use crate::y::Y;",
        "#[cfg(test)] mod tests; use crate::y::Y;",
        "struct X { #[cfg(test)] z: u8, y: crate::y::Y }",
        "fn f() { #[cfg(test)] let z = [1, 2]; crate::y::f() }",
        "#[cfg(test)] pub(crate) const Z: [u8; 2] = { [1, 2] }; use crate::y::Y;",
    ] {
        assert!(is_cycle("", x), "{x}");
    }
}

#[test]
fn reexports_are_resolved() {
    for (root, x) in [
        ("pub use y::Y;", "use crate::Y;"),
        ("pub use self::y::{Y as Z};", "use crate::{X, Z};"),
        ("pub use crate::y::Y;", "fn f() { super::Y::new() }"),
        ("pub use {x::*, y::*};", "pub struct X; use crate::Y;"),
        ("pub mod names { pub use crate::y::Y; }", "use crate::names::Y;"),
        ("pub use names::Z; mod names { pub use crate::y::Y as Z; }", "use crate::Z;"),
    ] {
        assert!(is_cycle(root, x), "{root} {x}");
    }
    for (root, x) in [
        ("pub use y::Y;", "use crate::Z;"),
        ("pub use {other::*, y::*};", "use crate::Z;"),
        ("pub use other::y::Y;", "use crate::Y;"),
        ("pub use again::again;", "use crate::again;"),
    ] {
        assert!(!is_cycle(root, x), "{root} {x}");
    }
}

#[test]
fn tests_comments_and_strings_are_ignored() {
    for x in [
        "",
        "// use crate::y::Y;",
        "//! [`Y`](crate::y::Y)",
        "const X: &str = \"crate::y::Y\";",
        "#[cfg(test)] use crate::y::Y;",
        "#[cfg(all(loom, test))] mod tests { use crate::y::Y; }",
        "#[cfg(test)] #[path = \"x_tests.rs\"] mod tests { use super::super::y::Y; }",
        "#[cfg(test)] impl X { fn f<A, B>(a: [A; 2]) { crate::y::f() } }",
        "struct X { #[cfg(test)] pub(super) y: crate::y::Y, z: u8 }",
        "fn f() { #[cfg(test)] let y = (crate::y::f(), { 1 }); }",
        "use other::crate_y::y::Y; use y::Y; pub(in crate::x) struct X;",
    ] {
        assert!(!is_cycle("", x), "{x}");
    }
}

#[test]
fn cycles_within_a_folder_are_found() {
    let cycles = |x: &str| {
        let found = cycles_of(&[
            ("lib.rs", "mod f;"),
            ("f.rs", "mod x; mod y; pub use y::inner::Y;"),
            ("f/x.rs", x),
            ("f/y/mod.rs", "pub mod inner; mod tests;"),
            ("f/y/inner.rs", "use super::super::x::X;"),
            ("f/y/tests.rs", ""),
        ]);
        found.into_iter().map(|cycle| cycle.folder).collect::<Vec<_>>()
    };
    assert_eq!(cycles("use super::Y;"), ["src/f"]);
    assert_eq!(cycles("use super::y::Y;"), ["src/f"]);
    assert_eq!(cycles("use crate::f::{Y, Z};"), ["src/f"]);
    assert!(cycles("use super::Z;").is_empty());
    let files = [
        ("lib.rs", "mod f;"),
        ("f/mod.rs", "mod x; mod y;"),
        ("f/x.rs", "use super::y::Y;"),
        ("f/y.rs", "use super::x::X;"),
    ];
    assert!(cycles_of(&files).is_empty());
}

#[test]
fn the_shortest_cycle_is_shown() {
    let found = cycles_of(&[
        ("lib.rs", "mod w; mod x; mod y; mod z;"),
        ("w.rs", "use crate::x;"),
        ("x.rs", "use crate::y;"),
        ("y.rs", "use crate::z;\nuse crate::x;"),
        ("z.rs", "use crate::x;"),
    ]);
    let shown: Vec<_> = found.iter().map(Cycle::to_string).collect();
    let cycle = "x names y: src/x.rs:1\n    y names x: src/y.rs:2";
    assert_eq!(shown, [format!("src: x, y, z use each other\n    {cycle}")]);
}
