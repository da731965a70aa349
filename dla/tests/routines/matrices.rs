//! The matrices that routines are called with, and those that their results are judged with.

use superscalar_dla::Scalar;
use superscalar_kernels::{MatMut, MatRef, Op, Real, Scalar as _, accuracy::largest, c64};

/// Rows of padding below each column.
const PAD: usize = 3;
const SENTINEL: f64 = -7.0;
/// Keeps a ratio from being that of two zeros.
pub const TINY: f64 = 1e-200;

/// A matrix with sentinels below every column. Two are equal if all their bits are, NaN and sentinels included.
#[derive(Clone, Debug)]
pub struct Stored<T> {
    data: Vec<T>,
    m: usize,
    n: usize,
}

impl<T: Scalar> Stored<T> {
    pub fn new((m, n): (usize, usize), f: impl Fn(usize, usize) -> T) -> Self {
        let element = |i: usize, j: usize| if i < m { f(i, j) } else { T::from_f64(SENTINEL) };
        let data = (0..n).flat_map(|j| (0..m + PAD).map(move |i| (i, j))).map(|(i, j)| element(i, j)).collect();
        Self { data, m, n }
    }

    /// Uniform in ±½, in both parts.
    pub fn random(shape: (usize, usize), seed: u64) -> Self {
        Self::new(shape, |i, j| random(seed, i, j))
    }

    /// Hermitian positive definite and well conditioned.
    pub fn positive_definite(n: usize, seed: u64) -> Self {
        Self::new((n, n), |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal => T::from_f64(2.0 * (n as f64).sqrt() + 1.0),
            std::cmp::Ordering::Greater => random(seed, i, j),
            std::cmp::Ordering::Less => random::<T>(seed, j, i).conj(),
        })
    }

    pub fn shape(&self) -> (usize, usize) {
        (self.m, self.n)
    }

    pub fn at(&self, i: usize, j: usize) -> T {
        assert!(i < self.m);
        self.data[i + j * (self.m + PAD)]
    }

    pub fn set(&mut self, i: usize, j: usize, value: T) {
        assert!(i < self.m);
        self.data[i + j * (self.m + PAD)] = value;
    }

    pub fn view(&self) -> MatRef<'_, T> {
        MatRef::from_col_major(&self.data, self.m, self.n, self.m + PAD).expect("there is room")
    }

    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_col_major(&mut self.data, self.m, self.n, self.m + PAD).expect("there is room")
    }

    /// All of it in double precision complex.
    pub fn wide(&self) -> Wide {
        self.part(|_, _| true)
    }

    /// The elements for which `wanted` holds, and zeros.
    pub fn part(&self, wanted: impl Fn(usize, usize) -> bool) -> Wide {
        Wide::new((self.m, self.n), |i, j| if wanted(i, j) { wide(self.at(i, j)) } else { c64::ZERO })
    }

    /// Fails if a sentinel is not what it was.
    pub fn assert_padding(&self, what: &str) {
        let padding = self.data.iter().enumerate().filter(|(at, _)| at % (self.m + PAD) >= self.m);
        for (at, &value) in padding {
            assert!(value == T::from_f64(SENTINEL), "{what}: the padding was touched at {at}");
        }
    }

    pub fn has_nan(&self) -> bool {
        self.data.iter().any(|x| x.is_nan())
    }

    pub fn is_finite(&self) -> bool {
        self.data.iter().all(|&x| wide(x).is_finite())
    }

    fn bits(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.data.iter().map(|x| (x.re().to_f64().to_bits(), x.im().to_f64().to_bits()))
    }
}

impl<T: Scalar> PartialEq for Stored<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.m, self.n) == (other.m, other.n) && self.bits().eq(other.bits())
    }
}

/// A matrix in double precision complex, with the operations of a textbook.
#[derive(Clone, Debug, PartialEq)]
pub struct Wide {
    data: Vec<c64>,
    m: usize,
    n: usize,
}

impl Wide {
    pub fn new((m, n): (usize, usize), f: impl Fn(usize, usize) -> c64) -> Self {
        Self { data: (0..m * n).map(|at| f(at % m, at / m)).collect(), m, n }
    }

    pub fn identity(n: usize) -> Self {
        Self::new((n, n), |i, j| if i == j { c64::ONE } else { c64::ZERO })
    }

    pub fn shape(&self) -> (usize, usize) {
        (self.m, self.n)
    }

    pub fn at(&self, i: usize, j: usize) -> c64 {
        self.data[i + j * self.m]
    }

    pub fn column(&self, j: usize) -> &[c64] {
        &self.data[j * self.m..(j + 1) * self.m]
    }

    fn column_mut(&mut self, j: usize) -> &mut [c64] {
        &mut self.data[j * self.m..(j + 1) * self.m]
    }

    pub fn submatrix(&self, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>) -> Self {
        Self::new((rows.len(), cols.len()), |i, j| self.at(rows.start + i, cols.start + j))
    }

    pub fn op(&self, op: Op) -> Self {
        match op {
            Op::None => self.clone(),
            Op::Trans => Self::new((self.n, self.m), |i, j| self.at(j, i)),
            Op::ConjTrans => Self::new((self.n, self.m), |i, j| self.at(j, i).conj()),
        }
    }

    pub fn adjoint(&self) -> Self {
        self.op(Op::ConjTrans)
    }

    pub fn times(&self, other: &Self) -> Self {
        assert_eq!(self.n, other.m);
        let mut product = Self::new((self.m, other.n), |_, _| c64::ZERO);
        for j in 0..other.n {
            for k in 0..self.n {
                let factor = other.at(k, j);
                if factor != c64::ZERO {
                    product.column_mut(j).iter_mut().zip(self.column(k)).for_each(|(sum, a)| *sum += a * factor);
                }
            }
        }
        product
    }

    pub fn minus(&self, other: &Self) -> Self {
        assert_eq!(self.shape(), other.shape());
        Self::new(self.shape(), |i, j| self.at(i, j) - other.at(i, j))
    }

    /// The rows exchanged as `ipiv` says, first to last.
    pub fn interchanged(mut self, ipiv: &[i32]) -> Self {
        for (i, &p) in ipiv.iter().enumerate() {
            (0..self.n).for_each(|j| self.column_mut(j).swap(i, p as usize - 1));
        }
        self
    }

    /// A := (I − τ v vᴴ) A.
    pub fn reflect(&mut self, tau: c64, v: &[c64]) {
        for j in 0..self.n {
            let dot: c64 = v.iter().zip(self.column(j)).map(|(v, a)| v.conj() * a).sum();
            if dot != c64::ZERO {
                self.column_mut(j).iter_mut().zip(v).for_each(|(a, v)| *a -= tau * dot * v);
            }
        }
    }

    /// The largest sum of moduli in a column; NaN if there is one.
    pub fn norm_one(&self) -> f64 {
        largest((0..self.n).map(|j| self.column(j).iter().map(|x| x.norm()).sum::<f64>()))
    }

    pub fn norm_inf(&self) -> f64 {
        self.adjoint().norm_one()
    }

    pub fn norm_max(&self) -> f64 {
        largest(self.data.iter().map(|x| x.norm()))
    }

    pub fn frobenius(&self) -> f64 {
        self.data.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
    }

    /// Its inverse by elimination with row interchanges.
    pub fn inverse(&self) -> Self {
        let n = self.n;
        let (mut a, mut x) = (self.adjoint(), Self::identity(n));
        // On columns of the adjoint, which lie together; so the result is the adjoint of the inverse.
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a.at(k, i).norm().total_cmp(&a.at(k, j).norm())).expect("a column");
            for matrix in [&mut a, &mut x] {
                (0..n).for_each(|i| matrix.data.swap(i + k * n, i + pivot * n));
            }
            let scale = c64::ONE / a.at(k, k);
            for matrix in [&mut a, &mut x] {
                matrix.column_mut(k).iter_mut().for_each(|x| *x *= scale);
            }
            for j in (0..n).filter(|&j| j != k) {
                let factor = a.at(k, j);
                for matrix in [&mut a, &mut x] {
                    let by = matrix.column(k).to_vec();
                    matrix.column_mut(j).iter_mut().zip(by).for_each(|(x, by)| *x -= factor * by);
                }
            }
        }
        x.adjoint()
    }
}

pub fn wide<T: Scalar>(x: T) -> c64 {
    c64::new(x.re().to_f64(), x.im().to_f64())
}

/// The unit roundoff of a type.
pub fn epsilon<T: Scalar>() -> f64 {
    wide(T::from_real(T::EPSILON)).re
}

/// Whether the type is one of single precision.
pub fn is_single<T: Scalar>() -> bool {
    size_of::<T::Real>() == size_of::<f32>()
}

/// The least positive number of a type.
pub fn least<T: Scalar>() -> f64 {
    if is_single::<T>() { f64::from(f32::from_bits(1)) } else { f64::from_bits(1) }
}

/// The exponents k for which integers from 1 to 7, times 2ᵏ, are numbers of this type.
pub fn powers_of_two<T: Scalar>() -> std::ops::RangeInclusive<i32> {
    if is_single::<T>() { -149..=125 } else { -1074..=1021 }
}

/// 2ᵏ x, rounded only where that is subnormal or overflows.
pub fn times_power_of_two(x: f64, k: i32) -> f64 {
    let (mut x, mut left) = (x, k);
    while left != 0 {
        let step = left.clamp(-1022, 1022);
        x *= 2f64.powi(step);
        left -= step;
    }
    x
}

/// Fails unless x is 2ᵏ times what was expected, up to an error of `error` times 2ᵏ and to what is lost below the least
/// number. A part that is not representable must have overflowed.
#[track_caller]
pub fn assert_scaled<T: Scalar>(x: T, expected: c64, error: f64, k: i32, what: &str) {
    for (found, expected) in [(wide(x).re, expected.re), (wide(x).im, expected.im)] {
        let scaled = times_power_of_two(expected, k);
        let is_number = T::from_f64(times_power_of_two(expected.abs() + error, k)).re().to_f64().is_finite();
        let near = (found - scaled).abs() <= times_power_of_two(error, k) + 4.0 * least::<T>();
        assert!(if is_number { near } else { found.is_infinite() || near }, "{what}: {found:e}, not {scaled:e}");
    }
}

pub fn narrow<T: Scalar>(x: c64) -> T {
    T::from_parts(T::Real::from_f64(x.re), T::Real::from_f64(x.im))
}

/// Uniform in ±½ in both parts, by seed and position.
pub fn random<T: Scalar>(seed: u64, i: usize, j: usize) -> T {
    let place = (seed << 48) ^ ((i as u64) << 24) ^ j as u64;
    narrow(c64::new(uniform(2 * place), uniform(2 * place + 1)))
}

/// A small integer, in both parts where the type has two.
pub fn whole<T: Scalar>(seed: u64, i: usize, j: usize) -> T {
    let x = wide(random::<T>(seed, i, j));
    narrow(c64::new((x.re * 5.0).round(), (x.im * 5.0).round()))
}

/// Uniform in ±½, by a generator that any seed starts well.
fn uniform(seed: u64) -> f64 {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ (state >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}
