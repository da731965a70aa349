//! Results of the C interface in all four element types and both layouts. Every test runs twice: with the default
//! settings, and in a process in which the runtime computes every call, in tiles of 5.

mod arguments;
mod element;
mod factorizations;
mod lapacke;
mod level1;
mod level2;
mod level3;
mod lu;
#[path = "../shared/mod.rs"]
mod shared;

use shared::run_all_tiled;

/// The test that runs the others again.
const TILED: &str = "tiled_runtime_computes_all";

#[test]
fn tiled_runtime_computes_all() {
    let log = run_all_tiled(TILED);
    let is_tiled = |name: &str| log.lines().any(|line| line.starts_with(name) && line.contains("by the runtime"));
    let level3 = ["gemm", "gemmt", "symm", "syrk", "syr2k", "trmm", "trsm"];
    let lapack = ["getrf", "getrs", "getri", "gesv", "potrf", "potrs", "posv", "potri", "geqrf", "gelqf", "gels"];
    for letter in ['s', 'd', 'c', 'z'] {
        for routine in level3.into_iter().chain(["gemv"]) {
            assert!(is_tiled(&format!("cblas_{letter}{routine} ")), "cblas_{letter}{routine}");
        }
        for routine in lapack {
            assert!(is_tiled(&format!("LAPACKE_{letter}{routine} ")), "LAPACKE_{letter}{routine}");
        }
        for routine in ["copy", "axpy", "scal"] {
            assert!(is_tiled(&format!("{letter}{routine} ")), "{letter}{routine}");
        }
    }
    let others = ["cblas_sger ", "cblas_dger ", "sdot ", "ddot ", "cdotu ", "zdotu ", "cdotc ", "zdotc "];
    let complex = ["hemm", "herk", "her2k", "geru", "gerc"];
    let complex = complex.iter().flat_map(|routine| ['c', 'z'].map(|letter| format!("cblas_{letter}{routine} ")));
    for name in others.map(str::to_owned).into_iter().chain(complex) {
        assert!(is_tiled(&name), "{name}");
    }
}
