//! The codelets of diagonal tiles, which are the host's: triangular inverse, and product with the adjoint.

use super::{Changed, cost};
use superscalar_kernels::{Diag, Scalar, Singular, Uplo, cpu};
use superscalar_runtime::{Codelet, Cost, Lent, Scope, TaskSpec, Updates};

/// A codelet that updates a tile.
type OnTile<'s, T, P> = Codelet<Updates<Changed<'s, T>>, P>;

struct Parameters {
    uplo: Uplo,
    /// Row of the matrix where the tile begins, for `info`.
    offset: usize,
    n: usize,
}

impl Parameters {
    /// The same for both.
    fn cost<T: Scalar>(&self) -> Cost {
        let n = self.n as f64;
        cost::<T>(n * n * n / 6.0, n * n * n / 6.0, n * n)
    }
}

/// The inverse of a triangular tile.
pub(crate) struct Trtri<'s, T: Scalar>(OnTile<'s, T, (Diag, Parameters)>);

impl<'s, T: Scalar> Trtri<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("trtri").cost(|(_, p): &(Diag, Parameters)| p.cost::<T>());
        Self(codelet.on_host(|a: &mut Changed<'s, T>, (diag, p): &(Diag, Parameters)| {
            let outcome = cpu::trtri(p.uplo, *diag, a.view_mut());
            outcome.map_err(|Singular { pivot }| Singular { pivot: p.offset + pivot }.into())
        }))
    }

    /// Inverts a tile of order n whose first row is row `offset` of the matrix.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (uplo, diag): (Uplo, Diag),
        (offset, n): (usize, usize),
        a: Lent<'s, Changed<'s, T>>,
    ) {
        self.0.insert(s, spec, a.read_write(), (diag, Parameters { uplo, offset, n }));
    }
}

/// Lᴴ L or U Uᴴ of a triangular tile.
pub(crate) struct Lauum<'s, T: Scalar>(OnTile<'s, T, Parameters>);

impl<'s, T: Scalar> Lauum<'s, T> {
    pub(crate) fn new() -> Self {
        Self(Codelet::new("lauum").cost(Parameters::cost::<T>).on_host(|a: &mut Changed<'s, T>, p: &Parameters| {
            cpu::lauum(p.uplo, a.view_mut());
            Ok(())
        }))
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (uplo, n): (Uplo, usize),
        a: Lent<'s, Changed<'s, T>>,
    ) {
        self.0.insert(s, spec, a.read_write(), Parameters { uplo, offset: 0, n });
    }
}
