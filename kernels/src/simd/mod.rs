//! Vectors of reals, and the choice of instructions at run time.
//!
//! Stable Rust compiles for the oldest x86-64, which has neither AVX-512 nor a fused multiply-add. So there is a type for the
//! registers of each instruction set, all of them a [`Vector`], and kernels are written over that. Which set the processor
//! has is found out at run time ([`InstructionSet`]); `vector::dispatch` compiles kernels once for each and enters the best.

mod portable;
mod sets;
#[cfg(target_arch = "x86_64")]
mod squares;
#[cfg(target_arch = "x86_64")]
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use portable::Portable;
pub use sets::{InstructionSet, UnknownInstructionSet};

/// A register full of reals.
///
/// # Safety
/// Every method may execute instructions that the processor must have: call them only below a `dispatch` that chose
/// this type. Loads and stores take any alignment and touch `LANES` reals.
pub(crate) trait Vector: Copy {
    type Real: Copy;
    const LANES: usize;
    /// Rows and columns of the squares that [`Vector::transpose`] moves.
    const SQUARE: usize;

    unsafe fn splat(x: Self::Real) -> Self;
    unsafe fn load(from: *const Self::Real) -> Self;
    unsafe fn store(self, to: *mut Self::Real);
    /// Lanes first .. end, zeros in the others, whose memory is not touched and need not exist.
    unsafe fn load_lanes(from: *const Self::Real, first: usize, end: usize) -> Self;
    /// The counterpart of [`Vector::load_lanes`].
    unsafe fn store_lanes(self, to: *mut Self::Real, first: usize, end: usize);
    unsafe fn mul(self, by: Self) -> Self;
    /// self + a b.
    unsafe fn mul_add(self, a: Self, b: Self) -> Self;
    /// self - a b.
    unsafe fn mul_sub(self, a: Self, b: Self) -> Self;
    /// Its modulus, lane by lane.
    unsafe fn abs(self) -> Self;
    /// Lane by lane the pair whose first number is larger: `x` if that is so, and `best` otherwise, NaN in `x` included.
    unsafe fn larger(best: (Self, Self), x: (Self, Self)) -> (Self, Self);
    /// Lanes first .. end of `other`, the others of itself.
    unsafe fn blend(self, other: Self, first: usize, end: usize) -> Self;
    /// The sum of all lanes.
    unsafe fn sum(self) -> Self::Real;
    /// Lane i, which must be less than LANES.
    unsafe fn lane(self, i: usize) -> Self::Real;
    /// The parts of complex numbers, in turn: re[0] im[0] re[1] and so on, the first half of the lanes and the second.
    unsafe fn interleave(re: Self, im: Self) -> (Self, Self);
    /// The numbers of each pair of adjacent lanes, exchanged.
    unsafe fn swap_pairs(self) -> Self;
    /// Enters a part of a kernel, which is compiled for these vectors.
    unsafe fn call<P: Part<Self>>(part: P) -> P::Output;
    /// Copies a square: row i of `to` becomes column i of `from`, each with its distance between rows.
    unsafe fn transpose(from: *const Self::Real, from_step: usize, to: *mut Self::Real, to_step: usize);
    /// The same for the first four rows of `from`, which has SQUARE columns.
    unsafe fn transpose_four(from: *const Self::Real, from_step: usize, to: *mut Self::Real, to_step: usize);
    /// acc -= b x over some of `depth` steps of a register tile, or with the conjugate of b, where there is code for its size: `[row][vector][plane]`, two
    /// planes of complex numbers. Each step has the tile's vectors of each plane of x, and an element of each plane of b for each row, one behind the
    /// other. With every four of them a cache line of `next` is asked for, into the second-level cache. Returns how many steps were taken.
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
    type Avx512: Vector<Real = Self>;
    /// Eight (f32) or four (f64) lanes of AVX2 with FMA.
    #[cfg(target_arch = "x86_64")]
    #[allow(private_bounds)]
    type Avx2: Vector<Real = Self>;
    /// What any processor has.
    #[allow(private_bounds)]
    type Portable: Vector<Real = Self>;
}

macro_rules! lanes {
    ($($real:ty, $avx512:ident, $avx2:ident;)*) => {$(
        impl Lanes for $real {
            #[cfg(target_arch = "x86_64")]
            type Avx512 = std::arch::x86_64::$avx512;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = std::arch::x86_64::$avx2;
            type Portable = Portable<$real>;
        }
    )*};
}

lanes! {
    f32, __m512, __m256;
    f64, __m512d, __m256d;
}

/// A part of kernels that is compiled once for each kind of vector, and not again wherever it is needed.
pub(crate) trait Part<V> {
    type Output;

    /// # Safety
    /// The processor has the instructions of `V`, and what the part itself asks for. Implementations are `#[inline(always)]`.
    unsafe fn run(self) -> Self::Output;
}

/// The best instructions of this processor that `SUPERSCALAR_INSTRUCTIONS` allows. Unit tests have the portable ones only: the others are
/// tested from outside (`tests/sets`), and would be compiled twice.
#[inline(always)]
pub(crate) fn best() -> InstructionSet {
    if cfg!(test) { InstructionSet::Portable } else { InstructionSet::in_use() }
}

/// Bytes of a core's second-level cache, if the processor says so.
pub(crate) fn second_level_cache() -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        // Leaves from 0x8000_0000 on: the first tells the last one; of 0x8000_0006 the upper half of ECX is the size in KiB.
        const EXTENDED: u32 = 0x8000_0000;
        const CACHES: u32 = 0x8000_0006;
        #[allow(unused_unsafe, reason = "in older compilers it is unsafe")]
        // SAFETY: every x86-64 has the instruction.
        let leaf = |leaf| unsafe { __cpuid(leaf) };
        let kib = if leaf(EXTENDED).eax >= CACHES { leaf(CACHES).ecx >> 16 } else { 0 };
        (kib > 0).then_some((kib as usize) << 10)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Asks for the cache line at `at` to be fetched for writing soon. Any address will do.
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
