//! Conversions of views from and to faer's.

use superscalar_kernels::{MatMut, MatRef};

#[test]
fn views_round_trip() {
    let mut x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let a = MatMut::from_col_major(&mut x, 2, 2, 3).unwrap().transpose();
    let mut f = faer::MatMut::from(a);
    f[(0, 1)] = 9.0;
    assert!(MatRef::try_from(f.as_ref().reverse_rows()).is_err());
    let read = faer::MatRef::from(MatRef::try_from(f.as_ref()).unwrap());
    assert_eq!((read.shape(), read[(0, 1)], read[(1, 0)]), ((2, 2), 9.0, 4.0));
    let back = MatMut::try_from(f).unwrap();
    assert_eq!((back.shape(), back.row_stride(), back.at(0, 1)), ((2, 2), 3, 9.0));
}
