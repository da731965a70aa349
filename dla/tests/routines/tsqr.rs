//! tsqr, and products with its Q.

use crate::{
    four_types,
    runs::{Runtimes, assert_refused, assert_small, ops_of_q, runtime},
};
use superscalar_dla::{BlockSize, ErrorKind, Options, Scalar, Tiled, TsqrFactors, spawn, tsqr};
use superscalar_kernels::{Op, c32, c64};
use superscalar_oracle::{Stored, Wide, residual};

/// Tall shapes with one block, two levels and more, and last blocks with fewer rows than columns.
const SHAPES: [(usize, usize); 12] =
    [(0, 0), (3, 0), (1, 1), (2, 2), (5, 1), (31, 31), (64, 3), (100, 31), (130, 32), (333, 7), (400, 40), (1000, 5)];

/// Returns ‖X − Y‖ / (m ‖X‖ ε) for matrices with m rows.
fn difference<T: Scalar>(x: &Wide, y: &Wide) -> f64 {
    residual::scaled::<T>(x.minus(y).norm_one(), x.norm_one(), x.shape().0)
}

/// R is the upper triangle of A. Q is the product of the tree's Q with the identity.
fn factors_reproduce_the_matrix<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n) in SHAPES {
        let a = Stored::<T>::random((m, n), 11);
        let identity = Stored::new((m, n), |i, j| if i == j { T::ONE } else { T::ZERO });
        let call = |rt: &_, options: &Options| {
            let (mut qr, mut q, mut above) = (a.clone(), identity.clone(), a.clone());
            let tree = tsqr(rt, qr.view_mut(), options).expect("a tall matrix");
            tree.apply(rt, Op::None, qr.view(), q.view_mut(), options).expect("the shapes fit");
            tree.apply(rt, Op::ConjTrans, qr.view(), above.view_mut(), options).expect("the shapes fit");
            (qr, q, above)
        };
        runtimes.on_all_worker_dependent(n, call, |(qr, q, above), what| {
            let what = &format!("tsqr {} {m} x {n} {what}", T::LETTER);
            [qr, q, above].into_iter().for_each(|matrix| matrix.assert_padding(what));
            let (r, q) = (qr.part(|i, j| i <= j).submatrix(0..n, 0..n), q.wide());
            assert_small(difference::<T>(&a.wide(), &q.times(&r)), what);
            assert_small(residual::orthogonality::<T>(&q), what);
            let reduced = Wide::new((m, n), |i, j| if i <= j { r.at(i, j) } else { c64::ZERO });
            assert_small(difference::<T>(&a.wide(), &a.wide().minus(&reduced.minus(&above.wide()))), what);
            assert!((0..n).all(|i| r.at(i, i).im == 0.0), "{what}: the diagonal of R is real");
        });
    }
}

/// Q Qᴴ C = C, for more columns than one task takes.
fn products_are_inverse<T: Scalar>() {
    let rt = runtime();
    for (m, n, nrhs) in [(5, 2, 0), (90, 4, 1), (300, 20, 700)] {
        let options = Options::default().nb(8);
        let (mut a, c) = (Stored::<T>::random((m, n), 12), Stored::<T>::random((m, nrhs), 13));
        let tree = tsqr(&rt, a.view_mut(), &options).expect("a tall matrix");
        for op in ops_of_q::<T>().into_iter().filter(|&op| op != Op::None) {
            let mut x = c.clone();
            tree.apply(&rt, op, a.view(), x.view_mut(), &options).expect("the shapes fit");
            assert!(nrhs == 0 || x != c);
            tree.apply(&rt, Op::None, a.view(), x.view_mut(), &options).expect("the shapes fit");
            assert_small(difference::<T>(&c.wide(), &x.wide()), &format!("{} {m} {n} {nrhs} {op}", T::LETTER));
        }
    }
}

fn nan_reaches_r<T: Scalar>() {
    let rt = runtime();
    for at in [(0, 0), (77, 1), (199, 4)] {
        let mut a = Stored::<T>::random((200, 5), 14);
        a.set(at.0, at.1, T::from_f64(f64::NAN));
        tsqr(&rt, a.view_mut(), &Options::default().nb(20)).expect("NaN is no error");
        assert!(a.part(|i, j| i <= j).norm_one().is_nan(), "{at:?}");
    }
}

/// A tree can be used again, and its tasks compose with other tasks of a scope.
fn tree_is_reusable_in_scopes<T: Scalar>() {
    let (rt, shape) = (runtime(), (150, 6));
    let (a, mut tree) = (Stored::<T>::random(shape, 15), TsqrFactors::new(shape, 20));
    let mut expected = a.clone();
    tsqr(&rt, expected.view_mut(), &Options::default().block_size(BlockSize::Fixed(20))).expect("a tall matrix");
    for _ in 0..2 {
        let (mut x, before) = (Stored::new(shape, |_, _| T::ZERO), a.clone());
        rt.scope(|s| {
            let x = Tiled::new(s, x.view_mut(), tree.mb(), shape.1);
            for i in 0..x.mt() {
                let (rows, source) = (i * tree.mb()..shape.0.min((i + 1) * tree.mb()), &before);
                s.spawn("fill", x.at(i, 0).read_write(), move |tile| {
                    tile.view_mut().copy_from(source.view().submatrix(rows, 0..shape.1));
                });
            }
            spawn::tsqr(s, &x, &mut tree);
        })
        .expect("nothing fails");
        assert!(x == expected);
    }
}

#[test]
fn invalid_arguments_are_refused() {
    let (rt, options) = (runtime(), Options::default());
    let mut wide = Stored::<f64>::random((3, 5), 16);
    let before = wide.clone();
    assert_refused(tsqr(&rt, wide.view_mut(), &options), ErrorKind::Shape);
    assert_refused(tsqr(&rt, wide.view_mut(), &options.nb(0)), ErrorKind::Shape);
    assert!(wide == before);
    let mut a = Stored::<c32>::random((9, 2), 17);
    assert_refused(tsqr(&rt, a.view_mut(), &options.nb(0)), ErrorKind::Shape);
    let tree = tsqr(&rt, a.view_mut(), &options).expect("a tall matrix");
    let (mut short, mut c) = (Stored::random((8, 1), 18), Stored::random((9, 1), 18));
    assert_refused(tree.apply(&rt, Op::None, a.view(), short.view_mut(), &options), ErrorKind::Shape);
    assert_refused(tree.apply(&rt, Op::None, c.clone().view(), c.view_mut(), &options), ErrorKind::Shape);
    assert_refused(tree.apply(&rt, Op::Trans, a.view(), c.view_mut(), &options), ErrorKind::Argument);
}

four_types! {
    factors_reproduce_the_matrix products_are_inverse nan_reaches_r tree_is_reusable_in_scopes
}
