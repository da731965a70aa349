//! Products of small matrices, one per lane.

use super::copy::{GroupCopy, LoadGroup, StoreGroup};
use super::form::{Form, Places, prefetch_group};
use super::multiply::{GroupProduct, ProductUpdate};
use super::{Progress, next_group};
use crate::options::Part;
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::workspace::Workspace;
use crate::{MatMut, MatRef, Op, Scalar};

/// C = alpha op(A) op(B) + beta C for matrices of one form each. If beta is zero, C is not read.
pub struct InterleavedGemm<'a, 'b, T> {
    pub alpha: T,
    pub op: (Op, Op),
    pub a: &'a [MatRef<'a, T>],
    pub b: &'a [MatRef<'a, T>],
    pub beta: T,
    pub c: &'a mut [MatMut<'b, T>],
    pub forms: [Form; 3],
}

impl<T: Scalar> Kernel<T> for InterleavedGemm<'_, '_, T> {
    type Output = Progress;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Progress {
        let Self { alpha, op, a, b, beta, c, forms } = self;
        let shape = c[0].shape();
        let depth = op.0.shape(a[0].shape()).1;
        let lens = forms.map(|form| form.len::<T, V>());
        let mut scratch = Workspace::take(lens.iter().sum());
        let (in_a, rest) = scratch.elements().split_at_mut(lens[0]);
        let (in_b, in_c) = rest.split_at_mut(lens[1]);
        let at = [in_a.as_mut_ptr(), in_b.as_mut_ptr(), in_c.as_mut_ptr()];
        let [of_a, of_b, of_c] = [0, 1, 2].map(|i| forms[i].in_scratch::<T, V>(at[i]));
        let of_a = if op.0 == Op::None { of_a } else { of_a.transpose() };
        let of_b = if op.1 == Op::None { of_b } else { of_b.transpose() };
        let conj = (op.0 == Op::ConjTrans, op.1 == Op::ConjTrans);
        let mut done = 0;
        while let Some(count) = next_group::<V>(done, c.len()) {
            let places_a = Places::of::<T, V>(forms[0], count, |i| a[done + i]);
            let places_b = Places::of::<T, V>(forms[1], count, |i| b[done + i]);
            let places_c = Places::of::<T, V>(forms[2], count, |i| c[done + i].as_ref());
            let places = [&places_a, &places_b, &places_c];
            let [copy_a, copy_b, copy_c] = [0, 1, 2].map(|i| GroupCopy::<T> {
                form: forms[i],
                part: Part::All,
                places: places[i],
                scratch: at[i],
            });
            // SAFETY: the places are those of matrices of these forms, C's borrowed exclusively, and the scratch has
            // room for a group of each. Without reading C, all of it is computed before it is stored.
            unsafe {
                V::call(isa, LoadGroup(copy_a));
                V::call(isa, LoadGroup(copy_b));
                if beta != T::ZERO {
                    V::call(isa, LoadGroup(copy_c));
                }
                prefetch_group::<T, V>(forms[0], a[done + count..].iter().copied());
                prefetch_group::<T, V>(forms[1], b[done + count..].iter().copied());
                let update = ProductUpdate::Scale { alpha, beta };
                V::call(isa, GroupProduct { c: of_c, a: of_a, b: of_b, shape, depth, conj, update });
                V::call(isa, StoreGroup(copy_c, 0));
            }
            done += count;
        }
        Progress { done, first: done, left: 0 }
    }
}
