//! The Level-1 BLAS.

use super::test_vector::{INCREMENTS, SIZES, TestVector, ZEROS, factors, nan, number, same};
use superscalar_kernels::cpu::ModifiedRotation;
use superscalar_kernels::{Scalar, VecRef, cpu};
use superscalar_oracle::{Random, at_most};

/// Calls `body` with two vectors of each size and pair of increments, including zero.
fn pairs<T: Scalar>(mut body: impl FnMut(&str, TestVector<T>, TestVector<T>)) {
    let mut numbers = Random::new(1);
    for n in SIZES {
        for (of_x, of_y) in INCREMENTS.into_iter().chain(ZEROS) {
            let (x, y) = (TestVector::integers(n, of_x, &mut numbers), TestVector::integers(n, of_y, &mut numbers));
            body(&format!("n {n} increments {of_x} {of_y}"), x, y);
        }
    }
}

pub fn swap<T: Scalar>() {
    pairs::<T>(|what, mut x, mut y| {
        let (mut p, mut q) = (x.clone(), y.clone());
        for i in 0..x.n {
            let (a, b) = (p.get(i), q.get(i));
            p.set(i, b);
            q.set(i, a);
        }
        cpu::swap(x.view_mut(), y.view_mut());
        x.check(&p, what);
        y.check(&q, what);
    });
}

pub fn scal<T: Scalar>() {
    pairs::<T>(|what, x, _| {
        for alpha in factors::<T>() {
            if x.inc == 0 && alpha == factors()[3] {
                continue; // Its powers exceed the integers that the type represents.
            }
            let (mut x, mut wanted) = (x.clone(), x.clone());
            (0..x.n).for_each(|i| wanted.set(i, alpha * wanted.get(i)));
            cpu::scal(alpha, x.view_mut());
            x.check(&wanted, what);
            let alpha = alpha.re();
            (0..x.n).for_each(|i| wanted.set(i, T::from_real(alpha) * wanted.get(i)));
            cpu::scal_real(alpha, x.view_mut());
            x.check(&wanted, what);
        }
    });
    let mut x = TestVector::<T>::nan(20, 1);
    cpu::scal(T::ZERO, x.view_mut());
    x.check(&TestVector::nan(20, 1), "zero times NaN");
}

pub fn copy<T: Scalar>() {
    pairs::<T>(|what, x, mut y| {
        let mut wanted = y.clone();
        (0..x.n).for_each(|i| wanted.set(i, x.get(i)));
        cpu::copy(x.view(), y.view_mut());
        y.check(&wanted, what);
    });
}

pub fn axpy<T: Scalar>() {
    pairs::<T>(|what, x, y| {
        for alpha in factors::<T>() {
            let (mut y, mut wanted) = (y.clone(), y.clone());
            (0..x.n).for_each(|i| wanted.set(i, alpha * x.get(i) + wanted.get(i)));
            cpu::axpy(alpha, x.view(), y.view_mut());
            y.check(&wanted, what);
        }
        let mut z = y.clone();
        cpu::axpy(T::ZERO, TestVector::nan(x.n, x.inc).view(), z.view_mut());
        z.check(&y, "alpha = 0");
    });
}

pub fn axpby<T: Scalar>() {
    pairs::<T>(|what, x, y| {
        for alpha in factors::<T>() {
            for beta in factors::<T>() {
                if y.inc == 0 && beta == factors()[3] {
                    continue;
                }
                let (mut x, mut y) = (x.clone(), y.clone());
                let mut wanted = y.clone();
                (0..x.n).for_each(|i| wanted.set(i, alpha * x.get(i) + beta * wanted.get(i)));
                x = if alpha == T::ZERO { TestVector::nan(x.n, x.inc) } else { x };
                y = if beta == T::ZERO { TestVector::nan(y.n, y.inc) } else { y };
                cpu::axpby(alpha, x.view(), beta, y.view_mut());
                y.check(&wanted, what);
            }
        }
    });
}

pub fn dot<T: Scalar>() {
    pairs::<T>(|what, x, y| {
        let (mut plain, mut conj) = (T::ZERO, T::ZERO);
        for i in 0..x.n {
            plain += x.get(i) * y.get(i);
            conj += x.get(i).conj() * y.get(i);
        }
        same(&[cpu::dotu(x.view(), y.view()), cpu::dotc(x.view(), y.view())], &[plain, conj], what);
    });
    pairs::<f32>(|what, mut x, mut y| {
        // Singles cannot represent the first product.
        if x.n > 0 {
            x.set(0, 4097.0);
            y.set(0, 4097.0);
        }
        let wanted: f64 = (0..x.n).map(|i| f64::from(x.get(i)) * f64::from(y.get(i))).sum();
        assert_eq!(cpu::dsdot(x.view(), y.view()), wanted, "{what}");
        assert_eq!(cpu::sdsdot(0.5, x.view(), y.view()), (wanted + 0.5) as f32, "{what}");
    });
}

fn size<T: Scalar>(x: T) -> T::Real {
    x.re().abs() + x.im().abs()
}

pub fn asum<T: Scalar>() {
    pairs::<T>(|what, x, _| {
        let wanted: T::Real = (0..x.n).map(|i| size(x.get(i))).sum();
        same(&[cpu::asum(x.view())], &[wanted], what);
    });
}

fn first_largest<T: Scalar>(x: &TestVector<T>) -> usize {
    let mut best = 0;
    for i in 1..x.n {
        if size(x.get(i)) > size(x.get(best)) {
            best = i;
        }
    }
    if x.n == 0 { 0 } else { best + 1 }
}

pub fn iamax<T: Scalar>() {
    pairs::<T>(|what, x, _| assert_eq!(cpu::iamax(x.view()), first_largest(&x), "{what}"));
    // The largest element at each position of a vector of several blocks, with an equal one at the end.
    let n = 1500;
    for at in (0..n - 1).step_by(7) {
        let mut x = TestVector::<T>::new(n, 1, || number(1.0, -1.0));
        x.set(at, number(-2.0, 3.0));
        x.set(n - 1, number(-3.0, 2.0));
        x.set(n - 1, number(2.0, -3.0));
        assert_eq!(cpu::iamax(x.view()), at + 1);
    }
}

pub fn iamax_nan<T: Scalar>() {
    for n in [1, 2, 9, 40, 700] {
        for inc in [1, 2, -1] {
            for at in [0, 1, n / 2, n - 1] {
                let mut numbers = Random::new(n as u64);
                let mut x = TestVector::<T>::integers(n, inc, &mut numbers);
                x.set(at.min(n - 1), nan());
                assert_eq!(cpu::iamax(x.view()), first_largest(&x), "n {n} inc {inc} NaN at {at}");
                x.set(n / 2, number(f64::INFINITY, 0.0));
                assert_eq!(cpu::iamax(x.view()), first_largest(&x), "n {n} inc {inc} NaN at {at}, Inf");
            }
        }
    }
    let x = TestVector::<T>::nan(70, 1);
    assert_eq!(cpu::iamax(x.view()), 1);
}

pub fn rot<T: Scalar>() {
    let real = <T::Real as Scalar>::from_f64;
    pairs::<T>(|what, mut x, mut y| {
        if x.inc == 0 || y.inc == 0 {
            (x, y) = (TestVector::new(x.n, x.inc, || T::ONE), TestVector::new(y.n, y.inc, || T::ONE));
        }
        let (c, s) = if x.inc * y.inc == 0 { (0.0, 1.0) } else { (2.0, -3.0) };
        let (mut p, mut q) = (x.clone(), y.clone());
        for i in 0..x.n {
            let (a, b) = (p.get(i), q.get(i));
            p.set(i, T::from_f64(c) * a + T::from_f64(s) * b);
            q.set(i, T::from_f64(c) * b - T::from_f64(s) * a);
        }
        cpu::rot(x.view_mut(), y.view_mut(), real(c), real(s));
        x.check(&p, what);
        y.check(&q, what);
    });
}

pub fn rotm<T: Scalar>() {
    let nan = f64::NAN;
    // flag, h11, h21, h12, h22; NaN where they are not read.
    let params =
        [[-2.0, nan, nan, nan, nan], [-1.0, 2.0, 3.0, -1.0, 4.0], [0.0, nan, 2.0, 3.0, nan], [1.0, 2.0, nan, nan, 3.0]];
    let elements = [[1.0, 0.0, 0.0, 1.0], [2.0, 3.0, -1.0, 4.0], [1.0, 2.0, 3.0, 1.0], [2.0, -1.0, 1.0, 3.0]];
    pairs::<T::Real>(|what, x, y| {
        if x.inc * y.inc == 0 {
            return;
        }
        for (param, [h11, h21, h12, h22]) in params.into_iter().zip(elements) {
            let real = <T::Real as Scalar>::from_f64;
            let (mut x, mut y) = (x.clone(), y.clone());
            let (mut p, mut q) = (x.clone(), y.clone());
            for i in 0..x.n {
                let (a, b) = (p.get(i), q.get(i));
                p.set(i, real(h11) * a + real(h12) * b);
                q.set(i, real(h21) * a + real(h22) * b);
            }
            let h = ModifiedRotation::from_param(&param.map(real));
            cpu::rotm(x.view_mut(), y.view_mut(), h);
            x.check(&p, what);
            y.check(&q, what);
            let mut again = [real(nan); 5];
            h.write_param(&mut again);
            same(&again, &param.map(real), "param");
        }
    });
}

#[test]
fn dsdot_accumulates_in_f64() {
    let x = [1e20f32, 1.0, -1e20];
    let y = [1.0f32; 3];
    let found = cpu::dsdot(VecRef::from_slice(&x), VecRef::from_slice(&y));
    at_most("dsdot", (found - 0.0).abs(), 1e5).unwrap();
}
