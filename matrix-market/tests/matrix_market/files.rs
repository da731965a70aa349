//! Synthetic files with the size and spelling of files from collections, and files from collections where present.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use superscalar_matrix_market::{self as matrix_market, Market, Shape, Symmetry};

use crate::assertions::{assert_fill_is_sound, assert_round_trip};

/// A synthetic file in the style of the collections: comments, entries by columns, thirteen digits and a signed
/// exponent.
struct SyntheticFile {
    symmetry: Symmetry,
    n: usize,
    /// Column j has entries in rows j + offset. If the matrix is not symmetric, these rows are taken modulo n.
    offsets: &'static [usize],
    /// Every `zero_every`-th entry is an explicit zero; 0 for none.
    zero_every: usize,
}

/// One entry of a synthetic file.
struct SpelledEntry {
    /// Row, counted from 0.
    i: usize,
    /// Column, counted from 0.
    j: usize,
    /// The text of the value.
    value: String,
}

/// Files with the shapes and symmetries of [`COLLECTION_FILES`].
const SYNTHETIC_FILES: [SyntheticFile; 3] = [
    SyntheticFile {
        symmetry: Symmetry::Symmetric,
        n: 3948,
        offsets: &[0, 1, 4, 5, 12, 13, 16, 17, 36, 40, 41, 42, 43, 46, 47, 48],
        zero_every: 0,
    },
    SyntheticFile { symmetry: Symmetry::General, n: 1258, offsets: &[0, 7, 100, 1000, 1100, 1257], zero_every: 0 },
    SyntheticFile { symmetry: Symmetry::General, n: 479, offsets: &[24, 30, 86, 400], zero_every: 87 },
];

impl SyntheticFile {
    fn is_symmetric(&self) -> bool {
        self.symmetry == Symmetry::Symmetric
    }

    /// Returns the entries in the order of the file.
    fn entries(&self) -> Vec<SpelledEntry> {
        let mut entries = Vec::new();
        for j in 0..self.n {
            let here = self.offsets.iter().map(|offset| j + offset);
            let rows: Vec<usize> = match self.symmetry {
                Symmetry::Symmetric => here.filter(|&i| i < self.n).collect(),
                _ => here.map(|i| i % self.n).collect(),
            };
            for i in rows {
                let number = entries.len() as u64;
                let is_zero = self.zero_every > 0 && number.is_multiple_of(self.zero_every as u64);
                let value = if is_zero { "0.0000000000000e+00".into() } else { spelling(number) };
                entries.push(SpelledEntry { i, j, value });
            }
        }
        entries
    }

    fn text(&self, entries: &[SpelledEntry]) -> String {
        let symmetry = if self.is_symmetric() { "symmetric" } else { "general" };
        let mut text = format!("%%MatrixMarket matrix coordinate real {symmetry}\n% made up\n%\n");
        writeln!(text, "{} {} {}", self.n, self.n, entries.len()).expect("writing into a string succeeds");
        for SpelledEntry { i, j, value } in entries {
            writeln!(text, "{} {} {value}", i + 1, j + 1).expect("writing into a string succeeds");
        }
        text
    }
}

/// Returns the text of a number of either sign whose magnitude is between 1e-9 and 1e7.
fn spelling(number: u64) -> String {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (sign, digits, exponent) =
        (if mixed & 1 == 0 { "" } else { "-" }, (mixed >> 8) % 90_000_000_000_000 + 10_000_000_000_000, mixed >> 60);
    let exponent = exponent as i32 - 9;
    let (first, rest) = (digits / 10_000_000_000_000, digits % 10_000_000_000_000);
    format!("{sign}{first}.{rest:013}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// Returns a path in the folder for temporary files that no other process uses.
fn on_disk(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("matrix_market_{name}_{}.mtx", std::process::id()))
}

/// Returns each stored or mirrored position with the bits of its value.
fn filled(market: &Market) -> BTreeMap<(usize, usize), u64> {
    let mut elements = BTreeMap::new();
    market.fill(|i, j, re, im| {
        assert_eq!(im, 0.0, "({i}, {j})");
        assert_eq!(elements.insert((i, j), re.to_bits()), None, "({i}, {j}) came twice");
    });
    elements
}

#[test]
fn large_synthetic_files() {
    for (at, file) in SYNTHETIC_FILES.iter().enumerate() {
        let entries = file.entries();
        assert!(entries.len() >= 4 * file.n - 4);
        let path = on_disk(&format!("large_{at}"));
        std::fs::write(&path, file.text(&entries)).expect("a writable folder");
        let market = matrix_market::read_file(&path);
        std::fs::remove_file(&path).expect("the file just written");
        let market = market.unwrap_or_else(|error| panic!("file {at}: {error}"));
        assert_eq!((market.shape(), market.nnz()), (Shape { m: file.n, n: file.n }, entries.len()), "file {at}");
        assert_eq!(market.header().symmetry, file.symmetry);
        let mut expected = BTreeMap::new();
        for SpelledEntry { i, j, value } in &entries {
            let bits = value.parse::<f64>().expect("a number").to_bits();
            expected.insert((*i, *j), bits);
            if file.is_symmetric() {
                expected.insert((*j, *i), bits);
            }
        }
        assert_eq!(filled(&market), expected, "file {at}");
        assert_round_trip(&market);
    }
}

/// A file of a public collection.
struct CollectionFile {
    name: &'static str,
    symmetry: Symmetry,
    shape: Shape,
    /// The number of stored entries.
    nnz: usize,
    /// The number of positions that `fill` sets.
    filled: usize,
    /// The number of positions that `fill` sets to zero.
    zeros: usize,
}

const COLLECTION_FILES: [CollectionFile; 3] = [
    CollectionFile {
        name: "bcsstk15.mtx",
        symmetry: Symmetry::Symmetric,
        shape: Shape { m: 3948, n: 3948 },
        nnz: 60_882,
        filled: 117_816,
        zeros: 0,
    },
    CollectionFile {
        name: "mahindas.mtx",
        symmetry: Symmetry::General,
        shape: Shape { m: 1258, n: 1258 },
        nnz: 7682,
        filled: 7682,
        zeros: 0,
    },
    CollectionFile {
        name: "west0479.mtx",
        symmetry: Symmetry::General,
        shape: Shape { m: 479, n: 479 },
        nnz: 1910,
        filled: 1910,
        zeros: 22,
    },
];

/// Reads those collection files that the machine has. [`large_synthetic_files`] covers machines without them.
#[test]
fn collection_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    for known in COLLECTION_FILES.into_iter().filter(|known| folder.join(known.name).exists()) {
        let market = matrix_market::read_file(folder.join(known.name));
        let market = market.unwrap_or_else(|error| panic!("{}: {error}", known.name));
        assert_eq!((market.shape(), market.nnz()), (known.shape, known.nnz), "{}", known.name);
        assert_eq!(market.header().symmetry, known.symmetry);
        let elements = filled(&market);
        let zeros = elements.values().filter(|&&bits| f64::from_bits(bits) == 0.0).count();
        assert_eq!((elements.len(), zeros), (known.filled, known.zeros), "{}", known.name);
        assert_fill_is_sound(&market);
        assert_round_trip(&market);
    }
}

#[test]
fn files_on_disk() {
    let path = on_disk("small");
    let text = "%%MatrixMarket matrix coordinate real general\n% on disk\n2 2 1\n2 1 -0.0\n";
    let market = matrix_market::read(text.as_bytes()).expect("a valid file");
    matrix_market::write_file(&market, &path).expect("a writable folder");
    let again = matrix_market::read_file(&path);
    std::fs::remove_file(&path).expect("the file just written");
    assert_eq!(again.expect("the file just written"), market);
    let missing = matrix_market::read_file(&path).expect_err("the file just removed");
    assert!(missing.to_string().starts_with(&format!("cannot open `{}`: ", path.display())));
}
