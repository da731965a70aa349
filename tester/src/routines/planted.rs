//! Plants faults in single precision, where rounding hides most faults, and checks that the check finds each of them.
//! `PLANTED_ORDER=2048` sets the order, which is a multiple of 64 (default 768):
//!
//!     PLANTED_ORDER=2048 cargo test --release -p superscalar-tester --bin tester -- planted --nocapture
//!
//! If the result does not show a skipped task, the fault is planted in the input: a factorization that skips one update
//! of a tile gives the factors of a matrix to which that update was added beforehand. `--nocapture` prints each fault
//! with its residual.

use super::*;
use crate::operand::{Maker, Operands};
use crate::range::{Dim, TileSize};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::Range;
use superscalar_dla::Options;
use superscalar_kernels::{MatMut, MatRef, Norm, Uplo, cpu};
use superscalar_oracle::ROUNDINGS_MAX;
use superscalar_runtime::Runtime;

/// Returns the order of the matrices.
fn order() -> usize {
    std::env::var("PLANTED_ORDER").map_or(768, |order| order.parse().expect("PLANTED_ORDER is a number"))
}

/// Returns the order of a tile.
fn tile_order() -> usize {
    order() / 8
}

/// The data that all faults of a type share.
struct Plant {
    runtime: Runtime,
    /// Descriptions of what was wrong.
    wrong: RefCell<Vec<String>>,
}

/// A correct result, in which faults are planted.
struct Subject<'r, R, T> {
    plant: &'r Plant,
    case: Case,
    before: Operands<T>,
    after: Operands<T>,
    routine: PhantomData<R>,
}

/// Returns the rows or columns of a tile.
fn tile(at: usize) -> Range<usize> {
    at * tile_order()..(at + 1) * tile_order()
}

fn view<T: Scalar>(operands: &Operands<T>, at: usize) -> MatRef<'_, T> {
    operands.matrices[at].view()
}

fn part<T: Scalar>(operands: &mut Operands<T>, at: usize, rows: Range<usize>, columns: Range<usize>) -> MatMut<'_, T> {
    operands.matrices[at].view_mut().submatrix(rows, columns)
}

/// Computes C += factor A op(B).
fn add<T: Scalar>(factor: f64, a: MatRef<'_, T>, op: Op, b: MatRef<'_, T>, c: MatMut<'_, T>) {
    cpu::gemm(T::from_f64(factor), Op::None, a, op, b, T::ONE, c);
}

/// Makes one element 10 % larger.
fn nudge<T: Scalar>(operands: &mut Operands<T>, at: usize, place: (usize, usize)) {
    let mut view = operands.matrices[at].view_mut();
    view[place] *= T::from_f64(1.1);
}

/// Multiplies a numeric result.
fn scale<T: Scalar>(operands: &mut Operands<T>, by: f64) {
    if let Some(last) = operands.matrices.last_mut() {
        last.view_mut()[(0, 0)] *= T::from_f64(by);
    }
}

impl<'r, R: Routine, T: Scalar> Subject<'r, R, T> {
    fn new(plant: &'r Plant, (m, n): (usize, usize), set: impl FnOnce(&mut Case)) -> Self {
        let mut case = Case { nb: TileSize::Auto, nrhs: 64, ..Case::with_dim(m, n, n) };
        set(&mut case);
        let before = R::operands::<T>(&case, &mut Maker::new(7, 0, usize::MAX)).expect("memory");
        let after = before.duplicate().expect("memory");
        let mut subject = Self { plant, case, before, after, routine: PhantomData };
        subject.after = subject.called_on(|_, _| ());
        subject.judge("none", &subject.after, false);
        subject
    }

    fn judge(&self, fault: &str, after: &Operands<T>, is_wrong: bool) {
        let error = R::residual(&self.case, &self.before, after);
        let Dim { m, n, k } = self.case.dim;
        let line = format!("{}{} {m} x {n} x {k}: {fault}: {error:.3e}", T::LETTER, R::NAME);
        eprintln!("{line}");
        // NaN does not pass.
        let passes = error <= ROUNDINGS_MAX;
        if passes == is_wrong {
            self.plant.wrong.borrow_mut().push(line);
        }
    }

    /// Returns the result for a modified input. `plant` modifies the input, given the correct result.
    fn called_on(&self, plant: impl FnOnce(&Operands<T>, &mut Operands<T>)) -> Operands<T> {
        let mut work = self.before.duplicate().expect("memory");
        plant(&self.after, &mut work);
        let ours = Ours { runtime: &self.plant.runtime, options: Options::default(), distribution: None };
        R::ours(&ours, &self.case, &mut work).expect("a result");
        work
    }

    /// Plants a fault in the result.
    fn after(&self, fault: &str, plant: impl FnOnce(&Operands<T>, &mut Operands<T>)) -> &Self {
        let mut after = self.after.duplicate().expect("memory");
        plant(&self.before, &mut after);
        self.judge(fault, &after, true);
        self
    }

    /// Plants a fault in the input.
    fn before(&self, fault: &str, plant: impl FnOnce(&Operands<T>, &mut Operands<T>)) -> &Self {
        self.judge(fault, &self.called_on(plant), true);
        self
    }
}

fn products<T: Scalar>(plant: &Plant) {
    let skipped = |a: usize, b: usize, c: usize| {
        move |before: &Operands<T>, after: &mut Operands<T>| {
            let a = view(before, a).submatrix(tile(2), tile(5));
            let b = view(before, b).submatrix(tile(5), tile(1));
            add(-1.5, a, Op::None, b, part(after, c, tile(2), tile(1)));
        }
    };
    let square = (order(), order());
    Subject::<gemm::Gemm, T>::new(plant, square, |_| ())
        .after("an update of a tile is skipped", skipped(0, 1, 2))
        .after("one element is 10 % off", |_, after| nudge(after, 2, (77, order() - 49)));
    Subject::<symm::Symm, T>::new(plant, square, |_| ()).after("an update of a tile is skipped", |before, after| {
        let (a, b) = (view(before, 0).submatrix(tile(5), tile(2)), view(before, 1).submatrix(tile(2), tile(1)));
        add(-1.5, a, Op::None, b, part(after, 2, tile(5), tile(1)));
    });
    Subject::<syrk::Syrk, T>::new(plant, square, |_| ())
        .after("an update of a tile is skipped", |before, after| {
            let [a, b] = [4, 1].map(|at| view(before, 0).submatrix(tile(at), tile(3)));
            add(-1.5, a, Op::Trans, b, part(after, 1, tile(4), tile(1)));
        })
        .after("one element is 10 % off", |_, after| nudge(after, 1, (order() - 49, 77)));
    let triangle = |before: &Operands<T>, after: &mut Operands<T>| {
        let a = view(before, 0).submatrix(tile(6), tile(2));
        let b = view(before, 1).submatrix(tile(2), tile(3));
        add(-1.5, a, Op::None, b, part(after, 1, tile(6), tile(3)));
    };
    Subject::<trmm::Trmm, T>::new(plant, square, |_| ()).after("an update of a tile is skipped", triangle);
    Subject::<trmm::Trsm, T>::new(plant, square, |_| ())
        .before("an update of a tile is skipped", |right, input| {
            let a = input.duplicate().expect("memory");
            let (a, x) = (view(&a, 0).submatrix(tile(6), tile(2)), view(right, 1).submatrix(tile(2), tile(3)));
            add(1.0 / 1.5, a, Op::None, x, part(input, 1, tile(6), tile(3)));
        })
        .after("one element is 10 % off", |_, after| nudge(after, 1, (77, order() - 49)));
    Subject::<trtrs::Trtrs, T>::new(plant, (order(), order()), |_| ())
        .after("one element is 10 % off", |_, after| nudge(after, 1, (order() - 49, 7)));
}

/// Returns the order of a matrix's rows after these interchanges.
fn permuted(pivots: &[i32], rows: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    pivots.iter().enumerate().for_each(|(i, &pivot)| order.swap(i, pivot as usize - 1));
    order
}

/// Adds the update that the elimination with one tile column subtracts from another tile.
fn skip_elimination<T: Scalar>(right: &Operands<T>, input: &mut Operands<T>) {
    let factors = view(right, 0);
    let (l, u) = (factors.submatrix(tile(6), tile(2)), factors.submatrix(tile(2), tile(4)));
    let mut update = vec![T::ZERO; tile_order() * tile_order()];
    let mut update = MatMut::from_col_major(&mut update, tile_order(), tile_order(), tile_order()).expect("a tile");
    add(1.0, l, Op::None, u, update.rb_mut());
    let rows = permuted(&right.pivots, order());
    let mut a = input.matrices[0].view_mut();
    for (i, j) in (0..tile_order()).flat_map(|j| (0..tile_order()).map(move |i| (i, j))) {
        a[(rows[6 * tile_order() + i], 4 * tile_order() + j)] += update[(i, j)];
    }
}

fn factorizations<T: Scalar>(plant: &Plant) {
    let square = (order(), order());
    for uplo in [Uplo::Lower, Uplo::Upper] {
        let skip = |right: &Operands<T>, input: &mut Operands<T>| {
            // Uᴴ U is the transpose of F Fᴴ with F = Uᵀ.
            let (factor, input) = (view(right, 0), input.matrices[0].view_mut());
            let (factor, input) = match uplo {
                Uplo::Lower => (factor, input),
                Uplo::Upper => (factor.transpose(), input.transpose()),
            };
            let [a, b] = [6, 4].map(|at| factor.submatrix(tile(at), tile(2)));
            add(1.0, a, Op::ConjTrans, b, input.submatrix(tile(6), tile(4)));
        };
        Subject::<potrf::Potrf, T>::new(plant, square, |case| case.uplo = uplo)
            .before("an update of a tile is skipped", skip)
            .after("one element is 10 % off", |_, after| {
                nudge(after, 0, if uplo == Uplo::Lower { (order() - 49, 77) } else { (77, order() - 49) });
            });
    }
    Subject::<posv::Posv, T>::new(plant, square, |_| ())
        .after("one element of X is 10 % off", |_, after| nudge(after, 1, (order() - 49, 7)));
    Subject::<getrf::Getrf, T>::new(plant, square, |_| ())
        .before("an update of a tile is skipped", skip_elimination)
        .after("one element is 10 % off", |_, after| nudge(after, 0, (77, order() - 49)));
    Subject::<gesv::Gesv, T>::new(plant, square, |_| ())
        .before("an update of a tile is skipped", skip_elimination)
        .after("one element of X is twice as large", |_, after| {
            part(after, 1, order() - 49..order() - 48, 7..8)[(0, 0)] *= T::from_f64(2.0);
        });
    let keep_tile = |before: &Operands<T>, after: &mut Operands<T>| {
        let old = view(before, 0).submatrix(tile(1), tile(4));
        part(after, 0, tile(1), tile(4)).copy_from(old);
    };
    Subject::<geqrf::Geqrf, T>::new(plant, square, |_| ())
        .after("a tile of R is what it was in A", keep_tile)
        .after("R is zero", |_, after| zero_upper(after, order()))
        .after("one element of R is 10 % off", |_, after| nudge(after, 0, (77, order() - 49)));
}

fn tall<T: Scalar>(plant: &Plant) {
    for shape @ (m, n) in [(order(), order() / 4), (16 * order(), 128)] {
        Subject::<tsqr::Tsqr, T>::new(plant, shape, |_| ())
            .after("R is zero", |_, after| zero_upper(after, n))
            .after("one element of R is 10 % off", |_, after| nudge(after, 0, (7, 99)))
            .before("a block of rows is skipped", |_, input| part(input, 0, m - tile_order()..m, 0..n).fill(T::ZERO));
    }
}

fn zero_upper<T: Scalar>(operands: &mut Operands<T>, n: usize) {
    (0..n).for_each(|j| part(operands, 0, 0..j + 1, j..j + 1).fill(T::ZERO));
}

fn inverses<T: Scalar>(plant: &Plant) {
    let tile_of = |at| move |_: &Operands<T>, after: &mut Operands<T>| part(after, at, tile(6), tile(2)).fill(T::ZERO);
    Subject::<getri::Getri, T>::new(plant, (order(), order()), |_| ())
        .after("a tile is zero", tile_of(0))
        .after("one element is 10 % off", |_, after| nudge(after, 0, (order() - 49, 77)));
    Subject::<trtri::Trtri, T>::new(plant, (order(), order()), |_| ()).after("a tile is zero", tile_of(0));
    Subject::<potri::Potri, T>::new(plant, (order(), order()), |_| ()).after("a tile is zero", tile_of(0));
}

fn reflectors<T: Scalar>(plant: &Plant) {
    let skip = |_: &Operands<T>, input: &mut Operands<T>| part(input, 1, 320..384, 0..1).fill(T::ZERO);
    Subject::<unmqr::Unmqr, T>::new(plant, (order(), order()), |_| ()).before("64 reflectors are skipped", skip);
    Subject::<ungqr::Ungqr, T>::new(plant, (order(), order() / 2), |_| ()).before("64 reflectors are skipped", skip);
    for shape in [(order(), order() / 2), (order() / 2, order())] {
        Subject::<gels::Gels, T>::new(plant, shape, |_| ())
            .after("one element of X is 10 % off", |_, after| nudge(after, 1, (order() / 3, 7)));
    }
}

fn numbers<T: Scalar>(plant: &Plant) {
    for norm in [Norm::One, Norm::Inf, Norm::Frobenius] {
        Subject::<lange::Lange, T>::new(plant, (order(), order()), |case| case.norm = norm)
            .before("tiles are skipped", |_, input| match norm {
                Norm::One => part(input, 0, tile(3), 0..order()).fill(T::ZERO),
                Norm::Inf => part(input, 0, 0..order(), tile(3)).fill(T::ZERO),
                _ => part(input, 0, tile(3), tile(3)).fill(T::ZERO),
            })
            .after("it is 1 % off", |_, after| scale(after, 1.01));
    }
    for norm in [Norm::One, Norm::Inf] {
        let subject = Subject::<gecon::Gecon, T>::new(plant, (order(), order()), |case| case.norm = norm);
        subject.after("ten times too large", |_, after| scale(after, 10.0));
        subject.after("four times too large", |_, after| scale(after, 4.0));
        subject.after("a tenth", |_, after| scale(after, 0.1));
        subject.after("1 % too small", |_, after| scale(after, 0.99));
    }
    Subject::<pocon::Pocon, T>::new(plant, (order(), order()), |_| ())
        .after("ten times too large", |_, after| scale(after, 10.0))
        .after("a tenth", |_, after| scale(after, 0.1));
}

/// Runs the faults of a group.
fn planted(group: impl FnOnce(&Plant)) {
    let runtime = Runtime::builder().workers(2).bind(false).build().expect("a runtime");
    let plant = Plant { runtime, wrong: RefCell::default() };
    group(&plant);
    let wrong = plant.wrong.into_inner();
    assert!(wrong.is_empty(), "correct results that fail, or faults that pass: {wrong:#?}");
}

macro_rules! groups {
    ($($group:ident)*) => {$(
        mod $group {
            #[test]
            fn s() {
                super::planted(super::$group::<f32>);
            }

            #[test]
            fn c() {
                super::planted(super::$group::<superscalar_kernels::c32>);
            }
        }
    )*};
}

groups! { products factorizations tall inverses reflectors numbers }
