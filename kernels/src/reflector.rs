//! [`Reflector`]: the triangular factor of a block of reflectors, and the packed forms of the block.

use crate::{
    MatMut, MatRef, Scalar,
    cpu::{BlockReflector, PackStore, PackedForms},
    zeros,
};
use std::sync::Arc;
use superscalar_runtime::{Portable, Residence};

/// The triangular factor T of Q = I − V T Vᴴ (LAPACK's larft), and the packed forms of V for the two
/// products in which V is a factor.
///
/// Changing T takes `&mut`, through [`Reflector::t_mut`], which discards the packed forms: V has changed, too.
#[derive(Debug)]
pub struct Reflector<T> {
    t: Vec<T>,
    k: usize,
    packs: [PackedForms; 2],
}

impl<T: Scalar> Reflector<T> {
    /// Makes room for k reflectors, whose packed forms come from `store`.
    #[must_use]
    pub fn new(k: usize, store: &Arc<PackStore>) -> Self {
        Self { t: zeros(k * k), k, packs: [PackedForms::new(store), PackedForms::new(store)] }
    }

    /// Returns Q, with the vectors `v`.
    pub fn of<'a>(&'a self, v: MatRef<'a, T>) -> BlockReflector<'a, T> {
        BlockReflector { v, t: self.t(), packs: Some([&self.packs[0], &self.packs[1]]) }
    }

    /// Returns the triangular factor, k x k.
    #[must_use]
    pub fn t(&self) -> MatRef<'_, T> {
        let view = MatRef::from_col_major(&self.t, self.k, self.k, self.k.max(1));
        view.unwrap_or_else(|_| unreachable!("it has k x k elements"))
    }

    /// Returns the triangular factor for writing, and discards the packed forms.
    pub fn t_mut(&mut self) -> MatMut<'_, T> {
        self.packs.iter().for_each(PackedForms::forget);
        let view = MatMut::from_col_major(&mut self.t, self.k, self.k, self.k.max(1));
        view.unwrap_or_else(|_| unreachable!("it has k x k elements"))
    }
}

// SAFETY: the residence is the vector of the factor's elements, which the value owns.
unsafe impl<T: Scalar> Portable for Reflector<T> {
    fn residence(&self) -> Option<Residence<'_>> {
        // The packed forms are not part of the residence: they are unused until T is computed, and `t_mut` discards
        // them.
        self.t.residence()?.in_columns_of(self.k * size_of::<T>())
    }
}
