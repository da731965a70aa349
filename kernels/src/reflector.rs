//! [`Reflector`]: what a task gets of a block of reflectors, beside the vectors themselves.

use crate::{
    MatMut, MatRef, Scalar,
    cpu::{BlockReflector, PackStore, Packs},
    zeros,
};
use std::sync::Arc;
use superscalar_runtime::{Portable, Residence};

/// The triangular factor T of Q = I − V T Vᴴ (LAPACK's larft), and what the kernels remember of V as it is multiplied, and as
/// it multiplies.
///
/// Changing T takes `&mut`, through [`Reflector::t_mut`], which makes the kernels forget: V has changed, too.
#[derive(Debug)]
pub struct Reflector<T> {
    t: Vec<T>,
    k: usize,
    packs: [Packs; 2],
}

impl<T: Scalar> Reflector<T> {
    /// Room for k reflectors, whose packed forms come from `store`.
    #[must_use]
    pub fn new(k: usize, store: &Arc<PackStore>) -> Self {
        Self { t: zeros(k * k), k, packs: [Packs::new(store), Packs::new(store)] }
    }

    /// Q, whose V is given.
    pub fn of<'a>(&'a self, v: MatRef<'a, T>) -> BlockReflector<'a, T> {
        BlockReflector { v, t: self.t(), packs: Some([&self.packs[0], &self.packs[1]]) }
    }

    /// The triangular factor, k x k.
    #[must_use]
    pub fn t(&self) -> MatRef<'_, T> {
        let view = MatRef::from_col_major(&self.t, self.k, self.k, self.k.max(1));
        view.unwrap_or_else(|_| unreachable!("it has k x k elements"))
    }

    /// The triangular factor, to change.
    pub fn t_mut(&mut self) -> MatMut<'_, T> {
        self.packs.iter().for_each(Packs::forget);
        let view = MatMut::from_col_major(&mut self.t, self.k, self.k, self.k.max(1));
        view.unwrap_or_else(|_| unreachable!("it has k x k elements"))
    }
}

// SAFETY: the factor's elements are the value's own.
unsafe impl<T: Scalar> Portable for Reflector<T> {
    fn residence(&self) -> Option<Residence<'_>> {
        // What is remembered of V is of no use before T is known, and whoever makes it anew on the host forgets the old.
        self.t.residence()?.in_columns_of(self.k * size_of::<T>())
    }
}
