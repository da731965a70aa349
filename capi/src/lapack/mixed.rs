//! Systems that are factored in the lower precision, and refined.
//!
//! Without a runtime they are solved in the higher precision, and ITER is -1, which is LAPACK's number for that; if A
//! has no factors, it is -3.

use super::{Interface, Operand, Outcome as _, Stored, count, real, write_interchanges};
use crate::{
    abi::{Int, Letter, Size, Solved, Uplo, check},
    engine::{Engine, for_product},
};
use superscalar::dla::{self, MixedPrecision, serial};
use superscalar_macros::lapack;

/// ITER of a system that was solved in the higher precision from the beginning.
const NOT_TRIED: i32 = -1;
/// ITER of a system whose A has no factors, in whatever precision.
const NO_FACTORS: i32 = -3;

/// The operands of both.
struct System<T> {
    interface: Interface,
    shape: (Size, Size),
    a: (*mut T, Size),
    b: (*const T, Size),
    x: (*mut T, Size),
    /// The number of A among the arguments, and that of B; that of X is two more than B's.
    at: (i32, i32),
    /// The elements of A that count.
    stored: Stored,
}

impl<T: MixedPrecision> System<T> {
    /// Solves by `mixed` or, on the calling thread, by `plain`, which replaces B.
    ///
    /// # Safety
    /// The module's; an integer may be written at `iter`.
    unsafe fn solve<I: Int>(
        self,
        iter: *mut I,
        mixed: impl FnOnce(&Engine, &mut [Operand<T>; 3]) -> Result<i32, dla::Error>,
        plain: impl FnOnce(&mut [Operand<T>; 3]) -> Result<(), dla::Error>,
    ) -> Solved {
        let Self { interface, shape: (n, nrhs), at, stored, .. } = self;
        if n == Size::ZERO {
            // SAFETY: as the caller promises.
            unsafe { iter.write(I::narrow(0)) };
            return Ok(0);
        }
        // SAFETY: the caller promises of these addresses what the module's head says.
        let mut operands = unsafe {
            [
                interface.matrix(at.0, stored, (n, n), (self.a.0.cast_const(), self.a.1))?,
                interface.matrix(at.1, Stored::All, (n, nrhs), self.b)?,
                interface.matrix(at.1 + 2, Stored::Nothing, (n, nrhs), (self.x.0.cast_const(), self.x.1))?,
            ]
        };
        let outcome = match for_product(count(real(n).powi(2) * (real(n) / 3.0 + real(nrhs)))) {
            Some(engine) => mixed(&engine, &mut operands),
            None => {
                let [_, b, x] = &mut operands;
                x.view_mut().copy_from(b.view());
                plain(&mut operands).map(|()| NOT_TRIED)
            }
        };
        let [a, _, x] = operands;
        a.home(stored);
        x.home(Stored::All);
        let tried = outcome.as_ref().map_or(NO_FACTORS, |&steps| steps);
        // SAFETY: as the caller promises.
        unsafe { iter.write(I::narrow(tried.into())) };
        outcome.map(drop).solved()
    }
}

macro_rules! gesv {
    ($name:ident, $entry:literal, $element:ident, [$($rwork:ident)?]) => {
        /// A X = B.
        ///
        /// # Safety
        /// The module's.
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
            check(&[
                (1, n.is_valid()),
                (2, nrhs.is_valid()),
                (4, interface.spans(lda, (n, n))),
                (7, interface.spans(ldb, (n, nrhs))),
                (9, interface.spans(ldx, (n, nrhs))),
            ])?;
            let (a, b, x, shape) = ((a, lda), (b, ldb), (x, ldx), (n, nrhs));
            let system = System { interface, shape, a, b, x, at: (3, 6), stored: Stored::All };
            // SAFETY: as the caller promises; there is room for as many interchanges as pivots.
            unsafe {
                write_interchanges(ipiv, n.get(), |ipiv| {
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
        /// A X = B for a positive definite A.
        ///
        /// # Safety
        /// The module's.
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
            check(&[
                (1, uplo.uplo().is_some()),
                (2, n.is_valid()),
                (3, nrhs.is_valid()),
                (5, interface.spans(lda, (n, n))),
                (7, interface.spans(ldb, (n, nrhs))),
                (9, interface.spans(ldx, (n, nrhs))),
            ])?;
            let uplo = uplo.uplo().unwrap_or(Uplo::Lower);
            let stored = Stored::Triangle(uplo);
            let (a, b, x, shape) = ((a, lda), (b, ldb), (x, ldx), (n, nrhs));
            let system = System { interface, shape, a, b, x, at: (4, 6), stored };
            // SAFETY: as the caller promises.
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
