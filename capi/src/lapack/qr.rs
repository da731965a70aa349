//! QR and LQ factorizations, products with Q, the explicit Q, and least squares.

use super::{Elements, Interface, LapackMatrix, is_query, real, slice_mut};
use crate::abi::{DlaScalar, Letter, Op, Side, Size, Solved};
use superscalar::dla::serial;
use superscalar_macros::lapack;

/// Returns the number of multiplications of a factorization.
fn factorization(m: Size, n: Size) -> f64 {
    let (long, short) = (real(m.max(n)), real(m.min(n)));
    short * short * (long - short / 3.0)
}

macro_rules! factor {
    ($($(#[$doc:meta])* $name:ident, $sizes:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The addresses satisfy the requirements in the module documentation.
        #[lapack(s, d, c, z)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: DlaScalar>(
            interface: Interface,
            m: Size,
            n: Size,
            a: *mut T,
            lda: Size,
            tau: *mut T,
            work: *mut T,
            lwork: Size,
        ) -> Solved {
            // The smallest workspace has `least` elements, or one if `other` is zero.
            let (least, other): (Size, Size) = ($sizes)(m, n);
            interface.check(
                &[(4, lda, (m, n))],
                &[
                    (1, m.is_valid()),
                    (2, n.is_valid()),
                    (7, lwork.is_query() || lwork.spans(least) || (other == Size::ZERO && lwork > Size::ZERO)),
                ],
            )?;
            // SAFETY: by the module's requirements `work` is null or has at least one element.
            if unsafe { is_query(work, lwork, least.get()) } {
                return Ok(0);
            }
            // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
            let (mut a, tau) = unsafe {
                (interface.matrix(3, Elements::All, (m, n), (a, lda))?, slice_mut(tau, m.min(n).get()))
            };
            let outcome = solve!(factorization(m, n), serial::$name(a.view_mut(), tau));
            a.copy_back(Elements::All);
            outcome
        }
    )*};
}

factor! {
    /// Computes the factorization A = Q R.
    geqrf, |m, n| (n, m);
    /// Computes the factorization A = L Q.
    gelqf, |m, n| (m, n);
}

/// Returns the operation on Q, or `None` for a letter that these routines refuse. These include C for a real matrix and
/// T for a complex one.
pub(crate) fn adjoint<T: DlaScalar>(trans: Letter) -> Option<Op> {
    match trans.op()? {
        Op::None => Some(Op::None),
        Op::Trans if !T::COMPLEX => Some(Op::Trans),
        Op::ConjTrans if T::COMPLEX => Some(Op::ConjTrans),
        _ => None,
    }
}

macro_rules! multiply {
    ($($(#[$doc:meta])* $name:ident ($($entries:tt)*), $stored:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The addresses satisfy the requirements in the module documentation.
        #[lapack($($entries)*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: DlaScalar>(
            interface: Interface,
            side: Letter,
            trans: Letter,
            m: Size,
            n: Size,
            k: Size,
            a: *const T,
            lda: Size,
            tau: *const T,
            c: *mut T,
            ldc: Size,
            work: *mut T,
            lwork: Size,
        ) -> Solved {
            let is_left = side.side() != Some(Side::Right);
            let (order, others) = if is_left { (m, n) } else { (n, m) };
            let shape: (Size, Size) = ($stored)(order, k);
            interface.check(
                &[(7, lda, shape), (10, ldc, (m, n))],
                &[
                    (1, side.side().is_some()),
                    (2, adjoint::<T>(trans).is_some()),
                    (3, m.is_valid()),
                    (4, n.is_valid()),
                    (5, k.is_valid() && k <= order),
                    (12, lwork.is_query() || lwork.spans(others)),
                ],
            )?;
            // SAFETY: by the module's requirements `work` is null or has at least one element.
            if unsafe { is_query(work, lwork, others.get()) } {
                return Ok(0);
            }
            let (side, op) = (side.side().unwrap_or(Side::Left), adjoint::<T>(trans).unwrap_or(Op::None));
            // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
            let (a, tau, mut c) = unsafe {
                let a = interface.matrix(6, Elements::All, shape, (a, lda))?;
                let c = interface.matrix(9, Elements::All, (m, n), (c, ldc))?;
                (a, interface.vector(8, k.get(), tau)?, c)
            };
            let work = real(k) * (2.0 * real(order) - real(k)) * real(others);
            let outcome = solve!(work, serial::$name(side, op, a.view(), tau, c.view_mut()));
            c.copy_back(Elements::All);
            outcome
        }
    )*};
}

multiply! {
    /// Computes op(Q) C or C op(Q) with the Q of a QR factorization.
    unmqr (s = "sormqr", d = "dormqr", c, z), |order, k| (order, k);
    /// Computes op(Q) C or C op(Q) with the Q of an LQ factorization.
    unmlq (s = "sormlq", d = "dormlq", c, z), |order, k| (k, order);
}

macro_rules! explicit {
    ($($(#[$doc:meta])* $name:ident ($($entries:tt)*), $sizes:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The addresses satisfy the requirements in the module documentation.
        #[lapack($($entries)*)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: DlaScalar>(
            interface: Interface,
            m: Size,
            n: Size,
            k: Size,
            a: *mut T,
            lda: Size,
            tau: *const T,
            work: *mut T,
            lwork: Size,
        ) -> Solved {
            let (long, short): (Size, Size) = ($sizes)(m, n);
            let fits = short.is_valid() && short <= long;
            interface.check(
                &[(5, lda, (m, n))],
                &[
                    (1, m.is_valid()),
                    (2, n.is_valid() && fits),
                    (3, k.is_valid() && k <= short),
                    (8, lwork.is_query() || lwork.spans(short)),
                ],
            )?;
            // SAFETY: by the module's requirements `work` is null or has at least one element.
            if unsafe { is_query(work, lwork, short.get()) } {
                return Ok(0);
            }
            // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
            let (mut a, tau): (LapackMatrix<T>, _) = unsafe {
                (interface.matrix(4, Elements::All, (m, n), (a, lda))?, interface.vector(6, k.get(), tau)?)
            };
            let (m, n, k) = (real(m), real(n), real(k));
            let work = k * (2.0 * m * n - (m + n) * k + k * k / 1.5);
            let outcome = solve!(work, serial::$name(a.view_mut(), tau));
            a.copy_back(Elements::All);
            outcome
        }
    )*};
}

explicit! {
    /// Computes the first columns of the Q of a QR factorization.
    ungqr (s = "sorgqr", d = "dorgqr", c, z), |m, n| (m, n);
    /// Computes the first rows of the Q of an LQ factorization.
    unglq (s = "sorglq", d = "dorglq", c, z), |m, n| (n, m);
}

/// Computes least-squares solutions, or minimum-norm solutions of underdetermined systems.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[lapack(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gels<T: DlaScalar>(
    interface: Interface,
    trans: Letter,
    m: Size,
    n: Size,
    nrhs: Size,
    a: *mut T,
    lda: Size,
    b: *mut T,
    ldb: Size,
    work: *mut T,
    lwork: Size,
) -> Solved {
    let (long, short) = (m.max(n), m.min(n));
    let least = Size::from_len(short.get().saturating_add(short.max(nrhs).get()));
    interface.check(
        &[(6, lda, (m, n)), (8, ldb, (long, nrhs))],
        &[
            (1, adjoint::<T>(trans).is_some()),
            (2, m.is_valid()),
            (3, n.is_valid()),
            (4, nrhs.is_valid()),
            (10, lwork.is_query() || lwork.spans(least)),
        ],
    )?;
    // SAFETY: by the module's requirements `work` is null or has at least one element.
    if unsafe { is_query(work, lwork, least.get()) } {
        return Ok(0);
    }
    if nrhs == Size::ZERO {
        return Ok(0);
    }
    let op = if adjoint::<T>(trans) == Some(Op::None) { Op::None } else { Op::ConjTrans };
    // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
    let (mut a, mut b): (_, LapackMatrix<T>) = unsafe {
        let a = interface.matrix(5, Elements::All, (m, n), (a, lda))?;
        (a, interface.matrix(7, Elements::All, (long, nrhs), (b, ldb))?)
    };
    let work = factorization(m, n) + real(nrhs) * real(short) * (2.0 * real(long));
    let outcome = solve!(work, serial::gels(op, a.view_mut(), b.view_mut()));
    a.copy_back(Elements::All);
    b.copy_back(Elements::All);
    outcome
}
