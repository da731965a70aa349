//! Interchanges of rows.

use crate::{
    Scalar,
    codelets::{Laswp, RowInterchanges, task},
    error::Error,
    options::Options,
    plan::Problem,
    tiled::Tiled,
};
use superscalar_kernels::{Direction, MatMut, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Runtime, Scope};

/// Inserts the tasks of [`laswp`](fn@crate::laswp) for A in block columns. An interchange that is out of range fails
/// its task.
///
/// # Panics
/// If A is not in block columns.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    a: &Tiled<'s, MatMut<'s, T>>,
    ipiv: &'s mut [i32],
    direction: Direction,
) {
    assert!(a.mt() <= 1, "laswp: A must be in block columns, not in {} block rows", a.mt());
    let (laswp, count, ipiv) = (Laswp::new(), ipiv.len(), s.lend(ipiv));
    for (i, j) in a.tile_indices() {
        let interchanges = RowInterchanges { first: 0, count, direction, n: a.cols_of(j) };
        laswp.spawn(s, task("laswp", i, j, 0), interchanges, &[ipiv], a.at(i, j));
    }
}

/// Exchanges row i with row `ipiv[i] - 1` of A, for every i in increasing order, or in decreasing order, which reverses
/// it.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if there are more interchanges than rows;
/// [`Argument`](crate::ErrorKind::Argument) if an interchange is out of range.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Direction, Matrix, Options, laswp};
///
/// let (rt, mut a) = (Runtime::new()?, Matrix::from_fn(3, 1, |i, _| i as f64));
/// laswp(&rt, a.as_mut(), &[3, 3], Direction::Forward, &Options::default())?;
/// assert_eq!(a.into_vec(), [2.0, 0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn laswp<T: Scalar>(
    rt: &Runtime,
    mut a: MatMut<'_, T>,
    ipiv: &[i32],
    direction: Direction,
    options: &Options,
) -> Result<(), Error> {
    let m = a.nrows();
    check(m, ipiv)?;
    let Some(nb) = options.plan::<T>(rt, Problem::elements(a.shape()))?.blocks() else {
        cpu::laswp(a, 0, ipiv, direction);
        return Ok(());
    };
    let mut ipiv = ipiv.to_vec();
    Ok(rt.scope(|s| spawn(s, &Tiled::columns(s, a.rb_mut(), nb), &mut ipiv, direction))?)
}

/// Returns an error if interchanges are out of range for m rows.
pub(crate) fn check(m: usize, ipiv: &[i32]) -> Result<(), Error> {
    if ipiv.len() > m {
        return Err(Error::shape(format!("ipiv has {} elements, expected at most {m}", ipiv.len())));
    }
    match ipiv.iter().position(|&p| p < 1 || p as usize > m) {
        Some(at) => Err(Error::argument(format!("ipiv[{at}] is {}, expected a row from 1 to {m}", ipiv[at]))),
        None => Ok(()),
    }
}
