//! Arguments at the limits of what LAPACKE accepts, and the order in which it checks them.

use crate::shared::{library, symbol};
use std::ptr::null_mut;

const ROWS: i32 = 101;
const COLUMNS: i32 = 102;

type Getrf = unsafe extern "C" fn(i32, i32, i32, *mut f64, i32, *mut i32) -> i32;
type Geqrf = unsafe extern "C" fn(i32, i32, i32, *mut f64, i32, *mut f64) -> i32;
type Potrs = unsafe extern "C" fn(i32, u8, i32, i32, *const f64, i32, *mut f64, i32) -> i32;
type Lansy = unsafe extern "C" fn(i32, u8, u8, i32, *const f64, i32) -> f64;
type Laswp = unsafe extern "C" fn(i32, i32, *mut f64, i32, i32, i32, *const i32, i32) -> i32;

#[test]
fn leading_dimension_of_no_columns() {
    let library = library();
    // SAFETY: the symbols have these types, and matrices without elements are not accessed.
    unsafe {
        let getrf = symbol::<Getrf>(&library, "LAPACKE_dgetrf");
        let geqrf = symbol::<Geqrf>(&library, "LAPACKE_dgeqrf");
        let potrs = symbol::<Potrs>(&library, "LAPACKE_dpotrs");
        for (layout, [lu, qr, solve]) in [(ROWS, [0; 3]), (COLUMNS, [-5, -5, -6])] {
            assert_eq!(getrf(layout, 3, 0, null_mut(), 0, null_mut()), lu, "{layout}");
            assert_eq!(geqrf(layout, 3, 0, null_mut(), 0, null_mut()), qr, "{layout}");
            assert_eq!(potrs(layout, b'L', 0, 0, null_mut(), 0, null_mut(), 0), solve, "{layout}");
        }
        // B without columns, and A of order 1.
        assert_eq!(potrs(ROWS, b'L', 1, 0, &2.0, 1, null_mut(), 0), 0);
        assert_eq!(potrs(ROWS, b'L', 1, 0, &2.0, 0, null_mut(), 0), -6);
    }
}

/// LAPACKE transposes a row-major matrix before Fortran's routine checks the other arguments.
#[test]
fn leading_dimensions_are_checked_first_by_rows() {
    let library = library();
    let potrs = symbol::<Potrs>(&library, "LAPACKE_dpotrs");
    let mut b = [1.0; 4];
    let mut call = |layout, uplo, n, lda, ldb| {
        // SAFETY: the symbol has this type, and a call with wrong arguments accesses no matrix.
        unsafe { potrs(layout, uplo, n, 2, [1.0; 4].as_ptr(), lda, b.as_mut_ptr(), ldb) }
    };
    assert_eq!([call(ROWS, b'X', 2, 1, 2), call(COLUMNS, b'X', 2, 1, 2)], [-6, -2]);
    assert_eq!([call(ROWS, b'L', -1, 1, 1), call(COLUMNS, b'L', -1, 1, 1)], [-8, -3]);
    assert_eq!([call(ROWS, b'L', 2, 1, 1), call(COLUMNS, b'L', 2, 1, 1)], [-6, -6]);
    assert_eq!([call(ROWS, b'X', 2, 2, 2), call(COLUMNS, b'X', 2, 2, 2)], [-2, -2]);
}

#[test]
fn norms_of_negative_sizes() {
    let library = library();
    let lansy = symbol::<Lansy>(&library, "LAPACKE_dlansy");
    for (layout, n, ld, expected) in [(ROWS, -1, 1, 0.0), (COLUMNS, -1, 1, 0.0), (ROWS, 2, 1, -6.0), (ROWS, 0, 0, 0.0)]
    {
        // SAFETY: the symbol has this type, and a matrix without elements is not accessed.
        let norm = unsafe { lansy(layout, b'M', b'U', n, [7.0; 4].as_ptr(), ld) };
        assert_eq!(norm, expected, "layout {layout}, order {n}");
    }
}

#[test]
fn interchanges_beyond_the_leading_dimension() {
    let library = library();
    let laswp = symbol::<Laswp>(&library, "LAPACKE_dlaswp");
    for layout in [ROWS, COLUMNS] {
        let mut a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let given = a;
        // SAFETY: the symbol has this type, and no element of A is accessed, since its leading dimension is too small.
        let info = unsafe { laswp(layout, 2, a.as_mut_ptr(), 1, 1, 2, [3, 3].as_ptr(), 1) };
        // Fortran's routine has no info; an internal error would be -1010.
        assert_eq!((info, a), (0, given), "layout {layout}");
    }
}
