//! Files of the size and spelling of those from practice, on disk; and some of those, where the machine has them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use superscalar_matrix_market::{self as matrix_market, Market, Shape, Symmetry};

use crate::same::{assert_fill_is_sound, assert_round_trip};

/// A file that is made here as the programs write theirs which keep the collections: comments, entries by columns, thirteen digits and an
/// exponent with its sign.
struct MadeUp {
    symmetry: Symmetry,
    n: usize,
    /// Column j has entries in the rows j + offset, from the top again after the last row where the matrix is not symmetric.
    offsets: &'static [usize],
    /// Each entry of so many is a zero that is stored; none, if it is 0.
    zero_every: usize,
}

/// As large as the largest of [`KNOWN`], and of the kinds that those are of.
const MADE_UP: [MadeUp; 3] = [
    MadeUp {
        symmetry: Symmetry::Symmetric,
        n: 3948,
        offsets: &[0, 1, 4, 5, 12, 13, 16, 17, 36, 40, 41, 42, 43, 46, 47, 48],
        zero_every: 0,
    },
    MadeUp { symmetry: Symmetry::General, n: 1258, offsets: &[0, 7, 100, 1000, 1100, 1257], zero_every: 0 },
    MadeUp { symmetry: Symmetry::General, n: 479, offsets: &[24, 30, 86, 400], zero_every: 87 },
];

impl MadeUp {
    fn is_symmetric(&self) -> bool {
        self.symmetry == Symmetry::Symmetric
    }

    /// Positions of the entries in the order of the file, counted from zero, and how each value is spelt.
    fn entries(&self) -> Vec<(usize, usize, String)> {
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
                entries.push((i, j, if is_zero { "0.0000000000000e+00".into() } else { spelling(number) }));
            }
        }
        entries
    }

    fn text(&self, entries: &[(usize, usize, String)]) -> String {
        let symmetry = if self.is_symmetric() { "symmetric" } else { "general" };
        let mut text = format!("%%MatrixMarket matrix coordinate real {symmetry}\n% made up\n%\n");
        writeln!(text, "{} {} {}", self.n, self.n, entries.len()).expect("a string takes everything");
        for (i, j, value) in entries {
            writeln!(text, "{} {} {value}", i + 1, j + 1).expect("a string takes everything");
        }
        text
    }
}

/// A number of either sign between 1e-10 and 1e8.
fn spelling(number: u64) -> String {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (sign, digits, exponent) =
        (if mixed & 1 == 0 { "" } else { "-" }, (mixed >> 8) % 90_000_000_000_000 + 10_000_000_000_000, mixed >> 60);
    let exponent = exponent as i32 - 9;
    let (first, rest) = (digits / 10_000_000_000_000, digits % 10_000_000_000_000);
    format!("{sign}{first}.{rest:013}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// A name in the folder for temporary files that no other process takes.
fn on_disk(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("matrix_market_{name}_{}.mtx", std::process::id()))
}

/// Every position that the file names, or implies by symmetry, with the bits of its value.
fn filled(market: &Market) -> BTreeMap<(usize, usize), u64> {
    let mut elements = BTreeMap::new();
    market.fill(|i, j, re, im| {
        assert_eq!(im, 0.0, "({i}, {j})");
        assert_eq!(elements.insert((i, j), re.to_bits()), None, "({i}, {j}) came twice");
    });
    elements
}

#[test]
fn large_files_are_read_element_by_element() {
    for (at, file) in MADE_UP.iter().enumerate() {
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
        for (i, j, value) in &entries {
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

/// A file from practice.
struct Known {
    name: &'static str,
    symmetry: Symmetry,
    shape: Shape,
    /// Stored entries; positions set by `fill`; how many of those to zero.
    nnz: usize,
    filled: usize,
    zeros: usize,
}

const KNOWN: [Known; 3] = [
    Known {
        name: "bcsstk15.mtx",
        symmetry: Symmetry::Symmetric,
        shape: Shape { m: 3948, n: 3948 },
        nnz: 60_882,
        filled: 117_816,
        zeros: 0,
    },
    Known {
        name: "mahindas.mtx",
        symmetry: Symmetry::General,
        shape: Shape { m: 1258, n: 1258 },
        nnz: 7682,
        filled: 7682,
        zeros: 0,
    },
    Known {
        name: "west0479.mtx",
        symmetry: Symmetry::General,
        shape: Shape { m: 479, n: 479 },
        nnz: 1910,
        filled: 1910,
        zeros: 22,
    },
];

/// Beyond what [`large_files_are_read_element_by_element`] covers on every machine: not one of them has to be there.
#[test]
fn files_from_practice() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    for known in KNOWN.into_iter().filter(|known| folder.join(known.name).exists()) {
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
