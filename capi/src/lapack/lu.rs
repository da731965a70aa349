//! LU factorization with partial pivoting, solves, inverse, condition number and row interchanges.

use super::{Elements, Interface, is_query, read_interchanges, real, slice_mut, write_integers};
use crate::abi::{DlaScalar, Failure, Int, Layout, Letter, Norm, Op, Scalar as _, Size, Solved, matrix_mut};
use superscalar::{
    dla::serial,
    kernels::{Direction, cpu, try_zeros},
};
use superscalar_macros::lapack;

/// Computes the factorization A = P L U.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
unsafe fn getrf<T: DlaScalar, I: Int>(
    interface: Interface,
    m: Size,
    n: Size,
    a: *mut T,
    lda: Size,
    ipiv: *mut I,
) -> Solved {
    interface.check(&[(4, lda, (m, n))], &[(1, m.is_valid()), (2, n.is_valid())])?;
    let k = m.min(n);
    if k == Size::ZERO {
        return Ok(0);
    }
    // SAFETY: by the module's requirements the matrix is valid and not accessed elsewhere during the call.
    let mut a = unsafe { interface.matrix(3, Elements::All, (m, n), (a, lda))? };
    let work = real(k) * (real(m) * real(n) - real(k) * (real(m) + real(n)) / 2.0 + real(k).powi(2) / 3.0);
    // SAFETY: by the module's requirements `ipiv` has k elements, and nothing else accesses it during the call.
    let outcome = unsafe { write_integers(ipiv, k.get(), |ipiv| solve!(work, cpu::getrf(a.view_mut(), ipiv))) };
    a.copy_back(Elements::All);
    outcome
}

/// Solves op(A) X = B with the LU factors of A.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn getrs<T: DlaScalar, I: Int>(
    interface: Interface,
    trans: Letter,
    n: Size,
    nrhs: Size,
    a: *const T,
    lda: Size,
    ipiv: *const I,
    b: *mut T,
    ldb: Size,
) -> Solved {
    interface.check(
        &[(5, lda, (n, n)), (8, ldb, (n, nrhs))],
        &[(1, trans.op().is_some()), (2, n.is_valid()), (3, nrhs.is_valid())],
    )?;
    if n == Size::ZERO || nrhs == Size::ZERO {
        return Ok(0);
    }
    let op = trans.op().unwrap_or(Op::None);
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (a, ipiv, mut b) = unsafe {
        let a = interface.matrix(4, Elements::All, (n, n), (a, lda))?;
        let b = interface.matrix(7, Elements::All, (n, nrhs), (b, ldb))?;
        (a, read_interchanges(6, ipiv, n.get())?, b)
    };
    let outcome = solve!(real(n).powi(2) * real(nrhs), serial::getrs(op, a.view(), &ipiv, b.view_mut()));
    b.copy_back(Elements::All);
    outcome
}

/// Factors A and solves A X = B.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gesv<T: DlaScalar, I: Int>(
    interface: Interface,
    n: Size,
    nrhs: Size,
    a: *mut T,
    lda: Size,
    ipiv: *mut I,
    b: *mut T,
    ldb: Size,
) -> Solved {
    interface.check(&[(4, lda, (n, n)), (7, ldb, (n, nrhs))], &[(1, n.is_valid()), (2, nrhs.is_valid())])?;
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (mut a, mut b) = unsafe {
        let a = interface.matrix(3, Elements::All, (n, n), (a, lda))?;
        (a, interface.matrix(6, Elements::All, (n, nrhs), (b, ldb))?)
    };
    let work = real(n).powi(2) * (real(n) / 3.0 + real(nrhs));
    let compute = |ipiv: &mut [i32]| solve!(work, serial::gesv(a.view_mut(), ipiv, b.view_mut()));
    // SAFETY: by the module's requirements `ipiv` has n elements, and nothing else accesses it during the call.
    let outcome = unsafe { write_integers(ipiv, n.get(), compute) };
    a.copy_back(Elements::All);
    b.copy_back(Elements::All);
    outcome
}

/// Computes A⁻¹ from the LU factors of A.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn getri<T: DlaScalar, I: Int>(
    interface: Interface,
    n: Size,
    a: *mut T,
    lda: Size,
    ipiv: *const I,
    work: *mut T,
    lwork: Size,
) -> Solved {
    interface.check(&[(3, lda, (n, n))], &[(1, n.is_valid()), (6, lwork.is_query() || lwork.spans(n))])?;
    // SAFETY: by the module's requirements `work` is null, or has at least one element.
    if unsafe { is_query(work, lwork, n.get()) } {
        return Ok(0);
    }
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let mut a = unsafe { interface.matrix(2, Elements::All, (n, n), (a, lda))? };
    // The interchanges of a singular matrix are not read, since they may be invalid.
    let factors = a.view();
    if let Some(zero) = (0..n.get()).find(|&i| factors.at(i, i) == T::ZERO) {
        return Ok(zero as i64 + 1);
    }
    // SAFETY: by the module's requirements `ipiv` has n elements, and nothing writes them during the call.
    let ipiv = unsafe { read_interchanges(4, ipiv, n.get())? };
    let outcome = solve!(real(n).powi(3) * 2.0 / 3.0, serial::getri(a.view_mut(), &ipiv));
    a.copy_back(Elements::All);
    outcome
}

macro_rules! gecon {
    ($name:ident ($($entries:tt)*) $work:ident: $($numbers:tt)*) => {
        /// Estimates the reciprocal condition number from the LU factors of A.
        ///
        /// # Safety
        /// The addresses satisfy the requirements in the module documentation.
        #[lapack($($entries)*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: DlaScalar, I: Int>(
            interface: Interface,
            norm: Letter,
            n: Size,
            a: *const T,
            lda: Size,
            anorm: T::Real,
            rcond: *mut T::Real,
            work: *mut T,
            $work: $($numbers)*,
        ) -> Solved {
            let given = norm.norm().filter(|norm| matches!(norm, Norm::One | Norm::Inf));
            interface.check(
                &[(4, lda, (n, n))],
                &[(1, given.is_some()), (2, n.is_valid()), (5, anorm.is_nan() || anorm >= T::Real::ZERO)],
            )?;
            let norm = given.unwrap_or(Norm::One);
            // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
            unsafe {
                let a = interface.matrix(3, Elements::All, (n, n), (a, lda))?;
                estimate(interface, (5, anorm), rcond, (n, work), |work| serial::gecon(norm, a.view(), anorm, work))
            }
        }
    };
}

gecon!(gecon (s, d) _iwork: *mut I);
gecon!(gecon_complex (c = "cgecon", z = "zgecon") _rwork: *mut T::Real);

/// Writes the reciprocal condition number that `of` estimates for a matrix of order n. Allocates the workspace if
/// `work` is null, as in LAPACKE's high-level functions. The content of the workspace is a result, which LAPACK's
/// `?latdf` reads. `at` is the position of `anorm`.
///
/// # Safety
/// `rcond` may be written, and so may 2 n elements of `work` unless it is null. Nothing else accesses them.
pub(super) unsafe fn estimate<T: DlaScalar>(
    interface: Interface,
    (at, anorm): (i32, T::Real),
    rcond: *mut T::Real,
    (n, work): (Size, *mut T),
    of: impl FnOnce(&mut [T]) -> T::Real,
) -> Solved {
    if anorm.is_nan() && interface.refuses_nan {
        return Err(Failure::NotANumber(at));
    }
    let count = 2 * n.get();
    let estimate = match work.is_null() {
        true => of(&mut try_zeros(count, 1).map_err(|error| Failure::Unsolved(error.to_string()))?),
        // SAFETY: `work` is not null, so the caller guarantees exclusive access to 2 n elements.
        false => of(unsafe { slice_mut(work, count) }),
    };
    // SAFETY: the caller guarantees that `rcond` may be written.
    unsafe { rcond.write(estimate) };
    Ok(0)
}

/// Applies the interchanges of rows `k1` to `k2` to a matrix with n columns.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation; A has all rows that `ipiv` names.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn laswp<T: DlaScalar, I: Int>(
    interface: Interface,
    n: Size,
    a: *mut T,
    lda: Size,
    k1: Size,
    k2: Size,
    ipiv: *const I,
    incx: Size,
) {
    let (first, last, step) = (k1.get(), k2.get(), incx.stride().unsigned_abs());
    if n.get() == 0 || step == 0 || first == 0 || first > last {
        return;
    }
    let at = |row: usize| ipiv.wrapping_add(first - 1 + (row - first) * step);
    // SAFETY: by the module's requirements `ipiv` has an element for each of these rows at this increment.
    let pivots: Vec<i64> = (first..=last).map(|row| unsafe { at(row).read() }.wide()).collect();
    let rows = pivots.iter().copied().chain([last as i64]).max().unwrap_or(0);
    let narrow: Option<Vec<i32>> = pivots.iter().map(|&p| i32::try_from(p).ok().filter(|&p| p > 0)).collect();
    let refuse = |why: &str| crate::messages::warn(&format!("superscalar: laswp: {why}; no rows were exchanged"));
    let Some(pivots) = narrow else { return refuse("an interchange does not name a row") };
    let rows = Size::from_len(rows as usize);
    if !interface.spans(lda, (rows, n)) {
        return refuse("the leading dimension is too small");
    }
    // SAFETY: by the module's requirements A has these rows, and nothing else accesses it during the call. A row-major
    // matrix is the transpose of a column-major one.
    let a = unsafe {
        match interface.layout {
            Layout::ColMajor => matrix_mut(a, (rows, n), lda),
            Layout::RowMajor => matrix_mut(a, (n, rows), lda).transpose(),
        }
    };
    let direction = if incx.is_forward() { Direction::Forward } else { Direction::Backward };
    cpu::laswp(a, first - 1, &pivots, direction);
}
