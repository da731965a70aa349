//! Files from practice, where the machine has them, and files on disk.

use std::path::Path;
use std::time::Instant;

use superscalar_dla::matrix_market::{self, Shape, Symmetry};

use crate::same::{assert_fill_is_sound, assert_round_trip};

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

#[test]
fn files_from_practice() {
    for known in KNOWN {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(known.name);
        if !path.exists() {
            println!("skipped: {} is not on this machine", known.name);
            continue;
        }
        let start = Instant::now();
        let market = matrix_market::read_file(&path).unwrap_or_else(|error| panic!("{}: {error}", known.name));
        println!("{}: {} entries in {:?}", known.name, market.nnz(), start.elapsed());
        assert_eq!((market.shape(), market.nnz()), (known.shape, known.nnz), "{}", known.name);
        assert_eq!(market.header().symmetry, known.symmetry);
        let (mut filled, mut zeros) = (0, 0);
        market.fill(|_, _, re, _| {
            filled += 1;
            zeros += usize::from(re == 0.0);
        });
        assert_eq!((filled, zeros), (known.filled, known.zeros), "{}", known.name);
        assert_fill_is_sound(&market);
        assert_round_trip(&market);
    }
}

#[test]
fn files_on_disk() {
    let path = std::env::temp_dir().join(format!("matrix_market_{}.mtx", std::process::id()));
    let text = "%%MatrixMarket matrix coordinate real general\n% on disk\n2 2 1\n2 1 -0.0\n";
    let market = matrix_market::read(text.as_bytes()).expect("a valid file");
    matrix_market::write_file(&market, &path).expect("a writable folder");
    let again = matrix_market::read_file(&path);
    std::fs::remove_file(&path).expect("the file just written");
    assert_eq!(again.expect("the file just written"), market);
    let missing = matrix_market::read_file(&path).expect_err("the file just removed");
    assert!(missing.to_string().starts_with(&format!("cannot open `{}`: ", path.display())));
}
