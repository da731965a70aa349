//! LU factorization with partial pivoting, and what follows from it.

use super::{Interface, Stored, is_query, read_interchanges, real, slice_mut, write_interchanges};
use crate::abi::{Failure, Int, Layout, Letter, Norm, Op, Routines, Scalar as _, Size, Solved, check, matrix_mut};
use superscalar::{
    dla::serial,
    kernels::{Direction, cpu, try_zeros},
};
use superscalar_macros::lapack;

/// A = P L U.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
unsafe fn getrf<T: Routines, I: Int>(
    interface: Interface,
    m: Size,
    n: Size,
    a: *mut T,
    lda: Size,
    ipiv: *mut I,
) -> Solved {
    check(&[(1, m.is_valid()), (2, n.is_valid()), (4, interface.spans(lda, (m, n)))])?;
    let k = m.min(n);
    if k == Size::ZERO {
        return Ok(0);
    }
    // SAFETY: the caller promises of this address what the module's head says.
    let mut a = unsafe { interface.matrix(3, Stored::All, (m, n), (a, lda))? };
    let work = real(k) * (real(m) * real(n) - real(k) * (real(m) + real(n)) / 2.0 + real(k).powi(2) / 3.0);
    // SAFETY: there is room for as many interchanges as pivots.
    let outcome = unsafe { write_interchanges(ipiv, k.get(), |ipiv| solve!(work, cpu::getrf(a.view_mut(), ipiv))) };
    a.home(Stored::All);
    outcome
}

/// op(A) X = B by the factors of A.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn getrs<T: Routines, I: Int>(
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
    check(&[
        (1, trans.op().is_some()),
        (2, n.is_valid()),
        (3, nrhs.is_valid()),
        (5, interface.spans(lda, (n, n))),
        (8, interface.spans(ldb, (n, nrhs))),
    ])?;
    if n == Size::ZERO || nrhs == Size::ZERO {
        return Ok(0);
    }
    let op = trans.op().unwrap_or(Op::None);
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (a, ipiv, mut b) = unsafe {
        let a = interface.matrix(4, Stored::All, (n, n), (a, lda))?;
        let b = interface.matrix(7, Stored::All, (n, nrhs), (b, ldb))?;
        (a, read_interchanges(6, ipiv, n.get())?, b)
    };
    let outcome = solve!(real(n).powi(2) * real(nrhs), serial::getrs(op, a.view(), &ipiv, b.view_mut()));
    b.home(Stored::All);
    outcome
}

/// A X = B.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gesv<T: Routines, I: Int>(
    interface: Interface,
    n: Size,
    nrhs: Size,
    a: *mut T,
    lda: Size,
    ipiv: *mut I,
    b: *mut T,
    ldb: Size,
) -> Solved {
    check(&[
        (1, n.is_valid()),
        (2, nrhs.is_valid()),
        (4, interface.spans(lda, (n, n))),
        (7, interface.spans(ldb, (n, nrhs))),
    ])?;
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (mut a, mut b) = unsafe {
        let a = interface.matrix(3, Stored::All, (n, n), (a, lda))?;
        (a, interface.matrix(6, Stored::All, (n, nrhs), (b, ldb))?)
    };
    let work = real(n).powi(2) * (real(n) / 3.0 + real(nrhs));
    let compute = |ipiv: &mut [i32]| solve!(work, serial::gesv(a.view_mut(), ipiv, b.view_mut()));
    // SAFETY: there is room for as many interchanges as pivots.
    let outcome = unsafe { write_interchanges(ipiv, n.get(), compute) };
    a.home(Stored::All);
    b.home(Stored::All);
    outcome
}

/// A⁻¹ by the factors of A.
///
/// # Safety
/// The module's.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn getri<T: Routines, I: Int>(
    interface: Interface,
    n: Size,
    a: *mut T,
    lda: Size,
    ipiv: *const I,
    work: *mut T,
    lwork: Size,
) -> Solved {
    check(&[(1, n.is_valid()), (3, interface.spans(lda, (n, n))), (6, lwork.is_query() || lwork.spans(n))])?;
    // SAFETY: there is an element, or a workspace.
    if unsafe { is_query(work, lwork, n.get()) } {
        return Ok(0);
    }
    // SAFETY: the caller promises of these addresses what the module's head says.
    let mut a = unsafe { interface.matrix(2, Stored::All, (n, n), (a, lda))? };
    // The interchanges of a singular matrix may be anything.
    let factors = a.view();
    if let Some(zero) = (0..n.get()).find(|&i| factors.at(i, i) == T::ZERO) {
        return Ok(zero as i64 + 1);
    }
    // SAFETY: there are n interchanges, as the module's head says of the caller.
    let ipiv = unsafe { read_interchanges(4, ipiv, n.get())? };
    let outcome = solve!(real(n).powi(3) * 2.0 / 3.0, serial::getri(a.view_mut(), &ipiv));
    a.home(Stored::All);
    outcome
}

macro_rules! gecon {
    ($name:ident ($($entries:tt)*) $work:ident: $($numbers:tt)*) => {
        /// The reciprocal condition number by the factors of A.
        ///
        /// # Safety
        /// The module's.
        #[lapack($($entries)*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: Routines, I: Int>(
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
            check(&[
                (1, given.is_some()),
                (2, n.is_valid()),
                (4, interface.spans(lda, (n, n))),
                (5, anorm.is_nan() || anorm >= T::Real::ZERO),
            ])?;
            let norm = given.unwrap_or(Norm::One);
            // SAFETY: the caller promises of these addresses what the module's head says.
            unsafe {
                let a = interface.matrix(3, Stored::All, (n, n), (a, lda))?;
                estimate(interface, (5, anorm), rcond, (n, work), |work| serial::gecon(norm, a.view(), anorm, work))
            }
        }
    };
}

gecon!(gecon (s, d) _iwork: *mut I);
gecon!(gecon_complex (c = "cgecon", z = "zgecon") _rwork: *mut T::Real);

/// Writes an estimate of a reciprocal condition number of order n, which is computed in a workspace. What is left there
/// is a result: LAPACK's `?latdf` takes it. LAPACKE's upper half gives none.
///
/// # Safety
/// A number may be written at the address of `rcond`, and 2 n elements at that of `work`, unless it is null.
pub(super) unsafe fn estimate<T: Routines>(
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
        // SAFETY: as the caller promises.
        false => of(unsafe { slice_mut(work, count) }),
    };
    // SAFETY: as the caller promises.
    unsafe { rcond.write(estimate) };
    Ok(0)
}

/// Interchanges of rows `k1` to `k2` of a matrix with n columns.
///
/// # Safety
/// The module's; A has as many rows as the interchanges name.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn laswp<T: Routines, I: Int>(
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
    // SAFETY: the caller has an interchange for each row.
    let pivots: Vec<i64> = (first..=last).map(|row| unsafe { at(row).read() }.wide()).collect();
    let rows = pivots.iter().copied().chain([last as i64]).max().unwrap_or(0);
    let narrow: Option<Vec<i32>> = pivots.iter().map(|&p| i32::try_from(p).ok().filter(|&p| p > 0)).collect();
    let Some(pivots) = narrow else {
        crate::messages::say("superscalar: laswp: an interchange with no row; nothing was exchanged");
        return;
    };
    let rows = Size::from_len(rows as usize);
    // SAFETY: the caller promises of these rows what the module's head says; by rows it is the transpose of a matrix by
    // columns.
    let a = unsafe {
        match interface.layout {
            Layout::ColMajor => matrix_mut(a, (rows, n), lda),
            Layout::RowMajor => matrix_mut(a, (n, rows), lda).transpose(),
        }
    };
    let direction = if incx.is_forward() { Direction::Forward } else { Direction::Backward };
    cpu::laswp(a, first - 1, &pivots, direction);
}
