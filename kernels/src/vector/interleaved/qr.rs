//! QR factorizations of small matrices, one per lane, and their factors Q. Reflectors are made and applied one by one.

use super::copy::{GroupCopy, LoadGroup, StoreGroup};
use super::form::{Form, Places, prefetch_group};
use super::number::{finite, get, product, put};
use super::reflect::{Reflect, make_reflector};
use super::{Interleaved, Progress, lanes_left, next_group};
use crate::options;
use crate::simd::{Part, Vector};
use crate::vector::dispatch::Kernel;
use crate::vector::planes::{planes, put as put_scalar, scalar};
use crate::vector::workspace::Workspace;
use crate::{MatMut, MatRef, Op, Scalar};

/// Q R = A for matrices of one form, with R and the vectors of the reflectors over A. The matrices of `tau` have one
/// column.
pub struct InterleavedQr<'a, 'b, 't, T> {
    pub form: Form,
    pub batch: &'a mut [MatMut<'b, T>],
    pub tau: &'a mut [MatMut<'t, T>],
}

/// A is replaced by the first columns of Q, whose reflectors are in A, for matrices of one form.
pub struct InterleavedQ<'a, 'b, T> {
    pub form: Form,
    pub batch: &'a mut [MatMut<'b, T>],
    pub tau: &'a [MatRef<'a, T>],
}

/// C = op(Q) C for matrices of one form each. The reflectors are in A.
pub struct InterleavedQProduct<'a, 'b, T> {
    pub op: Op,
    pub a: &'a [MatRef<'a, T>],
    pub tau: &'a [MatRef<'a, T>],
    pub c: &'a mut [MatMut<'b, T>],
    /// The forms of A and of C.
    pub forms: [Form; 2],
}

impl<T: Scalar> Kernel<T> for InterleavedQr<'_, '_, '_, T> {
    type Output = Progress;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Progress {
        let Self { form, batch, tau } = self;
        let (shape, len) = (batch[0].shape(), form.len::<T, V>());
        let (k, unit) = (shape.0.min(shape.1), planes::<T>() * V::LANES);
        let mut scratch = Workspace::take(len + k * unit);
        let (group, taus) = scratch.elements().split_at_mut(len);
        let (scratch, taus) = (group.as_mut_ptr(), taus.as_mut_ptr());
        let factor = GroupQr::<T> { a: form.in_scratch::<T, V>(scratch), shape, taus };
        let mut done = 0;
        while let Some(count) = next_group::<V>(done, batch.len()) {
            let members = &batch[done..done + count];
            let places = Places::of::<T, V>(form, count, |i| members[i].as_ref());
            let copy = GroupCopy::<T> { form, part: options::Part::All, places: &places, scratch };
            // SAFETY: the places are those of matrices of this form, borrowed exclusively, and the scratch has room for
            // a group and k factors.
            let left = unsafe {
                V::call(isa, LoadGroup(copy));
                prefetch_group::<T, V>(form, batch[done + count..].iter().map(MatMut::as_ref));
                let left = lanes_left(V::call(isa, factor));
                V::call(isa, StoreGroup(copy, left));
                left
            };
            let first = done;
            done += count;
            for (lane, tau) in tau[first..done].iter_mut().enumerate() {
                for i in 0..k {
                    // SAFETY: the scratch has k factors for each lane.
                    tau[(i, 0)] = unsafe { scalar(taus.add(i * unit + lane), V::LANES) };
                }
            }
            if left != 0 {
                return Progress::after(first, count, left);
            }
        }
        Progress { done, first: done, left: 0 }
    }
}

impl<T: Scalar> Kernel<T> for InterleavedQ<'_, '_, T> {
    type Output = Progress;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Progress {
        let Self { form, batch, tau } = self;
        let (shape, len, k) = (batch[0].shape(), form.len::<T, V>(), tau[0].nrows());
        let mut scratch = Workspace::take(len + k * planes::<T>() * V::LANES);
        let (group, taus) = scratch.elements().split_at_mut(len);
        let (scratch, taus) = (group.as_mut_ptr(), taus.as_mut_ptr());
        let make = GroupQ::<T> { a: form.in_scratch::<T, V>(scratch), shape, k, taus };
        let mut done = 0;
        while let Some(count) = next_group::<V>(done, batch.len()) {
            let members = &batch[done..done + count];
            let places = Places::of::<T, V>(form, count, |i| members[i].as_ref());
            let copy = GroupCopy::<T> { form, part: options::Part::All, places: &places, scratch };
            // SAFETY: the places are those of matrices of this form, borrowed exclusively, and the scratch has room for
            // a group and k factors.
            let left = unsafe {
                load_taus::<T, V>(&tau[done..done + count], taus);
                V::call(isa, LoadGroup(copy));
                let left = lanes_left(V::call(isa, make));
                V::call(isa, StoreGroup(copy, left));
                left
            };
            let first = done;
            done += count;
            if left != 0 {
                return Progress::after(first, count, left);
            }
        }
        Progress { done, first: done, left: 0 }
    }
}

impl<T: Scalar> Kernel<T> for InterleavedQProduct<'_, '_, T> {
    type Output = Progress;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Progress {
        let Self { op, a, tau, c, forms } = self;
        let (k, lens) = (tau[0].nrows(), forms.map(|form| form.len::<T, V>()));
        let mut scratch = Workspace::take(lens[0] + lens[1] + k * planes::<T>() * V::LANES);
        let (in_a, rest) = scratch.elements().split_at_mut(lens[0]);
        let (in_c, taus) = rest.split_at_mut(lens[1]);
        let (at, taus) = ([in_a.as_mut_ptr(), in_c.as_mut_ptr()], taus.as_mut_ptr());
        let [of_a, of_c] = [0, 1].map(|i| forms[i].in_scratch::<T, V>(at[i]));
        let apply = GroupQProduct::<T> { a: of_a, c: of_c, shape: c[0].shape(), k, taus, conj: op != Op::None };
        let mut done = 0;
        while let Some(count) = next_group::<V>(done, c.len()) {
            let places_a = Places::of::<T, V>(forms[0], count, |i| a[done + i]);
            let places_c = Places::of::<T, V>(forms[1], count, |i| c[done + i].as_ref());
            let part = options::Part::All;
            let copy_a = GroupCopy::<T> { form: forms[0], part, places: &places_a, scratch: at[0] };
            let copy_c = GroupCopy::<T> { form: forms[1], part, places: &places_c, scratch: at[1] };
            // SAFETY: the places are those of matrices of these forms, C's borrowed exclusively, and the scratch has
            // room for a group of each and k factors.
            let left = unsafe {
                load_taus::<T, V>(&tau[done..done + count], taus);
                V::call(isa, LoadGroup(copy_a));
                V::call(isa, LoadGroup(copy_c));
                let left = lanes_left(V::call(isa, apply));
                V::call(isa, StoreGroup(copy_c, left));
                left
            };
            let first = done;
            done += count;
            if left != 0 {
                return Progress::after(first, count, left);
            }
        }
        Progress { done, first: done, left: 0 }
    }
}

/// Copies the factors of a group to scratch. The last matrix's are repeated in the other lanes.
///
/// # Safety
/// The scratch has room for them, and they have one column.
#[inline(always)]
unsafe fn load_taus<T: Scalar, V: Vector<Real = T::Real>>(tau: &[MatRef<'_, T>], to: *mut T::Real) {
    for lane in 0..V::LANES {
        let tau = tau[lane.min(tau.len() - 1)];
        for i in 0..tau.nrows() {
            // SAFETY: the caller guarantees the room.
            unsafe { put_scalar(to.add(i * planes::<T>() * V::LANES + lane), V::LANES, tau.at(i, 0)) };
        }
    }
}

/// The factorization of a group in scratch. Returns which sums of squares and results were ordinary.
#[derive(Clone, Copy)]
struct GroupQr<T: Scalar> {
    a: Interleaved<T::Real>,
    shape: (usize, usize),
    taus: *mut T::Real,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for GroupQr<T> {
    type Output = V;

    /// # Safety
    /// A is a group of matrices of this shape in scratch, and there is room for a factor per reflector.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> V {
        let Self { a, shape: (m, n), taus } = self;
        let (k, mut ordinary) = (m.min(n), V::splat(isa, T::Real::ONE));
        // SAFETY: the rows and columns are inside of A.
        unsafe {
            for j in 0..k {
                let (v, tau) = (a.from(j, j), taus.add(j * planes::<T>() * V::LANES));
                ordinary = make_reflector::<T, V>(isa, v, m - j, tau, ordinary);
                let shape = (m - j, n - j - 1);
                V::call(isa, Reflect::<T> { v, c: v.from(0, 1), shape, tau, conj: true });
            }
            // In the first k columns a NaN or Inf reaches a sum of squares, except in the last row of a square.
            finite::<T, V>(isa, a.from(0, k - 1), (m, n + 1 - k), ordinary)
        }
    }
}

/// The first columns of Q, in scratch. Returns which of them are finite.
#[derive(Clone, Copy)]
struct GroupQ<T: Scalar> {
    a: Interleaved<T::Real>,
    shape: (usize, usize),
    k: usize,
    taus: *mut T::Real,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for GroupQ<T> {
    type Output = V;

    /// # Safety
    /// A is a group of matrices of this shape in scratch, with k reflectors and k factors.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> V {
        let Self { a, shape: (m, n), k, taus } = self;
        let (zero, one) = (V::splat(isa, T::Real::ZERO), V::splat(isa, T::Real::ONE));
        // SAFETY: the rows and columns are inside of A.
        unsafe {
            for j in k..n {
                for i in 0..m {
                    put::<T, V>([if i == j { one } else { zero }, zero], a.at(i, j));
                }
            }
            for j in (0..k).rev() {
                let (v, tau) = (a.from(j, j), taus.add(j * planes::<T>() * V::LANES));
                let shape = (m - j, n - j - 1);
                V::call(isa, Reflect::<T> { v, c: v.from(0, 1), shape, tau, conj: false });
                let by = get::<T, V>(isa, tau);
                let minus = [zero.sub(by[0]), zero.sub(by[1])];
                for i in 1..m - j {
                    put::<T, V>(product::<T, V>(get::<T, V>(isa, v.at(i, 0)), minus), v.at(i, 0));
                }
                put::<T, V>([one.sub(by[0]), minus[1]], v.at(0, 0));
                for i in 0..j {
                    put::<T, V>([zero, zero], a.at(i, j));
                }
            }
            finite::<T, V>(isa, a, (m, n), one)
        }
    }
}

/// The product of op(Q) and a group of matrices C in scratch. Returns which products are finite.
#[derive(Clone, Copy)]
struct GroupQProduct<T: Scalar> {
    a: Interleaved<T::Real>,
    c: Interleaved<T::Real>,
    shape: (usize, usize),
    k: usize,
    taus: *mut T::Real,
    conj: bool,
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for GroupQProduct<T> {
    type Output = V;

    /// # Safety
    /// A holds k reflectors in as many rows as C has, and there are k factors.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) -> V {
        let Self { a, c, shape: (m, n), k, taus, conj } = self;
        // SAFETY: the rows and columns are inside of the matrices.
        unsafe {
            for step in 0..k {
                // Qᴴ C begins with the first reflector, Q C with the last one.
                let j = if conj { step } else { k - 1 - step };
                let tau = taus.add(j * planes::<T>() * V::LANES).cast_const();
                let shape = (m - j, n);
                V::call(isa, Reflect::<T> { v: a.from(j, j), c: c.from(j, 0), shape, tau, conj });
            }
            finite::<T, V>(isa, c, (m, n), V::splat(isa, T::Real::ONE))
        }
    }
}
