//! Checks the project's rules on its sources: which crate may name which, where `unsafe` is allowed, how long files and
//! functions are, which words are used, and what the documents must mention. The files in `architecture/` check
//! comparisons that NaN passes, and cycles between folders.

#[path = "architecture/comparisons.rs"]
mod comparisons;
#[path = "architecture/documents.rs"]
mod documents;
#[path = "architecture/folders.rs"]
mod folders;
#[path = "architecture/modules.rs"]
mod modules;

use std::{
    fs,
    path::{Path, PathBuf},
};

const LINES_PER_FILE_MAX: usize = 500;
const LINES_PER_FUNCTION_MAX: usize = 70;
/// The maximum number of lines between a SAFETY comment and its `unsafe`.
const SAFETY_DISTANCE_MAX: usize = 8;

struct Source {
    /// The path from the root of the repository, with forward slashes.
    path: String,
    text: String,
}

impl Source {
    /// Returns the numbered lines without `//` comments.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(at, line)| (at + 1, line.split("//").next().unwrap_or_default()))
    }

    fn is_under(&self, folder: &str) -> bool {
        self.path.starts_with(&format!("{folder}/"))
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path)
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns every Rust source of the project.
fn sources() -> Vec<Source> {
    let mut folders: Vec<PathBuf> = [
        "src",
        "schedule",
        "recording",
        "runtime",
        "devices",
        "kernels",
        "oracle",
        "macros",
        "matrix-market",
        "dla",
        "capi",
        "traces",
        "tester",
        "tune",
        "examples",
        "tests",
    ]
    .map(|folder| root().join(folder))
    .into();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("sources are UTF-8");
                let path = path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
                sources.push(Source { path, text });
            }
        }
    }
    assert!(sources.len() > 100, "only {} sources were found", sources.len());
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

/// Fails with the list of offenders, if there are any.
fn none(offenders: Vec<String>, rule: &str) {
    assert!(offenders.is_empty(), "{rule}:\n  {}", offenders.join("\n  "));
}

/// Returns whether the line contains the word, neither preceded nor followed by a letter, a digit or an underscore.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(is_part)
            && !line[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

#[test]
fn imports_run_one_way() {
    /// The crates that independent crates must not name.
    const ALL: [&str; 6] = [
        "superscalar_runtime",
        "superscalar_devices",
        "superscalar_kernels",
        "superscalar_dla",
        "superscalar_matrix_market",
        "faer",
    ];
    let upper: [(&str, &[&str]); 11] = [
        ("schedule", &ALL),
        ("schedule", &["superscalar_recording", "superscalar_traces"]),
        ("recording", &ALL),
        ("recording", &["superscalar_traces"]),
        ("runtime", &ALL[1..]),
        ("devices", &["superscalar_kernels", "superscalar_dla", "superscalar_matrix_market", "faer"]),
        ("kernels", &["superscalar_dla", "superscalar_matrix_market"]),
        (
            "oracle",
            &["superscalar_runtime", "superscalar_devices", "superscalar_dla", "superscalar_matrix_market", "faer"],
        ),
        (
            "matrix-market",
            &["superscalar_runtime", "superscalar_devices", "superscalar_kernels", "superscalar_dla", "faer"],
        ),
        ("dla", &["superscalar_devices", "faer"]),
        ("traces", &ALL),
    ];
    let mut offenders = Vec::new();
    for (folder, forbidden) in upper {
        for name in forbidden {
            let manifest = read(&format!("{folder}/Cargo.toml"));
            let package = name.replace('_', "-");
            let names =
                |line: &str| line.starts_with(&format!("{package}.")) || line.starts_with(&format!("{package} "));
            offenders
                .extend(manifest.lines().filter(|line| names(line)).map(|line| format!("{folder}/Cargo.toml: {line}")));
        }
        for source in sources().iter().filter(|source| source.is_under(folder)) {
            let named = |line: &str| forbidden.iter().any(|name| has_word(line, name));
            offenders.extend(source.code().filter(|(_, line)| named(line)).map(|(at, _)| source.place(at)));
        }
    }
    none(
        offenders,
        "runtime must not name drivers or kernels, devices no kernels, kernels no algorithms, the oracle only kernels, \
         dla no drivers and not faer, and recording, matrix-market and traces none of them",
    );
}

/// Libraries must not depend on the oracle, which checks them.
#[test]
fn libraries_do_not_name_the_oracle() {
    let folders = [
        "",
        "schedule/",
        "recording/",
        "runtime/",
        "devices/",
        "kernels/",
        "macros/",
        "matrix-market/",
        "dla/",
        "capi/",
        "traces/",
    ];
    let manifests = folders.map(|folder| format!("{folder}Cargo.toml"));
    let named = manifests.into_iter().filter(|path| {
        let (text, mut section) = (read(path), String::new());
        text.lines().any(|line| {
            if line.starts_with('[') {
                line.clone_into(&mut section);
            }
            // The workspace's table of versions is for all members.
            let is_allowed = section.contains("dev-dependencies") || section.starts_with("[workspace");
            !is_allowed && line.contains("superscalar-oracle")
        })
    });
    none(named.collect(), "a library names the oracle, which checks it");
}

#[test]
fn only_backends_name_device_apis() {
    const DEVICE_APIS: [&str; 4] = ["cudarc", "ocl", "opencl3", "cl_sys"];
    const BACKENDS: [&str; 5] = [
        "devices/src/cuda",
        "devices/src/opencl",
        "kernels/src/cuda",
        "kernels/src/opencl",
        // A benchmark compares with NVIDIA's libraries.
        "kernels/benches/peer",
    ];
    let named = |line: &str| DEVICE_APIS.iter().any(|name| has_word(line, name));
    let mut offenders = Vec::new();
    for source in sources() {
        let is_backend =
            BACKENDS.iter().any(|folder| source.is_under(folder)) || source.path == "tests/architecture.rs";
        if !is_backend {
            offenders.extend(source.code().filter(|(_, line)| named(line)).map(|(at, _)| source.place(at)));
        }
    }
    let manifests = ["schedule", "recording", "runtime", "matrix-market", "dla", "oracle", "traces", "tester", "tune"]
        .map(|folder| format!("{folder}/Cargo.toml"))
        .into_iter()
        .chain(["Cargo.toml".to_owned()]);
    for manifest in manifests {
        // The workspace's table of versions is for all members.
        let text = read(&manifest);
        let lines = text.lines().skip_while(|line| manifest == "Cargo.toml" && *line != "[package]");
        offenders.extend(lines.filter(|line| named(line)).map(|line| format!("{manifest}: {line}")));
    }
    none(offenders, "only the backends name a device's API");
}

#[test]
fn only_kernels_name_faer() {
    let mut offenders = Vec::new();
    for source in
        sources().iter().filter(|source| !source.is_under("kernels") && source.path != "tests/architecture.rs")
    {
        offenders.extend(source.code().filter(|(_, line)| has_word(line, "faer")).map(|(at, _)| source.place(at)));
    }
    for manifest in
        ["runtime/Cargo.toml", "devices/Cargo.toml", "matrix-market/Cargo.toml", "dla/Cargo.toml", "tester/Cargo.toml"]
    {
        offenders.extend(read(manifest).lines().filter(|line| has_word(line, "faer")).map(|_| manifest.to_owned()));
    }
    none(offenders, "only `kernels` names faer");
}

#[test]
fn routines_are_compiled_once() {
    let mut offenders = Vec::new();
    for source in sources().iter().filter(|source| source.is_under("dla/src")) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let mut attributes = lines[..at].iter().rev().take_while(|line| line.starts_with("#["));
            let is_routine = line.starts_with("pub fn ") && line.contains("T: ");
            if is_routine && !attributes.any(|line| line.starts_with("#[each_type")) {
                offenders.push(source.place(at + 1));
            }
        }
    }
    none(offenders, "a routine without `#[each_type]`: every program that calls it would compile it");
}

#[test]
fn unsafe_code_is_forbidden_by_default() {
    let heads = [
        "src/lib.rs",
        "macros/src/lib.rs",
        "recording/src/lib.rs",
        "matrix-market/src/lib.rs",
        "oracle/src/lib.rs",
        "dla/src/lib.rs",
        "traces/src/lib.rs",
        "runtime/src/hazard.rs",
    ];
    let lacking = heads.into_iter().filter(|path| !read(path).contains("#![forbid(unsafe_code)]"));
    none(lacking.map(str::to_owned).collect(), "a module without #![forbid(unsafe_code)]");

    // The exception: the function by which the runtime asserts that a task may run.
    assert!(read("schedule/src/lib.rs").contains("#![deny(unsafe_code)]"));
    let mut allowed = Vec::new();
    for source in sources().iter().filter(|source| source.is_under("schedule")) {
        allowed.extend(
            source.code().filter(|(_, line)| line.contains("allow(unsafe_code)")).map(|(at, _)| source.place(at)),
        );
    }
    assert_eq!(allowed.len(), 1, "{allowed:?}");

    let mut offenders = Vec::new();
    for source in sources().iter().filter(|source| source.is_under("examples")) {
        offenders.extend(source.code().filter(|(_, line)| has_word(line, "unsafe")).map(|(at, _)| source.place(at)));
    }
    none(offenders, "user code needs no `unsafe`");
}

#[test]
fn unsafe_code_has_safety_comments() {
    let mut offenders = Vec::new();
    for source in sources().iter().filter(|source| source.path != "tests/architecture.rs") {
        let lines: Vec<&str> = source.text.lines().collect();
        for (number, line) in source.code() {
            let claims = ["unsafe {", "unsafe impl"].iter().any(|form| line.contains(form));
            let is_excused = source.text.contains("allow(clippy::undocumented_unsafe_blocks, reason");
            let above = &lines[number.saturating_sub(SAFETY_DISTANCE_MAX + 1)..number];
            if claims && !is_excused && !above.iter().any(|line| line.contains("SAFETY")) {
                offenders.push(source.place(number));
            }
        }
    }
    none(offenders, "`unsafe` without a SAFETY comment near");
}

#[test]
fn files_are_short() {
    let mut offenders = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        let head = source.text.lines().take_while(|line| line.starts_with("//!"));
        let is_explained = head.into_iter().any(|line| line.contains("500 lines"));
        if lines > LINES_PER_FILE_MAX && !is_explained {
            offenders.push(format!("{}: {lines} lines", source.path));
        }
    }
    none(offenders, "files are 500 lines at most, unless their head says why they have more than 500 lines");
}

#[test]
fn functions_are_short() {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut offenders = Vec::new();
    for source in sources() {
        let mut open: Option<(usize, usize)> = None;
        for (number, line) in source.text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
            let code = line.trim_start();
            let words = code.split([' ', '(', '<']).take_while(|word| !word.is_empty());
            if words.take(6).any(|word| word == "fn") && !code.starts_with("//") && !code.ends_with([';', '}', ',']) {
                open = Some((number, indent(line)));
            } else if let Some((start, depth)) = open.take_if(|(_, depth)| code == "}" && indent(line) == *depth) {
                let lines = number - start + 1;
                if lines > LINES_PER_FUNCTION_MAX {
                    offenders.push(format!("{}: {lines} lines (depth {depth})", source.place(start)));
                }
            }
        }
    }
    none(offenders, "functions are 70 lines at most");
}

#[test]
fn file_names_are_specific() {
    const NAMELESS: [&str; 7] = ["utils.rs", "util.rs", "common.rs", "misc.rs", "base.rs", "helpers.rs", "helper.rs"];
    let file = |source: &Source| source.path.rsplit('/').next().unwrap_or_default().to_owned();
    let offenders = sources().into_iter().filter(|source| NAMELESS.contains(&file(source).as_str()));
    none(offenders.map(|source| source.path).collect(), "a file name that does not describe its contents");
}

#[test]
fn no_unfinished_work_in_comments() {
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let mut offenders = Vec::new();
    for source in sources() {
        for (at, line) in source.text.lines().enumerate() {
            if marks.iter().any(|mark| has_word(line, mark)) {
                offenders.push(source.place(at + 1));
            }
        }
    }
    none(offenders, "a note about unfinished work");
}

#[test]
fn words_follow_the_glossary() {
    let glossary = read("GLOSSARY.md");
    let synonyms = glossary.lines().filter(|line| line.starts_with("| **")).filter_map(|line| line.split('|').nth(3));
    let synonyms: Vec<&str> =
        synonyms.flat_map(|cell| cell.split(',')).map(str::trim).filter(|word| !word.is_empty()).collect();
    assert!(synonyms.len() >= 5, "the glossary's table has another format: {synonyms:?}");
    let mut offenders = Vec::new();
    for source in sources() {
        for (at, line) in source.text.lines().enumerate() {
            let line = line.to_lowercase();
            let used = synonyms.iter().filter(|word| has_word(&line, word) || has_word(&line, &format!("{word}s")));
            offenders.extend(used.map(|word| format!("{}: {word}", source.place(at + 1))));
        }
    }
    none(offenders, "a word for which the glossary prescribes another");
}

/// Returns the name of the type that a line declares at the top of a module.
fn declared_type(line: &str) -> Option<&str> {
    let mut words = line.split(' ').filter(|word| !word.starts_with("pub") && *word != "unsafe");
    let is_type = ["struct", "enum", "union", "trait", "type"].contains(&words.next()?);
    let name = words.next().filter(|_| is_type)?;
    Some(name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(name))
}

/// One word for one thing: no two types of a crate share a name, except where folders implement the same design for
/// different hardware, and the private representations of errors.
#[test]
fn type_names_are_unique_in_a_crate() {
    const BACKENDS: [&str; 5] = ["sim", "cuda", "opencl", "cpu", "vector"];
    let mut declared: Vec<(String, String, String)> = Vec::new();
    let mut offenders = Vec::new();
    for source in sources() {
        let Some((folder, path)) = source.path.split_once("src/") else { continue };
        if path.contains("tests") {
            continue;
        }
        let backend = path.split('/').next().filter(|name| BACKENDS.contains(name)).unwrap_or_default();
        let code = source.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for name in code.lines().filter_map(declared_type).filter(|name| *name != "Repr") {
            let is_same =
                |(crate_folder, other, ..): &&(String, String, String)| crate_folder == folder && other == name;
            let twin = declared.iter().filter(is_same).find(|(.., place)| {
                let other = place.split_once("src/").map_or("", |(_, path)| path.split('/').next().unwrap_or_default());
                *place != source.path && (backend.is_empty() || !BACKENDS.contains(&other) || backend == other)
            });
            if let Some((.., place)) = twin {
                offenders.push(format!("{name}: {} and {place}", source.path));
            }
            declared.push((folder.to_owned(), name.to_owned(), source.path.clone()));
        }
    }
    none(offenders, "a name of two types in one crate");
}
