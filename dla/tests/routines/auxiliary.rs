//! lacpy, laset, geadd, swap and laswp: exact results, and unchanged surroundings.

use crate::{
    four_types,
    runs::{Runtimes, SHAPES, assert_refused, runtime},
};
use superscalar_dla::{ErrorKind, Options, Scalar, Tiled, geadd, lacpy, laset, laswp, spawn, swap};
use superscalar_kernels::{Direction, Op, Part, c64};
use superscalar_oracle::{Stored, narrow, whole, wide};

const PARTS: [Part; 3] = [Part::All, Part::Lower, Part::Upper];

fn is_in(part: Part, i: usize, j: usize) -> bool {
    match part {
        Part::All => true,
        Part::Lower => i >= j,
        Part::Upper => i <= j,
    }
}

/// Returns a matrix of small integers that depend on the position.
pub fn integers<T: Scalar>(shape: (usize, usize), seed: u64) -> Stored<T> {
    Stored::new(shape, |i, j| whole(seed, i, j))
}

fn copies_and_constants<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (shape, part) in SHAPES.into_iter().flat_map(|shape| PARTS.map(|part| (shape, part))) {
        let (a, b) = (integers::<T>(shape, 1), integers::<T>(shape, 2));
        let copied = Stored::<T>::new(shape, |i, j| if is_in(part, i, j) { a.at(i, j) } else { b.at(i, j) });
        let (off, on) = (narrow::<T>(c64::new(0.5, -1.5)), T::from_f64(f64::NAN));
        let set = Stored::<T>::new(shape, |i, j| match is_in(part, i, j) {
            true if i == j => on,
            true => off,
            false => b.at(i, j),
        });
        let call = |rt: &_, options: &Options| {
            let (mut x, mut y) = (b.clone(), b.clone());
            lacpy(rt, part, a.view(), x.view_mut(), options).expect("the shapes fit");
            laset(rt, part, off, on, y.view_mut(), options).expect("the shapes fit");
            (x, y)
        };
        runtimes.on_all(shape.1, call, |(x, y), what| {
            assert!(*x == copied, "lacpy {}{part} {shape:?} {what}", T::LETTER);
            assert!(*y == set, "laset {}{part} {shape:?} {what}", T::LETTER);
        });
    }
}

fn sums<T: Scalar>() {
    let runtimes = Runtimes::new();
    let complex = narrow::<T>(c64::new(2.0, -1.0));
    for (shape, op) in SHAPES.into_iter().flat_map(|shape| [Op::None, Op::Trans, Op::ConjTrans].map(|op| (shape, op))) {
        for (alpha, beta) in [(T::ONE, T::ONE), (complex, complex), (T::ZERO, complex), (complex, T::ZERO)] {
            // Operands that are multiplied by zero must not be read.
            let known = |factor: T, seed| {
                move |i, j| if factor == T::ZERO { T::from_f64(f64::NAN) } else { whole::<T>(seed, i, j) }
            };
            let (a, b) = (Stored::new(op.shape(shape), known(alpha, 1)), Stored::new(shape, known(beta, 2)));
            let (a_of_op, b_known) = (integers::<T>(op.shape(shape), 1).wide().op(op), integers::<T>(shape, 2).wide());
            let call = |rt: &_, options: &Options| {
                let mut sum = b.clone();
                geadd(rt, op, alpha, a.view(), beta, sum.view_mut(), options).expect("the shapes fit");
                sum
            };
            runtimes.on_all(shape.1, call, |sum, what| {
                let what = format!("geadd {}{op} {shape:?} {alpha} {beta} {what}", T::LETTER);
                sum.assert_padding(&what);
                for (i, j) in (0..shape.0).flat_map(|i| (0..shape.1).map(move |j| (i, j))) {
                    let expected = wide(alpha) * a_of_op.at(i, j) + wide(beta) * b_known.at(i, j);
                    assert!(wide(sum.at(i, j)) == expected, "{what}: ({i}, {j}) is {}", sum.at(i, j));
                }
            });
        }
    }
}

fn exchanges<T: Scalar>() {
    let runtimes = Runtimes::new();
    for shape in SHAPES {
        let (a, b) = (integers::<T>(shape, 1), integers::<T>(shape, 2));
        let call = |rt: &_, options: &Options| {
            let (mut x, mut y) = (a.clone(), b.clone());
            swap(rt, x.view_mut(), y.view_mut(), options).expect("the shapes fit");
            (x, y)
        };
        runtimes
            .on_all(shape.1, call, |(x, y), what| assert!(*x == b && *y == a, "swap {} {shape:?} {what}", T::LETTER));
    }
}

fn interchanges<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n) in SHAPES {
        // Some rows are not exchanged, some are exchanged twice.
        let ipiv: Vec<i32> = (0..m.min(40)).map(|i| ((i * i + 3 * i) % m + 1) as i32).collect();
        let a = integers::<T>((m, n), 1);
        let call = |rt: &_, options: &Options| {
            let mut x = a.clone();
            laswp(rt, x.view_mut(), &ipiv, Direction::Forward, options).expect("the interchanges are of rows");
            let forward = x.clone();
            laswp(rt, x.view_mut(), &ipiv, Direction::Backward, options).expect("the interchanges are of rows");
            (forward, x)
        };
        runtimes.on_all(n, call, |(forward, back), what| {
            assert!(forward.wide() == a.wide().interchanged(&ipiv), "laswp {} {m} x {n} {what}", T::LETTER);
            forward.assert_padding(what);
            assert!(*back == a, "laswp {} {m} x {n} {what}: not undone", T::LETTER);
        });
    }
}

four_types! { copies_and_constants sums exchanges interchanges }

#[test]
fn interchange_out_of_range_fails() {
    let (rt, mut a, mut ipiv) = (runtime(), Stored::<f64>::random((5, 4), 1), [1, 6]);
    let outcome = rt.scope(|s| {
        let columns = Tiled::columns(s, a.view_mut(), 2);
        spawn::laswp(s, &columns, &mut ipiv, Direction::Forward);
    });
    assert!(outcome.is_err());
    a.assert_padding("laswp");
    rt.scope(|s| s.spawn("next", (), |()| {})).expect("the runtime works on");
}

#[test]
fn invalid_arguments_are_refused() {
    let (rt, o) = (runtime(), Options::default());
    let (a, b) = (Stored::<f64>::random((5, 4), 1), Stored::<f64>::random((4, 5), 2));
    let (mut x, mut y) = (a.clone(), b.clone());
    assert_refused(lacpy(&rt, Part::All, a.view(), y.view_mut(), &o), ErrorKind::Shape);
    assert_refused(lacpy(&rt, Part::All, a.view(), x.view_mut(), &o.nb(0)), ErrorKind::Shape);
    assert_refused(laset(&rt, Part::All, 1.0, 1.0, x.view_mut(), &o.nb(0)), ErrorKind::Shape);
    assert_refused(geadd(&rt, Op::None, 1.0, a.view(), 1.0, y.view_mut(), &o), ErrorKind::Shape);
    assert_refused(geadd(&rt, Op::Trans, 1.0, b.view(), 1.0, y.view_mut(), &o), ErrorKind::Shape);
    assert_refused(swap(&rt, x.view_mut(), y.view_mut(), &o), ErrorKind::Shape);
    assert_refused(laswp(&rt, x.view_mut(), &[1; 6], Direction::Forward, &o), ErrorKind::Shape);
    for wrong in [0, -3, 6] {
        assert_refused(laswp(&rt, x.view_mut(), &[1, wrong], Direction::Forward, &o), ErrorKind::Argument);
    }
    assert!(x == a && y == b, "a refusal changes nothing");
}
