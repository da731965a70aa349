//! Solves systems with a factorization in the lower precision and iterative refinement.
//!
//! Small systems, which do not use the runtime, are solved in the higher precision. Then ITER is -1, which is LAPACK's
//! value for that case. ITER is -3 if A cannot be factored.

use super::{Elements, Interface, IntoInfo as _, LapackMatrix, multiplications, real, write_integers};
use crate::{
    abi::{Int, Letter, Size, Solved, Uplo},
    engine::{Engine, engine_for_product},
};
use superscalar::dla::{self, MixedPrecision, serial};
use superscalar_macros::lapack;

/// ITER of a system that was solved in the higher precision without trying the lower one.
const ITER_NOT_TRIED: i32 = -1;
/// ITER of a system whose A cannot be factored in either precision.
const ITER_NOT_FACTORED: i32 = -3;

/// A system A X = B: the interface and operands of a call.
struct LinearSystem<T> {
    interface: Interface,
    shape: (Size, Size),
    a: (*mut T, Size),
    b: (*const T, Size),
    x: (*mut T, Size),
    /// The positions of A and B. The position of X is that of B plus two.
    at: (i32, i32),
    /// The elements of A that are read.
    stored: Elements,
}

impl<T: MixedPrecision> LinearSystem<T> {
    /// Solves with `mixed` on the engine, or with `plain` on the calling thread. `plain` gets B in X and overwrites it
    /// with the solution.
    ///
    /// # Safety
    /// The addresses satisfy the requirements in the module documentation; `iter` may be written.
    unsafe fn solve<I: Int>(
        self,
        iter: *mut I,
        mixed: impl FnOnce(&Engine, &mut [LapackMatrix<T>; 3]) -> Result<i32, dla::Error>,
        plain: impl FnOnce(&mut [LapackMatrix<T>; 3]) -> Result<(), dla::Error>,
    ) -> Solved {
        let Self { interface, shape: (n, nrhs), at, stored, .. } = self;
        if n == Size::ZERO {
            // SAFETY: the caller guarantees that `iter` may be written.
            unsafe { iter.write(I::narrow(0)) };
            return Ok(0);
        }
        // SAFETY: by the module's requirements the operands are valid and not written elsewhere during the call.
        let mut operands = unsafe {
            [
                interface.matrix(at.0, stored, (n, n), (self.a.0.cast_const(), self.a.1))?,
                interface.matrix(at.1, Elements::All, (n, nrhs), self.b)?,
                interface.matrix(at.1 + 2, Elements::None, (n, nrhs), (self.x.0.cast_const(), self.x.1))?,
            ]
        };
        let outcome = match engine_for_product(multiplications(real(n).powi(2) * (real(n) / 3.0 + real(nrhs)))) {
            Some(engine) => mixed(&engine, &mut operands),
            None => {
                let [_, b, x] = &mut operands;
                x.view_mut().copy_from(b.view());
                plain(&mut operands).map(|()| ITER_NOT_TRIED)
            }
        };
        let [a, _, x] = operands;
        a.copy_back(stored);
        x.copy_back(Elements::All);
        let tried = outcome.as_ref().map_or(ITER_NOT_FACTORED, |&steps| steps);
        // SAFETY: the caller guarantees that `iter` may be written.
        unsafe { iter.write(I::narrow(tried.into())) };
        outcome.map(drop).into_info()
    }
}

macro_rules! gesv {
    ($name:ident, $entry:literal, $element:ident, [$($rwork:ident)?]) => {
        /// Solves A X = B with an LU factorization.
        ///
        /// # Safety
        /// The addresses satisfy the requirements in the module documentation.
        #[lapack($element = $entry)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: MixedPrecision, I: Int>(
            interface: Interface,
            n: Size,
            nrhs: Size,
            a: *mut T,
            lda: Size,
            ipiv: *mut I,
            b: *const T,
            ldb: Size,
            x: *mut T,
            ldx: Size,
            _work: *mut T,
            _swork: *mut <T as MixedPrecision>::Lower,
            $($rwork: *mut T::Real,)?
            iter: *mut I,
        ) -> Solved {
            interface.check(
                &[(4, lda, (n, n)), (7, ldb, (n, nrhs)), (9, ldx, (n, nrhs))],
                &[(1, n.is_valid()), (2, nrhs.is_valid())],
            )?;
            let (a, b, x, shape) = ((a, lda), (b, ldb), (x, ldx), (n, nrhs));
            let system = LinearSystem { interface, shape, a, b, x, at: (3, 6), stored: Elements::All };
            // SAFETY: by the module's requirements `ipiv` has n elements, `iter` may be written, and the operands are
            // valid and not accessed elsewhere during the call.
            unsafe {
                write_integers(ipiv, n.get(), |ipiv| {
                    let ipiv = std::cell::RefCell::new(ipiv);
                    system.solve(
                        iter,
                        |engine, [a, b, x]| {
                            let (a, x, ipiv) = (a.view_mut(), x.view_mut(), &mut *ipiv.borrow_mut());
                            dla::gesv_mixed(&engine.runtime, a, ipiv, b.view(), x, &engine.options)
                        },
                        |[a, _, x]| Ok(serial::gesv(a.view_mut(), &mut ipiv.borrow_mut(), x.view_mut())?),
                    )
                })
            }
        }
    };
}

gesv!(gesv_double, "dsgesv", d, []);
gesv!(gesv_complex, "zcgesv", z, [_rwork]);

macro_rules! posv {
    ($name:ident, $entry:literal, $element:ident, [$($rwork:ident)?]) => {
        /// Solves A X = B for a positive definite A with a Cholesky factorization.
        ///
        /// # Safety
        /// The addresses satisfy the requirements in the module documentation.
        #[lapack($element = $entry)]
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<T: MixedPrecision, I: Int>(
            interface: Interface,
            uplo: Letter,
            n: Size,
            nrhs: Size,
            a: *mut T,
            lda: Size,
            b: *const T,
            ldb: Size,
            x: *mut T,
            ldx: Size,
            _work: *mut T,
            _swork: *mut <T as MixedPrecision>::Lower,
            $($rwork: *mut T::Real,)?
            iter: *mut I,
        ) -> Solved {
            interface.check(
                &[(5, lda, (n, n)), (7, ldb, (n, nrhs)), (9, ldx, (n, nrhs))],
                &[(1, uplo.uplo().is_some()), (2, n.is_valid()), (3, nrhs.is_valid())],
            )?;
            let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
            let stored = Elements::Triangle(uplo);
            let (a, b, x, shape) = ((a, lda), (b, ldb), (x, ldx), (n, nrhs));
            let system = LinearSystem { interface, shape, a, b, x, at: (4, 6), stored };
            // SAFETY: by the module's requirements `iter` may be written, and the operands are valid and not accessed
            // elsewhere during the call.
            unsafe {
                system.solve(
                    iter,
                    |engine, [a, b, x]| {
                        let (a, x) = (a.view_mut(), x.view_mut());
                        dla::posv_mixed(&engine.runtime, uplo, a, b.view(), x, &engine.options)
                    },
                    |[a, _, x]| Ok(serial::posv(uplo, a.view_mut(), x.view_mut())?),
                )
            }
        }
    };
}

posv!(posv_double, "dsposv", d, []);
posv!(posv_complex, "zcposv", z, [_rwork]);
