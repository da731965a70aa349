//! QR factorization: A = Q R.

use crate::{
    Scalar,
    codelets::{Application, Geqrf, Larfb, cost_of_larfb, task},
    distribution::ColumnDistributor,
    error::Error,
    factorization_steps::{FactorizationStep, factorization_steps},
    matrix::Matrix,
    options::Options,
    plan::{INNER_BLOCK, Problem},
    tiled::Tiled,
};
use std::sync::Arc;
use superscalar_kernels::{
    MatMut, Op, Reflector, Side,
    cpu::{self, PackStore},
};
use superscalar_macros::each_type;
use superscalar_runtime::{Lent, Runtime, Scope};

/// The reflectors of a QR factorization whose tasks are inserted: besides A, which holds V, the data needed to apply Q.
pub struct Reflectors<'s, T> {
    /// One for each block column of V.
    pub(crate) blocks: Vec<Lent<'s, Reflector<T>>>,
    /// How many reflectors there are in all.
    pub(crate) k: usize,
}

/// Creates the store for packed forms of V: of the block that is being applied, in both its roles, and of the next one.
pub(crate) fn pack_store<T: Scalar>(m: usize, nb: usize) -> Arc<PackStore> {
    PackStore::new(4 * m.next_multiple_of(48) * nb.next_multiple_of(48) * size_of::<T>())
}

/// Inserts the tasks of the factorization A = Q R of an m x n matrix in block columns. R, upper trapezoidal, replaces
/// the upper part of A. The reflectors replace the part below it, and `tau` receives their min(m, n) scalar factors, in
/// LAPACK's form.
///
/// # Panics
/// If A is not in block columns, or `tau` does not have min(m, n) elements.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, a: &Tiled<'s, MatMut<'s, T>>, tau: &'s mut [T]) -> Reflectors<'s, T> {
    let ((m, n), nb) = (a.shape(), a.tile_shape().1);
    assert!(a.mt() <= 1, "geqrf: A must be in block columns, not in {} block rows", a.mt());
    let k_all = m.min(n);
    assert_eq!(tau.len(), k_all, "geqrf: tau must have min(m, n) elements");
    let (geqrf, larfb, store) = (Geqrf::new(), Larfb::new(), pack_store::<T>(m, nb.min(n)));
    let distributor = ColumnDistributor::new(s, a, ("larfb", cost_of_larfb::<T>(m / 2, nb, nb)));
    let taus = s.lend_chunks(tau, nb);
    let reflectors = |k: usize| a.cols_of(k).min(m - k * nb);
    let blocks: Vec<_> = (0..taus.len()).map(|k| s.own(Reflector::new(reflectors(k), &store))).collect();
    for step in factorization_steps(blocks.len(), a.nt(), s.nesting().has_devices()) {
        match step {
            FactorizationStep::Panel(k) => {
                // Q[k] R[k] = A[k..m][k]
                let (spec, panel) = (task("geqrf", k, k, k).priority(4), (k * nb..m, a.cols_of(k)));
                geqrf.spawn(s, spec, panel, a.at(0, k), blocks[k], taus[k]);
                distributor.redistribute_after(s, k, a.at(0, k));
            }
            FactorizationStep::Update(k, j) => {
                // A[k..m][j] := Q[k]ᴴ A[k..m][j]; the column of the next panel first
                let spec = task("larfb", k, j, k).priority(2 * i32::from(j == k + 1));
                let n = a.cols_of(j);
                let how = Application { side: Side::Left, op: Op::ConjTrans, rows: k * nb..m, k: reflectors(k), n };
                larfb.spawn(s, spec, how, a.at(0, k), blocks[k], a.at(0, j));
            }
        }
    }
    Reflectors { blocks, k: k_all }
}

/// Computes the QR factorization A = Q R of an m x n matrix. R, upper trapezoidal, overwrites the upper part of A. The
/// reflectors overwrite the part below it, and `tau` receives their min(m, n) scalar factors, in LAPACK's form: Q = H₁
/// H₂ …, Hᵢ = I − τᵢ vᵢ vᵢᴴ, where vᵢ is zero before element i, which is one.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if `tau` does not have min(m, n) elements.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, geqrf};
///
/// let rt = Runtime::new()?;
/// let (mut a, mut tau) = (Matrix::from_fn(2, 1, |i, _| [3.0, 4.0][i]), [0.0]);
/// geqrf(&rt, a.as_mut(), &mut tau, &Options::default())?;
/// assert_eq!((a.into_vec(), tau), (vec![-5.0, 0.5], [1.6]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn geqrf<T: Scalar>(rt: &Runtime, mut a: MatMut<'_, T>, tau: &mut [T], options: &Options) -> Result<(), Error> {
    let (m, n) = a.shape();
    check_tau("geqrf", m.min(n), tau)?;
    let Some(nb) = options.plan::<T>(rt, Problem::Qr { m, n })?.blocks() else {
        factor(a, tau, options.block_size.reflectors::<T>((m, n), rt.workers())?);
        return Ok(());
    };
    let distribution = options.distribution_of_factorization(rt)?;
    Ok(rt.scope(|s| drop(spawn(s, &Tiled::columns(s, a.rb_mut(), nb).distributed(s, distribution), tau)))?)
}

/// Returns an error if `tau` does not have k elements.
pub(crate) fn check_tau<T>(name: &str, k: usize, tau: &[T]) -> Result<(), Error> {
    if tau.len() != k {
        return Err(Error::shape(format!("{name}: tau has {} elements, expected {k}", tau.len())));
    }
    Ok(())
}

/// Computes the QR factorization of A on the calling thread, like [`geqrf`](fn@crate::geqrf).
///
/// # Panics
/// If `tau` does not have min(m, n) elements.
///
/// ```
/// use superscalar::dla::{Matrix, serial};
///
/// let (mut a, mut tau) = (Matrix::from_fn(2, 1, |i, _| [3.0, 4.0][i]), [0.0]);
/// serial::geqrf(a.as_mut(), &mut tau);
/// assert_eq!((a.into_vec(), tau), (vec![-5.0, 0.5], [1.6]));
/// ```
#[each_type]
pub fn serial<T: Scalar>(a: MatMut<'_, T>, tau: &mut [T]) {
    let reflectors = INNER_BLOCK.min(tau.len());
    factor(a, tau, reflectors);
}

/// Factors A by the kernel, with this number of reflectors per triangular factor.
fn factor<T: Scalar>(a: MatMut<'_, T>, tau: &mut [T], reflectors: usize) {
    let mut t = Matrix::zeros(reflectors, tau.len());
    cpu::geqrf(a, tau, t.as_mut());
}
