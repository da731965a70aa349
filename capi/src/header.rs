//! The C header `include/superscalar.h` declares what this library exports.
//!
//! The macros leave the prototypes of their entries in a section of the test program. From there a test writes the
//! parts of the header between `begin` and `end`. The rest is written by hand: the functions that no macro of
//! `superscalar-macros` makes, and what surrounds the prototypes.

use std::{collections::BTreeSet, env, fs, slice, sync::OnceLock};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include/superscalar.h");
const SYMBOLS: &str = include_str!("../symbols.txt");
const LINE_MAX: usize = 120;

/// A part of the header that is written by a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    interface: &'static str,
    bits: u32,
}

/// The header as it is when the tests run, or as they have just written it.
fn header() -> &'static str {
    static HEADER: OnceLock<String> = OnceLock::new();
    HEADER.get_or_init(|| {
        let found = fs::read_to_string(PATH).expect("the header is there");
        if env::var_os("BLESS").is_none() {
            return found;
        }
        let (text, _) = written(&found, prototypes());
        fs::write(PATH, &text).expect("the header can be written");
        text
    })
}

/// The prototypes of all entries.
fn prototypes() -> Vec<&'static str> {
    unsafe extern "C" {
        #[link_name = "__start_superscalar_prototypes"]
        static START: u8;
        #[link_name = "__stop_superscalar_prototypes"]
        static STOP: u8;
    }
    let (start, stop) = ((&raw const START).cast::<&str>(), (&raw const STOP).cast::<&str>());
    // SAFETY: the linker gives these names to the section's first byte and to the byte behind its last. The macros put
    // values of this type into it and nothing else. They lie there without gaps, as their size is a multiple of their
    // alignment, live as long as the program, and are never written.
    let texts = unsafe { slice::from_raw_parts(start, stop.offset_from_unsigned(start)) };
    texts.iter().flat_map(|text| text.lines()).collect()
}

/// The name that a prototype declares: the word before the first parenthesis.
fn name(prototype: &str) -> &str {
    let before = prototype.split('(').next().unwrap_or_default();
    before.rsplit([' ', '*', '\n']).next().unwrap_or_default()
}

/// A routine of LAPACK has an interface in C whose name begins so.
const LAPACKE: &str = "LAPACKE_";

/// In which part a name of this library is declared.
fn part(name: &str, lapack: &BTreeSet<&str>) -> Part {
    let bits = if name.ends_with("64_") || name.ends_with("_64") { 64 } else { 32 };
    let interface = match name.trim_end_matches("64_").trim_end_matches('_') {
        name if name.starts_with(LAPACKE) => "LAPACKE",
        name if name.starts_with("cblas_") => "CBLAS",
        name if lapack.contains(name) => "LAPACK",
        _ => "BLAS",
    };
    Part { interface, bits }
}

/// The header with the prototypes in its parts, sorted by their names, and how many there are.
fn written(header: &str, mut prototypes: Vec<&str>) -> (String, usize) {
    prototypes.sort_unstable_by_key(|prototype| name(prototype));
    let lapack = prototypes.iter().filter_map(|prototype| name(prototype).strip_prefix(LAPACKE)).collect();
    let (mut text, mut count, mut is_old) = (String::new(), 0, false);
    for line in header.lines() {
        is_old &= line != "/* end */";
        if is_old {
            continue;
        }
        text.extend([line, "\n"]);
        let Some((interface, bits)) = line.strip_prefix("/* begin: ").and_then(|rest| rest.split_once(", ")) else {
            continue;
        };
        is_old = true;
        let is_here = |prototype: &&&str| {
            let part = part(name(prototype), &lapack);
            part.interface == interface && bits == format!("{} bits */", part.bits)
        };
        for prototype in prototypes.iter().filter(is_here) {
            text.extend([&wrapped(prototype), "\n"]);
            count += 1;
        }
    }
    (text, count)
}

/// In lines of the length that the sources have, broken behind commas.
fn wrapped(prototype: &str) -> String {
    let (mut text, mut length) = (String::new(), 0);
    for piece in prototype.split_inclusive(", ") {
        if length + piece.trim_end().len() > LINE_MAX {
            text.truncate(text.trim_end().len());
            text.push_str("\n    ");
            length = 4;
        }
        text.push_str(piece);
        length += piece.len();
    }
    text
}

/// The names of all functions that the header declares, each as often as it does.
fn declared(header: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let (mut statement_began, mut at) = (0, 0);
    let mut is_comment = false;
    for line in header.split_inclusive('\n') {
        is_comment |= line.starts_with("/*");
        let end = at + line.len();
        if is_comment || line.starts_with(['#', '}', '\n']) || line.starts_with("extern \"C\"") {
            statement_began = end;
        } else if line.trim_end().ends_with(';') {
            let statement = &header[statement_began..end];
            if !statement.starts_with("typedef") {
                names.push(name(statement));
            }
            statement_began = end;
        }
        is_comment &= !line.trim_end().ends_with("*/");
        at = end;
    }
    names
}

/// Whether C programs call it. They do not call the names of Python's wheels, nor what the library calls when an
/// argument is wrong, nor variables.
fn is_called_from_c(symbol: &str) -> bool {
    !symbol.starts_with("scipy_")
        && !symbol.contains("xerbla")
        && !["RowMajorStrg", "CBLAS_CallFromC"].contains(&symbol)
}

#[test]
fn prototypes_are_those_of_the_entries() {
    let prototypes = prototypes();
    let all = prototypes.len();
    let (expected, count) = written(header(), prototypes);
    assert_eq!(count, all, "prototypes that are in a part of the header");
    let command = "BLESS=1 cargo test -p superscalar-blas --lib header";
    assert!(header() == expected, "include/superscalar.h is not up to date: {command}");
}

#[test]
fn names_are_those_of_the_symbols() {
    let mut declared = declared(header());
    let all = declared.len();
    declared.sort_unstable();
    declared.dedup();
    assert_eq!(declared.len(), all, "a name is declared twice");
    let declared: BTreeSet<&str> = declared.into_iter().collect();
    let expected: BTreeSet<&str> = SYMBOLS.lines().filter(|symbol| is_called_from_c(symbol)).collect();
    let missing: Vec<_> = expected.difference(&declared).collect();
    let unknown: Vec<_> = declared.difference(&expected).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "not declared {missing:?}, not exported {unknown:?}");
}

#[test]
fn lines_of_the_header_are_short() {
    for (at, line) in header().lines().enumerate() {
        assert!(line.len() <= LINE_MAX, "line {} has {} characters", at + 1, line.len());
    }
}
