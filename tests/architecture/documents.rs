//! The rules for documents: what they must mention, that their links lead somewhere, how long their lines are.

use crate::{none, read, root, sources};
use std::{fs, path::PathBuf};

const COLUMNS_MAX: usize = 120;
const README_LINES_MAX: usize = 120;

/// Returns the paths of all Markdown documents, from the root of the repository.
fn documents() -> Vec<String> {
    let mut folders: Vec<PathBuf> = vec![root().to_owned()];
    let mut documents = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("a folder can be listed").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".md") {
                let path = path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
                documents.push(path);
            }
        }
    }
    assert!(documents.len() > 30, "only {} documents were found", documents.len());
    documents.sort();
    documents
}

#[test]
fn lines_fit_the_screen() {
    let documents = documents().into_iter().map(|path| (read(&path), path));
    let texts = documents.chain(sources().into_iter().map(|source| (source.text, source.path)));
    let mut offenders = Vec::new();
    for (text, path) in texts {
        for (at, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > COLUMNS_MAX {
                offenders.push(format!("{path}:{}: {columns} columns", at + 1));
            }
        }
    }
    none(offenders, "lines of code, comments and documents have at most 120 columns");
}

#[test]
fn readme_is_two_screens_long() {
    let lines = read("README.md").lines().count();
    assert!(lines <= README_LINES_MAX, "the README has {lines} lines");
}

#[test]
fn every_example_is_documented() {
    let (index, mut offenders) = (read("examples/README.md"), Vec::new());
    for source in sources().iter().filter(|source| source.is_under("examples")) {
        let name = source.path.trim_start_matches("examples/").trim_end_matches(".rs");
        let command = format!("cargo run --release --example {name}");
        if !index.contains(&format!("({name}.rs)")) {
            offenders.push(format!("examples/README.md does not link {}", source.path));
        }
        if !source.text.starts_with("//!") || !source.text.contains(&command) {
            offenders.push(format!("{} has no head with its command", source.path));
        }
    }
    none(offenders, "every example has a head with its command, and a row in examples/README.md");
}

#[test]
fn guide_shows_the_settings() {
    let table = superscalar::settings_table();
    assert!(read("docs/guide/tuning.md").contains(&table), "docs/guide/tuning.md lacks settings_table():\n{table}");
}

#[test]
fn guide_is_complete_and_tested() {
    let (index, tested) = (read("docs/guide/README.md"), read("src/documents.rs"));
    let mut offenders = Vec::new();
    for path in documents().iter().filter_map(|path| path.strip_prefix("docs/guide/")) {
        if path != "README.md" && !index.contains(&format!("({path})")) {
            offenders.push(format!("docs/guide/README.md does not link {path}"));
        }
        if path != "README.md" && !tested.contains(&format!("\"../docs/guide/{path}\"")) {
            offenders.push(format!("src/documents.rs does not compile {path}"));
        }
    }
    none(offenders, "the pages of the guide are listed, and their programs compiled");
}

#[test]
fn links_lead_to_files() {
    let mut offenders = Vec::new();
    for document in documents() {
        let folder = root().join(&document);
        let folder = folder.parent().expect("a file is in a folder");
        for link in read(&document).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let is_elsewhere = link.contains("://") || link.contains(' ');
            let target = folder.join(file);
            if !is_elsewhere && !file.is_empty() && !target.exists() {
                offenders.push(format!("{document}: {link}"));
            } else if !is_elsewhere && !heading.is_empty() {
                let target = if file.is_empty() { root().join(&document) } else { target };
                let text = fs::read_to_string(&target).unwrap_or_default();
                if !text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == heading) {
                    offenders.push(format!("{document}: {link} (no such heading)"));
                }
            }
        }
    }
    none(offenders, "a link to a file or heading that does not exist");
}

/// Returns the anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    words
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn files_in_the_architecture_exist() {
    let text = read("ARCHITECTURE.md");
    let named = text.split('`').filter(|word| word.ends_with(".rs") && !word.contains([' ', '*', '<']));
    let exists = |word: &str| {
        let folders = [
            "",
            "schedule/src",
            "recording/src",
            "runtime/src",
            "devices/src",
            "kernels/src",
            "oracle/src",
            "matrix-market/src",
            "dla/src",
            "traces/src",
        ];
        folders.iter().any(|at| root().join(at).join(word).exists())
    };
    let missing = named.filter(|word| !exists(word)).map(str::to_owned);
    none(missing.collect(), "ARCHITECTURE.md names a file that does not exist");
}

#[test]
fn decisions_are_numbered_and_listed() {
    let architecture = read("ARCHITECTURE.md");
    let mut names: Vec<String> = fs::read_dir(root().join("docs/decisions"))
        .expect("docs/decisions can be listed")
        .map(|entry| entry.expect("a folder can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut offenders = Vec::new();
    for (at, name) in names.iter().enumerate() {
        if !name.starts_with(&format!("{:04}-", at + 1)) {
            offenders.push(format!("{name}: expected number {:04}", at + 1));
        }
        if !architecture.contains(&format!("(docs/decisions/{name})")) {
            offenders.push(format!("{name} is not listed in ARCHITECTURE.md"));
        }
    }
    none(offenders, "decisions are numbered without gaps and listed");
}
