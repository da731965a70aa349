//! Seeded random matrices, each in O(elements).
//!
//! The generator is SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). Its state is a single number, so the seed on the
//! tester's command line reproduces every entry of a case on every machine.

use crate::{
    parallel,
    wide::{narrow, wide},
};
use superscalar_kernels::{Diag, MatMut, MatRef, Scalar, Uplo, c64};

/// The increment of the generator's state.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random numbers.
///
/// # Example
/// ```
/// use superscalar_oracle::Random;
///
/// let (mut one, mut same) = (Random::new(7), Random::new(7));
/// assert_eq!(one.scalar::<f64>(), same.scalar::<f64>());
/// assert!(one.below(3) < 3);
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Makes the stream of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number uniform in [-1/2, 1/2).
    fn centred(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    /// Returns a scalar whose parts are uniform in [-1/2, 1/2).
    pub fn scalar<T: Scalar>(&mut self) -> T {
        let re = T::Real::from_f64(self.centred());
        let im = if T::COMPLEX { T::Real::from_f64(self.centred()) } else { T::Real::ZERO };
        T::from_parts(re, im)
    }

    /// Returns a scalar whose parts are uniform in [-1, 1).
    pub fn fraction<T: Scalar>(&mut self) -> T {
        self.scalar::<T>() * T::from_f64(2.0)
    }

    /// Returns a scalar whose parts are small integers. Products and sums of such are exact in every type.
    pub fn integer<T: Scalar>(&mut self) -> T {
        let mut part = || self.below(7) as f64 - 3.0;
        let re = part();
        narrow(c64::new(re, if T::COMPLEX { part() } else { 0.0 }))
    }

    /// Returns a scalar of modulus 1: plus or minus one, or for complex types also plus or minus i.
    pub fn unit<T: Scalar>(&mut self) -> T {
        let bits = self.bits() >> 62;
        let one = if bits & 1 == 0 { T::Real::ONE } else { -T::Real::ONE };
        if T::COMPLEX && bits & 2 != 0 { T::from_parts(T::Real::ZERO, one) } else { T::from_real(one) }
    }

    /// Returns an integer below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.bits() >> 32) as usize) % end
    }

    /// Returns the stream without its next `count` numbers.
    fn from(&self, count: usize) -> Self {
        Self(self.0.wrapping_add((count as u64).wrapping_mul(STEP)))
    }

    /// Fills the columns of a matrix on several threads, with the numbers that one thread would draw. `fill` gets each
    /// column j and must draw `draws(j)` numbers.
    fn columns<T: Scalar>(
        &mut self,
        mut a: MatMut<'_, T>,
        draws: impl Fn(usize) -> usize,
        fill: impl Fn(&mut Random, usize, MatMut<'_, T>) + Sync,
    ) {
        let (mut parts, mut count) = (Vec::new(), 0);
        for range in parallel::ranges(a.ncols(), a.nrows().saturating_mul(a.ncols())) {
            let (part, rest) = a.split_at_col(range.len());
            parts.push((range.clone(), self.from(count), part));
            count += range.map(&draws).sum::<usize>();
            a = rest;
        }
        parallel::map(parts, |(range, mut random, mut part)| {
            let m = part.nrows();
            for (at, j) in range.enumerate() {
                fill(&mut random, j, part.rb_mut().submatrix(0..m, at..at + 1));
            }
        });
        *self = self.from(count);
    }

    /// Fills a whole matrix.
    pub fn general<T: Scalar>(&mut self, a: MatMut<'_, T>) {
        let m = a.nrows();
        self.columns(a, |_| m * parts::<T>(), |random, _, mut a| (0..m).for_each(|i| a[(i, 0)] = random.scalar()));
    }

    /// Fills the part of an m x n matrix on and below the diagonal, or on and above it.
    pub fn trapezoid<T: Scalar>(&mut self, uplo: Uplo, a: MatMut<'_, T>) {
        let a = if uplo == Uplo::Upper { a.transpose() } else { a };
        let m = a.nrows();
        let draws = |j| m.saturating_sub(j) * parts::<T>();
        self.columns(a, draws, |random, j, mut a| (j..m).for_each(|i| a[(i, 0)] = random.scalar()));
    }

    /// Fills a whole m x n matrix such that it has full rank and a condition number of a few units: 2 √max(m, n) is
    /// added to the elements (i, p(i)), where p counts backwards. LU factorizations therefore need interchanges.
    pub fn full_rank<T: Scalar>(&mut self, mut a: MatMut<'_, T>) {
        let (m, n) = a.shape();
        let dominant = T::from_f64(2.0 * (m.max(n) as f64).sqrt());
        self.general(a.rb_mut());
        (0..m.min(n)).for_each(|i| a[(i, m.min(n) - 1 - i)] += dominant);
    }

    /// Fills an n x n matrix with the factors of an LU factorization: L with ones on the diagonal, and U. Solving with
    /// both is well conditioned, as in [`triangular`](Self::triangular).
    pub fn lu<T: Scalar>(&mut self, mut a: MatMut<'_, T>) {
        self.triangular(Uplo::Upper, Diag::NonUnit, a.rb_mut());
        self.triangular(Uplo::Lower, Diag::Unit, a);
    }

    /// Fills the columns of V below the diagonal, which hold the reflectors. Each column has a length near one.
    pub fn reflectors<T: Scalar>(&mut self, mut v: MatMut<'_, T>) {
        let (m, k) = v.shape();
        let scale = T::from_f64((m as f64).sqrt().recip());
        for j in 0..k {
            (j + 1..m).for_each(|i| v[(i, j)] = self.scalar::<T>() * scale);
        }
    }

    /// Computes scalars τ with which I − τ v vᴴ is unitary, for the reflectors in the columns of V. They are (1 + w) /
    /// ‖v‖² with a random w of modulus one; for real types w = 1.
    pub fn reflector_scalars<T: Scalar>(&mut self, v: MatRef<'_, T>, mut tau: MatMut<'_, T>) {
        for j in 0..tau.nrows() {
            let tail: T::Real = (j + 1..v.nrows()).map(|i| (v.at(i, j).conj() * v.at(i, j)).re()).sum();
            let angle = self.scalar::<T>() + T::ONE;
            let w = if T::COMPLEX { angle.quotient(T::from_real(angle.abs())) } else { T::ONE };
            tau[(j, 0)] = (T::ONE + w).quotient(T::from_real(T::Real::ONE + tail));
        }
    }

    /// Fills one triangle of a Hermitian positive definite matrix. The diagonal is slightly above 2 √n, and the other
    /// elements are uniform.
    ///
    /// By Wigner's law the eigenvalues of the random part stay within 0.82 √n (0.58 √n for real types) with a
    /// probability that tends to one, and up to n = 16 the matrix is diagonally dominant. It is therefore positive
    /// definite, with a condition number below 3. A diagonal of n would dominate for every n, but hide the rest: in
    /// single precision the residual could not distinguish a missing tile update from rounding.
    pub fn positive_definite<T: Scalar>(&mut self, uplo: Uplo, a: MatMut<'_, T>) {
        let diagonal = 2.0 * (a.nrows() as f64).sqrt();
        self.triangle(uplo, diagonal, a);
    }

    /// Fills one triangle of a lower or upper triangular matrix with which solving is well conditioned. The diagonal is
    /// real and slightly above √n. (With a smaller diagonal, solutions grow exponentially in n, as for random
    /// triangular matrices; √n keeps each row's sum of n uniform terms below it.) A unit diagonal is not written, and
    /// the other elements are smaller instead.
    pub fn triangular<T: Scalar>(&mut self, uplo: Uplo, diag: Diag, a: MatMut<'_, T>) {
        let diagonal = (a.nrows() as f64).sqrt();
        if diag == Diag::NonUnit {
            return self.triangle(uplo, diagonal, a);
        }
        let scale = T::from_f64(1.0 / (diagonal + 0.5));
        let a = if uplo == Uplo::Upper { a.transpose() } else { a };
        let n = a.nrows();
        let draws = |j| n.saturating_sub(j + 1) * parts::<T>();
        let below = |random: &mut Self, j, mut a: MatMut<'_, T>| {
            (j + 1..n).for_each(|i| a[(i, 0)] = random.scalar::<T>() * scale);
        };
        self.columns(a, draws, below);
    }

    /// Changes random triangles such that their inverse is known except for phases: off the diagonal the elements
    /// become −|aᵢⱼ| dᵢ / dⱼ with random dᵢ of modulus one. They are also scaled down, so that sums over rows stay a
    /// few times as large as the diagonal.
    pub fn with_known_inverse<T: Scalar>(&mut self, mut a: MatMut<'_, T>) {
        let n = a.nrows();
        let phases: Vec<T> = (0..n).map(|_| self.unit()).collect();
        let scale = T::Real::from_f64(6.0 / (n.max(36) as f64).sqrt());
        for (i, j) in (0..n).flat_map(|j| (0..n).filter(move |&i| i != j).map(move |i| (i, j))) {
            a[(i, j)] = T::from_real(-a[(i, j)].abs() * scale) * phases[i] * phases[j].conj();
        }
    }

    fn triangle<T: Scalar>(&mut self, uplo: Uplo, diagonal: f64, a: MatMut<'_, T>) {
        let n = a.nrows();
        let a = if uplo == Uplo::Upper { a.transpose() } else { a };
        let draws = |j| 1 + (n - j - 1) * parts::<T>();
        self.columns(a, draws, |random, j, mut a| {
            a[(j, 0)] = T::from_f64(diagonal + 0.5 + random.centred());
            (j + 1..n).for_each(|i| a[(i, 0)] = random.scalar());
        });
    }
}

/// Returns a number uniform in ±½ in both parts that depends only on seed and position, not on the order of calls or
/// the thread.
pub fn element<T: Scalar>(seed: u64, i: usize, j: usize) -> T {
    let place = (seed << 48) ^ ((i as u64) << 24) ^ j as u64;
    let mut random = Random::new((2 * place).wrapping_mul(STEP));
    narrow(random.scalar::<c64>())
}

/// Returns a small integer, in both parts of complex types, that depends only on seed and position.
pub fn whole<T: Scalar>(seed: u64, i: usize, j: usize) -> T {
    let x = wide(element::<T>(seed, i, j));
    narrow(c64::new((x.re * 5.0).round(), (x.im * 5.0).round()))
}

/// Returns how many numbers make a scalar.
fn parts<T: Scalar>() -> usize {
    if T::COMPLEX { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use superscalar_kernels::{c64, cpu};

    #[test]
    fn seed_repeats_its_numbers() {
        let (mut one, mut same, mut other) = (Random::new(7), Random::new(7), Random::new(8));
        let numbers = |r: &mut Random| -> Vec<c64> { (0..50).map(|_| r.scalar()).collect() };
        let first = numbers(&mut one);
        assert!(first == numbers(&mut same) && first != numbers(&mut other));
        assert!(first.iter().all(|z| z.re.abs() <= 0.5 && z.im.abs() <= 0.5));
        assert!((0..50).all(|_| one.unit::<c64>().norm() == 1.0));
    }

    #[test]
    fn parallel_fill_matches_serial_fill() {
        let (m, n) = (3000, 400);
        let mut data = vec![c64::ZERO; m * n];
        let (mut random, mut same) = (Random::new(3), Random::new(3));
        random.general(MatMut::from_col_major(&mut data, m, n, m).expect("a shape that fits"));
        assert!(data.iter().all(|&entry| entry == same.scalar::<c64>()));
        assert_eq!(random.bits(), same.bits());
        let mut square = vec![0.0; n * n];
        random.positive_definite(Uplo::Lower, MatMut::from_col_major(&mut square, n, n, n).expect("a shape that fits"));
        assert_eq!(random.bits(), same.from(n * (n + 1) / 2).bits());
    }

    #[test]
    fn definite_matrices_have_cholesky_factors() {
        for n in (0..40).chain([100, 300]) {
            for seed in 0..5 {
                let mut data = vec![c64::new(f64::NAN, 0.0); n * n];
                let mut a = MatMut::from_col_major(&mut data, n, n, n.max(1)).expect("a shape that fits");
                Random::new(seed).positive_definite(Uplo::Lower, a.rb_mut());
                assert_eq!(cpu::potrf(Uplo::Lower, a), Ok(()), "n {n} seed {seed}");
            }
        }
    }
}
