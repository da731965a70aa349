//! Tests that the C header `include/superscalar.h` declares the functions that this library exports.
//!
//! The macros store the prototypes of their entries in a section of the test program. From these, a test generates the
//! sections of the header between `begin` and `end`. The rest of the header is written by hand, including the functions
//! that no macro of `superscalar-macros` exports.

use std::{collections::BTreeSet, env, fs, slice, sync::OnceLock};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include/superscalar.h");
const SYMBOLS: &str = include_str!("../symbols.txt");
const LINE_MAX: usize = 120;

/// A generated section of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HeaderSection {
    interface: &'static str,
    bits: u32,
}

/// Returns the header. With `BLESS` set, generates its sections and writes it first.
fn header() -> &'static str {
    static HEADER: OnceLock<String> = OnceLock::new();
    HEADER.get_or_init(|| {
        let found = fs::read_to_string(PATH).expect("the header exists");
        if env::var_os("BLESS").is_none() {
            return found;
        }
        let (text, _) = with_prototypes(&found, prototypes());
        fs::write(PATH, &text).expect("the header can be written");
        text
    })
}

/// Returns the prototypes of all entries.
fn prototypes() -> Vec<&'static str> {
    unsafe extern "C" {
        #[link_name = "__start_superscalar_prototypes"]
        static START: u8;
        #[link_name = "__stop_superscalar_prototypes"]
        static STOP: u8;
    }
    let (start, stop) = ((&raw const START).cast::<&str>(), (&raw const STOP).cast::<&str>());
    // SAFETY: the linker defines these names as the start and the end of the section. The macros store only values of
    // this type in it, without gaps since the size is a multiple of the alignment. The values are `static` and never
    // written.
    let texts = unsafe { slice::from_raw_parts(start, stop.offset_from_unsigned(start)) };
    texts.iter().flat_map(|text| text.lines()).collect()
}

/// Returns the name that a prototype declares, which is the word before the first parenthesis.
fn name_of(prototype: &str) -> &str {
    let before = prototype.split('(').next().unwrap_or_default();
    before.rsplit([' ', '*', '\n']).next().unwrap_or_default()
}

/// The prefix of the C interface of LAPACK.
const LAPACKE: &str = "LAPACKE_";

/// The prefix of the batched routines.
const BATCHED: &str = "superscalar_";

/// Returns the section in which a name is declared.
fn section_of(name: &str, lapack: &BTreeSet<&str>) -> HeaderSection {
    let bits = if name.ends_with("64_") || name.ends_with("_64") { 64 } else { 32 };
    let interface = match name.trim_end_matches("64_").trim_end_matches('_') {
        name if name.starts_with(LAPACKE) => "LAPACKE",
        name if name.starts_with(BATCHED) => "batches",
        name if name.starts_with("cblas_") => "CBLAS",
        name if lapack.contains(name) => "LAPACK",
        _ => "BLAS",
    };
    HeaderSection { interface, bits }
}

/// Returns the header with the prototypes in its sections, sorted by name, and the number of prototypes written.
fn with_prototypes(header: &str, mut prototypes: Vec<&str>) -> (String, usize) {
    prototypes.sort_unstable_by_key(|prototype| name_of(prototype));
    let lapack = prototypes.iter().filter_map(|prototype| name_of(prototype).strip_prefix(LAPACKE)).collect();
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
            let section = section_of(name_of(prototype), &lapack);
            section.interface == interface && bits == format!("{} bits */", section.bits)
        };
        for prototype in prototypes.iter().filter(is_here) {
            text.extend([&wrap(prototype), "\n"]);
            count += 1;
        }
    }
    (text, count)
}

/// Breaks a prototype after commas into lines of at most [`LINE_MAX`] characters.
fn wrap(prototype: &str) -> String {
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

/// Returns the names of all function declarations of the header.
fn declared_names(header: &str) -> Vec<&str> {
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
                names.push(name_of(statement));
            }
            statement_began = end;
        }
        is_comment &= !line.trim_end().ends_with("*/");
        at = end;
    }
    names
}

/// Returns whether C programs call this symbol. They do not call the names for Python's wheels, the error handlers, or
/// variables.
fn is_called_from_c(symbol: &str) -> bool {
    !symbol.starts_with("scipy_")
        && !symbol.contains("xerbla")
        && !["RowMajorStrg", "CBLAS_CallFromC"].contains(&symbol)
}

#[test]
fn generated_sections_are_up_to_date() {
    let prototypes = prototypes();
    let all = prototypes.len();
    let (expected, count) = with_prototypes(header(), prototypes);
    assert_eq!(count, all, "number of prototypes in sections of the header");
    let command = "BLESS=1 cargo test -p superscalar-blas --lib header";
    assert!(header() == expected, "include/superscalar.h is not up to date: {command}");
}

#[test]
fn exported_symbols_are_declared() {
    let mut declared = declared_names(header());
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
fn header_lines_are_short() {
    for (at, line) in header().lines().enumerate() {
        assert!(line.len() <= LINE_MAX, "line {} has {} characters", at + 1, line.len());
    }
}
