//! symv, hemv, sbmv, hbmv, spmv, hpmv.

use super::held::{Held, Storage, storages};
use super::line::{INCREMENTS, Line, SIZES, factors};
use super::operands::Numbers;
use superscalar_kernels::cpu::{self, Conj};
use superscalar_kernels::{Scalar, Uplo};

fn call<T: Scalar>(hermitian: bool, conj: bool, alpha: T, a: &Held<T>, x: &Line<T>, beta: T, y: &mut Line<T>) {
    let (uplo, x, y) = (a.uplo, x.view(), y.view_mut());
    if a.storage == Storage::Packed {
        let ap = if conj { Conj::of(a.packed()) } else { a.packed().into() };
        return if hermitian { cpu::hpmv(uplo, alpha, ap, x, beta, y) } else { cpu::spmv(uplo, alpha, ap, x, beta, y) };
    }
    let view = if conj { Conj::of(a.matrix()) } else { a.matrix().into() };
    match (a.storage, hermitian) {
        (Storage::Band(_), true) => cpu::hbmv(uplo, alpha, view, x, beta, y),
        (Storage::Band(_), false) => cpu::sbmv(uplo, alpha, view, x, beta, y),
        (_, true) => cpu::hemv(uplo, alpha, view, x, beta, y),
        (_, false) => cpu::symv(uplo, alpha, view, x, beta, y),
    }
}

fn wanted<T: Scalar>(a: impl Fn(usize, usize) -> T, alpha: T, x: &Line<T>, beta: T, y: &Line<T>) -> Line<T> {
    let mut wanted = y.clone();
    for i in 0..y.n {
        let sum: T = (0..x.n).map(|j| a(i, j) * x.get(j)).sum();
        wanted.set(i, alpha * sum + beta * y.get(i));
    }
    wanted
}

pub fn products<T: Scalar>() {
    let mut numbers = Numbers::new(6);
    let pairs: Vec<(T, T)> =
        factors::<T>().into_iter().flat_map(|alpha| factors::<T>().map(|beta| (alpha, beta))).collect();
    for n in SIZES {
        for storage in storages(n) {
            for (uplo, hermitian) in
                [Uplo::Lower, Uplo::Upper].into_iter().flat_map(|uplo| [(uplo, false), (uplo, true)])
            {
                let mut a = Held::<T>::new(storage, uplo, n, |_, _| numbers.integer());
                if hermitian {
                    a.spoil_diagonal();
                }
                let unread = Held::<T>::new(storage, uplo, n, |_, _| super::line::nan());
                for (at, &(alpha, beta)) in pairs.iter().enumerate() {
                    let conj = at % 3 == 0;
                    let (of_x, of_y) = INCREMENTS[(at + n) % INCREMENTS.len()];
                    let (x, y) = (Line::integers(n, of_x, &mut numbers), Line::integers(n, of_y, &mut numbers));
                    let element = |i: usize, j: usize| {
                        let element = a.mirrored(hermitian, i, j);
                        if conj { element.conj() } else { element }
                    };
                    let wanted = wanted(element, alpha, &x, beta, &y);
                    let mut found = if beta == T::ZERO { Line::nan(n, of_y) } else { y };
                    if alpha == T::ZERO {
                        call(hermitian, conj, alpha, &unread, &Line::nan(n, of_x), beta, &mut found);
                    } else {
                        call(hermitian, conj, alpha, &a, &x, beta, &mut found);
                    }
                    let what = format!("{n} {storage:?} {uplo:?} hermitian {hermitian} conj {conj} {alpha} {beta}");
                    found.check(&wanted, &what);
                }
            }
        }
    }
}
