//! The codelet of a diagonal tile's Cholesky factorization.

use super::{Changed, OnOne, cost};
use superscalar_kernels::{NotPositiveDefinite, Scalar, Uplo, cpu};
use superscalar_runtime::{Codelet, Lent, Scope, TaskSpec};

/// A = L Lᴴ or Uᴴ U.
pub(crate) struct Potrf<'s, T: Scalar> {
    codelet: OnOne<'s, T, Parameters>,
}

struct Parameters {
    uplo: Uplo,
    /// Row of the matrix where the tile begins, for `info`.
    offset: usize,
    n: usize,
}

impl<'s, T: Scalar> Potrf<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("potrf")
            .cost(|p: &Parameters| {
                let n = p.n as f64;
                cost::<T>(n * n * n / 6.0, n * n * n / 6.0, n * n)
            })
            .on_host(|a: &mut Changed<'s, T>, p: &Parameters| {
                let outcome = cpu::potrf(p.uplo, a.view_mut());
                outcome.map_err(|NotPositiveDefinite { minor }| NotPositiveDefinite { minor: p.offset + minor }.into())
            });
        Self { codelet }
    }

    /// Factors a tile of order n whose first row is row `offset` of the matrix.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        uplo: Uplo,
        (offset, n): (usize, usize),
        a: Lent<'s, Changed<'s, T>>,
    ) {
        self.codelet.insert(s, spec, a.read_write(), Parameters { uplo, offset, n });
    }
}
