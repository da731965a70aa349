//! Dense matrices from files: their elements, and files of matrices that do not fit into memory.

#[path = "../../matrix-market/tests/matrix_market/allocator.rs"]
mod allocator;

use allocator::peak_bytes;
use superscalar_dla::{Matrix, matrix_market};
use superscalar_kernels::{c32, c64};

/// Largest allocation that a refusal may make.
const REFUSAL_BYTES: usize = 16 << 10;

fn read(text: &str) -> matrix_market::Market {
    matrix_market::read(text.as_bytes()).expect("a valid file")
}

#[test]
fn huge_matrix_is_refused() {
    for (m, n) in [(1_000_000, 1_000_000), (1usize << 33, 1usize << 31), (usize::MAX, usize::MAX)] {
        let market =
            read(&format!("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} 1\n{0} 1 0.5\n", m.min(n)));
        let (m, n) = (m.min(n) as u128, m.min(n) as u128);
        let (outcome, held) = peak_bytes(|| Matrix::<f64>::from_market(&market));
        let error = outcome.expect_err("no memory");
        let bytes = (m * n).saturating_mul(8);
        assert_eq!(error.bytes_needed(), Some(bytes));
        assert_eq!((error.line(), error.column(), error.is_limit()), (None, None, false));
        let text = error.to_string();
        assert!(text.starts_with(&format!("a matrix of {m} x {n} in dense storage takes {bytes} bytes (")), "{text}");
        assert_eq!(text.contains("bytes (") && text.contains("are available"), cfg!(target_os = "linux"), "{text}");
        assert!(held < REFUSAL_BYTES, "{held} bytes to say so");
    }
    let message =
        Matrix::<c64>::from_market(&read("%%MatrixMarket matrix coordinate real general\n1000000 1000000 0\n"));
    let message = message.expect_err("no memory").to_string();
    assert!(message.contains("takes 16000000000000 bytes (14.6 TiB)"), "{message}");
}

#[test]
fn matrices_are_complete() {
    let symmetric = read("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 -1.5\n2 1 -1.5\n");
    assert_eq!(Matrix::<f32>::from_market(&symmetric).expect("it fits").into_vec(), [4.0, -3.0, -3.0, 0.0]);
    let hermitian = read("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 0\n");
    let wanted = [c64::new(1.0, 0.0), c64::new(2.0, 3.0), c64::new(2.0, -3.0), c64::new(4.0, 0.0)];
    assert_eq!(Matrix::<c64>::from_market(&hermitian).expect("it fits").into_vec(), wanted);
    let pattern = read("%%MatrixMarket matrix coordinate pattern general\n2 3 1\n2 3\n");
    let matrix = Matrix::<c32>::from_market(&pattern).expect("it fits");
    assert_eq!((matrix.nrows(), matrix.ncols(), matrix.at(1, 2), matrix.at(0, 0)), (2, 3, c32::ONE, c32::ZERO));
    let none = read("%%MatrixMarket matrix coordinate real general\n0 3 0\n");
    assert!(Matrix::<f64>::from_market(&none).expect("it fits").into_vec().is_empty());
    let special = read("%%MatrixMarket matrix array real general\n3 1\nnan\ninf\n1e-300\n");
    let special = Matrix::<f32>::from_market(&special).expect("it fits").into_vec();
    assert!(special[0].is_nan() && special[1] == f32::INFINITY && special[2] == 0.0);
}

#[test]
fn unrepresentable_numbers_are_refused() {
    let complex = read("%%MatrixMarket matrix coordinate complex general\n3 3 2\n1 2 1 0\n2 3 1 -2\n");
    let message = "(1.0, -2.0) at (1, 2) is not real";
    assert_eq!(Matrix::<f64>::from_market(&complex).expect_err("an imaginary part").to_string(), message);
    assert_eq!(Matrix::<c64>::from_market(&complex).expect("it fits").at(1, 2), c64::new(1.0, -2.0));
    let nan = read("%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 2 1 nan\n");
    assert!(Matrix::<f64>::from_market(&nan).is_err());
    let large = read("%%MatrixMarket matrix array real general\n2 1\n1\n-1e39\n");
    let message = "(-1e39, 0.0) at (1, 0) is not a 32-bit float";
    for error in [
        Matrix::<f32>::from_market(&large).expect_err("too large"),
        Matrix::<c32>::from_market(&large).map(drop).map_or_else(|error| error, |()| panic!("too large")),
    ] {
        assert!(error.to_string() == message && error.bytes_needed().is_none(), "{error}");
    }
    assert_eq!(Matrix::<f64>::from_market(&large).expect("it fits").into_vec(), [1.0, -1e39]);
}
