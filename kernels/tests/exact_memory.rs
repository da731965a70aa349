//! Runs every CPU kernel on operands that end where their allocations end, at small and ragged orders. In other tests,
//! sentinels around the operands detect writes. Reads outside of operands are detected only here, by AddressSanitizer
//! (`tests/sanitize.sh`).

use superscalar_kernels::cpu::BlockReflector;
use superscalar_kernels::{Diag, Direction, MatMut, MatRef, Op, Scalar, Side, Uplo, c32, c64, cpu, reference};
use superscalar_oracle::roundoffs;

const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];
const SIDES: [Side; 2] = [Side::Left, Side::Right];
const DIAGS: [Diag; 2] = [Diag::NonUnit, Diag::Unit];
/// One, less than a vector, ragged vectors and tiles, and long and flat shapes.
const SHAPES: [(usize, usize, usize); 7] =
    [(1, 1, 1), (2, 3, 1), (7, 5, 3), (17, 9, 16), (33, 26, 19), (1, 40, 2), (50, 1, 9)];

/// An m x n matrix that fills its allocation.
#[derive(Clone)]
struct TightMatrix<T> {
    data: Box<[T]>,
    m: usize,
    n: usize,
}

impl<T: Scalar> TightMatrix<T> {
    /// Makes a matrix with pseudo-random elements in ±1 and a dominant diagonal.
    fn new((m, n): (usize, usize), seed: usize) -> Self {
        let part = |at: usize| T::Real::from_f64(((at * 7919 + seed * 104_729) % 2003) as f64 / 1001.5 - 1.0);
        let dominant = T::from_f64((m.max(n) + 2) as f64 * 1.5);
        let element =
            |at: usize| if at % m == at / m { dominant } else { T::from_parts(part(at), part(at + 1_000_003)) };
        Self { data: (0..m * n).map(element).collect(), m, n }
    }

    fn view(&self) -> MatRef<'_, T> {
        MatRef::from_col_major(&self.data, self.m, self.n, self.m.max(1)).expect("the data has m x n elements")
    }

    fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_col_major(&mut self.data, self.m, self.n, self.m.max(1)).expect("the data has m x n elements")
    }
}

/// Checks that a kernel and its reference change two copies of a matrix equally, except for rounding.
fn agree<T: Scalar>(
    what: &str,
    given: &TightMatrix<T>,
    kernel: impl FnOnce(MatMut<'_, T>),
    textbook: impl FnOnce(MatMut<'_, T>),
) {
    let (mut x, mut y) = (given.clone(), given.clone());
    kernel(x.view_mut());
    textbook(y.view_mut());
    let error = roundoffs(&x.data, &y.data);
    assert!(error <= 1e3, "{what} {} {} x {}: {error:.1} roundoffs", T::LETTER, given.m, given.n);
}

/// Like `agree`, for a kernel and the reference of the same name, whose last argument is the matrix.
macro_rules! agree {
    ($routine:ident($($argument:expr),*) of $given:expr) => {
        agree(
            stringify!($routine),
            $given,
            |c| cpu::$routine($($argument,)* c),
            |c| reference::$routine($($argument,)* c),
        )
    };
}

fn products<T: Scalar>() {
    let (alpha, beta) = (T::from_f64(0.5), T::from_f64(-1.0));
    for (m, n, k) in SHAPES {
        for (op_a, op_b) in [(Op::None, Op::None), (Op::Trans, Op::ConjTrans), (Op::ConjTrans, Op::None)] {
            let (a, b) = (TightMatrix::<T>::new(op_a.shape((m, k)), 1), TightMatrix::new(op_b.shape((k, n)), 2));
            let (a, b, c) = (a.view(), b.view(), TightMatrix::new((m, n), 3));
            agree!(gemm(alpha, op_a, a, op_b, b, beta) of &c);
        }
        for uplo in UPLOS {
            let (a, b) = (TightMatrix::<T>::new((n, k), 1), TightMatrix::<T>::new((k, n), 2));
            let (a, b, c) = (a.view(), b.view(), TightMatrix::<T>::new((n, n), 3));
            let (none, op) = (Op::None, Op::Trans);
            agree!(gemmt(uplo, alpha, none, a, none, b, beta) of &c);
            agree!(syrk(uplo, none, alpha, a, beta) of &c);
            agree!(syr2k(uplo, op, alpha, b, b, beta) of &c);
            let (one, op) = (beta.re(), Op::ConjTrans);
            agree!(herk(uplo, op, one, b, one) of &c);
            agree!(her2k(uplo, none, alpha, a, a, one) of &c);
        }
    }
}

fn products_and_solves_with_a_side<T: Scalar>() {
    let (alpha, beta) = (T::from_f64(0.5), T::from_f64(-1.0));
    for (m, n, _) in SHAPES {
        for (side, uplo) in SIDES.into_iter().flat_map(|side| UPLOS.map(|uplo| (side, uplo))) {
            let order = if side == Side::Left { m } else { n };
            let (a, b, c) = (
                TightMatrix::<T>::new((order, order), 1),
                TightMatrix::<T>::new((m, n), 2),
                TightMatrix::<T>::new((m, n), 3),
            );
            let (a, b) = (a.view(), b.view());
            agree!(symm(side, uplo, alpha, a, b, beta) of &c);
            agree!(hemm(side, uplo, alpha, a, b, beta) of &c);
            for op in [Op::None, Op::Trans, Op::ConjTrans] {
                let diag = Diag::NonUnit;
                agree!(trmm(side, uplo, op, diag, alpha, a) of &c);
                agree!(trsm(side, uplo, op, diag, alpha, a) of &c);
            }
        }
    }
}

fn factorizations<T: Scalar>() {
    for (m, n, _) in SHAPES {
        for uplo in UPLOS {
            let a = TightMatrix::<T>::new((n, n), 1);
            agree(
                "potrf",
                &a,
                |a| cpu::potrf(uplo, a).expect("definite"),
                |a| reference::potrf(uplo, a).expect("definite"),
            );
            for diag in DIAGS {
                let mut inverse = a.clone();
                if diag == Diag::Unit {
                    inverse.data.iter_mut().for_each(|x| *x *= T::from_f64(0.25 / n as f64));
                }
                let a = inverse.clone();
                cpu::trtri(uplo, diag, inverse.view_mut()).expect("regular");
                // A⁻¹ A X = X
                let x = TightMatrix::<T>::new((n, 3), 4);
                let both = |mut x: MatMut<'_, T>| {
                    let left = Side::Left;
                    reference::trmm(left, uplo, Op::None, diag, T::ONE, a.view(), x.rb_mut());
                    reference::trmm(left, uplo, Op::None, diag, T::ONE, inverse.view(), x);
                };
                agree("trtri", &x, both, |_| ());
            }
            let mut product = a.clone();
            cpu::lauum(uplo, product.view_mut());
            assert!(product.data.iter().all(|x| !x.is_nan()));
        }
        let (a, k) = (TightMatrix::<T>::new((m, n), 1), m.min(n));
        let (mut p, mut q) = (vec![0; k], vec![0; k]);
        agree(
            "getrf",
            &a,
            |a| cpu::getrf(a, &mut p).expect("regular"),
            |a| reference::getrf(a, &mut q).expect("regular"),
        );
        assert_eq!(p, q);
        let reversed: Vec<i32> = (1..=m as i32).rev().map(|row| row.max(m as i32 - row + 1)).collect();
        for direction in [Direction::Forward, Direction::Backward] {
            agree(
                "laswp",
                &a,
                |a| cpu::laswp(a, 0, &reversed, direction),
                |a| reference::laswp(a, &reversed, direction),
            );
        }
        reflectors(&a, k);
    }
}

/// Checks geqrf, larft and larfb on a matrix with k reflectors.
fn reflectors<T: Scalar>(a: &TightMatrix<T>, k: usize) {
    let (mut qr, mut t) = (a.clone(), TightMatrix::<T>::new((k, k), 5));
    let (mut tau, mut other) = (vec![T::ZERO; k], vec![T::ZERO; k]);
    let mut spare = t.clone();
    agree("geqrf", a, |a| cpu::geqrf(a, &mut tau, t.view_mut()), |a| reference::geqrf(a, &mut other, spare.view_mut()));
    cpu::geqrf(qr.view_mut(), &mut tau, t.view_mut());
    let v = TightMatrix { data: qr.data[..qr.m * k].into(), m: qr.m, n: k };
    agree("larft", &t, |t| cpu::larft(v.view(), &tau, t), |t| reference::larft(v.view(), &tau, t));
    for (side, shape) in [(Side::Left, (a.m, 6)), (Side::Right, (6, a.m))] {
        let c = TightMatrix::<T>::new(shape, 6);
        let kernel = |c: MatMut<'_, T>| cpu::larfb(side, Op::ConjTrans, BlockReflector::new(v.view(), t.view()), c);
        agree("larfb", &c, kernel, |c| reference::larfb(side, Op::ConjTrans, v.view(), t.view(), c));
    }
}

macro_rules! tests {
    ($($name:ident: $t:ty)*) => {$(
        #[test]
        fn $name() {
            products::<$t>();
            products_and_solves_with_a_side::<$t>();
            factorizations::<$t>();
        }
    )*};
}

tests! { kernels_stay_inside_s: f32 kernels_stay_inside_d: f64 kernels_stay_inside_c: c32 kernels_stay_inside_z: c64 }
