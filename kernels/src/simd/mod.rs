//! Vectors of reals, and the choice of the instruction set at run time.
//!
//! Stable Rust compiles for the oldest x86-64, which has neither AVX-512 nor a fused multiply-add. So each instruction
//! set has its own register types, all of which implement [`Vector`], and kernels are generic over it.
//! [`InstructionSet`] detects what the processor supports; `vector::dispatch` compiles kernels once for each set and
//! runs the best version.

mod isa;
mod portable;
mod rows;
mod sets;
#[cfg(target_arch = "x86_64")]
mod squares;
#[cfg(target_arch = "x86_64")]
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(crate) use isa::{Avx2, Avx512};
pub(crate) use isa::{Baseline, Isa};
pub(crate) use portable::Portable;
pub(crate) use rows::{Rows, Separate, Spaced};
pub use sets::{InstructionSet, UnknownInstructionSet};

/// A vector register of reals. A vector exists only if the processor has its instructions, because making one requires
/// an [`Isa`]. Arithmetic is therefore safe. Loads and stores are not: they access `LANES` reals at an address of any
/// alignment.
pub(crate) trait Vector: Copy {
    type Real: Copy;
    type Isa: Isa;
    const LANES: usize;
    /// Rows and columns of the squares that [`Vector::transpose`] copies.
    const SQUARE: usize;

    fn splat(isa: Self::Isa, x: Self::Real) -> Self;
    /// Returns the proof that the processor has the instructions of this vector.
    fn isa(self) -> Self::Isa;
    /// # Safety
    /// `LANES` reals at `from` are valid for reads.
    unsafe fn load(isa: Self::Isa, from: *const Self::Real) -> Self;
    /// # Safety
    /// `LANES` reals at `to` are valid for writes.
    unsafe fn store(self, to: *mut Self::Real);
    /// Loads lanes first .. end; the other lanes are zero, and their memory is not accessed and need not exist.
    ///
    /// # Safety
    /// Reals first .. end are valid for reads, and `end` is at most LANES.
    unsafe fn load_lanes(isa: Self::Isa, from: *const Self::Real, first: usize, end: usize) -> Self;
    /// Stores lanes first .. end; the memory of the other lanes is not accessed and need not exist.
    ///
    /// # Safety
    /// Reals first .. end are valid for writes, and `end` is at most LANES.
    unsafe fn store_lanes(self, to: *mut Self::Real, first: usize, end: usize);
    fn add(self, x: Self) -> Self;
    fn sub(self, x: Self) -> Self;
    fn mul(self, by: Self) -> Self;
    fn div(self, by: Self) -> Self;
    /// Returns the square root of each lane; NaN below zero.
    fn sqrt(self) -> Self;
    /// Returns, lane by lane, `yes` where self is greater than `limit`, and `no` elsewhere, also if one of them is NaN.
    fn select_greater(self, limit: Self, yes: Self, no: Self) -> Self;
    /// Returns self + a b.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Returns self - a b.
    fn mul_sub(self, a: Self, b: Self) -> Self;
    /// Returns the absolute value of each lane.
    fn abs(self) -> Self;
    /// Selects, lane by lane, the pair whose first number is larger: `x` if it is larger, and otherwise `best`, also if
    /// `x` is NaN.
    fn larger(best: (Self, Self), x: (Self, Self)) -> (Self, Self);
    /// Returns lanes first .. end of `other` and the other lanes of self; `end` is at most LANES.
    fn blend(self, other: Self, first: usize, end: usize) -> Self;
    /// Returns the sum of all lanes.
    fn sum(self) -> Self::Real;
    /// Returns lane i, which must be less than LANES.
    fn lane(self, i: usize) -> Self::Real;
    /// Returns alternating real and imaginary parts, re[0] im[0] re[1] and so on: the first half of the lanes and the
    /// second.
    fn interleave(re: Self, im: Self) -> (Self, Self);
    /// Exchanges the numbers of each pair of adjacent lanes.
    fn swap_pairs(self) -> Self;
    /// Runs a part of a kernel, compiled for these vectors. It is not inlined, so a table can hold its address.
    ///
    /// # Safety
    /// The processor has the instructions of these vectors, and the requirements of the part hold.
    unsafe fn enter<P: Part<Self>>(part: P) -> P::Output;
    /// Runs a part of a kernel, given the proof of the instructions.
    ///
    /// # Safety
    /// The requirements of the part hold.
    #[inline(always)]
    unsafe fn call<P: Part<Self>>(_isa: Self::Isa, part: P) -> P::Output {
        // SAFETY: the isa value proves the instructions, and the caller guarantees what the part requires.
        unsafe { Self::enter(part) }
    }
    /// Copies a square transposed: row i of `to` becomes column i of `from`.
    ///
    /// # Safety
    /// `from` has SQUARE rows of SQUARE reals, `to` has room for as many, and the two do not overlap.
    unsafe fn transpose_rows(isa: Self::Isa, from: impl Rows<Self::Real>, to: impl Rows<Self::Real>);
    /// Copies a square transposed whose rows are `from_step` and `to_step` reals apart.
    ///
    /// # Safety
    /// Same as for [`Vector::transpose_rows`].
    #[inline(always)]
    unsafe fn transpose(
        isa: Self::Isa,
        from: *const Self::Real,
        from_step: usize,
        to: *mut Self::Real,
        to_step: usize,
    ) {
        let (from, to) = (Spaced { first: from.cast_mut(), step: from_step }, Spaced { first: to, step: to_step });
        // SAFETY: the caller guarantees the squares.
        unsafe { Self::transpose_rows(isa, from, to) }
    }
    /// Copies the first four rows of `from`, of SQUARE columns, transposed to SQUARE rows of four.
    ///
    /// # Safety
    /// `from` has four rows of SQUARE reals, `to` has room for SQUARE rows of four, and the two do not overlap.
    unsafe fn transpose_four(
        isa: Self::Isa,
        from: *const Self::Real,
        from_step: usize,
        to: *mut Self::Real,
        to_step: usize,
    );
    /// Computes acc -= b x, or uses the conjugate of b, over some of `depth` steps, if there is special code for this
    /// size of register tile. The tile is `[row][vector][plane]`, with two planes for a complex type (`is_complex`) and
    /// only the first for a real one. Prefetches a cache line of `next` into the second-level cache every four steps.
    /// Returns the steps taken, or 0 without special code.
    ///
    /// # Safety
    /// x and b hold `depth` adjacent steps: of x NV vectors of each plane, of b ROWS reals of each plane. `next` may be
    /// any address.
    #[inline(always)]
    unsafe fn eliminate<const NV: usize, const ROWS: usize>(
        _acc: &mut [[[Self; 2]; NV]; ROWS],
        _depth: usize,
        (_x, _b): (*const Self::Real, *const Self::Real),
        _next: *const u8,
        (_is_complex, _conj): (bool, bool),
    ) -> usize {
        0
    }
}

/// The vector types of a real type.
pub trait Lanes: Copy {
    /// Sixteen (f32) or eight (f64) lanes of AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[allow(private_bounds)]
    type Avx512: Vector<Real = Self, Isa = Avx512>;
    /// Eight (f32) or four (f64) lanes of AVX2 with FMA.
    #[cfg(target_arch = "x86_64")]
    #[allow(private_bounds)]
    type Avx2: Vector<Real = Self, Isa = Avx2>;
    /// Four lanes, for any processor.
    #[allow(private_bounds)]
    type Portable: Vector<Real = Self, Isa = Baseline>;
}

macro_rules! lanes {
    ($($real:ty, $avx512:ident, $avx2:ident;)*) => {$(
        impl Lanes for $real {
            #[cfg(target_arch = "x86_64")]
            type Avx512 = x86::$avx512;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = x86::$avx2;
            type Portable = Portable<$real>;
        }
    )*};
}

lanes! {
    f32, F32x16, F32x8;
    f64, F64x8, F64x4;
}

/// A part of a kernel that is compiled once per vector type and shared by its callers.
pub(crate) trait Part<V: Vector> {
    type Output;

    /// # Safety
    /// What the implementation requires of its addresses. Implementations are `#[inline(always)]`.
    unsafe fn run(self, isa: V::Isa) -> Self::Output;
}

/// Returns the best instruction set of this processor that `SUPERSCALAR_INSTRUCTIONS` allows. Unit tests use the
/// portable one only: integration tests (`tests/sets`) cover the others, and compiling them twice is slow.
#[inline(always)]
pub(crate) fn best() -> InstructionSet {
    if cfg!(test) { InstructionSet::Portable } else { InstructionSet::in_use() }
}

/// Returns the bytes of a core's second-level cache, if the processor reports them.
pub(crate) fn second_level_cache() -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        // Extended leaves: 0x8000_0000 returns the last one; the upper half of ECX in 0x8000_0006 is the size in KiB.
        const EXTENDED: u32 = 0x8000_0000;
        const CACHES: u32 = 0x8000_0006;
        #[allow(unused_unsafe, reason = "in older compilers it is unsafe")]
        // SAFETY: every x86-64 processor has the instruction.
        let leaf = |leaf| unsafe { __cpuid(leaf) };
        let kib = if leaf(EXTENDED).eax >= CACHES { leaf(CACHES).ecx >> 16 } else { 0 };
        (kib > 0).then_some((kib as usize) << 10)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Prefetches the cache line at `at`, which may be any address, into the first-level cache.
#[inline(always)]
pub(crate) fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint that never faults, and belongs to the first x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
